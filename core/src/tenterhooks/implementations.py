"""What a hook implements: found, checked against the specifications, and made to be called with all arguments."""

import inspect
import logging
from collections.abc import Callable
from typing import Any

from tenterhooks import hookspecs
from tenterhooks.errors import HookError
from tenterhooks.hooks import SessionRunHook
from tenterhooks.hookspecs import PROJECT, STAGES
from tenterhooks.plugins import plugin_of

__all__ = ["UNMARKED", "Implementation", "implementations"]

_log = logging.getLogger(__name__)

_ARGUMENTS = {stage: tuple(inspect.signature(getattr(hookspecs, stage)).parameters) for stage in STAGES}
# What a hook with state has, both or neither.
_STATE = ("state_dict", "load_state_dict")
# The options of an implementation that is not marked.
UNMARKED: dict[str, Any] = {
    "wrapper": False,
    "hookwrapper": False,
    "optionalhook": False,
    "tryfirst": False,
    "trylast": False,
    "specname": None,
}


class Implementation:
    """A method of a hook that implements a specification, and its marks (pluggy's options)."""

    __slots__ = ("marks", "method")

    def __init__(self, method: Callable[..., Any], marks: dict[str, Any]) -> None:
        self.method = method
        self.marks = marks

    def call(self, stage: str) -> Callable[..., Any]:
        """A callable that takes all of a stage's arguments, and hands the method those that it names."""
        return _with_all_arguments(self.method, stage)

    @property
    def is_wrapper(self) -> bool:
        """Whether it wraps the whole stage."""
        return bool(self.marks["wrapper"] or self.marks["hookwrapper"])


def implementations(hook: object) -> dict[str, Implementation]:
    """What a hook implements: the stages that a `SessionRunHook` overrides, and all that is marked `@hookimpl`.

    Raises:
        HookError: It is a class, implements nothing, has stages with arguments that these do not have or that a plain
            call would not run, or only one of `state_dict` and `load_state_dict`.
    """
    if inspect.isclass(hook):
        raise HookError(f"{hook.__qualname__} is a class, and a hook is an object: pass {hook.__qualname__}(...)", hook)
    found: dict[str, Implementation] = {}
    unmarked = []
    problems = []
    for attribute in dir(hook):
        # Looked up without running properties.
        static = inspect.getattr_static(hook, attribute, None)
        marks = getattr(getattr(static, "__func__", static), f"{PROJECT}_impl", None)
        if not isinstance(marks, dict):
            if attribute not in _ARGUMENTS or static is SessionRunHook.__dict__[attribute]:
                continue
            if not isinstance(hook, SessionRunHook):
                if callable(static):
                    unmarked.append(attribute)
                continue
            marks = UNMARKED
        marks = {**UNMARKED, **marks}
        stage = marks["specname"] or attribute
        if stage in found and stage in _ARGUMENTS:
            problems.append(f"{stage} is implemented twice, by {attribute} too: put it into one method, or two hooks")
        found[stage] = Implementation(getattr(hook, attribute), marks)
    if not found:
        raise HookError(
            f"{_kind(hook)} implements no stage ({', '.join(STAGES)})"
            + (f"; {', '.join(unmarked)} is not marked, so nothing would call it" if unmarked else "")
            + ": override one in a subclass of tenterhooks.SessionRunHook, or mark it with @tenterhooks.hookimpl",
            hook,
        )
    if unmarked:
        _log.warning(
            "%s has %s without the mark @tenterhooks.hookimpl: named like a stage, but never called",
            _kind(hook),
            ", ".join(unmarked),
        )
    problems += [problem for stage, i in found.items() if (problem := _wrong_arguments(stage, i.method))]
    for stage, implementation in found.items():
        if not implementation.is_wrapper:
            problems += _not_run(stage, implementation.method, " or mark it with @tenterhooks.hookimpl(wrapper=True)")
    problems += _wrong_state(hook)
    if problems:
        raise HookError(f"{_kind(hook)} has stages that are not as specified:\n  " + "\n  ".join(problems), hook)
    return found


def _not_run(name: str, method: object, instead: str = "") -> list[str]:
    """Say what keeps the body of a method from being run by a call, and what to do instead of a yield."""
    # The method itself, or what an object of a class with `__call__` calls.
    for function in (method, getattr(type(method), "__call__", None)):  # noqa: B004 - it is looked at, not asked for.
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return [f"{name} is an async function, which is called and not awaited: make it a plain one (def)"]
        if inspect.isgeneratorfunction(function):
            return [f"{name} is a generator function, so that a call runs nothing of it: take out its yield{instead}"]
    return []


def _wrong_state(hook: object) -> list[str]:
    """Say what is wrong with the methods that save and restore a hook's state."""
    here = {name: static for name in _STATE if (static := inspect.getattr_static(hook, name, None)) is not None}
    problems = [problem for name in here for problem in _not_run(name, getattr(hook, name))]
    if len(here) == 1:
        (one,), (other,) = here, set(_STATE) - here.keys()
        problems.append(f"{one} is there and {other} is not, so no state would be saved: add it, or remove {one}")
    return problems


def _wrong_arguments(stage: str, method: object) -> str | None:
    """Say what is wrong with the parameters of a stage's method."""
    if not callable(method):
        return f"{stage} is no method but {method!r}"
    arguments = _ARGUMENTS.get(stage)
    if arguments is None:
        return None
    parameters = inspect.signature(method).parameters.values()
    wrong = [
        p.name
        for p in parameters
        if p.name not in arguments and p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if not wrong:
        return None
    here = ", ".join(str(p) for p in parameters)
    return f"{stage}({here}): rename {', '.join(wrong)}; it is called with {', '.join(arguments)}"


def _with_all_arguments(method: Callable[..., Any], stage: str) -> Callable[..., Any]:
    arguments = _ARGUMENTS[stage]
    parameters = list(inspect.signature(method).parameters.values())
    named = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    if any(p.kind is p.VAR_POSITIONAL for p in parameters) and named == arguments[: len(named)]:
        return method
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return lambda *given: method(**dict(zip(arguments, given, strict=True)))
    if tuple(p.name for p in parameters) == arguments and all(p.kind is not p.KEYWORD_ONLY for p in parameters):
        return method
    positional = [arguments.index(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY]
    wanted = [
        (p.name, arguments.index(p.name)) for p in parameters if p.name in arguments and p.kind is not p.POSITIONAL_ONLY
    ]
    return lambda *given: method(*[given[i] for i in positional], **{name: given[i] for name, i in wanted})


def _kind(hook: object) -> str:
    plugin = plugin_of(hook)
    of_type = f"of type {type(hook).__module__}.{type(hook).__qualname__}"
    return f"{hook!r} {of_type}" if plugin is None else f"hook {plugin}, {of_type},"
