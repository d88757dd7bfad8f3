"""A server that has imported everything, and forks a child for each program that is to be killed."""

import faulthandler
import json
import os
import select
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from .calls import LIBRARY

__all__ = ["Forks", "Outcome"]

_TIMEOUT = 300.0  # seconds, of a child that should have ended long before


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a child ended.

    Attributes:
        killed: Whether SIGKILL ended it.
        result: What the program returned, if it came to its end.
        seconds: How long it lived.
    """

    killed: bool
    result: Any
    seconds: float


class Forks:
    """Runs programs in children of a process without threads.

    Args:
        shim: The library that a program may have itself watched by.
    """

    def __init__(self, shim: Path | None = None) -> None:
        # The threads of a numerical library would not be in a child.
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        if shim is not None:
            environment[LIBRARY] = str(shim)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "reliability.forks"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(self, program: str, base: Path, *, kill_after: float | None = None, **arguments: Any) -> Outcome:
        """Run a program in a child of its own, to its end or until it is killed.

        Args:
            program: `attempt` or `train` (see `training`), or `save` (see `saving`).
            base: Its first argument.
            kill_after: The seconds after which it is killed from outside.
            arguments: Its further arguments.

        Raises:
            RuntimeError: The program raised an error.
        """
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        request = {"program": program, "kill_after": kill_after, "arguments": {"base": str(base), **arguments}}
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        if answer["status"] not in (0, -signal.SIGKILL):
            raise RuntimeError(f"{program} ended with status {answer['status']}: {answer['output']}")
        killed = answer["status"] != 0
        return Outcome(killed, None if killed else json.loads(answer["output"]), answer["seconds"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(_TIMEOUT)
        self._server.stdout.close()


def _serve() -> None:
    from .training import warm_up

    faulthandler.enable()
    warm_up()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_fork(json.loads(line))) + "\n")
        sys.stdout.flush()


def _fork(request: dict[str, Any]) -> dict[str, Any]:
    source, sink = os.pipe()
    begun = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(source)
        _run(request, sink)
    os.close(sink)
    output = b""
    limit = _TIMEOUT if request["kill_after"] is None else request["kill_after"]
    # The pipe ends when the child does.
    while select.select([source], [], [], max(0.0, begun + limit - time.monotonic()))[0]:
        part = os.read(source, 1 << 16)
        if not part:
            break
        output += part
    else:
        # One that hangs says where.
        os.kill(child, signal.SIGABRT if request["kill_after"] is None else signal.SIGKILL)
        # One that was killed too late has come to its end meanwhile.
        while part := os.read(source, 1 << 16):
            output += part
    os.close(source)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {"status": status, "output": output.decode(), "seconds": time.monotonic() - begun}


def _run(request: dict[str, Any], sink: int) -> None:
    """Run the program and end the process."""
    from . import saving, training

    programs: dict[str, Callable[..., Any]] = {
        "attempt": training.attempt,
        "save": saving.save,
        "train": training.train,
    }
    status = 1
    try:
        output = json.dumps(programs[request["program"]](**request["arguments"]))
        status = 0
    except BaseException:
        output = traceback.format_exc()
    with open(sink, "w", encoding="utf-8") as pipe:
        pipe.write(output)
    os._exit(status)


if __name__ == "__main__":
    _serve()
