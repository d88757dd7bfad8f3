"""In which order hooks are called at each stage, and what may stand beside their stages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenterhooks as th
from tenterhooks.hookspecs import STAGES
from tenterhooks.registry import HookRegistry
from tenterhooks.stop import StopRequests

from .marks import everywhere, marked, orders, play
from .recorders import Calls, Recorder, Transparent, counting_graph, training

# No database: a test that runs from an installed wheel leaves nothing behind.
properties = settings(database=None, deadline=None, max_examples=60)


class TestOrder:
    def test_it_is_that_of_the_list_at_every_stage(self) -> None:
        calls: Calls = []
        play(*(Recorder(name, calls) for name in "cab"))
        assert orders(calls) == everywhere("c", "a", "b")

    def test_a_hook_that_is_marked_tryfirst_comes_before_the_others(self) -> None:
        calls: Calls = []
        play(Recorder("a", calls), Recorder("b", calls), marked("c", calls, tryfirst=True))
        assert orders(calls) == everywhere("c", "a", "b")

    def test_a_hook_that_is_marked_trylast_comes_after_the_others(self) -> None:
        calls: Calls = []
        play(marked("a", calls, trylast=True), Recorder("b", calls), Recorder("c", calls))
        assert orders(calls) == everywhere("b", "c", "a")

    @pytest.mark.parametrize("kind", ["tryfirst", "trylast"])
    def test_hooks_of_the_same_mark_keep_the_order_of_the_list(self, kind: str) -> None:
        calls: Calls = []
        play(*(marked(name, calls, **{kind: True}) for name in "abc"))
        assert orders(calls) == everywhere("a", "b", "c")

    def test_a_mark_holds_for_its_stage_alone(self) -> None:
        calls: Calls = []

        class Late(Recorder):
            @th.hookimpl(trylast=True)
            def end(self, session: th.Session) -> None:
                super().end(session)

        play(Late("a", calls), Recorder("b", calls))
        assert orders(calls) == everywhere("a", "b") | {"end": ["b", "a"]}

    def test_a_saver_comes_after_all_others_at_every_stage(self) -> None:
        calls: Calls = []
        play(marked("saver", calls, saver=True), Recorder("a", calls), Recorder("b", calls))
        assert orders(calls) == everywhere("a", "b", "saver")

    def test_a_saver_comes_after_hooks_that_are_marked_trylast(self) -> None:
        calls: Calls = []
        play(marked("saver", calls, saver=True), marked("a", calls, trylast=True), Recorder("b", calls))
        assert orders(calls) == everywhere("b", "a", "saver")

    @pytest.mark.parametrize("kind", ["tryfirst", "trylast"])
    def test_a_mark_does_not_move_a_saver(self, kind: str) -> None:
        calls: Calls = []
        saver = marked("saver", calls, saver=True, **{kind: True})
        play(saver, Recorder("a", calls), marked("b", calls, trylast=True))
        assert orders(calls) == everywhere("a", "b", "saver")

    def test_savers_keep_the_order_of_the_list(self) -> None:
        calls: Calls = []
        play(marked("s", calls, saver=True), Recorder("a", calls), marked("t", calls, saver=True))
        assert orders(calls) == everywhere("a", "s", "t")

    @properties
    @given(st.lists(st.sampled_from(["tryfirst", "", "trylast", "saver"]), max_size=6), st.booleans())
    def test_it_is_by_mark_then_by_place_in_the_list_whatever_the_marks(self, kinds: list[str], wrapped: bool) -> None:
        calls: Calls = []
        hooks: list[object] = [
            marked(f"{place}", calls, **({kind: True} if kind else {})) for place, kind in enumerate(kinds)
        ]
        play(*hooks, *([Transparent()] if wrapped else []))
        ranks = ["tryfirst", "", "trylast", "saver"]
        expected = [f"{place}" for place in sorted(range(len(kinds)), key=lambda place: ranks.index(kinds[place]))]
        assert orders(calls) == everywhere(*expected)


class TestWhatIsKnownOfTheOrder:
    @properties
    @given(st.lists(st.sampled_from(["tryfirst", "", "trylast", "saver"]), max_size=6))
    def test_it_is_that_of_the_calls(self, kinds: list[str]) -> None:
        calls: Calls = []
        hooks = [marked(f"{place}", calls, **({kind: True} if kind else {})) for place, kind in enumerate(kinds)]
        play(*hooks)
        manager = HookRegistry(hooks, StopRequests()).manager
        known = {
            stage: [hook.name for hook, _ in manager.hooks_of(stage) if isinstance(hook, Recorder)] for stage in STAGES
        }
        assert known == orders(calls)

    def test_a_wrapper_comes_first_and_is_known_as_one(self) -> None:
        hooks = [Recorder("a", []), Transparent()]
        order = HookRegistry(hooks, StopRequests()).manager.hooks_of("before_run")
        assert order == [(hooks[1], True), (hooks[0], False)]

    def test_a_hook_is_in_the_stages_that_it_implements_alone(self) -> None:
        class Ends(th.SessionRunHook):
            def end(self, session: th.Session) -> None: ...

        hook = Ends()
        manager = HookRegistry([hook], StopRequests()).manager
        assert {stage: manager.hooks_of(stage) for stage in STAGES} == {
            **{stage: [] for stage in STAGES},
            "end": [(hook, False)],
        }

    def test_specifications_of_plugins_are_among_the_stages(self) -> None:
        hooks = [
            TestSpecificationsOfPlugins.Listening("a"),
            TestSpecificationsOfPlugins.Saving("saving"),
            TestSpecificationsOfPlugins.Listening("b"),
        ]
        manager = HookRegistry(hooks, StopRequests()).manager
        assert manager.stages == [*STAGES, "before_save"]
        assert manager.hooks_of("before_save") == [(hooks[0], False), (hooks[2], False)]

    def test_what_nobody_specifies_is_none_of_them(self) -> None:
        alone = TestSpecificationsOfPlugins.Listening("alone")
        assert HookRegistry([alone], StopRequests()).manager.stages == [*STAGES]


class Specifications:
    """What a plugin adds to the stages."""

    @th.hookspec
    def before_save(self, step: int) -> str | None: ...


class TestSpecificationsOfPlugins:
    class Saving(Recorder):
        hookspecs = Specifications()

        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.answers = run_context.session.hook.before_save(step=run_context.session.global_step)

    class Listening:
        def __init__(self, answer: str) -> None:
            self.answer = answer

        @th.hookimpl(optionalhook=True)
        def before_save(self, step: int) -> str:
            return f"{self.answer} at {step}"

    def test_other_hooks_may_implement_them(self) -> None:
        saving = self.Saving("saving")
        with training(self.Listening("first"), saving, self.Listening("second")) as session:
            session.run("train")
        assert saving.answers == ["first at 1", "second at 1"]

    def test_two_hooks_may_bring_the_same(self) -> None:
        with training(self.Saving("a"), self.Saving("b"), self.Listening("c")) as session:
            session.run("train")
        assert session.should_stop()

    def test_an_optional_implementation_does_without_them(self) -> None:
        with training(self.Listening("alone")) as session:
            session.run("train")
        assert session.should_stop()

    def test_an_implementation_of_what_nobody_specifies_is_an_error_with_the_nearest(self) -> None:
        class Misspelt:
            @th.hookimpl
            def before_runs(self) -> None: ...

        with pytest.raises(
            th.HookError, match=r"'before_runs', which no hook of this session specifies.* 'before_run'"
        ):
            training(Misspelt())

    def test_a_session_without_hooks_has_no_relay(self) -> None:
        with pytest.raises(RuntimeError, match="no part of a monitored session"):
            _ = th.Session(counting_graph()).hook
