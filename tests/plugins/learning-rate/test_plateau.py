"""ReduceOnPlateauHook: when it lowers, by how much, and that an interruption changes nothing."""

import logging
import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.open_graph import OpenGraph
from tenterhooks.testing.savers import KeepEachStep, MemorySaver
from tenterhooks_learning_rate import CosineDecay, LearningRateHook, ReduceOnPlateauHook

NAN = math.nan
MISSING: Any = None


def rates(hook: LearningRateHook, losses: Sequence[float], saver: MemorySaver | None = None) -> list[float]:
    """The learning rates of a loop with these losses; one that is MISSING is not published."""
    got = []
    creator = th.ChiefSessionCreator(OpenGraph({}), saver=saver or MemorySaver())
    hooks: list[object] = [hook] if saver is None else [hook, KeepEachStep(saver)]
    with th.MonitoredSession(creator, hooks) as session:
        for loss in session.steps(losses):
            got.append(session.feeds["learning_rate"])
            if loss is not MISSING:
                session.publish(loss=loss)
    return got


def halve(**options: Any) -> ReduceOnPlateauHook:
    return ReduceOnPlateauHook(**{"learning_rate": 8.0, "factor": 0.5, "patience": 0, "min_delta": 0.0, **options})


@pytest.mark.parametrize(
    ("patience", "wanted"),
    [
        # The first check is the best so far; then come those that are no better.
        (0, [8, 8, 4, 2, 1, 0.5, 0.25]),
        (1, [8, 8, 8, 4, 4, 2, 2]),
        (2, [8, 8, 8, 8, 4, 4, 4]),
        (5, [8, 8, 8, 8, 8, 8, 8]),
    ],
)
def test_one_check_more_than_patience_lowers_it(patience: int, wanted: list[float]) -> None:
    assert rates(halve(patience=patience), [1.0] * 7) == wanted


def test_an_improvement_begins_the_count_anew() -> None:
    assert rates(halve(patience=1), [3.0, 3.0, 2.0, 2.0, 2.0, 2.0]) == [8, 8, 8, 8, 8, 4]


@pytest.mark.parametrize(("mode", "sign"), [("min", 1), ("max", -1)])
def test_better_is_less_or_more_by_more_than_min_delta(mode: str, sign: int) -> None:
    losses = [sign * loss for loss in (3.0, 2.5, 2.49, 2.0, 1.9)]
    assert rates(halve(mode=mode, min_delta=0.5), losses) == [8, 8, 4, 4, 2]


@pytest.mark.parametrize("mode", ["min", "max"])
def test_nan_is_never_better_and_anything_is_better_than_nan(mode: str) -> None:
    assert rates(halve(mode=mode), [NAN, 1.0, NAN, 1.0]) == [8, 4, 4, 2]


def test_in_the_cooldown_nothing_is_counted() -> None:
    assert rates(halve(cooldown=2), [1.0] * 8) == [8, 8, 4, 4, 4, 2, 2, 2]


def test_it_is_not_lowered_below_the_least() -> None:
    assert rates(halve(min_value=3.0), [1.0] * 5) == [8, 8, 4, 3, 3]


def test_the_least_raises_nothing() -> None:
    assert rates(halve(learning_rate=lambda step: 1.0 * step, min_value=2.0), [1.0] * 5) == [0, 1, 2, 2, 2]


def test_a_schedule_is_lowered_as_a_number_is() -> None:
    schedule = CosineDecay(1.0, decay_steps=10)
    assert rates(halve(learning_rate=schedule), [2.0, 1.0, 1.0, 1.0, 0.5]) == [
        schedule(0),
        schedule(1),
        schedule(2),
        schedule(3) / 2,
        schedule(4) / 4,
    ]


def test_checks_are_at_multiples_of_the_global_step() -> None:
    assert rates(halve(every_n_steps=2), [1.0] * 8) == [8, 8, 8, 8, 4, 4, 2, 2]


def test_a_run_without_the_value_is_not_checked() -> None:
    assert rates(halve(), [MISSING, 1.0, MISSING, MISSING, 1.0, 1.0]) == [8, 8, 8, 8, 8, 4]


def test_a_run_that_does_not_train_is_not_checked() -> None:
    graph = th.Graph()
    graph.placeholder("learning_rate")
    graph.tensor(lambda: 1.0, name="loss")
    graph.train_op(lambda learning_rate: learning_rate, name="train")
    got = []
    with th.MonitoredSession(graph=graph, hooks=[halve()]) as session:
        for _ in range(4):
            for _ in range(3):
                session.run("loss")
            got.append(session.run("train"))
    assert got == [8, 8, 4, 2]


class Evaluates(th.SessionRunHook):
    """Publishes a value at each second step, and after a restart the last one again, as an evaluator does."""

    def __init__(self, values: Sequence[float]) -> None:
        self._values = values

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        last = session.global_step // 2
        if last:
            session.publish_again({"eval/loss": self._values[last - 1]}, step=2 * last)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        session = run_context.session
        if session.global_step % 2 == 0:
            session.publish({"eval/loss": self._values[session.global_step // 2 - 1]})


def evaluated(saver: MemorySaver, until: int | None, hook_first: bool) -> list[float]:
    got = []
    hooks: list[object] = [halve(metric="eval/loss"), Evaluates([1.0, 1.0, 0.5, 0.5])]
    creator = th.ChiefSessionCreator(OpenGraph({}), saver=saver)
    with th.MonitoredSession(creator, [*(hooks if hook_first else reversed(hooks)), KeepEachStep(saver)]) as session:
        for _ in session.steps(range(until or 9)):
            got.append(session.feeds["learning_rate"])
    return got


@pytest.mark.parametrize("hook_first", [True, False])
@pytest.mark.parametrize("interrupt", range(1, 9))
def test_an_evaluation_is_one_check_before_and_after_a_restart(interrupt: int, hook_first: bool) -> None:
    saver = MemorySaver()
    first = evaluated(saver, interrupt, hook_first)
    assert first + evaluated(saver, None, hook_first) == [8, 8, 8, 8, 4, 4, 4, 4, 2]


@pytest.mark.parametrize("hook_first", [True, False])
def test_a_check_is_in_the_checkpoint_of_its_step(hook_first: bool) -> None:
    saver = MemorySaver()
    evaluated(saver, None, hook_first)
    checked = [state["hooks"]["reduce-on-plateau"]["step"] for _, state in saver.saved]
    assert checked == [None, None, 2, 2, 4, 4, 6, 6, 8, 8]


class SaveAtEnd(KeepEachStep):
    """Saves at the end too."""

    def end(self, session: th.Session) -> None:
        self._save(session)


class EvaluatesAtEnd(Evaluates):
    """Evaluates out of turn where a session ends, and publishes that after a restart."""

    def __init__(self, values: Sequence[float]) -> None:
        super().__init__(values)
        self._found: list[float] = []

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        if self._found:
            session.publish_again({"eval/loss": self._found[0]}, step=int(self._found[1]))

    def end(self, session: th.Session) -> None:
        self._found = [9.0, session.global_step]
        session.publish({"eval/loss": 9.0})

    def state_dict(self) -> dict[str, list[float]]:
        return {"found": self._found}

    def load_state_dict(self, state: dict[str, list[float]]) -> None:
        self._found = list(state["found"])


@pytest.mark.parametrize("hook_first", [True, False])
@pytest.mark.parametrize("stop", [1, 3, 5, 7])
def test_what_an_evaluation_finds_out_of_turn_at_the_end_is_no_check(stop: int, hook_first: bool) -> None:
    saver, got = MemorySaver(), []
    for steps in (stop, 9):
        hooks: list[object] = [halve(metric="eval/loss"), EvaluatesAtEnd([1.0, 1.0, 0.5, 0.5])]
        creator = th.ChiefSessionCreator(OpenGraph({}), saver=saver)
        with th.MonitoredSession(creator, [*(hooks if hook_first else reversed(hooks)), SaveAtEnd(saver)]) as session:
            for _ in session.steps(range(steps)):
                got.append(session.feeds["learning_rate"])
    assert got == [8, 8, 8, 8, 4, 4, 4, 4, 2]


def test_what_the_loop_publishes_after_its_last_pass_is_a_check_for_the_session_that_goes_on() -> None:
    saver, got = MemorySaver(), []
    for losses in ((1.0, 1.0), (1.0, 0.5)):
        creator = th.ChiefSessionCreator(OpenGraph({}), saver=saver)
        with th.MonitoredSession(creator, [halve(metric="eval/loss"), SaveAtEnd(saver)]) as session:
            for loss in losses:
                for _ in range(2):
                    with session.step():
                        got.append(session.feeds["learning_rate"])
                session.publish({"eval/loss": loss})
    assert got == [8, 8, 8, 8, 4, 4, 2, 2]


def test_what_the_loop_publishes_between_passes_is_one_check_before_the_next_run() -> None:
    got = []
    with th.MonitoredSession(hooks=[halve(metric="eval/loss")]) as session:
        for loss in (1.0, 1.0, 0.5):
            for _ in session.steps(range(3)):
                got.append(session.feeds["learning_rate"])
            session.publish({"eval/loss": loss})
    assert got == [8, 8, 8, 8, 8, 8, 4, 4, 4]


def test_what_is_said_then_is_of_the_run_that_begins(caplog: pytest.LogCaptureFixture) -> None:
    hook = halve(metric="eval/loss", learning_rate=lambda step: 8.0 * (step + 1))
    with caplog.at_level(logging.INFO, "tenterhooks_learning_rate"), th.MonitoredSession(hooks=[hook]) as session:
        for _ in range(2):
            with session.step():
                assert session.feeds["learning_rate"] > 0
            session.publish({"eval/loss": 1.0})
        with session.step():
            assert session.feeds["learning_rate"] == 12
    assert "step 2: eval/loss was not better than 1 for 1 check, so the learning rate goes from 24 to 12" in (
        caplog.messages
    )


def test_with_a_setter_the_lowered_value_is_set() -> None:
    told: list[float] = []
    hook = halve(setter=lambda session, value: told.append(value))
    with th.MonitoredSession(hooks=[hook]) as session:
        for _ in session.steps(range(4)):
            session.publish(loss=1.0)
    # The last one for a pass that did not come.
    assert told == [8, 4, 2, 1]


LOSSES = [3.0, 2.0, 2.5, NAN, 2.0, 1.9, 1.9, 1.95, 2.0, 2.0, 2.0]


@pytest.mark.parametrize("interrupt", range(1, len(LOSSES)))
@pytest.mark.parametrize("options", [{}, {"patience": 2}, {"cooldown": 2, "patience": 1}, {"every_n_steps": 2}])
def test_an_interrupted_run_gives_the_values_of_an_unbroken_one(options: dict[str, Any], interrupt: int) -> None:
    saver = MemorySaver()
    first = rates(halve(**options), LOSSES[:interrupt], saver)
    # The items are wound forward by those that were drawn.
    rest = rates(halve(**options), LOSSES, saver)
    assert first + rest == rates(halve(**options), LOSSES)


def test_it_says_what_it_does(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "tenterhooks_learning_rate"):
        rates(halve(patience=1, min_value=4.0), [1.0] * 7)
    assert [record.getMessage() for record in caplog.records if record.name == "tenterhooks_learning_rate"] == [
        "step 3: loss was not better than 1 for 2 checks, so the learning rate goes from 8 to 4"
    ]


def test_a_value_that_was_never_given_is_a_warning_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    rates(halve(metric="los", every_n_steps=2), [1.0] * 3)
    (record,) = [record for record in caplog.records if record.name == "tenterhooks_learning_rate"]
    assert (record.levelno, record.getMessage()) == (
        logging.WARNING,
        "'los' was given in no run that leads to a multiple of 2 steps, so the learning rate was never lowered",
    )


def test_a_check_before_a_restart_counts_for_that(caplog: pytest.LogCaptureFixture) -> None:
    saver = MemorySaver()
    rates(halve(every_n_steps=2), [1.0, 1.0], saver)
    rates(halve(every_n_steps=2), [1.0, 1.0, 1.0], saver)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_restart_without_a_pass_has_nothing_to_warn_of(caplog: pytest.LogCaptureFixture) -> None:
    rates(halve(), [])
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_an_unknown_metric_of_a_graph_is_told_before_any_run() -> None:
    graph = th.Graph()
    graph.placeholder("learning_rate")
    graph.tensor(lambda: 1.0, name="loss")
    with pytest.raises(th.UnknownNameError, match=r"'los'.*'loss'"):
        th.MonitoredSession(graph=graph, hooks=[halve(metric="los")])


@pytest.mark.parametrize("value", ["low", [1.0], {"loss": 1.0}])
def test_what_is_no_number_is_told(value: Any) -> None:
    with pytest.raises(TypeError, match=r"'loss' is .* of type \w+: watch one number, such as a mean"):
        rates(halve(), [value])


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"factor": 1.0}, ValueError, "factor is below 1, so that it lowers the learning rate, not 1.0"),
    ({"factor": 0.0}, ValueError, "factor is a finite number above 0, not 0.0"),
    ({"patience": -1}, ValueError, "patience is 0 or more, not -1"),
    ({"patience": 1.5}, TypeError, "patience is a whole number, not 1.5 of type float"),
    ({"min_delta": -0.1}, ValueError, "min_delta is a finite number of 0 or more, not -0.1"),
    ({"mode": "less"}, ValueError, 'mode is "min" or "max", not \'less\''),
    ({"cooldown": -1}, ValueError, "cooldown is 0 or more, not -1"),
    ({"min_value": NAN}, ValueError, "min_value is a finite number of 0 or more, not nan"),
    ({"every_n_steps": 0}, ValueError, "every_n_steps is 1 or more, not 0"),
    ({"learning_rate": "0.1"}, TypeError, "learning_rate is a number, not '0.1' of type str"),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG)
def test_what_is_wrong_is_said(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        halve(**options)
    assert message in str(caught.value)


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("reduce-on-plateau", learning_rate=0.1), ReduceOnPlateauHook)


def of_pytorch(
    losses: Sequence[float],
    *,
    factor: float,
    patience: int,
    min_delta: float,
    cooldown: int,
    mode: str,
    min_value: float,
) -> list[float]:
    """The rules of PyTorch's class, in its order: better or not, cooldown, too many."""
    rate, best, bad, cooling, found = 8.0, math.inf, 0, 0, []
    for loss in losses:
        found.append(rate)
        value = loss if mode == "min" else -loss
        best, bad = (value, 0) if value < best - min_delta else (best, bad + 1)
        if cooling > 0:
            cooling, bad = cooling - 1, 0
        if bad > patience:
            rate, cooling, bad = max(rate * factor, min_value), cooldown, 0
    return found


def test_random_losses_are_judged_as_by_its_rules() -> None:
    rng = random.Random(0)
    pick: Callable[..., Any] = rng.choice
    for _ in range(200):
        losses = [pick([NAN, 0.0, 1.0, 1.5, 2.0, 3.0, -1.0, math.inf]) for _ in range(rng.randrange(30))]
        options = {
            "factor": 0.5,
            "patience": rng.randrange(3),
            "min_delta": pick([0.0, 0.5]),
            "cooldown": rng.randrange(3),
            "mode": pick(["min", "max"]),
            "min_value": pick([0.0, 0.7]),
        }
        assert rates(halve(**options), losses) == of_pytorch(losses, **options), (losses, options)
