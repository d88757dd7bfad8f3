"""PyTorch's random generators."""

from collections.abc import Mapping
from typing import Any

import torch

from tenterhooks.state_adapters import GeneratorHandler

__all__ = ["Generators", "global_generators"]


def global_generators() -> dict[str, Any]:
    """The generators of the process, by name; those of CUDA once it is initialised."""
    found: dict[str, Any] = {"<torch>": torch.default_generator}
    if torch.cuda.is_initialized():
        found |= {f"<torch.cuda:{index}>": generator for index, generator in enumerate(torch.cuda.default_generators)}
    return found


class Generators(GeneratorHandler):
    """Saves each `torch.Generator`."""

    def get_state(self, generator: Any) -> dict[str, Any]:
        """The state of a generator, which does not move on with it."""
        return {"kind": f"a torch.Generator on {generator.device.type}", "state": generator.get_state().numpy()}

    def set_state(self, generator: Any, state: Mapping[str, Any]) -> None:
        """Set a generator to a state of its kind."""
        generator.set_state(torch.from_numpy(state["state"].copy()))

    def seeded(self, generator: Any) -> dict[str, Any]:
        """The state that it was in when it was seeded last."""
        return self.get_state(torch.Generator(generator.device).manual_seed(generator.initial_seed()))

    def copied(self, generator: Any) -> Any:
        """A generator of its own that gives the same numbers."""
        twin = torch.Generator(generator.device)
        twin.set_state(generator.get_state())
        return twin
