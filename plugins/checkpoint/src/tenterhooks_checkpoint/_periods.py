"""When a save is due."""

from collections.abc import Callable

from tenterhooks import SecondOrStepTimer

__all__ = ["Periods"]

_DEFAULT_SECS = 600.0


class Periods:
    """Due when either of two periods is over; a save restarts both.

    Args:
        save_secs: The seconds between two saves; 600 if no period is given.
        save_steps: The steps between two saves.
        clock: Gives the time in seconds.
    """

    def __init__(self, save_secs: float | None, save_steps: int | None, clock: Callable[[], float]) -> None:
        if save_secs is None and save_steps is None:
            save_secs = _DEFAULT_SECS
        self._timers = [
            SecondOrStepTimer(every_secs, every_steps, clock=clock)
            for every_secs, every_steps in ((save_secs, None), (None, save_steps))
            if every_secs is not None or every_steps is not None
        ]

    def reset(self) -> None:
        """Forget the last save."""
        for timer in self._timers:
            timer.reset()

    def are_over(self, step: int) -> bool:
        """Whether one is over at this step."""
        return any(timer.should_trigger_for_step(step) for timer in self._timers)

    def restart(self, step: int) -> None:
        """Begin both anew at this step."""
        for timer in self._timers:
            timer.update_last_triggered_step(step)
