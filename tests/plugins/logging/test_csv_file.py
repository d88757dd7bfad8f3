"""What `csv` promises beyond what all files have."""

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

import tenterhooks as th
from tenterhooks_logging import CsvHook


class Loop(Protocol):
    """Makes a pass for each of these values, which publishes them; but for those before the restored step."""

    def __call__(self, *passes: dict[str, Any], tensors: Any = None, fail: bool = False) -> None: ...


@pytest.fixture
def loop(tmp_path: Path, open_session: Callable[..., th.MonitoredSession]) -> Loop:
    def made(*passes: dict[str, Any], tensors: Any = None, fail: bool = False) -> None:
        with open_session(tmp_path, CsvHook(tensors, every_n_steps=1)) as session:
            for values in session.steps(passes):
                session.publish(values)
            if fail:
                raise OSError("the power is gone")

    return made


def table(folder: Path) -> list[list[str]]:
    """The rows with the header, without the times."""
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    assert found[0][:2] == ["step", "time"]
    assert {len(row) for row in found} == {len(found[0])}
    return [[row[0], *row[2:]] for row in found]


def test_the_file_is_a_table(tmp_path: Path, loop: Loop) -> None:
    loop({"loss": 0.1, "ok": True, "n": 3}, {"loss": np.float64("nan"), "ok": False, "n": None})
    assert table(tmp_path) == [["step", "loss", "ok", "n"], ["1", "0.1", "True", "3"], ["2", "NaN", "False", ""]]


def test_a_metric_that_comes_later_gets_a_column_and_breaks_none(tmp_path: Path, loop: Loop) -> None:
    loop({"loss": 1}, {"loss": 2}, {"loss": 3, "accuracy": 0.5, "lr": 0.1}, {"accuracy": 0.6})
    assert table(tmp_path) == [
        ["step", "loss", "accuracy", "lr"],
        ["1", "1", "", ""],
        ["2", "2", "", ""],
        ["3", "3", "0.5", "0.1"],
        ["4", "", "0.6", ""],
    ]
    assert not list(tmp_path.glob("*.tmp"))


def test_a_resumed_run_keeps_the_columns(tmp_path: Path, loop: Loop) -> None:
    first = [{"loss": 1}, {"loss": 2, "late": 3}]
    loop(*first)
    loop(*first, {"other": 4, "loss": 5})
    assert table(tmp_path) == [
        ["step", "loss", "late", "other"],
        ["1", "1", "", ""],
        ["2", "2", "3", ""],
        ["3", "5", "", "4"],
    ]


def test_a_column_may_be_left_without_a_value_by_a_resume(tmp_path: Path, loop: Loop) -> None:
    """The row that it came with was not saved."""
    passes = [{"loss": 1}, {"loss": 2}, {"loss": 3, "late": 3}]
    with pytest.raises(OSError, match="the power is gone"):
        loop(*passes, fail=True)
    assert len(table(tmp_path)) == 4
    loop({"loss": 1}, {"loss": 2}, {"loss": 4})
    assert table(tmp_path) == [["step", "loss", "late"], ["1", "1", ""], ["2", "2", ""], ["3", "4", ""]]


@pytest.mark.parametrize("torn", ["3,17000", "3,1700.0,0.", "ste"])
def test_a_row_that_is_torn_goes(torn: str, tmp_path: Path, loop: Loop) -> None:
    loop({"loss": 1}, {"loss": 2})
    with (tmp_path / "metrics.csv").open("a", encoding="utf-8") as file:
        file.write(torn)
    loop({"loss": 1}, {"loss": 2}, {"loss": 3})
    assert table(tmp_path) == [["step", "loss"], ["1", "1"], ["2", "2"], ["3", "3"]]


def test_a_header_that_is_torn_is_written_again(tmp_path: Path, loop: Loop) -> None:
    loop({"loss": 1}, {"loss": 2})
    (tmp_path / "metrics.csv").write_text("step,time,lo", encoding="utf-8")
    loop({"loss": 1}, {"loss": 2}, {"loss": 3})
    assert table(tmp_path) == [["step", "loss"], ["3", "3"]]


def test_lines_that_end_as_on_windows_are_understood(tmp_path: Path, loop: Loop) -> None:
    loop({"loss": 1}, {"loss": 2})
    path = tmp_path / "metrics.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    loop({"loss": 1}, {"loss": 2}, {"late": 3})
    assert table(tmp_path) == [["step", "loss", "late"], ["1", "1", ""], ["2", "2", ""], ["3", "", "3"]]


def test_tags_and_texts_may_have_commas_and_quotes(tmp_path: Path, loop: Loop) -> None:
    loop({'a,"b"': 'c,"d"', "é": "ß"}, {"x": 1})
    assert table(tmp_path) == [["step", 'a,"b"', "é", "x"], ["1", 'c,"d"', "ß", ""], ["2", "", "", "1"]]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.zeros((2, 3)), r"'x' has the shape \(2, 3\)"),
        (np.zeros(1), r"'x' has the shape \(1,\)"),
        ([1.0, 2.0], r"'x' is \[1.0, 2.0\]"),
        ({"a": 1.0}, r"'x' is {'a': 1.0}"),
        ("two\nlines", r"'x' is 'two\\nlines'"),
        ("two\rlines", r"'x' is 'two\\rlines'"),
        ("with its end\n", r"'x' is 'with its end\\n'"),
        ("\n", r"'x' is '\\n'"),
    ],
)
def test_what_takes_more_than_a_cell_is_an_error_that_says_what_to_do(
    value: Any, said: str, tmp_path: Path, loop: Loop
) -> None:
    with pytest.raises(ValueError, match=said + ": write what makes one number .*JsonLinesHook"):
        loop({"x": value}, tensors="x")


def test_a_tag_of_several_lines_is_an_error(tmp_path: Path, loop: Loop) -> None:
    with pytest.raises(ValueError, match="a text of one line"):
        loop({"x\ny": 1.0}, tensors="x\ny")


def test_of_all_that_is_published_a_text_of_several_lines_is_left_out(
    tmp_path: Path, loop: Loop, caplog: pytest.LogCaptureFixture
) -> None:
    loop({"loss": 1, "note": "two\nlines"}, {"loss": 2, "note": "two\nlines"}, {"loss": 3, "note": "one"})
    assert table(tmp_path) == [["step", "loss", "note"], ["1", "1", ""], ["2", "2", ""], ["3", "3", "one"]]
    assert caplog.text.count("'note' is not written, since a cell of a table has one number or a text of one line") == 1


def test_half_of_a_character_is_escaped(tmp_path: Path, loop: Loop) -> None:
    loop({"file": "digits-\udcff.png"})
    assert table(tmp_path) == [["step", "file"], ["1", "digits-\\udcff.png"]]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file that is open cannot be removed")
def test_a_table_that_is_removed_meanwhile_is_an_error_and_no_end_of_the_input(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match=r"metrics\.csv was removed or replaced while it was written"),
        th.MonitoredSession(state={}, hooks=[CsvHook(every_n_steps=1)], summary_dir=tmp_path) as session,
    ):
        for step in session.steps(range(3)):
            session.publish({f"metric {step}": 1.0})
            if step == 1:
                (tmp_path / "metrics.csv").unlink()


def test_a_table_of_something_else_is_not_gone_on_with(tmp_path: Path, loop: Loop) -> None:
    loop({"loss": 1}, {"loss": 2})
    path = tmp_path / "metrics.csv"
    path.write_text("name,age\nBob,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"begins with b'name,age\\n' and not with step,time.*: move it away"):
        loop({"loss": 1}, {"loss": 2}, {"loss": 3})
    assert path.read_text(encoding="utf-8") == "name,age\nBob,3\n"


def test_a_fresh_session_leaves_a_table_of_something_else(tmp_path: Path, loop: Loop) -> None:
    (tmp_path / "metrics.csv").write_text("name,age\nBob,3\n", encoding="utf-8")
    loop({"loss": 1})
    assert (tmp_path / "metrics-1.csv").read_text(encoding="utf-8") == "name,age\nBob,3\n"
