"""The files of one checkpoint, without its manifest."""

import json
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _codec, _files, _manifest
from tenterhooks_checkpoint._manifest import ARRAYS, STATE, Entry, NotWholeError

__all__ = ["read", "write"]


def write(folder: Path, tree: object, arrays: dict[str, NDArray[Any]]) -> dict[str, Entry]:
    """Write a state that was taken apart, and wait until it is on the disk.

    Returns:
        What the manifest shall say of each file: it is read once more for that.

    Raises:
        OSError: It cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    state = folder / STATE
    state.write_text(json.dumps(tree, allow_nan=False, separators=(",", ":")), encoding="ascii")
    try:
        save_file(arrays, folder / ARRAYS)
    except SafetensorError as error:
        raise OSError(str(error)) from error
    # The library makes a file that nobody else can read, whatever the umask.
    (folder / ARRAYS).chmod(state.stat().st_mode)
    for name in (ARRAYS, STATE):
        _files.sync_file(folder / name)
    return {name: Entry.of(folder / name) for name in (ARRAYS, STATE)}


def read(checkpoint: Checkpoint) -> dict[str, Any]:
    """Read the state of a checkpoint.

    Raises:
        NotWholeError: It is not whole.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    _manifest.verify(checkpoint)
    try:
        tree = json.loads((checkpoint.path / STATE).read_bytes())
        return _codec.decode(tree, load_file(checkpoint.path / ARRAYS))
    except (AttributeError, CheckpointError, OSError, RecursionError, SafetensorError, TypeError, ValueError) as error:
        # The library has types of elements that NumPy lacks, and leaves it to NumPy to say so.
        raise NotWholeError(str(error)) from error
