"""What shows the progress: a bar in a terminal or a notebook, or lines."""

import contextlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from tenterhooks_progress._aside import LogsAside, is_terminal

__all__ = ["Display", "Progress", "open_display"]

_UNIT = "step"
_LINE = "{desc}step {n_fmt}/{total_fmt} ({percentage:.0f}%) [{elapsed}<{remaining}, {rate_fmt}{postfix}]"
_LINE_WITHOUT_TOTAL = "{desc}step {n_fmt} [{elapsed}, {rate_fmt}{postfix}]"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session is.

    Attributes:
        step: The global step.
        elapsed: The seconds that it took.
        rate: The steps per second, None where that is not known.
        postfix: The values.
    """

    step: int
    elapsed: float
    rate: float | None
    postfix: str


class Display(Protocol):
    """Shows it.

    Attributes:
        is_bar: Whether it takes the place of what it showed before.
    """

    is_bar: bool

    def show(self, progress: Progress) -> None:
        """Show this from now on."""

    def close(self) -> None:
        """Leave it as it is. Closing twice is harmless."""


def open_display(file: TextIO, step: int, total: int | None, desc: str | None, *, chosen: bool) -> Display:
    """What fits the place.

    Args:
        file: Where to write.
        step: The global step at which it begins.
        total: The last one, None if it is not known.
        desc: What to put in front.
        chosen: Whether the file is to be written to in a notebook too.
    """
    in_notebook = not chosen and _in_notebook()
    if in_notebook or is_terminal(file):
        # Without the widgets a notebook shows the bar of a terminal.
        as_widget = in_notebook and importlib.util.find_spec("ipywidgets") is not None
        return _Bar(file, step, total, desc, as_widget=as_widget)
    return _Lines(file, total, desc)


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None


class _Bar:
    is_bar = True

    def __init__(self, file: TextIO, step: int, total: int | None, desc: str | None, *, as_widget: bool) -> None:
        base: Any = importlib.import_module("tqdm.notebook" if as_widget else "tqdm").tqdm

        class Bar(base):  # type: ignore[misc]
            # Else a thread of tqdm's would draw it, too.
            monitor_interval = 0
            measured = Progress(step, 0.0, None, "")

            @property
            def format_dict(self) -> dict[str, Any]:
                """What is shown: as it was measured here, where pauses are left out."""
                measured = self.measured
                return {**super().format_dict, "elapsed": measured.elapsed, "rate": measured.rate or 0.0}

        self._bar = Bar(
            initial=step,
            total=total,
            desc=desc,
            file=file,
            unit=_UNIT,
            dynamic_ncols=True,
            # In a terminal one below another goes with what it is for.
            leave=True if as_widget else None,
        )
        self._logs = None if as_widget else LogsAside(file, Bar.external_write_mode)

    def show(self, progress: Progress) -> None:
        if self._logs is not None:
            self._logs.take()
        self._bar.measured = progress
        self._bar.n = progress.step
        self._bar.postfix = progress.postfix
        self._bar.refresh()

    def close(self) -> None:
        if self._logs is not None:
            self._logs.give_back()
        # The terminal may be gone, or the program have closed the file.
        with contextlib.suppress(OSError, ValueError):
            self._bar.close()


class _Lines:
    is_bar = False

    def __init__(self, file: TextIO, total: int | None, desc: str | None) -> None:
        self._file = file
        self._total = total
        self._desc = f"{desc}: " if desc else ""

    def show(self, progress: Progress) -> None:
        from tqdm import tqdm

        # One that is surpassed was not the last step, and none is known.
        total = None if self._total is None or progress.step > self._total else self._total
        text = tqdm.format_meter(
            progress.step,
            total,
            progress.elapsed,
            unit=_UNIT,
            prefix=self._desc,
            rate=progress.rate or 0.0,
            postfix=progress.postfix,
            bar_format=_LINE_WITHOUT_TOTAL if total is None else _LINE,
        )
        self._file.write(f"{text}\n")
        self._file.flush()

    def close(self) -> None:
        """Its lines are whole."""
