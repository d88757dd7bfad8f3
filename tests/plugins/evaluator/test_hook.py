"""EvaluatorHook in real sessions: when it evaluates, what others see of that, and that the training does not notice."""

import doctest
import logging
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
import tenterhooks_evaluator.hook
from tenterhooks.testing import ManualClock, MemorySaver, run_hooks
from tenterhooks.testing.sessions import Loop
from tenterhooks_evaluator import Evaluation, EvaluatorHook

both_loops = pytest.mark.parametrize("loop", ["graph", "own"])


class Evaluate:
    """An evaluation that notes the steps at which it is called, and finds the variable `w`, which counts them."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def __call__(self, session: th.Session) -> dict[str, float]:
        self.steps.append(session.global_step)
        return {"w": float(session.state["w"])}


class Ask(th.SessionRunHook):
    """Asks for `eval/w` in each run, or from a step on, and notes it by the global step that the run leads to."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self.seen: dict[int, float] = {}

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs("eval/w") if run_context.session.global_step >= self._first else None

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_values.results is not None:
            self.seen[run_context.session.global_step] = run_values.results


class Saver(th.SessionRunHook):
    """Measures `eval/w` as a saver does that keeps the best, at each step and at the end."""

    saves_state = True

    def __init__(self) -> None:
        self.measured: list[tuple[int, float | None]] = []

    def _measure(self, session: th.Session) -> None:
        try:
            value = session.measure("eval/w")
        except th.UnknownNameError:
            value = None
        self.measured.append((session.global_step, value))

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        self._measure(session)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._measure(run_context.session)

    def end(self, session: th.Session) -> None:
        self._measure(session)


def hook_of(evaluate: Callable[..., Any], **options: Any) -> EvaluatorHook:
    return EvaluatorHook(evaluate, **{"metrics": "w", **options})


def test_the_example_of_the_docstring_runs() -> None:
    result = doctest.testmod(tenterhooks_evaluator.hook)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("evaluator", evaluate=dict), EvaluatorHook)


class TestWhen:
    @both_loops
    @pytest.mark.parametrize(
        ("options", "steps"),
        [
            ({"every_n_steps": 3}, [3, 6, 9, 10]),
            ({"every_n_steps": 3, "at_end": False}, [3, 6, 9]),
            ({"every_n_steps": 5}, [5, 10]),
            ({"every_n_steps": 1}, list(range(1, 11))),
            ({"every_n_steps": 20}, [10]),
            ({}, [10]),
            # A step takes a second, and the first one begins at 0.
            ({"every_n_secs": 3.0}, [4, 7, 10]),
            ({"every_n_secs": 3.5, "at_end": False}, [5, 9]),
            ({"every_n_secs": 0.0}, list(range(1, 11))),
        ],
    )
    def test_it_evaluates_each_period_and_at_the_end(
        self, loop: Loop, options: dict[str, Any], steps: list[int]
    ) -> None:
        evaluate, clock = Evaluate(), ManualClock()
        run_hooks([hook_of(evaluate, clock=clock, **options)], steps=10, loop=loop, clock=clock)
        assert evaluate.steps == steps

    @both_loops
    @pytest.mark.parametrize("at", range(11))
    def test_a_resumed_session_evaluates_at_the_steps_of_an_unbroken_one(self, loop: Loop, at: int) -> None:
        saver = MemorySaver()
        run_hooks([hook_of(Evaluate(), every_n_steps=4)], steps=10, loop=loop, saver=saver)
        evaluate = Evaluate()
        run_hooks([hook_of(evaluate, every_n_steps=4)], steps=10, loop=loop, saver=saver.until(at))
        # What was saved last was so before the end.
        assert evaluate.steps == [*(step for step in (4, 8) if step > at), 10]

    def test_a_period_in_seconds_is_that_from_the_end_of_an_evaluation(self) -> None:
        class Slow(Evaluate):
            def __call__(self, session: th.Session) -> dict[str, float]:
                clock.advance(60.0)
                return super().__call__(session)

        evaluate, clock = Slow(), ManualClock()
        run_hooks([hook_of(evaluate, every_n_secs=3.0, clock=clock)], steps=8, clock=clock)
        assert evaluate.steps == [4, 7, 8]

    def test_a_step_is_evaluated_once_however_many_runs_are_made_at_it(self) -> None:
        graph = th.Graph()
        graph.variable("w", 0.0)
        graph.train_op(lambda w: {"w": w + 1}, name="train")
        evaluate = Evaluate()
        with th.MonitoredSession(graph=graph, hooks=[hook_of(evaluate, every_n_steps=2, at_end=False)]) as session:
            for fetch in ("w", "train", "w", "w", "train", "w", "w", "train", "w"):
                session.run(fetch)
        assert evaluate.steps == [2]

    @both_loops
    def test_it_does_not_evaluate_after_an_error(self, loop: Loop) -> None:
        evaluate = Evaluate()
        run_hooks([hook_of(evaluate, every_n_steps=2)], steps=5, loop=loop, fail_at={4: ValueError("no")})
        assert evaluate.steps == [2]

    def test_steps_that_a_recovery_undoes_are_evaluated_again(self) -> None:
        evaluate, clock = Evaluate(), ManualClock()
        lost = {6: th.AbortedError("lost")}
        run_hooks([hook_of(evaluate, every_n_steps=2, clock=clock)], steps=7, fail_at=lost, clock=clock)
        # There is no checkpoint: it begins anew.
        assert evaluate.steps == [2, 4, 2, 4, 6, 7]

    def test_a_recovery_does_not_begin_a_period_in_seconds_anew(self) -> None:
        evaluate, clock = Evaluate(), ManualClock()
        lost = {6: th.AbortedError("lost")}
        run_hooks([hook_of(evaluate, every_n_secs=7.0, at_end=False, clock=clock)], steps=7, fail_at=lost, clock=clock)
        assert evaluate.steps == [3]

    def test_a_hook_can_be_used_in_a_second_session_of_the_same_graph(self) -> None:
        graph = th.Graph()
        graph.variable("w", 0.0)
        graph.train_op(lambda w: {"w": w + 1}, name="train")
        evaluate = Evaluate()
        hook = hook_of(evaluate, every_n_steps=2)
        for _ in range(2):
            with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
                assert hook.results == {}
                for _ in range(3):
                    session.run("train")
        assert evaluate.steps == [2, 3, 2, 3]


class TestPublish:
    @both_loops
    def test_others_see_it_from_the_next_run_on(self, loop: Loop) -> None:
        ask = Ask(first=2)
        run_hooks([ask, hook_of(Evaluate(), every_n_steps=2)], steps=6, loop=loop)
        assert ask.seen == {3: 2.0, 4: 2.0, 5: 4.0, 6: 4.0}

    @both_loops
    def test_a_saver_sees_it_in_the_same_step_and_at_the_end(self, loop: Loop) -> None:
        saver = Saver()
        run_hooks([saver, hook_of(Evaluate(), every_n_steps=2)], steps=5, loop=loop)
        assert saver.measured == [(0, None), (1, None), (2, 2.0), (3, 2.0), (4, 4.0), (5, 4.0), (5, 5.0)]

    @both_loops
    @pytest.mark.parametrize("at", range(3, 7))
    def test_a_resumed_session_has_what_was_found_last(self, loop: Loop, at: int) -> None:
        saver, unbroken = MemorySaver(), Saver()
        run_hooks([hook_of(Evaluate(), every_n_steps=3), unbroken], steps=7, loop=loop, saver=saver)
        resumed, ask, hook = Saver(), Ask(), hook_of(Evaluate(), every_n_steps=3)
        run_hooks([ask, hook, resumed], steps=7, loop=loop, saver=saver.until(at))
        (first, *rest) = resumed.measured
        assert first == (at, at - at % 3)
        assert rest == [(step, value) for step, value in unbroken.measured if step > at]
        assert ask.seen == {step: (step - 1) - (step - 1) % 3 for step in range(at + 1, 8)}
        assert hook.results == {"w": 7.0}

    @both_loops
    @pytest.mark.parametrize("at", range(8))
    def test_it_is_known_at_which_step_it_was_found_after_a_restore_too(self, loop: Loop, at: int) -> None:
        class Once(th.SessionRunHook):
            """Counts each result once, as early stopping does."""

            def __init__(self) -> None:
                self.last: int | None = None
                self.counted: list[tuple[int, float]] = []

            def state_dict(self) -> dict[str, int | None]:
                return {"last": self.last}

            def load_state_dict(self, state: dict[str, int | None]) -> None:
                self.last = state["last"]

            def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
                return th.SessionRunArgs("eval/w", optional=True)

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                found = run_context.session.published_at("eval/w")
                if run_values.results is not None and found != self.last:
                    self.last = found
                    self.counted.append((run_context.session.global_step, run_values.results))

        saver, unbroken, resumed = MemorySaver(), Once(), Once()
        # It comes first, so that it looks at what was found before this run.
        run_hooks([unbroken, hook_of(Evaluate(), every_n_steps=3)], steps=8, loop=loop, saver=saver)
        run_hooks([resumed, hook_of(Evaluate(), every_n_steps=3)], steps=8, loop=loop, saver=saver.until(at))
        assert unbroken.counted == [(4, 3.0), (7, 6.0)]
        assert resumed.counted == [(step, value) for step, value in unbroken.counted if step > at]

    @both_loops
    def test_who_insists_on_it_before_the_first_one_gets_an_error(self, loop: Loop) -> None:
        outcome = run_hooks(
            [Ask(), hook_of(Evaluate(), every_n_steps=2)], steps=3, loop=loop, catch=th.UnknownNameError
        )
        assert "asked for 'eval/w', and nobody published it" in str(outcome.error)

    def test_in_a_loop_of_the_programs_own_a_function_needs_no_names(self) -> None:
        ask = Ask(first=2)
        run_hooks([ask, EvaluatorHook(Evaluate(), every_n_steps=2)], steps=3, loop="own")
        assert ask.seen == {3: 2.0}

    @both_loops
    def test_names_have_the_prefix(self, loop: Loop) -> None:
        hook = EvaluatorHook(Evaluate(), every_n_steps=2, prefix="test.", metrics=["w"])
        outcome = run_hooks([hook], steps=2, loop=loop)
        assert outcome.messages == ["step 2: test.w = 2 (0.0 s)"]

    @both_loops
    def test_nan_is_published_and_kept_as_nan(self, loop: Loop) -> None:
        saver, ask = MemorySaver(), Ask()
        run_hooks([hook_of(lambda: {"w": math.nan}, every_n_steps=2)], steps=3, loop=loop, saver=saver)
        run_hooks([hook_of(lambda: {"w": 1.0}, every_n_steps=2), ask], steps=5, loop=loop, saver=saver)
        assert math.isnan(ask.seen[4])
        assert ask.seen[5] == 1.0

    @both_loops
    def test_a_metric_that_the_evaluation_has_no_more_is_not_published_after_a_restore(self, loop: Loop) -> None:
        saver, ask = MemorySaver(), Ask()
        old = EvaluatorHook(lambda: {"w": 1.0, "old": 2.0}, every_n_steps=2, metrics=["w", "old"])
        run_hooks([old], steps=3, loop=loop, saver=saver)
        run_hooks([hook_of(lambda: {"w": 3.0}), ask], steps=4, loop=loop, saver=saver)
        assert ask.seen == {4: 1.0}

    def test_nodes_of_the_graph_can_take_it(self) -> None:
        graph = th.Graph()
        graph.variable("w", 0.0)
        graph.train_op(lambda w: {"w": w + 1}, name="train")
        graph.tensor(lambda score: 10 * score, name="rate", inputs=["eval/w"])
        with th.MonitoredSession(graph=graph, hooks=[hook_of(Evaluate(), every_n_steps=1)]) as session:
            session.run("train")
            assert session.run("rate") == 10.0

    def test_it_is_logged_with_the_time_that_it_took(self, caplog: pytest.LogCaptureFixture) -> None:
        def evaluate() -> dict[str, float]:
            clock.advance(2.5)
            return {"loss": 0.25, "accuracy": 1 / 3}

        clock = ManualClock()
        caplog.set_level(logging.INFO, "tenterhooks_evaluator")
        run_hooks([EvaluatorHook(evaluate, every_n_steps=2, clock=clock)], steps=2, loop="own", clock=clock)
        assert [record.getMessage() for record in caplog.records if record.name == "tenterhooks_evaluator"] == [
            "step 2: eval/loss = 0.25, eval/accuracy = 0.333333 (2.5 s)"
        ]


class TestTheTrainingDoesNotNotice:
    def test_random_generators_are_as_they_were(self) -> None:
        def evaluate(session: th.Session) -> dict[str, float]:
            return {"w": random.random() + np.random.rand() + session.state["rng"].random()}

        def trained(*hooks: object) -> list[float]:
            random.seed(1)
            np.random.seed(1)
            drawn = []
            with th.MonitoredSession(hooks=hooks, state={"rng": np.random.default_rng(1)}) as session:
                for _ in session.steps(range(4)):
                    drawn += [random.random(), np.random.rand(), session.state["rng"].random()]
            return drawn

        assert trained(hook_of(evaluate, every_n_steps=1)) == trained()

    def test_generators_are_as_they_were_after_an_error_too(self) -> None:
        def evaluate() -> dict[str, float]:
            random.random()
            raise ValueError("no")

        random.seed(1)
        before = random.getstate()
        outcome = run_hooks([hook_of(evaluate)], loop="own", catch=ValueError)
        assert str(outcome.error) == "no"
        assert random.getstate() == before

    def test_its_input_is_not_that_of_the_training(self) -> None:
        graph = th.Graph()
        graph.variable("seen", lambda: [0.0])
        graph.source("batch", lambda: iter([1.0, 2.0, 3.0, 4.0]))
        graph.tensor(lambda batch: batch, name="mean")

        @graph.train_op
        def train(seen: list[float], batch: float) -> dict[str, list[float]]:
            return {"seen": [*seen, batch]}

        hooks, seen = [EvaluatorHook(Evaluation(graph, "mean"), every_n_steps=1)], list[float]()
        with th.MonitoredSession(graph=graph, hooks=hooks) as session:
            while not session.should_stop():
                session.run("train")
                assert session.run("eval/mean") == 2.5
                seen.append(session.state["seen"][-1])
        assert seen == [1.0, 2.0, 3.0, 4.0]

    @both_loops
    @pytest.mark.parametrize("failing", [False, True])
    def test_its_time_is_a_pause(self, loop: Loop, failing: bool) -> None:
        def evaluate() -> dict[str, float]:
            clock.advance(10.0)
            if failing:
                raise ValueError("no")
            return {"w": 0.0}

        class Paused(th.SessionRunHook):
            def end(self, session: th.Session) -> None:
                paused.append(session.paused_secs)

            def on_exception(self, session: th.Session | None, exception: BaseException) -> None:
                assert session is not None
                paused.append(session.paused_secs)

        clock, paused = ManualClock(), list[float]()
        hooks = [hook_of(evaluate, every_n_steps=2, clock=clock), Paused()]
        run_hooks(hooks, steps=4, loop=loop, clock=clock, catch=ValueError)
        assert paused == [10.0 if failing else 20.0]

    @both_loops
    def test_a_stop_within_it_stops_it_alone(self, loop: Loop) -> None:
        class Stop(th.SessionRunHook):
            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                run_context.request_stop("seen enough")

        def evaluate() -> dict[str, float]:
            with th.MonitoredSession(hooks=[Stop()]) as evaluation:
                total = sum(evaluation.steps([1, 2, 4]))
            return {"w": total}

        hook = hook_of(evaluate, every_n_steps=1)
        outcome = run_hooks([hook], steps=3, loop=loop)
        assert outcome.global_step == 3
        assert outcome.stop == ()
        assert hook.results == {"w": 1.0}


class TestFunctions:
    @pytest.mark.parametrize(
        "evaluate",
        [
            lambda session: {"w": session.global_step},
            lambda session, /: {"w": session.global_step},
            lambda: {"w": 2},
            lambda model=2: {"w": model},
            lambda *, model=2: {"w": model},
            lambda *models, **others: {"w": 2 + len(models) + len(others)},
        ],
    )
    def test_one_may_take_the_session_and_what_has_defaults_is_left_alone(self, evaluate: Callable[..., Any]) -> None:
        hook = hook_of(evaluate)
        run_hooks([hook], steps=2)
        assert hook.results == {"w": 2.0}

    def test_one_whose_parameters_are_unknown_gets_the_session(self) -> None:
        class Opaque(Evaluate):
            __signature__ = "none"

        evaluate = Opaque()
        run_hooks([hook_of(evaluate)], steps=2)
        assert evaluate.steps == [2]

    @both_loops
    @pytest.mark.parametrize(
        "error", [StopIteration("over"), th.OutOfRangeError("over")], ids=lambda e: type(e).__name__
    )
    @pytest.mark.parametrize("steps", [2, 3])
    def test_the_end_of_its_input_is_no_clean_end(self, loop: Loop, error: Exception, steps: int) -> None:
        def evaluate() -> dict[str, float]:
            raise error

        outcome = run_hooks([hook_of(evaluate, every_n_steps=2)], steps=steps, loop=loop, catch=RuntimeError)
        assert str(outcome.error).startswith(f"the evaluation at global step 2 raised {type(error).__name__} (over)")
        assert outcome.error is not None
        assert outcome.error.__cause__ is error

    def test_an_error_names_the_hook_and_the_step(self) -> None:
        outcome = run_hooks([hook_of(lambda: 1 / 0, every_n_steps=2)], steps=3, catch=ZeroDivisionError)
        assert outcome.error is not None
        (text,) = outcome.error.__notes__
        assert text.startswith("in after_run of hook 'evaluator' (tenterhooks-evaluator ")
        assert text.endswith("at global step 2")

    def test_one_that_trains_is_an_error(self) -> None:
        def evaluate(session: th.Session) -> dict[str, float]:
            session.run("train")
            return {"w": 0.0}

        outcome = run_hooks([hook_of(evaluate)], steps=2, catch=RuntimeError)
        assert "the evaluation at global step 2 trained" in str(outcome.error)

    def test_one_that_updates_variables_in_no_step_is_an_error(self) -> None:
        graph = th.Graph()
        graph.variable("w", 0.0)
        graph.train_op(lambda w: {"w": w + 1}, name="average", advance=False)
        hook = EvaluatorHook(Evaluation(graph, "average"), every_n_steps=1)
        with pytest.raises(TypeError, match="the metric 'average' of a batch is one number"):
            run_hooks([hook], steps=1)
        hook = hook_of(lambda session: {"w": session.run("average") or 0.0})
        session = th.MonitoredSession(graph=graph, hooks=[hook])
        with pytest.raises(RuntimeError, match="the evaluation at global step 0 trained"):
            session.close()


NOTHING: Any = None


@pytest.mark.parametrize(
    ("evaluate", "options", "error", "message"),
    [
        (NOTHING, {}, TypeError, "evaluate is a function that gives numbers by name, or an Evaluation, not None"),
        ({"w": 1.0}, {}, TypeError, "not {'w': 1.0} of type dict"),
        (lambda a, b: {}, {}, TypeError, "evaluate takes the session or nothing, and .* takes a, b: give the others a"),
        (lambda *, data: {}, {}, TypeError, "takes data: give the others a default, as by functools.partial"),
        (dict, {"every_n_steps": 1, "every_n_secs": 1.0}, ValueError, "only one of every_n_steps and every_n_secs"),
        (dict, {"every_n_steps": 0}, ValueError, "every_n_steps is 1 or more, not 0"),
        (dict, {"every_n_steps": "2"}, TypeError, "every_n_steps is a whole number, not '2' of type str"),
        (dict, {"every_n_secs": -1.0}, ValueError, "a period is 0 or more, not -1.0"),
        (dict, {"every_n_secs": math.nan}, ValueError, "a period is 0 or more, not nan"),
        (dict, {"at_end": False}, ValueError, "nothing would be evaluated: give one of every_n_steps and every_n_secs"),
    ],
)
def test_wrong_options_are_errors(evaluate: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        EvaluatorHook(evaluate, **options)


def test_an_evaluation_has_its_names_itself() -> None:
    graph = th.Graph()
    graph.placeholder("x", default=1.0)
    with pytest.raises(ValueError, match="an Evaluation names its metrics itself: leave out metrics="):
        EvaluatorHook(Evaluation(graph, "x"), metrics=["x"])


def test_in_a_graph_a_function_without_names_is_an_error_before_any_run() -> None:
    with pytest.raises(ValueError, match="a session with a graph has a node for each metric: name what evaluate gives"):
        run_hooks([EvaluatorHook(Evaluate(), every_n_steps=1)], steps=0)


def test_it_does_not_take_the_place_of_a_value_that_is_computed() -> None:
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.tensor(lambda w: 1.0 - w, name="loss")
    with pytest.raises(ValueError, match=r"'loss' is a node of the session, .*: give another prefix="):
        th.MonitoredSession(graph=graph, hooks=[EvaluatorHook(Evaluation(graph, "loss"), prefix="")])


@both_loops
def test_two_that_give_one_metric_are_an_error_before_any_run(loop: Loop) -> None:
    with pytest.raises(
        ValueError, match="two evaluators give 'eval/w', and one would replace the other's: give one of"
    ):
        run_hooks([hook_of(Evaluate(), every_n_steps=2), hook_of(Evaluate(), every_n_steps=3)], steps=0, loop=loop)
    other = hook_of(Evaluate(), every_n_steps=2, prefix="test/")
    run_hooks([hook_of(Evaluate(), every_n_steps=2), other], steps=2, loop=loop)


def test_two_without_names_are_an_error_where_both_have_evaluated() -> None:
    hooks = [EvaluatorHook(Evaluate(), every_n_steps=period) for period in (2, 3)]
    with pytest.raises(ValueError, match="two evaluators give 'eval/w'") as caught:
        run_hooks(hooks, steps=4, loop="own")
    assert "global step 3" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("found", "options", "error", "message"),
    [
        (None, {}, TypeError, "the evaluation gave None of type NoneType: give a dict of numbers by name"),
        (0.5, {}, TypeError, "the evaluation gave 0.5 of type float"),
        ({1: 0.5}, {}, TypeError, "give a dict of numbers by name"),
        ({"w": "0.5"}, {}, TypeError, "the metric 'w' of an evaluation is one number, and this is '0.5' of type str"),
        ({"w": np.ones(3)}, {}, TypeError, r"and this has the shape \(3,\): give its mean, say"),
        ({"v": 0.5}, {}, ValueError, r"the evaluation gave \['v'\], and its metrics are \['w'\]: give just those"),
        ({}, {}, ValueError, r"the evaluation gave \[\], and its metrics are \['w'\]"),
        ({"w": 0.5}, {"prefix": ""}, ValueError, "'w' is a node of the session, and later runs would get what the ev"),
    ],
)
@both_loops
def test_what_is_no_result_is_an_error(
    loop: Loop, found: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        run_hooks([hook_of(lambda: found, **options)], steps=2, loop=loop)
