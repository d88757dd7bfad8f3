"""Guards a session against a loss that is no number, and its checkpoints against a state that holds one."""

import logging
from typing import Any

import numpy as np

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
from tenterhooks_nan._nan import has_nan, places

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

    Args:
        loss_tensor: The value to watch, a number or an array.
        fail_on_nan_loss: Whether a NaN raises `NanLossDuringTrainingError`; else it is logged and a stop is requested.
        check_state: Whether the variables are looked at before each save, which reads all of them once.
    """

    def __init__(
        self, loss_tensor: str | Node = "loss", *, fail_on_nan_loss: bool = True, check_state: bool = True
    ) -> None:
        self._loss = loss_tensor
        self._fail = fail_on_nan_loss
        self._check_state = check_state
        self._condemned: str | None = None

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Check the name. The state is the restored one, or fresh."""
        self._name = session.graph[session.graph.name_of(self._loss)].name
        # The same for each run, which tells the session that nothing has changed.
        self._args = SessionRunArgs(self._name)
        self._condemned = None
        self._nan_from_the_start = frozenset(places(session.state, "")) if self._check_state else frozenset()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the value."""
        return self._args

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at it.

        Raises:
            NanLossDuringTrainingError: It is NaN.
            TypeError: It is no number and no array of numbers.
        """
        value = run_values.results
        if not has_nan(value if hasattr(value, "dtype") or type(value) is float else _as_array(value, self._name)):
            return
        self._condemned = f"{self._name!r} is NaN in the run that led to global step {run_context.session.global_step}"
        if self._fail:
            _log.error("training has diverged: %s", self._condemned)
            raise NanLossDuringTrainingError(
                f"{self._condemned}: lower the learning rate or check the input, and resume from the last checkpoint"
            )
        _log.warning("training has diverged and is stopped: %s", self._condemned)
        run_context.request_stop(self._condemned)

    @hookimpl(optionalhook=True)
    def before_save(self, session: Session, step: int) -> str | None:
        """Keep savers from saving a state that a NaN has gone into."""
        if self._condemned is not None or not self._check_state:
            return self._condemned
        ruined = [place for place in places(session.state, "") if place not in self._nan_from_the_start]
        return f"NaN in {', '.join(map(repr, ruined))}" if ruined else None


def _as_array(value: Any, name: str) -> Any:
    """A number, or numbers in lists, as an array."""
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{name!r} is {value!r:.60}: watch a number or an array of numbers")
    return array
