"""The hooks that the arguments of `MonitoredTrainingSession` ask for, beside those that are named."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenterhooks.lineup import Lineup

__all__ = ["MAX_TO_KEEP", "SAVE_SECS", "chiefs_lineup", "workers_lineup"]


class _DefaultPeriod(float):
    """A period that holds where no other one is given, and reads so."""

    def __repr__(self) -> str:
        return f"{float(self)} unless save_checkpoint_steps is given"


class _DefaultNumber(int):
    """A number that holds where no other one is given."""


# As defaults of arguments these tell whether the program has given them.
SAVE_SECS = _DefaultPeriod(600.0)
MAX_TO_KEEP = _DefaultNumber(5)


def workers_lineup(hooks: Iterable[object]) -> "Lineup":
    """The hooks of a process that is not the chief: none that saves or writes summaries, unless code gives it."""
    # Imported late: it is of use where a session is opened.
    from tenterhooks.lineup import Lineup

    lineup = Lineup(configured=True)
    lineup.add(hooks)
    lineup.add_configured(dict.fromkeys(("checkpoint", "step-counter", "summary"), "only the chief gets it"))
    lineup.leave_out(lambda hook: bool(getattr(hook, "saves_state", False)), "only the chief gets it")
    return lineup


def chiefs_lineup(
    hooks: Iterable[object],
    chief_only_hooks: Iterable[object],
    *,
    checkpoint_dir: str | Path | None,
    save_checkpoint_secs: float | None,
    save_checkpoint_steps: int | None,
    save_summaries_steps: int | None,
    save_summaries_secs: float | None,
    log_step_count_steps: int | None,
    max_to_keep: int | None,
) -> "Lineup":
    """The hooks of the chief, in their order; the arguments are those of `MonitoredTrainingSession`."""
    # Imported late: it is of use where a session is opened.
    from tenterhooks.lineup import Lineup

    lineup = Lineup(configured=True)
    lineup.add(chief_only_hooks)
    refused = {}
    if log_step_count_steps:
        lineup.add_by_name("step-counter", {"every_n_steps": log_step_count_steps}, ["every_n_secs"])
    elif log_step_count_steps is not None:
        refused["step-counter"] = f"switched off by {log_step_count_steps=} in code"
    if save_summaries_steps or save_summaries_secs:
        periods = {"save_steps": save_summaries_steps or None, "save_secs": save_summaries_secs or None}
        lineup.add_by_name("summary", periods)
    elif save_summaries_steps is not None or save_summaries_secs is not None:
        refused["summary"] = f"switched off by {save_summaries_steps=} and {save_summaries_secs=} in code"
    lineup.add(hooks)
    _add_savers(lineup, refused, checkpoint_dir, save_checkpoint_secs, save_checkpoint_steps, max_to_keep)
    return lineup


def _add_savers(
    lineup: "Lineup",
    refused: dict[str, str],
    checkpoint_dir: str | Path | None,
    secs: float | None,
    steps: int | None,
    max_to_keep: int | None,
) -> None:
    """Add the hooks that are named outside of code, and see that just one saves into the folder."""
    given: dict[str, object] = {} if max_to_keep is MAX_TO_KEEP else {"max_to_keep": max_to_keep}
    if checkpoint_dir is None:
        lineup.add_configured(refused, given={"checkpoint": given})
        return
    given["checkpoint_dir"] = checkpoint_dir
    # A period of None or 0 is decided, too: none.
    decided = ["save_secs"] * (secs is not SAVE_SECS) + ["save_steps"] * (steps is not None)
    in_code = any(_saves_into(hook, checkpoint_dir) for hook in lineup)
    asked_for = bool(steps or ("save_secs" in decided and secs))
    period_outside = lineup.is_configured("checkpoint", *({"save_secs", "save_steps"} - set(decided)))
    if asked_for:
        periods = {"save_secs": (secs or None) if "save_secs" in decided else None, "save_steps": steps or None}
        lineup.add_by_name("checkpoint", {**given, **periods})
    elif in_code:
        refused["checkpoint"] = "a hook that code gives saves into the folder already"
    elif decided and not period_outside:
        refused["checkpoint"] = (
            f"switched off by {' and '.join(f'save_checkpoint_{name[5:]}' for name in decided)} in code"
        )
    elif not period_outside:
        given["save_secs"] = float(SAVE_SECS)
    lineup.add_configured(refused, given={"checkpoint": given}, decided=decided)
    if asked_for or in_code:
        lineup.leave_out(
            lambda hook: _saves_into(hook, checkpoint_dir), "a hook that code gives saves into the folder already"
        )
        return
    saved = any(_saves_into(hook, checkpoint_dir) for hook in lineup)
    if not (saved or "checkpoint" in refused or lineup.lacks("checkpoint")):
        lineup.add_by_name("checkpoint", given, decided)


def _saves_into(hook: object, checkpoint_dir: str | Path) -> bool:
    """Whether a hook is a saver with that folder, or with the session's, which it is."""
    if not getattr(hook, "saves_state", False):
        return False
    directory = getattr(hook, "checkpoint_dir", None)
    return directory is None or Path(directory).resolve() == Path(checkpoint_dir).resolve()
