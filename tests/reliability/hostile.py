"""Checkpoints that no saver wrote. Their sizes and checksums are right, so that readers get to what is in them."""

import json
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from .hostile_changes import mutated, retyped, scribbled
from .hostile_values import NAMES, SHAPES, as_text, value

__all__ = ["GOOD_STATE", "KINDS", "Forger"]

ARRAYS, STATE, MANIFEST = "arrays.safetensors", "state.json", "manifest.json"

GOOD_STATE: dict[str, Any] = {
    "global_step": 20,
    "variables": {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "big": np.arange(300, dtype=np.int64),
        "complex": np.array([1 + 2j, 3]),
        "dates": np.array(["2020-01-01", "NaT"], "M8[s]"),
        "fields": np.array([(1, "a")], [("n", "i1"), ("s", "U2")]),
        "scalar": np.float32(0.1),
        "text": "\ud800\n\x1b[31m",
        "bytes": b"abc",
        "nan": float("nan"),
        "long": 10**400,
        "empty": np.zeros((0, 3)),
    },
    "hooks": {"count": {"runs": 3, 5: (1, [2, {}]), None: True}},
    "sources": {"batch": {"drawn": 3}},
}


class Forger:
    """Makes one hostile checkpoint after the other out of a good one.

    Args:
        good: The folder of a checkpoint of `GOOD_STATE`.
        outside: A folder that links lead to, with good copies of the files.
    """

    def __init__(self, good: Path, outside: Path) -> None:
        self._outside = outside
        self._state = json.loads((good / STATE).read_bytes())
        self._manifest = json.loads((good / MANIFEST).read_bytes())
        raw = (good / ARRAYS).read_bytes()
        (length,) = struct.unpack("<Q", raw[:8])
        self._header, self._body = json.loads(raw[8 : 8 + length]), raw[8 + length :]
        self.good = {name: (good / name).read_bytes() for name in (ARRAYS, STATE)}

    def forge(self, folder: Path, kind: str, rng: random.Random) -> None:
        """Make the folder of a hostile checkpoint.

        Args:
            folder: Where; its name says the sequence and the step.
            kind: One of `KINDS`.
            rng: Chooses what is wrong with it.
        """
        KINDS[kind](self, folder, rng)

    def _forge_state(self, folder: Path, rng: random.Random) -> None:
        draw = rng.random()
        if draw < 0.2:
            text = as_text(retyped(self._state, rng)).encode("utf-8", "surrogatepass")
        elif draw < 0.7:
            text = as_text(mutated(self._state, rng)).encode("utf-8", "surrogatepass")
        else:
            text = scribbled(self.good[STATE], rng)
        self._write(folder, {**self.good, STATE: text}, rng)

    def _forge_arrays(self, folder: Path, rng: random.Random) -> None:
        if rng.random() < 0.2:
            self._write(folder, {**self.good, ARRAYS: scribbled(self.good[ARRAYS], rng, within=1500)}, rng)
            return
        header = mutated(self._header, rng) if rng.random() < 0.3 else self._header_with_other_tensors(rng)
        text = as_text(header).encode("utf-8", "surrogatepass")
        if rng.random() < 0.2:
            text = scribbled(text, rng)
        length = len(text)
        if rng.random() < 0.1:
            length = rng.choice([0, 1, length - 1, length + 1, 2**31, 2**63, 2**64 - 1])
        body = self._body
        if rng.random() < 0.2:
            body = rng.choice([b"", body[:-1], body + b"\0", body * 2, bytes(1 << 20)])
        self._write(folder, {**self.good, ARRAYS: struct.pack("<Q", length) + text + body}, rng)

    def _header_with_other_tensors(self, rng: random.Random) -> dict[str, Any]:
        """The header with one or more arrays that are not as the state says."""
        header = dict(self._header)
        for _ in range(rng.choice([1, 1, 2])):
            name = rng.choice(list(header))
            entry = dict(header.pop(name)) if isinstance(header[name], dict) else {}
            field = rng.choice(["dtype", "shape", "data_offsets", "name", "more"])
            if field == "dtype":
                entry["dtype"] = rng.choice(
                    ["BF16", "F8_E4M3", "F8_E5M2", "F4", "C64", "U8", "I64", "BOOL", "F64", "x"]
                )
            elif field == "shape":
                entry["shape"] = rng.choice(SHAPES)
            elif field == "data_offsets":
                entry["data_offsets"] = [rng.choice([0, 1, 24, 2**31, 2**63, 2**64, -1, value(rng)]) for _ in range(2)]
            elif field == "name":
                name = rng.choice(NAMES)
            else:
                entry[rng.choice(NAMES)] = value(rng)
            header[name] = entry
        return header

    def _forge_manifest(self, folder: Path, rng: random.Random) -> None:
        manifest = self._manifest_of(folder, self.good, rng)
        draw = rng.random()
        if draw < 0.5:
            manifest = mutated(manifest, rng)
        elif draw < 0.8:
            key = rng.choice([*manifest, *manifest["files"], "size", "checksum", "more"])
            wrong = value(rng)
            if key in ("size", "checksum"):
                wrong, key = {**manifest["files"][STATE], key: wrong}, STATE
            if key in manifest["files"]:
                manifest["files"] = {**manifest["files"], key: wrong}
            else:
                manifest[key] = wrong
        else:
            manifest["files"] = {rng.choice(NAMES): manifest["files"][STATE], **manifest["files"]}
        raw = sealed(manifest) if rng.random() < 0.8 else as_text(manifest).encode("utf-8", "surrogatepass")
        if rng.random() < 0.1:
            raw = scribbled(raw, rng)
        self._write(folder, self.good, rng, manifest=raw)

    def _forge_folder(self, folder: Path, rng: random.Random) -> None:
        """One in which files are no files, or which is none itself, and others with odd names beside it."""
        for _ in range(rng.choice([0, 1, 2])):
            self._put_beside(folder.parent, rng)
        draw = rng.random()
        if draw < 0.1:
            folder.symlink_to(self._outside)
        elif draw < 0.2:
            odd_file(folder, self._outside / STATE, rng)
        else:
            self._write(folder, self.good, rng)
            for name in rng.sample([ARRAYS, STATE, MANIFEST], rng.choice([1, 1, 2])):
                (folder / name).unlink()
                odd_file(folder / name, self._outside / name, rng)
            if rng.random() < 0.2:
                folder.chmod(rng.choice([0o000, 0o111, 0o444]))

    def _put_beside(self, directory: Path, rng: random.Random) -> None:
        number = rng.choice(["0", "00", "9" * 100, "18446744073709551616", "-1", "1e3", "٣", "0x10", ""])
        other = rng.choice(["0", "7", "9" * 100, "", "20", " 20", "20\n"])
        name = rng.choice(
            [f"checkpoint-{number}-step-{other}", f".tmp-{number}-abcdef12-{other or 0}", f"x{number}\x1b"]
        )
        path = directory / name
        if os.path.lexists(path):
            return
        if rng.random() < 0.3:
            path.mkdir()
        else:
            odd_file(path, self._outside, rng)

    def _write(
        self, folder: Path, files: dict[str, bytes], rng: random.Random, *, manifest: bytes | None = None
    ) -> None:
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        if manifest is None:
            manifest = sealed(self._manifest_of(folder, files, rng))
        (folder / MANIFEST).write_bytes(manifest)

    def _manifest_of(self, folder: Path, files: dict[str, bytes], rng: random.Random) -> dict[str, Any]:
        _, sequence, _, step = folder.name.split("-")
        entries = {
            name: {"size": len(content), "checksum": xxhash.xxh3_128_hexdigest(content)}
            for name, content in files.items()
        }
        return {**self._manifest, "sequence": int(sequence), "step": int(step), "files": entries}


KINDS: dict[str, Callable[[Forger, Path, random.Random], None]] = {
    "state": Forger._forge_state,
    "arrays": Forger._forge_arrays,
    "manifest": Forger._forge_manifest,
    "folder": Forger._forge_folder,
}
"""What is wrong with a checkpoint: its state, its arrays, its manifest, or what lies where its files should."""


def sealed(manifest: Any) -> bytes:
    """A manifest with the checksum of itself as its last member, as the saver writes it."""
    content = {key: part for key, part in manifest.items() if key != "manifest"} if type(manifest) is dict else {}
    start = (as_text(content, indent=2).removesuffix("\n}") + ',\n  "manifest": "').encode("utf-8", "surrogatepass")
    return start + xxhash.xxh3_128_hexdigest(start).encode() + b'"\n}\n'


def odd_file(path: Path, outside: Path, rng: random.Random) -> None:
    """Put something that is no plain file, or not the one that ought to be there, or nothing at all."""
    kind = rng.randrange(8)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.mkdir()
    elif kind == 2:
        path.symlink_to(outside)
    elif kind == 3:
        path.symlink_to(path.name)
    elif kind == 4:
        path.symlink_to(rng.choice(["/dev/zero", "/dev/stdin", "../../..", "/", "missing"]))
    elif kind == 5:
        path.write_bytes(b"")
    elif kind == 6:
        with path.open("wb") as file:
            file.truncate(1 << 40)
