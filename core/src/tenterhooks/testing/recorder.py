"""A hook that notes what it is told, and tells it so that a failing assertion can be read."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tenterhooks.hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

if TYPE_CHECKING:
    from tenterhooks.coordinator import Coordinator
    from tenterhooks.graph import Graph
    from tenterhooks.session import Session

__all__ = ["Call", "Recorder", "raising"]

_RUN = "run"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a stage.

    Attributes:
        stage: The stage.
        arguments: What it was called with, by the names in the specification.
        step: The global step at that time; None where there was no session yet.
    """

    stage: str
    arguments: dict[str, Any]
    step: int | None


class Recorder(SessionRunHook):
    """Notes each of its calls, and does in a stage what it is told to do there.

    Args:
        name: Its name.
        calls: Where it notes (its name, the stage); several may share one list, which then has the order of all.
        on: What it does in a stage, by the stage: a function of all arguments of that stage. What the one of
            `before_run` returns is what the hook asks for.

    Attributes:
        calls: That list.
        recorded: Its own calls, with their arguments.

    Example:
        >>> recorder = Recorder()
        >>> recorder.begin(None)
        >>> recorder.assert_stages("begin")
        >>> recorder.assert_stages("begin", "3 runs", "end")
        Traceback (most recent call last):
        AssertionError: hook 'recorder' was called in ['begin'], not in ['begin', '3 runs', 'end']
    """

    def __init__(
        self, name: str = "recorder", calls: list[tuple[str, str]] | None = None, **on: Callable[..., Any]
    ) -> None:
        self.name = name
        self.calls: list[tuple[str, str]] = [] if calls is None else calls
        self.recorded: list[Call] = []
        self._on = on

    @property
    def stages(self) -> list[str]:
        """The stages in which it was called."""
        return [call.stage for call in self.recorded]

    @property
    def story(self) -> list[str]:
        """The same in short: "3 runs" stands for three times `before_run` and `after_run`."""
        told = []
        for entry, group in groupby(_runs(self.stages)):
            times = len(list(group))
            if entry == _RUN:
                told.append("1 run" if times == 1 else f"{times} runs")
            else:
                told += [entry] * times
        return told

    @property
    def results(self) -> list[Any]:
        """What it got in each `after_run`."""
        return [call.arguments["run_values"].results for call in self.recorded if call.stage == "after_run"]

    def assert_stages(self, *expected: str) -> None:
        """Assert that it was called in these stages, in this order.

        Args:
            expected: As in `story`: stages, and "1 run" or "3 runs" for runs that were completed.

        Raises:
            AssertionError: It was not.
        """
        story = self.story
        if story != list(expected):
            raise AssertionError(f"hook {self.name!r} was called in {story}, not in {list(expected)}")

    def calm(self) -> None:
        """Do nothing from now on but note the calls."""
        self._on = {}

    def begin(self, graph: "Graph") -> None:
        """Note it."""
        self._note("begin", None, graph=graph)

    def after_create_session(self, session: "Session", coord: "Coordinator") -> None:
        """Note it."""
        self._note("after_create_session", session, session=session, coord=coord)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Note it, and ask for what it was told to ask for."""
        asked: SessionRunArgs | None = self._note("before_run", run_context.session, run_context=run_context)
        return asked

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Note it."""
        self._note("after_run", run_context.session, run_context=run_context, run_values=run_values)

    def end(self, session: "Session") -> None:
        """Note it."""
        self._note("end", session, session=session)

    def on_exception(self, session: "Session | None", exception: BaseException) -> None:
        """Note it."""
        self._note("on_exception", session, session=session, exception=exception)

    def _note(self, stage: str, session: "Session | None", /, **arguments: Any) -> Any:
        self.calls.append((self.name, stage))
        self.recorded.append(Call(stage, arguments, None if session is None else session.global_step))
        return self._on[stage](*arguments.values()) if stage in self._on else None


def raising(*errors: BaseException | None) -> Callable[..., None]:
    """A function that raises these one after the other, one a call and none for None, and nothing after them.

    Args:
        errors: For instance `raising(None, ValueError("here"))`, which raises at its second call.
    """
    waiting = list(errors)

    def act(*arguments: object) -> None:
        error = waiting.pop(0) if waiting else None
        if error is not None:
            raise error

    return act


def _runs(stages: list[str]) -> Iterator[str]:
    """The stages, with one entry for each run that was completed."""
    left = list(stages)
    while left:
        if left[:2] == ["before_run", "after_run"]:
            del left[:2]
            yield _RUN
        else:
            yield left.pop(0)
