"""EvaluatorHook keeps the contract of all hooks."""

from pathlib import Path

import tenterhooks as th
from tenterhooks.testing import HookContract, ManualClock
from tenterhooks_evaluator import Evaluation, EvaluatorHook


def distance(session: th.Session) -> dict[str, float]:
    return {"distance": abs(float(session.state["w"]) - 3.0)}


class TestSteps(HookContract):
    hook_class = EvaluatorHook
    options = {"evaluate": distance, "every_n_steps": 2, "metrics": ["distance"]}


class TestEnd(HookContract):
    hook_class = EvaluatorHook
    options = {"evaluate": distance, "metrics": "distance"}


class TestSeconds(HookContract):
    hook_class = EvaluatorHook
    options = {"evaluate": distance, "every_n_secs": 2.0, "at_end": False, "metrics": ["distance"]}
    counts_from_start = True


class TestSessionOfItsOwn(HookContract):
    hook_class = EvaluatorHook

    def make_hook(self, folder: Path, clock: ManualClock) -> object:
        graph = th.Graph()
        graph.variable("w", 0.0)
        graph.source("batch", lambda: [1.0, 2.0, 6.0])
        graph.tensor(lambda w, batch: abs(w - batch), name="distance")
        return EvaluatorHook(Evaluation(graph, "distance"), every_n_steps=2, clock=clock)
