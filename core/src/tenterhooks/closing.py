"""How a session is left: every hook is told, and one of the errors that come meanwhile leaves it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tenterhooks.errors import note

if TYPE_CHECKING:
    from tenterhooks.registry import HookRegistry

__all__ = ["close_hooks", "leave"]

_MOST_INTERRUPTS = 10


def close_hooks(registry: "HookRegistry", exception: BaseException | None) -> list[BaseException]:
    """Give each hook its closing stage, though an interrupt comes between two of them, and give what was raised.

    Args:
        registry: The hooks.
        exception: What ended the session; None for a clean end.
    """
    interrupts: list[BaseException] = []
    while True:
        try:
            return interrupts + registry.close(exception)
        except BaseException as interrupt:
            interrupts.append(interrupt)
            # Somebody may press Ctrl-C several times; what comes each time is no interrupt.
            if len(interrupts) > _MOST_INTERRUPTS:
                return interrupts


def leave(
    exception: BaseException | None, errors: Sequence[BaseException], reported: BaseException | None = None
) -> None:
    """Raise what is to leave a session that was closed, if that is another one than the exception that ended it.

    Those who end the program want it ended: Ctrl-C goes before `SystemExit`, and that before all errors. Else what
    ended the session stays on top.

    Args:
        exception: What ended the session; None for a clean end.
        errors: What was raised while closing. What does not leave the session becomes a note on `exception`.
        reported: What a thread had reported. An exit from a thread is none from the program.

    Raises:
        BaseException: At a clean end the one error, or several as a group; else an interrupt that came while closing,
            with `exception` as its cause.
    """
    if exception is None:
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise BaseExceptionGroup("several hooks failed at the end of the session", errors)
        return
    interrupts = sorted((error for error in errors if error is not reported), key=_rank, reverse=True)
    winner = interrupts[0] if interrupts and _rank(interrupts[0]) > _rank(exception) else None
    for other in errors:
        if other is not winner:
            where = "; ".join(getattr(other, "__notes__", ()))
            note(exception, f"while closing: {type(other).__name__}: {other} ({where})")
    if winner is not None:
        raise winner from exception


def _rank(error: BaseException) -> int:
    return 2 if isinstance(error, KeyboardInterrupt) else int(isinstance(error, SystemExit))
