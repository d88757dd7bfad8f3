"""What a run makes of the variables: an update that no checkpoint could hold is refused, a half one is known."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenterhooks as th

from .recorders import MemorySaver, SaveEveryStep

Array = np.ndarray[Any, Any]


def graph_of(*train: Callable[..., Any], **variables: Any) -> th.Graph:
    graph = th.Graph()
    graph.placeholder("fail", default=False)
    for name, initial in variables.items():
        graph.variable(name, initial)
    for function in train:
        graph.train_op(function)
    return graph


# Updates that a dict gives


def returning(value: Any) -> Callable[..., Any]:
    def train() -> Any:
        return value

    return train


def test_an_update_of_another_shape_or_type_is_an_error_that_names_all_of_them() -> None:
    graph = graph_of(
        returning({"w": np.zeros(3), "b": np.zeros(2, "f4"), "n": 5, "s": "x"}),
        w=lambda: np.zeros(2),
        b=lambda: np.zeros(2),
        n=1,
        s=2.0,
    )
    session = th.Session(graph)
    with pytest.raises(ValueError, match="could be restored with") as caught:
        session.run("train")
    assert str(caught.value) == (
        "<TrainOp 'train'> returned new values that no checkpoint could be restored with, nothing was updated:\n"
        "  w: float64 of shape (2,) here, float64 of shape (3,) from <TrainOp 'train'>\n"
        "  b: float64 of shape (2,) here, float32 of shape (2,) from <TrainOp 'train'>\n"
        "  s: a float here, a str from <TrainOp 'train'>\n"
        "begin the variable with a value of the type and shape that it will have, or with None if these change; "
        "a list may grow"
    )
    assert session.state["n"] == 1
    assert session.global_step == 0


def test_an_array_may_be_replaced_each_step_by_one_of_its_shape_and_type() -> None:
    def train(w: Array, params: dict[str, Array]) -> dict[str, Any]:
        return {"w": w + 1, "params": {name: part * 2 for name, part in params.items()}}

    session = th.Session(
        graph_of(train, w=lambda: np.zeros(2), params=lambda: {"a": np.ones((2, 2)), "b": np.ones(())})
    )
    # The second one is a scalar from its first update on.
    for _ in range(3):
        session.run("train")
    assert session.state["w"].tolist() == [3, 3]
    assert session.state["params"]["b"] == 8


def test_a_variable_that_began_as_none_may_become_anything_each_time() -> None:
    values = iter([np.zeros(2), np.zeros(3), "x", {"a": 1}, None])

    def train() -> dict[str, Any]:
        return {"v": next(values)}

    session = th.Session(graph_of(train, v=None))
    for _ in range(5):
        session.run("train")
    assert session.state["v"] is None


def test_after_a_restore_an_update_is_measured_by_the_fresh_value_too() -> None:
    first = th.Session(graph_of(returning({"v": np.zeros(3)}), v=None))
    first.run("train")
    second = th.Session(graph_of(returning({"v": np.zeros(9)}), v=None))
    second.load_state_dict(first.state_dict(), checkpoint="runs/a")
    second.run("train")
    assert second.state["v"].shape == (9,)


def test_what_a_variable_was_set_to_through_the_state_does_not_count() -> None:
    session = th.Session(graph_of(returning({"w": np.zeros(3)}), w=lambda: np.zeros(2)))
    session.state["w"] = np.zeros(3)
    with pytest.raises(ValueError, match=r"w: float64 of shape \(2,\) here"):
        session.run("train")


def test_a_variable_that_was_added_later_is_measured_too() -> None:
    graph = graph_of()
    session = th.Session(graph)
    graph.variable("w", lambda: np.zeros(2))
    graph.train_op(returning({"w": np.zeros(3)}))
    with pytest.raises(ValueError, match="float64 of shape"):
        session.run("train")


def test_the_object_that_a_variable_is_may_be_returned_whatever_it_is() -> None:
    def train(params: dict[str, Array]) -> dict[str, Any]:
        params["w"] = np.zeros(3)
        return {"params": params}

    session = th.Session(graph_of(train, params=lambda: {"w": np.zeros(2)}))
    session.run("train")
    assert session.state["params"]["w"].shape == (3,)


def test_what_no_checkpoint_can_hold_is_accepted() -> None:
    thing = object()
    session = th.Session(graph_of(returning({"w": thing}), w=lambda: np.zeros(2)))
    session.run("train")
    assert session.state["w"] is thing


# Half an update


def halving(w: Array, v: Array, fail: Any) -> None:
    w += 1
    if fail:
        raise fail
    v += 1


def torn_by(error: BaseException) -> th.Session:
    session = th.Session(graph_of(halving, w=lambda: np.zeros(1), v=lambda: np.zeros(1)))
    session.run("halving")
    with pytest.raises(type(error)):
        session.run("halving", {"fail": error})
    return session


def test_a_fresh_session_is_whole() -> None:
    assert th.Session(graph_of(halving, w=0, v=0)).torn is None


@pytest.mark.parametrize("error", [OSError(), KeyboardInterrupt(), SystemExit(), th.AbortedError()])
def test_an_error_between_two_updates_in_place_leaves_a_state_that_is_torn(error: BaseException) -> None:
    assert torn_by(error).torn == "the update by <TrainOp 'halving'> was not completed, at global step 1"


def test_that_cannot_be_set() -> None:
    session: Any = torn_by(OSError())
    with pytest.raises(AttributeError):
        session.torn = None


def test_the_training_op_that_failed_is_named() -> None:
    def second(fail: Any) -> None:
        if fail:
            raise fail

    graph = graph_of(returning(None), second)
    session = th.Session(graph)
    with pytest.raises(OSError, match="no"):
        session.run(["train", "second"], {"fail": OSError("no")})
    assert session.torn == "the update by <TrainOp 'second'> was not completed, at global step 0"


def test_while_training_ops_run_the_state_is_torn_by_all_of_them() -> None:
    seen: list[str | None] = []

    def look() -> None:
        seen.append(session.torn)

    def after(second: None) -> None:
        look()

    graph = graph_of()
    graph.train_op(look, name="first")
    graph.train_op(look, name="second")
    graph.tensor(after)
    session: th.Session = th.Session(graph)
    session.run(["after", "first"])
    by_both = "the update by <TrainOp 'first'> and <TrainOp 'second'> was not completed, at global step 0"
    assert seen == [by_both, by_both, None]


def test_what_stands_between_training_ops_is_not_named_as_one() -> None:
    def between(train: None) -> None:
        seen.append(session.torn)

    def second(between: None) -> None:
        raise KeyboardInterrupt

    seen: list[str | None] = []
    graph = graph_of(returning(None))
    graph.tensor(between)
    graph.train_op(second)
    session: th.Session = th.Session(graph)
    with pytest.raises(KeyboardInterrupt):
        session.run("second")
    assert seen == [
        "the update by <TrainOp 'train'> and <TrainOp 'second'> was not completed, at global step 0",
    ]


def test_an_update_that_is_refused_after_another_leaves_a_state_that_is_torn() -> None:
    session = th.Session(graph_of(returning({"w": "x"}), w=1))
    with pytest.raises(ValueError, match="could be restored with"):
        session.run("train")
    assert session.torn == "the update by <TrainOp 'train'> was not completed, at global step 0"


@pytest.mark.parametrize("end", [th.OutOfRangeError("no more"), StopIteration()])
def test_the_end_of_an_input_that_the_first_training_op_takes_itself_leaves_the_state_whole(end: Exception) -> None:
    def second(fail: Any) -> None:
        if fail is not False:
            raise fail

    session = th.Session(graph_of(second))
    with pytest.raises(type(end)):
        session.run("second", {"fail": end})
    assert session.torn is None
    session = th.Session(graph_of(returning(None), second))
    with pytest.raises(type(end)):
        session.run(["train", "second"], {"fail": end})
    assert session.torn == "the update by <TrainOp 'second'> was not completed, at global step 0"


def test_the_end_of_an_input_does_not_make_whole_what_was_torn() -> None:
    session = torn_by(OSError())
    with pytest.raises(th.OutOfRangeError):
        session.run("halving", {"fail": th.OutOfRangeError("no more")})
    assert session.torn is not None


def test_an_error_before_or_after_the_update_leaves_the_state_whole() -> None:
    graph = graph_of(returning(None))
    graph.tensor(lambda fail: 1 / 0, name="before")
    graph.tensor(lambda train: 1 / 0, name="after")
    session = th.Session(graph)
    for name in ("before", "after"):
        with pytest.raises(ZeroDivisionError):
            session.run([name, "train"])
        assert session.torn is None


def test_a_run_that_does_not_train_leaves_a_state_torn() -> None:
    session = torn_by(OSError())
    session.run("w")
    assert session.torn is not None


def test_a_later_run_that_trains_makes_the_state_whole() -> None:
    session = torn_by(OSError())
    session.run("halving")
    assert session.torn is None


def test_a_restore_makes_the_state_whole() -> None:
    session = torn_by(OSError())
    saved = th.Session(session.graph).state_dict()
    session.load_state_dict(saved, checkpoint="runs/a")
    assert session.torn is None


def test_a_session_on_the_same_variables_knows_that_they_are_torn() -> None:
    session = torn_by(OSError())
    assert th.Session(session.graph, state=session.state).torn == session.torn


# The variables after a recovery


def test_who_works_on_the_variables_of_a_session_that_was_lost_goes_on_with_those_of_the_new_one() -> None:
    def train(w: Array, fail: Any) -> None:
        w += 1
        if fail:
            lost.append(1)
            if len(lost) == 1:
                raise th.AbortedError("lost")

    lost: list[int] = []
    graph = graph_of(train, w=lambda: np.zeros(1), rng=lambda: np.random.default_rng(1))
    graph.variable("limit", 3)
    graph.source("limited", lambda limit: [limit])
    graph.source("noise", lambda rng: (rng.random() for _ in range(99)))
    saver = MemorySaver()
    creator = th.ChiefSessionCreator(graph, saver=saver)
    with th.MonitoredSession(creator, [SaveEveryStep(saver)]) as session:
        evaluation = th.Session(graph, state=session.state)
        session.run(["train", "noise"])
        session.run(["train", "noise"], {"fail": True})
        raw = session.raw_session()
        assert raw is not None
        assert raw.state is evaluation.state
        assert evaluation.run(["w", "global_step"]) == [np.array([2.0]), 2]
        assert raw.torn is None
        session.state["limit"] = 7
        assert session.run("limited") == 7
        noise = np.random.default_rng(1).random(4).tolist()
        assert [session.run("noise") for _ in range(2)] == noise[2:]


def test_a_recovery_without_a_checkpoint_begins_the_shared_variables_anew() -> None:
    errors = [th.AbortedError("lost")]

    def train(w: Array) -> None:
        w += 1
        if w[0] == 3 and errors:
            raise errors.pop()

    graph = graph_of(train, w=lambda: np.zeros(1))
    with th.MonitoredSession(graph=graph) as session:
        evaluation = th.Session(graph, state=session.state)
        evaluation.state["gone"] = 1
        for _ in range(3):
            session.run("train")
        assert evaluation.run(["w", "global_step"]) == [np.array([1.0]), 1]
        assert session.state == {"w": np.array([1.0])}
        assert evaluation.torn is None
