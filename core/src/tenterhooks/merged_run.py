"""One run for the caller's and all the hooks' wishes together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks.errors import NotPublishedError, note
from tenterhooks.fetches import Feeds, Fetch
from tenterhooks.hooks import RunMetadata, SessionRunArgs, SessionRunValues
from tenterhooks.plan import needed

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter
    from tenterhooks.session import Session

__all__ = ["MergedRun"]

_CALLER = "the caller"


class MergedRun:
    """Collects what one run shall compute and be fed, makes it, and gives each what they asked for.

    Args:
        session: The raw session.
        run_metadata: The caller's, where they gave one.

    Attributes:
        feeds: What is fed, by name.
        feeders: Who feeds it, for messages.
    """

    __slots__ = ("_asked", "_nothing", "_values", "feeders", "feeds", "metadata", "options", "session")

    def __init__(self, session: "Session", run_metadata: RunMetadata | None) -> None:
        self.session = session
        self.metadata = run_metadata or RunMetadata()
        self.options: dict[str, Any] = {}
        self._asked: dict[Adapter, Fetch] = {}
        self.feeds: dict[str, Any] = {}
        self.feeders: dict[str, str] = {}
        self._values: Mapping[str, Any] = {}
        # What hooks that asked for nothing share.
        self._nothing = SessionRunValues(None, self.options, self.metadata)

    def add(self, adapter: "Adapter", args: SessionRunArgs) -> None:
        """Take what a hook's `before_run` returned.

        Raises:
            TypeError: It is no `SessionRunArgs`.
            RuntimeError: It feeds what another hook feeds, or has an option that disagrees.
        """
        if not isinstance(args, SessionRunArgs):
            raise TypeError(
                f"before_run of hook {adapter.title} returned {args!r} of type {type(args).__name__}: "
                "return SessionRunArgs(fetches, feed_dict, options) or None"
            )
        if args.fetches is not None:
            self._asked[adapter] = self.session.compile(args.fetches)
        if args.feed_dict:
            self._feed(args.feed_dict, f"hook {adapter.title}")
        if args.options:
            self.add_options(args.options, f"hook {adapter.title}")

    def add_options(self, options: Mapping[str, Any], who: str = _CALLER) -> None:
        """Merge options of the run: truth values are or-ed, numbers take the maximum, others must agree.

        Raises:
            RuntimeError: They do not agree.
        """
        for name, value in options.items():
            if name not in self.options or self.options[name] == value:
                self.options[name] = value
                continue
            other = self.options[name]
            truth_values = [isinstance(given, bool) for given in (value, other)]
            if all(truth_values):
                self.options[name] = value or other
            elif isinstance(value, int | float) and isinstance(other, int | float) and not any(truth_values):
                self.options[name] = max(value, other)
            else:
                raise RuntimeError(
                    f"{who} gives the run option {name}={value!r}, and another gave {name}={other!r}: "
                    "only truth values and numbers can be merged"
                )

    def make(self, fetches: Any, feed_dict: Feeds | None) -> Any:
        """Make the run, after all hooks were asked.

        Args:
            fetches: What the caller fetches.
            feed_dict: What the caller feeds.

        Returns:
            What the caller asked for.

        Raises:
            RuntimeError: The caller feeds what a hook feeds.
        """
        fetch = self.session.compile(fetches)
        if feed_dict:
            self._feed(feed_dict, _CALLER)
        seconds = self.metadata.node_seconds if self.options.get("trace") else None
        self._values = self.session.compute((fetch, *self._asked.values()), self.feeds, node_seconds=seconds)
        return fetch.pick(self._values)

    @property
    def fetched(self) -> tuple[tuple[str, ...], ...]:
        """The names that hooks ask for."""
        return tuple([fetch.names for fetch in self._asked.values()])

    def make_of(self, published: Mapping[str, Any]) -> None:
        """Make the run of what a pass published, for the hooks alone.

        Raises:
            NotPublishedError: A hook asked for what was not published.
        """
        if not self._asked:
            return
        seconds = self.metadata.node_seconds if self.options.get("trace") else None
        try:
            self._values = self.session.compute(
                self._asked.values(), {**published, **self.feeds} if self.feeds else published, node_seconds=seconds
            )
        except NotPublishedError as error:
            for adapter, fetch in self._asked.items():
                if error.name in needed(self.session.graph, fetch.names):
                    note(error, f"asked for by hook {adapter.title}")
            raise

    def values_for(self, adapter: "Adapter") -> SessionRunValues:
        """What a hook gets in `after_run`."""
        fetch = self._asked.get(adapter)
        if fetch is None:
            return self._nothing
        return SessionRunValues(fetch.pick(self._values), self.options, self.metadata)

    def values(self, results: Any) -> SessionRunValues:
        """What a wrapper of `after_run` sees: the run as a whole, with the caller's results."""
        return SessionRunValues(results, self.options, self.metadata)

    def _feed(self, feeds: Feeds, who: str) -> None:
        graph = self.session.graph
        for node, value in feeds.items():
            name = graph[graph.name_of(node)].name
            if name in self.feeders:
                raise RuntimeError(
                    f"{who} and {self.feeders[name]} both feed {name!r} in one run: only one of them can"
                )
            self.feeders[name] = who
            self.feeds[name] = value
