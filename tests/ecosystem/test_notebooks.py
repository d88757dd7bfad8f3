"""The page on notebooks is true: its own cells in a real kernel, which is interrupted as its button does."""

import importlib.util
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tenterhooks_checkpoint import Saver

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ipykernel") is None or importlib.util.find_spec("jupyter_client") is None,
    reason="a notebook needs Jupyter: pip install ipykernel jupyter_client",
)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "notebooks.md"
MAKE, TRAIN, SAVE_AT_INTERRUPT = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
)
OVER = "epochs are over at step 80\n"
LONGEST_SECS = 60.0

# What the tests add to the page's cells: something to wait in until the interrupt comes, and a hook that tells.
HELP = """
import time

def wait_for_interrupt():
    print("waiting", flush=True)
    while True:
        time.sleep(0.01)  # which an interrupt ends on each platform

class Tell(th.SessionRunHook):
    wait_in, wait_at = None, None

    def before_run(self, run_context):
        self.wait("before_run", run_context.session.global_step + 1)

    def after_run(self, run_context, run_values):
        self.wait("after_run", run_context.session.global_step)

    def wait(self, where, step):
        if (where, step) == (self.wait_in, self.wait_at):
            self.wait_at = None
            wait_for_interrupt()

    def end(self, session):
        print("end at step", session.global_step)

    def on_exception(self, session, exception):
        print("on_exception", type(exception).__name__)

tell = Tell()
hooks.append(tell)
"""


@dataclass
class Ran:
    """What came of a cell: what it printed and logged, its value, and the name and the message of its error."""

    printed: str = ""
    logged: str = field(default="", compare=False)
    value: str = ""
    error: str = ""
    message: str = ""


class Notebook:
    """A kernel, and what a notebook does with it.

    Args:
        folder: Its working directory.
        settings: A folder for Jupyter's own files, so that none of the user's count; its name is short.
    """

    def __init__(self, folder: Path, settings: Path) -> None:
        from jupyter_client.kernelspec import KernelSpecManager
        from jupyter_client.manager import KernelManager

        self.folder = folder
        # Ports are free when they are chosen, and may be another program's when the kernel takes them.
        where = {} if sys.platform == "win32" else {"transport": "ipc", "ip": str(settings / "kernel")}
        self.manager = KernelManager(
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(settings / "kernel.json"),
            **where,
        )
        self.manager.start_kernel(cwd=str(folder), extra_arguments=[f"--ipython-dir={settings}"])
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LONGEST_SECS)

    def run(self, cell: str, *, interrupt: bool = False) -> Ran:
        """Run a cell, and interrupt it when it says that it waits for that."""
        request = self.client.execute(cell)
        ran = Ran()
        while True:
            message: dict[str, Any] = self.client.get_iopub_msg(timeout=LONGEST_SECS)
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and content["name"] == "stdout":
                ran.printed += content["text"]
                if interrupt and "waiting\n" in ran.printed:
                    interrupt = False
                    self.interrupt()
            elif kind == "stream":
                ran.logged += content["text"]
            elif kind == "execute_result":
                ran.value = content["data"]["text/plain"]
            elif kind == "error":
                ran.error, ran.message = content["ename"], content["evalue"]
            elif kind == "status" and content["execution_state"] == "idle":
                ran.printed = ran.printed.replace("waiting\n", "")
                return ran

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def do(self, cell: str) -> str:
        """Run a cell that is to end without an error, and give what it printed."""
        ran = self.run(cell)
        assert ran.error == "", ran
        return ran.printed

    def value(self, expression: str) -> str:
        ran = self.run(expression)
        assert ran.error == "", ran
        return ran.value

    def bits(self) -> str:
        """All bits of what is trained, and of the generator."""
        return self.value("model.tobytes().hex(), rng.bit_generator.state")


@pytest.fixture
def notebook(tmp_path: Path) -> Iterator[Notebook]:
    # Not below tmp_path, whose name may be too long for a socket.
    with tempfile.TemporaryDirectory() as settings:
        opened = Notebook(tmp_path, Path(settings))
        yield opened
        opened.close()


@pytest.fixture
def made(notebook: Notebook) -> Notebook:
    """A notebook whose first cell was run."""
    notebook.do(MAKE)
    notebook.do(HELP)
    return notebook


def in_folder(name: str, cell: str = TRAIN) -> str:
    """The cell that trains, in another folder."""
    assert '"runs/notebook"' in cell
    return cell.replace('"runs/notebook"', f'"runs/{name}"')


def through(notebook: Notebook, cell: str = TRAIN) -> str:
    """The bits with which the cell ends that begins anew, in another folder, and is not interrupted."""
    notebook.do(MAKE)
    notebook.do(in_folder("through", cell))
    return notebook.bits()


def newest_step(notebook: Notebook) -> int:
    newest = Saver(notebook.folder / "runs" / "notebook").latest()
    assert newest is not None
    return newest.step


def assert_free(notebook: Notebook) -> None:
    """Check that the kernel holds no lock on the folder, as another process sees it."""
    saver = Saver(notebook.folder / "runs" / "notebook")
    saver.open()
    saver.close()


def interrupted_in_a_stage(stage: str) -> Callable[[Notebook], Ran]:
    def run(notebook: Notebook) -> Ran:
        notebook.do(f"tell.wait_in, tell.wait_at = {stage!r}, 50")
        return notebook.run(TRAIN, interrupt=True)

    return run


def interrupted_in_the_body(notebook: Notebook) -> Ran:
    line = "            error = model"
    assert line in TRAIN
    return notebook.run(
        TRAIN.replace(line, f"            if session.global_step == 49: wait_for_interrupt()\n{line}"), interrupt=True
    )


def interrupted_at_an_item(notebook: Notebook) -> Ran:
    line = "session.steps(batches())"
    assert line in TRAIN
    notebook.do("""
def waiting(items):
    for item in items:
        if session.global_step == 49: wait_for_interrupt()
        yield item
""")
    return notebook.run(TRAIN.replace(line, "session.steps(waiting(batches()))"), interrupt=True)


def test_the_log_says_whether_a_cell_began_anew(made: Notebook) -> None:
    assert "no checkpoint in runs/notebook: starting from step 0" in made.run(TRAIN).logged
    assert "at global step 80\n" in made.run(TRAIN).logged
    made.do("logging.getLogger().setLevel(logging.WARNING)")
    assert made.run(TRAIN).logged == ""


def test_a_cell_that_is_run_again_goes_on_from_its_checkpoint(made: Notebook) -> None:
    assert made.do(TRAIN) == OVER + "end at step 80\n"
    made.do("trained = model")
    before = made.bits()
    assert made.do(TRAIN) == OVER + "end at step 80\n"
    assert made.bits() == before
    longer = TRAIN.replace("epochs(2)", "epochs(4)")
    assert made.do(longer) == "epochs are over at step 160\nend at step 160\n"
    assert made.value("model is trained") == "True"
    assert made.bits() == through(made, longer) != before


@pytest.mark.parametrize(
    "interrupted",
    [
        pytest.param(interrupted_in_a_stage("before_run"), id="before_run"),
        pytest.param(interrupted_in_a_stage("after_run"), id="after_run"),
        pytest.param(interrupted_in_the_body, id="body"),
        pytest.param(interrupted_at_an_item, id="item"),
    ],
)
def test_a_cell_that_was_interrupted_ends_its_session_and_goes_on_when_it_is_run_again(
    made: Notebook, interrupted: Callable[[Notebook], Ran]
) -> None:
    made.do("kept = model")
    ran = interrupted(made)
    assert ran == Ran(printed="on_exception KeyboardInterrupt\n", error="KeyboardInterrupt")
    assert made.value("session") == "<MonitoredSession closed>"
    assert newest_step(made) == 40
    assert_free(made)
    assert made.do(TRAIN) == OVER + "end at step 80\n"
    assert made.value("model is kept") == "True"
    assert made.bits() == through(made)


def test_what_the_first_cell_made_anew_is_restored_too(made: Notebook) -> None:
    interrupted_in_the_body(made)
    made.do(MAKE)
    assert made.do(TRAIN) == OVER
    assert made.bits() == through(made)


def test_a_kernel_that_was_restarted_goes_on(made: Notebook) -> None:
    interrupted_in_the_body(made)
    made.manager.restart_kernel(now=True)
    made.client.wait_for_ready(timeout=LONGEST_SECS)
    assert made.value("'model' in globals()") == "False"
    made.do(MAKE)
    assert made.do(TRAIN) == OVER
    assert made.bits() == through(made)


def test_a_model_of_another_shape_is_refused_by_name(made: Notebook) -> None:
    made.do(TRAIN)
    made.do("model = np.zeros((3, 1))")
    refused = made.run(TRAIN)
    assert refused.error == "CheckpointError"
    assert "model" in refused.message


def test_with_its_folder_deleted_a_cell_begins_anew(made: Notebook) -> None:
    made.do(TRAIN)
    trained = made.bits()
    made.do("import shutil; shutil.rmtree('runs/notebook')")
    made.do(TRAIN)
    assert made.bits() != trained
    made.do("import shutil; shutil.rmtree('runs/notebook')")
    made.do(MAKE)
    made.do(TRAIN)
    assert made.bits() == trained


def test_state_that_cannot_change_in_place_can_be_read_after_the_block(made: Notebook) -> None:
    made.do("""
with th.MonitoredSession(state={"total": 0}) as session:
    state = session.state
    for x in session.steps([1, 2]):
        state["total"] += x
""")
    assert made.value("state['total']") == "3"
    assert made.run("session.global_step").error == "RuntimeError"


def test_with_the_preemption_hook_an_interrupt_saves_and_the_cell_goes_on_from_there(made: Notebook) -> None:
    made.do(SAVE_AT_INTERRUPT)
    # It waits for what the hook does in place of an error.
    line = "            error = model"
    waiting = f"""\
            if session.global_step == 49 and not globals().get("waited"):
                waited = True
                print("waiting", flush=True)
                while not session.should_stop(): pass
{line}"""
    ran = made.run(TRAIN.replace(line, waiting), interrupt=True)
    assert ran == Ran(printed="epochs are over at step 50\nend at step 50\n")
    assert newest_step(made) == 50
    assert_free(made)
    assert made.do(TRAIN) == OVER + "end at step 80\n"
    assert made.bits() == through(made)
    # The button does to other cells what it did before.
    assert made.run("wait_for_interrupt()", interrupt=True).error == "KeyboardInterrupt"


@pytest.mark.skipif(sys.platform == "win32", reason="there an interrupt is an event, and not a signal")
def test_with_the_preemption_hook_a_second_interrupt_ends_the_kernel(made: Notebook) -> None:
    made.do(SAVE_AT_INTERRUPT)
    made.do("""
class Wait(th.SessionRunHook):
    def after_run(self, run_context, run_values):
        print("waiting", flush=True)
        while not session.should_stop(): pass
        print("came", flush=True)
        wait_for_interrupt()
hooks.append(Wait())
""")
    made.client.execute(TRAIN)
    for text in ("waiting", "came"):
        while text not in made.client.get_iopub_msg(timeout=LONGEST_SECS)["content"].get("text", ""):
            pass
        made.interrupt()
    deadline = time.monotonic() + LONGEST_SECS
    while made.manager.is_alive():
        assert time.monotonic() < deadline, "the kernel lives on"
        time.sleep(0.01)


def test_the_preemption_hooks_default_ends_the_cell_with_an_exit(made: Notebook) -> None:
    made.do(SAVE_AT_INTERRUPT.replace("exit_by=None", ""))
    made.do("import signal")
    line = "            error = model"
    ran = made.run(
        TRAIN.replace(line, f"            if session.global_step == 49: signal.raise_signal(signal.SIGINT)\n{line}")
    )
    assert (ran.error, ran.message) == ("SystemExit", "130")


def test_a_generator_that_is_not_in_the_state_shuffles_otherwise_after_an_interrupt(made: Notebook) -> None:
    cell = TRAIN.replace(', "rng": rng', "")
    assert cell != TRAIN
    made.do("tell.wait_in, tell.wait_at = 'after_run', 50")
    assert made.run(cell, interrupt=True).error == "KeyboardInterrupt"
    assert made.do(cell) == OVER + "end at step 80\n"
    otherwise = made.value("model.tobytes().hex()")
    through(made, cell)
    assert made.value("model.tobytes().hex()") != otherwise


OPEN = 'th.MonitoredTrainingSession(checkpoint_dir="runs/notebook", state={"model": model}, hooks=hooks)'
OPEN_WITH_TELL = OPEN.replace("hooks=hooks", "hooks=[tell]")


def test_a_session_that_was_left_open_has_its_hooks_until_it_is_closed(made: Notebook) -> None:
    cell = f"session = {OPEN}\nraise ValueError('failed')"
    assert made.run(cell).error == "ValueError"
    refused = made.run(cell)
    assert refused.error == "HookError"
    assert re.search(r"belongs to another open session, .*: close\(\) that one first", refused.message)
    assert made.do("session.close()") == "end at step 0\n"
    assert made.run(cell).error == "ValueError"


def test_a_session_that_was_left_open_has_its_folder_until_it_is_closed(made: Notebook) -> None:
    cell = f"session = {OPEN.replace(', hooks=hooks', '')}\nraise ValueError('failed')"
    assert made.run(cell).error == "ValueError"
    refused = made.run(cell)
    assert refused.error == "CheckpointError"
    assert re.search("another saver of this process saves into .*: close its session", refused.message)
    assert made.run("session.close()") == Ran()
    assert_free(made)
    assert made.run(cell).error == "ValueError"


@pytest.mark.parametrize(
    ("hooks", "error"), [("hooks=hooks", "HookError"), ("hooks=()", "CheckpointError")], ids=["hooks", "folder"]
)
def test_a_session_that_only_a_traceback_holds_is_gone_at_the_next_error(
    made: Notebook, hooks: str, error: str
) -> None:
    made.do(f"""
def train():
    session = {OPEN.replace("hooks=hooks", hooks)}
    raise ValueError("failed")
""")
    assert made.run("train()").error == "ValueError"
    assert made.run("train()").error == error
    assert made.run("train()").error == "ValueError"


def test_a_session_that_was_dropped_gets_no_end_and_has_lost_what_was_not_saved(made: Notebook) -> None:
    made.do(f"session = {OPEN_WITH_TELL}")
    made.do("for _ in session.steps([1, 2]): model += 1")
    assert made.do("print(session.global_step); del session, _") == "2\n"
    assert made.do(f"with {OPEN_WITH_TELL} as session: print(session.global_step)") == "0\nend at step 0\n"
    assert made.value("model") == "array([0., 0., 0.])"


def test_a_loop_that_is_run_again_in_an_open_session_is_another_one(made: Notebook) -> None:
    loop = "for x in session.steps([1, 2, 3]): print(x)"
    made.do(f"session = {OPEN_WITH_TELL}")
    assert made.do(loop) == "1\n2\n3\n"
    # One that is cut short, and saved where it was.
    assert made.do(loop.replace("print(x)", "print(x); session.request_stop()")) == "1\n"
    made.do("session.close()")
    made.do(f"session = {OPEN_WITH_TELL}")
    assert [made.do(loop) for _ in range(2)] == ["", "2\n3\n"]
