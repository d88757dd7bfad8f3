"""Values of other frameworks: who handles them, wherever they lie."""

import copy
import sys
from collections import OrderedDict
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks import adapted, generators
from tenterhooks.adapted import TAG, decoded, fetched, handler_of, in_use, is_tagged, missing
from tenterhooks.loading import Loader
from tenterhooks.state import capture, mismatches
from tenterhooks.testing import FakeDistributions as Install
from tenterhooks.updates import fits, misfits, outline

from .fake_framework import install_adapter, install_framework
from .recorders import MemorySaver


@pytest.fixture
def frame(install: Install) -> Any:
    """The framework, with its adapter."""
    install_framework(install)
    install_adapter(install)
    return import_module("fake_frame")


class Keeper:
    """An object of the program's that gives what it keeps."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def state_dict(self) -> dict[str, Any]:
        return {"kept": self.kept}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.kept = state["kept"]


class Keeping(th.SessionRunHook):
    """A hook that gives what it keeps."""

    def end(self, session: th.Session) -> None:
        self.ended = True

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def state_dict(self) -> dict[str, Any]:
        return {"kept": self.kept}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.kept = state["kept"]


def load(current: Any, saved: Any) -> Any:
    return Loader(None).load(current, decoded(saved), ())


def problems(current: Any, saved: Any) -> list[str]:
    return list(mismatches(current, saved, "v"))


class TestWhoHandles:
    def test_no_adapter_is_in_use_before_a_value_is_met(self, frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(adapted, "_BROUGHT_BY", {})  # Other tests may have imported what it names.
        capture({"w": np.zeros(2), "n": 1, "rng": np.random.default_rng(0), "keeper": Keeper(3)}, "v")
        assert not in_use()
        capture(frame.Tensor([1]), "v")
        assert in_use()

    def test_a_class_of_the_programs_own_is_handled_like_its_base(self, frame: Any) -> None:
        own = type("Own", (frame.Module,), {"__module__": "__main__"})
        assert handler_of(own()) is handler_of(frame.Module()) is not None

    def test_what_the_adapter_does_not_know_is_saved_as_any_other(self, frame: Any) -> None:
        assert handler_of(frame.Saved()) is None
        assert capture(frame.Saved(), "v") == {}

    def test_without_the_adapter_an_object_is_saved_as_any_other(self, install: Install) -> None:
        install_framework(install)
        saved = import_module("fake_frame").Saved()
        assert missing(saved) is None
        assert capture(saved, "v") == {}

    @pytest.mark.parametrize(
        ("module", "distribution"), [("optax", "tenterhooks-jax"), ("torchdata", "tenterhooks-torch")]
    )
    def test_a_value_of_a_known_framework_says_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch, install: Install, module: str, distribution: str
    ) -> None:
        monkeypatch.delitem(sys.modules, module, raising=False)  # The real one that other tests may have imported.
        install("tenterhooks-jax", {})  # In place of the one that may be installed.
        install("tenterhooks-torch", {})
        install_framework(install, module)
        value = import_module(module).Saved()
        assert missing(value) == distribution
        message = rf"variables/model is a {module}\.Saved, and what saves those is not installed: pip install "
        with pytest.raises(th.CheckpointError, match=message + distribution):
            capture(value, "variables/model")

    def test_what_of_scikit_learns_saves_itself_needs_no_adapter(self, install: Install) -> None:
        install("tenterhooks-sklearn", {})  # In place of the one that may be installed.
        there = {"__module__": "sklearn.base"}
        assert missing(type("Estimator", (), there)()) == "tenterhooks-sklearn"
        assert missing(type("Bunch", (dict,), there)()) is None
        assert missing(type("Own", (Keeper,), there)(1)) is None

    def test_a_session_without_a_saver_may_hold_it(self, monkeypatch: pytest.MonkeyPatch, install: Install) -> None:
        monkeypatch.delitem(sys.modules, "optax", raising=False)  # As above.
        install("tenterhooks-jax", {})
        install_framework(install, "optax")
        graph = th.Graph()
        graph.variable("s", import_module("optax").Saved)
        graph.train_op(lambda s: {"s": s}, name="train")
        with th.MonitoredSession(graph=graph) as session:
            session.run("train")

    def test_one_that_is_broken_is_named(self, install: Install) -> None:
        install_framework(install)
        install("tenterhooks-fake", {"fake_frame": "fake_frame_adapter:No"}, group="tenterhooks.state", version="7.1")
        with pytest.raises(th.PluginError, match=r"plugin 'fake_frame' \(tenterhooks-fake 7\.1\) cannot be imported"):
            capture(import_module("fake_frame").Tensor([1]), "v")

    def test_two_for_one_framework_are_an_error(self, frame: Any, install: Install) -> None:
        install("other-adapter", {"fake_frame": "fake_frame_adapter:Adapter"}, group="tenterhooks.state")
        with pytest.raises(th.PluginError, match="'fake_frame' is claimed by other-adapter"):
            capture(frame.Tensor([1]), "v")


class TestValues:
    def test_a_value_in_what_an_object_gives_is_that_value_again(self, frame: Any) -> None:
        saved = copy.deepcopy(capture(Keeper({"a": [frame.Tensor([1, 2])], "b": (3, frame.Tensor([]))}), "v"))
        keeper = Keeper(None)
        load(keeper, saved)
        assert type(keeper.kept["a"][0]) is frame.Tensor
        assert keeper.kept["a"][0].numbers == [1, 2]
        assert keeper.kept["b"][0] == 3
        assert keeper.kept["b"][1].numbers == []

    def test_a_hook_gets_it_as_it_gave_it(self, frame: Any) -> None:
        saver = MemorySaver()
        for number in (3, 4):
            graph = th.Graph()
            hook = Keeping(frame.Tensor([number]))
            creator = th.ChiefSessionCreator(graph, saver=saver)
            with th.MonitoredSession(creator, hooks=[hook]) as session:
                raw = session.raw_session()
                assert raw is not None
                saver.save(raw.state_dict(), step=0)
            assert hook.kept.numbers == [3]

    def test_it_is_loaded_into_the_one_that_exists(self, frame: Any) -> None:
        current = frame.Tensor([0, 0])
        entries = {"w": current, "list": [current]}
        saved = capture({"w": frame.Tensor([1, 2]), "list": [frame.Tensor([1, 2])]}, "v")
        assert problems(entries, saved) == []
        assert load(entries, saved) is entries
        assert entries["w"] is current is entries["list"][0]
        assert current.numbers == [1, 2]

    def test_one_that_cannot_take_it_is_replaced(self, frame: Any) -> None:
        current = frame.Frozen([0])
        loaded = load(current, capture(frame.Tensor([5]), "v"))
        assert loaded is not current
        assert loaded.numbers == [5]

    def test_one_that_is_not_there_yet_is_made(self, frame: Any) -> None:
        saved = capture([frame.Tensor([1]), frame.Tensor([2])], "v")
        assert problems([], saved) == []
        assert [tensor.numbers for tensor in load([], saved)] == [[1], [2]]
        assert problems([frame.Tensor([0])], saved) == []
        assert [tensor.numbers for tensor in load([frame.Tensor([0])], saved)] == [[1], [2]]
        assert load(None, saved[0]).numbers == [1]

    def test_values_that_are_captured_together_can_share(self, frame: Any) -> None:
        tensor = frame.Tensor([1])
        keeper = Keeper(None)
        load(keeper, capture(Keeper({"a": tensor, "b": {"c": tensor}, "d": frame.Tensor([1])}), "v"))
        assert keeper.kept["a"] is keeper.kept["b"]["c"]
        assert keeper.kept["a"] is not keeper.kept["d"]

    @pytest.mark.parametrize(
        ("current", "saved", "message"),
        [
            ("tensor", "longer", "v: a tensor of 1 here, a tensor of 2 in the checkpoint"),
            ("tensor", np.zeros(1), "v: a tensor of 1 here, an array of float64 and shape (1,) in the checkpoint"),
            ("tensor", {TAG: "other"}, "v: a tensor of 1 here, a value of other in the checkpoint"),
            (np.zeros(1), "tensor", "v: an array here, a value of fake_frame in the checkpoint"),
            (1.0, "tensor", "v: a float here, a value of fake_frame in the checkpoint"),
            ({}, "tensor", "v: a dict here, a value of fake_frame in the checkpoint"),
            ([], "tensor", "v: a list here, a value of fake_frame in the checkpoint"),
        ],
    )
    def test_what_does_not_fit_is_named(self, frame: Any, current: Any, saved: Any, message: str) -> None:
        tensors = {"tensor": frame.Tensor([1]), "longer": frame.Tensor([1, 2])}
        current = tensors[current] if isinstance(current, str) else current
        saved = capture(tensors[saved], "v") if isinstance(saved, str) else saved
        assert problems(current, saved) == [message]

    def test_what_cannot_be_saved_is_the_adapters_error(self, frame: Any) -> None:
        with pytest.raises(th.CheckpointError, match="v/a has negative numbers"):
            capture({"a": frame.Tensor([-1])}, "v")

    def test_a_dict_of_the_programs_cannot_pass_for_one(self) -> None:
        with pytest.raises(th.CheckpointError, match="v/a has the key '<adapter>', which is kept"):
            capture({"a": {TAG: "fake_frame"}}, "v")

    def test_an_update_of_another_form_is_refused(self, frame: Any) -> None:
        known = outline(frame.Tensor([1, 2]))
        assert fits(known, frame.Tensor([3, 4]))
        assert fits(known, frame.Frozen([3, 4]))
        assert not fits(known, frame.Tensor([3]))
        assert not fits(known, 3.0)
        graph = th.Graph()
        graph.variable("w", lambda: frame.Tensor([1, 2]))
        graph.train_op(lambda w: {"w": frame.Tensor([1])}, name="train")
        with (
            pytest.raises(ValueError, match="w: a tensor of 2 here, a tensor of 1 from <TrainOp 'train'>"),
            th.MonitoredSession(graph=graph) as session,
        ):
            session.run("train")


class Pair:
    """A class of the program's own, which it registers with the framework."""

    def __init__(self, one: Any, two: Any, static: str = "") -> None:
        self.one, self.two, self.static = one, two, static


@pytest.fixture
def trees(frame: Any) -> Any:
    """The framework in use, and a class registered with it."""
    frame.registered.add(Pair)
    handler_of(frame.Tensor([]))
    return frame


class TestTrees:
    def test_a_class_that_was_met_before_the_adapter_was_in_use_is_looked_up_again(self, frame: Any) -> None:
        frame.registered.add(Pair)
        assert handler_of(Pair(1, 2)) is None
        handler_of(frame.Tensor([]))
        assert handler_of(Pair(1, 2)) is not None

    def test_one_comes_back_as_what_it_is_with_what_is_static_of_the_fresh_one(self, trees: Any) -> None:
        saved = copy.deepcopy(capture([Pair(trees.Tensor([1]), {"n": 2, "a": np.ones(2)}, "old")], "v"))
        tensor, array = trees.Tensor([0]), np.zeros(2)
        current = [Pair(tensor, {"n": 0, "a": array}, "new")]
        assert problems(current, saved) == []
        (loaded,) = load(current, saved)
        assert type(loaded) is Pair
        assert loaded.static == "new"
        assert loaded.one is tensor
        assert tensor.numbers == [1]
        assert loaded.two["n"] == 2
        assert loaded.two["a"] is array
        assert array.tolist() == [1.0, 1.0]

    def test_all_that_does_not_fit_is_named(self, trees: Any) -> None:
        saved = capture(Pair(trees.Tensor([1]), Pair(1, 2)), "v")
        del saved["two"]["one"]
        saved["two"]["three"] = 3
        assert problems(Pair(trees.Tensor([1, 2]), Pair(1, 2)), saved) == [
            "v/one: a tensor of 2 here, a tensor of 1 in the checkpoint",
            "v/two/one: it is here, and not in the checkpoint",
            "v/two/three: it is in the checkpoint, and not here",
        ]
        assert problems(Pair(1, 2), 3) == ["v: a Pair here, a int in the checkpoint"]
        assert problems(Pair(1, 2), saved["one"]) == ["v: a Pair here, a value of fake_frame in the checkpoint"]

    def test_an_outline_is_one_of_outlines(self, trees: Any) -> None:
        known = outline(Pair(trees.Tensor([1, 2]), 3))
        assert type(known) is Pair
        assert known.one.numbers == [0, 0]
        assert (
            list(misfits(known, Pair(trees.Tensor([3, 4]), 5), capture(Pair(trees.Tensor([3, 4]), 5), "v"), "v")) == []
        )

    def test_one_that_would_come_back_as_something_else_is_refused(self, trees: Any) -> None:
        def refused(first: Any, value: Any) -> list[str]:
            return list(misfits(outline(first), value, capture(value, "v"), "v"))

        end = "that was not there at first, and would come back as"
        assert refused(None, Pair(1, 2)) == [f"v: a Pair {end} a dict of its parts"]
        assert refused(Pair(1, None), Pair(1, Pair(1, 2))) == [
            "v/two: None here, a dict now",
            f"v/two: a Pair {end} a dict of its parts",
        ]
        assert refused(Pair(1, 2), {"one": 1, "two": 2}) == [f"v: a dict {end} a Pair"]

    def test_one_that_is_fetched_beside_a_training_op_keeps_what_it_holds(self, trees: Any) -> None:
        graph = th.Graph()
        graph.variable("pair", lambda: Pair(trees.Tensor([1]), np.zeros(1)))
        graph.tensor(lambda pair: Pair(pair.one, pair.two), name="view")

        @graph.train_op
        def train(pair: Any) -> None:
            pair.one.numbers[0] = 2
            pair.two[0] = 2

        with th.MonitoredSession(graph=graph) as session:
            view, _ = session.run(["view", "train"])
            assert (view.one.numbers, view.two.tolist()) == ([1], [0.0])

    def test_where_an_update_has_put_another_array_in_one_the_first_stays(self, trees: Any) -> None:
        saver = MemorySaver()
        for step in (0, 1):
            first = np.zeros(1)
            graph = th.Graph()
            graph.variable("pair", lambda first=first: Pair(first, 1))
            graph.train_op(lambda pair: {"pair": Pair(pair.one + 1, 1)}, name="train")
            with th.MonitoredSession(th.ChiefSessionCreator(graph, saver=saver)) as session:
                raw = session.raw_session()
                assert raw is not None
                assert session.state["pair"].one.tolist() == [step]
                session.run("train")
                saver.save(copy.deepcopy(raw.state_dict()), step=step)
            assert first.tolist() == [0.0]

    def test_an_array_in_one_that_is_updated_in_place_is_filled(self, trees: Any) -> None:
        saver = MemorySaver()
        for step in (0, 1):
            first = np.zeros(1)
            with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state={"pair": Pair(first, 1)}) as session:
                raw = session.raw_session()
                assert raw is not None
                assert session.state["pair"].one is first
                assert first.tolist() == [step]
                for _ in session.steps(range(1)):
                    first += 1
                saver.save(copy.deepcopy(raw.state_dict()), step=step)


class Moments(NamedTuple):
    m: Any
    v: Any


class TestImmutable:
    def test_dicts_and_lists_of_it_have_the_keys_and_lengths_of_the_fresh_ones(self, frame: Any) -> None:
        one = frame.Frozen([1])
        assert problems({"a": one}, capture({"a": frame.Frozen([1, 2]), "b": one}, "v")) == [
            "v: the keys ['a'] here, ['a', 'b'] in the checkpoint",
            "v/a: a tensor of 1 here, a tensor of 2 in the checkpoint",
        ]
        assert problems([one], capture([one, one], "v")) == ["v: 1 entries here, 2 in the checkpoint"]
        assert problems({}, capture({"a": one}, "v")) == []

    def test_an_entry_that_was_never_assigned_is_warned_of(self, trees: Any, caplog: pytest.LogCaptureFixture) -> None:
        frozen = trees.Frozen([1])
        state = {
            "frozen": frozen,
            "tensor": trees.Tensor([1]),
            "pair": Pair(frozen, (1, frozen)),
            "mutable": Pair(frozen, 1, "mutable"),
            "with a list": Pair(frozen, [frozen]),
            "assigned": frozen,
        }
        saver = MemorySaver()
        with th.MonitoredSession(th.ChiefSessionCreator(saver=saver), state=state) as session:
            raw = session.raw_session()
            assert raw is not None
            session.state["assigned"] = trees.Frozen([2])
            for step in range(2):
                saver.save(raw.state_dict(), step=step)
        (warning,) = [record.getMessage() for record in caplog.records if "never assigned" in record.getMessage()]
        assert warning.startswith("state entry 'frozen' and state entry 'pair' cannot change in place")

    def test_named_tuples_fit_by_what_they_hold(self, frame: Any) -> None:
        known = outline(Moments(frame.Frozen([1]), {"w": frame.Frozen([1])}))
        assert fits(known, Moments(frame.Frozen([2]), {"w": frame.Frozen([3])}))
        assert not fits(known, Moments(frame.Frozen([2]), {"w": frame.Frozen([3, 4])}))
        assert not fits(known, (frame.Frozen([2]), {"w": frame.Frozen([3])}))


class TestDecoded:
    def test_what_no_adapter_is_installed_for_says_what_to_install(self) -> None:
        with pytest.raises(
            th.CheckpointError, match=r"holds values of nowhere, and no .*: pip install tenterhooks-nowh"
        ):
            decoded([{TAG: "nowhere"}])

    @pytest.mark.parametrize("name", [None, 3, ["torch"]])
    def test_a_tag_that_names_nothing_is_an_error(self, name: Any) -> None:
        with pytest.raises(th.CheckpointError, match="which nothing restores"):
            decoded({"a": {TAG: name}})

    def test_other_values_are_as_they_were(self) -> None:
        saved = {"a": np.zeros(1), 3: ("x", [b"y", None])}
        assert decoded(saved) == saved
        assert decoded(saved)["a"] is saved["a"]

    def test_an_ordered_dict_stays_one(self) -> None:
        found = decoded({"a": [OrderedDict(b=1, a={"c": 2})]})
        assert type(found["a"][0]) is OrderedDict
        assert list(found["a"][0].items()) == [("b", 1), ("a", {"c": 2})]

    def test_only_a_dict_with_the_key_is_tagged(self) -> None:
        assert is_tagged({TAG: "a"})
        assert not is_tagged({"a": TAG})
        assert not is_tagged(TAG)


class TestObjectsAndGenerators:
    def test_an_object_is_saved_by_its_handler(self, frame: Any) -> None:
        module = frame.Module(w=frame.Tensor([1, 2]))
        saved = capture({"m": module}, "v")
        fresh = frame.Module(w=frame.Tensor([0, 0]))
        assert problems({"m": fresh}, saved) == []
        assert load({"m": fresh}, saved)["m"] is fresh
        assert fresh.tensors["w"].numbers == [1, 2]
        assert problems({"m": frame.Module(v=1)}, saved) == ["v/m: other tensors in the checkpoint"]

    def test_a_generator_is_saved_as_those_of_numpy(self, frame: Any) -> None:
        noise = frame.Noise(7)
        assert generators.is_generator(noise)
        saved = capture(noise, "v")
        assert saved == {"kind": "a Noise", "state": 7}
        assert generators.seeded(noise) == {"kind": "a Noise", "state": 0}
        assert generators.seeded(np.random.default_rng(0)) is None
        fresh = frame.Noise()
        assert problems(fresh, saved) == []
        assert load(fresh, saved).position == 7
        assert problems(fresh, {"kind": "a Noise", "state": "x"})[0].startswith(
            "v: a Noise here, a Noise with a broken "
        )
        assert problems(fresh, {"kind": "another", "state": 7}) == ["v: a Noise here, another in the checkpoint"]

    def test_one_that_is_fetched_beside_a_training_op_is_a_copy(self, frame: Any) -> None:
        graph = th.Graph()
        graph.variable("noise", lambda: frame.Noise(7))
        graph.train_op(lambda noise: setattr(noise, "position", 8), name="train")
        with th.MonitoredSession(graph=graph) as session:
            fetched_noise, _ = session.run(["noise", "train"])
            assert fetched_noise.position == 7
            assert session.state["noise"].position == 8

    def test_the_process_has_those_of_frameworks_that_are_imported(
        self, frame: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(adapted._BROUGHT_BY, "fake_frame", "tenterhooks-fake")
        assert adapted.global_generators()["<fake_frame>"] is frame.noise
        assert generators.all_states({})["<fake_frame>"] == {"kind": "a Noise", "state": 0}
        monkeypatch.delitem(sys.modules, "fake_frame")
        assert "<fake_frame>" not in adapted.global_generators()


class TestWhereAnUpdateHasPutAnother:
    def test_it_takes_that_place_again_and_what_was_there_first_stays(self, frame: Any) -> None:
        saver = MemorySaver()
        for step in (0, 1):
            first = frame.Tensor([1])
            graph = th.Graph()
            graph.variable("w", lambda first=first: first)
            graph.train_op(lambda w: {"w": frame.Tensor([w.numbers[0] + 1])}, name="train")
            with th.MonitoredSession(th.ChiefSessionCreator(graph, saver=saver)) as session:
                raw = session.raw_session()
                assert raw is not None
                assert session.state["w"].numbers == [1 + step]
                session.run("train")
                saver.save(copy.deepcopy(raw.state_dict()), step=step)
            assert first.numbers == [1]

    def test_what_two_variables_share_they_share_again(self, frame: Any) -> None:
        saver = MemorySaver()

        def session() -> th.MonitoredSession:
            graph = th.Graph()
            graph.variable("a", None)
            graph.variable("b", None)

            @graph.train_op
            def train() -> dict[str, Any]:
                both = frame.Tensor([1])
                return {"a": both, "b": both}

            return th.MonitoredSession(th.ChiefSessionCreator(graph, saver=saver))

        with session() as first:
            first.run("train")
            raw = first.raw_session()
            assert raw is not None
            saver.save(raw.state_dict(), step=1)
        with session() as second:
            assert second.state["a"].numbers == [1]
            assert second.state["a"] is second.state["b"]


class TestFetched:
    def test_what_a_hook_gets_of_a_loop_holds_on_to_nothing(self, frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(adapted._BROUGHT_BY, "fake_frame", "tenterhooks-fake")

        class Taking(th.SessionRunHook):
            def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
                return th.SessionRunArgs("loss")

            def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
                self.loss = run_values.results

        hook = Taking()
        with th.MonitoredSession(hooks=[hook]) as session, session.step():
            session.publish(loss=frame.Tensor([2], parent="all that it was computed from"))
        assert hook.loss.numbers == [2]
        assert hook.loss.parent is None

    def test_a_fetched_value_holds_on_to_nothing(self, frame: Any) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: frame.Tensor([1]))
        loss = frame.Tensor([2], parent="all that it was computed from")
        graph.tensor(lambda w: {"loss": (loss, [loss], 3)}, name="losses")
        with th.MonitoredSession(graph=graph) as session:
            one, (other,), three = session.run("losses")["loss"]
        assert one.parent is other.parent is None
        assert one.numbers == other.numbers == [2]
        assert three == 3

    def test_what_it_was_computed_from_is_there_for_other_nodes(self, frame: Any) -> None:
        graph = th.Graph()
        graph.variable("w", lambda: frame.Tensor([1]))
        graph.tensor(lambda w: frame.Tensor([2], parent=w), name="loss")
        graph.train_op(lambda loss: loss.parent.numbers.append(5), name="train")
        with th.MonitoredSession(graph=graph) as session:
            w, loss, _ = session.run(["w", "loss", "train"])
            assert session.state["w"].numbers == [1, 5]
        assert w.numbers == [1]
        assert loss.parent is None

    def test_other_values_are_the_same_objects(self) -> None:
        value = Keeper(1)
        assert fetched(value) is value
