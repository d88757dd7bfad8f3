"""The hook that writes summaries."""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import tenterhooks as th
from tenterhooks.summaries import SummaryWriter, check_summary_writer, leave_summary_writer, open_summary_writer
from tenterhooks_summary.kinds import Kind, Scalar, Summaries, as_summaries, collected, kinds_by_tag

__all__ = ["SummarySaverHook"]

_log = logging.getLogger("tenterhooks_summary")


class SummarySaverHook(th.SessionRunHook):
    """Writes values of the graph into a folder, by the global step: numbers as curves, and what else is asked for.

    The first run is written, then one each period. The values are computed in the runs that are written, in no other.
    A point belongs to the global step after its run, while the value is that before the update, as in TensorFlow.

    What was written is handed over before each checkpoint and at the end, and by the writer of a folder within a
    fraction of a second. A session that was restored has what is in the folder of later steps hidden, and the writer is
    told how a session ended.

    Args:
        save_steps: The period in global steps.
        save_secs: The period in seconds. Exactly one of the two is given.
        output_dir: The folder; by default the session's `summary_dir`, where only the chief writes.
        tensors: What to write: a node or its name, several of them, or a dict of them by tag (the curve's name;
            otherwise the node's). What is no number is given as `Histogram("w")`, `Image(...)` or `Text(...)`. By
            default the graph's collections `summaries`, `summaries/histograms`, `summaries/images` and
            `summaries/texts`, as they are once all hooks have begun.
        hparams: The hyperparameters of the run by name: truth values, numbers and texts.
        summary_writer: Where to write, in place of a folder. It is flushed at the end, and closed by whoever made it.
        clock: Gives the time in seconds, for `save_secs`.

    Raises:
        ValueError: Both periods or none were given; or, when the session is created, there is no folder.
        TypeError: An option is of another type: `summary_writer` is no `tenterhooks.summaries.SummaryWriter`.
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
        tensors: Summaries | None = None,
        hparams: Mapping[str, bool | float | str] | None = None,
        summary_writer: SummaryWriter | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if (save_steps is None) == (save_secs is None):
            raise ValueError(
                f"exactly one of save_steps and save_secs must be given, not {save_steps=} and {save_secs=}"
            )
        self.timer = th.SecondOrStepTimer(save_secs, save_steps, clock=clock)
        self._output_dir = output_dir
        self._tensors = None if tensors is None else as_summaries(tensors)
        if hparams is not None and not isinstance(hparams, Mapping):
            raise TypeError(
                f"hparams are a dict of values by name, not {hparams!r:.60} of type {type(hparams).__name__}: "
                "vars(...) makes one of a namespace"
            )
        self._hparams = hparams
        check_summary_writer(summary_writer)
        self._given_writer = summary_writer
        self._reset()

    def _reset(self) -> None:
        self.timer.reset()
        self._writer: SummaryWriter | None = None
        self._kinds: dict[str, Kind] = {}
        self._names: dict[str, str] = {}
        self._args: th.SessionRunArgs | None = None
        self._due = False

    def __repr__(self) -> str:
        where = self._output_dir if self._given_writer is None else self._given_writer
        return f"<{type(self).__name__} into {'its summary_dir' if where is None else repr(where)}>"

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Find out what to write, open the writer if there is something, and tell it from which step on."""
        tensors = collected(session.graph) if self._tensors is None else self._tensors
        self._names, self._kinds = kinds_by_tag(session.graph, tensors)
        self._args = th.SessionRunArgs(self._names) if self._names else None
        # After a recovery the steps are written anew that it went back by, with the writer that is open.
        self.timer.reset()
        recovered = self._writer is not None
        if not recovered:
            self._writer = self._given_writer or self._open(session)
        if self._writer is None:
            self._args = None
            return
        self._writer.start(session.global_step + 1)
        if self._hparams and not recovered:
            curves = [tag for tag, kind in self._kinds.items() if isinstance(kind, Scalar)]
            self._writer.add_hparams(self._hparams, curves)

    def _open(self, session: th.Session) -> SummaryWriter | None:
        folder = session.summary_dir if self._output_dir is None else self._output_dir
        if self._output_dir is None and not session.is_chief:
            _log.info("no summaries are written here, since the chief writes them: output_dir=... has them written")
            return None
        if folder is None:
            raise ValueError(
                "there is no folder for the summaries: pass SummarySaverHook(output_dir=...), or give the session a "
                "summary_dir or a checkpoint_dir"
            )
        if self._names or self._hparams:
            return open_summary_writer(folder)
        _log.warning(
            "there are no summaries to write: pass SummarySaverHook(tensors=...), or put tensors into the graph's "
            "collection 'summaries'"
        )
        return None

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Ask for the values if the step that the run leads to is due."""
        self._due = self.timer.should_trigger_for_step(run_context.session.global_step + 1)
        return self._args if self._due else None

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Write what was asked for."""
        if not self._due:
            return
        step = run_context.session.global_step
        # Another run at a step that is written is none of its own: its values are those after the update.
        if step == self.timer.last_triggered_step():
            return
        self.timer.update_last_triggered_step(step)
        if self._writer is None or self._args is None:
            return
        checked = {tag: kind.checked(run_values.results[tag], self._names[tag]) for tag, kind in self._kinds.items()}
        for tag, value in checked.items():
            self._kinds[tag].add(self._writer, tag, value, step)

    @th.hookimpl(optionalhook=True)
    def before_save(self, session: th.Session, step: int) -> None:
        """Flush: a run that goes on from the checkpoint does not write again what came before it."""
        if self._writer is not None:
            self._writer.flush()

    def end(self, session: th.Session) -> None:
        """Tell the writer, and flush and close it."""
        self._close(None)

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        """Tell the writer, and flush and close it."""
        self._close(exception)

    def _close(self, exception: BaseException | None) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            leave_summary_writer(writer, exception, close=writer is not self._given_writer)
