"""What a step costs with hooks that do nothing, with hooks that fetch, and with hooks that are not due.

    python tests/benchmarks/bench_step.py [--steps 20000] [--repeats 5] [--hooks 0 1 5 20] [--only NAME...] [--count]

Prints tables of microseconds per step, the median over the repeats, all of one process and in turns. What counts is the
ratio to the plain loop over pairs of bound methods, which stands in the first row. With --count they are instructions
per step instead, counted by `valgrind --tool=callgrind`: the difference between two runs of different length, which
another program on the machine does not change.

What else is installed of pluggy alone and Ignite stands beside it.
"""

import argparse
import gc
import logging
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pluggy

import tenterhooks as th
from tenterhooks import hookspecs

HOOKS = (0, 1, 5, 20)
# In the second table.
MANY = 20
# Of the two runs whose instructions are subtracted. To start takes some ten million more or less each time.
COUNTED = (1_000, 41_000)

# Opens what is measured, and gives what makes so many steps of it.
Case = Callable[[int], Any]


class Idle(th.SessionRunHook):
    def before_run(self, run_context: th.SessionRunContext) -> None: ...
    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None: ...


class Pair:
    """The two stages of a hook without a session."""

    def before_run(self, run_context: object) -> None: ...
    def after_run(self, run_context: object, run_values: object) -> None: ...


class Fetching(th.SessionRunHook):
    """Makes what it asks for once."""

    def __init__(self, fetches: Any) -> None:
        self.args = th.SessionRunArgs(fetches)

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return self.args

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None: ...


class FetchingAnew(Fetching):
    """Makes what it asks for in each run."""

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(self.args.fetches)


class Periodic(Idle):
    def __init__(self, **period: Any) -> None:
        self.timer = th.SecondOrStepTimer(**period)

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        self.timer.update_last_triggered_step(run_context.session.global_step)


def constants(count: int) -> th.Graph:
    graph = th.Graph()
    for number in range(count):
        graph.tensor(lambda: 1, name=f"c{number}")
    return graph


@contextmanager
def plain(hooks: int) -> Iterator[Callable[[int], None]]:
    pairs = [Pair() for _ in range(hooks)]
    before, after = [pair.before_run for pair in pairs], [pair.after_run for pair in pairs]

    def loop(steps: int) -> None:
        for _ in range(steps):
            for call in before:
                call(None)
            for end in after:
                end(None, None)

    yield loop


@contextmanager
def pluggy_alone(hooks: int) -> Iterator[Callable[[int], None]]:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)

    class Implementation:
        @th.hookimpl
        def before_run(self, run_context: object) -> None: ...

        @th.hookimpl
        def after_run(self, run_context: object, run_values: object) -> None: ...

    for _ in range(hooks):
        manager.register(Implementation())

    def loop(steps: int) -> None:
        for _ in range(steps):
            manager.hook.before_run(run_context=None)
            manager.hook.after_run(run_context=None, run_values=None)

    yield loop


@contextmanager
def ignite(hooks: int) -> Iterator[Callable[[int], None]]:
    events = import_module("ignite.engine").Events
    engine = import_module("ignite.engine").Engine(lambda engine, batch: None)
    for _ in range(hooks):
        engine.add_event_handler(events.ITERATION_STARTED, lambda: None)
        engine.add_event_handler(events.ITERATION_COMPLETED, lambda: None)

    def loop(steps: int) -> None:
        engine.run(range(steps), max_epochs=1, epoch_length=steps)

    yield loop


@contextmanager
def running(graph: th.Graph, fetches: Any, hooks: list[th.SessionRunHook]) -> Iterator[Callable[[int], None]]:
    with th.MonitoredSession(graph=graph, hooks=hooks) as session:
        node = graph[fetches] if isinstance(fetches, str) else fetches

        def loop(steps: int) -> None:
            run = session.run
            for _ in range(steps):
                run(node)

        # What is worked out once is not of a step.
        loop(10)
        yield loop


@contextmanager
def passing(hooks: list[th.SessionRunHook]) -> Iterator[Callable[[int], None]]:
    with th.MonitoredSession(hooks=hooks) as session:

        def loop(steps: int) -> None:
            for _ in session.steps(range(steps)):
                pass

        loop(10)
        yield loop


IDLE: dict[str, tuple[str, Case]] = {
    "plain loop": ("", plain),
    "pluggy alone, two calls": ("", pluggy_alone),
    "Ignite": ("ignite", ignite),
    "`session.run`": ("", lambda hooks: running(constants(1), "c0", [Idle() for _ in range(hooks)])),
    "`steps`": ("", lambda hooks: passing([Idle() for _ in range(hooks)])),
}

# With 20 hooks.
OTHER: dict[str, Case] = {
    "`session.run`, each fetches a value, asked for by one object": lambda hooks: running(
        constants(hooks), [], [Fetching(f"c{number}") for number in range(hooks)]
    ),
    "`session.run`, each fetches a value, asked for anew": lambda hooks: running(
        constants(hooks), [], [FetchingAnew(f"c{number}") for number in range(hooks)]
    ),
    "`steps`, no hooks": lambda hooks: passing([]),
    "`steps`, each every 1,000 steps": lambda hooks: passing([Periodic(every_steps=1000) for _ in range(hooks)]),
    "`steps`, each every 1,000 seconds": lambda hooks: passing([Periodic(every_secs=1000) for _ in range(hooks)]),
    "`session.run` of 3 nodes of a graph of 3": lambda hooks: running(constants(3), ["c0", "c1", "c2"], []),
    "`session.run` of 3 nodes of a graph of 1,000": lambda hooks: running(constants(1000), ["c0", "c1", "c2"], []),
}


def microseconds(case: Case, hooks: int, steps: int) -> float:
    with case(hooks) as loop:
        gc.collect()
        start = time.perf_counter()
        loop(steps)
        return (time.perf_counter() - start) / steps * 1e6


def instructions(name: str, hooks: int) -> float:
    """Count in processes of their own, of which one makes more steps than the other."""
    counts = []
    for steps in COUNTED:
        with tempfile.TemporaryDirectory() as directory:
            line = [
                *("valgrind", "--tool=callgrind", f"--callgrind-out-file={Path(directory, 'out')}"),
                *(sys.executable, __file__, "--one", name, str(hooks), str(steps)),
            ]
            # Where dicts lie, and with it what is found where, is else another thing each time.
            environment = os.environ | {"PYTHONHASHSEED": "0"}
            done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
        (count,) = re.findall(r"Collected : (\d+)", done.stderr)
        counts.append(int(count))
    return (counts[1] - counts[0]) / (COUNTED[1] - COUNTED[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--hooks", type=int, nargs="+", default=HOOKS, help="how many, in the first table")
    parser.add_argument("--only", nargs="+", choices=[*IDLE, *OTHER], metavar="NAME", help="just these rows")
    parser.add_argument("--count", action="store_true", help="count instructions, with valgrind")
    parser.add_argument("--one", nargs=3, metavar=("CASE", "HOOKS", "STEPS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    # Nothing is written for what is logged, and nothing is worked out for it.
    logging.disable(logging.CRITICAL)
    cases = {name: case for name, (needs, case) in IDLE.items() if not needs or find_spec(needs) is not None}
    if arguments.one:
        name, hooks, steps = arguments.one
        with (cases | OTHER)[name](int(hooks)) as loop:
            loop(int(steps))
        return

    idle, other = ([name for name in rows if name in (arguments.only or rows)] for rows in (IDLE, OTHER))
    wanted = [(name, cases[name], hooks) for name in idle if name in cases for hooks in arguments.hooks]
    wanted += [(name, OTHER[name], MANY) for name in other]
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(1 if arguments.count else arguments.repeats):
        for name, case, hooks in wanted:
            figure = instructions(name, hooks) if arguments.count else microseconds(case, hooks, arguments.steps)
            found.setdefault((name, hooks), []).append(figure)

    def shown(name: str, hooks: int) -> str:
        figure = statistics.median(found[name, hooks])
        return f"{figure:,.0f}" if arguments.count else f"{figure:.2f}"

    unit = "Instructions" if arguments.count else "Microseconds"
    columns = len(arguments.hooks)
    print(f"{unit} per step, H hooks that do nothing\n")
    print(f"| | {' | '.join(f'H={hooks}' for hooks in arguments.hooks)} |\n|---|{'---|' * columns}")
    for name in idle:
        here = [shown(name, hooks) for hooks in arguments.hooks] if name in cases else []
        print(f"| {name} | {' | '.join(here or ['not installed', *[''] * (columns - 1)])} |")
    print(f"\n{unit} per step, with {MANY} hooks where nothing else is said\n\n| | |\n|---|---|")
    for name in other:
        print(f"| {name} | {shown(name, MANY)} |")


if __name__ == "__main__":
    main()
