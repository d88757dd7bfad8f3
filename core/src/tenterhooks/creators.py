"""How a session is created, and created anew: fresh, or restored from the newest checkpoint."""

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tenterhooks.default_graph import get_default_graph
from tenterhooks.errors import DeadlineExceededError
from tenterhooks.graph import Graph
from tenterhooks.open_graph import OpenGraph
from tenterhooks.savers import Saver, default_saver, folder_of
from tenterhooks.session import Session

__all__ = ["ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator", "graph_of"]

_log = logging.getLogger(__name__)


@runtime_checkable
class SessionCreator(Protocol):
    """Makes the raw session of a monitored one, once or, where that recovers, several times.

    It may have an attribute `graph`; where it has none, `graph=` is given to the monitored session.
    """

    def create_session(self) -> Session:
        """Make a session, with its variables initialised or restored."""
        ...


class ChiefSessionCreator:
    """Restores the newest whole checkpoint, or initialises the variables where there is none.

    Args:
        graph: The graph; by default the one that is the default graph.
        checkpoint_dir: The folder of the checkpoints; None: always fresh.
        init_fn: Called with a fresh session, not with a restored one.
        saver: Reads the checkpoints; by default the installed saver, in `checkpoint_dir`.

    Raises:
        ValueError: The folder is an empty text.
    """

    def __init__(
        self,
        graph: Graph | None = None,
        checkpoint_dir: str | Path | None = None,
        init_fn: Callable[[Session], object] | None = None,
        *,
        saver: Saver | None = None,
    ) -> None:
        self.graph = graph or get_default_graph()
        self.checkpoint_dir = None if checkpoint_dir is None else folder_of(checkpoint_dir)
        self._init_fn = init_fn
        self._saver = saver

    def create_session(self) -> Session:
        """Make a session.

        Raises:
            CheckpointError: There are checkpoints, but none that is whole and fits.
            PluginError: No saver is installed.
        """
        session = Session(self.graph)
        session.checkpoint_dir = self.checkpoint_dir
        if self._saver is None and self.checkpoint_dir is not None:
            self._saver = default_saver(self.checkpoint_dir)
        if not _restore(session, self._saver):
            if self._saver is not None:
                _log.info("no checkpoint in %s: starting from step 0", self.checkpoint_dir or self._saver)
            if self._init_fn is not None:
                self._init_fn(session)
        return session


class WorkerSessionCreator:
    """Never initialises: waits until the chief has committed a whole checkpoint, and restores that.

    Args:
        graph: The graph; by default the one that is the default graph.
        checkpoint_dir: The folder of the checkpoints.
        max_wait_secs: How many seconds to wait for one.
        poll_secs: How many seconds to sleep between two looks.
        saver: Reads the checkpoints; by default the installed saver, in `checkpoint_dir`.
        sleep: Sleeps for a number of seconds.
        clock: Gives the time in seconds.

    Raises:
        ValueError: There is neither a folder nor a saver, or the folder is an empty text.
    """

    def __init__(
        self,
        graph: Graph | None = None,
        checkpoint_dir: str | Path | None = None,
        *,
        max_wait_secs: float = 1800.0,
        poll_secs: float = 1.0,
        saver: Saver | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if checkpoint_dir is None and saver is None:
            raise ValueError("a worker restores what the chief has saved: pass the chief's checkpoint_dir")
        self.graph = graph or get_default_graph()
        self.checkpoint_dir = None if checkpoint_dir is None else folder_of(checkpoint_dir)
        self._max_wait_secs = max_wait_secs
        self._poll_secs = poll_secs
        self._saver = saver
        self._sleep = sleep
        self._clock = clock

    def create_session(self) -> Session:
        """Make a session.

        Raises:
            DeadlineExceededError: There was no checkpoint in time.
            CheckpointError: There are checkpoints, but none that is whole and fits.
            PluginError: No saver is installed.
        """
        session = Session(self.graph)
        session.is_chief = False
        session.checkpoint_dir = self.checkpoint_dir
        if self._saver is None:
            assert self.checkpoint_dir is not None
            self._saver = default_saver(self.checkpoint_dir)
        deadline = self._clock() + self._max_wait_secs
        while not _restore(session, self._saver):
            if self._clock() + self._poll_secs > deadline:
                raise DeadlineExceededError(
                    f"no checkpoint in {self.checkpoint_dir or self._saver} after {self._max_wait_secs:g} s: "
                    "is the chief running, with the same checkpoint_dir?"
                )
            self._sleep(self._poll_secs)
        return session


def graph_of(creator: SessionCreator | None, graph: Graph | None, state: Mapping[str, Any] | None = None) -> Graph:
    """The graph of a monitored session: the creator's, the one that is given, the default one, or an open one.

    Raises:
        TypeError: One of the two is something else.
        ValueError: A creator has no graph and none is given, or there are two.
    """
    if isinstance(creator, Graph):
        raise TypeError(
            f"session_creator is what makes the session, not {creator!r}: pass the graph by name, graph=..."
        )
    if inspect.isclass(creator):
        raise TypeError(
            f"session_creator is an object, and {creator.__name__} is a class: pass {creator.__name__}(...)"
        )
    if creator is not None and not callable(getattr(creator, "create_session", None)):
        raise TypeError(
            f"session_creator has a method create_session, and {creator!r} has none: pass hooks by name, hooks=[...]"
        )
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph is a tenterhooks.Graph, not {graph!r}")
    made: Graph | None = getattr(creator, "graph", None)
    if made is not None and graph is not None and made is not graph:
        raise ValueError("the session_creator has another graph than graph=; give just one of the two")
    if state is not None:
        if made is not None or graph is not None:
            raise ValueError(
                "give either state= or a graph: with state= the session has one of its own, for steps() and publish()"
            )
        return OpenGraph(state)
    found = made or graph or get_default_graph()
    if found is None and creator is None:
        return OpenGraph()
    if found is None:
        raise ValueError(
            "the session has no graph: pass graph=, or a session_creator with one, or open it within "
            "`with graph.as_default():`"
        )
    return found


def _restore(session: Session, saver: Saver | None) -> bool:
    """Restore the newest whole checkpoint, if there is one."""
    found = None if saver is None else saver.restore()
    if found is None:
        return False
    checkpoint, state = found
    session.load_state_dict(state, checkpoint=checkpoint.path)
    return True
