"""The files of one checkpoint, without its manifest."""

import json
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import _arrays, _checksums, _codec, _files, _manifest
from tenterhooks_checkpoint._manifest import ARRAYS, STATE, Entry, Manifest, NotWholeError

__all__ = ["read", "write"]


def write(folder: Path, tree: object, arrays: dict[str, NDArray[Any]]) -> dict[str, Entry]:
    """Write a state that was taken apart, and wait until it is on the disk.

    Returns:
        What the manifest shall say of each file.

    Raises:
        OSError: It cannot be written.
    """
    state = json.dumps(tree, allow_nan=False, separators=(",", ":")).encode("ascii")
    (folder / STATE).write_bytes(state)
    size, checksum = _arrays.write(folder / ARRAYS, arrays)
    # The library makes a file that nobody else can read, whatever the umask.
    (folder / ARRAYS).chmod((folder / STATE).stat().st_mode)
    for name in (ARRAYS, STATE):
        _files.sync_file(folder / name)
    return {ARRAYS: Entry(size, checksum), STATE: Entry(len(state), _checksums.of_bytes(state))}


def read(checkpoint: Checkpoint) -> tuple[Manifest, dict[str, Any]]:
    """Read the manifest and the state of a checkpoint. What is given is what the checksums were compared of.

    Raises:
        NotWholeError: It is not whole; the message has all faults.
    """
    try:
        manifest = _manifest.check(checkpoint)
        state = (checkpoint.path / STATE).read_bytes()
        found, arrays = _arrays.read(checkpoint.path / ARRAYS, manifest.checksum)
        if found != manifest.files[ARRAYS].checksum or not manifest.vouches_for(STATE, state):
            raise NotWholeError("its files are damaged")
        return manifest, _codec.decode(json.loads(state.decode("ascii")), arrays)
    except (CheckpointError, NotWholeError, OSError, RecursionError, ValueError) as error:
        # Where a file is damaged, that is what there is to say, not what was made of it.
        _manifest.verify(checkpoint)
        raise NotWholeError(str(error)) from error
