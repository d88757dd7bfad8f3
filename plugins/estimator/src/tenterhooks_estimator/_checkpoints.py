"""A trained model's checkpoint, and a session on it that has a graph and an input of its own."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tenterhooks import Checkpoint, CheckpointError, Graph, Session
from tenterhooks.savers import default_saver
from tenterhooks_estimator._model import Model

__all__ = ["RestoredSessionCreator", "missing_variables", "read"]


def read(model_dir: Path, checkpoint_path: str | Path | None) -> tuple[Checkpoint, Mapping[str, Any]]:
    """Read a checkpoint, by default the newest one of a folder.

    Raises:
        CheckpointError: There is none, or it is not whole.
    """
    if checkpoint_path is None:
        found = default_saver(model_dir).restore()
        if found is None:
            raise CheckpointError(f"no checkpoint in {model_dir}: train first, or pass checkpoint_path")
        return found
    path = Path(checkpoint_path).absolute()
    saver = default_saver(path.parent)
    checkpoints = saver.list() if path.parent.is_dir() else []
    for checkpoint in checkpoints:
        if checkpoint.path.resolve() == path.resolve():
            found = saver.restore(checkpoint)
            assert found is not None
            return found
    there = ", ".join(checkpoint.path.name for checkpoint in checkpoints) or "none"
    raise CheckpointError(
        f"{path} is no whole checkpoint: pass the folder of one, such as estimator.latest_checkpoint(); "
        f"there are in {path.parent}: {there}"
    )


def missing_variables(missing: Iterable[str], checkpoint: Path) -> CheckpointError:
    """The error where a checkpoint lacks variables of the model."""
    return CheckpointError(
        f"the checkpoint {checkpoint} is not of this model, since it lacks the variables "
        f"{', '.join(map(repr, sorted(missing)))}: use the model_fn that trained it, or another model_dir"
    )


class RestoredSessionCreator:
    """Makes sessions with the variables of a checkpoint, and with nothing else of it: neither input nor hooks' state.

    Args:
        model: The model.
        checkpoint: Where the state comes from.
        state: What it holds.
        summary_dir: The session's folder for summaries.

    Raises:
        CheckpointError: It lacks variables of the model.
    """

    def __init__(
        self, model: Model, checkpoint: Checkpoint, state: Mapping[str, Any], summary_dir: Path | None = None
    ) -> None:
        missing = set(model.variables) - state["variables"].keys()
        if missing:
            raise missing_variables(missing, checkpoint.path)
        self.graph: Graph = model.graph
        self._path = checkpoint.path
        self._state = {**state, "sources": {}, "hooks": {}}
        self._summary_dir = summary_dir

    def create_session(self) -> Session:
        """Make a session.

        Raises:
            CheckpointError: Something does not fit the graph.
        """
        session = Session(self.graph)
        session.load_state_dict(self._state, checkpoint=self._path)
        assert session.restored is not None
        # The input begins anew, and what only a training has stays away: there is nothing to warn of.
        session.restored = dataclasses.replace(session.restored, not_restored=(), not_used=())
        session.summary_dir = self._summary_dir
        return session
