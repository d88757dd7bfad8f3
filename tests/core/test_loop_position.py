"""Where a loop of the program's own goes on after a restore: the epoch, the loop in it, the item."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tenterhooks as th

from .own_loops import raw_of
from .recorders import MemorySaver, SaveEveryStep

Program = Callable[[th.MonitoredSession, dict[str, Any], list[Any]], None]


class Killed(BaseException):
    """Stands for the end of the process."""


class Kill(th.SessionRunHook):
    """Ends the process in the run that leads to a step, before it is saved."""

    def __init__(self, step: int | None) -> None:
        self._step = step

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if run_context.session.global_step == self._step:
            raise Killed


def fresh() -> dict[str, Any]:
    return {"order": np.random.default_rng(1), "noise": np.random.default_rng(2), "sum": np.zeros(1), "seen": []}


def life(program: Program, saver: MemorySaver, kill_at: int | None, seen: list[Any]) -> dict[str, Any] | None:
    """One life of a program: all state at its end, None where it was killed."""
    state = fresh()
    hooks = [Kill(kill_at), SaveEveryStep(saver)]
    creator = th.ChiefSessionCreator(saver=saver)
    with contextlib.suppress(Killed), th.MonitoredSession(creator, hooks, state=state) as session:
        program(session, state, seen)
        return raw_of(session).state_dict()
    return None


def take(state: dict[str, Any], item: Any) -> None:
    state["sum"] *= 1.5
    state["sum"] += np.sum(item) + state["noise"].normal()
    state["seen"].append(float(np.sum(item)))


def shuffled(order: np.random.Generator) -> Iterator[Any]:
    yield from order.permutation(5)


class Exact:
    """Shuffles each time that it is gone through, and says where it stands."""

    def __init__(self, order: np.random.Generator) -> None:
        self._order = order
        self._items: list[int] = []
        self._next = 0

    def __iter__(self) -> Iterator[int]:
        if not self._items:
            self._items, self._next = self._order.permutation(4).tolist(), 0
        while self._next < len(self._items):
            self._next += 1
            yield self._items[self._next - 1]
        self._items = []

    def state_dict(self) -> dict[str, Any]:
        return {"items": self._items, "next": self._next}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._items, self._next = list(state["items"]), state["next"]


def in_epochs(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    for epoch in session.epochs(3):
        for item in session.steps(shuffled(state["order"])):
            seen.append((epoch, int(item)))
            take(state, item)


def exact(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    items = Exact(state["order"])
    for epoch in session.epochs(3):
        for item in session.steps(items):
            seen.append((epoch, int(item)))
            take(state, item)


def in_groups(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    for epoch in session.epochs(2):
        for items in session.steps(shuffled(state["order"]), group=2):
            seen.append((epoch, [int(item) for item in items]))
            take(state, items)


def shuffled_by_the_program(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    for epoch in session.epochs(3):
        order = state["order"].permutation(4)
        for item in session.steps(order):
            seen.append((epoch, int(item)))
            take(state, item)


def several_loops(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    for epoch in session.epochs(2):
        for item in session.steps(shuffled(state["order"])):
            seen.append((epoch, "a", int(item)))
            take(state, item)
        for item in session.steps([7, 8]):
            seen.append((epoch, "b", item))
            take(state, item)


def without_epochs(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    for round_ in range(3):
        for item in session.steps(shuffled(state["order"])):
            seen.append((round_, int(item)))
            take(state, item)


def with_breaks(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    for epoch in session.epochs(3):
        for item in session.steps(shuffled(state["order"])):
            seen.append((epoch, int(item)))
            take(state, item)
            session.publish(item=item)
            if len(seen) and seen[-1][1] == 3:
                break


def single_steps(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    while session.global_step < 6:
        with session.step():
            seen.append(session.global_step)
            take(state, 1)


def around_epochs(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
    def go_through(what: Any) -> None:
        for item in session.steps(shuffled(state["order"])):
            seen.append((what, int(item)))
            take(state, item)

    go_through("before")
    for n in (2, 3):
        for epoch in session.epochs(n):
            go_through(epoch)
        go_through(f"after {n}")


PROGRAMS = [
    in_epochs,
    around_epochs,
    exact,
    in_groups,
    shuffled_by_the_program,
    several_loops,
    without_epochs,
    with_breaks,
    single_steps,
]


def comparable(state: dict[str, Any]) -> dict[str, Any]:
    """What shall be equal: all but how the loop was begun."""
    variables = state["variables"]
    return {
        "step": state["global_step"],
        "epoch": state["loop"]["epoch"],
        "generators": [variables["order"], variables["noise"]],
        "sum": variables["sum"].tolist(),
        "seen": variables["seen"],
    }


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_killed_at_any_step_and_resumed_it_ends_as_one_that_ran_through(program: Program) -> None:
    seen: list[Any] = []
    through = life(program, MemorySaver(), None, seen)
    assert through is not None
    steps = through["global_step"]
    assert steps >= 6
    for kill_at in range(1, steps + 1):
        saver = MemorySaver()
        before: list[Any] = []
        after: list[Any] = []
        assert life(program, saver, kill_at, before) is None
        resumed = life(program, saver, None, after)
        assert resumed is not None
        # What the run that was killed had done is done again.
        assert before[:-1] + after == seen, kill_at
        assert comparable(resumed) == comparable(through), kill_at


def test_killed_twice_it_ends_so_too() -> None:
    seen: list[Any] = []
    through = life(several_loops, MemorySaver(), None, seen)
    saver = MemorySaver()
    for kill_at in (4, 5, 9, 12):
        assert life(several_loops, saver, kill_at, []) is None
    after: list[Any] = []
    resumed = life(several_loops, saver, None, after)
    assert through is not None
    assert resumed is not None
    assert comparable(resumed) == comparable(through)
    assert after == seen[11:]


def test_an_epoch_that_a_stop_cuts_short_goes_on() -> None:
    saver = MemorySaver()
    for stop_at, wanted in ((3, [(0, 0), (0, 1), (1, 0)]), (9, [(1, 1), (2, 0), (2, 1)])):
        seen: list[tuple[int, int]] = []
        with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), [SaveEveryStep(saver)], state={}) as session:
            for epoch in session.epochs(3):
                for item in session.steps(range(2)):
                    seen.append((epoch, item))
                    if session.global_step == stop_at - 1:
                        session.request_stop("enough")
        assert seen == wanted


def test_a_restored_session_that_makes_no_pass_is_where_it_was() -> None:
    saver = MemorySaver()
    life(in_epochs, saver, 4, [])
    with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=fresh()) as session:
        raw = raw_of(session)
        loop = saver.saved[-1][1]["loop"]
        assert raw.state_dict()["loop"] == loop
        for _ in session.epochs(3):
            session.state["order"].permutation(4)
            assert raw.state_dict()["loop"] == loop
            break
        session.close()
        assert raw.state["order"].bit_generator.state == saver.saved[-1][1]["variables"]["order"]


def test_an_item_that_was_not_counted_is_given_again() -> None:
    for items in (lambda order: [5, 6, 7, 8], Exact):
        saver = MemorySaver()
        seen: list[list[Any]] = []
        for limit in (2, 99):
            state = fresh()
            seen.append([])
            with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), [SaveAtEnd(saver)], state=state) as session:
                for item in session.steps(items(state["order"])):
                    if session.global_step == limit:
                        break
                    seen[-1].append(item)
                    session.publish(item=item)
        assert len(set(seen[0] + seen[1])) == len(seen[0] + seen[1]) == 4


class SaveAtEnd(th.SessionRunHook):
    saves_state = True

    def __init__(self, saver: MemorySaver) -> None:
        self._saver = saver

    def end(self, session: th.Session) -> None:
        self._saver.save(session.state_dict(), step=session.global_step)


def test_a_loop_that_was_left_goes_on_where_the_program_ended() -> None:
    saver = MemorySaver()
    seen: list[int] = []
    for _ in range(3):
        with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), [SaveEveryStep(saver)], state={}) as session:
            for item in session.steps(range(6)):
                seen.append(item)
                session.publish(item=item)
                if item % 2:
                    break
    assert seen == list(range(6))


class TestWhatIsSaid:
    def resumed(self, program: Program, caplog: pytest.LogCaptureFixture) -> tuple[th.Restored, str]:
        saver = MemorySaver()
        life(program, saver, 3, [])
        caplog.set_level(logging.INFO)
        caplog.clear()
        state = fresh()
        with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=state) as session:
            program(session, state, [])
            restored = raw_of(session).restored
        assert restored is not None
        return restored, caplog.text

    def test_that_items_were_wound_forward(self, caplog: pytest.LogCaptureFixture) -> None:
        restored, log = self.resumed(in_epochs, caplog)
        assert restored.wound_forward == {"steps": 2}
        assert restored.not_exact == ()
        assert "INFO" in log
        assert "the items of steps have no state_dict and were wound forward by 2\n" in log

    def test_nothing_where_the_position_is_exact(self, caplog: pytest.LogCaptureFixture) -> None:
        restored, log = self.resumed(exact, caplog)
        assert restored.wound_forward == {}
        assert "wound forward" not in log

    def test_that_others_draw_from_their_generator_too(self, caplog: pytest.LogCaptureFixture) -> None:
        def program(session: Any, state: dict[str, Any], seen: list[Any]) -> None:
            for _ in session.steps(state["order"].random() for _ in range(5)):
                state["order"].random()

        restored, log = self.resumed(program, caplog)
        assert restored.not_exact == ("steps",)
        assert "WARNING" in log
        assert "they may be others than they would have been" in log


class TestWhatDoesNotFit:
    def test_an_input_that_is_shorter_is_an_error(self) -> None:
        saver = MemorySaver()
        life(in_epochs, saver, 4, [])
        with (
            pytest.raises(th.CheckpointError, match="source 'steps' has 1 items, but the checkpoint was saved after 3"),
            th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=fresh()) as session,
        ):
            list(session.steps([1]))

    def test_a_checkpoint_with_other_generators_is_an_error(self) -> None:
        saver = MemorySaver()
        life(in_epochs, saver, 4, [])
        saver.saved[-1][1]["loop"]["items"]["begun_with"]["order"] = {"bit_generator": "MT19937"}
        with (
            pytest.raises(th.CheckpointError, match="does not fit the items of these steps"),
            th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=fresh()) as session,
        ):
            list(session.steps([1]))

    @pytest.mark.parametrize("loop", [None, {}, {"epoch": -1, "loop": 0}, {"epoch": 0, "loop": 0}])
    def test_what_is_no_position_is_an_error(self, loop: Any) -> None:
        saver = MemorySaver()
        life(in_epochs, saver, 4, [])
        saver.saved[-1][1]["loop"] = loop
        with pytest.raises(th.CheckpointError, match="holds no position of a loop"):
            th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=fresh())

    def test_a_checkpoint_without_one_begins_at_the_first_epoch(self) -> None:
        saver = MemorySaver()
        life(in_epochs, saver, 4, [])
        del saver.saved[-1][1]["loop"]
        with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=fresh()) as session:
            assert list(session.epochs(2)) == [0, 1]


def test_a_session_with_a_graph_saves_no_position() -> None:
    with th.MonitoredSession(graph=th.Graph()) as session:
        session.run([])
        assert "loop" not in raw_of(session).state_dict()
