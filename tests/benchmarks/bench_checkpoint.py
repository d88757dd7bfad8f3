"""What a checkpoint costs: the training thread, the disk, a loop beside the save, and a restore.

    python tests/benchmarks/bench_checkpoint.py [--sizes 64 1024] [--repeats 5] [--directory DIR]

Prints a table for each size, of a state of 64 float32 arrays. Each figure stands beside its limit, which is timed in
turns with it, and is the median over the repeats; the ratios are what counts.

| figure | what is timed | limit |
|---|---|---|
| blocked | the training thread, in a save | `numpy.copyto` of the arrays into kept ones |
| durable | from the call of the save to the commit | the copy, then a write and fsync of the same bytes |
| loop | rounds of a pure Python loop in the main thread while a thread saves | the same alone |
| restore | `Saver.restore` | a read of the same bytes into new memory |

What else is installed of numpy.savez, safetensors, torch.save, Orbax and torch's distributed checkpoint stands beside
them. The loop is not timed where the training thread itself waits for the disk.
"""

import argparse
import gc
import math
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from contenders import CONTENDERS, Contender, State

ARRAYS = 64


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


class Limits:
    """What nobody can be faster than, with the same bytes."""

    def __init__(self, directory: Path, state: State) -> None:
        self.path = directory / "raw"
        self.state = state
        self.kept = {name: array.copy() for name, array in state.items()}

    def copy(self) -> None:
        for name, array in self.state.items():
            np.copyto(self.kept[name], array)

    def write(self) -> None:
        # Over a file that is not there, as all of the contenders' are.
        self.path.unlink(missing_ok=True)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT)
        try:
            for array in self.kept.values():
                content = array.data.cast("B")
                while content:
                    content = content[os.write(descriptor, content) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def durable(self) -> None:
        self.copy()
        self.write()

    def read(self) -> object:
        found = []
        with self.path.open("rb", buffering=0) as file:
            for array in self.kept.values():
                memory = np.empty_like(array)
                content = memory.data.cast("B")
                while content:
                    content = content[file.readinto(content) :]
                found.append(memory)
        return found


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[threading.Event]:
    """Do some work in a thread; the event says that it is over."""
    over = threading.Event()

    def body() -> None:
        try:
            work()
        finally:
            over.set()

    thread = threading.Thread(target=body)
    thread.start()
    try:
        yield over
    finally:
        thread.join()


def rounds_a_second(over: threading.Event, at_least: float = 0.0) -> float:
    """The speed of a loop in this thread, until something is over."""
    rounds, start = 0, time.perf_counter()
    while not over.is_set() or time.perf_counter() - start < at_least:
        for _ in range(1000):
            rounds += 1
    return rounds / (time.perf_counter() - start)


def loop_kept(contender: Contender, state: State) -> float | None:
    """The speed of a loop while what was saved is written, as a share of its speed alone."""
    over = threading.Event()
    over.set()
    alone = rounds_a_second(over, 0.3)
    contender.save(state)
    if not contender.goes_on:
        return None
    with beside(contender.wait) as written:
        meanwhile = rounds_a_second(written)
    return meanwhile / alone


def measure(kind: type[Contender], directory: Path, state: State, repeats: int) -> dict[str, float]:
    """The medians of a contender, each as a ratio of the limit."""
    directory.mkdir()
    limits, contender = Limits(directory, state), kind(directory)
    found: dict[str, list[float]] = {"blocked": [], "durable": [], "loop": [], "restore": []}
    for repeat in range(repeats + 1):
        gc.collect()
        for array in state.values():
            np.add(array, 1, out=array)
        copy = timed(limits.copy)
        start = time.perf_counter()
        contender.save(state)
        blocked = time.perf_counter() - start
        contender.wait()
        durable = time.perf_counter() - start
        raw = timed(limits.durable)
        contender.forget()
        # What was just written is in the system's memory for both.
        restored: Any = None
        raw_read = timed(limits.read)

        def restore() -> None:
            nonlocal restored
            restored = contender.restore()

        read = timed(restore)
        check(restored, state)
        kept = loop_kept(contender, state)
        contender.forget()
        if repeat:  # The first one takes memory and imports what it needs.
            found["blocked"].append(blocked / copy)
            found["durable"].append(durable / raw)
            found["loop"].append(math.nan if kept is None else kept)
            found["restore"].append(read / raw_read)
    shutil.rmtree(directory)
    return {name: statistics.median(values) for name, values in found.items()}


def check(restored: Any, state: State) -> None:
    """What is fast and wrong does not count."""
    content: Mapping[str, Any] = restored[1]["variables"] if isinstance(restored, tuple) else restored
    for name in (min(state), max(state)):
        assert np.array_equal(np.asarray(content[name]), state[name]), name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 1024], help="of the state, in MiB")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", default=[], help="names of contenders, or their beginnings")
    parser.add_argument("--directory", type=Path, help="where to write (default: the system's temporary folder)")
    arguments = parser.parse_args()
    for size in arguments.sizes:
        state = {f"w{i:02}": np.full((size << 20) // ARRAYS // 4, i, np.float32) for i in range(ARRAYS)}
        print(f"\n{size} MiB in {ARRAYS} arrays, ratios to the limit, median of {arguments.repeats}\n")
        print("|  | blocked | durable | loop keeps | restore |\n|---|---|---|---|---|")
        for kind in CONTENDERS:
            if arguments.only and not kind.name.startswith(tuple(arguments.only)):
                continue
            if any(find_spec(package.partition(".")[0]) is None for package in kind.needs):
                print(f"| {kind.name} | not installed |  |  |  |")
                continue
            with tempfile.TemporaryDirectory(dir=arguments.directory) as place:
                ratios = measure(kind, Path(place) / "checkpoints", state, arguments.repeats)
            loop = "-" if math.isnan(ratios["loop"]) else f"{ratios['loop']:.0%}"
            row = [f"{ratios['blocked']:.2f}", f"{ratios['durable']:.2f}", loop]
            print(f"| {kind.name} | {' | '.join(row)} | {ratios['restore']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
