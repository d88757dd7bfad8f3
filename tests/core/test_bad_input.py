"""Bad input gets an error that says what is wrong, where, and what to do next.

One test for each kind. That `num_steps` and `last_step` exclude each other, and that a checkpoint folder cannot be
written, is tested with the plugins that say so.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.summaries import open_summary_writer
from tenterhooks.testing import FakeDistributions as Install

from .recorders import Recorder, counting_graph, training


@contextmanager
def refused(error: type[Exception], *, what: str, where: str, then: str) -> Iterator[None]:
    """The block raises this error, whose message and notes say what is wrong, where, and what to do."""
    with pytest.raises(error) as caught:
        yield
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert what in text
    assert where in text
    assert then in text


def feeding(name: str, feeds: dict[str, Any]) -> Recorder:
    return Recorder(name, before_run=lambda context: th.SessionRunArgs(None, feeds))


def test_a_hook_that_is_a_class() -> None:
    with refused(th.HookError, what="is a class, and a hook is an object", where="Recorder", then="pass Recorder(...)"):
        training(Recorder)


def test_an_object_without_any_stage() -> None:
    class Nothing:
        pass

    with refused(
        th.HookError,
        what="implements no stage (begin, after_create_session, before_run, after_run, end, on_exception)",
        where="Nothing",
        then="override one in a subclass of tenterhooks.SessionRunHook, or mark it with @tenterhooks.hookimpl",
    ):
        training(Nothing())


def test_a_stage_with_an_unknown_argument() -> None:
    class Unknown(th.SessionRunHook):
        def end(self, session: th.Session, status: int) -> None: ...  # type: ignore[override]

    with refused(
        th.HookError,
        what="end(session: tenterhooks.session.Session, status: int): rename status",
        where="Unknown",
        then="it is called with session",
    ):
        training(Unknown())


def test_stages_with_foreign_argument_names_are_all_listed() -> None:
    class Foreign(th.SessionRunHook):
        def before_run(self, context: Any) -> None: ...

        def after_run(self, context: Any, values: Any) -> None: ...

        def end(self, sess: Any) -> None: ...

    with refused(
        th.HookError, what="rename context, values", where="after_run(context", then="run_context, run_values"
    ):
        training(Foreign())
    with refused(th.HookError, what="rename sess;", where="end(sess", then="it is called with session"):
        training(Foreign())
    with refused(
        th.HookError, what="rename context;", where="before_run(context", then="it is called with run_context"
    ):
        training(Foreign())


def test_a_stage_that_is_async() -> None:
    class Later(th.SessionRunHook):
        async def end(self, session: th.Session) -> None: ...  # type: ignore[override]

    with refused(th.HookError, what="end is an async function", where="Later", then="make it a plain one (def)"):
        training(Later())


def test_a_stage_that_is_a_generator_function() -> None:
    class Yielding(th.SessionRunHook):
        def end(self, session: th.Session) -> Any:
            yield

    with refused(
        th.HookError,
        what="end is a generator function, so that a call runs nothing of it",
        where="Yielding",
        then="take out its yield or mark it with @tenterhooks.hookimpl(wrapper=True)",
    ):
        training(Yielding())


def test_a_hook_with_half_a_state() -> None:
    class Half(Recorder):
        def state_dict(self) -> dict[str, Any]:
            return {}

    with refused(
        th.HookError,
        what="state_dict is there and load_state_dict is not, so no state would be saved",
        where="Half",
        then="add it, or remove state_dict",
    ):
        training(Half("a"))


def test_hooks_in_place_of_a_creator() -> None:
    creator: Any = [Recorder("a")]
    with refused(TypeError, what="session_creator has a method create_session", where="[", then="hooks=[...]"):
        th.MonitoredSession(creator, graph=counting_graph())


def test_a_graph_in_place_of_a_creator() -> None:
    graph: Any = counting_graph()
    with refused(TypeError, what="session_creator is what makes the session", where="<Graph of", then="graph=..."):
        th.MonitoredSession(graph)


def test_a_creator_that_is_a_class() -> None:
    creator: Any = th.ChiefSessionCreator
    with refused(TypeError, what="and ChiefSessionCreator is a class", where="session_creator", then="pass ChiefSessi"):
        th.MonitoredSession(creator, graph=counting_graph())


def test_a_graph_that_is_none() -> None:
    graph: Any = {"w": 0.0}
    with refused(TypeError, what="not {'w': 0.0}", where="graph is", then="a tenterhooks.Graph"):
        th.MonitoredSession(graph=graph)


def test_a_graph_in_place_of_hooks() -> None:
    with refused(TypeError, what="hooks is a list of hooks and short names", where="not <Graph of", then="graph=..."):
        th.SingularMonitoredSession(counting_graph())


def test_one_hook_in_place_of_a_list() -> None:
    class Iterable(Recorder):
        def __iter__(self) -> Iterator[str]:
            return iter("ab")

    class Marked:
        @th.hookimpl
        def end(self) -> None: ...

    for hook in (Recorder("a"), Iterable("a"), Marked()):
        given: Any = hook
        with refused(TypeError, what="hooks is a list", where=f"not {hook!r}", then="pass a list, as [hook] for one"):
            th.MonitoredSession(graph=counting_graph(), hooks=given)


def test_one_string_in_place_of_a_list() -> None:
    with refused(TypeError, what="hooks is a list", where="not one string", then="pass ['nan']"):
        th.MonitoredSession(graph=counting_graph(), hooks="nan")


def test_options_by_name_in_place_of_a_list() -> None:
    with refused(TypeError, what="hooks is a list", where="not a mapping", then="for options, make_hook(name, ...)"):
        th.MonitoredSession(graph=counting_graph(), hooks={"nan": {"loss_tensor": "w"}})


def test_two_hooks_that_feed_one_placeholder() -> None:
    session = training(feeding("a", {"x": 1.0}), feeding("b", {"x": 2.0}))
    with refused(RuntimeError, what="both feed 'x' in one run", where="hook 'b'", then="only one of them can"):
        session.run("train")
    session.close()


def test_a_fetch_of_a_name_that_does_not_exist() -> None:
    with (
        training() as session,
        refused(
            th.UnknownNameError,
            what="no node of the graph is named 'doubel_x'",
            where="graph",
            then="the nearest: 'double_x'",
        ),
    ):
        session.run("doubel_x")


def test_a_feed_of_a_name_that_does_not_exist() -> None:
    with (
        training() as session,
        refused(
            th.UnknownNameError,
            what="no node of the graph is named 'x_times'",
            where="graph",
            then="the nearest: 'x_times_y'",
        ),
    ):
        session.run("train", {"x_times": 3.0})


def test_a_fetch_of_a_hook_of_a_name_that_does_not_exist() -> None:
    session = training(Recorder("a", before_run=lambda context: th.SessionRunArgs(["doubel_x"])))
    with refused(
        th.UnknownNameError, what="'doubel_x'", where="in before_run of hook 'a'", then="the nearest: 'double_x'"
    ):
        session.run("train")
    session.close()


def test_a_dependency_that_does_not_exist() -> None:
    graph = counting_graph()
    graph.tensor(lambda x_times_z: x_times_z, name="taker")
    with refused(th.UnknownNameError, what="'x_times_z'", where="node 'taker' takes", then="the nearest: 'x_times_y'"):
        th.MonitoredSession(graph=graph)


def test_a_dependency_cycle() -> None:
    graph = counting_graph()
    graph.tensor(lambda b: b, name="a")
    graph.tensor(lambda a: a, name="b")
    with pytest.raises(ValueError, match=r"depend on each other in a circle: (a -> b -> a|b -> a -> b)"):
        th.MonitoredSession(graph=graph)


def test_adding_to_a_finalized_graph() -> None:
    graph = counting_graph()
    with (
        th.MonitoredSession(graph=graph),
        refused(
            RuntimeError,
            what="the graph is finalized while a session is open",
            where="cannot add <Variable 'late'>",
            then="build it before, or in a hook's begin",
        ),
    ):
        graph.variable("late", 1)


def test_a_placeholder_without_default_that_nobody_feeds() -> None:
    graph = counting_graph()
    graph.placeholder("rate")
    graph.tensor(lambda rate: rate, name="taker")
    with (
        th.MonitoredSession(graph=graph) as session,
        refused(
            ValueError,
            what="placeholder 'rate' has no default and nobody feeds it",
            where="needed by 'taker'",
            then="pass feed_dict={'rate': ...}, have a hook feed it, or give it a default",
        ),
    ):
        session.run("taker")


def test_a_run_after_a_stop() -> None:
    session = training(Recorder("a", after_run=lambda context, values: context.request_stop("has converged")))
    session.run("train")
    with refused(
        RuntimeError,
        what="the session was asked to stop",
        where="hook 'a' at global step 1: has converged",
        then="ask should_stop() before each run",
    ):
        session.run("train")
    session.close()


def test_a_run_after_close() -> None:
    session = training()
    session.close()
    with refused(RuntimeError, what="is closed", where="the session", then="open another one to run anything"):
        session.run("train")


def test_the_same_hook_object_in_two_open_sessions() -> None:
    hook = Recorder("a")
    with (
        training(hook),
        refused(
            th.HookError,
            what="belongs to another open session",
            where="<MonitoredSession open>",
            then="close() that one first, or make another hook",
        ),
    ):
        training(hook)


def test_a_broken_plugin(install: Install) -> None:
    install(
        "tenterhooks-broken", {"broken": "fake_broken:Hook"}, version="3.1", fake_broken="import not_there_at_all\n"
    )
    with refused(
        th.PluginError,
        what="cannot be imported from 'fake_broken:Hook': ModuleNotFoundError",
        where="plugin 'broken' (tenterhooks-broken 3.1)",
        then="reinstall or remove it",
    ):
        training("broken")


def test_the_cause_of_a_broken_plugin_is_chained(install: Install) -> None:
    install("tenterhooks-broken", {"broken": "fake_broken:Hook"}, fake_broken="import not_there_at_all\n")
    with pytest.raises(th.PluginError) as caught:
        training("broken")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_two_distributions_that_claim_one_name(install: Install) -> None:
    install("guards", {"guard": "fake_guards:Hook"}, version="1.0")
    install("other-guards", {"guard": "fake_guards:Hook"}, version="2.0")
    with refused(
        th.PluginError,
        what="the name 'guard' is claimed",
        where="by guards 1.0 and other-guards 2.0",
        then="uninstall all but one",
    ):
        training("guard")


@pytest.mark.parametrize(
    ("option", "make"),
    [
        ("checkpoint_dir", lambda: th.MonitoredTrainingSession(graph=counting_graph(), checkpoint_dir="")),
        (
            "checkpoint_dir",
            lambda: th.MonitoredTrainingSession(graph=counting_graph(), is_chief=False, checkpoint_dir=""),
        ),
        ("summary_dir", lambda: th.MonitoredTrainingSession(graph=counting_graph(), summary_dir="")),
        ("a folder of summaries", lambda: open_summary_writer("")),
    ],
)
def test_a_folder_that_is_an_empty_text(option: str, make: Callable[[], object]) -> None:
    with refused(ValueError, what="is an empty text", where=option, then="give None where there is none, '.' for"):
        make()


def test_a_variable_that_is_what_can_be_called() -> None:
    class Module:
        def __call__(self, *inputs: Any) -> None: ...

        def __repr__(self) -> str:
            return "Module()"

    with refused(
        TypeError,
        what="parameter '*inputs: Any' of Module()",
        where="for the initial value of 'net' names no input",
        then="pass lambda: ... if it is the value itself",
    ):
        th.Graph().variable("net", Module())
