"""One run for the caller's and all the hooks' wishes together."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tenterhooks.calls import Calls
from tenterhooks.errors import NotPublishedError, note
from tenterhooks.fetches import Feeds, Fetch, Pick
from tenterhooks.hooks import NodeSeconds, OptionalFetches, RunMetadata, SessionRunArgs, SessionRunValues
from tenterhooks.nodes import EVERYTHING, Node
from tenterhooks.passes import PassFeeds
from tenterhooks.plan import Plan, lacking, needed

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter
    from tenterhooks.session import Session

__all__ = ["MergedRun"]

_CALLER = "the caller"

_Giving = tuple[Callable[..., Any], str | None, Pick | None]


class MergedRun:
    """Collects what one run shall compute and be fed, makes it, and gives each what they asked for.

    It can be made again for a run in which hooks ask for just the same: most ask for the same in every run.

    Args:
        session: The raw session.
        run_metadata: The caller's, where they gave one.

    Attributes:
        wishes: What the hooks that were asked fetch, in the order of their calls.
        repeating: Their calls, with what they returned and with that, where the run can be made again.
        feeds: What is fed, by name.
        feeders: Who feeds it, for messages.
        options: The merged options.
        metadata: What the run tells of itself.
        results: What it computed, by name.
    """

    __slots__ = (
        "_fetch",
        "_fetched",
        "_fetches",
        "_giving",
        "_needed",
        "_pass_feeds",
        "_plan",
        "_some_optional",
        "feeders",
        "feeds",
        "metadata",
        "options",
        "repeating",
        "results",
        "session",
        "wishes",
    )

    def __init__(self, session: "Session", run_metadata: RunMetadata | None = None) -> None:
        self.session = session
        self.metadata = run_metadata or RunMetadata()
        self.options: dict[str, Any] = {}
        self.wishes: list[Any] = []
        self.repeating: Calls[tuple[Callable[..., Any], SessionRunArgs | None, Any]] = Calls((), ())
        self.feeds: dict[str, Any] = {}
        self.feeders: dict[str, str] = {}
        # What hooks fetch, and what the caller does.
        self._fetches: dict[Adapter, Fetch] = {}
        self._fetched: frozenset[str] | None = None
        self._some_optional = False
        self._fetch: Fetch | None = None
        self._pass_feeds: PassFeeds | None = None
        self._needed: frozenset[str] | None = None
        self._plan: Plan | None = None
        self._giving: Calls[_Giving] | None = None
        self.results: Mapping[str, Any] = {}

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
            fetch = self._fetches[adapter] = self.session.compile(args.fetches)
            self._some_optional |= fetch.optional
        if args.feed_dict:
            self._feed(args.feed_dict, f"hook {adapter.title}")
        if args.options:
            self.add_options(args.options, f"hook {adapter.title}")

    @property
    def can_be_made_again(self) -> bool:
        """Whether one can tell that another run asks for the same: structures and feeds may be changed in place."""
        wishes = (wish.fetches if isinstance(wish, OptionalFetches) else wish for wish in self.wishes)
        return not (self.feeds or self.options) and all(isinstance(wish, str | Node | None) for wish in wishes)

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
            NotPublishedError: Something that is asked for needs what was not published.
            RuntimeError: The caller feeds what a hook feeds.
            ValueError: It needs what is not fed.
        """
        fetch = self.session.compile(fetches)
        if feed_dict:
            self._feed(feed_dict, _CALLER)
        feeds = {**self.session.kept, **self.feeds} if self.session.kept else self.feeds
        if self._plan is None or fetch is not self._fetch:
            self._fetch = fetch
            self._plan = self._plan_for(self._given(feeds), feeds, fetch)
        self.results = self.session.compute(self._plan, feeds, node_seconds=self._node_seconds)
        return fetch.pick(self.results)

    @property
    def fetched(self) -> frozenset[str]:
        """The names that hooks ask for."""
        if self._fetched is None:
            self._fetched = frozenset(name for fetch in self._fetches.values() for name in fetch.names)
        return self._fetched

    @property
    def needed(self) -> frozenset[str]:
        """The names that hooks ask for, and what these are made of."""
        if self._needed is None:
            self._needed = frozenset(needed(self.session.graph, self.fetched))
        return self._needed

    @property
    def pass_feeds(self) -> PassFeeds:
        """What hooks feed, for the body of a pass."""
        if self._pass_feeds is None:
            self._pass_feeds = PassFeeds(self.feeds)
        return self._pass_feeds

    def make_of(self, published: Mapping[str, Any], plain: Mapping[str, Any]) -> None:
        """Make the run of what a pass published, for the hooks alone.

        Args:
            published: The values by name.
            plain: Those of them that the name of all values stands for.

        Raises:
            NotPublishedError: A hook asked for what was not published, and cannot go without it.
        """
        fetched = self._fetched or self.fetched
        feeds = {**published, **self.feeds} if self.feeds else published
        if EVERYTHING in fetched:
            feeds = {**feeds, EVERYTHING: plain}
        if fetched <= feeds.keys():
            # The usual case: there is nothing to compute.
            self.results = feeds
            return
        plan = self._plan_for(self._given(feeds), feeds)
        self.results = self.session.compute(plan, feeds, node_seconds=self._node_seconds)

    def giving(self, calls: Calls[Callable[..., Any]]) -> Calls[_Giving]:
        """These calls, each with what its hook asked for: a name, or else what takes it out."""
        if self._giving is None:
            fetches = map(self._fetches.get, calls.adapters)
            self._giving = Calls(
                calls.adapters,
                [
                    (call, None, None) if f is None else (call, f.name, f.pick)
                    for call, f in zip(calls, fetches, strict=True)
                ],
            )
        return self._giving

    def values_for(self, adapter: "Adapter") -> SessionRunValues:
        """What one hook gets in `after_run`."""
        fetch = self._fetches.get(adapter)
        return self.values(None if fetch is None else fetch.pick(self.results))

    def values(self, results: Any) -> SessionRunValues:
        """What a wrapper of `after_run` sees: the run as a whole, with the caller's results."""
        return SessionRunValues(results, self.options, self.metadata)

    def _given(self, feeds: Mapping[str, Any]) -> "dict[Adapter, Fetch]":
        """What hooks fetch, without what is optional and not given."""
        if not self._some_optional:
            return self._fetches
        return {a: f for a, f in self._fetches.items() if not f.optional or self.session.gives(f, feeds)}

    def _plan_for(self, given: "Mapping[Adapter, Fetch]", feeds: Mapping[str, Any], *fetches: Fetch) -> Plan:
        """Plan what hooks and the caller fetch; an error says which hooks asked for what it is about."""
        try:
            return self.session.plan((*fetches, *given.values()), feeds)
        except (NotPublishedError, ValueError) as error:
            for adapter, fetch in given.items():
                if any(lacking(self.session.graph, fetch.names, feeds)):
                    note(error, f"asked for by hook {adapter.title}")
            raise

    @property
    def _node_seconds(self) -> NodeSeconds | None:
        return self.metadata.traced() if self.options.get("trace") else None

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
