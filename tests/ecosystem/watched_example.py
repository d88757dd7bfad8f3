"""Runs an example and prints what it sees: EXAMPLE STEP, and what the example takes. After that step it is killed.

Each pass is a line "pass", with its step, and what its loss and its batches are. A run to the end, with STEP 0, says
last what it has wound forward.
"""

import hashlib
import os
import runpy
import signal
import sys

import tenterhooks as th


class Watch(th.SessionRunHook):
    """Prints each pass, and kills the process once it has printed one.

    Args:
        last: The global step of the last pass; 0 for all of them.
    """

    def __init__(self, last: int) -> None:
        self._last = last

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs:
        return th.SessionRunArgs(["loss", "batches"])

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        loss, batches = run_values.results
        seen = hashlib.sha256(b"".join(part.numpy().tobytes() for batch in batches for part in batch)).hexdigest()
        step = run_context.session.global_step
        print("pass", step, loss.item().hex(), seen, flush=True)
        if step == self._last:
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    def end(self, session: th.Session) -> None:
        print("wound", {} if session.restored is None else dict(session.restored.wound_forward))


if __name__ == "__main__":
    example, last, *sys.argv[1:] = sys.argv[1:]
    runpy.run_path(example, run_name="example")["main"](Watch(int(last)))
