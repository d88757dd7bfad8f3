"""How a run computes its values: each node at most once, in the order of a plan that is worked out once."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from tenterhooks import adapted
from tenterhooks.errors import OutOfRangeError, UnknownNameError, nearest, note
from tenterhooks.fetches import Fetch, Fetches, compile_fetches
from tenterhooks.graph import GLOBAL_STEP, Graph
from tenterhooks.hooks import NodeSeconds, OptionalFetches
from tenterhooks.nodes import Node, Source, Tensor, TrainOp
from tenterhooks.plan import Plan, lacking, make_plan
from tenterhooks.sources import SourceReader
from tenterhooks.updates import fits, refusals
from tenterhooks.variables import SessionState, begin_missing, unchanging

__all__ = ["Computation"]

# A tuple, since a union is made anew in each call.
_ONE = (str, Node)
# How many names and orders of runs are remembered.
_KEPT = 256


class Computation:
    """Computes the values of a graph on the variables of a session.

    Args:
        graph: The graph.
        state: The variables.

    Attributes:
        readers: Where the session stands in each source.
    """

    def __init__(self, graph: Graph, state: SessionState) -> None:
        self.graph = graph
        self.state = state
        self.readers = {
            node.name: SourceReader(node, state) for node in graph.nodes.values() if isinstance(node, Source)
        }
        self._plans: dict[Any, Plan] = {}
        # Whether values may be of other frameworks than NumPy.
        self._foreign = False
        self._fetches: dict[Any, Fetch] = {}
        self._given: dict[Any, bool] = {}
        # Most runs are for one node, and for the same as the one before.
        self._one: str | Node | None = None
        self._one_fetch: Fetch | None = None

    def work_on(self, state: SessionState) -> None:
        """Take another object for the variables."""
        self.state = state
        for reader in self.readers.values():
            reader.variables = state

    def compile(self, fetches: Fetches) -> Fetch:
        """Work out a structure of fetches, once if there is none within it."""
        if fetches is self._one and self._one_fetch is not None:
            return self._one_fetch
        kind = type(fetches)
        if isinstance(fetches, _ONE):
            key: Any = fetches
        elif kind is list or kind is tuple:
            key = (kind, *fetches)
        elif kind is dict:
            key = (kind, *fetches, *fetches.values())
        elif kind is OptionalFetches:
            key = (kind, fetches.fetches)
        else:
            return compile_fetches(self.graph, fetches)
        try:
            fetch = self._fetches.get(key)
        except TypeError:  # A list in it has no hash.
            fetch = None
        if fetch is None:
            fetch = compile_fetches(self.graph, fetches)
            # Structures in it, and keys that are no strings, may be equal to what is not the same.
            if key is fetches or all(isinstance(entry, _ONE) for entry in key[1:]):
                if len(self._fetches) >= _KEPT:
                    self._fetches.clear()
                self._fetches[key] = fetch
        if key is fetches:
            self._one, self._one_fetch = fetches, fetch
        return fetch

    def plan(self, fetches: Iterable[Fetch], fed: Iterable[str]) -> Plan:
        """Work out what a run for several structures of fetches computes, once for each set of them.

        Args:
            fetches: The structures.
            fed: The names that are given.

        Raises:
            NotPublishedError: Nobody published something that is needed.
            UnknownNameError: Something that is needed takes what does not exist.
            ValueError: Something that is needed is not fed.
        """
        key = (tuple([fetch.names for fetch in fetches]), tuple(fed))
        plan = self._plans.get(key)
        if plan is None:
            names = dict.fromkeys(name for names in key[0] for name in names)
            plan = make_plan(self.graph, names, key[1])
            if not self.graph.finalized:
                self._follow()
            if len(self._plans) >= _KEPT:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def gives(self, fetch: Fetch, fed: Iterable[str]) -> bool:
        """Whether all of an optional structure can be computed with what is fed."""
        key = (fetch.names, tuple(fed))
        given = self._given.get(key)
        if given is None:
            if len(self._given) >= _KEPT:
                self._given.clear()
            given = self._given[key] = not any(lacking(self.graph, *key))
        return given

    def plan_alone(self, fetch: Fetch) -> Plan:
        """Work out what a run for one structure alone computes, and keep it there."""
        fetch.plan = self.plan((fetch,), ())
        return fetch.plan

    def compute(
        self,
        plan: Plan,
        feeds: Mapping[str, Any],
        *,
        draw: bool = True,
        node_seconds: NodeSeconds | None = None,
    ) -> dict[str, Any]:
        """Make one run: compute the values of a plan, each node at most once.

        Args:
            plan: What is to be computed.
            feeds: Values by name, of those names that the plan was made for.
            draw: Whether sources give their next item, or the last one again.
            node_seconds: Where the time of each node goes; None measures none.

        Returns:
            The values by name, with more in it than was asked for.

        Raises:
            OutOfRangeError: A source has no more items.
            UnknownNameError: A training op returned a new value for what is no variable.
            ValueError: A training op returned a new value that a checkpoint could not be restored with.
        """
        state = self.state
        values: dict[str, Any] = {GLOBAL_STEP: state.global_step}
        if plan.defaults:
            values.update(plan.defaults)
        if feeds:
            values.update(feeds)
        for name in plan.variables:
            values[name] = state[name]
        for name in plan.sources:
            values[name] = self.readers[name].draw() if draw else self.readers[name].look()
        if plan.before:
            self._call(plan.before, values, node_seconds)
        if not plan.update:
            return self._detached(plan, values) if self._foreign or plan.is_new else values
        kept = unchanging({name: values[name] for name in plan.kept}, plan.variables, state)
        torn, state.updating = state.updating, plan.updaters
        node = plan.update[0]
        try:
            for node in plan.update:
                self._call((node,), values, node_seconds)
                if isinstance(node, TrainOp) and isinstance(values[node.name], dict):
                    self._update(node, values, feeds)
        except (OutOfRangeError, StopIteration):
            # A training op that takes its input itself takes it before it updates anything.
            state.updating = torn if node is plan.update[0] else repr(node)
            raise
        except BaseException:
            state.updating = repr(node)
            raise
        if plan.advance:
            state.global_step += 1
        state.updates += 1
        state.updating = None
        if GLOBAL_STEP not in feeds:
            values[GLOBAL_STEP] = state.global_step
        self._call(plan.after, values, node_seconds)
        values.update(kept)
        return self._detached(plan, values) if self._foreign or plan.is_new else values

    def _detached(self, plan: Plan, values: dict[str, Any]) -> dict[str, Any]:
        """Values of which those that are fetched hold on to nothing that they were computed from."""
        # The first run of a plan may be what imports a framework.
        self._foreign, plan.is_new = adapted.in_use(), False
        if self._foreign:
            for name in plan.fetched:
                values[name] = adapted.fetched(values[name])
        return values

    def plan_measuring(self, fetch: Fetch, fed: Iterable[str]) -> Plan:
        """Plan what draws nothing; the sources that it needs show an item, which may use up random numbers.

        Raises:
            NotPublishedError: Nobody published something that is needed.
            ValueError: The fetches need a training op.
            OutOfRangeError: A source has no item at all.
        """
        plan = self.plan((fetch,), fed)
        if plan.update:
            raise ValueError(f"{', '.join(map(repr, fetch.names))} cannot be measured, since that would train")
        for name in plan.sources:
            self.readers[name].look()
        return plan

    def _call(
        self, nodes: Iterable[Tensor[..., Any]], values: dict[str, Any], node_seconds: NodeSeconds | None
    ) -> None:
        """Call the functions of nodes in order."""
        node = None
        try:
            if node_seconds is None:
                for node in nodes:
                    name, function, arguments = node.call
                    values[name] = function() if arguments is None else function(*arguments(values))
            else:
                for node in nodes:
                    node_seconds.began[node.name] = start = time.perf_counter()
                    values[node.name] = node.function(*[values[name] for name in node.inputs])
                    node_seconds[node.name] = time.perf_counter() - start
        except Exception as error:
            assert node is not None
            note(error, f"in {node!r} of the graph, at global step {self.state.global_step}")
            raise

    def _update(self, node: Tensor[..., Any], values: dict[str, Any], feeds: Mapping[str, Any]) -> None:
        """Take the dict that a training op returned as the new values of variables."""
        update: dict[str, Any] = values[node.name]
        values[node.name] = None
        unknown = [name for name in update if name not in self.state]
        if unknown:
            raise UnknownNameError(
                f"{node!r} returned new values for {unknown}, which are no variables{nearest(unknown[0], self.state)}"
            )
        state = self.state
        problems: list[str] = []
        for name, value in update.items():
            known = state.outlines.get(name)
            if value is not state[name] and not fits(known, value):
                problems += refusals(known, value, name, repr(node))
        if problems:
            raise ValueError(
                f"{node!r} returned new values that no checkpoint could be restored with, nothing was updated:\n  "
                + "\n  ".join(problems)
                + "\nbegin the variable with a value of the type and shape that it will have, or with None if these "
                "change; a list may grow"
            )
        state.update(update)
        for name, value in update.items():
            if name in values and name not in feeds:
                values[name] = value

    def _follow(self) -> None:
        """Begin what was added to the graph after the session was opened."""
        begin_missing(self.graph, self.state)
        for node in self.graph.nodes.values():
            if isinstance(node, Source) and node.name not in self.readers:
                self.readers[node.name] = SourceReader(node, self.state)
