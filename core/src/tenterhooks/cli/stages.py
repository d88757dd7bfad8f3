"""Which stages the hooks of a class implement, told from the class alone."""

import inspect
import typing
from collections.abc import Callable

from tenterhooks.hooks import SessionRunHook
from tenterhooks.hookspecs import PROJECT, STAGES

__all__ = ["class_of", "stages_of"]


def class_of(factory: Callable[..., object]) -> type | None:
    """The class of what a factory makes; None where it does not say so."""
    if inspect.isclass(factory):
        return factory
    try:
        made = typing.get_type_hints(factory).get("return")
    except (NameError, TypeError):
        return None
    return made if inspect.isclass(made) and made is not object else None


def stages_of(cls: type) -> list[str]:
    """The stages that a class implements: those of the lifecycle in their order, and then those of other plugins."""
    found = []
    for attribute in dir(cls):
        # Looked up without running properties.
        static = inspect.getattr_static(cls, attribute, None)
        marks = getattr(getattr(static, "__func__", static), f"{PROJECT}_impl", None)
        if isinstance(marks, dict):
            found.append(marks.get("specname") or attribute)
        elif attribute in STAGES and issubclass(cls, SessionRunHook) and not _is_empty(attribute, static):
            found.append(attribute)
    return [*(stage for stage in STAGES if stage in found), *sorted(set(found) - set(STAGES))]


def _is_empty(stage: str, static: object) -> bool:
    """Whether it is the base class's method, which does nothing and is never called."""
    return static is vars(SessionRunHook)[stage]
