"""The kinds of named values that a graph holds."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from tenterhooks.graph import Graph

__all__ = [
    "EVERYTHING",
    "GlobalStep",
    "Node",
    "Placeholder",
    "Published",
    "Source",
    "Tensor",
    "TrainOp",
    "Variable",
    "parameter_names",
]

P = ParamSpec("P")
R = TypeVar("R")

EVERYTHING = "*"
"""The name of all plain values of a pass of a loop of the program's own, as a dict."""

# The default of a placeholder that has none.
REQUIRED: Any = inspect.Parameter.empty


class Node:
    """A named value of a graph: it can be fetched and fed.

    Attributes:
        graph: The graph that it belongs to.
        name: Its name, unique in the graph.
        inputs: The names of the nodes that it is made from.
    """

    __slots__ = ("graph", "inputs", "name")

    def __init__(self, graph: "Graph", name: str, inputs: Sequence[str] = ()) -> None:
        self.graph = graph
        self.name = name
        self.inputs = tuple(inputs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


class GlobalStep(Node):
    """The number of training runs so far."""

    __slots__ = ()


class Placeholder(Node):
    """A value that a caller or a hook feeds."""

    __slots__ = ("default",)

    def __init__(self, graph: "Graph", name: str, default: Any) -> None:
        super().__init__(graph, name)
        self.default = default


class Published(Placeholder):
    """A value that a loop of the program's own, or a hook, gives by its name."""

    __slots__ = ()

    def __init__(self, graph: "Graph", name: str) -> None:
        super().__init__(graph, name, REQUIRED)


class Variable(Node):
    """State: saved and restored; `initial` makes it for a fresh session."""

    __slots__ = ("initial",)

    def __init__(self, graph: "Graph", name: str, initial: Callable[..., Any], inputs: Sequence[str]) -> None:
        super().__init__(graph, name, inputs)
        self.initial = initial


class Source(Node):
    """Input: one item per run that needs one; `factory` gives the iterable that they come from."""

    __slots__ = ("factory",)

    def __init__(self, graph: "Graph", name: str, factory: Callable[..., Iterable[Any]], inputs: Sequence[str]) -> None:
        super().__init__(graph, name, inputs)
        self.factory = factory


class Tensor(Node, Generic[P, R]):
    """A value computed by a function, at most once per run, and only when it is asked for.

    Attributes:
        function: The function.
        call: The name, the function, and what gives its arguments from the values by name; None for none.
    """

    __slots__ = ("call", "function")

    def __init__(self, graph: "Graph", name: str, function: Callable[P, R], inputs: Sequence[str]) -> None:
        super().__init__(graph, name, inputs)
        self.function = function
        arguments: Callable[[Mapping[str, Any]], tuple[Any, ...]] | None = None
        if len(self.inputs) == 1:
            (one,) = self.inputs
            arguments = lambda values: (values[one],)  # noqa: E731 - which it is depends on the number of inputs.
        elif self.inputs:
            arguments = itemgetter(*self.inputs)
        # In one, since it is taken in each run.
        self.call = (self.name, function, arguments)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, outside of any session."""
        return self.function(*args, **kwargs)


class TrainOp(Tensor[P, R]):
    """A function that updates variables, after every other node of its run that does not depend on it."""

    __slots__ = ("advance",)

    def __init__(
        self, graph: "Graph", name: str, function: Callable[P, R], inputs: Sequence[str], *, advance: bool
    ) -> None:
        super().__init__(graph, name, function, inputs)
        self.advance = advance


def parameter_names(
    function: Callable[..., Any], what: str, *, unreadable: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """The inputs that a function names by its parameters; one with a default is no input, as in pytest's fixtures.

    Args:
        function: The function of a node.
        what: What it is for, for the message.
        unreadable: The inputs of a function whose parameters cannot be read, as those of `dict`; None: an error.

    Raises:
        TypeError: It has parameters that cannot be told by position, such as `*args`.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError as error:
        if unreadable is not None:
            return unreadable
        raise TypeError(f"the parameters of {function!r} for {what} cannot be read; pass inputs=[...]") from error
    names = []
    for parameter in parameters:
        if parameter.default is not parameter.empty:
            continue
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            advice = "pass inputs=[...]" if unreadable is None else "pass lambda: ... if it is the value itself"
            raise TypeError(
                f"parameter {str(parameter)!r} of {function!r:.200} for {what} names no input; use plain parameters, "
                f"or {advice}"
            )
        names.append(parameter.name)
    return tuple(names)
