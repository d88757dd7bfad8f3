"""For authors of hooks: real sessions whose values are given, and the contract that every hook keeps."""

from tenterhooks.testing.checking import RuleResult, check, check_hook
from tenterhooks.testing.contract import HookContract
from tenterhooks.testing.distributions import FakeDistributions
from tenterhooks.testing.importing import NotCheckedError
from tenterhooks.testing.recorder import Call, Recorder, raising
from tenterhooks.testing.rules import RULES
from tenterhooks.testing.runner import Outcome, run_hooks
from tenterhooks.testing.savers import MemorySaver
from tenterhooks.testing.sessions import FakeSession, Run
from tenterhooks.testing.subject import HEAVY, Subject
from tenterhooks.testing.surroundings import ManualClock

__all__ = [
    "HEAVY",
    "RULES",
    "Call",
    "FakeDistributions",
    "FakeSession",
    "HookContract",
    "ManualClock",
    "MemorySaver",
    "NotCheckedError",
    "Outcome",
    "Recorder",
    "RuleResult",
    "Run",
    "Subject",
    "check",
    "check_hook",
    "raising",
    "run_hooks",
]
