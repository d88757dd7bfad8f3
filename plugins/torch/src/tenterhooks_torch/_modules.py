"""PyTorch's modules: their state by the names of the plain module, whatever it is wrapped in."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import nn

from tenterhooks.state import mismatches
from tenterhooks.state_adapters import ObjectHandler

__all__ = ["Modules"]


class Modules(ObjectHandler):
    """Saves each module by its `state_dict`."""

    def state(self, current: Any) -> Any:
        """The state by plain names."""
        state = current.state_dict()
        plain = _plain_names(current, state)
        return {plain[name]: value for name, value in state.items()}

    def mismatches(self, current: Any, saved: Any, path: str, there: str) -> Iterator[str]:
        """Name the parameters and buffers that are missing, unknown, or of another shape or type of elements."""
        if not isinstance(saved, Mapping):
            yield f"{path}: a module here, a {type(saved).__name__} {there}"
            return
        state = self.state(current)
        for name, value in state.items():
            if name in saved:
                yield from mismatches(value, saved[name], f"{path}/{name}", there)
            else:
                yield f"{path}/{name}: it is here, and not {there}"
        for name in saved:
            if name not in state:
                yield f"{path}/{name}: it is {there}, and not here"

    def load(self, current: Any, state: Any) -> None:
        """Load a state by plain names into the module's own parameters and buffers."""
        plain = _plain_names(current, current.state_dict())
        current.load_state_dict({name: state[plain[name]] for name in plain})


def _plain_names(module: Any, state: Mapping[str, Any]) -> dict[str, str]:
    """The names of a module's state without the parts that `torch.compile` and data-parallel wrappers put in."""
    wrappers = (nn.DataParallel, nn.parallel.DistributedDataParallel)
    parts = [
        (f"{name}.{part}." if name else f"{part}.", len(part) + 1)
        for name, wrapper in module.named_modules(remove_duplicate=False)
        for part in [
            *(["_orig_mod"] if "_orig_mod" in wrapper._modules else []),
            *(["module"] * isinstance(wrapper, wrappers)),
        ]
    ]
    # The innermost first, since its name has all others in it.
    parts.sort(key=lambda part: -len(part[0]))
    plain = {}
    for name in state:
        plain[name] = name
        for prefix, length in parts:
            if plain[name].startswith(prefix):
                plain[name] = plain[name][: len(prefix) - length] + plain[name][len(prefix) :]
    return plain
