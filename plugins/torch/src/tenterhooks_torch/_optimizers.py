"""PyTorch's optimizers, and the schedulers of their learning rates."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from tenterhooks.state_adapters import ObjectHandler

__all__ = ["Optimizers", "Schedulers"]


class Optimizers(ObjectHandler):
    """Saves each optimizer by its `state_dict`."""

    def state(self, current: Any) -> Any:
        """What the optimizer keeps for each parameter, and its options."""
        return current.state_dict()

    def mismatches(self, current: Any, saved: Any, path: str, there: str) -> Iterator[str]:
        """Compare the groups of parameters."""
        here = [len(group["params"]) for group in current.param_groups]
        try:
            found = [len(group["params"]) for group in saved["param_groups"]]
        except (LookupError, TypeError):
            yield f"{path}: an optimizer here, none {there}"
            return
        if here != found:
            yield f"{path}: groups of {here} parameters here, of {found} {there}"

    def load(self, current: Any, state: Any) -> None:
        """Load a state, each of its tensors in the type of elements that it was saved in."""
        before = [dict(group) for group in current.param_groups]
        current.load_state_dict(state)
        for old, group, saved in zip(before, current.param_groups, state["param_groups"], strict=True):
            for name, value in group.items():
                # A scheduler, or a graph of CUDA's, may hold on to a learning rate that is a tensor.
                if isinstance(value, torch.Tensor) and isinstance(old.get(name), torch.Tensor):
                    old[name].detach().copy_(value)
                    group[name] = old[name]
            for parameter, index in zip(group["params"], saved["params"], strict=True):
                kept = state["state"].get(index, {})
                _put_back_dtypes(current.state.get(parameter), kept if isinstance(kept, Mapping) else {})


class Schedulers(ObjectHandler):
    """Saves each scheduler by its `state_dict`."""

    def state(self, current: Any) -> Any:
        """Where the scheduler stands."""
        return current.state_dict()

    def mismatches(self, current: Any, saved: Any, path: str, there: str) -> Iterator[str]:
        """Name the parts that are missing; some schedulers get more of them as they go."""
        here = current.state_dict().keys()
        if not isinstance(saved, Mapping):
            yield f"{path}: a {type(current).__name__} here, none {there}"
        elif here - saved.keys():
            yield f"{path}: a {type(current).__name__} here, one without {sorted(here - saved.keys())} {there}"

    def load(self, current: Any, state: Any) -> None:
        """Load a state."""
        current.load_state_dict(state)
        _count_milestones(current)


def _put_back_dtypes(state: Any, saved: Mapping[Any, Any]) -> None:
    """Undo that torch has made what an optimizer keeps of the parameter's type of elements."""
    for name, value in saved.items():
        if isinstance(value, torch.Tensor) and value.dtype != state[name].dtype:
            state[name] = value.to(state[name].device)


def _count_milestones(scheduler: Any) -> None:
    """Make the milestones of a scheduler, and of those in it, again what they were before they were saved as a dict."""
    if isinstance(scheduler, torch.optim.lr_scheduler.MultiStepLR):
        scheduler.milestones = Counter(scheduler.milestones)
    for inner in getattr(scheduler, "_schedulers", ()):
        _count_milestones(inner)
