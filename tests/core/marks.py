"""Hooks whose stages are marked, and the order in which they are called."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

import tenterhooks as th
from tenterhooks.hookspecs import STAGES

from .recorders import Calls, Recorder, training

__all__ = ["everywhere", "mark", "marked", "orders", "play"]

_F = TypeVar("_F", bound=Callable[..., Any])


def play(*hooks: object) -> None:
    """One session with one run, and another that ends by an exception: every stage is called."""
    with training(*hooks) as session:
        session.run("train")
    with pytest.raises(ValueError, match="body"), training(*hooks):
        raise ValueError("body")


def mark(**marks: Any) -> Callable[[_F], _F]:
    decorator: Callable[[_F], _F] = th.hookimpl(**marks)
    return decorator


def marked(name: str, calls: Calls, *, saver: bool = False, **marks: bool) -> Recorder:
    """A hook all of whose stages have these marks."""

    class Marked(Recorder):
        saves_state = saver

        @mark(**marks)
        def begin(self, graph: th.Graph) -> None:
            super().begin(graph)

        @mark(**marks)
        def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
            super().after_create_session(session, coord)

        @mark(**marks)
        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
            return super().before_run(run_context)

        @mark(**marks)
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            super().after_run(run_context, run_values)

        @mark(**marks)
        def end(self, session: th.Session) -> None:
            super().end(session)

        @mark(**marks)
        def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
            super().on_exception(session, exception)

    return Marked(name, calls)


def orders(calls: Calls) -> dict[str, list[str]]:
    """Who was called at each stage, the first time that it was reached."""
    reached = {stage: [name for name, called in calls if called == stage] for stage in STAGES}
    return {stage: list(dict.fromkeys(names)) for stage, names in reached.items()}


def everywhere(*names: str) -> dict[str, list[str]]:
    """This order at every stage."""
    return {stage: list(names) for stage in STAGES}
