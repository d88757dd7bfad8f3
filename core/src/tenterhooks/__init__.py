"""tenterhooks: a small session loop, and hooks around training steps that people `pip install`."""

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
