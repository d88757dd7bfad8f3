"""How hooks are called: unique names, which are their own, their plugin's or their class's."""

from typing import Any

import pytest

import tenterhooks as th
from tenterhooks.names import fold

from .recorders import Recorder, Stateful, training


class Nameless(th.SessionRunHook):
    def end(self, session: th.Session) -> None: ...


def names_of(*hooks: object) -> list[str]:
    """The names under which these hooks would be saved."""
    return [*Stateful.states(*hooks)]


class TestNames:
    def test_the_name_is_the_hooks_own(self) -> None:
        assert names_of(Stateful("mine")) == ["mine"]

    def test_without_one_it_is_the_class(self) -> None:
        hook = Stateful("")
        assert names_of(hook) == ["Stateful"]

    def test_a_second_one_of_a_name_gets_a_number(self) -> None:
        assert names_of(Stateful("a"), Stateful("a"), Stateful("a")) == ["a", "a-2", "a-3"]

    def test_a_number_that_is_taken_is_passed_over(self) -> None:
        assert names_of(Stateful("a"), Stateful("a-2"), Stateful("a")) == ["a", "a-2", "a-3"]

    def test_the_log_advises_to_name_it(self, caplog: pytest.LogCaptureFixture) -> None:
        names_of(Stateful("a"), Stateful("a"))
        assert "several hooks are named 'a'; this one is called 'a-2': name them" in caplog.text

    def test_one_of_a_name_is_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        names_of(Stateful("a"), Stateful("b"))
        assert caplog.text == ""

    def test_a_name_is_a_string(self) -> None:
        hook: Any = Recorder("a")
        hook.name = 3
        with pytest.raises(th.HookError, match="is a string, not 3"):
            training(hook)

    def test_a_stop_request_goes_by_the_unique_name(self) -> None:
        hooks = [Recorder("a", before_run=lambda context: context.request_stop()) for _ in range(2)]
        with training(*hooks) as session:
            session.run("train")
            assert [request.hook for request in session.stop] == ["a", "a-2"]


def test_names_are_compared_in_one_form() -> None:
    assert {fold(name) for name in ("stop-at-step", "STOP_AT_STEP", "Stop-At_Step")} == {"stop-at-step"}
