"""The stages that hooks of a class implement."""

import functools

import tenterhooks as th
from tenterhooks.cli.stages import class_of, stages_of
from tenterhooks.hookspecs import STAGES


class Overrides(th.SessionRunHook):
    def end(self, session: th.Session) -> None: ...

    def begin(self, graph: th.Graph) -> None: ...


class Marks:
    @th.hookimpl
    def after_run(self) -> None: ...

    @th.hookimpl(specname="end")
    def finish(self) -> None: ...

    @th.hookimpl(optionalhook=True)
    def before_save(self) -> None: ...

    def begin(self) -> None:
        """Not marked: never called."""

    @property
    def before_run(self) -> None:
        raise AssertionError("a property is not run")


def overriding() -> Overrides:
    return Overrides()


def test_overriding_is_enough() -> None:
    assert stages_of(Overrides) == ["begin", "end"]
    assert stages_of(th.SessionRunHook) == []


def test_what_a_parent_overrides_counts() -> None:
    class Child(Overrides):
        def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None: ...

    assert stages_of(Child) == ["begin", "after_run", "end"]


def test_marks_count_in_any_class() -> None:
    assert stages_of(Marks) == ["after_run", "end", "before_save"]


def test_all_stages_stand_in_the_order_of_the_lifecycle() -> None:
    everything = type("Everything", (th.SessionRunHook,), {stage: lambda self: None for stage in STAGES})
    assert tuple(stages_of(everything)) == STAGES


def test_a_factory_says_what_it_makes() -> None:
    assert class_of(Overrides) is Overrides
    assert class_of(overriding) is Overrides


def test_one_that_does_not_say_so_has_no_class() -> None:
    def silent() -> "Missing": ...  # type: ignore[name-defined] # noqa: F821

    assert class_of(silent) is None
    assert class_of(functools.partial(Overrides)) is None
