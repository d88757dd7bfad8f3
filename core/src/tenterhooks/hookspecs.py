"""The lifecycle: each stage, in the order in which a session calls it, as a pluggy specification.

    constructor   begin -> (graph finalized, session created, state restored) -> after_create_session
    each run      before_run -> one run for the caller and all hooks -> after_run
    recovery      (session created anew from the newest checkpoint) -> after_create_session -> the run again
    the end       end, or on_exception if an exception ends the session: each hook gets exactly one of the two

At every stage hooks are called in the order of the list that the session was given, those with `saves_state` after all
others; pluggy's `tryfirst` and `trylast` move one within that, its wrappers see the stage as a whole. An implementation
may name only the arguments that it wants.
"""

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from tenterhooks.coordinator import Coordinator
    from tenterhooks.graph import Graph
    from tenterhooks.hooks import SessionRunArgs, SessionRunContext, SessionRunValues
    from tenterhooks.session import Session

__all__ = [
    "PROJECT",
    "STAGES",
    "after_create_session",
    "after_run",
    "before_run",
    "begin",
    "end",
    "hookimpl",
    "hookspec",
    "on_exception",
]

PROJECT = "tenterhooks"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def begin(graph: "Graph") -> None:
    """Called once, in the session's constructor; the only stage that may add to the graph, finalized after it."""


@hookspec
def after_create_session(session: "Session", coord: "Coordinator") -> None:
    """Called after each (re-)creation of the session; variables and the hook's own state are restored by then."""


@hookspec
def before_run(run_context: "SessionRunContext") -> "SessionRunArgs | None":
    """Called before each run; may return what the run shall compute and be fed for this hook, may request a stop."""


@hookspec
def after_run(run_context: "SessionRunContext", run_values: "SessionRunValues") -> None:
    """Called after each run that did not raise, with what the hook asked for; the step is that after the update."""


@hookspec
def end(session: "Session") -> None:
    """Called at a clean end: the block ended, a stop was requested, or the input ran out."""


@hookspec
def on_exception(session: "Session | None", exception: BaseException) -> None:
    """Called instead of `end` when an exception ends the session; observes it, cannot swallow or replace it."""


# In the order in which a session calls them.
STAGES = ("begin", "after_create_session", "before_run", "after_run", "end", "on_exception")
