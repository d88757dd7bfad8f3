"""Which kind of summary a value is written as."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tenterhooks import Graph, Node
from tenterhooks.fetches import as_tensors, names_by_tag
from tenterhooks.summaries import SummaryWriter

__all__ = ["Histogram", "Image", "Kind", "Scalar", "Summaries", "Text", "as_summaries", "collected", "kinds_by_tag"]


class Kind(ABC):
    """A value that is written as one kind of summary.

    Args:
        tensor: The node or its name.

    Attributes:
        tensor: The node or its name.
    """

    def __init__(self, tensor: Node | str) -> None:
        self.tensor = tensor

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.tensor!r})"

    def checked(self, value: Any, name: str) -> Any:
        """The value of a node as it is written.

        Raises:
            ValueError: It cannot be written so.
        """
        return value

    @abstractmethod
    def add(self, writer: SummaryWriter, tag: str, value: Any, step: int) -> None:
        """Write what was checked."""


class Scalar(Kind):
    """A number, as a point of a curve; what is given without a kind is one.

    Example:
        >>> Scalar("loss")
        Scalar('loss')
    """

    def checked(self, value: Any, name: str) -> float:
        """The number that a value is.

        Raises:
            ValueError: It is none.
        """
        shape = tuple(getattr(value, "shape", ()))
        cause = None
        if not shape and not isinstance(value, str | bytes):
            try:
                return float(value)
            except (TypeError, ValueError, OverflowError) as error:
                cause = error
        what = f"has the shape {shape}" if shape else f"is {value!r:.60} of type {type(value).__name__}"
        raise ValueError(
            f"a summary is one number, and {name!r} {what}: write a tensor that makes one number of it, such as its "
            f"mean, or say what else it is, such as Histogram({name!r})"
        ) from cause

    def add(self, writer: SummaryWriter, tag: str, value: Any, step: int) -> None:
        """Add the number."""
        writer.add_scalar(tag, value, step)


class Histogram(Kind):
    """The numbers of an array of any shape, as a histogram."""

    def add(self, writer: SummaryWriter, tag: str, value: Any, step: int) -> None:
        """Add the histogram."""
        writer.add_histogram(tag, value, step)


class Image(Kind):
    """An array of the shape (height, width) or (height, width, channels), as an image.

    It holds `uint8` from 0 to 255, or floats from 0 to 1. One channel is grey, two are grey and alpha, three RGB, four
    RGBA.
    """

    def add(self, writer: SummaryWriter, tag: str, value: Any, step: int) -> None:
        """Add the image."""
        writer.add_image(tag, value, step)


class Text(Kind):
    """A string, which is shown as Markdown."""

    def add(self, writer: SummaryWriter, tag: str, value: Any, step: int) -> None:
        """Add the text."""
        writer.add_text(tag, value, step)


# What a hook is told to write: a value, several, or some by tag. One without a kind is a number.
Summaries: TypeAlias = Node | str | Kind | Iterable[Node | str | Kind] | Mapping[str, Node | str | Kind]

_COLLECTIONS: dict[str, type[Kind]] = {
    "summaries": Scalar,
    "summaries/histograms": Histogram,
    "summaries/images": Image,
    "summaries/texts": Text,
}


def as_summaries(summaries: Summaries) -> Summaries:
    """Check what a hook was given to write, and make it last for more than one session.

    Raises:
        TypeError: It is neither one value, several, nor a dict of them by tag.
    """
    return summaries if isinstance(summaries, Kind) else as_tensors(summaries)  # type: ignore[arg-type]


def collected(graph: Graph) -> list[Kind]:
    """What the graph's collections of summaries hold."""
    return [kind(name) for collection, kind in _COLLECTIONS.items() for name in graph.get_collection(collection)]


def kinds_by_tag(graph: Graph, summaries: Summaries) -> tuple[dict[str, str], dict[str, Kind]]:
    """The names of the nodes, and the kinds, by tag: the name, unless a dict gives another one.

    Raises:
        UnknownNameError: A name is of no node of the graph.
        ValueError: A node belongs to another graph.
    """
    if isinstance(summaries, Mapping):
        kinds = {tag: _kind(summary) for tag, summary in summaries.items()}
    else:
        several = [summaries] if isinstance(summaries, str | Node | Kind) else summaries
        kinds = {graph.name_of(kind.tensor): kind for kind in map(_kind, several)}
    return names_by_tag(graph, {tag: kind.tensor for tag, kind in kinds.items()}), kinds


def _kind(summary: Node | str | Kind) -> Kind:
    return summary if isinstance(summary, Kind) else Scalar(summary)
