"""Checks a hook against the contract, without a test runner."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tenterhooks.errors import NotPublishedError
from tenterhooks.nodes import EVERYTHING, Published
from tenterhooks.testing.importing import NotCheckedError
from tenterhooks.testing.process import printed
from tenterhooks.testing.rules import RULES
from tenterhooks.testing.sessions import FakeSession, Values
from tenterhooks.testing.subject import Subject
from tenterhooks.testing.surroundings import ManualClock

__all__ = ["RuleResult", "check", "check_hook"]

_MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What became of one rule.

    Attributes:
        rule: The name of the rule.
        state: "ok", "failed", or "not checked", where it cannot be checked here.
        message: What is wrong, or why it was not checked, or what is to be known; empty where there is nothing to say.
    """

    rule: str
    state: Literal["ok", "failed", "not checked"]
    message: str = ""

    def __str__(self) -> str:
        return f"{self.state}: {self.rule}" + (f": {self.message}" if self.message else "")


def check(subject: Subject) -> list[RuleResult]:
    """Check all rules.

    Args:
        subject: What the hook is, and what it needs.

    Returns:
        What became of each rule, in the order of `RULES`.
    """
    results = []
    # What a hook prints is no part of a report, and one of the rules tells of it.
    with printed(), tempfile.TemporaryDirectory() as folder:
        for number, (name, rule) in enumerate(RULES.items()):
            try:
                remark = rule(subject, Path(folder, str(number)))
                results.append(RuleResult(name, "ok", remark or ""))
            except NotCheckedError as reason:
                results.append(RuleResult(name, "not checked", str(reason)))
            # One that ends the program breaks a rule as one that raises an error does.
            except (Exception, SystemExit) as error:
                failed = isinstance(error, AssertionError)
                message = str(error) if failed else f"it raises {type(error).__name__}: {error}"
                results.append(RuleResult(name, "failed", message))
                if name == "builds":
                    break
    return results


def check_hook(hook: str | Callable[..., object], /, **options: Any) -> list[RuleResult]:
    """Check a hook with these options.

    The values that it asks for are found out: each is a number that falls from step to step. Whether its periods count
    from the session's start is found out too. A hook that needs more than that is checked with `check`.

    Args:
        hook: The short name of an installed plugin, or a hook's class or factory.
        options: What it is made with.

    Returns:
        What became of each rule. Where it cannot be made at all, that is the only one.

    Raises:
        PluginError: The plugin is missing, claimed twice or broken.

    Example:
        >>> import tenterhooks as th
        >>> class Loud(th.SessionRunHook):
        ...     def begin(self, graph):
        ...         print("here I am")
        >>> [str(result)[:39] for result in check_hook(Loud) if result.state == "failed"]
        ['failed: prints nothing: in a graph sess']
    """
    attributes: dict[str, Any] = {"options": options, "counts_from_start": None}
    subject = Subject.named(hook, **attributes) if isinstance(hook, str) else Subject(factory=hook, **attributes)
    with printed():
        values, feeds = _wishes(subject)
    return check(replace(subject, values=values, feeds=feeds))


def _wishes(subject: Subject) -> tuple[Values, Mapping[str, Any]]:
    """The values that a hook asks for, and what it feeds, found out by trying."""
    names: list[str] = []
    values: list[dict[str, float]] = []
    for _ in range(_MOST_NAMES):
        values = [dict.fromkeys(names, 1.0 / (step + 1)) for step in range(subject.steps)]
        with tempfile.TemporaryDirectory() as folder:
            try:
                clock = ManualClock()
                fake = FakeSession(
                    [subject.hook(Path(folder), clock)],
                    loop="own",
                    values=values,
                    clock=clock,
                    checkpoint_dir=Path(folder),
                )
                with fake:
                    fake.go_to()
            except NotPublishedError as error:
                names.append(error.name)
                continue
            except (Exception, SystemExit):
                # Which rule it breaks is what the rules say.
                return values, {}
        feeds = {name: 0.0 for run in fake.runs for name in run.fed}
        # What it goes without, if need be, was named all the same.
        optional = _published_names(fake).difference(names, feeds)
        if not optional:
            return values, feeds
        names.extend(sorted(optional))
    return values, {}


def _published_names(fake: FakeSession) -> set[str]:
    """The names of all values that a loop of the program's own was to publish."""
    nodes = {} if fake.raw is None else fake.raw.graph.nodes
    return {name for name, node in nodes.items() if isinstance(node, Published) and name != EVERYTHING}
