"""Numbers that were looked at where they lie, and of which it is known later what was found."""

import sys
from collections.abc import Callable, Iterable
from typing import Any

from tenterhooks_nan._numbers import Check, bad_at_once, bad_on_device, first_index

__all__ = ["LookedAt"]


class LookedAt:
    """Numbers and arrays of one run, looked at on their devices: from each of these one truth value is moved.

    Args:
        leaves: They, each with its place.
        check: What is bad.
        step: The global step that the run led to.

    Attributes:
        step: The global step.
    """

    def __init__(self, leaves: Iterable[tuple[str, Any]], check: Check, step: int) -> None:
        self.step = step
        self._check: Check = check
        # Those that are bad, or of which it is not known yet.
        self._suspects: list[tuple[str, Any, Any]] = []
        on_devices: dict[tuple[type, str], Any] = {}
        for path, leaf in leaves:
            bad: Any = bad_at_once(leaf, check)
            if bad is None:
                bad = bad_on_device(leaf, check)
                device = type(bad), str(getattr(bad, "device", ""))
                on_devices[device] = on_devices[device] | bad if device in on_devices else bad
            if bad is not False:
                self._suspects.append((path, leaf, bad))
        self._answers = [_on_the_way(bad) for bad in on_devices.values()]

    def bad(self) -> list[tuple[str, Any]]:
        """What is bad, with its place. This waits for what computes it, and for nothing that was begun later."""
        if not any(bad is True for _, _, bad in self._suspects) and not any(answer() for answer in self._answers):
            return []
        return [(path, leaf) for path, leaf, bad in self._suspects if bad]

    def first(self) -> str | None:
        """The first that is bad, in words; None if there is none."""
        for path, leaf in self.bad():
            what = "is NaN" if self._check == "nan" else "is not finite"
            index = first_index(leaf, self._check)
            return f"{path!r} {what}" + (f" at {list(index)}" if index is not None else "")
        return None


def _on_the_way(truth: Any) -> Callable[[], bool]:
    """Begin to move a truth value to the host, and give what waits for it to come, and says it."""
    if getattr(truth, "is_cuda", False):
        # To ask the tensor itself would wait for all that was queued on the device until then.
        cuda = sys.modules["torch"].cuda
        moved, event = truth.to("cpu", non_blocking=True), cuda.Event()
        event.record(cuda.current_stream(truth.device))

        def say() -> bool:
            event.synchronize()
            return bool(moved)

        return say
    if callable(begin := getattr(truth, "copy_to_host_async", None)):
        begin()
    return lambda: bool(truth)
