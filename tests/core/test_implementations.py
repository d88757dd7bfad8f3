"""What is a hook, which of its methods are called, and with which arguments."""

import functools
import sys
from types import ModuleType
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.hookspecs import STAGES
from tenterhooks.implementations import implementations

from .recorders import Recorder, training

ALL_STAGES = set(STAGES)


class Everything(th.SessionRunHook):
    """Overrides each stage, which the base class has with just these parameters."""

    begin = after_create_session = before_run = after_run = end = on_exception = (  # type: ignore[assignment]
        lambda *arguments: None
    )


def test_a_class_is_no_hook() -> None:
    with pytest.raises(th.HookError, match=r"Recorder is a class, and a hook is an object: pass Recorder\(\.\.\.\)"):
        training(Recorder)


def test_a_class_of_marked_methods_is_no_hook() -> None:
    class Marked:
        @th.hookimpl
        def end(self, session: th.Session) -> None: ...

    with pytest.raises(th.HookError, match="is a class"):
        training(Marked)


@pytest.mark.parametrize("no_hook", [object(), 3, None, lambda: None, {}], ids=lambda given: type(given).__name__)
def test_an_object_without_any_stage_is_no_hook(no_hook: object) -> None:
    with pytest.raises(th.HookError, match=r"implements no stage .*begin, after_create_session, before_run"):
        training(no_hook)


def test_a_subclass_that_overrides_nothing_is_no_hook() -> None:
    class Empty(th.SessionRunHook):
        pass

    with pytest.raises(th.HookError, match=r"Empty implements no stage .*override one in a subclass"):
        training(Empty())


def test_an_object_with_unmarked_stages_only_is_no_hook_and_they_are_named() -> None:
    class Unmarked:
        def before_run(self, run_context: th.SessionRunContext) -> None: ...

        def end(self, session: th.Session) -> None: ...

    with pytest.raises(th.HookError, match="before_run, end is not marked, so nothing would call it"):
        training(Unmarked())


def test_the_error_carries_the_object() -> None:
    no_hook = object()
    with pytest.raises(th.HookError) as caught:
        training(no_hook)
    assert caught.value.hook is no_hook


def test_an_unmarked_stage_beside_a_marked_one_is_not_called_and_the_log_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Half:
        ended = False
        ran = False

        @th.hookimpl
        def end(self) -> None:
            self.ended = True

        def after_run(self) -> None:
            self.ran = True

    hook = Half()
    with training(hook) as session:
        session.run("train")
    assert (hook.ended, hook.ran) == (True, False)
    assert "after_run without the mark @tenterhooks.hookimpl: named like a stage, but never called" in caplog.text


def test_overriding_is_enough_in_a_subclass() -> None:
    assert implementations(Everything()).keys() == ALL_STAGES


def test_methods_of_the_base_class_are_no_implementations() -> None:
    class One(th.SessionRunHook):
        def end(self, session: th.Session) -> None: ...

    assert implementations(One()).keys() == {"end"}


def test_an_override_of_a_base_class_of_ones_own_counts() -> None:
    class Own(th.SessionRunHook):
        def end(self, session: th.Session) -> None: ...

    class Derived(Own):
        pass

    assert implementations(Derived()).keys() == {"end"}


def test_a_stage_that_is_set_on_the_object_is_an_implementation() -> None:
    calls = []
    hook: Any = th.SessionRunHook()
    hook.end = lambda session: calls.append("end")
    with training(hook):
        pass
    assert calls == ["end"]


def test_an_object_of_no_base_class_with_marked_methods_is_a_hook() -> None:
    class Duck:
        seen: Any = None

        @th.hookimpl
        def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
            return th.SessionRunArgs("w")

        @th.hookimpl
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
            self.seen = run_values.results

    hook = Duck()
    with training(hook) as session:
        session.run("train")
    assert hook.seen == 0.0


def test_a_module_with_marked_functions_is_a_hook() -> None:
    module: Any = ModuleType("hooks_of_a_module")
    module.calls = []

    def before_run(run_context: th.SessionRunContext) -> None:
        module.calls.append("before_run")

    def end() -> None:
        module.calls.append("end")

    module.before_run, module.end = th.hookimpl(before_run), th.hookimpl(end)
    with training(module) as session:
        session.run("train")
    assert module.calls == ["before_run", "end"]


def test_a_module_without_marked_functions_is_no_hook() -> None:
    with pytest.raises(th.HookError, match="implements no stage"):
        training(sys)


def test_static_and_class_methods_may_be_marked() -> None:
    class Hook:
        calls: list[str] = []

        @staticmethod
        @th.hookimpl
        def begin(graph: th.Graph) -> None:
            Hook.calls.append("begin")

        @classmethod
        @th.hookimpl
        def end(cls, session: th.Session) -> None:
            cls.calls.append("end")

    with training(Hook()):
        pass
    assert Hook.calls == ["begin", "end"]


def test_a_method_of_another_name_may_implement_a_stage() -> None:
    class Hook:
        ended = False

        @th.hookimpl(specname="end")
        def finish(self, session: th.Session) -> None:
            self.ended = True

    hook = Hook()
    with training(hook):
        pass
    assert hook.ended


def test_a_stage_that_is_implemented_twice_is_an_error() -> None:
    class Hook:
        @th.hookimpl
        def end(self) -> None: ...

        @th.hookimpl(specname="end")
        def end_too(self) -> None: ...

    with pytest.raises(th.HookError, match="end is implemented twice, by end_too too"):
        training(Hook())


def test_a_stage_and_a_wrapper_of_the_same_in_one_hook_are_an_error() -> None:
    class Hook:
        @th.hookimpl
        def end(self) -> None: ...

        @th.hookimpl(specname="end", wrapper=True)
        def around_end(self) -> Any:
            return (yield)

    with pytest.raises(th.HookError, match="end is implemented twice"):
        training(Hook())


def test_a_hook_need_not_be_hashable() -> None:
    class Unhashable(Recorder):
        __hash__ = None  # type: ignore[assignment]

    seen = []
    hook = Unhashable(
        "a",
        before_run=lambda context: th.SessionRunArgs("w"),
        after_run=lambda context, values: seen.append(values.results),
    )
    with training(hook) as session:
        session.run("train")
    assert seen == [0.0]


def test_hooks_that_are_equal_are_told_apart() -> None:
    class Equal(Recorder):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Equal)

        def __hash__(self) -> int:
            return 1

    seen: list[Any] = []
    hooks = [
        Equal(
            name,
            before_run=lambda context, name=name: th.SessionRunArgs(name),
            after_run=lambda context, values: seen.append(values.results),
        )
        for name in "xy"
    ]
    with training(*hooks) as session:
        session.run("train")
    assert seen == [1.0, 2.0]


def test_properties_of_a_hook_are_not_run() -> None:
    class Guarded(Recorder):
        @property
        def expensive(self) -> int:
            raise AssertionError("this property was run")

    with training(Guarded("a")) as session:
        session.run("train")
    assert session.should_stop()


def test_an_implementation_may_name_only_the_arguments_that_it_wants() -> None:
    class Choosy:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        @th.hookimpl
        def begin(self) -> None:
            self.seen.append("begin")

        @th.hookimpl
        def after_create_session(self, coord: th.Coordinator) -> None:
            self.seen.append(type(coord))

        @th.hookimpl
        def after_run(self, run_values: th.SessionRunValues) -> None:
            self.seen.append(type(run_values))

        @th.hookimpl
        def on_exception(self, exception: BaseException) -> None:
            self.seen.append(type(exception))

    hook = Choosy()
    with pytest.raises(ValueError, match="body"), training(hook) as session:
        session.run("train")
        raise ValueError("body")
    assert hook.seen == ["begin", th.Coordinator, th.SessionRunValues, ValueError]


def test_a_subclass_may_name_fewer_arguments_too() -> None:
    class Choosy(th.SessionRunHook):
        seen: Any = None

        def after_run(self, run_values: th.SessionRunValues) -> None:  # type: ignore[override]
            self.seen = run_values

    hook = Choosy()
    with training(hook) as session:
        session.run("train")
    assert isinstance(hook.seen, th.SessionRunValues)


def _ends_with(function: Any) -> list[Any]:
    """What an implementation of `on_exception` gets, when a session ends by an exception."""
    seen: list[Any] = []

    class Hook(th.SessionRunHook):
        pass

    Hook.on_exception = functools.partialmethod(function, seen)  # type: ignore[assignment]
    with pytest.raises(ValueError, match="body"), training(Hook()):
        raise ValueError("body")
    return [type(thing) for thing in seen]


def test_an_implementation_may_order_its_arguments_otherwise() -> None:
    def on_exception(self: Any, seen: list[Any], exception: BaseException, session: th.Session) -> None:
        seen += [exception, session]

    assert _ends_with(on_exception) == [ValueError, th.Session]


def test_an_implementation_may_take_all_arguments_by_position() -> None:
    def on_exception(self: Any, seen: list[Any], *arguments: Any) -> None:
        seen += arguments

    assert _ends_with(on_exception) == [th.Session, ValueError]


def test_an_implementation_may_take_all_arguments_by_name() -> None:
    def on_exception(self: Any, seen: list[Any], **arguments: Any) -> None:
        seen += [arguments["session"], arguments["exception"]]

    assert _ends_with(on_exception) == [th.Session, ValueError]


def test_named_arguments_are_told_by_name_beside_further_ones() -> None:
    def on_exception(self: Any, seen: list[Any], exception: BaseException, *arguments: Any) -> None:
        seen += [exception]

    assert _ends_with(on_exception) == [ValueError]


def test_an_implementation_may_take_arguments_by_position_only() -> None:
    def on_exception(self: Any, seen: list[Any], exception: BaseException, /, session: th.Session) -> None:
        seen += [exception, session]

    assert _ends_with(on_exception) == [ValueError, th.Session]


def test_an_implementation_may_take_arguments_by_name_only() -> None:
    def on_exception(self: Any, seen: list[Any], *, exception: BaseException) -> None:
        seen += [exception]

    assert _ends_with(on_exception) == [ValueError]


def test_a_further_parameter_with_a_default_is_fine() -> None:
    def on_exception(self: Any, seen: list[Any], exception: BaseException, depth: int = 3) -> None:
        seen += [exception, depth]

    assert _ends_with(on_exception) == [ValueError, int]


def test_a_default_of_an_argument_gives_way_to_what_is_passed() -> None:
    def on_exception(self: Any, seen: list[Any], session: Any = None, exception: Any = None) -> None:
        seen += [session, exception]

    assert _ends_with(on_exception) == [th.Session, ValueError]


def test_all_foreign_arguments_of_a_class_are_listed_in_one_error() -> None:
    class Foreign(th.SessionRunHook):
        def begin(self, g: th.Graph) -> None: ...

        def before_run(self, ctx: th.SessionRunContext) -> None: ...

        def after_run(self, run_context: th.SessionRunContext, values: Any) -> None: ...

        def end(self, sess: th.Session) -> None: ...

    with pytest.raises(th.HookError) as caught:
        training(Foreign())
    problems = str(caught.value).splitlines()[1:]
    assert [(line.split("(")[0].strip(), line.split("): ")[1]) for line in problems] == [
        ("after_run", "rename values; it is called with run_context, run_values"),
        ("before_run", "rename ctx; it is called with run_context"),
        ("begin", "rename g; it is called with graph"),
        ("end", "rename sess; it is called with session"),
    ]


def test_foreign_arguments_of_wrappers_are_listed_too() -> None:
    class Foreign:
        @th.hookimpl(wrapper=True)
        def before_run(self, ctx: th.SessionRunContext) -> Any:
            return (yield)

        @th.hookimpl
        def end(self, sess: th.Session) -> None: ...

    with pytest.raises(th.HookError, match=r"(?s)before_run\(.*rename ctx.*end\(.*rename sess"):
        training(Foreign())


def test_a_foreign_argument_is_found_before_any_hook_is_called() -> None:
    class Foreign:
        @th.hookimpl
        def end(self, sess: th.Session) -> None: ...

    hook = Recorder("a")
    with pytest.raises(th.HookError):
        training(hook, Foreign())
    assert hook.calls == []


def test_a_stage_that_is_no_method_is_an_error() -> None:
    class Wrong(th.SessionRunHook):
        end = None  # type: ignore[assignment]

    with pytest.raises(th.HookError, match="end is no method but None"):
        training(Wrong())


def test_a_module_goes_by_its_own_name() -> None:
    module = ModuleType("good_stops")
    marked = th.hookimpl(lambda run_context: run_context.request_stop("enough"))
    module.after_run = marked  # type: ignore[attr-defined]
    with training(module) as session:
        session.run("train")
        assert [request.hook for request in session.stop] == ["good_stops"]


def test_async_and_generator_functions_are_no_stages_and_all_are_listed() -> None:
    class Later(th.SessionRunHook):
        async def begin(self, graph: th.Graph) -> None: ...  # type: ignore[override]

        async def before_run(self, run_context: Any) -> Any:
            yield None

        def after_run(self, run_context: Any, run_values: Any) -> Any:
            yield None

        def end(self, session: th.Session) -> None: ...

    with pytest.raises(th.HookError) as caught:
        training(Later())
    problems = str(caught.value).splitlines()[1:]
    assert sorted(problem.split(",")[0].split(":")[0].strip() for problem in problems) == [
        "after_run is a generator function",
        "before_run is an async function",
        "begin is an async function",
    ]
    assert "Later" in str(caught.value)


def test_marked_async_functions_are_no_stages_nor_what_a_plugin_specifies() -> None:
    class Later:
        @th.hookimpl
        async def end(self) -> None: ...

        @th.hookimpl(optionalhook=True)
        async def before_save(self) -> None: ...

    with pytest.raises(th.HookError, match=r"before_save is an async function[^$]*end is an async function"):
        training(Later())


def test_an_object_whose_call_is_async_is_no_stage() -> None:
    class Call:
        async def __call__(self, session: th.Session) -> None: ...

    hook = Recorder("a")
    hook.end = Call()  # type: ignore[assignment, method-assign]
    with pytest.raises(th.HookError, match="end is an async function, which is called and not awaited"):
        training(hook)


def test_a_generator_function_that_is_marked_as_wrapper_is_one() -> None:
    class Around:
        @th.hookimpl(wrapper=True)
        def end(self) -> Any:
            return (yield)

    assert implementations(Around())["end"].is_wrapper


@pytest.mark.parametrize(("there", "missing"), [("state_dict", "load_state_dict"), ("load_state_dict", "state_dict")])
def test_half_a_state_is_an_error_that_names_the_other_half(there: str, missing: str) -> None:
    hook = Recorder("a")
    vars(hook)[there] = lambda *state: None
    with pytest.raises(th.HookError, match=f"{there} is there and {missing} is not, so no state would be saved"):
        training(hook)
    vars(hook)[missing] = lambda *state: {}
    training(hook).close()


def test_a_state_that_is_none_is_not_there() -> None:
    class Without(Recorder):
        state_dict = load_state_dict = None

    training(Without("a")).close()


def test_the_methods_of_a_state_are_plain_functions() -> None:
    class Later(Recorder):
        async def state_dict(self) -> dict[str, Any]:
            return {}

        def load_state_dict(self, state: dict[str, Any]) -> Any:
            yield None

    with pytest.raises(th.HookError) as caught:
        training(Later("a"))
    problems = str(caught.value).splitlines()[1:]
    assert problems == [
        "  state_dict is an async function, which is called and not awaited: make it a plain one (def)",
        "  load_state_dict is a generator function, so that a call runs nothing of it: take out its yield",
    ]
