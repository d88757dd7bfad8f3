"""The hook that shows how far a session is."""

import contextlib
import io
import logging
import math
import operator
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsIndex, TextIO

import tenterhooks as th
from tenterhooks.fetches import Tensors, as_tensors, names_by_tag
from tenterhooks_progress._display import Display, Progress, open_display
from tenterhooks_progress._pace import Pace

__all__ = ["ProgressHook"]

_log = logging.getLogger("tenterhooks_progress")

_LONGEST_TEXT = 40


class _Timer(th.SecondOrStepTimer):
    """Due when the period is over, and at the last step, whose values are to be seen."""

    def __init__(self, every_secs: float, last_step: int | None, *, clock: Callable[[], float]) -> None:
        super().__init__(every_secs, clock=clock)
        self._last_step_of_all = last_step

    def should_trigger_for_step(self, step: int) -> bool:
        is_last = step == self._last_step_of_all and step != self.last_triggered_step()
        return is_last or super().should_trigger_for_step(step)

    def next_trigger(self) -> tuple[float, float]:
        step, secs = super().next_trigger()
        last, shown = self._last_step_of_all, self.last_triggered_step()
        return (step if last is None or shown is None or shown >= last else min(step, last)), secs


class ProgressHook(th.SessionRunHook):
    """Shows the global step, the rate, the time that is left, and values: as a bar in a terminal or a notebook.

    Elsewhere, as in a file of a batch system, it is a line now and then, without control characters. The bar begins at
    the step that the session was restored at. Rate and time left are those of this process, without what runs within
    `session.pause_clock()`. Records that are logged to the terminal appear above the bar.

    Args:
        total: The global step at which the training ends, such as the `last_step` of a hook that stops it. Without it
            there is no time left, and no bar but a count.
        values: What is shown beside: a node or its name, several of them, or a dict of them by tag. They are computed
            in the runs that are shown, and in no other.
        optional: Names of published values that are shown once there is one, such as what an evaluation finds.
        desc: A text in front.
        every_n_secs: The seconds between two updates of a bar.
        line_every_n_secs: The seconds between two lines, where there is no bar.
        file: Where to write; by default `sys.stderr`, and only in the chief's process.
        clock: Gives the time in seconds.

    Raises:
        TypeError: An option is of another type.
        ValueError: `total` is less than 1, or a period less than 0.
        UnknownNameError: When the session is created: a value does not exist.

    Example:
        >>> ProgressHook(total=1000, values=["loss"])
        <ProgressHook to step 1000>
    """

    def __init__(
        self,
        *,
        total: int | None = None,
        values: Tensors = (),
        optional: Iterable[str] = (),
        desc: str | None = None,
        every_n_secs: float = 0.1,
        line_every_n_secs: float = 30.0,
        file: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if total is not None and (not isinstance(total, SupportsIndex) or isinstance(total, bool)):
            raise TypeError(f"total is the global step at which the training ends, a whole number, not {total!r}")
        total = None if total is None else operator.index(total)
        if total is not None and total < 1:
            raise ValueError(f"total is the global step at which the training ends, 1 or more, not {total}")
        if isinstance(optional, str):
            raise TypeError(f"optional is a list of names, not the text {optional!r}: optional=[{optional!r}]")
        if file is not None and not callable(getattr(file, "write", None)):
            raise TypeError(f"file is open for writing text, as sys.stderr is, not {file!r}: open() gives one")
        for name, secs in (("every_n_secs", every_n_secs), ("line_every_n_secs", line_every_n_secs)):
            if not isinstance(secs, int | float) or isinstance(secs, bool):
                raise TypeError(f"{name} is a period in seconds, a number, not {secs!r}")
            if not secs >= 0:
                raise ValueError(f"{name} is a period in seconds, 0 or more, not {secs}")
        self.timer = _Timer(every_n_secs, total, clock=clock)
        self._total = total
        self._values = as_tensors(values)
        self._optional = list(optional)
        self._desc = desc
        self._periods = every_n_secs, line_every_n_secs
        self._file = file
        self._reset()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{'' if self._total is None else f' to step {self._total}'}>"

    def _reset(self) -> None:
        self.timer.reset()
        self._display: Display | None = None
        self._shown: tuple[int, str] | None = None
        self._dropped: weakref.finalize[[], Any] | None = None

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Show where it begins; after a recovery, go back there."""
        self._args = th.SessionRunArgs(names_by_tag(session.graph, self._values))
        if self._dropped is None:
            self._pace = Pace(self.timer.clock)
            self._display = self._open(session)
        else:
            self._dropped.detach()
        if self._display is None:
            self._give_up()
            return
        # Of a session that is dropped unclosed, nothing is left on the screen or in the log's handlers.
        self._dropped = weakref.finalize(session, self._display.close)
        self._pace.begin(session.global_step, session.paused_secs)
        self._show(session, "")

    def _open(self, session: th.Session) -> Display | None:
        """What shows it; None where another process does, on a terminal that is likely the same."""
        if self._file is None and not session.is_chief:
            return None
        file = self._file or sys.stderr or io.StringIO()
        display = open_display(file, session.global_step, self._total, self._desc, chosen=self._file is not None)
        self.timer.every_secs = self._periods[not display.is_bar]
        return display

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Ask for the values: the step that the run leads to is due."""
        return None if self._display is None else self._args

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Show the step and its values."""
        session = run_context.session
        if self._display is None:
            self.timer.update_last_triggered_step(session.global_step)
            return
        values = {"epoch": session.loop.epoch} if session.loop.has_epochs else {}
        values.update(run_values.results)
        values.update({name: session.published[name] for name in self._optional if name in session.published})
        self._show(session, _texts(values))

    def end(self, session: th.Session) -> None:
        """Show the last step, and leave that on the screen."""
        self._close(session)

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        """Show the last step, and leave that on the screen."""
        self._close(session)

    def _show(self, session: th.Session, values: str) -> None:
        step = session.global_step
        self.timer.update_last_triggered_step(step)
        if self._display is None:
            return
        elapsed, rate = self._pace.at(step, session.paused_secs)
        self._shown = step, values
        try:
            self._display.show(Progress(step, elapsed, rate, values))
        except (OSError, ValueError) as error:
            # A terminal that is gone is no reason to end a training.
            self._give_up()
            _log.warning("the progress is not shown any more, since it cannot be written: %s", error)

    def _close(self, session: th.Session | None) -> None:
        if session is not None and self._shown is not None and self._shown[0] != session.global_step:
            step, values = self._shown
            self._show(session, f"{values} (step {step})" if values else "")
        self._give_up()

    def _give_up(self) -> None:
        # There is nothing more to do: it need not be called.
        self.timer.every_secs = math.inf
        if self._display is not None:
            self._display.close()
            self._display = None
        if self._dropped is not None:
            self._dropped.detach()


def _texts(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{tag}={_text(value)}" for tag, value in values.items())


def _text(value: Any) -> str:
    """A value in few characters of one line."""
    # Of an array of one NumPy makes a number too, and warns that it will not any more.
    if not isinstance(value, str | int) and not tuple(getattr(value, "shape", ())):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return f"{float(value):.4g}"
    return " ".join(str(value).split())[:_LONGEST_TEXT]
