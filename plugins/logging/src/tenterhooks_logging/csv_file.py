"""The hook that writes values as a table."""

import csv
import io
import itertools
from pathlib import Path
from typing import Any

from tenterhooks_logging._lines import LineFile
from tenterhooks_logging._metrics_file import MetricsFileHook
from tenterhooks_logging._values import is_single, plain

__all__ = ["CsvHook"]

_FIRST = ["step", "time"]


class CsvHook(MetricsFileHook):
    """Writes values to a file `metrics.csv`, a row a step, with a column for each tag: `step,time,loss,accuracy`.

    The first run is written, then one each period; the values are computed in those runs, in no other. The step is that
    after the run, the time that of day in seconds since 1970. A value is one number, truth value or text; NaN and
    infinity are `NaN`, `Infinity` and `-Infinity`. Where a step has no value, the cell is empty. A tag that comes later
    gets a column of its own: the file is replaced by one with that, in one piece.

    A session that was restored goes on with the file: the rows after its step go, and one that is torn. A fresh session
    leaves what an earlier run has written, as `metrics-1.csv`.

    Example:
        >>> CsvHook(["loss", "accuracy"], path="/runs/a/metrics.csv", every_n_steps=10)
        <CsvHook into '/runs/a/metrics.csv'>
    """

    default_name = "metrics.csv"

    def open_file(self, path: Path) -> LineFile:
        """The file."""
        return _Csv(path)


class _Csv(LineFile):
    def begin(self) -> None:
        super().begin()
        self._columns: list[str] = []

    def go_on(self, step: int) -> None:
        header = next(self.lines(), b"")
        columns = _cells(header) if header.endswith(b"\n") else []
        if columns and columns[: len(_FIRST)] != _FIRST:
            raise ValueError(
                f"{self.path} begins with {header[:60]!r} and not with {','.join(_FIRST)}, so it is no file of this "
                "hook's: move it away, or give another path"
            )
        super().go_on(step)
        self._columns = columns

    def as_written(self, value: Any, tag: str) -> Any:
        return _cell(value, tag)

    def write(self, step: int, time: float, values: dict[str, Any]) -> None:
        cells = {"step": step, "time": time, **values}
        new = [tag for tag in cells if tag not in self._columns]
        if new:
            self._add_columns(new)
        self.append(_line([cells.get(tag, "") for tag in self._columns]))

    def write_end(self, step: int, time: float, how: str) -> None:
        """A table has no row for that."""

    def _add_columns(self, new: list[str]) -> None:
        columns = [*self._columns, *new]
        if self._columns:
            rows = itertools.islice(self.lines(), 1, None)
            cells = b"," * len(new)
            self.replace(itertools.chain([_line(columns)], (row.rstrip(b"\r\n") + cells + b"\n" for row in rows)))
        else:
            self.append(_line(columns))
        self._columns = columns

    def step_of(self, line: bytes) -> float | None:
        step = line.partition(b",")[0]
        return int(step) if step.isdigit() else None


def _cells(line: bytes) -> list[str]:
    return next(csv.reader([line.decode(errors="replace")]))


def _line(cells: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    # Half of a character, as names of files may have it, is escaped as in JSON.
    return text.getvalue().encode(errors="backslashreplace")


def _cell(value: Any, tag: str) -> Any:
    """A value in one cell.

    Raises:
        ValueError: It takes several, or its text several lines.
        TypeError: It is no number and no text.
    """
    if value is None:
        return ""
    shape = tuple(getattr(value, "shape", ()))
    if not shape:
        single = plain(value, tag)
        if is_single(single) and _is_line(str(single)) and _is_line(tag):
            return single
    what = f"has the shape {shape}" if shape else f"is {value!r:.60}"
    raise ValueError(
        f"a cell of a table has one number or a text of one line, and {tag!r} {what}: write what makes one number of "
        "it, such as its mean, or write it with JsonLinesHook"
    )


def _is_line(text: str) -> bool:
    """Whether a text is of one line, and does not end it either."""
    return len(f"{text}.".splitlines()) == 1
