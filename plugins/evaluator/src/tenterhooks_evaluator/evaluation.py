"""An evaluation as a session of its own, on the variables of the training."""

from collections.abc import Iterable

import tenterhooks as th
from tenterhooks.fetches import Tensors, names_by_tag
from tenterhooks.nodes import Node, Source
from tenterhooks.plan import needed
from tenterhooks.timer import check_steps
from tenterhooks.variables import SessionState
from tenterhooks_evaluator._number import as_number

__all__ = ["Evaluation"]


class Evaluation:
    """Computes the means of metrics over batches of input, in a session with hooks of its own.

    That session works on the variables of the training, and begins its input anew each time. It does not recover: what
    a run of it raises is raised by the training. A stop that one of its hooks asks for ends it alone.

    Args:
        graph: The graph of the evaluation. Its variables are some of the training's; it may be the same graph.
        metrics: What is evaluated, one number for each batch: a node or its name, several of them, or a dict of them by
            the name that the metric shall have (otherwise the node's).
        weight: A node that gives the weight of a batch in the means, such as the number of its examples; by default
            all count the same, also a last one that is smaller.
        steps: The number of batches; by default all, until the input is over, and one where the metrics take no input.
        hooks: The hooks of the evaluation: objects, or short names of installed plugins.

    Attributes:
        metrics: The names of the metrics.

    Raises:
        UnknownNameError: The graph has no such node; or, in the evaluation, the training has no such variable.
        ValueError: There are no metrics, or `steps` is less than 1.

    Example:
        >>> graph = th.Graph()
        >>> graph.variable("w", 0.0)
        <Variable 'w'>
        >>> graph.source("batch", lambda: [1.0, 2.0])
        <Source 'batch'>
        >>> graph.tensor(lambda w, batch: (w - batch) ** 2, name="loss")
        <Tensor 'loss'>
        >>> Evaluation(graph, "loss")(th.Session(graph))
        {'loss': 2.5}
    """

    def __init__(
        self,
        graph: th.Graph,
        metrics: Tensors,
        *,
        weight: Node | str | None = None,
        steps: int | None = None,
        hooks: Iterable[object] = (),
    ) -> None:
        self._graph = graph
        self._names = names_by_tag(graph, metrics)
        if not self._names:
            raise ValueError("an evaluation without metrics finds nothing: name the nodes that it shall compute")
        check_steps("steps", steps, least=None)
        if steps is not None and steps < 1:
            raise ValueError(f"steps is 1 or more, not {steps}; leave it out to go through the whole input")
        self.metrics = tuple(self._names)
        self._weight = [] if weight is None else [graph[graph.name_of(weight)].name]
        if steps is None and not any(isinstance(graph[name], Source) for name in needed(graph, self._names.values())):
            steps = 1
        self._steps = steps
        self._hooks = list(hooks)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(map(repr, self.metrics))}>"

    def __call__(self, session: th.Session) -> dict[str, float]:
        """Evaluate on the variables of a session.

        Args:
            session: The raw session of the training, as hooks get it.

        Returns:
            The metrics by name.

        Raises:
            TypeError: A metric, or the weight, is not one number for each batch.
            ValueError: There was no batch, or none that has a weight; or a weight is negative.
        """
        sums = dict.fromkeys(self.metrics, 0.0)
        total, steps = 0.0, 0
        creator = _Creator(self._graph, session.state)
        with th.SingularMonitoredSession(self._hooks, session_creator=creator) as evaluation:
            while steps != self._steps and not evaluation.should_stop():
                values, *weights = evaluation.run([self._names, *self._weight])
                weight = as_number(weights[0], f"the weight {self._weight[0]!r} of a batch") if weights else 1.0
                if not weight >= 0.0:
                    raise ValueError(f"the weight {self._weight[0]!r} of a batch is {weight:g}: it is 0 or more")
                steps += 1
                total += weight
                for name, value in values.items():
                    sums[name] += weight * as_number(value, f"the metric {name!r} of a batch")
        if not total:
            raise ValueError(
                f"{self!r} has no means: "
                + (
                    "no batch has a weight"
                    if steps
                    else "its input is empty, or a hook stopped it before the first run"
                )
            )
        return {name: value / total for name, value in sums.items()}


class _Creator:
    """Makes a session on given variables."""

    def __init__(self, graph: th.Graph, state: SessionState) -> None:
        self.graph = graph
        self._state = state

    def create_session(self) -> th.Session:
        return th.Session(self.graph, state=self._state)
