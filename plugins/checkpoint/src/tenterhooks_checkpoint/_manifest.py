"""What makes a folder a checkpoint: its name, and a manifest of its files that is written last."""

import json
import math
import re
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint
from tenterhooks_checkpoint import _checksums
from tenterhooks_checkpoint._checksums import CHECKSUM
from tenterhooks_checkpoint._files import sync_file

__all__ = [
    "ARRAYS",
    "MANIFEST",
    "STATE",
    "Entry",
    "Manifest",
    "NotWholeError",
    "check",
    "committed",
    "folder_name",
    "named",
    "read",
    "verify",
    "write",
]

ARRAYS = "arrays.safetensors"
STATE = "state.json"
MANIFEST = "manifest.json"

# The first had crc32, and neither a time nor a checksum of itself.
_FORMAT = 2
_FOLDER = re.compile(r"checkpoint-([0-9]+)-step-([0-9]+)")

# The last member is the checksum of every byte before its digits, so no byte can change unseen, not even a space.
_SEAL = ',\n  "manifest": "'
_SEALED = re.compile(rb'(.*,\n  "manifest": ")([0-9a-f]+)"\n\}\n', re.DOTALL)

# What the saver writes has less than 1 KiB; whatever lies there instead is not read into memory.
_MAX_SIZE = 1 << 20

_NEWER = "; a newer tenterhooks-checkpoint may read it"


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


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says.

    Attributes:
        time: When it was written; None in one of the first format.
        checksum: The name of the checksum in the entries.
        files: An entry for each file.
        metrics: What was measured at this step, by name.
    """

    time: datetime | None
    checksum: str
    files: dict[str, Entry]
    metrics: dict[str, float]

    def vouches_for(self, name: str, content: bytes) -> bool:
        """Whether this is what that file should hold."""
        return self.files[name] == Entry(len(content), _checksums.of_bytes(content, self.checksum))


def folder_name(sequence: int, step: int) -> str:
    """The name of a checkpoint's folder."""
    return f"checkpoint-{sequence}-step-{step}"


def named(path: Path) -> Checkpoint | None:
    """The checkpoint that a path names, whole or not, or there or not; None if it is no checkpoint's name."""
    match = _FOLDER.fullmatch(path.name)
    return None if match is None else Checkpoint(path=path, step=int(match[2]), sequence=int(match[1]))


def committed(directory: Path) -> list[Checkpoint]:
    """All that bears a checkpoint's name, whole or not, in the order of the commits.

    Raises:
        OSError: The folder is there, and cannot be read.
    """
    try:
        found = [checkpoint for path in directory.iterdir() if (checkpoint := named(path)) is not None]
    except FileNotFoundError:
        return []
    # Numbers, not text; the step and the name only decide when two processes wrote into one folder at once.
    return sorted(found, key=lambda checkpoint: (checkpoint.sequence, checkpoint.step, checkpoint.path.name))


def write(folder: Path, files: dict[str, Entry], *, step: int, sequence: int, metrics: Mapping[str, float]) -> None:
    """Write the manifest, with the time of now.

    Raises:
        OSError: It cannot be written.
    """
    content = {
        "format": _FORMAT,
        "step": step,
        "sequence": sequence,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "checksum": CHECKSUM,
        # JSON has no word for what is not finite.
        "metrics": {name: value if math.isfinite(value) else str(value) for name, value in metrics.items()},
        "files": {name: {"size": entry.size, "checksum": entry.checksum} for name, entry in files.items()},
    }
    sealed = (json.dumps(content, indent=2).removesuffix("\n}") + _SEAL).encode("ascii")
    path = folder / MANIFEST
    path.write_bytes(sealed + _checksums.of_bytes(sealed).encode("ascii") + b'"\n}\n')
    sync_file(path)


def read(checkpoint: Checkpoint) -> Manifest:
    """Read a checkpoint's manifest.

    Raises:
        NotWholeError: It is not there, is damaged, or is of another checkpoint.
    """
    size = _size(checkpoint.path / MANIFEST)
    if size > _MAX_SIZE:
        raise NotWholeError(f"{MANIFEST} is damaged: it has {size} bytes, more than any manifest")
    try:
        raw = (checkpoint.path / MANIFEST).read_bytes()
        content = json.loads(raw.decode("ascii"))
    except OSError as error:
        raise NotWholeError(f"{MANIFEST} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise NotWholeError(f"{MANIFEST} is damaged: {error}") from error
    if not isinstance(content, dict):
        raise NotWholeError(f"{MANIFEST} is damaged: it is no JSON object")
    if content.get("format") == 1:
        _expect("checksum", content.get("checksum"), "crc32")
    else:
        _expect("format", content.get("format"), _FORMAT, _NEWER)
        _expect("checksum", content.get("checksum"), CHECKSUM, _NEWER)
        _check_seal(raw)
    _expect("step", content.get("step"), checkpoint.step)
    _expect("sequence", content.get("sequence"), checkpoint.sequence)
    files = content.get("files")
    # Just these names: whatever a manifest says, no file outside its folder is looked at.
    if not isinstance(files, dict) or set(files) != {ARRAYS, STATE}:
        raise NotWholeError(f"{MANIFEST} does not list {ARRAYS} and {STATE}")
    return Manifest(
        time=_time(content.get("time")),
        checksum=content["checksum"],
        files={name: _entry(name, files[name]) for name in (ARRAYS, STATE)},
        metrics=_metrics(content.get("metrics", {})),
    )


def check(checkpoint: Checkpoint, *, contents: Collection[str] = ()) -> Manifest:
    """Check that a checkpoint is whole as far as that shows without reading its files.

    Args:
        checkpoint: Which one.
        contents: The names of files that are read all the same, and compared with their checksums.

    Returns:
        What its manifest says.

    Raises:
        NotWholeError: It is not; the message has all faults.
    """
    manifest = read(checkpoint)
    faults = []
    for name, entry in manifest.files.items():
        fault = _size_fault(checkpoint.path / name, entry)
        if fault is None and name in contents:
            fault = _content_fault(checkpoint.path / name, entry, manifest.checksum)
        if fault is not None:
            faults.append(fault)
    if faults:
        raise NotWholeError("; ".join(faults))
    return manifest


def verify(checkpoint: Checkpoint) -> Manifest:
    """Check that a checkpoint is whole, down to the checksums.

    Returns:
        What its manifest says.

    Raises:
        NotWholeError: It is not; the message has all faults.
    """
    return check(checkpoint, contents=(ARRAYS, STATE))


def _check_seal(raw: bytes) -> None:
    """Compare a manifest's checksum of itself."""
    match = _SEALED.fullmatch(raw)
    if match is None:
        raise NotWholeError(f"{MANIFEST} is damaged: it does not end with a checksum of itself")
    found, wanted = _checksums.of_bytes(match[1]), match[2].decode("ascii")
    if found != wanted:
        raise NotWholeError(f"{MANIFEST} is damaged: its {CHECKSUM} is {found} and should be {wanted}")


def _entry(name: str, content: Any) -> Entry:
    match content:
        case {"size": int(size), "checksum": str(digits)}:
            return Entry(size, digits)
    raise NotWholeError(f"{MANIFEST} does not give size and checksum of {name}")


def _time(content: Any) -> datetime | None:
    if content is None:
        return None
    try:
        return datetime.fromisoformat(content).astimezone(UTC)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotWholeError(f"{MANIFEST} gives no time: {error}") from error


def _metrics(content: Any) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in content.items()}
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise NotWholeError(f"{MANIFEST} gives no metrics: {error}") from error


def _expect(what: str, found: object, wanted: object, advice: str = "") -> None:
    if found != wanted:
        raise NotWholeError(f"{MANIFEST} says that its {what} is {found!r}, not {wanted!r}{advice}")


def _size_fault(path: Path, entry: Entry) -> str | None:
    try:
        size = _size(path)
    except NotWholeError as error:
        return str(error)
    return None if size == entry.size else f"{path.name} has {size} bytes and should have {entry.size}"


def _content_fault(path: Path, entry: Entry, checksum: str) -> str | None:
    try:
        found = _checksums.of_file(path, checksum)
    except OSError as error:
        return f"{path.name} cannot be read: {error}"
    if found == entry.checksum:
        return None
    return f"{path.name} is damaged: its {checksum} is {found} and should be {entry.checksum}"


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
