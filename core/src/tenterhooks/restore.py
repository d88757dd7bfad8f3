"""How a fresh session becomes the one that was saved, and what of it does not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenterhooks.errors import CheckpointError
from tenterhooks.sources import SourceReader
from tenterhooks.state import load, mismatches
from tenterhooks.variables import SessionState

__all__ = ["Restored", "restore"]


@dataclass(frozen=True, slots=True)
class Restored:
    """What a session was restored from, and what was not.

    Attributes:
        checkpoint: The folder of the checkpoint.
        global_step: Its global step.
        not_restored: What the session has and the checkpoint has not, as "variables/w", "sources/batch" or "hooks/nan".
        not_used: What the checkpoint has and the session has not.
        wound_forward: Sources that could not restore their position and are begun anew, and by how many items they are
            wound forward.
    """

    checkpoint: str
    global_step: int
    not_restored: tuple[str, ...] = ()
    not_used: tuple[str, ...] = ()
    wound_forward: Mapping[str, int] = field(default_factory=dict)


def restore(
    saved: Mapping[str, Any], variables: SessionState, readers: Mapping[str, SourceReader], checkpoint: str
) -> Restored:
    """Load a checkpoint into a session's variables and sources. Nothing is loaded where something does not fit.

    Args:
        saved: What `Session.state_dict` gave.
        variables: The variables, fresh.
        readers: The sources, none of them begun.
        checkpoint: Where it came from.

    Raises:
        CheckpointError: Shapes, dtypes or types do not fit; the message names all that do not.
    """
    common = [name for name in variables if name in saved["variables"]]
    problems = [problem for name in common for problem in mismatches(variables[name], saved["variables"][name], name)]
    if problems:
        raise CheckpointError(
            f"the checkpoint {checkpoint} does not fit this graph, nothing was restored:\n  "
            + "\n  ".join(problems)
            + "\nuse the program that wrote it, or another checkpoint_dir"
        )
    wound_forward = {}
    for name, reader in readers.items():
        if name in saved["sources"]:
            items = reader.load_state_dict(saved["sources"][name])
            if items is not None:
                wound_forward[name] = items
    # After the sources, which use the generators to get where they were.
    for name in common:
        variables[name] = load(variables[name], saved["variables"][name])
    variables.global_step = saved["global_step"]
    here = {"variables": variables, "sources": readers}
    return Restored(
        checkpoint=checkpoint,
        global_step=variables.global_step,
        not_restored=tuple(f"{kind}/{n}" for kind, names in here.items() for n in names if n not in saved[kind]),
        not_used=tuple(f"{kind}/{n}" for kind, names in here.items() for n in saved[kind] if n not in names),
        wound_forward=wound_forward,
    )
