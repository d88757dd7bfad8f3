"""Hooks that see each call of a stage, whichever hook's it is: to measure it, or to trace it."""

import functools
import inspect
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from tenterhooks.errors import HookError, note

if TYPE_CHECKING:
    from tenterhooks.adapters import Adapter

__all__ = ["Instrument", "instrument"]

_Call = Callable[..., Any]


class Instrument(Protocol):
    """A hook with this method stands before each stage of each hook in its session, its own among them.

    It is asked once for each of them, when a session is constructed, also one that then cannot be opened. Where no
    hook of a session has it, calls are made as ever. Of several such hooks the first one in the list is the outermost.

    Example:
        >>> import tenterhooks as th
        >>> class Spans(th.SessionRunHook):
        ...     def instrument_call(self, hook, stage, call):
        ...         def spanned(*arguments):
        ...             with tracer.start_as_current_span(f"{hook}.{stage}"):
        ...                 return call(*arguments)
        ...
        ...         return spanned
    """

    def instrument_call(self, hook: str, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Give what is called in place of a hook's stage.

        A wrapper of a stage is two calls, of what it does before and after the others.

        Args:
            hook: The hook's name in the session.
            stage: The stage's name.
            call: Is to be called once, with the arguments that are given, all by position. What it returns is to be
                returned, and what it raises is to be let through.
        """


def instrument(adapters: "Sequence[Adapter]") -> None:
    """Have those of the hooks that are instruments see each call.

    Raises:
        HookError: One of them gives what cannot be called.
    """
    for observer in reversed(adapters):
        instrument_call = getattr(observer.hook, "instrument_call", None)
        if not callable(instrument_call):
            continue
        for adapter in adapters:
            for stage, call in adapter.calls.items():
                adapter.calls[stage] = _instrumented(observer, adapter, stage, call)
            for stage, wrapper in adapter.wrappers.items():
                # pluggy says what is wrong with one that is no generator function.
                if inspect.isgeneratorfunction(wrapper):
                    around = functools.partial(_instrumented, observer, adapter, stage)
                    adapter.wrappers[stage] = _in_two_calls(wrapper, around)


def _instrumented(observer: "Adapter", adapter: "Adapter", stage: str, call: _Call) -> _Call:
    try:
        given: _Call = observer.hook.instrument_call(adapter.name, stage, call)  # type: ignore[attr-defined]
    except BaseException as error:
        note(error, f"in instrument_call of hook {observer.title}, for {stage} of hook {adapter.title}")
        raise
    if not callable(given):
        raise HookError(
            f"instrument_call of hook {observer.title} returned {given!r} for {stage} of hook {adapter.title}: "
            "return a function that makes the call, or the call itself",
            observer.hook,
        )
    return given


def _in_two_calls(wrapper: Callable[..., Generator[None, Any, Any]], around: Callable[[_Call], _Call]) -> _Call:
    """A wrapper of which both halves are instrumented. What a half gives is whether the wrapper is over, and its value.

    The end of a generator is an exception, which an instrument would take for an error.
    """
    before, after, after_error = around(_before), around(_after), around(_after_error)

    @functools.wraps(wrapper)
    def instrumented(*arguments: object, **options: object) -> Generator[None, Any, Any]:
        inner = wrapper(*arguments, **options)
        over, value = before(inner)
        if over:
            return value
        try:
            result = yield
        except BaseException as error:
            over, value = after_error(inner, error)
        else:
            over, value = after(inner, result)
        if not over:
            inner.close()
            yield None  # pluggy says that this is one too many.
        return value

    return instrumented


def _before(wrapper: Generator[None, Any, Any]) -> tuple[bool, Any]:
    try:
        next(wrapper)
    except StopIteration as stop:
        return True, stop.value
    return False, None


def _after(wrapper: Generator[None, Any, Any], result: object) -> tuple[bool, Any]:
    try:
        wrapper.send(result)
    except StopIteration as stop:
        return True, stop.value
    return False, None


def _after_error(wrapper: Generator[None, Any, Any], error: BaseException) -> tuple[bool, Any]:
    try:
        wrapper.throw(error)
    except StopIteration as stop:
        return True, stop.value
    return False, None
