"""What the hooks have in common that write values by tag and step to a file."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import tenterhooks as th
from tenterhooks.fetches import Tensors, as_tensors, names_by_tag
from tenterhooks.nodes import EVERYTHING
from tenterhooks.open_graph import OpenGraph
from tenterhooks.timer import check_steps
from tenterhooks_logging._lines import LineFile
from tenterhooks_logging._values import is_single

__all__ = ["MetricsFileHook"]

_log = logging.getLogger("tenterhooks_logging")

_DEFAULT_STEPS = 100
_TAKEN = ("step", "time", "end")


class MetricsFileHook(th.SessionRunHook, ABC):
    """Writes values by tag and step to a file. A subclass says in which format."""

    default_name: ClassVar[str]

    def __init__(
        self,
        tensors: Tensors | None = None,
        *,
        optional: Iterable[str] = (),
        path: str | Path | None = None,
        every_n_steps: int | None = None,
        every_n_secs: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Check the options.

        Args:
            tensors: A node or its name, several of them, or a dict of them by tag (what the file calls the value;
                otherwise the node's name). By default, in a loop of the program's own, all single numbers and texts
                that it publishes, those given as callables apart; in a session that is run, the graph's collection
                `summaries`.
            optional: Names of published values that are written once there is one, such as what an evaluation finds.
            path: The file; by default one in the session's `summary_dir`, which is its `checkpoint_dir` if it was given
                no other. There only the chief writes.
            every_n_steps: The period in global steps; 100 if no period is given.
            every_n_secs: The period in seconds, in place of the steps.
            clock: Gives the time in seconds, for `every_n_secs`.

        Raises:
            ValueError: Both periods were given, or one that is no period.
            TypeError: An option is of another type.
        """
        if every_n_steps is not None and every_n_secs is not None:
            raise ValueError(
                f"only one of every_n_steps and every_n_secs can be given, not {every_n_steps=} and {every_n_secs=}"
            )
        if isinstance(optional, str):
            raise TypeError(f"optional is a list of names, not the text {optional!r}: optional=[{optional!r}]")
        if every_n_steps is None and every_n_secs is None:
            every_n_steps = _DEFAULT_STEPS
        check_steps("every_n_steps", every_n_steps)
        self.timer = th.SecondOrStepTimer(every_n_secs, every_n_steps, clock=clock)
        self._tensors = None if tensors is None else as_tensors(tensors)
        self._optional = list(optional)
        # Whatever the working directory will be.
        self._path = None if path is None else Path(path).absolute()
        self._reset()

    @abstractmethod
    def open_file(self, path: Path) -> LineFile:
        """The file in its format."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} into {'its summary_dir' if self._path is None else repr(str(self._path))}>"

    def _reset(self) -> None:
        self.timer.reset()
        self._file: LineFile | None = None
        self._left_out: set[str] = set()

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before."""
        self._reset()

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Find out what to write, and open the file: without the steps that will be made again, if it goes on.

        Raises:
            ValueError: There is no folder for the file, nothing to write, or a tag that the file has itself.
            OSError: The file cannot be written.
        """
        self._args = th.SessionRunArgs(self._fetches(session.graph))
        # After a recovery, steps come again that were written.
        self.timer.reset()
        again = self._file is not None
        if self._file is None:
            path = self._path_in(session)
            if path is None:
                return
            self._file = self.open_file(path)
        # A session that is created anew goes on with its own file, restored or not.
        if again or session.restored is not None:
            self._file.go_on(session.global_step)
        else:
            self._file.begin()

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        """Ask for the values: the step that the run leads to is due."""
        return None if self._file is None else self._args

    # After whoever evaluates in this step, wherever that stands: what it finds is of this step.
    @th.hookimpl(trylast=True)
    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Write them."""
        session = run_context.session
        step = session.global_step
        if self._file is None:
            self.timer.update_last_triggered_step(step)
            return
        # Another run at a step that is written is none of its own.
        if step == self.timer.last_triggered_step():
            return
        named = {name: session.published[name] for name in self._optional if name in session.published}
        values = {}
        if self._tensors_are_all:
            values = self._of_all({**session.kept, **run_values.results}, self._file)
        else:
            named = {**run_values.results, **named}
        values.update({tag: self._file.as_written(value, tag) for tag, value in named.items()})
        if values:
            self._file.write(step, round(time.time(), 3), values)
        self.timer.update_last_triggered_step(step)

    @th.hookimpl(optionalhook=True)
    def before_save(self, session: th.Session, step: int) -> None:
        """Have on the disk what a session that is restored from this save goes on after."""
        if self._file is not None:
            self._file.sync()

    def end(self, session: th.Session) -> None:
        """Write how the session ended, and close the file."""
        self._close(session, "stopped: " + "; ".join(map(str, session.stop)) if session.stop else "clean")

    def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
        """Write how the session ended, and close the file."""
        text = str(exception)
        self._close(session, f"failed: {type(exception).__name__}" + (f": {text}" if text else ""))

    def _close(self, session: th.Session | None, how: str) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        try:
            if session is not None and file.is_open:
                file.write_end(session.global_step, round(time.time(), 3), how)
        finally:
            file.close()

    def _fetches(self, graph: th.Graph) -> Any:
        """What is asked for in each run that is due."""
        self._tensors_are_all = self._tensors is None and isinstance(graph, OpenGraph)
        if self._tensors_are_all:
            return EVERYTHING
        tensors = graph.get_collection("summaries") if self._tensors is None else self._tensors
        names = names_by_tag(graph, tensors)
        if not names and not self._optional:
            raise ValueError(
                f"there is nothing to write: pass {type(self).__name__}(tensors=...), or put tensors into the graph's "
                "collection 'summaries'"
            )
        for tag in [*names, *self._optional]:
            if tag in _TAKEN:
                raise ValueError(
                    f"no value can be written as {tag!r}, which the file has itself: give it another tag, as in "
                    f"tensors={{'the_{tag}': {names.get(tag, tag)!r}}}"
                )
        return names

    def _path_in(self, session: th.Session) -> Path | None:
        """Where to write; None where another process does that for all."""
        if self._path is not None:
            return self._path
        if not session.is_chief:
            _log.info("%s writes no file here, since the chief does: path=... has it write one", type(self).__name__)
            return None
        if session.summary_dir is None:
            raise ValueError(
                f"there is no folder for {self.default_name}: pass {type(self).__name__}(path=...), or give the "
                "session a summary_dir or a checkpoint_dir"
            )
        return session.summary_dir / self.default_name

    def _of_all(self, values: Mapping[str, Any], file: LineFile) -> dict[str, Any]:
        """Of all that was published what can be written; what cannot is said once."""
        found = {}
        for tag, value in values.items():
            if tag in self._optional:
                continue
            try:
                if tag in _TAKEN:
                    raise ValueError("the file has that name itself")
                if not is_single(value):
                    raise ValueError("it is no single number or text")
                found[tag] = file.as_written(value, tag)
            except (TypeError, ValueError) as why:
                if tag not in self._left_out:
                    self._left_out.add(tag)
                    _log.warning("%r is not written, since %s: tensors=... names what is to be written", tag, why)
        return found
