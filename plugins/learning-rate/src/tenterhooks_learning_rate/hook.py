"""The hook that sets the learning rate of each run."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import tenterhooks as th
from tenterhooks.state import Stateful
from tenterhooks_learning_rate._named import ScheduleName, made_schedule
from tenterhooks_learning_rate._setters import EntrySetter, Setter, checked_setter
from tenterhooks_learning_rate.schedules import Schedule

__all__ = ["LearningRateHook"]

# The step for which the schedule was asked last, and what it gave.
_NEVER = (-1, math.nan)
# What would pass for the end of the input.
_ENDS = (StopIteration, th.OutOfRangeError)


class LearningRateHook(th.SessionRunHook):
    """Feeds each run the learning rate of a schedule, or sets it in an optimizer.

    The run that leads from global step s to s + 1 gets `schedule(s)`, in a session that was resumed too. The value can
    be fetched under the name that is fed, so it can be logged and written as any other.

    Args:
        schedule: What gives the learning rate: a function of the global step, or the name of one, whose options are
            those below. One with `state_dict` and `load_state_dict` is in the checkpoint, and asked once for a step.
        learning_rate: Of all but `"piecewise_constant"`: the one at step 0.
        decay_steps: Of all decays: the steps until the end, until the first restart, or for one `decay_rate`. They
            count from the end of the warm-up.
        decay_rate: Of `"step"` (at once, each `decay_steps`) and `"exponential"` (smoothly): the factor.
        end_learning_rate: Of `"polynomial"`, `"cosine"` and `"cosine_restarts"`: what it goes down to, by default 0.
        power: Of `"polynomial"`: the exponent, by default 1, a straight line.
        cycle: Of `"polynomial"`: whether it starts again at the end, by default not.
        t_mul: Of `"cosine_restarts"`: how many times as long as the one before each decay is, by default 2.
        m_mul: Of `"cosine_restarts"`: how many times as high as the one before each decay begins, by default 1.
        boundaries: Of `"piecewise_constant"`: the first step of each value but the first one.
        values: Of `"piecewise_constant"`: the learning rates, one more than there are boundaries.
        warmup_steps: How many steps it takes from 0 up to the schedule, in a straight line; the schedule begins after.
        placeholder: What is fed, a placeholder or its name; with a setter, the name under which the value is published.
        setter: What sets the value, in place of the feed: a function of the session and the value, or the name of an
            entry of the session's state, which is a PyTorch optimizer, or an Optax state with injected hyperparameters.
            Where several learning rates are injected in it, "moments/fast" is the one on whose way there is "fast".

    Attributes:
        learning_rate: The value that was fed or set last, also before a restart; None before the first run.

    Raises:
        TypeError: An option is missing, is not one of the schedule, or of a wrong type; when the session is created:
            there is nothing to set in the state entry.
        ValueError: An option has a wrong value, or, in a run, the schedule gave one that is not finite.
        UnknownNameError: When the session is created: there is no such placeholder, or no such state entry.

    Example:
        >>> from tenterhooks_learning_rate import CosineDecay
        >>> hook = LearningRateHook(CosineDecay(0.1, decay_steps=1000))
        >>> hook = LearningRateHook("cosine", learning_rate=0.1, decay_steps=900, warmup_steps=100, setter="optimizer")
    """

    def __init__(
        self,
        schedule: "Schedule | ScheduleName",
        *,
        learning_rate: float | None = None,
        decay_steps: int | None = None,
        decay_rate: float | None = None,
        end_learning_rate: float | None = None,
        power: float | None = None,
        cycle: bool | None = None,
        t_mul: float | None = None,
        m_mul: float | None = None,
        boundaries: Sequence[int] | None = None,
        values: Sequence[float] | None = None,
        warmup_steps: int = 0,
        placeholder: str | th.Node = "learning_rate",
        setter: Setter | str | None = None,
    ) -> None:
        options = {
            "learning_rate": learning_rate,
            "decay_steps": decay_steps,
            "decay_rate": decay_rate,
            "end_learning_rate": end_learning_rate,
            "power": power,
            "cycle": cycle,
            "t_mul": t_mul,
            "m_mul": m_mul,
            "boundaries": boundaries,
            "values": values,
        }
        self._schedule = made_schedule(schedule, options, warmup_steps)
        self._setter = checked_setter(setter)
        self._placeholder = placeholder
        self._stateful = _stateful(self._schedule)
        self._first = None if self._stateful is None else copy.deepcopy(self._stateful.state_dict())
        self.learning_rate: float | None = None
        self._asked = _NEVER

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before; with a setter, have a name to publish under."""
        self.learning_rate = None
        self._asked = _NEVER
        if self._stateful is not None:
            self._stateful.load_state_dict(copy.deepcopy(self._first))
        self._name = graph.name_of(self._placeholder)
        if self._setter is not None and self._name not in graph.nodes:
            graph.placeholder(self._name)

    def state_dict(self) -> dict[str, Any]:
        """The value that was fed or set last, and the state of a schedule that has one."""
        state: dict[str, Any] = {"learning_rate": self.learning_rate}
        if self._stateful is not None:
            # A loop asks for the run after its last one, too: the resumed one takes the answer to that.
            state["asked"] = list(self._asked)
            state["schedule"] = self._stateful.state_dict()
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self.learning_rate = state["learning_rate"]
        if self._stateful is not None and "schedule" in state:
            step, value = state["asked"]
            self._asked = step, value
            self._stateful.load_state_dict(state["schedule"])

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Check what is to be fed or set."""
        self._name = session.graph[self._name].name
        self._feeds: dict[str, float] = {}
        self._args = th.SessionRunArgs(feed_dict=self._feeds)
        if isinstance(self._setter, EntrySetter):
            self._setter.check(session)
        # An optimizer was restored with the value of an earlier run.
        self._set: float | None = None

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Feed or set the value.

        Raises:
            TypeError: The schedule gave no number.
            ValueError: The schedule gave one that is not finite.
            RuntimeError: The schedule or the setter raised what would pass for the end of the input.
        """
        session = run_context.session
        value = self.learning_rate = self._value(session.global_step)
        if self._setter is None:
            self._feeds[self._name] = value
            return self._args
        if value != self._set:
            try:
                self._setter(session, value)
            except _ENDS as error:
                raise RuntimeError(f"the setter raised {type(error).__name__} for {value:g}: {error}") from error
            session.publish({self._name: value})
            self._set = value
        return None

    def _value(self, step: int) -> float:
        """The learning rate of the run that leads on from a global step."""
        if step == self._asked[0]:
            return self._asked[1]
        try:
            given = self._schedule(step)
        except OverflowError as error:
            raise ValueError(f"the schedule gave no finite number at global step {step}: {error}") from error
        except _ENDS as error:
            raise RuntimeError(
                f"the schedule raised {type(error).__name__} at global step {step}: give a learning rate for each step"
            ) from error
        try:
            value = float(given)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"the schedule gave {given!r:.60} of type {type(given).__name__} at global step {step}: a learning "
                "rate is a number"
            ) from error
        if not math.isfinite(value):
            raise ValueError(f"the schedule gave {value} at global step {step}: a learning rate is a finite number")
        self._asked = step, value
        return value


def _stateful(schedule: object) -> Stateful | None:
    return schedule if isinstance(schedule, Stateful) else None
