"""Gives hostile checkpoints to all that reads checkpoints, and watches what it does. Prints what it found as JSON.

Run as a program of its own, since it limits its memory and since what it watches for cannot be unwatched.
"""

import codecs
import faulthandler
import io
import json
import logging
import os
import random
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint, CheckpointError
from tenterhooks_checkpoint import Saver
from tenterhooks_checkpoint.command import BROKEN, FINE, USAGE, main

from .hostile import GOOD_STATE, KINDS, Forger
from .hostile_values import NAMES
from .watch import Watch

_MEMORY = 256 << 20  # bytes beyond what the program has at its start
_HANG_SECS = 120  # for one input: it is only there to end what hangs


class Reader:
    """Reads a folder in every way there is, and says what is wrong with how that went."""

    def __init__(self, directory: Path, good: Checkpoint, hostile: Checkpoint, log: io.StringIO) -> None:
        self._saver = Saver(directory)
        self._directory = directory
        self._good = good
        self._hostile = hostile
        self._log = log

    def read(self, rng: random.Random) -> tuple[bool, list[str]]:
        """Whether the hostile checkpoint is whole, and what went wrong."""
        fault = self._saver.verify(self._hostile)
        wrong = [*self._restores(fault), *self._commands(fault, rng)]
        if self._log.getvalue().count("Traceback"):
            wrong.append(f"the log has a traceback: {self._log.getvalue()}")
        return fault is None, wrong

    def _restores(self, fault: str | None) -> Iterator[str]:
        try:
            self._saver.restore(self._hostile)
            if fault is not None:
                yield f"restored, but verify says {fault}"
        except CheckpointError as error:
            if fault is None:
                yield f"verify finds nothing, but restore says {error}"
        found = self._saver.restore()
        taken = None if found is None else found[0]
        if taken != (self._good if fault is not None else self._hostile):
            yield f"restored {taken}, and verify says {fault}"
        listed = self._saver.list()
        if self._good not in listed or (fault is None and self._hostile not in listed):
            yield f"lists {listed}, and verify says {fault}"
        if self._saver.latest() != listed[-1]:
            yield "latest is not the last of the list"

    def _commands(self, fault: str | None, rng: random.Random) -> Iterator[str]:
        directory, path = str(self._directory), self._hostile.path
        expected = {FINE if fault is None else BROKEN if os.path.lexists(path) else USAGE}
        # It reads no large arrays, so it compares no checksum of them.
        shown = expected | ({FINE} if fault is not None and "arrays.safetensors is damaged" in fault else set())
        yield from self._command(["show", directory, path.name], rng, shown)
        commands = [
            (["ls", directory], {FINE, BROKEN}),
            (["verify", directory], {FINE, BROKEN}),
            (["show", directory], {FINE, BROKEN}),
            (["verify", directory, path.name], expected),
            (["verify", str(path)], {*expected, USAGE}),
            (["verify", directory, rng.choice(NAMES)], {USAGE}),
        ]
        for arguments, codes in rng.sample(commands, 2):
            yield from self._command(arguments, rng, codes)

    def _command(self, arguments: list[str], rng: random.Random, expected: set[int]) -> Iterator[str]:
        if rng.random() < 0.5:
            arguments = [arguments[0], "--json", *arguments[1:]]
        out, err = io.StringIO(), io.StringIO()
        code: object
        with redirect_stdout(out), redirect_stderr(err):
            try:
                code = main(arguments)
            except SystemExit as error:  # argparse
                code = error.code
        if code not in expected:
            yield f"{arguments} ends with {code}, not {expected}: {err.getvalue()}"
        if "--json" in arguments and code != USAGE:
            json.loads(out.getvalue())
        for text in (out.getvalue(), err.getvalue()):
            if code != USAGE and not all(c.isprintable() or c == "\n" for c in text):
                yield f"{arguments} prints what a terminal might obey: {text!r}"


def fuzz(folder: Path, first: int, count: int, kind: str) -> dict[str, Any]:
    """Make and read so many hostile checkpoints.

    Args:
        folder: An empty one.
        first: The number of the first input, by which all of it is chosen.
        count: How many.
        kind: What is wrong with them.

    Returns:
        How many were whole and how many broken, and what went wrong, input by input.
    """
    directory, outside = folder / "checkpoints", folder / "outside"
    outside.mkdir()
    saver = Saver(directory)
    good = saver.save(GOOD_STATE, step=10)
    hostile = Checkpoint(path=directory / "checkpoint-20-step-20", step=20, sequence=20)
    for path in good.path.iterdir():
        shutil.copy(path, outside)
    forger = Forger(good.path, outside)
    kept = {path.name for path in directory.iterdir()}
    untouched = snapshot(folder, hostile.path)
    log = io.StringIO()
    logging.basicConfig(stream=log, level=logging.DEBUG)
    # Python imports it at its first use, for what is not printable.
    codecs.lookup("unicode_escape")
    watch = Watch(directory)
    counts: Counter[str] = Counter()
    wrong: list[Any] = []
    for number in range(first, first + count):
        # What is imported at its first use is imported in the first round, which nobody watches.
        for watched in (False, True) if number == first else (True,):
            rng = random.Random(f"{kind} {number}")
            forger.forge(hostile.path, kind, rng)
            log.seek(0)
            log.truncate()
            faulthandler.dump_traceback_later(_HANG_SECS, exit=True)
            try:
                reader = Reader(directory, good, hostile, log)
                if watched:
                    with watch.armed():
                        whole, faults = reader.read(rng)
                else:
                    whole, faults = reader.read(rng)
            except BaseException:
                whole, faults = False, [traceback.format_exc(limit=-6)]
            faulthandler.cancel_dump_traceback_later()
            counts["whole" if whole else "broken"] += 1
            faults += [f"did {what}" for what in watch.noted]
            watch.noted.clear()
            clean_up(directory, kept)
            if snapshot(folder, hostile.path) != untouched:
                faults.append("changed what is none of its business")
                untouched = snapshot(folder, hostile.path)
            if faults:
                wrong.append([number, faults])
    return {"counts": counts, "wrong": wrong[:20], "wrong_count": len(wrong)}


def snapshot(folder: Path, without: Path) -> list[Any]:
    """All files and folders with their times, but for one."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path != without and without not in path.parents:
            status = path.lstat()
            found.append((str(path), status.st_size, status.st_mode, path.is_file() and status.st_mtime_ns))
    return found


def clean_up(directory: Path, kept: set[str]) -> None:
    for entry in os.scandir(directory):
        if entry.name in kept:
            continue
        if entry.is_dir(follow_symlinks=False):
            Path(entry.path).chmod(0o700)
            shutil.rmtree(entry.path)
        else:
            Path(entry.path).unlink()


def limit_memory() -> None:
    """Let the program have little more memory than it has now."""
    import resource  # Windows has none

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    limit_memory()
    _folder, _kind, _first, _count = sys.argv[1:]
    assert _kind in KINDS
    print(json.dumps(fuzz(Path(_folder), int(_first), int(_count), _kind)))
