"""Whether a metric gets better: the best value so far, and for how long there was none."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Mode", "Progress", "Rule"]

Mode = Literal["min", "max"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What counts as an improvement. NaN is none, and anything is better than no value at all.

    Attributes:
        mode: Whether lower or higher values are better.
        min_delta: By how much more than this a value has to be better.
        relative: Whether that is a share of what it has to be better than, in place of an amount.
        baseline: Values that are not better than this are no reason to be patient.
    """

    mode: Mode = "min"
    min_delta: float = 0.0
    relative: bool = False
    baseline: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("min", "max"):
            raise ValueError(f'mode is "min" or "max", not {self.mode!r}')
        if not (self.min_delta >= 0 and math.isfinite(self.min_delta)):
            raise ValueError(f"min_delta is a finite number, 0 or more, not {self.min_delta}")
        if self.baseline is not None and math.isnan(self.baseline):
            raise ValueError("baseline is a number, not NaN: nothing would be better")

    def is_better(self, value: float, than: float | None) -> bool:
        """Whether a value is an improvement on another one; None stands for none at all."""
        if math.isnan(value):
            return False
        if than is None:
            return True
        # Infinity is not to be made better or worse by an amount, nor multiplied.
        delta = 0.0 if math.isinf(than) else self.min_delta * (abs(than) if self.relative else 1.0)
        return value < than - delta if self.mode == "min" else value > than + delta


class Progress:
    """The best value so far, and the checks since it.

    Args:
        rule: What counts as an improvement.

    Attributes:
        best: The best value; None before there was one.
        best_step: The step of it.
        value: The value that was checked last; None before there was one.
        step: The step of it.
        checks: The number of checks since the last improvement that was better than the baseline, too.
        since: The step of that improvement; where there was none, that of the first check.
    """

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.best: float | None = None
        self.best_step: int | None = None
        self.value: float | None = None
        self.step: int | None = None
        self.checks = 0
        self.since: int | None = None

    def check(self, value: float, step: int) -> bool:
        """Take the next value, and say whether it is the best so far."""
        self.value, self.step = value, step
        self.checks += 1
        if self.since is None:
            self.since = step
        if not self._rule.is_better(value, self.best):
            return False
        self.best, self.best_step = value, step
        if self._rule.baseline is None or self._rule.is_better(value, self._rule.baseline):
            self.checks, self.since = 0, step
        return True

    def state_dict(self) -> dict[str, Any]:
        """All of it, and nothing of the rule."""
        return {name: value for name, value in vars(self).items() if name != "_rule"}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        vars(self).update(state)
