"""What a number that is written costs the loop that writes it: ten in each step of a millisecond.

    python tests/benchmarks/bench_summaries.py [--steps 2000] [--repeats 3]

Measured are the calls alone, and in the second column the processor time of other threads, which compute while the loop
waits for the interpreter. Both are the best of the repeats, per number.
"""

import argparse
import csv
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

_TAGS = [f"layer{number}/norm" for number in range(10)]

# Makes what adds a number, and what is called at the end.
_Contender: TypeAlias = tuple[Callable[[str, float, int], object], Callable[[], object]]


def nothing(folder: Path) -> _Contender:
    return lambda tag, value, step: None, lambda: None


def a_row(folder: Path) -> _Contender:
    file = (folder / "points.csv").open("w", newline="", encoding="utf-8")
    write = csv.writer(file).writerow
    return lambda tag, value, step: write((tag, value, step)), file.close


def ours(folder: Path) -> _Contender:
    from tenterhooks.summaries import open_summary_writer

    writer = open_summary_writer(folder)
    return writer.add_scalar, writer.close


def tensorboardx(folder: Path) -> _Contender:
    from tensorboardX import SummaryWriter  # type: ignore[import-untyped]

    writer = SummaryWriter(str(folder))
    return writer.add_scalar, writer.close


def tensorboard(folder: Path) -> _Contender:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))

    def add(tag: str, value: float, step: int) -> None:
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))

    return add, writer.close


def torch(folder: Path) -> _Contender:
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder))
    return writer.add_scalar, writer.close


CONTENDERS: dict[str, tuple[str, Callable[[Path], _Contender]]] = {
    "a buffered `csv.writer` row": ("csv", a_row),
    "tenterhooks": ("tenterhooks_summary", ours),
    "TensorBoard's `EventFileWriter`": ("tensorboard", tensorboard),
    "tensorboardX's `SummaryWriter`": ("tensorboardX", tensorboardx),
    "PyTorch's `SummaryWriter`": ("torch", torch),
}


def seconds(make: Callable[[Path], _Contender], steps: int) -> tuple[float, float]:
    """The time in the calls, and the processor time of other threads, with the end of what was still to be written."""
    values = np.random.default_rng(0).random(len(_TAGS)).tolist()
    with TemporaryDirectory() as folder:
        begun = _of_others()
        add, close = make(Path(folder))
        calls = 0.0
        for step in range(steps):
            start = time.perf_counter()
            for tag, value in zip(_TAGS, values, strict=True):
                add(tag, value, step)
            calls += time.perf_counter() - start
            while time.perf_counter() < start + 0.001:
                pass
        close()
        return calls, max(0.0, _of_others() - begun)


def _of_others() -> float:
    return time.process_time() - time.thread_time()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| what writes a number | microseconds of the loop | of other threads |\n|---|---|---|")
    for title, (module, make) in CONTENDERS.items():
        if find_spec(module) is None:
            print(f"| {title} | not installed | |")
            continue
        # What the measured loop costs without writing is not the writer's.
        bare = min(seconds(nothing, arguments.steps)[0] for _ in range(arguments.repeats))
        calls, others = map(min, zip(*(seconds(make, arguments.steps) for _ in range(arguments.repeats)), strict=True))
        count = arguments.steps * len(_TAGS) / 1e6
        print(f"| {title} | {(calls - bare) / count:.2f} | {others / count:.2f} |")


if __name__ == "__main__":
    main()
