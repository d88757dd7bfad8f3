"""What makes a folder a checkpoint: its name, and a manifest of its files that is written last."""

import json
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint
from tenterhooks_checkpoint._files import CHECKSUM, checksum, sync_file

__all__ = [
    "ARRAYS",
    "MANIFEST",
    "STATE",
    "Entry",
    "NotWholeError",
    "check",
    "committed",
    "folder_name",
    "verify",
    "write",
]

ARRAYS = "arrays.safetensors"
STATE = "state.json"
MANIFEST = "manifest.json"

_FORMAT = 1
_FOLDER = re.compile(r"checkpoint-([0-9]+)-step-([0-9]+)")


class NotWholeError(Exception):
    """A checkpoint is not whole; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the manifest says of one file.

    Attributes:
        size: In bytes.
        checksum: Of the content, in hexadecimal digits.
    """

    size: int
    checksum: str

    @classmethod
    def of(cls, path: Path) -> "Entry":
        """What there is to say of a file."""
        return cls(path.stat().st_size, checksum(path))


def folder_name(sequence: int, step: int) -> str:
    """The name of a checkpoint's folder."""
    return f"checkpoint-{sequence}-step-{step}"


def committed(directory: Path) -> list[Checkpoint]:
    """All that bears a checkpoint's name, whole or not, in the order of the commits.

    Raises:
        OSError: The folder is there, and cannot be read.
    """
    try:
        names = [path.name for path in directory.iterdir()]
    except FileNotFoundError:
        return []
    matches = [match for match in map(_FOLDER.fullmatch, names) if match is not None]
    found = [Checkpoint(path=directory / match[0], step=int(match[2]), sequence=int(match[1])) for match in matches]
    # Numbers, not text; the step and the name only decide when two processes wrote into one folder at once.
    return sorted(found, key=lambda checkpoint: (checkpoint.sequence, checkpoint.step, checkpoint.path.name))


def write(folder: Path, files: dict[str, Entry], *, step: int, sequence: int) -> None:
    """Write the manifest.

    Raises:
        OSError: It cannot be written.
    """
    content = {
        "format": _FORMAT,
        "step": step,
        "sequence": sequence,
        "checksum": CHECKSUM,
        "files": {name: {"size": entry.size, "checksum": entry.checksum} for name, entry in files.items()},
    }
    path = folder / MANIFEST
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    sync_file(path)


def check(checkpoint: Checkpoint) -> dict[str, Entry]:
    """Check that a checkpoint is whole as far as that shows without reading its files.

    Returns:
        What its manifest says of its files.

    Raises:
        NotWholeError: It is not.
    """
    files = _read(checkpoint)
    for name, entry in files.items():
        size = _size(checkpoint.path / name)
        if size != entry.size:
            raise NotWholeError(f"{name} has {size} bytes and should have {entry.size}")
    return files


def verify(checkpoint: Checkpoint) -> None:
    """Check that a checkpoint is whole, down to the checksums.

    Raises:
        NotWholeError: It is not.
    """
    for name, entry in check(checkpoint).items():
        try:
            found = checksum(checkpoint.path / name)
        except OSError as error:
            raise NotWholeError(f"{name} cannot be read: {error}") from error
        if found != entry.checksum:
            raise NotWholeError(f"{name} is damaged: its {CHECKSUM} is {found} and should be {entry.checksum}")


def _read(checkpoint: Checkpoint) -> dict[str, Entry]:
    _size(checkpoint.path / MANIFEST)
    try:
        content = json.loads((checkpoint.path / MANIFEST).read_bytes())
    except OSError as error:
        raise NotWholeError(f"{MANIFEST} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise NotWholeError(f"{MANIFEST} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise NotWholeError(f"{MANIFEST} is damaged: it is no JSON object")
    _expect("format", content.get("format"), _FORMAT, "; a newer tenterhooks-checkpoint may read it")
    _expect("checksum", content.get("checksum"), CHECKSUM, "; a newer tenterhooks-checkpoint may read it")
    _expect("step", content.get("step"), checkpoint.step)
    _expect("sequence", content.get("sequence"), checkpoint.sequence)
    files = content.get("files")
    # Just these names: whatever a manifest says, no file outside its folder is looked at.
    if not isinstance(files, dict) or set(files) != {ARRAYS, STATE}:
        raise NotWholeError(f"{MANIFEST} does not list {ARRAYS} and {STATE}")
    return {name: _entry(name, files[name]) for name in (ARRAYS, STATE)}


def _entry(name: str, content: Any) -> Entry:
    match content:
        case {"size": int(size), "checksum": str(digits)}:
            return Entry(size, digits)
    raise NotWholeError(f"{MANIFEST} does not give size and checksum of {name}")


def _expect(what: str, found: object, wanted: object, advice: str = "") -> None:
    if found != wanted:
        raise NotWholeError(f"{MANIFEST} says that its {what} is {found!r}, not {wanted!r}{advice}")


def _size(path: Path) -> int:
    try:
        folder, file = path.parent.lstat(), path.lstat()
    except OSError as error:
        raise NotWholeError(f"{path.name} is missing: {error}") from error
    # A link might lead out of the folder.
    if not stat.S_ISDIR(folder.st_mode):
        raise NotWholeError("it is no folder")
    if not stat.S_ISREG(file.st_mode):
        raise NotWholeError(f"{path.name} is no regular file")
    return file.st_size
