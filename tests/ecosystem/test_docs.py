"""The documents: their Python runs and prints what they say, their tables are the sources', their links lead somewhere.

A block of ```text right after a block of ```python is what that one prints. Blocks of a page build on each other, in
order. Functions named test_ are called after all. Code of other projects stands in ```py, and is not run. Blocks after
a comment such as `<!-- needs torch -->` are a program of their own, which runs where that is installed.

Commands in ```bash name programs, modules, files and distributions that there are; they are not run, since most of them
install or publish something. Blocks of ```sh run, with the files that the blocks of ```python and ```toml before them
are: a name right before one, as in "`train.py`:", begins a file, and ```toml without one goes on with the last.
"""

import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from shutil import which
from types import ModuleType
from typing import Any

import pytest

import tenterhooks
import tenterhooks.hookspecs
import tenterhooks_checkpoint.hookspecs

ROOT = Path(__file__).parents[2]
INDEX = "docs/index.md"  # The site's, which includes docs/README.md.
PAGES = [
    page
    for page in ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))]
    if page != INDEX
]
READMES = sorted(path.relative_to(ROOT).as_posix() for path in [*ROOT.glob("core/*.md"), *ROOT.glob("plugins/*/*.md")])
PLUGIN_OPTIONS = "docs/reference/plugins.md"
SESSION_OPTIONS = "docs/reference/sessions.md"
DISTRIBUTIONS = {
    project["name"]: project
    for path in sorted(ROOT.glob("core/pyproject.toml")) + sorted(ROOT.glob("plugins/*/pyproject.toml"))
    for project in [tomllib.loads(path.read_text(encoding="utf-8"))["project"]]
}
# Functions named test_, and those of classes named Test, such as contracts that are inherited.
CALL_TESTS = """
import contextlib, io, pathlib, tempfile, unittest
with contextlib.redirect_stdout(io.StringIO()):
    for test in [value for name, value in globals().items() if name.startswith("test_")]:
        test()
    for tests in [value for name, value in globals().items() if name.startswith("Test")]:
        for name in [name for name in dir(tests) if name.startswith("test_") and getattr(tests, name)]:
            # What a module of its own is needed for cannot be tested here.
            with contextlib.suppress(unittest.SkipTest), tempfile.TemporaryDirectory() as place:
                getattr(tests(), name)(pathlib.Path(place))
"""
BLOCK = re.compile(
    r"^(?:<!-- needs (?P<needs>[\w, ]+) -->\n)?```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [block["code"] for block in BLOCK.finditer(read(page)) if block["language"] == language]


def needs(page: str) -> list[str]:
    """What blocks of a page need, each once."""
    return list(dict.fromkeys(block["needs"] for block in BLOCK.finditer(read(page)) if block["needs"]))


def program(page: str, need: str | None = None) -> tuple[str, str]:
    """The Python of a page, at the lines where it stands there, and all that it is said to print.

    That which needs something is another program: the blocks that need just this, and those that need its first module.
    """
    wanted = {None} if need is None else {need, need.partition(",")[0]}
    text = read(page)
    lines = [""] * text.count("\n")
    printed = []
    previous = None
    for block in BLOCK.finditer(text):
        if block["language"] == "python" and block["needs"] in wanted:
            start = text.count("\n", 0, block.start("code"))
            code = block["code"].splitlines()
            lines[start : start + len(code)] = code
        elif block["language"] == "text" and previous is not None and previous["language"] == "sh":
            continue  # See below.
        elif block["language"] == "text":
            assert previous is not None
            assert previous["language"] == "python", f"{page}: what prints this?\n{block['code']}"
            assert text[previous.end() : block.start()].strip() == "", f"{page}: what prints this?\n{block['code']}"
            if previous["needs"] in wanted:
                printed.append(block["code"])
        previous = block
    return "\n".join(lines) + CALL_TESTS, "".join(printed)


def run_python(code: Path, folder: Path, *search: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, search)), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error", str(code)]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False
    )


def check_program(page: str, need: str | None, tmp_path: Path) -> None:
    code, printed = program(page, need)
    # Named like the page, so that a traceback says where in the page it was.
    script = tmp_path / Path(page).name
    script.write_text(code, encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    done = run_python(script, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


@pytest.mark.parametrize("page", [page for page in [*PAGES, *READMES] if blocks(page, "python")])
def test_the_python_of_a_page_runs_and_prints_what_the_page_says(page: str, tmp_path: Path) -> None:
    check_program(page, None, tmp_path)


@pytest.mark.parametrize(("page", "need"), [(page, need) for page in [*PAGES, *READMES] for need in needs(page)])
def test_python_that_needs_a_framework_runs_where_that_is_installed(page: str, need: str, tmp_path: Path) -> None:
    missing = [module for module in need.split(", ") if find_spec(module) is None]
    if missing:
        pytest.skip(f"{page} has Python for {need}, and {' and '.join(missing)} is not installed")
    check_program(page, need, tmp_path)


def test_the_how_to_has_each_framework() -> None:
    assert needs("docs/how-to/add-it-to-your-loop.md") == ["torch", "jax", "jax, tenterhooks_jax", "sklearn"]


def test_there_are_pages_that_run() -> None:
    assert {"README.md", "docs/tutorial/own-loop.md"} <= {page for page in PAGES if blocks(page, "python")}


# What stands in blocks of shell commands beside the commands of what is installed here.
SHELL = {"#!/bin/bash", "#SBATCH", "fi", "if", "rm", "scontrol", "srun", "twine"}
BASH = [
    (page, command.strip())
    for page in PAGES
    for block in blocks(page, "bash")
    for command in re.split(r"\n|&&", block)
    if command.strip()
]


@pytest.mark.parametrize(("page", "command"), BASH)
def test_a_shell_command_of_a_page_names_what_there_is(page: str, command: str) -> None:
    name, *arguments = command.removeprefix(".venv/bin/").split()
    scripts = {script.name for script in entry_points(group="console_scripts")} | {"python", "python3"}
    assert name in SHELL | scripts or (ROOT / name).is_file(), f"{page} has a command {name!r}: {command}"
    if name.startswith("python") and arguments[0] == "-m":
        assert find_spec(arguments[1]), f"{page}: there is no module {arguments[1]!r} to run: {command}"
    elif name.startswith("python") and arguments[0].startswith("docs/"):
        assert (ROOT / arguments[0]).is_file(), f"{page}: {command}"
    if name == "pip":
        files = [after for before, after in pairwise(arguments) if before == "-r"]
        assert [file for file in files if not (ROOT / file).is_file()] == [], f"{page}: {command}"
        ours = {word for word in arguments if word.startswith("tenterhooks")}
        assert ours <= DISTRIBUTIONS.keys(), f"{page}: {command}"


def test_there_are_shell_commands() -> None:
    assert ("docs/how-to/release.md", ".ci/run") in BASH


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_changelog_has_the_version_of_each_distribution(name: str) -> None:
    section = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", read("docs/changelog.md"), re.MULTILINE | re.DOTALL)
    assert section, f"docs/changelog.md has no heading '## {name}'"
    newest = re.search(r"^### (\S+)", section[1], re.MULTILINE)
    assert newest
    assert newest[1] == DISTRIBUTIONS[name]["version"]


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS.keys() - {"tenterhooks"}))
def test_the_page_of_the_plugins_sources_has_each(name: str) -> None:
    package = name.replace("-", "_")
    section = f"## {package}\n\n```{{eval-rst}}\n.. automodule:: {package}\n```\n"
    assert section in read("docs/reference/plugins-api.md"), f"docs/reference/plugins-api.md lacks:\n{section}"


def install(project: dict[str, Any], modules: dict[str, str], folder: Path) -> None:
    """Put modules and the metadata of their distribution where Python finds them, as pip would."""
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
    )
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "toml") and not blocks(page, "sh")])
def test_the_plugin_of_a_page_is_found_by_its_short_name(page: str, tmp_path: Path) -> None:
    (metadata,) = blocks(page, "toml")
    project = tomllib.loads(metadata)["project"]
    ((short_name, target),) = project["entry-points"]["tenterhooks.hooks"].items()
    module, _, attribute = target.partition(":")
    (code,) = (code for code in blocks(page, "python") if f"class {attribute}(" in code)
    assert f"`{module}.py`" in read(page) or f"`src/{module}/__init__.py`" in read(page)
    install(project, {module: code}, tmp_path)
    script = tmp_path / "script.py"
    script.write_text(
        "import tenterhooks as th\n"
        "graph = th.Graph()\n"
        "graph.source('loss', lambda: [3.0, 1.0, 2.0])\n"
        f"with th.MonitoredTrainingSession(graph=graph, hooks=[{short_name!r}]) as session:\n"
        "    while not session.should_stop():\n"
        "        session.run('loss')\n",
        encoding="utf-8",
    )
    done = run_python(script, tmp_path, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "best loss 1.0\n"


@pytest.mark.parametrize("page", [page for page in READMES if blocks(page, "toml")])
def test_the_configuration_that_a_readme_shows_makes_its_hooks(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "toml"):
        (tmp_path / "tenterhooks.toml").write_text(code, encoding="utf-8")
        with tenterhooks.MonitoredTrainingSession() as session:
            active = [hook.name for hook in session.hooks_report if hook.state == "active"]
        assert active == tomllib.loads(code)["hooks"]


def test_the_readmes_first_hook_has_ten_lines_and_its_first_plugin_twenty() -> None:
    _, _, hook, plugin = blocks("README.md", "python")
    (metadata,) = blocks("README.md", "toml")
    assert len([line for line in hook.splitlines() if line]) <= 10
    assert len([line for line in (plugin + metadata).splitlines() if line]) <= 20


# Shell


@pytest.mark.skipif(which("bash") is None, reason="the pages' commands are bash's, which is not installed")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")])
def test_the_commands_of_a_page_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    text = read(page)
    wanted, script = [], []
    files: dict[str, str] = {}
    previous = None
    for block in BLOCK.finditer(text):
        language = block["language"]
        if language in ("python", "toml"):
            named = re.search(r"`([\w.]+)`:\s*\Z", text[: block.start()])
            if named:
                files[language] = named[1]
            if named or language == "toml":
                sign = ">" if named else ">>"
                script.append(f"cat {sign} {files[language]} <<'END'\n{block['code']}END\n")
        elif language == "sh":
            script.append(block["code"])
        elif language == "text" and previous == "sh":
            wanted.append(block["code"])
        previous = language
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TENTERHOOKS_")}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["bash", "-eu", "-c", "\n".join(script)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(wanted)


# Tables


def escape(cell: str) -> str:
    return cell.replace("|", "\\|")


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head)]
    return "\n".join(
        ["| " + " | ".join(lines[0]) + " |", "|" + "---|" * len(head)]
        + ["| " + " | ".join(map(escape, row)) + " |" for row in rows]
    )


def without_modules(annotation: object) -> str:
    """An annotation as one would write it with all names imported."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def signature(function: Callable[..., object]) -> str:
    parameters = inspect.signature(function)
    arguments = ", ".join(f"{p.name}: {without_modules(p.annotation)}" for p in parameters.parameters.values())
    return f"{function.__name__}({arguments}) -> {without_modules(parameters.return_annotation)}"


def first_line(of: object) -> str:
    return (inspect.getdoc(of) or "").partition("\n")[0]


def stages_table(module: ModuleType, stages: list[str]) -> str:
    functions = [getattr(module, stage) for stage in stages]
    return table(
        ["stage", "signature", "when"], [[f"`{f.__name__}`", f"`{signature(f)}`", first_line(f)] for f in functions]
    )


def test_the_lifecycle_page_has_the_specifications() -> None:
    wanted = stages_table(tenterhooks.hookspecs, list(tenterhooks.hookspecs.STAGES))
    assert wanted in read("docs/reference/lifecycle.md"), f"the table of stages is now:\n{wanted}"


def test_the_lifecycle_page_has_the_specifications_of_the_checkpoint_plugin() -> None:
    stages = sorted(tenterhooks_checkpoint.hookspecs.__all__, key=["before_save", "after_save"].index)
    wanted = stages_table(tenterhooks_checkpoint.hookspecs, stages)
    assert wanted in read("docs/reference/lifecycle.md"), f"the table of stages is now:\n{wanted}"


def default(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "required"
    if inspect.isroutine(value):
        return f"`{value.__module__}.{value.__qualname__}`"
    return f"`{value!r}`"


def helps(of: object) -> dict[str, str]:
    """What the section Args of a docstring says of each argument."""
    section = re.search(r"^Args:\n((?: {4}.*\n?|\n)+)", inspect.getdoc(of) or "", re.MULTILINE)
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", section[1] if section else "", re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text) for name, text in entries}


def options_table(of: Callable[..., object]) -> str:
    # Classes of one constructor have what it takes from there.
    meanings = {**helps(getattr(of, "__init__", None)), **helps(of)}
    rows = []
    for p in inspect.signature(of).parameters.values():
        name = f"`{p.name}`" + ("" if p.kind is p.KEYWORD_ONLY else ", also by position")
        rows.append([name, f"`{without_modules(p.annotation)}`", default(p.default), meanings.pop(p.name)])
    return table(["option", "type", "default", "meaning"], rows)


def documented(page: str) -> dict[str, str]:
    """The sections of a page of options by what they are of, as `module.attribute`."""
    found = re.findall(r"^### `([\w.]+)`$(.*?)(?=^##|\Z)", read(page), re.MULTILINE | re.DOTALL)
    return dict(found)


@pytest.mark.parametrize("page", [PLUGIN_OPTIONS, SESSION_OPTIONS])
def test_a_page_of_options_has_the_signatures(page: str) -> None:
    for name, section in documented(page).items():
        module, _, attribute = name.rpartition(".")
        wanted = options_table(getattr(import_module(module), attribute))
        assert wanted in section, f"{page}: the options of {name} are now:\n{wanted}"


def entry_point_groups(plugin: str) -> dict[str, dict[str, str]]:
    """The entry points of a plugin. A library has none: it offers the class that is named as the plugin is."""
    groups: dict[str, dict[str, str]] = DISTRIBUTIONS[f"tenterhooks-{plugin}"].get("entry-points", {})
    name = plugin.replace("-", "_")
    return groups or {"tenterhooks.hooks": {plugin: f"tenterhooks_{name}:{name.title().replace('_', '')}"}}


PLUGINS = [path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml")]


def test_the_plugins_page_has_all_that_the_plugins_offer() -> None:
    wanted: set[str] = set()
    for plugin in PLUGINS:
        for name, group in entry_point_groups(plugin).items():
            # What a command is given has a page of its own.
            if name != "tenterhooks.commands":
                wanted.update(target.replace(":", ".") for target in group.values())
    assert documented(PLUGIN_OPTIONS).keys() == wanted


def test_the_sessions_page_has_all_sessions_and_creators() -> None:
    wanted = {name for name in tenterhooks.__all__ if re.search(r"Session$|SessionCreator$", name)}
    assert documented(SESSION_OPTIONS).keys() >= {f"tenterhooks.{name}" for name in wanted - {"SessionCreator"}}


def test_the_readmes_table_has_the_class_of_each_plugin() -> None:
    rows = dict(re.findall(r"^\| \[`([\w-]+)`\][^|]*\|[^|]*\| `(\w+)` \|", read("README.md"), re.MULTILINE))
    wanted = {}
    for plugin in PLUGINS:
        groups = entry_point_groups(plugin)
        main = groups.get("tenterhooks.hooks") or groups["tenterhooks.state"]
        # One for types of several modules is an entry point for each.
        wanted[plugin] = main[plugin].partition(":")[2]
    assert rows == wanted


# Links


def prose(page: str) -> str:
    return BLOCK.sub("", read(page))


def anchors(page: str) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: str) -> list[str]:
    return [link for link in re.findall(r"\]\(([^()\s]+)\)", prose(page)) if not re.match(r"\w+:", link)]


@pytest.mark.parametrize("page", [*PAGES, *READMES])
def test_the_links_of_a_page_lead_somewhere(page: str) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        found = target.is_relative_to(ROOT) and target.exists()
        if not found or (anchor and anchor not in anchors(target.relative_to(ROOT).as_posix())):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ("README.md", "docs/README.md")])
def test_the_index_leads_to_each_page(page: str) -> None:
    assert page.removeprefix("docs/") in links("docs/README.md")
