"""Sources of a framework that is not NumPy, and of an adapter for it, for tests to install."""

from typing import Any

from tenterhooks.testing import FakeDistributions as Install

__all__ = ["install_adapter", "install_framework"]

FRAMEWORK = """
class Tensor:
    def __init__(self, numbers, parent=None):
        self.numbers, self.parent = list(numbers), parent


class Frozen(Tensor):
    pass


# Classes of programs, the attributes of which are parts.
registered = set()


class Module:
    def __init__(self, **tensors):
        self.tensors = tensors


class Noise:
    def __init__(self, position=0):
        self.position = position


class Saved:
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


noise = Noise()
"""

ADAPTER = """
import fake_frame
from tenterhooks import CheckpointError
from tenterhooks.state_adapters import GeneratorHandler, ObjectHandler, TreeHandler, ValueHandler


class Values(ValueHandler):
    adapter = "fake_frame"

    def capture(self, value, path, shared):
        if any(number < 0 for number in value.numbers):
            raise CheckpointError(f"{path} has negative numbers")
        index = shared.setdefault(id(value), len(shared))
        return {"numbers": list(value.numbers), "index": index}

    def restored(self, saved, shared):
        return shared.setdefault(saved["index"], fake_frame.Tensor(saved["numbers"]))

    def form(self, value):
        return f"a tensor of {len(value.numbers)}"

    def saved_form(self, saved):
        return f"a tensor of {len(saved['numbers'])}"

    def outline(self, value):
        return fake_frame.Tensor([0] * len(value.numbers))

    def load(self, current, value, *, in_place):
        if not in_place or isinstance(current, fake_frame.Frozen):
            return value
        current.numbers[:] = value.numbers
        return current

    def fetched(self, value, *, copy):
        return fake_frame.Tensor(value.numbers) if copy or value.parent is not None else value

    def immutable(self, value):
        return isinstance(value, fake_frame.Frozen)


class Trees(TreeHandler):
    def parts(self, value):
        return {name: part for name, part in vars(value).items() if name != "static"}

    def with_parts(self, value, parts):
        made = object.__new__(type(value))
        vars(made).update({**vars(value), **parts})
        return made

    def load(self, current, parts):
        return self.with_parts(current, parts)

    def immutable(self, value):
        return value.static != "mutable"


class Modules(ObjectHandler):
    def state(self, current):
        return current.tensors

    def mismatches(self, current, saved, path, there):
        if saved.keys() != current.tensors.keys():
            yield f"{path}: other tensors {there}"

    def load(self, current, state):
        current.tensors = state


class Noises(GeneratorHandler):
    def get_state(self, generator):
        return {"kind": "a Noise", "state": generator.position}

    def set_state(self, generator, state):
        generator.position = state["state"] + 0

    def seeded(self, generator):
        return {"kind": "a Noise", "state": 0}

    def copied(self, generator):
        return fake_frame.Noise(generator.position)


class Adapter:
    TREES = Trees()
    HANDLERS = {fake_frame.Tensor: Values(), fake_frame.Module: Modules(), fake_frame.Noise: Noises()}

    def handler(self, cls):
        if cls in fake_frame.registered:
            return self.TREES
        return next((handler for base, handler in self.HANDLERS.items() if issubclass(cls, base)), None)

    def values(self):
        return self.HANDLERS[fake_frame.Tensor]

    def global_generators(self):
        return {"<fake_frame>": fake_frame.noise}
"""


def install_framework(install: Install, name: str = "fake_frame") -> None:
    """Install the framework alone."""
    modules: Any = {name: FRAMEWORK}
    install(f"{name}-itself", {}, **modules)


def install_adapter(install: Install) -> None:
    """Install its adapter."""
    install(
        "tenterhooks-fake",
        {"fake_frame": "fake_frame_adapter:Adapter"},
        group="tenterhooks.state",
        fake_frame_adapter=ADAPTER,
    )
