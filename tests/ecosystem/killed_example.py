"""Runs an example with one hook more, which kills the process: EXAMPLE STAGE STEP, and what the example takes."""

import os
import runpy
import signal
import sys

import tenterhooks as th


class Kill(th.SessionRunHook):
    """Kills the process in a stage of the run that leads to a step.

    Args:
        stage: "before_run" or "after_run".
        step: The step.
    """

    def __init__(self, stage: str, step: int) -> None:
        self._stage = stage
        self._step = step

    def before_run(self, run_context: th.SessionRunContext) -> None:
        if self._stage == "before_run" and run_context.session.global_step + 1 == self._step:
            self._kill()

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        if self._stage == "after_run" and run_context.session.global_step == self._step:
            self._kill()

    def _kill(self) -> None:
        # On Windows SIGTERM ends a process as abruptly.
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


if __name__ == "__main__":
    example, stage, step, *sys.argv[1:] = sys.argv[1:]
    runpy.run_path(example, run_name="example")["main"](Kill(stage, int(step)))
