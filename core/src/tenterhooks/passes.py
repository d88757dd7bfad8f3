"""One pass of a loop of the program's own: what it publishes, who wants it, and what hooks feed it."""

import inspect
import weakref
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks.adapted import fetched
from tenterhooks.errors import UnknownNameError, nearest
from tenterhooks.nodes import GlobalStep, Published, Variable

if TYPE_CHECKING:
    from tenterhooks.merged_run import MergedRun
    from tenterhooks.turns import Turn

__all__ = ["Pass", "PassFeeds"]


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


class Pass:
    """A pass of a loop, and then the next one.

    Attributes:
        turn: Which hooks are called.
        run: What hooks asked for; None where that is nothing.
        torn: What the variables were torn by before it.
        iterator: What goes through the passes; None where that is a `with` block.
        drawn: How many items had been drawn before it.
        published: The values so far, by name.
        called: The names of those that were given as callables.
        passed_over: Whether something was published that nobody asked for.
    """

    __slots__ = ("called", "drawn", "iterator", "passed_over", "published", "run", "torn", "turn")

    # Set as each pass begins.
    turn: "Turn"

    def __init__(self) -> None:
        self.run: MergedRun | None = None
        self.torn: str | None = None
        self.iterator: weakref.ref[Generator[Any, None, None]] | None = None
        self.drawn = 0
        self.published: dict[str, Any] = {}
        self.called: tuple[str, ...] = ()
        self.passed_over = False

    @property
    def is_abandoned(self) -> bool:
        """Whether nobody can go on with it, nor has left it."""
        if self.iterator is None:
            return False
        iterator = self.iterator()
        return iterator is None or inspect.getgeneratorstate(iterator) == inspect.GEN_CLOSED

    @property
    def is_run(self) -> bool:
        """Whether it published anything, so that it counts where it is left early."""
        return bool(self.published) or self.passed_over

    @property
    def feeds(self) -> PassFeeds:
        """What hooks feed it, for the body."""
        return _NO_FEEDS if self.run is None else self.run.pass_feeds

    def wants(self, name: str) -> bool:
        """Whether a hook asked for it, or for something that is made of it."""
        return self.run is not None and name in self.run.needed

    def publish(self, name: str, value: Any) -> None:
        """Take a value; a callable is called if somebody asked for what it gives.

        Raises:
            RuntimeError: A hook feeds it.
        """
        feeders = {} if self.run is None else self.run.feeders
        if name in feeders:
            raise RuntimeError(
                f"{feeders[name]} feeds {name!r} in this pass, and the loop publishes it: only one of them "
                f"can; session.feeds[{name!r}] is what was fed"
            )
        if callable(value):
            if not self.wants(name):
                self.passed_over = True
                return
            value = value()
            self.called += (name,)
        elif name in self.called:
            self.called = tuple([other for other in self.called if other != name])
        self.published[name] = fetched(value)

    @property
    def plain(self) -> dict[str, Any]:
        """The values that were not given as callables."""
        if not self.called:
            return self.published
        return {name: value for name, value in self.published.items() if name not in self.called}

    def check_feeds(self) -> None:
        """Check that the body read what hooks feed it.

        Raises:
            RuntimeError: It did not read something that nothing else takes.
        """
        run = self.run
        if run is None or not run.feeds:
            return
        nodes = run.session.graph.nodes
        for name in run.feeds.keys() - self.feeds.read:
            if isinstance(nodes[name], Published | Variable | GlobalStep):
                raise RuntimeError(
                    f"{run.feeders[name]} feeds {name!r}, and the body of the loop never read it: take "
                    f"session.feeds[{name!r}] where the value belongs, or leave out the hook"
                )


_NO_FEEDS = PassFeeds({})
