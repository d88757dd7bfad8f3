"""What an author of a hook subclasses, returns and gets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tenterhooks.coordinator import Coordinator
    from tenterhooks.fetches import Feeds
    from tenterhooks.graph import Graph
    from tenterhooks.session import Session
    from tenterhooks.stop import StopRequests

__all__ = [
    "NodeSeconds",
    "OptionalFetches",
    "RunMetadata",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
]


class OptionalFetches:
    """A structure of fetches that its hook goes without in a run in which something of it is not given.

    Args:
        fetches: The structure.
    """

    __slots__ = ("fetches",)

    def __init__(self, fetches: Any) -> None:
        self.fetches = fetches

    def __repr__(self) -> str:
        return f"OptionalFetches({self.fetches!r})"


class SessionRunArgs:
    """What a hook, or the caller, wants of a run.

    Args:
        fetches: A node or its name, or lists, tuples and dicts of them, nested; None asks for nothing.
        feed_dict: Values by node or name that stand in for what the nodes would be.
        options: Options of the run. Of all that are given in a run, truth values are or-ed, numbers take the maximum,
            others must agree. `{"trace": True}` measures the time of each node.
        optional: Whether the hook goes without: in a run in which something of the fetches is not given, since the loop
            did not publish it or nobody feeds the placeholder, its `results` are None, in place of an error. A name
            that does not exist is an error all the same. It is for hooks; a caller's fetches are computed.

    Attributes:
        fetches: Those that were given; where they are optional, in an `OptionalFetches`.
        feed_dict: As given.
        options: As given.

    Example:
        >>> SessionRunArgs("eval/accuracy", optional=True)
        SessionRunArgs('eval/accuracy', feed_dict=None, options=None, optional=True)
    """

    __slots__ = ("feed_dict", "fetches", "options")

    def __init__(
        self,
        fetches: Any = None,
        feed_dict: "Feeds | None" = None,
        options: Mapping[str, Any] | None = None,
        optional: bool = False,
    ) -> None:
        # What hooks ask for is compared in each run: so the fetches tell it, and nothing beside them. For the same
        # reason it can be given by position, which costs less.
        self.fetches = OptionalFetches(fetches) if optional and fetches is not None else fetches
        self.feed_dict = feed_dict
        self.options = options

    def __repr__(self) -> str:
        optional = isinstance(self.fetches, OptionalFetches)
        fetches = self.fetches.fetches if optional else self.fetches
        return (
            f"SessionRunArgs({fetches!r}, feed_dict={self.feed_dict!r}, options={self.options!r}"
            f"{', optional=True' * optional})"
        )


class NodeSeconds(dict[str, float]):
    """The seconds that each node's function took, by name.

    Attributes:
        began: When each was called, on the clock `time.perf_counter`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.began: dict[str, float] = {}


class RunMetadata:
    """What a run tells of itself.

    Attributes:
        node_seconds: For a run with the option `{"trace": True}`, the seconds that each node's function took, by name,
            as `NodeSeconds`; else empty.
    """

    __slots__ = ("node_seconds",)

    def __init__(self) -> None:
        self.node_seconds: dict[str, float] = {}

    def traced(self) -> NodeSeconds:
        """Where a run with that option writes the seconds; anew, since few runs have it."""
        self.node_seconds = seconds = NodeSeconds()
        return seconds


class SessionRunValues(NamedTuple):
    """What a run gave a hook.

    Attributes:
        results: What this hook asked for, in the shape in which it asked; None if it asked for nothing, or for what
            is optional and was not given.
        options: The merged options of the run.
        run_metadata: Filled where an option of the run asked for it. One object is shared by all hooks of the run.
    """

    results: Any
    options: Mapping[str, Any]
    run_metadata: RunMetadata


class SessionRunContext:
    """The run of a monitored session that is under way: one object for all hooks, both stages and all runs.

    Args:
        stops: The monitored session's requests to stop.

    Attributes:
        session: The raw session: a run of it calls no hooks.
        completed_runs: How many runs the monitored session has completed before this one. A run that fails, or is
            repeated after a recovery, is not among them.
        given: What the caller asked for, by position or as `original_args`, which few hooks look at.
    """

    __slots__ = ("_stops", "completed_runs", "given", "session")

    def __init__(self, session: "Session", stops: "StopRequests", completed_runs: int) -> None:
        self.session = session
        self.completed_runs = completed_runs
        self._stops = stops
        self.given: Any = (None, None, None)

    @property
    def original_args(self) -> SessionRunArgs:
        """What the caller asked for."""
        if not isinstance(self.given, SessionRunArgs):
            self.given = SessionRunArgs(*self.given)
        return self.given

    @property
    def stop_requested(self) -> bool:
        """Whether a stop was asked for, in this run so far or before it."""
        return bool(self._stops)

    def request_stop(self, reason: str | None = None) -> None:
        """Ask the session to stop after this run.

        The run goes on, and all its `after_run` are called. Who asked, and at which step, is noted with the reason.
        """
        self._stops.request(reason, self.session.global_step)


class SessionRunHook:
    """Base class of hooks: override the stages that you want; one that is not overridden is never called.

    A subclass may set `name`, which is unique in a session and under which the hook's state is saved (default: the
    plugin's short name, else the class's name), `saves_state = True`, which has it called after all other hooks at
    every stage, and define `state_dict()` and `load_state_dict(state)`, which put its state into checkpoints.

    One with a `timer`, a `SecondOrStepTimer` or what else is a `tenterhooks.timer.Timer`, is called before and after
    just those runs that are due by it: it is asked about the global step that a run leads to, or with
    `timer_counts = "runs"` about the number of completed runs. A subclass of such a hook with a `before_run` or
    `after_run` of its own that neither declares `timer` nor uses it is called always.

    The stages, when they are called and with what: see `tenterhooks.hookspecs`. An override may name only the arguments
    that it wants.
    """

    def begin(self, graph: "Graph") -> None:
        """Called once, in the session's constructor; may add to the graph."""

    def after_create_session(self, session: "Session", coord: "Coordinator") -> None:
        """Called after each (re-)creation of the session, with all state restored."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; may ask for values, feed, and request a stop."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not raise, with what this hook asked for."""

    def end(self, session: "Session") -> None:
        """Called at a clean end, with the session still open."""

    def on_exception(self, session: "Session | None", exception: BaseException) -> None:
        """Called instead of `end` when an exception ends the session."""
