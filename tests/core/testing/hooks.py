"""A hook that keeps the contract, and what others that break a rule are made of."""

import logging
from typing import Any

import tenterhooks as th

__all__ = ["VALUES", "Runs", "WatchLoss", "log"]

VALUES = [{"loss": 5.0}, {"loss": 4.0}, {"loss": 6.0}, {"loss": 7.0}, {"loss": 1.0}]

log = logging.getLogger("hooks_of_tests")


class WatchLoss(th.SessionRunHook):
    """Stops when the best loss is so many steps old: keeps the contract, with state."""

    def __init__(self, *, patience: int = 2) -> None:
        self._patience = patience
        self._reset()

    def _reset(self) -> None:
        self._best, self._waited = float("inf"), 0

    def begin(self, graph: th.Graph) -> None:
        self._reset()

    def state_dict(self) -> dict[str, Any]:
        return {"best": self._best, "waited": self._waited}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._best, self._waited = state["best"], state["waited"]

    def after_create_session(self, session: th.Session, coord: th.Coordinator) -> None:
        if self._waited >= self._patience:
            session.request_stop("it had stopped before")

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return th.SessionRunArgs("loss")

    def after_run(self, run_context: th.SessionRunContext, run_values: th.SessionRunValues) -> None:
        loss = run_values.results
        self._best, self._waited = (loss, 0) if loss < self._best else (self._best, self._waited + 1)
        log.info("the best loss is %s, %d steps old", self._best, self._waited)
        if self._waited >= self._patience:
            run_context.request_stop(f"the best loss is still {self._best}")


class Runs(th.SessionRunHook):
    """Counts its runs in this session, and does something in each: what counts from the session's start."""

    runs = 0

    def begin(self, graph: th.Graph) -> None:
        self.runs = 0

    def before_run(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        self.runs += 1
        return self.act(run_context)

    def act(self, run_context: th.SessionRunContext) -> th.SessionRunArgs | None:
        return None
