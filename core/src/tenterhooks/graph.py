"""A graph: named values, and which of them each is made from. A session computes them."""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, ParamSpec, TypeVar, overload

from tenterhooks.default_graph import AsDefault
from tenterhooks.errors import UnknownNameError, nearest
from tenterhooks.nodes import (
    REQUIRED,
    GlobalStep,
    Node,
    Placeholder,
    Published,
    Source,
    Tensor,
    TrainOp,
    Variable,
    parameter_names,
)
from tenterhooks.order import in_order

__all__ = ["GLOBAL_STEP", "Graph"]

P = ParamSpec("P")
R = TypeVar("R")
_N = TypeVar("_N", bound=Node)

GLOBAL_STEP = "global_step"


class Graph:
    """Named values: variables, placeholders, sources, functions of other values, and training ops.

    A function names its inputs by its parameters; parameters with a default are no inputs. A node may be named before
    it exists, since names are checked when the graph is finalized or run. `global_step`, the number of training runs,
    is in every graph.

    Example:
        >>> graph = Graph()
        >>> x = graph.placeholder("x", default=3.0)
        >>> @graph.tensor
        ... def square(x: float) -> float:
        ...     return x * x
        >>> graph["square"]
        <Tensor 'square'>
    """

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self._collections: dict[str, list[str]] = {}
        self._finalized = False
        self._open_sessions = 0
        self._add(GlobalStep(self, GLOBAL_STEP))

    def __contains__(self, name: object) -> bool:
        return name in self.nodes

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __getitem__(self, name: str) -> Node:
        try:
            return self.nodes[name]
        except KeyError:
            raise UnknownNameError(f"no node of the graph is named {name!r}{nearest(name, self.nodes)}") from None

    def __repr__(self) -> str:
        return f"<Graph of {len(self.nodes)} nodes>"

    def variable(self, name: str, initial: Any) -> Variable:
        """Add state, which is saved and restored.

        Args:
            name: Its name.
            initial: A function that makes the value for a fresh session, or a value that is copied for each (but a
                module, such as `random`, is itself). A function may name other variables by its parameters.
        """
        if callable(initial):
            inputs = parameter_names(initial, f"the initial value of {name!r}", unreadable=())
            return self._add(Variable(self, name, initial, inputs))
        if isinstance(initial, ModuleType):
            return self._add(Variable(self, name, lambda: initial, ()))
        return self._add(Variable(self, name, lambda: copy.deepcopy(initial), ()))

    def placeholder(self, name: str, default: Any = REQUIRED) -> Placeholder:
        """Add a value that a caller or a hook may feed, or must feed where it has no default."""
        return self._add(Placeholder(self, name, default))

    def published(self, name: str) -> Published:
        """Add a value that a hook will publish for all runs to come, with `Session.publish`.

        Who asks for it before gets a `NotPublishedError`, as for what a loop of the program's own did not publish.
        """
        return self._add(Published(self, name))

    def source(self, name: str, factory: Callable[..., Iterable[Any]]) -> Source:
        """Add input: one item per run that needs one.

        Args:
            name: Its name.
            factory: Gives the iterable that the items come from; called once per session, when the first item is
                needed. It may name variables by its parameters, a random generator for instance. Where the iterable
                or its iterator has `state_dict` and `load_state_dict`, a resumed session restores its position with
                them; any other is begun anew and wound forward by as many items.
        """
        if not callable(factory):
            raise TypeError(
                f"source {name!r} needs a function that gives an iterable, not {type(factory).__name__}; "
                "a resumed session has to begin it anew"
            )
        return self._add(Source(self, name, factory, parameter_names(factory, f"source {name!r}", unreadable=())))

    @overload
    def tensor(
        self, function: Callable[P, R], *, name: str | None = None, inputs: Sequence[str] | None = None
    ) -> Tensor[P, R]: ...

    @overload
    def tensor(
        self, *, name: str | None = None, inputs: Sequence[str] | None = None
    ) -> Callable[[Callable[P, R]], Tensor[P, R]]: ...

    def tensor(
        self,
        function: Callable[P, R] | None = None,
        *,
        name: str | None = None,
        inputs: Sequence[str] | None = None,
    ) -> Tensor[P, R] | Callable[[Callable[P, R]], Tensor[P, R]]:
        """Add a value that a function computes; also a decorator.

        Args:
            function: The function.
            name: The node's name; by default the function's.
            inputs: The nodes that it takes, by position; by default its parameters name them.
        """

        def add(function: Callable[P, R]) -> Tensor[P, R]:
            return self._add(Tensor(self, *_of_function(function, name, inputs)))

        return add if function is None else add(function)

    @overload
    def train_op(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        inputs: Sequence[str] | None = None,
        advance: bool = True,
    ) -> TrainOp[P, R]: ...

    @overload
    def train_op(
        self, *, name: str | None = None, inputs: Sequence[str] | None = None, advance: bool = True
    ) -> Callable[[Callable[P, R]], TrainOp[P, R]]: ...

    def train_op(
        self,
        function: Callable[P, R] | None = None,
        *,
        name: str | None = None,
        inputs: Sequence[str] | None = None,
        advance: bool = True,
    ) -> TrainOp[P, R] | Callable[[Callable[P, R]], TrainOp[P, R]]:
        """Add a training op; also a decorator.

        It updates variables in place, or returns a dict of new values by variable name. Anything else that it returns
        is its value. It runs after every node of its run that does not depend on it; several run in the order in
        which they were added, each on the variables as the one before left them.

        Args:
            function: The function.
            name: The node's name; by default the function's.
            inputs: The nodes that it takes, by position; by default its parameters name them.
            advance: Whether a run of it adds one to the global step. However many do so in one run, it adds one.
        """

        def add(function: Callable[P, R]) -> TrainOp[P, R]:
            return self._add(TrainOp(self, *_of_function(function, name, inputs), advance=advance))

        return add if function is None else add(function)

    def add_to_collection(self, collection: str, node: Node | str) -> None:
        """Put a node into a collection. `summaries` is what a summary hook writes by default."""
        self._check_open(f"add to the collection {collection!r}")
        name = node if isinstance(node, str) else self.name_of(node)
        self._collections.setdefault(collection, []).append(name)

    def get_collection(self, collection: str) -> list[str]:
        """The names of the nodes in a collection, in the order in which they were put there."""
        return list(self._collections.get(collection, ()))

    def name_of(self, node: object) -> str:
        """The name of a node of this graph, given as node or name.

        Raises:
            TypeError: It is neither.
            ValueError: It is a node of another graph.
        """
        if isinstance(node, str):
            return node
        if not isinstance(node, Node):
            raise TypeError(f"expected a node or its name, not {node!r} of type {type(node).__name__}")
        if node.graph is not self:
            raise ValueError(f"node {node.name!r} belongs to another graph")
        return node.name

    def as_default(self) -> AsDefault:
        """Make this the graph that `get_default_graph()` gives and that a session without `graph=` takes."""
        return AsDefault(self)

    @property
    def finalized(self) -> bool:
        """Whether nothing can be added: after `finalize()`, and while a monitored session is open."""
        return self._finalized or self._open_sessions > 0

    def finalize(self) -> None:
        """Check all names, and let nothing be added from now on."""
        self.check()
        self._finalized = True

    def freeze(self) -> None:
        """Finalize the graph until `thaw()`; for sessions. Counted, as several sessions may share a graph."""
        self.check()
        self._open_sessions += 1

    def thaw(self) -> None:
        """Undo one `freeze()`."""
        self._open_sessions -= 1

    def check(self) -> None:
        """Check that all names exist and that no node depends on itself.

        Raises:
            UnknownNameError: A node or a collection names a node that does not exist.
            ValueError: Nodes depend on each other in a circle, or state or input depends on what is computed.
        """
        for node in self.nodes.values():
            for name in node.inputs:
                if name not in self.nodes:
                    raise UnknownNameError(
                        f"node {node.name!r} takes {name!r}, and no node has that name{nearest(name, self.nodes)}"
                    )
                if isinstance(node, Variable | Source) and not isinstance(self.nodes[name], Variable):
                    raise ValueError(f"{node!r} can only be made from variables, not from {self.nodes[name]!r}")
        for collection, names in self._collections.items():
            for name in names:
                if name not in self.nodes:
                    raise UnknownNameError(
                        f"the collection {collection!r} holds {name!r}, and no node has that name"
                        f"{nearest(name, self.nodes)}"
                    )
        in_order({name: node.inputs for name, node in self.nodes.items()})

    def _add(self, node: _N) -> _N:
        self._check_open(f"add {node!r}")
        if not isinstance(node.name, str) or not node.name:
            raise TypeError(f"a node's name is a string that is not empty, not {node.name!r}")
        if node.name in self.nodes:
            raise ValueError(
                f"the graph already has {self.nodes[node.name]!r}: choose another name, "
                f"or ask `{node.name!r} in graph` first"
            )
        self.nodes[node.name] = node
        return node

    def _check_open(self, wish: str) -> None:
        if self.finalized:
            raise RuntimeError(
                f"cannot {wish}: the graph is finalized while a session is open; build it before, or in a hook's begin"
            )


def _of_function(
    function: Callable[P, R], name: str | None, inputs: Sequence[str] | None
) -> tuple[str, Callable[P, R], Sequence[str]]:
    """The name, function and inputs of a node, where not given those that the function tells itself."""
    if not callable(function):
        raise TypeError(f"a node needs a function, not {function!r} of type {type(function).__name__}")
    if name is None:
        name = getattr(function, "__name__", "<lambda>")
        if name == "<lambda>":
            raise TypeError(f"{function!r} has no name of its own; pass name=...")
    if isinstance(inputs, str):
        raise TypeError(f"inputs={inputs!r} of node {name!r} is one string; pass a list of names")
    return name, function, parameter_names(function, f"node {name!r}") if inputs is None else inputs
