"""What the hook `checkpoint` promises."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_checkpoint import CheckpointSaverHook, CheckpointSaverListener, Saver


def counting_graph(items: int | None = None) -> th.Graph:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(2))
    if items is not None:
        graph.source("batch", lambda: iter(range(items)))

        @graph.train_op
        def train_on_input(w: Any, batch: int) -> None:
            w += batch

    @graph.train_op
    def train(w: Any) -> None:
        w += 1.0

    graph.tensor(lambda: 7.0, name="seven")
    return graph


def steps(directory: Path) -> list[int]:
    return [checkpoint.step for checkpoint in Saver(directory).list()]


def run(session: Any, times: int, fetches: str = "train") -> None:
    for _ in range(times):
        session.run(fetches)


class Recorder(CheckpointSaverListener):
    def __init__(self, stop_at: int | None = None) -> None:
        self.calls: list[Any] = []
        self.stop_at = stop_at

    def begin(self) -> None:
        self.calls.append("begin")

    def before_save(self, session: th.Session, step: int) -> None:
        self.calls.append(("before_save", step))

    def after_save(self, session: th.Session, step: int) -> bool:
        self.calls.append(("after_save", step))
        return self.stop_at is not None and step >= self.stop_at

    def end(self, session: th.Session, step: int) -> None:
        self.calls.append(("end", step))


def test_without_a_period_it_saves_every_600_seconds(tmp_path: Path) -> None:
    now = [0.0]
    hook = CheckpointSaverHook(tmp_path, asynchronous=False, clock=lambda: now[0])
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        for now[0] in (599.0, 600.0, 1199.0):
            run(session, 1)
        assert steps(tmp_path) == [0, 2]


def test_the_short_name_alone_saves_into_the_sessions_folder(tmp_path: Path) -> None:
    with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path, hooks=["checkpoint"]) as session:
        run(session, 3)
    assert steps(tmp_path) == [0, 3]


def test_what_a_given_saver_keeps_is_its_own(tmp_path: Path) -> None:
    choices: list[dict[str, Any]] = [{"max_to_keep": 2}, {"mode": "max"}, {"keep_best": 3}, {"keep_every_n_steps": 10}]
    for options in choices:
        with pytest.raises(ValueError, match="a saver has its own rules"):
            CheckpointSaverHook(saver=Saver(tmp_path), **options)
    saver = Saver(tmp_path, max_to_keep=1, best="seven")
    with th.MonitoredSession(
        graph=counting_graph(), hooks=[CheckpointSaverHook(saver=saver, save_steps=1, best="seven")]
    ) as session:
        run(session, 3)
    assert steps(tmp_path) == [0, 3]


def test_a_fresh_session_in_a_used_folder_is_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        caplog.clear()
        with th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path)]) as session:
            run(session, 3)
    assert "holds checkpoints up to global step 3, and this session was not restored from them" in caplog.text
    assert "Give the session that checkpoint_dir" in caplog.text


def test_it_needs_a_folder() -> None:
    with pytest.raises(ValueError, match="pass checkpoint_dir to it or to the session"):
        th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(save_steps=1)])


def test_a_folder_that_cannot_be_written_is_an_error_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(th.CheckpointError, match="file"):
        th.MonitoredSession(
            graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path / "file" / "checkpoints", save_steps=1)]
        )


def test_it_saves_at_creation_every_period_and_at_the_end(tmp_path: Path) -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path, save_steps=2)]) as session:
        run(session, 5)
    assert steps(tmp_path) == [0, 2, 4, 5]


def test_the_end_of_the_input_saves_the_last_step(tmp_path: Path) -> None:
    graph = counting_graph(items=3)
    with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=100)]) as session:
        while not session.should_stop():
            session.run("train_on_input")
    assert steps(tmp_path) == [0, 3]


def test_a_last_step_that_is_saved_is_not_written_again(tmp_path: Path) -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path, save_steps=2)]) as session:
        run(session, 4)
    assert steps(tmp_path) == [0, 2, 4]


def test_an_error_saves_nothing(tmp_path: Path) -> None:
    session = th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path, save_steps=2)])
    with pytest.raises(ZeroDivisionError), session:
        run(session, 3)
        raise ZeroDivisionError
    assert steps(tmp_path) == [0, 2]


def test_seconds_and_steps_both_save_and_each_save_restarts_both(tmp_path: Path) -> None:
    now = [0.0]
    hook = CheckpointSaverHook(
        tmp_path, save_steps=3, save_secs=10.0, max_to_keep=None, asynchronous=False, clock=lambda: now[0]
    )
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        run(session, 2)  # Steps 1, 2: nothing is due.
        now[0] = 10.0
        run(session, 1)  # Step 3: both are.
        now[0] = 19.0
        run(session, 1)  # Step 4: nothing, 9 s and one step later.
        now[0] = 20.0
        run(session, 1)  # Step 5: 10 s later.
        run(session, 2)  # Steps 6, 7: two steps after that save, nothing is due.
        assert steps(tmp_path) == [0, 3, 5]
        run(session, 1)
        assert steps(tmp_path) == [0, 3, 5, 8]


def test_request_checkpoint_saves_at_the_end_of_the_run(tmp_path: Path) -> None:
    class Asks(th.SessionRunHook):
        def before_run(self, run_context: th.SessionRunContext) -> None:
            if run_context.session.global_step == 2:
                run_context.session.request_checkpoint()

    hooks = [CheckpointSaverHook(tmp_path, save_steps=100), Asks()]
    with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
        run(session, 5)
    assert steps(tmp_path) == [0, 3, 5]


def test_a_resumed_session_goes_on_from_the_newest(tmp_path: Path) -> None:
    for expected in (0.0, 3.0):
        with th.MonitoredTrainingSession(
            graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_steps=100
        ) as session:
            assert session.state["w"].tolist() == [expected, expected]
            assert session.global_step == expected
            run(session, 3)


def test_a_session_restored_from_the_newest_calls_listeners_and_skips_the_writing(tmp_path: Path) -> None:
    with th.MonitoredTrainingSession(
        graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_steps=2
    ) as session:
        run(session, 2)
    before = Saver(tmp_path).list()
    recorder = Recorder()
    hook = CheckpointSaverHook(tmp_path, save_steps=2, listeners=[recorder])
    with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path, hooks=[hook]) as session:
        assert Saver(tmp_path).list() == before
        assert recorder.calls == ["begin", ("before_save", 2), ("after_save", 2)]
        run(session, 1)
        assert Saver(tmp_path).list() == before, "the timer counts from the creation"


def test_a_fresh_session_in_a_used_folder_writes_its_first_step_anew(tmp_path: Path) -> None:
    for _ in range(2):
        hook = CheckpointSaverHook(tmp_path, save_steps=9)
        with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
            run(session, 1)
            session.state["w"][:] = 5.0
        with th.Session(counting_graph()) as fresh:
            found = Saver(tmp_path).restore()
            assert found is not None
            fresh.load_state_dict(found[1], checkpoint=found[0].path)
            assert fresh.state["w"].tolist() == [5.0, 5.0]


def test_listeners_are_called_around_each_save_and_at_the_end(tmp_path: Path) -> None:
    recorder = Recorder()
    hook = CheckpointSaverHook(tmp_path, save_steps=2, listeners=[recorder])
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        run(session, 3)
    saves = [(name, step) for step in (0, 2, 3) for name in ("before_save", "after_save")]
    assert recorder.calls == ["begin", *saves, ("end", 3)]


def test_a_listener_can_stop_the_session_and_the_others_are_called(tmp_path: Path) -> None:
    first, second = Recorder(stop_at=2), Recorder()
    hook = CheckpointSaverHook(tmp_path, save_steps=2, listeners=[first, second])
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        run(session, 2)
        assert session.should_stop()
        assert ("after_save", 2) in second.calls


def test_a_listener_can_stop_at_the_first_save(tmp_path: Path) -> None:
    hook = CheckpointSaverHook(tmp_path, save_steps=2, listeners=[Recorder(stop_at=0)])
    with th.MonitoredSession(graph=counting_graph(), hooks=[hook]) as session:
        assert session.should_stop()


class Guard(th.SessionRunHook):
    """Objects to saving from a step on, and notes what was saved."""

    def __init__(self, objects_from: int) -> None:
        self.objects_from = objects_from
        self.saved: list[int] = []

    @th.hookimpl(optionalhook=True)
    def before_save(self, session: th.Session, step: int) -> str | None:
        return "condemned" if step >= self.objects_from else None

    @th.hookimpl(optionalhook=True)
    def after_save(self, step: int, checkpoint: th.Checkpoint) -> None:
        assert checkpoint.path.is_dir()
        self.saved.append(step)


def test_a_veto_keeps_the_due_save_and_the_last_one_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard(objects_from=2)
    recorder = Recorder()
    hooks = [CheckpointSaverHook(tmp_path, save_steps=1, listeners=[recorder]), guard]
    with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
        run(session, 3)
    assert steps(tmp_path) == guard.saved == [0, 1]
    assert "global step 3 is not saved: condemned" in caplog.text
    assert ("before_save", 2) not in recorder.calls


def test_a_hook_may_listen_in_a_session_without_a_saver() -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[Guard(objects_from=0)]) as session:
        run(session, 1)


def test_it_acts_after_all_other_hooks(tmp_path: Path) -> None:
    class Changes(th.SessionRunHook):
        def after_run(self, run_context: th.SessionRunContext) -> None:  # type: ignore[override]
            run_context.session.state["w"][:] = 100.0

        def end(self, session: th.Session) -> None:
            session.state["w"][:] = 200.0
            session.state.global_step += 1

    hooks = [CheckpointSaverHook(tmp_path, save_steps=1), Changes()]
    with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
        run(session, 1)
    saver = Saver(tmp_path)
    by_step = {checkpoint.step: saver.restore(checkpoint) for checkpoint in saver.list()}
    assert {step: found[1]["variables"]["w"][0] for step, found in by_step.items() if found} == {
        0: 0.0,
        1: 100.0,
        2: 200.0,
    }


def test_hook_state_is_saved_under_the_unique_name_and_restored(tmp_path: Path) -> None:
    class Counts(th.SessionRunHook):
        def __init__(self, name: str) -> None:
            self.name = name
            self.runs = 0

        def after_run(self) -> None:  # type: ignore[override]
            self.runs += 1

        def state_dict(self) -> dict[str, int]:
            return {"runs": self.runs}

        def load_state_dict(self, state: dict[str, int]) -> None:
            self.runs = state["runs"]

    for expected in (2, 4):
        one, two = Counts("one"), Counts("two")
        two.runs = 100 * (expected == 2)
        with th.MonitoredTrainingSession(
            graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_steps=1, hooks=[one, two]
        ) as session:
            run(session, 2)
        assert (one.runs, two.runs) == (expected, 100 + expected)


def test_two_savers_in_one_session_keep_their_own_folders(tmp_path: Path) -> None:
    hooks = [
        CheckpointSaverHook(tmp_path / "often", save_steps=1),
        CheckpointSaverHook(tmp_path / "rarely", save_steps=2),
    ]
    with th.MonitoredSession(graph=counting_graph(), hooks=hooks) as session:
        run(session, 3)
    assert steps(tmp_path / "often") == [0, 1, 2, 3]
    assert steps(tmp_path / "rarely") == [0, 2, 3]


def test_a_session_that_has_more_than_the_checkpoint_saves_it(tmp_path: Path) -> None:
    def session_of(graph: th.Graph) -> th.MonitoredSession:
        return th.MonitoredTrainingSession(graph=graph, checkpoint_dir=tmp_path, save_checkpoint_steps=100)

    with session_of(counting_graph()) as session:
        run(session, 1)
    for expected in (("variables/more",), ()):
        graph = counting_graph()
        graph.variable("more", 1.0)
        with session_of(graph) as session:
            raw = session.raw_session()
            assert raw is not None
            assert raw.restored is not None
            assert raw.restored.not_restored == expected


def test_a_saver_of_another_folder_leaves_the_sessions_own_on(tmp_path: Path) -> None:
    elsewhere = CheckpointSaverHook(saver=Saver(tmp_path / "elsewhere"), save_steps=1)
    with th.MonitoredTrainingSession(
        graph=counting_graph(), checkpoint_dir=tmp_path / "own", hooks=[elsewhere]
    ) as session:
        run(session, 1)
    assert steps(tmp_path / "own") == steps(tmp_path / "elsewhere") == [0, 1]


def test_a_period_of_0_switches_the_sessions_saver_off(tmp_path: Path) -> None:
    with th.MonitoredTrainingSession(
        graph=counting_graph(), checkpoint_dir=tmp_path, save_checkpoint_steps=0
    ) as session:
        run(session, 1)
    assert steps(tmp_path) == []


def test_what_is_published_after_the_last_save_is_in_the_last_checkpoint(tmp_path: Path) -> None:
    hooks = [CheckpointSaverHook(tmp_path, save_steps=1, best="accuracy", mode="max")]
    with th.MonitoredSession(hooks=hooks) as session:
        for step in session.steps(range(2)):
            session.publish(loss=step)
        session.publish(accuracy=0.5)
    assert [(found.step, found.metrics) for found in Saver(tmp_path).list()][1:] == [(1, {}), (2, {"accuracy": 0.5})]


def test_the_best_by_a_metric_of_the_saved_step_are_kept(tmp_path: Path) -> None:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(1))
    graph.source("batch", lambda: iter([3.0, -4.0, 2.0, 2.5, -1.0, 6.0]))
    graph.tensor(lambda w, batch: abs(float(w[0])) + 0 * batch, name="loss")

    @graph.train_op
    def train(w: Any, batch: float) -> None:
        w += batch

    hook = CheckpointSaverHook(tmp_path, save_steps=1, max_to_keep=1, best=graph["loss"], keep_best=2)
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        while not session.should_stop():
            session.run("train")
    # The sums are 0, 3, -1, 1, 3.5, 2.5, 8.5; the metric is that of the weights that are saved.
    found = {checkpoint.step: checkpoint.metrics["loss"] for checkpoint in Saver(tmp_path).list()}
    assert found == {0: 0.0, 2: 1.0, 6: 8.5}


def test_reading_the_metric_takes_no_item(tmp_path: Path) -> None:
    seen: list[int] = []
    graph = th.Graph()
    graph.source("batch", lambda: iter(range(4)))
    graph.tensor(lambda batch: batch, name="loss")
    graph.train_op(seen.append, name="train", inputs=["batch"])
    with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=1, best="loss")]) as session:
        while not session.should_stop():
            session.run("train")
    assert seen == [0, 1, 2, 3]


def test_without_any_input_there_is_no_metric(tmp_path: Path) -> None:
    graph = th.Graph()
    graph.source("loss", lambda: iter(()))
    graph.train_op(lambda loss: None, name="train")
    with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=1, best="loss")]) as session:
        session.run("train")
    assert [(checkpoint.step, checkpoint.metrics) for checkpoint in Saver(tmp_path).list()] == [(0, {})]


def test_a_metric_has_an_order(tmp_path: Path) -> None:
    graph = counting_graph()
    with pytest.raises(TypeError, match=r"best='w' is array\(.*take a node that gives one number"):
        th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=1, best="w")])


def test_an_unknown_metric_is_an_error_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(th.UnknownNameError, match="sevn"):
        th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path, save_steps=1, best="sevn")])


def test_a_request_at_a_saved_step_saves_what_was_drawn_since(tmp_path: Path) -> None:
    graph = counting_graph(items=5)
    with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=1)]) as session:
        session.run("train_on_input")
        session.run("batch")  # Takes an item, and is no step.
    saver = Saver(tmp_path)
    found = saver.restore()
    assert found is not None
    checkpoint, state = found
    assert (checkpoint.step, state["sources"]["batch"]["drawn"]) == (1, 2)
    assert [other.step for other in saver.list()] == [0, 1]


def noisy_graph() -> th.Graph:
    """A graph whose training draws from the process's generators, as much code that is around does."""
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(2))

    @graph.train_op
    def train(w: Any) -> None:
        w += [random.random(), np.random.random()]

    return graph


def weights(directory: Path) -> list[float]:
    found = Saver(directory).restore()
    assert found is not None
    numbers: list[float] = found[1]["variables"]["w"].tolist()
    return numbers


def train_noisily(directory: Path, steps: int, *, seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    with th.MonitoredTrainingSession(graph=noisy_graph(), checkpoint_dir=directory) as session:
        while session.global_step < steps:
            session.run("train")


def test_the_random_numbers_of_the_process_go_on_where_they_were(tmp_path: Path) -> None:
    train_noisily(tmp_path / "through", 6, seed=1)
    train_noisily(tmp_path / "resumed", 4, seed=1)
    # A new process may seed itself as it likes.
    train_noisily(tmp_path / "resumed", 6, seed=2)
    assert weights(tmp_path / "resumed") == weights(tmp_path / "through")


def test_a_session_that_does_not_save_leaves_the_random_numbers_of_the_process(tmp_path: Path) -> None:
    train_noisily(tmp_path, 3, seed=1)
    random.seed(5)
    np.random.seed(5)
    with th.SingularMonitoredSession(graph=noisy_graph(), checkpoint_dir=tmp_path) as session:
        assert session.global_step == 3
    drawn = [random.random(), np.random.random()]
    random.seed(5)
    np.random.seed(5)
    assert drawn == [random.random(), np.random.random()]


def test_random_numbers_that_nobody_used_are_not_saved(tmp_path: Path) -> None:
    with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir=tmp_path) as session:
        session.run("train")
    found = Saver(tmp_path).restore()
    assert found is not None
    assert found[1]["hooks"] == {"checkpoint": {}}


def test_a_state_of_no_random_generator_is_an_error_that_says_so(tmp_path: Path) -> None:
    hook = CheckpointSaverHook(tmp_path, save_steps=1)
    hook.begin(th.Graph())
    before = random.getstate()
    with pytest.raises(th.CheckpointError, match="for the generator <random>"):
        hook.load_state_dict({"<random>": {"nonsense": 1}})
    assert random.getstate() == before


def test_a_half_updated_state_is_not_saved(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = th.Graph()
    graph.variable("a", lambda: np.zeros(1))
    graph.variable("b", lambda: np.zeros(1))

    @graph.train_op
    def train(a: Any, b: Any, global_step: int) -> None:
        a += 1.0
        if global_step == 2:
            raise KeyboardInterrupt
        b += 1.0

    with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=100)]) as session:
        run(session, 2)
        with pytest.raises(KeyboardInterrupt):
            session.run("train")
    assert steps(tmp_path) == [0]
    assert "global step 2 is not saved: the update by <TrainOp 'train'> was not completed" in caplog.text


def test_a_program_that_trains_on_after_such_an_update_is_saved(tmp_path: Path) -> None:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(1))

    @graph.train_op
    def train(w: Any, global_step: int) -> None:
        if not w:
            w += 1.0
            raise ZeroDivisionError

    with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(tmp_path, save_steps=100)]) as session:
        with pytest.raises(ZeroDivisionError):
            session.run("train")
        session.run("train")
    assert steps(tmp_path) == [0, 1]


def drawing_graph() -> th.Graph:
    """A graph whose loss draws random numbers of all kinds."""
    graph = th.Graph()
    graph.variable("w", 0.0)
    graph.variable("rng", lambda: np.random.default_rng(0))
    graph.source("batch", lambda rng: (rng.random() for _ in range(100)))
    graph.tensor(lambda w, rng, batch: abs(w) + rng.random() + random.random() + np.random.random(), name="loss")
    graph.train_op(lambda w, loss, batch: {"w": w + loss + batch}, name="train")
    return graph


def test_measuring_uses_up_no_random_numbers(tmp_path: Path) -> None:
    ends = []
    choices: list[dict[str, Any]] = [
        {"save_steps": 1},
        {"save_steps": 1, "best": "loss"},
        {"save_steps": 2, "best": "loss"},
    ]
    for number, options in enumerate(choices):
        random.seed(3)
        np.random.seed(3)
        hook = CheckpointSaverHook(tmp_path / str(number), **options)
        with th.MonitoredSession(graph=drawing_graph(), hooks=[hook]) as session:
            run(session, 6)
            ends.append(session.state["w"])
    assert ends[0] == ends[1] == ends[2]


def test_a_metric_that_would_train_is_refused(tmp_path: Path) -> None:
    graph = counting_graph()
    graph.tensor(lambda train: 1.0, name="after")
    for metric in ("train", "after"):
        hook = CheckpointSaverHook(tmp_path, best=metric)
        with pytest.raises(ValueError, match="would train") as caught:
            th.MonitoredSession(graph=graph, hooks=[hook])
        assert any(f"when best='{metric}' was computed" in note for note in caught.value.__notes__)
    assert Saver(tmp_path).list() == []


def test_after_a_veto_it_is_asked_again_when_the_period_is_over(tmp_path: Path) -> None:
    asked = []

    class Objects(th.SessionRunHook):
        @th.hookimpl(optionalhook=True)
        def before_save(self, step: int) -> str:
            asked.append(step)
            return "no"

    with th.MonitoredSession(
        graph=counting_graph(), hooks=[Objects(), CheckpointSaverHook(tmp_path, save_steps=4)]
    ) as session:
        run(session, 10)
    assert asked == [0, 4, 8, 10]


def test_a_run_that_is_no_step_is_saved_at_the_end_and_on_request(tmp_path: Path) -> None:
    graph = th.Graph()
    graph.variable("w", 0)
    graph.train_op(lambda w: {"w": w + 1}, name="warm_up", advance=False)
    for request in (False, True):
        directory = tmp_path / str(request)
        with th.MonitoredSession(graph=graph, hooks=[CheckpointSaverHook(directory, save_steps=1)]) as session:
            run(session, 5, "warm_up")
            if request:
                session.raw_session().request_checkpoint()  # type: ignore[union-attr]
                run(session, 1, "warm_up")
        found = Saver(directory).restore()
        assert found is not None
        assert found[1]["variables"]["w"] == 5 + request


def test_two_savers_of_one_folder_in_a_process_are_refused(tmp_path: Path) -> None:
    with th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path)]) as session:
        with pytest.raises(th.CheckpointError, match="another saver of this process saves into"):
            th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path)])
        run(session, 1)
    with th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path)]):
        pass


def test_a_session_that_was_dropped_unclosed_does_not_block_the_folder(tmp_path: Path) -> None:
    session = th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path)])
    run(session, 1)
    del session
    with th.MonitoredSession(graph=counting_graph(), hooks=[CheckpointSaverHook(tmp_path)]) as again:
        run(again, 1)


def test_a_relative_folder_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir="run", save_checkpoint_steps=1) as session:
        run(session, 1)
        monkeypatch.chdir(tmp_path / "elsewhere")
        run(session, 1)
    assert steps(tmp_path / "run") == [0, 1, 2]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_best_is_measured_on_what_the_last_run_was_fed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = th.Graph()
    graph.placeholder("batch")
    graph.tensor(lambda batch: float(sum(batch)), name="loss")
    graph.train_op(lambda batch: None, name="train")
    graph.train_op(lambda: None, name="rest")
    hook = CheckpointSaverHook(tmp_path, save_steps=1, best="loss", max_to_keep=None)
    with th.MonitoredSession(graph=graph, hooks=[hook]) as session:
        for batch in ([3, 4], [1, 2], [5, 6]):
            session.run("train", feed_dict={"batch": batch})
        assert not caplog.records
        session.run("rest")
        session.run("rest")
    metrics = {checkpoint.step: checkpoint.metrics for checkpoint in Saver(tmp_path).list()}
    assert metrics == {0: {}, 1: {"loss": 7.0}, 2: {"loss": 3.0}, 3: {"loss": 11.0}, 4: {}, 5: {}}
    (warning,) = [record.message for record in caplog.records]
    assert warning.startswith("best='loss' has no value at global step 4, since what it needs was not published or fed")
