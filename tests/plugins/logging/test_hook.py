"""LoggingTensorHook in real sessions, on a clock of the test's own."""

import logging
import re
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks_logging import LoggingTensorHook


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make_graph() -> th.Graph:
    """`loss` is the step before the update."""
    graph = th.Graph()
    graph.source("batch", lambda: range(100, 1000))
    graph.tensor(lambda global_step: global_step, name="loss")
    graph.tensor(lambda: 0.9, name="accuracy")
    graph.train_op(lambda: None, name="train")
    return graph


def train(hook: th.SessionRunHook, runs: int, graph: th.Graph | None = None) -> None:
    with th.MonitoredSession(graph=graph or make_graph(), hooks=[hook]) as session:
        for _ in range(runs):
            session.run("train")


class Log:
    """A formatter that notes what it gets, and what of it."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []

    def __call__(self, values: dict[str, Any]) -> str:
        self.values.append(values)
        return f"values {len(self.values)}"

    @property
    def losses(self) -> list[Any]:
        return [values["loss"] for values in self.values]


@pytest.fixture
def messages(caplog: pytest.LogCaptureFixture) -> Any:
    """What was logged so far."""
    caplog.set_level(logging.INFO, "tenterhooks_logging")

    def logged() -> list[str]:
        records = [record for record in caplog.records if record.name == "tenterhooks_logging"]
        assert {record.levelno for record in records} <= {logging.INFO}
        return [record.getMessage() for record in records]

    return logged


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"every_n_iter": 1, "every_n_secs": 1.0},
        {"every_n_iter": 1, "every_n_secs": 1.0, "at_end": True},
        {"every_n_iter": 0},
        {"every_n_iter": -1, "at_end": True},
        {"every_n_secs": -1.0},
    ],
)
def test_options_that_are_no_period_are_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"every_n_|period"):
        LoggingTensorHook("loss", **options)


def test_the_first_run_is_logged_and_then_one_each_period() -> None:
    log = Log()
    train(LoggingTensorHook("loss", every_n_iter=3, formatter=log), 7)
    assert log.losses == [0, 3, 6]


def test_runs_count_whether_they_train_or_not() -> None:
    log = Log()
    hook = LoggingTensorHook("loss", every_n_iter=2, formatter=log)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        for _ in range(5):
            session.run([])
    assert log.losses == [0, 0, 0]


def test_a_period_of_seconds() -> None:
    clock, log = Clock(), Log()
    hook = LoggingTensorHook("loss", every_n_secs=1.0, formatter=log, clock=clock)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        for _ in range(6):
            session.run("train")
            clock.now += 0.6
    assert log.losses == [0, 2, 4]


def test_at_end_alone_logs_only_at_the_end() -> None:
    log = Log()
    train(LoggingTensorHook("loss", at_end=True, formatter=log), 5)
    assert log.losses == [5]


def test_the_end_is_logged_even_if_the_last_run_was() -> None:
    log = Log()
    train(LoggingTensorHook("loss", every_n_iter=3, at_end=True, formatter=log), 4)
    assert log.losses == [0, 3, 4]


def test_without_at_end_nothing_is_logged_at_the_end() -> None:
    log = Log()
    train(LoggingTensorHook("loss", every_n_iter=3, formatter=log), 6)
    assert log.losses == [0, 3]


def test_nothing_is_logged_at_the_end_of_a_session_that_failed() -> None:
    log = Log()
    hook = LoggingTensorHook("loss", at_end=True, formatter=log)
    with (
        pytest.raises(ValueError, match="no"),
        th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session,
    ):
        session.run("train")
        raise ValueError("no")
    assert log.values == []


class Feeds(th.SessionRunHook):
    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(feed_dict={"rate": 10.0 + run_context.session.global_step})


@pytest.mark.parametrize(("default", "at_end"), [({}, (11, 211)), ({"default": -1}, (-1, -2))])
def test_what_the_last_run_was_fed_is_logged_at_the_end_unless_it_has_a_default(
    default: dict[str, int], at_end: tuple[int, int]
) -> None:
    graph = make_graph()
    for name in ("rate", "x"):
        graph.placeholder(name, **default)
    graph.tensor(lambda rate, x: rate + x, name="sum")
    log = Log()
    hook = LoggingTensorHook(["rate", "sum"], every_n_iter=1, at_end=True, formatter=log)
    with th.MonitoredSession(graph=graph, hooks=[hook, Feeds()]) as session:
        for x in (100, 200):
            session.run("train", feed_dict={"x": x})
    assert log.values == [{"rate": rate, "sum": total} for rate, total in [(10, 110), (11, 211), at_end]]


def test_what_a_loop_was_fed_is_logged_at_the_end() -> None:
    log = Log()
    hook = LoggingTensorHook("rate", every_n_iter=1, at_end=True, formatter=log)
    with th.MonitoredSession(hooks=[hook, Feeds()], state={}) as session:
        for _ in session.steps(range(2)):
            session.publish(rate_read=session.feeds["rate"])
    assert log.values == [{"rate": 10}, {"rate": 11}, {"rate": 11}]


def test_a_graph_session_that_made_no_step_and_was_fed_nothing_ends_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    graph = make_graph()
    graph.placeholder("rate")
    with th.MonitoredSession(graph=graph, hooks=[LoggingTensorHook("rate", at_end=True), Feeds()]):
        pass
    (record,) = [record for record in caplog.records if record.name == "tenterhooks_logging"]
    assert record.getMessage() == "nothing is logged at the end: no step was made that gives rate"


def test_a_loop_that_made_no_pass_has_nothing_to_log_at_the_end_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with th.MonitoredSession(hooks=[LoggingTensorHook("loss", at_end=True)], state={}):
        pass
    (record,) = [record for record in caplog.records if record.name == "tenterhooks_logging"]
    assert (record.levelno, "no step" in record.getMessage()) == (logging.WARNING, True)


def test_what_a_loop_that_made_passes_did_not_publish_is_an_error_at_the_end() -> None:
    session = th.MonitoredSession(hooks=[LoggingTensorHook("accuracy", at_end=True)], state={})
    with session.step():
        session.publish(loss=1.0)
    with pytest.raises(th.UnknownNameError, match="'accuracy'"):
        session.close()


def test_no_input_is_drawn_at_the_end() -> None:
    log = Log()
    hook = LoggingTensorHook("batch", at_end=True, every_n_iter=1, formatter=log)
    train(hook, 2)
    assert log.values == [{"batch": 100}, {"batch": 101}, {"batch": 101}]


def test_values_are_computed_only_in_runs_that_are_logged() -> None:
    computed: list[int] = []
    graph = make_graph()

    @graph.tensor
    def costly(global_step: int) -> int:
        computed.append(global_step)
        return 0

    train(LoggingTensorHook("costly", every_n_iter=3, formatter=Log()), 7, graph)
    assert computed == [0, 3, 6]


def test_the_message_has_the_step_the_values_and_the_time_since_the_one_before(messages: Any) -> None:
    clock = Clock()
    hook = LoggingTensorHook(["loss", "accuracy"], every_n_iter=2, clock=clock)
    with th.MonitoredSession(graph=make_graph(), hooks=[hook]) as session:
        for _ in range(3):
            session.run("train")
            clock.now += 0.6
    assert messages() == ["step 1: loss = 0, accuracy = 0.9", "step 3: loss = 2, accuracy = 0.9 (1.2 s)"]


def test_a_list_is_logged_in_its_order(messages: Any) -> None:
    train(LoggingTensorHook(["loss", "accuracy"], every_n_iter=1), 1)
    assert messages() == ["step 1: loss = 0, accuracy = 0.9"]


def test_a_dict_is_logged_by_its_sorted_tags(messages: Any) -> None:
    train(LoggingTensorHook({"b": "loss", "a": "accuracy"}, every_n_iter=1), 1)
    assert messages() == ["step 1: a = 0.9, b = 0"]


def test_a_node_can_be_given_for_its_name(messages: Any) -> None:
    graph = make_graph()
    train(LoggingTensorHook(graph["loss"], every_n_iter=1), 1, graph)
    assert messages() == ["step 1: loss = 0"]


def test_a_formatter_makes_the_message(messages: Any) -> None:
    log = Log()
    train(LoggingTensorHook({"l": "loss"}, every_n_iter=1, formatter=log), 2)
    assert (messages(), log.values) == (["values 1", "values 2"], [{"l": 0}, {"l": 1}])


def test_an_empty_message_is_logged_too(messages: Any) -> None:
    train(LoggingTensorHook("loss", every_n_iter=1, formatter=lambda values: ""), 1)
    assert messages() == [""]


def test_an_unknown_name_is_an_error_before_any_run() -> None:
    with pytest.raises(KeyError, match=r"'los'.*nearest.*'loss'"):
        train(LoggingTensorHook(["los"], every_n_iter=1), 0)


def test_what_a_later_hook_adds_can_be_logged() -> None:
    class Adds(th.SessionRunHook):
        def begin(self, graph: th.Graph) -> None:
            graph.tensor(lambda: 2.0, name="added")

    log = Log()
    with th.MonitoredSession(
        graph=make_graph(), hooks=[LoggingTensorHook("added", every_n_iter=1, formatter=log), Adds()]
    ) as session:
        session.run("train")
    assert log.values == [{"added": 2.0}]


def test_a_second_session_counts_anew() -> None:
    log = Log()
    hook = LoggingTensorHook("loss", every_n_iter=3, formatter=log)
    train(hook, 2)
    train(hook, 4)
    assert log.losses == [0, 0, 3]


def test_a_second_session_has_no_time_since_the_message_before(messages: Any) -> None:
    hook = LoggingTensorHook("loss", every_n_iter=3)
    train(hook, 1)
    train(hook, 1)
    assert messages() == ["step 1: loss = 0"] * 2


class Abort(th.SessionRunHook):
    """Loses the worker in the given calls of a stage."""

    def __init__(self, stage: str, *calls: int) -> None:
        self._stage = stage
        self._calls = calls
        self._count = 0

    def before_run(self, run_context: th.SessionRunContext) -> None:
        self._abort("before_run")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self._abort("after_run")

    def _abort(self, stage: str) -> None:
        if stage != self._stage:
            return
        self._count += 1
        if self._count in self._calls:
            raise th.AbortedError("worker lost")


@pytest.mark.parametrize("stage", ["before_run", "after_run"])
def test_a_run_that_a_recovery_repeats_counts_once(stage: str) -> None:
    log = Log()
    hooks = [LoggingTensorHook("accuracy", every_n_iter=2, formatter=log), Abort(stage, 2, 4)]
    logged_in = []
    with th.MonitoredSession(graph=make_graph(), hooks=hooks, sleep=lambda secs: None) as session:
        for run in range(7):
            before = len(log.values)
            session.run("train")
            if len(log.values) > before:
                logged_in.append(run)
    assert logged_in == [0, 2, 4, 6]


def test_the_short_name_makes_the_hook() -> None:
    assert isinstance(th.make_hook("logging", tensors="loss", every_n_iter=1), LoggingTensorHook)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tensors": []}, ValueError, "nothing would be logged: tensors=[] names no value"),
        (
            {"tensors": None},
            TypeError,
            "expected a node or its name, several of them, or a dict of them by tag, not None",
        ),
        ({"tensors": {1: "loss"}}, TypeError, "a tag is a text, not 1 of type int"),
        ({"every_n_iter": "10"}, TypeError, "every_n_iter is a whole number, not '10' of type str"),
        ({"formatter": "{loss}"}, TypeError, "formatter is a function that makes a message of the values by tag"),
    ],
)
def test_options_of_another_type_are_an_error_that_says_what_is_right(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        LoggingTensorHook(**{"tensors": "loss", "every_n_iter": 1, **options})


def test_names_from_a_generator_last_for_a_second_session() -> None:
    log = Log()
    hook = LoggingTensorHook((name for name in ["loss"]), every_n_iter=1, formatter=log)
    train(hook, 1)
    train(hook, 1)
    assert log.losses == [0, 0]
