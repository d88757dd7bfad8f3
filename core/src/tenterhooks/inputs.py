"""What the runs of a session are of beside its variables and sources: what is published, and what is fed."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tenterhooks.adapted import fetched
from tenterhooks.graph import Graph
from tenterhooks.nodes import EVERYTHING, REQUIRED, GlobalStep, Variable

__all__ = ["Inputs"]


class Inputs(ABC):
    """The part of a session that holds what was given to it.

    Args:
        graph: The graph.

    Attributes:
        graph: As given.
        kept: What was published for all runs to come, until it is replaced.
        published: That, and what a loop of the program's own published in its last pass: what a run of the session
            sees.
        plain: What of it was given in the last pass, and not as callables: what the name of all values stands for.
        fed: What the last run was fed by its caller and by hooks, by name.
        publications: How often something was published for all runs to come.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kept: Mapping[str, Any] = {}
        self._kept_at: dict[str, int] = {}
        self.published: Mapping[str, Any] = {}
        self.plain: Mapping[str, Any] = {}
        self.fed: Mapping[str, Any] = {}
        self.publications = 0

    @property
    @abstractmethod
    def global_step(self) -> int:
        """The number of training runs so far."""

    @property
    def inputs(self) -> dict[str, Any]:
        """What was published for the last run, or fed to it, by name; a placeholder with a default has that again."""
        nodes = self.graph.nodes
        fed = {name: value for name, value in self.fed.items() if getattr(nodes[name], "default", REQUIRED) is REQUIRED}
        return {**self.published, **fed}

    def publish(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        """Give values to whoever asks for them from now on, until they are replaced: what an evaluation found, say.

        Args:
            values: Values by name: of nodes of the graph, as a hook adds them in its `begin` (`Graph.published`); in a
                loop of the program's own by any name.
            named: More of them.

        Raises:
            UnknownNameError: The graph has no such node.
            ValueError: The session has it itself, as a variable, or the value is one to be called.
        """
        self.publications += 1
        for name, value in (named if values is None else {**values, **named}).items():
            self.check_published(name)
            if callable(value):
                raise ValueError(
                    f"{name!r} is published for all passes or runs to come, and not for one in which somebody asks for "
                    "it: give the value itself, not what computes it"
                )
            self.kept = {**self.kept, name: fetched(value)}
            self.published = {**self.published, name: self.kept[name]}
            self._kept_at[name] = self.global_step

    def publish_again(self, values: Mapping[str, Any], *, step: int) -> None:
        """Give values that were published before this session was restored, at the step at which they were.

        So in a resumed session too each result of an evaluation counts once, by `published_at`.

        Args:
            values: Values by name, as for `publish`.
            step: The global step at which they were published.
        """
        self.publish(values)
        self._kept_at.update(dict.fromkeys(values, step))

    def published_at(self, name: str) -> int | None:
        """The global step at which a value was published that is given to all runs until it is replaced.

        So a hook tells a new result of an evaluation from one that it has seen: `kept[name]` is the value.

        Returns:
            None where no value of that name is kept: it was never published, or is given anew in each run.
        """
        return self._kept_at[name] if name in self.kept else None

    def check_published(self, name: object) -> None:
        """Check that something can be published under this name."""
        if not isinstance(name, str):
            raise TypeError(f"values are published by name, a string, not {name!r} of type {type(name).__name__}")
        known = name != EVERYTHING and self.graph[name]
        # A loop of the program's own may publish any node, as it may be fed.
        if not known or isinstance(known, Variable | GlobalStep):
            raise ValueError(f"nothing can be published as {name!r}, which the session has itself: use another name")
