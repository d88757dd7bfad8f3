"""`run_step_fn`: a step that is a function of the user's, with any number of runs in it."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tenterhooks.fetches import Feeds, Fetches
    from tenterhooks.hooks import RunMetadata
    from tenterhooks.session import Session

__all__ = ["StepContext", "check_step_fn"]


class StepContext:
    """What a step function gets.

    Args:
        session: Gives the raw session of now; a recovery makes another.
        run_with_hooks: Makes a run with all hooks.
    """

    __slots__ = ("_run_with_hooks", "_session")

    def __init__(self, session: "Callable[[], Session]", run_with_hooks: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks = run_with_hooks

    @property
    def session(self) -> "Session":
        """The raw session: a run of it calls no hooks."""
        return self._session()

    def run_with_hooks(
        self,
        fetches: "Fetches",
        feed_dict: "Feeds | None" = None,
        options: Mapping[str, Any] | None = None,
        run_metadata: "RunMetadata | None" = None,
    ) -> Any:
        """A run with all hooks, as `MonitoredSession.run`; there may be none, one or several in a step."""
        return self._run_with_hooks(fetches, feed_dict, options, run_metadata)

    def request_stop(self) -> NoReturn:
        """End the step here, and the session cleanly.

        Raises:
            StopIteration: Always: it leaves the step function, and ends the `with` block of the session.
        """
        raise StopIteration("the step function requested a stop")


def check_step_fn(step_fn: Callable[..., Any]) -> None:
    """Check that a step function takes just `step_context`.

    Raises:
        ValueError: It takes something else.
    """
    parameters = inspect.signature(step_fn).parameters
    named = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(parameters) != 1 or named != ["step_context"]:
        raise ValueError(
            "a step function has exactly one parameter, named step_context; "
            f"{step_fn!r} has ({', '.join(map(str, parameters.values()))})"
            + (": pass the method of an object" if list(parameters) == ["self", "step_context"] else "")
        )
