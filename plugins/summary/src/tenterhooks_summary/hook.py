"""The hook that writes summaries."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tenterhooks as th
from tenterhooks.fetches import Tensors, names_by_tag
from tenterhooks.summaries import SummaryWriter, open_summary_writer

__all__ = ["SummarySaverHook"]


class SummarySaverHook(th.SessionRunHook):
    """Writes numbers of the graph into a folder, as curves over the global step.

    The first run is written, then one each period. The numbers are computed in the runs that are written, in no other.
    A point belongs to the global step after its run, while the number is that before the update, as in TensorFlow.

    Args:
        save_steps: The period in global steps.
        save_secs: The period in seconds. Exactly one of the two is given.
        output_dir: The folder; by default the session's `summary_dir`.
        tensors: What to write: a node or its name, several of them, or a dict of them by tag (the curve's name;
            otherwise the node's). By default the graph's collection `summaries`, as it is once all hooks have begun.
        summary_writer: Where to write, in place of a folder. It is flushed at the end, and closed by whoever made it.
        clock: Gives the time in seconds, for `save_secs`.

    Raises:
        ValueError: Both periods or none were given; or, when the session is created, there is no folder.
        UnknownNameError: When the session is created: a tensor does not exist.

    Example:
        >>> SummarySaverHook(save_steps=100, output_dir="runs/a/summaries", tensors={"train/loss": "loss"})
        <SummarySaverHook into 'runs/a/summaries'>
    """

    def __init__(
        self,
        *,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | Path | None = None,
        tensors: Tensors | None = None,
        summary_writer: SummaryWriter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (save_steps is None) == (save_secs is None):
            raise ValueError(
                f"exactly one of save_steps and save_secs must be given, not {save_steps=} and {save_secs=}"
            )
        self.timer = th.SecondOrStepTimer(save_secs, save_steps, clock=clock)
        self._output_dir = output_dir
        self._tensors = tensors
        self._given_writer = summary_writer
        self._reset()

    def _reset(self) -> None:
        self.timer.reset()
        self._writer: SummaryWriter | None = None
        self._names: dict[str, str] = {}
        self._due = False

    def __repr__(self) -> str:
        where = self._output_dir if self._given_writer is None else self._given_writer
        return f"<{type(self).__name__} into {'its summary_dir' if where is None else repr(where)}>"

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Find out what to write, and open the writer if there is something."""
        tensors = session.graph.get_collection("summaries") if self._tensors is None else self._tensors
        self._names = names_by_tag(session.graph, tensors)
        folder = session.summary_dir if self._output_dir is None else self._output_dir
        if self._given_writer is not None:
            self._writer = self._given_writer
        elif folder is None:
            raise ValueError(
                "there is no folder for the summaries: pass SummarySaverHook(output_dir=...), or give the session a "
                "summary_dir or a checkpoint_dir"
            )
        # After a recovery the one that is open goes on.
        elif self._writer is None and self._names:
            self._writer = open_summary_writer(folder)

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Ask for the numbers if the step that the run leads to is due."""
        step = run_context.session.global_step + 1
        self._due = self.timer.should_trigger_for_step(step)
        return th.SessionRunArgs(self._names) if self._due and self._names else None

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Write what was asked for."""
        if not self._due:
            return
        step = run_context.session.global_step
        self.timer.update_last_triggered_step(step)
        if self._writer is None or not self._names:
            return
        numbers = {tag: _number(value, self._names[tag]) for tag, value in run_values.results.items()}
        for tag, number in numbers.items():
            self._writer.add_scalar(tag, number, step)
        # A curve that is looked at while training shall be whole, and survive the process.
        self._writer.flush()

    def end(self, session: th.Session) -> None:
        """Flush and close the writer."""
        self._close()

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        """Flush and close the writer."""
        self._close()

    def _close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is None:
            return
        if writer is self._given_writer:
            writer.flush()
        else:
            writer.close()


def _number(value: Any, name: str) -> float:
    """A value as the number that it is.

    Raises:
        ValueError: It is none.
    """
    shape = tuple(getattr(value, "shape", ()))
    cause = None
    if not shape and not isinstance(value, str | bytes):
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            cause = error
    what = f"has the shape {shape}" if shape else f"is {value!r:.60} of type {type(value).__name__}"
    raise ValueError(
        f"a summary is one number, and {name!r} {what}: add a tensor to the graph that makes one number of it, such as "
        "its mean, and write that"
    ) from cause
