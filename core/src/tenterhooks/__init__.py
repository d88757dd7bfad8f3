"""tenterhooks: a small session loop, and hooks around training steps that people `pip install`."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenterhooks.coordinator import Coordinator
    from tenterhooks.creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
    from tenterhooks.default_graph import get_default_graph
    from tenterhooks.errors import (
        AbortedError,
        CheckpointError,
        ConfigurationError,
        DeadlineExceededError,
        HookError,
        OutOfRangeError,
        PluginError,
        UnavailableError,
        UnknownNameError,
    )
    from tenterhooks.graph import Graph
    from tenterhooks.hooks import RunMetadata, SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
    from tenterhooks.hookspecs import hookimpl, hookspec
    from tenterhooks.monitored_session import MonitoredSession, SingularMonitoredSession
    from tenterhooks.nodes import Node, Placeholder, Source, Tensor, TrainOp, Variable
    from tenterhooks.plugins import make_hook
    from tenterhooks.restore import Restored
    from tenterhooks.savers import Checkpoint, Saver
    from tenterhooks.session import Session
    from tenterhooks.state import Stateful
    from tenterhooks.step_fn import StepContext
    from tenterhooks.stop import StopRequest
    from tenterhooks.timer import SecondOrStepTimer
    from tenterhooks.training import MonitoredTrainingSession

__all__ = [
    "AbortedError",
    "Checkpoint",
    "CheckpointError",
    "ChiefSessionCreator",
    "ConfigurationError",
    "Coordinator",
    "DeadlineExceededError",
    "Graph",
    "HookError",
    "MonitoredSession",
    "MonitoredTrainingSession",
    "Node",
    "OutOfRangeError",
    "Placeholder",
    "PluginError",
    "Restored",
    "RunMetadata",
    "Saver",
    "SecondOrStepTimer",
    "Session",
    "SessionCreator",
    "SessionRunArgs",
    "SessionRunContext",
    "SessionRunHook",
    "SessionRunValues",
    "SingularMonitoredSession",
    "Source",
    "Stateful",
    "StepContext",
    "StopRequest",
    "Tensor",
    "TrainOp",
    "UnavailableError",
    "UnknownNameError",
    "Variable",
    "WorkerSessionCreator",
    "get_default_graph",
    "hookimpl",
    "hookspec",
    "make_hook",
]

# Where each public name comes from: a module is imported when a name of it is used.
_MODULES = {
    "coordinator": ("Coordinator",),
    "creators": ("ChiefSessionCreator", "SessionCreator", "WorkerSessionCreator"),
    "default_graph": ("get_default_graph",),
    "errors": (
        "AbortedError",
        "CheckpointError",
        "ConfigurationError",
        "DeadlineExceededError",
        "HookError",
        "OutOfRangeError",
        "PluginError",
        "UnavailableError",
        "UnknownNameError",
    ),
    "graph": ("Graph",),
    "hooks": ("RunMetadata", "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"),
    "hookspecs": ("hookimpl", "hookspec"),
    "monitored_session": ("MonitoredSession", "SingularMonitoredSession"),
    "nodes": ("Node", "Placeholder", "Source", "Tensor", "TrainOp", "Variable"),
    "plugins": ("make_hook",),
    "restore": ("Restored",),
    "savers": ("Checkpoint", "Saver"),
    "session": ("Session",),
    "state": ("Stateful",),
    "step_fn": ("StepContext",),
    "stop": ("StopRequest",),
    "timer": ("SecondOrStepTimer",),
    "training": ("MonitoredTrainingSession",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


# Not for type checkers, for which any name would be there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _HOME:
            value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
            return value
        # Its modules are there without an import of their own, as they are where all is imported at once.
        if not name.startswith("_") and find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
