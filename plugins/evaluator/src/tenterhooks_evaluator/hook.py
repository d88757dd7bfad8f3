"""The hook that evaluates while a session trains."""

import inspect
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import tenterhooks as th
from tenterhooks.generators import all_states, set_all
from tenterhooks.open_graph import OpenGraph
from tenterhooks.timer import check_steps
from tenterhooks_evaluator._number import as_number
from tenterhooks_evaluator.evaluation import Evaluation

__all__ = ["EvaluatorHook"]

_log = logging.getLogger("tenterhooks_evaluator")
# Of each session, which hook gives the metric of a name.
_GIVEN_BY: WeakKeyDictionary[th.Session, dict[str, int]] = WeakKeyDictionary()


class EvaluatorHook(th.SessionRunHook):
    """Evaluates every so many steps or seconds, and publishes what it finds as `eval/accuracy`, say.

    It does so after the run that is due, before any saver acts, so a saver keeps the best by it in the same step:
    `CheckpointSaverHook(best="eval/accuracy", mode="max")`. Other hooks that ask for it get it from the next run on,
    until it is replaced. It is logged, too (level INFO). What was found last is in the checkpoint, and published again
    when the session is restored.

    The evaluation leaves the random generators among the variables, and those of the process, as they were, and takes
    nothing from the training's sources. Its time is not counted in steps per second. An end of its own input is no end
    of the training's.

    Args:
        evaluate: An `Evaluation`; or a function that gives a dict of numbers by name. It is called with the raw
            session, whose `state` has the variables; or with nothing, where it has only parameters with defaults.
        every_n_steps: The period in global steps: its multiples are evaluated, wherever the session began.
        every_n_secs: The period in seconds, from the start or the end of one evaluation to the next one. At most one of
            the two is given, none only with `at_end`.
        at_end: Whether to evaluate at the clean end of the session too, unless that step was.
        prefix: Comes before each name when it is published and logged.
        metrics: The names of what a function gives. A session with a graph needs them, since the hook adds a node for
            each; an `Evaluation` has them itself.
        clock: Gives the time in seconds.

    Attributes:
        results: What was found last, by name; empty before.

    Raises:
        TypeError: `evaluate` cannot be called, or takes something else; or, in a run, gives something else than numbers
            by name.
        ValueError: Both periods or nothing at all was asked for, or a period is none; or, when the session is created,
            it has a graph, and there are no names, or one that is something else's; or, in a run, other metrics than
            these were given.
        RuntimeError: In a run: the evaluation trained, or its input ran out where nobody expected it.

    Example:
        >>> hook = EvaluatorHook(lambda session: {"error": abs(session.state["w"] - 3.0)}, every_n_steps=100)
    """

    def __init__(
        self,
        evaluate: Callable[..., Mapping[str, Any]],
        *,
        every_n_steps: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = True,
        prefix: str = "eval/",
        metrics: str | Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if every_n_steps is not None and every_n_secs is not None:
            raise ValueError(
                f"only one of every_n_steps and every_n_secs can be given, not {every_n_steps=} and {every_n_secs=}"
            )
        check_steps("every_n_steps", every_n_steps)
        if every_n_steps is None and every_n_secs is None:
            if not at_end:
                raise ValueError(
                    "nothing would be evaluated: give one of every_n_steps and every_n_secs, or at_end=True"
                )
            every_n_secs = math.inf
        self.timer = th.SecondOrStepTimer(every_n_secs, every_n_steps, clock=clock)
        self._takes_session = _takes_session(evaluate)
        self._evaluate = evaluate
        self._at_end = at_end
        self._prefix = prefix
        self._names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        if isinstance(evaluate, Evaluation):
            if self._names:
                raise ValueError("an Evaluation names its metrics itself: leave out metrics=")
            self._names = evaluate.metrics
        self._reset()

    def _reset(self) -> None:
        self.timer.reset()
        self.results: dict[str, float] = {}
        self._step: int | None = None

    def state_dict(self) -> dict[str, Any]:
        """What was found last, and at which global step."""
        return {"step": self._step, "results": self.results}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._step, self.results = state["step"], dict(state["results"])

    def begin(self, graph: th.Graph) -> None:
        """Forget the session before, and add a node for each metric.

        Raises:
            ValueError: There are no names for them, or one is that of something else.
        """
        self._reset()
        if not self._names and not isinstance(graph, OpenGraph):
            raise ValueError(
                "a session with a graph has a node for each metric: name what evaluate gives, as in "
                'EvaluatorHook(evaluate, metrics=["accuracy", "loss"], ...)'
            )
        for name in self._names:
            node = graph.nodes.get(self._prefix + name)
            if node is None:
                graph.published(self._prefix + name)
            elif not isinstance(node, th.Placeholder):
                raise ValueError(
                    f"{node.name!r} is a node of the session, and later runs would get what the evaluation gave in "
                    "place of what it is: give another prefix="
                )

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        """Publish what was found before the session was restored.

        Raises:
            ValueError: Another hook gives metrics of these names.
        """
        self._claim(session, self._names)
        if self.timer.every_steps is not None or self.timer.last_triggered_step() is None:
            self._start_period(session.global_step)
        if self._step is not None:
            # What was restored may be of an evaluation that had other metrics.
            known = {name: value for name, value in self.results.items() if name in (self._names or self.results)}
            session.publish_again(self._named(known), step=self._step)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        """Evaluate if the step is due."""
        session = run_context.session
        if self.timer.should_trigger_for_step(session.global_step):
            self._run(session)

    def end(self, session: th.Session) -> None:
        """Evaluate at the end, if that is wanted and was not done."""
        if self._at_end and self._step != session.global_step:
            self._run(session)

    def _run(self, session: th.Session) -> None:
        """Evaluate, and tell of it."""
        step, begun = session.global_step, self.timer.clock()
        self.results = self._numbers(self._find(session))
        self._claim(session, self.results)
        self._step = step
        session.publish(self._named(self.results))
        self._start_period(step)
        told = ", ".join(f"{name} = {value:g}" for name, value in self._named(self.results).items())
        _log.info("step %d: %s (%.1f s)", step, told, self.timer.clock() - begun)

    def _find(self, session: th.Session) -> object:
        """Call the evaluation, so that the training does not notice."""
        before, generators = (session.global_step, session.state.updates), all_states(session.state)
        try:
            with session.pause_clock(clock=self.timer.clock):
                found = self._evaluate(session) if self._takes_session else self._evaluate()
        except (StopIteration, th.OutOfRangeError) as error:
            raise RuntimeError(
                f"the evaluation at global step {session.global_step} raised {type(error).__name__} ({error}), where "
                "it would pass for the end of the training's input: catch it where it comes from"
            ) from error
        finally:
            set_all(session.state, generators)
        if (session.global_step, session.state.updates) != before:
            raise RuntimeError(
                f"the evaluation at global step {before[0]} trained: it ran a training op on the variables of the "
                "training; ask just for what needs none"
            )
        return found

    def _numbers(self, found: object) -> dict[str, float]:
        """What the evaluation gave, as numbers by name."""
        if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
            raise TypeError(
                f"the evaluation gave {found!r:.60} of type {type(found).__name__}: give a dict of numbers by name"
            )
        if self._names and set(self._names) != set(found):
            raise ValueError(
                f"the evaluation gave {sorted(found)}, and its metrics are {sorted(self._names)}: give just those, or "
                "change metrics="
            )
        return {name: as_number(value, f"the metric {name!r} of an evaluation") for name, value in found.items()}

    def _claim(self, session: th.Session, names: Iterable[str]) -> None:
        """See that no other hook gives metrics of these names: one would replace the other's unseen."""
        given_by = _GIVEN_BY.setdefault(session, {})
        for name in names:
            if given_by.setdefault(self._prefix + name, id(self)) != id(self):
                raise ValueError(
                    f"two evaluators give {self._prefix + name!r}, and one would replace the other's: give one of them "
                    "another prefix="
                )

    def _named(self, results: Mapping[str, float]) -> dict[str, float]:
        """Results by the names under which others see them."""
        return {self._prefix + name: value for name, value in results.items()}

    def _start_period(self, step: int) -> None:
        """Begin the period in seconds now, that in steps at its last multiple."""
        period = self.timer.every_steps
        self.timer.update_last_triggered_step(step if period is None else step - step % period)


def _takes_session(evaluate: object) -> bool:
    """Whether a function has a parameter for the session; those with defaults are left alone.

    Raises:
        TypeError: It is no function, or takes more.
    """
    if not callable(evaluate):
        raise TypeError(
            f"evaluate is a function that gives numbers by name, or an Evaluation, not {evaluate!r:.60} of type "
            f"{type(evaluate).__name__}"
        )
    try:
        parameters = inspect.signature(evaluate).parameters.values()
    except (TypeError, ValueError):
        return True
    taken = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(taken) > 1 or any(p.kind is p.KEYWORD_ONLY for p in taken):
        raise TypeError(
            f"evaluate takes the session or nothing, and {evaluate!r:.60} takes {', '.join(p.name for p in taken)}: "
            "give the others a default, as by functools.partial"
        )
    return bool(taken)
