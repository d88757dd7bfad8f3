"""A program that trains, says on its standard output how far it is, and waits there for a line on its standard input.

The tests run it as a process of its own, and send it signals while it waits.
"""

import argparse
import atexit
import ctypes
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

import tenterhooks as th
from tenterhooks_preemption import PreemptionHook


def say(line: str) -> None:
    # In one write, so that what another thread logs does not come in between.
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def wait(at: str) -> None:
    say(at)
    sys.stdin.readline()


def wait_in_native_code(at: str) -> None:
    """Wait in a call that signals do not interrupt, and that lets no handler be called, as a long computation."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.siginterrupt(number, False)
    read, buffer = ctypes.CDLL(None).read, ctypes.create_string_buffer(1)
    # No other thread runs until the call is under way, so it is that when this one says so.
    sys.setswitchinterval(1000)
    called = threading.Event()

    def tell() -> None:
        called.wait()
        say(at)

    threading.Thread(target=tell).start()
    called.set()
    read(0, buffer, 1)
    say("the call has returned")


def fork(at: str) -> None:
    """Fork a process, and end it by a signal."""
    inside, outside = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(outside, b"!")
        while True:
            signal.pause()
    os.close(outside)
    # Nothing, if it has ended already.
    if os.read(inside, 1):
        os.kill(child, signal.SIGTERM)
    say(f"the forked process was ended by {signal.Signals(os.waitpid(child, 0)[1]).name}")
    wait(at)


def show_signals() -> None:
    descriptor = signal.set_wakeup_fd(-1)
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    say(f"the worker has {handlers}, {descriptor}")


def worker(at: str) -> None:
    """Have a forked worker, as data loaders have them, say what it does with signals."""
    process = multiprocessing.get_context("fork").Process(target=show_signals)
    process.start()
    process.join()
    wait(at)


def pass_on_sigterm() -> None:
    """Handle a signal by a handler that is set after the session's, and calls it."""
    earlier: Any = signal.getsignal(signal.SIGTERM)

    def handler(number: int, frame: FrameType | None) -> None:
        earlier(number, frame)
        say(f"the program passed {signal.Signals(number).name} on")

    signal.signal(signal.SIGTERM, handler)


def interrupt_forked() -> None:
    """Called in a process that was just forked, before the handlers of its parent are put back."""
    os.kill(os.getpid(), signal.SIGINT)


def fail(at: str) -> None:
    wait(at)
    raise ValueError("the step failed")


WAYS = {"wait": wait, "native": wait_in_native_code, "fork": fork, "worker": worker, "fail": fail}


class SlowSaver(th.SessionRunHook):
    """Stands for a saver that takes its time at the end."""

    saves_state = True

    def end(self, session: th.Session) -> None:
        wait("saving")
        say(f"saved step {session.global_step}")


def model(steps: list[int], way: str) -> th.Graph:
    graph = th.Graph()
    graph.variable("w", lambda: np.zeros(4))
    graph.variable("rng", lambda: np.random.default_rng(1))

    def batches() -> Iterator[Any]:
        rng = np.random.default_rng(2)
        while True:
            yield rng.normal(size=4)

    graph.source("batch", batches)

    @graph.train_op
    def train(w: Any, rng: Any, batch: Any, global_step: int) -> dict[str, Any]:
        if global_step + 1 in steps:
            WAYS[way](f"in step {global_step + 1}")
        return {"w": 0.9 * w + batch + rng.normal(size=4)}

    return graph


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir")
    parser.add_argument("--last-step", type=int, default=6)
    parser.add_argument("--signals", nargs="+", default=["SIGTERM", "SIGINT"])
    parser.add_argument("--exit-by", default="code")
    parser.add_argument("--in-step", type=int, nargs="*", default=[])
    parser.add_argument("--way", choices=WAYS, default="wait")
    parser.add_argument("--after-step", type=int, nargs="*", default=[])
    parser.add_argument("--slow-end", action="store_true")
    parser.add_argument("--interrupt-forked", action="store_true")
    parser.add_argument("--pass-on", action="store_true")
    options = parser.parse_args()

    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
    atexit.register(say, "at exit")
    if options.interrupt_forked:
        os.register_at_fork(after_in_child=interrupt_forked)
    exit_by = None if options.exit_by == "none" else options.exit_by
    hooks: list[object] = [PreemptionHook(signals=options.signals, exit_by=exit_by)]
    if options.slow_end:
        hooks.append(SlowSaver())
    session = th.MonitoredTrainingSession(
        graph=model(options.in_step, options.way),
        checkpoint_dir=options.dir,
        save_checkpoint_steps=10**9 if options.dir else None,
        save_checkpoint_secs=None,
        hooks=hooks,
    )
    if options.pass_on:
        pass_on_sigterm()
    try:
        with session:
            while not session.should_stop() and session.global_step < options.last_step:
                session.run("train")
                if session.global_step in options.after_step:
                    wait(f"after step {session.global_step}")
            bits = session.state["w"].tobytes().hex()
            say(f"step {session.global_step}: {bits}; stop: {'; '.join(map(str, session.stop))}")
    finally:
        say("cleaned up")
    say("went on")


if __name__ == "__main__":
    main()
