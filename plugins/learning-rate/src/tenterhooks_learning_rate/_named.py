"""Schedules by name, for where no function can be given: in a file, in the environment, on the command line."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, Literal

from tenterhooks.errors import nearest
from tenterhooks_learning_rate.decays import CosineDecay, CosineDecayRestarts, ExponentialDecay, PolynomialDecay
from tenterhooks_learning_rate.schedules import Constant, PiecewiseConstantDecay, Schedule, Warmup

__all__ = ["ScheduleName", "made_schedule"]

ScheduleName = Literal[
    "constant", "step", "exponential", "piecewise_constant", "polynomial", "cosine", "cosine_restarts"
]

_CLASSES: Mapping[str, Any] = {
    "constant": Constant,
    "step": ExponentialDecay,
    "exponential": ExponentialDecay,
    "piecewise_constant": PiecewiseConstantDecay,
    "polynomial": PolynomialDecay,
    "cosine": CosineDecay,
    "cosine_restarts": CosineDecayRestarts,
}


def made_schedule(schedule: object, options: Mapping[str, Any], warmup_steps: int) -> Schedule:
    """The schedule that is meant.

    Args:
        schedule: It, or its name.
        options: The options for a name; those that are None were not given.
        warmup_steps: How many steps of a warm-up from 0 go before it.

    Raises:
        TypeError: It is none; an option is missing, is not one of that schedule, or of a wrong type.
        ValueError: There is no such name, or an option has a wrong value.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if isinstance(schedule, str):
        made = _named(schedule, given)
    elif not callable(schedule):
        raise TypeError(
            f"schedule is a name or a function of the step, not {schedule!r:.60} of type {type(schedule).__name__}: "
            "one number for all steps is Constant(0.1)"
        )
    elif given:
        raise TypeError(
            f"{', '.join(given)} cannot be given with the schedule {schedule!r:.60}, which is made already: these are "
            f"for a name{nearest('', _CLASSES)}"
        )
    else:
        made = schedule
    return Warmup(made, warmup_steps=warmup_steps) if warmup_steps else made


def _named(name: str, given: Mapping[str, Any]) -> Schedule:
    if name not in _CLASSES:
        raise ValueError(f"no schedule is named {name!r}{nearest(name, _CLASSES)}")
    cls = _CLASSES[name]
    fields = {field.name: field for field in dataclasses.fields(cls) if field.name != "staircase"}
    for option in given:
        if option not in fields:
            raise TypeError(f"the schedule {name!r} has no option {option!r}{nearest(option, fields)}")
    missing = [field.name for field in fields.values() if field.default is dataclasses.MISSING]
    missing = [option for option in missing if option not in given]
    if missing:
        raise TypeError(f"the schedule {name!r} needs the options {', '.join(missing)}")
    made: Schedule = (functools.partial(cls, staircase=True) if name == "step" else cls)(**given)
    return made
