"""The hook that writes values as lines of JSON."""

import json
import math
import re
from pathlib import Path
from typing import Any

from tenterhooks_logging._lines import LineFile
from tenterhooks_logging._metrics_file import MetricsFileHook
from tenterhooks_logging._values import plain

__all__ = ["JsonLinesHook"]

_BEGINNING = re.compile(rb'\{"step": (\d+), ')


class JsonLinesHook(MetricsFileHook):
    """Writes values to a file `metrics.jsonl`, an object a line: `{"step": 12, "time": 1700000000.0, "loss": 0.5}`.

    The first run is written, then one each period; the values are computed in those runs, in no other. The step is that
    after the run, the time that of day in seconds since 1970. NaN and infinity, for which JSON has no numbers, are the
    texts "NaN", "Infinity" and "-Infinity", as Protocol Buffers have them. Arrays are lists.

    At its end a session adds `{"step": 90, "time": ..., "end": "clean"}`, or "stopped: ..." with who asked and why, or
    "failed: ..." with the error. Where that is missing, the run goes on, or was killed.

    A session that was restored goes on with the file: the lines after its step go, those that say how a session ended,
    and one that is torn. A fresh session leaves what an earlier run has written, as `metrics-1.jsonl`.

    Example:
        >>> JsonLinesHook(["loss", "accuracy"], path="/runs/a/metrics.jsonl", every_n_steps=10)
        <JsonLinesHook into '/runs/a/metrics.jsonl'>
    """

    default_name = "metrics.jsonl"

    def open_file(self, path: Path) -> LineFile:
        """The file."""
        return _JsonLines(path)


class _JsonLines(LineFile):
    def as_written(self, value: Any, tag: str) -> Any:
        return plain(value, tag)

    def write(self, step: int, time: float, values: dict[str, Any]) -> None:
        self._add({"step": step, "time": time, **values})

    def write_end(self, step: int, time: float, how: str) -> None:
        self._add({"step": step, "time": time, "end": how})

    def _add(self, line: dict[str, Any]) -> None:
        self.append(json.dumps(line, allow_nan=False).encode() + b"\n")

    def step_of(self, line: bytes) -> float | None:
        beginning = _BEGINNING.match(line)
        # Most lines need not be read as a whole.
        if beginning and b'"end"' not in line:
            return int(beginning[1])
        try:
            values = json.loads(line)
        except ValueError:
            return None
        step = values.get("step") if isinstance(values, dict) else None
        if not isinstance(step, int):
            return None
        return math.inf if "end" in values else step
