"""LearningRateHook in real sessions: which run gets which value, that others see it, and what is wrong."""

import logging
import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks.errors import ConfigurationError
from tenterhooks.open_graph import OpenGraph
from tenterhooks.options import option_named, options_of, parsed
from tenterhooks.testing.savers import KeepEachStep, MemorySaver
from tenterhooks_learning_rate import CosineDecay, LearningRateHook, PiecewiseConstantDecay

STEPS = 6


def by_ten(step: int) -> float:
    """Tells which step was asked about."""
    return 10.0 * (step + 1)


class Counts:
    """A schedule that knows how often it was asked, and by which steps."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.calls = 0

    def __call__(self, step: int) -> float:
        self.asked.append(step)
        self.calls += 1
        return float(self.calls)

    def state_dict(self) -> dict[str, int]:
        return {"calls": self.calls}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.calls = state["calls"]


def graph_session(hooks: list[object], saver: MemorySaver, got: list[tuple[int, float]], until: int | None) -> None:
    graph = th.Graph()
    graph.placeholder("learning_rate", default=-1.0)

    @graph.train_op
    def train(learning_rate: float, global_step: int) -> None:
        got.append((global_step, learning_rate))

    with th.MonitoredSession(th.ChiefSessionCreator(graph, saver=saver), hooks) as session:
        while session.global_step < STEPS:
            if session.global_step == until:
                raise InterruptedError
            session.run("train")


def own_session(hooks: list[object], saver: MemorySaver, got: list[tuple[int, float]], until: int | None) -> None:
    creator = th.ChiefSessionCreator(OpenGraph({}), saver=saver)
    with th.MonitoredSession(creator, hooks) as session:
        for step in session.steps(range(STEPS)):
            if step == until:
                raise InterruptedError
            got.append((session.global_step, session.feeds["learning_rate"]))


SESSIONS: dict[str, Callable[..., None]] = {"graph": graph_session, "own": own_session}


@pytest.fixture(params=SESSIONS)
def train(request: pytest.FixtureRequest) -> Callable[..., None]:
    return SESSIONS[request.param]


def unbroken(train: Callable[..., None], schedule: Any) -> list[tuple[int, float]]:
    got: list[tuple[int, float]] = []
    train([LearningRateHook(schedule)], MemorySaver(), got, None)
    return got


def test_the_run_from_a_step_gets_the_value_of_that_step(train: Callable[..., None]) -> None:
    assert unbroken(train, by_ten) == [(step, by_ten(step)) for step in range(STEPS)]


@pytest.mark.parametrize("schedule", [by_ten, Counts])
@pytest.mark.parametrize("interrupt", range(1, STEPS))
def test_a_resumed_run_gets_the_values_of_an_unbroken_one(
    interrupt: int, schedule: Any, train: Callable[..., None]
) -> None:
    make = schedule if schedule is Counts else lambda: schedule
    saver, got = MemorySaver(), []  # type: tuple[MemorySaver, list[tuple[int, float]]]
    with pytest.raises(InterruptedError):
        train([LearningRateHook(make()), KeepEachStep(saver)], saver, got, interrupt)
    assert len(got) == interrupt
    train([LearningRateHook(make())], saver, got, None)
    assert got == unbroken(train, make())


def test_a_schedule_with_a_state_is_asked_once_for_a_step() -> None:
    graph = th.Graph()
    graph.placeholder("learning_rate")
    graph.tensor(lambda learning_rate: learning_rate, name="look")
    graph.train_op(lambda learning_rate: None, name="train")
    counts = Counts()
    with th.MonitoredSession(graph=graph, hooks=[LearningRateHook(counts)]) as session:
        for fetch in ("train", "look", "look", "train"):
            session.run(fetch)
    assert counts.asked == [0, 1]


def test_what_was_asked_for_a_pass_that_did_not_come_is_not_asked_again() -> None:
    saver, got = MemorySaver(), []  # type: tuple[MemorySaver, list[float]]

    class SaveAtEnd(th.SessionRunHook):
        saves_state = True

        def end(self, session: th.Session) -> None:
            saver.save(session.state_dict(), step=session.global_step)

    def some(items: int) -> list[int]:
        counts = Counts()
        creator = th.ChiefSessionCreator(OpenGraph({}), saver=saver)
        with th.MonitoredSession(creator, [LearningRateHook(counts), SaveAtEnd()]) as session:
            for _ in session.steps(range(items)):
                got.append(session.feeds["learning_rate"])
        return counts.asked

    assert some(2) == [0, 1, 2]
    assert some(4) == [3, 4]
    assert got == [1.0, 2.0, 3.0, 4.0]


def test_the_configuration_is_that_of_the_program_and_not_of_the_checkpoint(train: Callable[..., None]) -> None:
    saver, got = MemorySaver(), []  # type: tuple[MemorySaver, list[tuple[int, float]]]
    with pytest.raises(InterruptedError):
        train([LearningRateHook(by_ten), KeepEachStep(saver)], saver, got, 2)
    train([LearningRateHook("constant", learning_rate=0.5)], saver, got, None)
    assert got == [(0, 10.0), (1, 20.0), *((step, 0.5) for step in range(2, STEPS))]


def test_the_value_is_in_the_checkpoint() -> None:
    saver, got = MemorySaver(), []  # type: tuple[MemorySaver, list[tuple[int, float]]]
    own_session([LearningRateHook(by_ten), KeepEachStep(saver)], saver, got, None)
    values = [state["hooks"]["learning-rate"] for _, state in saver.saved]
    assert values == [{"learning_rate": None}, *({"learning_rate": by_ten(step)} for step in range(STEPS))]


class Fetches(th.SessionRunHook):
    """Asks for a value as a logger does."""

    def __init__(self, name: str = "learning_rate") -> None:
        self.seen: list[float] = []
        self._name = name

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(self._name)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.seen.append(run_values.results)


def test_another_hook_can_ask_for_what_is_fed(train: Callable[..., None]) -> None:
    fetches = Fetches()
    train([fetches, LearningRateHook(by_ten)], MemorySaver(), [], None)
    assert fetches.seen == [by_ten(step) for step in range(STEPS)]


def test_it_can_be_logged(caplog: pytest.LogCaptureFixture, train: Callable[..., None]) -> None:
    logging_hook = pytest.importorskip("tenterhooks_logging").LoggingTensorHook("learning_rate", every_n_iter=4)
    with caplog.at_level(logging.INFO, "tenterhooks_logging"):
        train([LearningRateHook(by_ten), logging_hook], MemorySaver(), [], None)
    assert [message.partition(" (")[0] for message in caplog.messages if message.startswith("step")] == [
        "step 1: learning_rate = 10.0",
        "step 5: learning_rate = 50.0",
    ]


def test_another_name_or_a_node_can_be_fed() -> None:
    graph = th.Graph()
    node = graph.placeholder("optimizer/rate")
    graph.tensor(lambda rate: rate, name="look", inputs=["optimizer/rate"])
    for placeholder in (node, "optimizer/rate"):
        with th.MonitoredSession(graph=graph, hooks=[LearningRateHook(by_ten, placeholder=placeholder)]) as session:
            assert session.run("look") == 10.0


def test_a_function_of_whatever_gives_a_number_will_do() -> None:
    schedule: Any = lambda step: np.float32(0.5)  # noqa: E731 - typed as what gives no float.
    hook = LearningRateHook(schedule)
    with th.MonitoredSession(hooks=[hook]) as session, session.step():
        assert type(session.feeds["learning_rate"]) is float
    assert hook.learning_rate == 0.5


# With a setter


def test_a_setter_is_called_where_the_value_changes_and_nothing_is_fed() -> None:
    told: list[tuple[int, float]] = []
    schedule = PiecewiseConstantDecay(boundaries=[2, 3], values=[1.0, 0.5, 0.25])
    fetches = Fetches()
    hook = LearningRateHook(schedule, setter=lambda session, value: told.append((session.global_step, value)))
    with th.MonitoredSession(hooks=[hook, fetches]) as session:
        for _ in session.steps(range(5)):
            assert dict(session.feeds) == {}
    assert told == [(0, 1.0), (2, 0.5), (3, 0.25)]
    assert fetches.seen == [1.0, 1.0, 0.5, 0.25, 0.25]


def test_in_a_graph_the_value_that_is_set_is_published_too() -> None:
    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    fetches = Fetches("rate")
    hook = LearningRateHook(by_ten, placeholder="rate", setter=lambda session, value: None)
    with th.MonitoredSession(graph=graph, hooks=[fetches, hook]) as session:
        for _ in range(3):
            session.run("train")
    assert fetches.seen == [10.0, 20.0, 30.0]


class Optimizer:
    """Has a state as PyTorch's: the learning rate is part of it."""

    def __init__(self, lr: float) -> None:
        self.lr = lr
        self.used: list[float] = []

    def state_dict(self) -> dict[str, float]:
        return {"lr": self.lr}

    def load_state_dict(self, state: dict[str, float]) -> None:
        self.lr = state["lr"]


@pytest.mark.parametrize("interrupt", range(1, 4))
def test_a_restored_optimizer_has_the_value_of_the_schedule_in_its_first_run(interrupt: int) -> None:
    def set_lr(session: th.Session, value: float) -> None:
        session.state["optimizer"].lr = value

    def train(schedule: Callable[[int], float], saver: MemorySaver, items: int) -> list[float]:
        optimizer = Optimizer(-1.0)
        creator = th.ChiefSessionCreator(OpenGraph({"optimizer": optimizer}), saver=saver)
        with th.MonitoredSession(creator, [LearningRateHook(schedule, setter=set_lr), KeepEachStep(saver)]) as session:
            for _ in session.steps(range(items)):
                optimizer.used.append(optimizer.lr)
        return optimizer.used

    saver = MemorySaver()
    # A constant: nothing has changed since, and the optimizer is to be set all the same.
    assert train(lambda step: 7.0, saver, interrupt) == [7.0] * interrupt
    assert train(lambda step: 3.0, saver, 5) == [3.0] * (5 - interrupt)


def test_after_a_recovery_it_is_set_anew() -> None:
    told: list[float] = []
    graph = th.Graph()
    graph.train_op(lambda: None, name="train")
    lost = [th.AbortedError("worker lost")]

    class Abort(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            if lost:
                raise lost.pop()

    hook = LearningRateHook("constant", learning_rate=0.5, setter=lambda session, value: told.append(value))
    with th.MonitoredSession(graph=graph, hooks=[hook, Abort()], sleep=lambda secs: None) as session:
        session.run("train")
        session.run("train")
    assert told == [0.5, 0.5]


# What is wrong


def fails(hook: object, state: Mapping[str, Any] | None = None) -> str:
    with pytest.raises(Exception) as caught, th.MonitoredSession(hooks=[hook], state=state or {}) as session:  # noqa: PT011
        for _ in session.steps(range(1)):
            pass
    return f"{type(caught.value).__name__}: {caught.value}"


def test_a_loop_that_does_not_read_the_feed_is_told() -> None:
    assert "hook 'learning-rate' (tenterhooks-learning-rate 0.1.0) feeds 'learning_rate', and the body" in fails(
        LearningRateHook(by_ten)
    )


def test_two_hooks_for_one_placeholder_are_an_error() -> None:
    hooks = [LearningRateHook(by_ten), LearningRateHook(by_ten)]
    hooks[1].name = "other"  # type: ignore[attr-defined]
    with (
        pytest.raises(RuntimeError, match=r"both feed 'learning_rate' in one run"),
        th.MonitoredSession(hooks=hooks) as session,
        session.step(),
    ):
        pass


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (math.nan, "ValueError: the schedule gave nan at global step 0: a learning rate is a finite number"),
        (math.inf, "ValueError: the schedule gave inf at global step 0"),
        (None, "TypeError: the schedule gave None of type NoneType at global step 0: a learning rate is a number"),
        ("fast", "TypeError: the schedule gave 'fast' of type str at global step 0"),
        ([0.1], "TypeError: the schedule gave [0.1] of type list at global step 0"),
    ],
)
def test_a_schedule_that_gives_no_number_is_told(given: Any, message: str) -> None:
    assert message in fails(LearningRateHook(lambda step: given))


def raises(error: type[Exception]) -> Any:
    def schedule(step: int) -> float:
        raise error("enough")

    return schedule


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        (raises(StopIteration), "RuntimeError: the schedule raised StopIteration at global step 0: give a learning"),
        (raises(th.OutOfRangeError), "RuntimeError: the schedule raised OutOfRangeError at global step 0"),
        (lambda step: math.exp(1e6), "ValueError: the schedule gave no finite number at global step 0: math range"),
    ],
)
def test_a_schedule_that_is_over_is_no_clean_end(schedule: Any, message: str) -> None:
    assert message in fails(LearningRateHook(schedule))


def test_a_setter_that_raises_the_end_of_an_iterator_is_no_clean_end() -> None:
    message = fails(LearningRateHook(by_ten, setter=lambda session, value: next(iter(()))))
    assert "RuntimeError: the setter raised StopIteration for 10" in message


def test_a_graph_without_the_placeholder_is_told_before_any_run() -> None:
    graph = th.Graph()
    graph.placeholder("learn_rate")
    with pytest.raises(th.UnknownNameError, match=r"'learning_rate'.*'learn_rate'"):
        th.MonitoredSession(graph=graph, hooks=[LearningRateHook(by_ten)])


def test_what_is_no_setter_is_told() -> None:
    optimizer: Any = Optimizer(0.1)
    with pytest.raises(TypeError, match=r"setter is a function of the session and the value, or the name of a state"):
        LearningRateHook(by_ten, setter=optimizer)


def test_an_unknown_state_entry_is_told_before_any_run() -> None:
    message = fails(LearningRateHook(by_ten, setter="optimiser"), {"optimizer": Optimizer(0.1), "x": 1})
    assert "the setter 'optimiser' is no entry of the session's state; the nearest: 'optimizer'" in message


def test_a_state_entry_without_a_learning_rate_is_told_before_any_run() -> None:
    message = fails(LearningRateHook(by_ten, setter="x"), {"x": {"a": [1.0]}})
    assert message.startswith("TypeError: dict has no learning rate to set: it is a PyTorch optimizer or")


# Out of code


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("learning-rate", schedule="constant", learning_rate=0.1), LearningRateHook)


@pytest.mark.parametrize("where", ["file", "command line"])
def test_a_schedule_can_be_configured(where: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import tenterhooks as th\n"
        "with th.MonitoredTrainingSession() as session:\n"
        "    for _ in session.steps(range(4)):\n"
        "        print(session.feeds['learning_rate'])\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "tenterhooks", "run", "train.py"]
    if where == "file":
        (tmp_path / "tenterhooks.toml").write_text(
            'hooks = ["learning-rate"]\n[learning-rate]\nschedule = "piecewise_constant"\nboundaries = [2]\n'
            "values = [0.5, 0.25]\nwarmup_steps = 1\n",
            encoding="utf-8",
        )
    else:
        command += ["--hook", "learning-rate:schedule=piecewise_constant,boundaries=2,values=0.5,0.25,warmup_steps=1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split() == ["0.0", "0.5", "0.5", "0.25"], done.stderr


def test_a_wrong_name_of_a_schedule_is_told_with_the_nearest() -> None:
    option = option_named(options_of(LearningRateHook), "schedule", "here", "the hook")
    assert parsed(option, "cosine_restarts", "here") == "cosine_restarts"
    with pytest.raises(ConfigurationError, match=r'"cosine".*not "cosin" \(str\); the nearest: .*\'cosine\''):
        parsed(option, "cosin", "here")


def test_a_hook_of_one_session_begins_anew_in_the_next() -> None:
    hook = LearningRateHook(CosineDecay(1.0, decay_steps=2))
    got: list[tuple[int, float]] = []
    for _ in range(2):
        own_session([hook], MemorySaver(), got, None)
    assert got[:STEPS] == got[STEPS:]
