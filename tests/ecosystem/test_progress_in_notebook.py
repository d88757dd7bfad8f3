"""The bar of the hook `progress` in a notebook's kernel: a widget, or text where there are no widgets."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from .test_notebooks import LONGEST_SECS, Notebook, notebook

pytest.importorskip("tenterhooks_progress", reason="tenterhooks-progress is not installed")
pytest.importorskip("ipywidgets", reason="ipywidgets is not installed")

__all__ = ["notebook"]

TRAIN = """
import logging, sys, warnings
import tenterhooks as th
from tenterhooks_progress import ProgressHook

warnings.simplefilter("error")
logging.basicConfig(level=logging.INFO, format="%(message)s", force=True)
hook = ProgressHook(total=20, values="loss", every_n_secs=0.0)
with th.MonitoredSession(hooks=[hook]) as session:
    for step in session.steps(range(20)):
        session.publish(loss=step / 2)
        if step == stop_at: raise KeyboardInterrupt
"""


@dataclass
class Shown:
    """What a cell showed.

    Attributes:
        kinds: The kinds of what it displayed.
        widgets: What it set in widgets, by the name of the property, the last of each widget.
        text: What it wrote.
        error: The name of its error.
    """

    kinds: set[str] = field(default_factory=set)
    widgets: dict[tuple[str, str], Any] = field(default_factory=dict)
    text: str = ""
    error: str = ""

    def all(self, name: str) -> list[Any]:
        return [value for (_, key), value in self.widgets.items() if key == name]


def show(notebook: Notebook, cell: str) -> Shown:
    shown = Shown()
    request = notebook.client.execute(cell)
    while True:
        message: dict[str, Any] = notebook.client.get_iopub_msg(timeout=LONGEST_SECS)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "display_data":
            shown.kinds |= content["data"].keys()
        elif kind in ("comm_open", "comm_msg"):
            state = content["data"].get("state", {})
            shown.widgets.update({(content["comm_id"], key): value for key, value in state.items()})
        elif kind == "stream":
            shown.text += content["text"]
        elif kind == "error":
            shown.error = content["ename"]
        elif kind == "status" and content["execution_state"] == "idle":
            return shown


def test_it_is_a_widget(notebook: Notebook) -> None:
    notebook.do("stop_at = None")
    shown = show(notebook, TRAIN)
    assert shown.error == ""
    assert "application/vnd.jupyter.widget-view+json" in shown.kinds
    assert {20} < set(shown.all("value"))
    assert any(str(value).endswith("loss=9.5]") for value in shown.all("value"))
    assert "success" in shown.all("bar_style")
    # Records are beside it, and nothing is drawn there.
    assert "%|" not in shown.text


def test_after_an_interrupt_it_is_closed_where_it_was(notebook: Notebook) -> None:
    notebook.do("stop_at = 7")
    shown = show(notebook, TRAIN)
    assert shown.error == "KeyboardInterrupt"
    assert 7 in shown.all("value")
    assert "danger" in shown.all("bar_style")


def test_without_widgets_it_is_text(notebook: Notebook) -> None:
    notebook.do("import sys; sys.modules['ipywidgets'] = None; stop_at = None")
    shown = show(notebook, TRAIN)
    assert (shown.error, shown.widgets) == ("", {})
    assert "| 20/20 [" in shown.text.rpartition("\r")[2]
    assert "Warning" not in shown.text
