"""Flax's NNX: modules, optimizers and streams of random numbers, which change in place."""

from collections.abc import Iterator
from typing import Any

import jax

from tenterhooks.state import mismatches
from tenterhooks.state_adapters import ObjectHandler
from tenterhooks_jax._values import VALUES

__all__ = ["MODULES", "Modules"]


class Modules(ObjectHandler):
    """Saves each by its variables, under the names of its attributes."""

    def state(self, current: Any) -> Any:
        """The values of the variables, in dicts."""
        from flax import nnx

        return nnx.to_pure_dict(nnx.state(current))

    def mismatches(self, current: Any, saved: Any, path: str, there: str) -> Iterator[str]:
        """Name the variables that are missing, unknown, or of another shape or type of elements."""
        yield from mismatches(self.state(current), saved, path, there)

    def load(self, current: Any, state: Any) -> None:
        """Give its variables other values."""
        from flax import nnx

        variables = nnx.state(current)
        here = nnx.to_pure_dict(variables)
        nnx.replace_by_pure_dict(variables, jax.tree_util.tree_map(_placed, here, state))
        nnx.update(current, variables)


MODULES = Modules()


def _placed(current: Any, value: Any) -> Any:
    return VALUES.load(current, value, in_place=True) if isinstance(current, jax.Array) else value
