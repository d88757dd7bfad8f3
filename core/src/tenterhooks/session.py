"""The raw session: it holds the variables, and a run of it computes values and calls no hooks."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from tenterhooks.computation import Computation
from tenterhooks.default_graph import get_default_graph
from tenterhooks.errors import UnknownNameError, nearest
from tenterhooks.fetches import Feeds, Fetches
from tenterhooks.generators import all_states, set_all
from tenterhooks.graph import Graph
from tenterhooks.hooks import RunMetadata
from tenterhooks.inputs import Inputs
from tenterhooks.loop_position import LoopPosition
from tenterhooks.nodes import EVERYTHING, Variable
from tenterhooks.open_graph import OpenGraph
from tenterhooks.own_state import OwnState
from tenterhooks.pauses import Pauses
from tenterhooks.restore import Restored, restore
from tenterhooks.stop import StopRequest, StopRequests
from tenterhooks.variables import SessionState, initial_state

if TYPE_CHECKING:
    from tenterhooks.registry import HookRegistry

__all__ = ["Session"]


class Session(Inputs):
    """Computes the values of a graph. In a monitored session this is what hooks get.

    Args:
        graph: The graph; by default the one that is the default graph.
        state: The `state` of another session, to work on its variables (for an evaluation beside training); by default
            fresh ones.

    Attributes:
        graph: The graph.
        state: The variables by name.
        is_chief: Whether this process initialises, saves and logs for all.
        checkpoint_dir: The folder of the session's checkpoints, None if it has none.
        summary_dir: The folder of the session's summaries, None if it has none.
        restored: What the session was restored from, None if it is fresh.
        hook_states: What hooks had saved in the checkpoint that it was restored from, by their names.
        checkpoint_requested: Whether somebody asked for a checkpoint at the end of this run.
        compile: Works out a structure of fetches, for `plan`.
        plan: Works out what a run for several such structures computes; see `Computation.plan`.
        plan_alone: The same of one structure, and nothing fed.
        compute: Makes a run; see `Computation.compute`.
        gives: Whether all of an optional structure of fetches can be computed.
        loop: Where a loop of the program's own stands.
        own_state: The variables as the body of such a loop reads and assigns them; None where there is a graph.

    Raises:
        UnknownNameError: `state` lacks variables of the graph.
    """

    def __init__(self, graph: Graph | None = None, *, state: SessionState | None = None) -> None:
        graph = graph or get_default_graph()
        if graph is None:
            raise ValueError("a session needs a graph: pass graph=, or open it within `with graph.as_default():`")
        graph.check()
        super().__init__(graph)
        self.is_chief = True
        self.checkpoint_dir: Path | None = None
        self.summary_dir: Path | None = None
        self.restored: Restored | None = None
        self.checkpoint_requested = False
        self.state = initial_state(graph) if state is None else state
        missing = [n.name for n in graph.nodes.values() if isinstance(n, Variable) and n.name not in self.state]
        if missing:
            raise UnknownNameError(
                f"the given state lacks the variables {missing} of the graph{nearest('', self.state)}"
            )
        self._computation = Computation(graph, self.state)
        self.plan_alone = self._computation.plan_alone
        # Of each run, and so without a call between.
        self.compile, self.plan, self.compute, self.gives = (
            self._computation.compile,
            self._computation.plan,
            self._computation.compute,
            self._computation.gives,
        )
        self.loop = LoopPosition(graph, self.state)
        self.own_state = OwnState(self.state) if isinstance(graph, OpenGraph) else None
        self._closed = False
        self._stops = StopRequests()
        self._pauses = Pauses()
        self._registry: HookRegistry | None = None
        # What hooks had saved, until the session becomes part of a monitored one.
        self.hook_states: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Let nothing be run from now on. Closing twice is harmless."""
        self._closed = True
        self.compute = self._refuse

    def _refuse(self, *args: object, **options: object) -> NoReturn:
        raise RuntimeError("the session is closed; open another one to run anything")

    def join(self, registry: "HookRegistry", stops: StopRequests) -> None:
        """Become the raw session of a monitored one. From now on runs of it draw nothing from sources."""
        self._registry = registry
        self._stops = stops

    def take_place_of(self, lost: "Session") -> None:
        """Give the variables to the state of a session that was lost: who works on that goes on with this session's."""
        lost.state.take(self.state)
        self.state = lost.state
        self._pauses = lost._pauses
        self._computation.work_on(lost.state)
        self.loop.variables = lost.state
        if self.own_state is not None:
            self.own_state.work_on(lost.state)

    @property
    def closed(self) -> bool:
        """Whether the session is closed."""
        return self._closed

    @property
    def global_step(self) -> int:
        """The number of training runs so far."""
        return self.state.global_step

    @property
    def torn(self) -> str | None:
        """What left the variables half updated: an error or an interrupt within a training op; None if nothing did.

        Such a state belongs into no checkpoint. A run that trains to its end, or a restore, makes it whole again.
        """
        return self.state.torn

    @property
    def hook(self) -> Any:
        """The relay of pluggy's hook callers, to call specifications that a plugin added.

        Raises:
            RuntimeError: The session is no part of a monitored one.
        """
        if self._registry is None:
            raise RuntimeError("this session has no hooks: it is no part of a monitored session")
        return self._registry.manager.hook

    @property
    def stop(self) -> tuple[StopRequest, ...]:
        """All requests to stop so far: who, why and at which step. Empty if there is none."""
        return self._stops.adopted

    def request_stop(self, reason: str | None = None) -> None:
        """Ask the monitored session to stop: after the run under way, or before any where it was just created.

        This is for hooks. The program asks the monitored session itself.
        """
        self._stops.request(reason, self.global_step)

    def request_checkpoint(self) -> None:
        """Ask the savers for a checkpoint at the end of this run, or of the next one if none is under way."""
        self.checkpoint_requested = True

    @property
    def paused_secs(self) -> float:
        """The seconds so far that are no part of the loop; see `pause_clock`."""
        return self._pauses.secs

    def pause_clock(self, *, clock: Callable[[], float] = time.monotonic) -> AbstractContextManager[None]:
        """A `with` block for what is no part of the loop, such as an evaluation: its time is not counted in rates.

        It is for the thread of the loop. A block within another one is a part of that.

        Args:
            clock: Gives the time in seconds.
        """
        return self._pauses.pause(clock)

    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: Mapping[str, Any] | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Compute values, with no hooks.

        Within a monitored session this takes no item from a source: it sees the last one again, before the first run
        the first one.

        Args:
            fetches: A node or its name, or lists, tuples and dicts of them, nested.
            feed_dict: Values by node or name that stand in for what the nodes would be.
            options: `{"trace": True}` has `run_metadata` filled.
            run_metadata: Where the run tells of itself.

        Returns:
            The values, in the shape of `fetches`.
        """
        fetch = self.compile(fetches)
        feeds: dict[str, Any] = {}
        for node, value in (feed_dict or {}).items():
            name = self.graph[self.graph.name_of(node)].name
            if name in feeds:
                raise RuntimeError(f"{name!r} is fed twice in one run, by name and as a node")
            feeds[name] = value
        if self.published:
            feeds = {**self.published, EVERYTHING: self.plain, **feeds}
        seconds = run_metadata.traced() if run_metadata is not None and options and options.get("trace") else None
        plan = self.plan((fetch,), feeds)
        return fetch.pick(self.compute(plan, feeds, draw=self._registry is None, node_seconds=seconds))

    def measure(self, fetches: Fetches) -> Any:
        """Compute values as `run` does, and leave all as it is: no item is taken, and no random number used up.

        It is of the last run: sources give their last items again, and `inputs` are fed. Nothing is used up of the
        generators among the variables and of those of the process; others may be.

        Raises:
            NotPublishedError: It needs what the last pass of a loop of the program's own did not publish.
            ValueError: It would train.
        """
        fetch = self.compile(fetches)
        feeds = self.inputs
        plan = self._computation.plan_measuring(fetch, feeds)
        states = all_states(self.state)
        try:
            return fetch.pick(self.compute(plan, feeds, draw=False))
        finally:
            set_all(self.state, states)

    @property
    def position(self) -> tuple[int, ...]:
        """What tells a state from the one before: the step, and how often variables were updated and values published.

        And the items drawn: a run that is no step may still update variables, or take an item of a source. A value
        that is published after a save, such as that of an evaluation at the end, is another one of the same step.
        """
        drawn = [reader.drawn for reader in self._computation.readers.values()]
        return self.global_step, self.state.updates, self.publications, *self.loop.place, *drawn

    def state_dict(self) -> dict[str, Any]:
        """All that a checkpoint holds: the step, the variables, the sources' positions, and the hooks' states.

        Arrays in it are the session's own, not copies.

        Raises:
            CheckpointError: Something cannot be saved, or not be restored from that; the message names it.
        """
        if self.own_state is not None:
            self.own_state.saved()
        loop = {"loop": self.loop.state_dict()} if self.loop.used else {}
        return {
            **loop,
            "global_step": self.global_step,
            "variables": self.state.captured(),
            "in_place": self.state.begun.still_there(self.state),
            "sources": {name: reader.state_dict() for name, reader in self._computation.readers.items()},
            "hooks": {} if self._registry is None else self._registry.states.state_dict(),
        }

    def load_state_dict(self, state: Mapping[str, Any], *, checkpoint: str | Path) -> None:
        """Restore what `state_dict` gave: the variables, the step and the sources.

        What hooks saved is kept in `hook_states`, and given to them when the session becomes part of a monitored one.

        Args:
            state: What was saved.
            checkpoint: Where it came from, for `restored` and for messages.

        Raises:
            CheckpointError: Shapes, dtypes or types do not fit, and the message names all that do not; or it is no
                state of a session at all.
        """
        self.restored = restore(state, self.state, self._computation.readers, Path(checkpoint))
        if "loop" in state:
            self.loop.load_state_dict(state["loop"])
        if self.own_state is not None:
            self.own_state.restored([name for name in self.state if name in state["variables"]])
        self.hook_states = dict(state["hooks"])
