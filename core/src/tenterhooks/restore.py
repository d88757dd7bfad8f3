"""How a fresh session becomes the one that was saved, and what of it does not."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tenterhooks import positions
from tenterhooks.adapted import decoded
from tenterhooks.errors import CheckpointError, note
from tenterhooks.generators import generators_in, get_state, global_generators, same, set_state
from tenterhooks.loading import Loader
from tenterhooks.sources import SourceReader
from tenterhooks.state import capture, mismatches
from tenterhooks.variables import SessionState

__all__ = ["Restored", "restore"]

_FORM: Mapping[str, Any] = {
    "global_step": (int, np.integer),
    "variables": Mapping,
    "sources": Mapping,
    "hooks": Mapping,
}


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
        not_exact: Those of them that may give other items than they would have, as "sources/batch": others draw from a
            random generator that they draw from, they take a variable that has changed, or they had failed.
    """

    checkpoint: Path
    global_step: int
    not_restored: tuple[str, ...] = ()
    not_used: tuple[str, ...] = ()
    wound_forward: Mapping[str, int] = field(default_factory=dict)
    not_exact: tuple[str, ...] = ()


def restore(
    saved: Mapping[str, Any], variables: SessionState, readers: Mapping[str, SourceReader], checkpoint: Path
) -> Restored:
    """Load a checkpoint into a session's variables and sources. Nothing is loaded where something does not fit.

    The global random generators are left as they are, so that a restore beside a training does not change its numbers.

    Args:
        saved: What `Session.state_dict` gave.
        variables: The variables, fresh.
        readers: The sources, none of them begun.
        checkpoint: Where it came from.

    Raises:
        CheckpointError: Shapes, dtypes or types do not fit; the message names all that do not. Or it is no state of a
            session at all.
    """
    _check_form(saved, checkpoint)
    common = [name for name in variables if name in saved["variables"]]
    read = {name: reader for name, reader in readers.items() if name in saved["sources"]}
    problems = [problem for name in common for problem in mismatches(variables[name], saved["variables"][name], name)]
    problems += [problem for name in read for problem in positions.mismatches(name, variables, saved["sources"][name])]
    if problems:
        raise CheckpointError(
            f"the checkpoint {checkpoint} does not fit this graph, nothing was restored:\n  "
            + "\n  ".join(problems)
            + "\nuse the program that wrote it, or another checkpoint_dir"
        )
    # What a source that is wound forward was begun with then is not known: what is there now may be something else.
    other = {
        name
        for name, reader in read.items()
        if any(
            entry in common
            and not any(generators_in(variables[entry]))
            and not same(capture(variables[entry], entry), saved["variables"][entry])
            for entry in reader.source.inputs
        )
    }
    left_with = dict(_saved_generators({name: variables[name] for name in common}, saved["variables"]))
    with _global_generators_kept():
        wound = {name: reader.load_state_dict(saved["sources"][name], left_with) for name, reader in read.items()}
    # After the sources, which use the generators to get where they were.
    loader = Loader(saved.get("in_place"))
    values = decoded(saved["variables"])
    for name in common:
        try:
            variables[name] = loader.load(variables[name], values[name], (name,))
        except BaseException as error:
            note(error, f"when variable {name!r} was restored from {checkpoint}")
            raise
    variables.global_step = int(saved["global_step"])
    variables.updating = None
    here = {"variables": variables, "sources": readers}
    return Restored(
        checkpoint=checkpoint,
        global_step=variables.global_step,
        not_restored=tuple(f"{kind}/{n}" for kind, names in here.items() for n in names if n not in saved[kind]),
        not_used=tuple(f"{kind}/{n}" for kind, names in here.items() for n in saved[kind] if n not in names),
        wound_forward={name: how.items for name, how in wound.items() if how is not None},
        not_exact=tuple(
            f"sources/{name}" for name, how in wound.items() if how is not None and (not how.exact or name in other)
        ),
    )


def _check_form(saved: object, checkpoint: Path) -> None:
    """Raise an error where something is no state of a session: what a saver gives may be of another program."""
    known: Mapping[str, Any] = saved if isinstance(saved, Mapping) else {}
    wrong = [name for name, kind in _FORM.items() if not isinstance(known.get(name), kind)]
    if wrong:
        raise CheckpointError(
            f"the checkpoint {checkpoint} is not of a session, nothing was restored: "
            + " and ".join(f"{name!r} {'is missing' if name not in known else 'is of another type'}" for name in wrong)
            + "; use another checkpoint_dir"
        )


def _saved_generators(variables: Mapping[str, Any], saved: Any) -> Iterator[tuple[str, Any]]:
    """What a checkpoint says of the generators among the variables, by their places."""
    for keys, _ in generators_in(variables):
        entry = saved
        try:
            for key in keys:
                entry = entry[key]
        except (LookupError, TypeError):
            # It lies in an object that saves itself in a form of its own.
            continue
        yield "/".join(map(str, keys)), entry


@contextmanager
def _global_generators_kept() -> Iterator[None]:
    before = [(generator, get_state(generator)) for generator in global_generators().values()]
    try:
        yield
    finally:
        for generator, state in before:
            set_state(generator, state)
