"""The ways to save and restore a state that are compared."""

import os
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tenterhooks_checkpoint import Saver
from tenterhooks_checkpoint._background import BackgroundSaver

__all__ = ["CONTENDERS", "Contender", "State"]

State = dict[str, NDArray[np.float32]]


class Contender:
    """A way to save and restore a state."""

    name = ""
    needs: tuple[str, ...] = ()
    goes_on = False  # whether the training goes on while it writes

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.count = 0

    def save(self, state: State) -> None:
        """Save, and come back when the training could go on."""
        raise NotImplementedError

    def wait(self) -> None:
        """Come back when what was saved is on the disk."""

    def restore(self) -> Any:
        """Read what was saved last."""
        raise NotImplementedError

    def forget(self) -> None:
        """Delete what was saved before the last."""


class Tenterhooks(Contender):
    name = "tenterhooks"
    goes_on = True

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.saver = Saver(directory, max_to_keep=1)
        self.background = BackgroundSaver(self.saver)

    def save(self, state: State) -> None:
        self.count += 1
        self.background.save({"variables": state}, step=self.count, metrics={})

    def wait(self) -> None:
        self.background.wait()
        self.background.raise_failure()

    def restore(self) -> Any:
        return self.saver.restore()


class Synchronous(Tenterhooks):
    name = "tenterhooks, asynchronous=False"
    goes_on = False

    def save(self, state: State) -> None:
        self.count += 1
        self.saver.save({"variables": state}, step=self.count)


class OneFile(Contender):
    """Overwrites one file, and flushes it."""

    suffix = ""

    def save(self, state: State) -> None:
        path = self.directory / f"state{self.suffix}"
        self.write(path, state)
        with path.open("rb") as file:
            os.fsync(file.fileno())

    def write(self, path: Path, state: State) -> None:
        raise NotImplementedError


class Savez(OneFile):
    name = "numpy.savez + fsync"
    suffix = ".npz"

    def write(self, path: Path, state: State) -> None:
        np.savez(path, **cast("dict[str, Any]", state))

    def restore(self) -> Any:
        with np.load(self.directory / "state.npz") as file:
            return {name: file[name] for name in file}


class Safetensors(OneFile):
    name = "safetensors + fsync"
    suffix = ".safetensors"

    def write(self, path: Path, state: State) -> None:
        from safetensors.numpy import save_file

        save_file(state, path)

    def restore(self) -> Any:
        from safetensors.numpy import load_file

        return load_file(self.directory / "state.safetensors")


class TorchSave(OneFile):
    name = "torch.save + fsync"
    needs = ("torch",)
    suffix = ".pt"

    def write(self, path: Path, state: State) -> None:
        torch = import_module("torch")
        torch.save({name: torch.from_numpy(array) for name, array in state.items()}, path)

    def restore(self) -> Any:
        torch = import_module("torch")
        return torch.load(self.directory / "state.pt", weights_only=True)


class DistributedCheckpoint(Contender):
    name = "torch DCP, async_save"
    needs = ("torch",)
    goes_on = True

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        dist = import_module("torch.distributed")
        if not dist.is_initialized():
            dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        self.future: Any = None

    def save(self, state: State) -> None:
        torch, dcp = import_module("torch"), import_module("torch.distributed.checkpoint")
        self.wait()
        self.count += 1
        tensors = {name: torch.from_numpy(array) for name, array in state.items()}
        self.state = tensors
        self.future = dcp.async_save(tensors, checkpoint_id=str(self.directory / str(self.count)))

    def wait(self) -> None:
        if self.future is not None:
            self.future.result()

    def restore(self) -> Any:
        torch, dcp = import_module("torch"), import_module("torch.distributed.checkpoint")
        tensors = {name: torch.empty_like(tensor) for name, tensor in self.state.items()}
        dcp.load(tensors, checkpoint_id=str(self.directory / str(self.count)))
        return tensors

    def forget(self) -> None:
        shutil.rmtree(self.directory / str(self.count - 1), ignore_errors=True)


class Orbax(Contender):
    name = "Orbax, async"
    needs = ("jax", "orbax.checkpoint")
    goes_on = True

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        ocp = import_module("orbax.checkpoint")
        self.checkpointer = ocp.AsyncCheckpointer(ocp.PyTreeCheckpointHandler())

    def save(self, state: State) -> None:
        self.count += 1
        self.checkpointer.save(self.directory / str(self.count), state)

    def wait(self) -> None:
        self.checkpointer.wait_until_finished()

    def restore(self) -> Any:
        return self.checkpointer.restore(self.directory / str(self.count))

    def forget(self) -> None:
        shutil.rmtree(self.directory / str(self.count - 1), ignore_errors=True)


CONTENDERS = (Tenterhooks, Synchronous, Savez, Safetensors, TorchSave, DistributedCheckpoint, Orbax)
