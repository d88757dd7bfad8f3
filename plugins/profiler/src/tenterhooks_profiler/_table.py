"""The table that says what takes a session's time."""

from tenterhooks_profiler._stopwatch import Stopwatch

__all__ = ["table"]

_HEAD = ("hook", "stage", "calls", "total ms", "mean us", "share")


def table(watch: Stopwatch, work: str) -> str:
    """Lay out what was measured, hooks first, the longest on top; the shares sum up to the whole time.

    Args:
        watch: What measured it.
        work: What lies between the hooks of a run.
    """
    whole = watch.seconds
    timings = watch.timings
    outside = whole - sum(timing.seconds for timing in timings) - watch.work_seconds - watch.session_seconds
    measured = [
        *timings,
        (f"({work})", "", watch.runs, watch.work_seconds),
        ("(the session, in runs)", "", watch.runs, watch.session_seconds),
        ("(outside of runs)", "", 0, max(0.0, outside)),
    ]
    rows = [_HEAD, *(_row(*each, whole) for each in measured)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) if place < 2 else cell.rjust(width) for place, (cell, width) in enumerate(cells))
        for cells in (zip(row, widths, strict=True) for row in rows)
    ]
    return "\n".join([f"{watch.runs} runs in {whole:.3f} s", *lines])


def _row(hook: str, stage: str, calls: int, seconds: float, whole: float) -> tuple[str, ...]:
    mean = f"{seconds / calls * 1e6:.1f}" if calls else ""
    share = f"{seconds / whole:.1%}" if whole > 0 else ""
    return hook, stage, str(calls or ""), f"{seconds * 1e3:.3f}", mean, share
