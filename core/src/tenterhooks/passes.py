"""One pass of a loop of the program's own: what it publishes, who wants it, and what hooks feed it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks.errors import UnknownNameError, nearest
from tenterhooks.nodes import GlobalStep, Published, Variable
from tenterhooks.open_graph import EVERYTHING
from tenterhooks.plan import needed

if TYPE_CHECKING:
    from tenterhooks.graph import Graph
    from tenterhooks.hooks import SessionRunContext
    from tenterhooks.merged_run import MergedRun

__all__ = ["Pass", "PassFeeds", "Wanted"]

# How many sets of wishes are remembered.
_KEPT = 256


class PassFeeds(Mapping[str, Any]):
    """What hooks feed a pass, by name. It notes what is read."""

    __slots__ = ("_feeds", "read")

    def __init__(self, feeds: Mapping[str, Any]) -> None:
        self._feeds = feeds
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        try:
            value = self._feeds[name]
        except KeyError:
            raise UnknownNameError(
                f"no hook feeds {name!r} in this pass{nearest(name, self._feeds)}; session.feeds.get({name!r}, ...) "
                "gives a default"
            ) from None
        self.read.add(name)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self._feeds

    def __iter__(self) -> Iterator[str]:
        return iter(self._feeds)

    def __len__(self) -> int:
        return len(self._feeds)

    def __repr__(self) -> str:
        return f"<feeds of {', '.join(map(repr, self._feeds)) or 'nothing'}>"


class Wanted:
    """Works out what is needed for what hooks ask for, once for each set of wishes."""

    __slots__ = ("_found", "_graph")

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph
        self._found: dict[tuple[tuple[str, ...], ...], frozenset[str]] = {}

    def of(self, fetched: tuple[tuple[str, ...], ...]) -> frozenset[str]:
        """All names that are needed for these."""
        found = self._found.get(fetched)
        if found is None:
            if len(self._found) >= _KEPT:
                self._found.clear()
            names = [name for names in fetched for name in names]
            found = self._found[fetched] = frozenset(needed(self._graph, names))
        return found


class Pass:
    """A pass that has begun.

    Args:
        context: What hooks get of it.
        run: What they asked for.
        wanted: Works out what is needed for that.
        torn: What the variables were torn by before it.

    Attributes:
        drawn: How many items had been drawn before it.
        feeds: What hooks feed it, for the body.
        is_run: Whether it published anything, so that it counts where it is left early.
    """

    __slots__ = ("_called", "_needed", "_published", "_wanted", "context", "drawn", "feeds", "is_run", "run", "torn")

    def __init__(self, context: "SessionRunContext", run: "MergedRun", wanted: Wanted, torn: str | None) -> None:
        self.context = context
        self.run = run
        self.torn = torn
        self.drawn = 0
        self.is_run = False
        self.feeds = PassFeeds(run.feeds)
        self._wanted = wanted
        self._needed: frozenset[str] | None = None
        self._published: dict[str, Any] = {}
        self._called: set[str] = set()

    def wants(self, name: str) -> bool:
        """Whether a hook asked for it, or for something that is made of it."""
        if self._needed is None:
            self._needed = self._wanted.of(self.run.fetched)
        return name in self._needed

    def publish(self, name: str, value: Any) -> None:
        """Take a value; a callable is called if somebody asked for what it gives.

        Raises:
            RuntimeError: A hook feeds it.
        """
        self.is_run = True
        if name in self.run.feeders:
            raise RuntimeError(
                f"{self.run.feeders[name]} feeds {name!r} in this pass, and the loop publishes it: only one of them "
                f"can; session.feeds[{name!r}] is what was fed"
            )
        if callable(value):
            if not self.wants(name):
                return
            value = value()
            self._called.add(name)
        else:
            self._called.discard(name)
        self._published[name] = value

    def values(self, kept: dict[str, Any]) -> dict[str, Any]:
        """All values by name, for the run; the plain ones of the pass as a dict under the name of all, too.

        Args:
            kept: Those of between the passes, without those that are replaced from now on.
        """
        for name in self._published:
            kept.pop(name, None)
        plain = self._published
        if self._called:
            plain = {name: value for name, value in plain.items() if name not in self._called}
        return {**kept, **self._published, EVERYTHING: plain}

    def check_feeds(self) -> None:
        """Check that the body read what hooks feed it.

        Raises:
            RuntimeError: It did not read something that nothing else takes.
        """
        nodes = self.context.session.graph.nodes
        for name in self.run.feeds.keys() - self.feeds.read:
            if isinstance(nodes[name], Published | Variable | GlobalStep):
                raise RuntimeError(
                    f"{self.run.feeders[name]} feeds {name!r}, and the body of the loop never read it: take "
                    f"session.feeds[{name!r}] where the value belongs, or leave out the hook"
                )
