"""Guards a session against a loss that is no number, and its checkpoints against a state that holds one."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tenterhooks import (
    Coordinator,
    Node,
    Session,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    hookimpl,
)
from tenterhooks.errors import nearest
from tenterhooks.fetches import Tensors, names_by_tag
from tenterhooks.nodes import EVERYTHING
from tenterhooks.timer import check_steps
from tenterhooks_nan._every import EveryNSteps
from tenterhooks_nan._looked_at import LookedAt
from tenterhooks_nan._numbers import CHECKS, Check
from tenterhooks_nan._trees import leaves

__all__ = ["NanLossDuringTrainingError", "NanTensorHook"]

_log = logging.getLogger(__name__)


class NanLossDuringTrainingError(RuntimeError):
    """The loss is no number: training has diverged."""

    def __init__(self, message: str = "NaN loss during training.") -> None:
        super().__init__(message)


class NanTensorHook(SessionRunHook):
    """Ends a session, or stops it, when a value is NaN.

    It looks at each run. The update of that run has been made by then, so the state is condemned: savers that ask
    (`before_save` of tenterhooks-checkpoint) are told not to save it. Nor are they to save variables that hold NaN: the
    loss of a run is that before its update, and shows one run later that an update ruined them. Entries that held NaN
    when the session was created may go on to do so.

    Arrays are looked at on their devices, and from each device one truth value is moved, however many lie there.

    Args:
        loss_tensor: The value to watch: a number, an array, or dicts, lists and other trees of them, such as gradients.
            Several values are a list of them, or a dict by what they are called in messages.
        fail_on_nan_loss: Whether a NaN raises `NanLossDuringTrainingError`; else it is logged and a stop is requested.
        check_state: Whether the variables are looked at before each save, which reads all of them once.
        check: What is bad, in values and variables: "nan", or "non-finite", which is infinity too.
        every_n_steps: The values are computed and looked at in the runs that lead to multiples of this global step.
        deferred: Whether what was found in a run is asked for in the next one, or before a save or the end if that is
            sooner: so nobody waits for an accelerator that still computes the step. The error comes one run later, and
            names the right step.

    Raises:
        TypeError: `loss_tensor` is no name, no node, and not several of them, or `every_n_steps` is not whole.
        ValueError: `check` is something else, `every_n_steps` less than 1, or there is nothing to watch.
    """

    def __init__(
        self,
        loss_tensor: Tensors = "loss",
        *,
        fail_on_nan_loss: bool = True,
        check_state: bool = True,
        check: Check = "nan",
        every_n_steps: int = 1,
        deferred: bool = False,
    ) -> None:
        if check not in CHECKS:
            raise ValueError(f"check={check!r} is no check{nearest(str(check), CHECKS)}")
        check_steps("every_n_steps", every_n_steps)
        if not isinstance(loss_tensor, Node | Iterable):
            raise TypeError(
                f"loss_tensor is a name or a node, or several of them, not {loss_tensor!r:.60} of type "
                f"{type(loss_tensor).__name__}"
            )
        self._tensors = loss_tensor if isinstance(loss_tensor, str | Node | Mapping) else list(loss_tensor)
        if not isinstance(self._tensors, Node) and not self._tensors:
            raise ValueError("there is nothing to watch: pass a name, or several")
        self._fail = fail_on_nan_loss
        self._check_state = check_state
        self._check: Check = check
        self._deferred = deferred
        # Where each run is looked at there is none, and nobody has to ask.
        self.timer = EveryNSteps(every_n_steps) if every_n_steps > 1 else None
        # What most often has the answer at once.
        at_once = not deferred and self.timer is None
        self._has_bad: Callable[[Any], bool | None] = CHECKS[check] if at_once else _not_yet
        self._reset()

    def _reset(self) -> None:
        self._condemned: str | None = None
        self._told = True
        self._asked = True
        self._pending: LookedAt | None = None

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Check the names. The state is the restored one, or fresh."""
        self._reset()
        names = names_by_tag(session.graph, self._tensors)
        self._name = next(iter(names)) if isinstance(self._tensors, str | Node) else None
        # The same for each run, which tells the session that nothing has changed.
        self._args = SessionRunArgs(self._name or names)
        self._bad_from_the_start: frozenset[str] = frozenset()
        if self._check_state:
            self._bad_from_the_start = frozenset(self._ruined(session))
        self._set_timer(session.global_step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for the values."""
        if self.timer is not None:
            self._asked = self.timer.is_multiple(run_context.session.global_step + 1)
            if not self._asked:
                return None
        return self._args

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at them.

        Raises:
            NanLossDuringTrainingError: One is NaN.
            TypeError: One is no number, no array of numbers and holds none.
        """
        if self._has_bad(run_values.results) is not False:
            self._look(run_context, run_values.results)

    def _look(self, run_context: SessionRunContext, values: Any) -> None:
        step = run_context.session.global_step
        self._settle()
        if self._asked:
            self._pending = LookedAt(self._leaves(values), self._check, step)
        if not self._deferred:
            self._settle()
        self._set_timer(step)
        if not self._told:
            self._tell(run_context.request_stop)

    @hookimpl(optionalhook=True)
    def before_save(self, session: Session, step: int) -> str | None:
        """Keep savers from saving a state that a NaN has gone into."""
        self._settle()
        if self._condemned is not None or not self._check_state:
            return self._condemned
        ruined = self._ruined(session)
        what = "NaN" if self._check == "nan" else "numbers that are not finite"
        return f"{what} in {', '.join(map(repr, ruined))}" if ruined else None

    def end(self, session: Session) -> None:
        """Say what was found in the last run, if that was not asked for yet.

        Raises:
            NanLossDuringTrainingError: A value is NaN.
        """
        self._settle()
        if not self._told:
            self._tell(session.request_stop)

    def on_exception(self, session: Session | None, exception: BaseException) -> None:
        """Hold on to no array."""
        self._pending = None

    def _settle(self) -> None:
        """Ask for what was found in the run that was looked at last."""
        pending, self._pending = self._pending, None
        found = None if pending is None else pending.first()
        if pending is not None and found is not None:
            self._condemned = f"{found} in the run that led to global step {pending.step}"
            self._told = False

    def _tell(self, request_stop: Callable[[str | None], None]) -> None:
        self._told = True
        if self._fail:
            _log.error("training has diverged: %s", self._condemned)
            raise NanLossDuringTrainingError(
                f"{self._condemned}: lower the learning rate or check the input, and resume from the last checkpoint"
            )
        _log.warning("training has diverged and is stopped: %s", self._condemned)
        request_stop(self._condemned)

    def _set_timer(self, step: int) -> None:
        if self.timer is not None:
            self.timer.waits = self._pending is not None or not self._told
            self.timer.arrived(step)

    def _leaves(self, values: Any) -> Iterator[tuple[str, Any]]:
        """The numbers and arrays of all that is watched."""
        for name, value in ({self._name: values} if self._name else values).items():
            found = list(leaves(value, "" if name == EVERYTHING else name))
            # Of a structure with nothing in it nothing is wrong.
            if not found and not (isinstance(value, Mapping | list | tuple) and not value):
                raise TypeError(
                    f"{name!r} is {value!r:.60}: watch a number or an array of numbers, or a structure of them"
                )
            yield from found

    def _ruined(self, session: Session) -> list[str]:
        """The places of all variables that are bad, and were not from the start."""
        found = (leaf for leaf in leaves(session.state, "") if leaf[0] not in self._bad_from_the_start)
        return [place for place, _ in LookedAt(found, self._check, session.global_step).bad()]


def _not_yet(value: Any) -> None:
    """Nothing is known of a value in the run in which it was computed."""
