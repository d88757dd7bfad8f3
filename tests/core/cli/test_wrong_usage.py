"""Wrong input on the command line: one line that names what is wrong, what is allowed and what is near."""

from pathlib import Path

import pytest

from tenterhooks.cli import plugin_commands

from .commands import tenterhooks, write

FAILED, USAGE = 1, 2

# The arguments, the exit code, and what the message has.
WRONG: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = [
    ((), USAGE, ("a subcommand is missing: run, plugins, show, ",)),
    (("rnu", "train.py"), USAGE, ("no subcommand 'rnu'", "the nearest: 'run'")),
    (("--verson",), USAGE, ("nothing takes '--verson'", "the nearest: '--version'")),
    (("run",), USAGE, ("run: a script is missing", "give either SCRIPT or -m MODULE")),
    (("run", "train.py", "-m", "train"), USAGE, ("'train.py' and -m train", "give either SCRIPT or -m MODULE")),
    (("run", ""), USAGE, ("the name of the script is empty",)),
    (("run", "tran.py"), USAGE, ("no script 'tran.py'", "the nearest: 'train.py'")),
    (("run", "missing/train.py"), USAGE, ("no script 'missing/train.py'", "no folder 'missing'")),
    (("run", "-m", "tran"), USAGE, ("-m tran", "no such module", "the nearest: 'train'")),
    (("run", "train.py", "--batch", "4"), USAGE, ("nothing takes '--batch 4'", "behind --, as in SCRIPT -- ARGS")),
    (("run", "train.py", "4"), USAGE, ("nothing takes '4'", "behind --, as in SCRIPT -- ARGS")),
    (("run", "train.py", "--hok", "guard"), USAGE, ("nothing takes '--hok", "the nearest: '--hook'")),
    (("run", "train.py", "--hook"), USAGE, ("argument --hook: expected one argument",)),
    (("run", "train.py", "--hook", "gard"), FAILED, ("--hook gard: no plugin named 'gard'", "the nearest: 'guard'")),
    (
        ("run", "train.py", "--hook", "guard:strct=true"),
        FAILED,
        ("--hook guard:strct=true: hook 'guard' (tenterhooks-guard 2.5) has no option", "the nearest: 'strict'"),
    ),
    (
        ("run", "train.py", "--hook", "guard:strict=perhaps"),
        FAILED,
        ("--hook guard:strict=perhaps: option 'strict'", "true or false", '"perhaps"'),
    ),
    (("run", "train.py", "--hook", "guard:strict"), USAGE, ("--hook guard:strict: ", "NAME:OPTION=VALUE,...")),
    (("run", "train.py", "--hook", "guard:"), USAGE, ("--hook guard:: ", "NAME:OPTION=VALUE,...")),
    (("run", "train.py", "--hook=guard", "--hook=guard"), USAGE, ("--hook guard is given twice", "at once")),
    (("run", "train.py", "--hook=guard", "--no-hook=guard"), USAGE, ("--hook guard and --no-hook guard", "one of")),
    (("run", "train.py", "--hook", "torn"), FAILED, ("--hook torn: plugin 'torn' (tenterhooks-torn 2.5) cannot be ",)),
    (("run", "train.py", "--set", "guard"), USAGE, ("--set guard: write HOOK.OPTION=VALUE",)),
    (("run", "train.py", "--set", "guard.limit=x"), FAILED, ("--set guard.limit=x: option 'limit'", 'float, not "x"')),
    (("run", "train.py", "--set", "guard.inspect=x"), FAILED, ("--set guard.inspect=x: ", "in code only")),
    (("run", "train.py", "--set", "gard.limit=1"), FAILED, ("--set gard: no plugin named 'gard'", "'guard'")),
    (("show",), USAGE, ("show: the following arguments are required: NAME",)),
    (("show", "gurad"), FAILED, ("no plugin named 'gurad' is installed", "the nearest: 'guard'")),
    (("show", "torn"), FAILED, ("plugin 'torn' (tenterhooks-torn 2.5) cannot be imported from 'torn:Torn'", "1 / 0")),
    (("show", "twice"), FAILED, ("'twice' is claimed by another-twice 2.5 and tenterhooks-guard 2.5", "uninstall")),
    (("plugins", "--jsn"), USAGE, ("nothing takes '--jsn'", "the nearest: '--json'")),
    (("lifecycle", "tran.py"), USAGE, ("no script 'tran.py'", "the nearest: 'train.py'")),
    (("lifecycle", "train.py"), FAILED, ("train.py opens no monitored session",)),
    (("lifecycle", "train.py", "--hook", "gard"), FAILED, ("--hook gard: no plugin named 'gard'", "'guard'")),
    (("new", "BestLoss"), USAGE, ("new BestLoss: ", "small letters and digits", "'best-loss'")),
    (("new", "tenterhooks-nan"), USAGE, ("give the short name alone, 'nan'",)),
    (("new", "guard"), FAILED, ("new guard: tenterhooks-guard 2.5 is installed", "choose another")),
    (("new", "best-loss", "folder"), FAILED, ("folder exists already", "name another folder")),
    (("new", "best-loss", "--in-repo"), FAILED, ("new --in-repo: ", "is the repository of tenterhooks")),
    (("check", "gurad"), FAILED, ("no plugin named 'gurad' is installed", "the nearest: 'guard'")),
    (("check", "train:Nothing"), USAGE, ("check train:Nothing: train has no 'Nothing'",)),
    (("check", "guard", "--option", "limt=1"), FAILED, ("--option limt=1: ", "the nearest: 'limit'")),
    (("completion", "bush"), USAGE, ("argument SHELL: ", "'bush'", "bash")),
    (("broken-command",), FAILED, ("plugin 'broken-command' (tenterhooks-torn 2.5) cannot be imported",)),
]


@pytest.fixture
def here(path: Path, tmp_path: Path) -> Path:
    """A folder with a script and a folder, and some that is installed and wrong."""
    place = tmp_path / "here"
    (place / "folder").mkdir(parents=True)
    (place / "train.py").write_text("started = True\n", "utf-8")
    write(path, "another-twice", {"tenterhooks.hooks": {"twice": "fake_guard:GuardHook"}})
    (path / "tenterhooks_guard-2.5.dist-info/entry_points.txt").write_text(
        "[tenterhooks.hooks]\nguard = fake_guard:GuardHook\ntwice = fake_guard:GuardHook\n", "utf-8"
    )
    entry_points = {
        "tenterhooks.hooks": {"torn": "torn:Torn"},
        plugin_commands.GROUP: {"broken-command": "torn:main"},
    }
    write(path, "tenterhooks-torn", entry_points, torn="raise RuntimeError('cannot: 1 / 0\\nand more')\n")
    return place


@pytest.mark.parametrize(("arguments", "code", "parts"), WRONG, ids=[" ".join(wrong[0]) or "-" for wrong in WRONG])
def test_wrong_input_is_one_line(
    arguments: tuple[str, ...], code: int, parts: tuple[str, ...], here: Path, path: Path
) -> None:
    before = sorted(here.rglob("*"))
    said = tenterhooks(*arguments, folder=here, path=path)
    assert (said.code, said.out) == (code, "")
    assert said.error.startswith("tenterhooks: error: ")
    assert said.error.count("\n") == 1
    for part in parts:
        assert part in said.error
    # Nothing was made, not even a compiled module.
    assert [place for place in sorted(here.rglob("*")) if "__pycache__" not in place.parts] == before
