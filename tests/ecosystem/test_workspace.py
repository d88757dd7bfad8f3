"""The folders, the requirement lines, the uv workspace, the table of plugins and the names in them say the same."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = sorted(path.name for path in ROOT.glob("plugins/*/") if not path.name.startswith((".", "__")))
DISTRIBUTIONS = ["core", *(f"plugins/{name}" for name in PLUGINS)]


def package(plugin: str) -> str:
    return "tenterhooks_" + plugin.replace("-", "_")


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def project(folder: str) -> dict[str, Any]:
    table: dict[str, Any] = read_toml(ROOT / folder / "pyproject.toml")["project"]
    return table


def requirement_names(requirements: list[str]) -> list[str]:
    """The normalized names of the distributions that requirement lines ask for."""
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in requirements)
    return sorted(re.sub(r"[-_.]+", "-", match[0]).lower() for match in names if match)


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder / "src").rglob("*.py"))


def imported_modules(source: str) -> set[str]:
    """The absolute modules that a source imports, those of an `import_module("...")` with a literal among them."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            modules.update(str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))
    return modules


def test_there_are_plugins() -> None:
    assert {"checkpoint", "logging", "nan", "stop-at-step", "summary"} <= set(PLUGINS)


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_a_distribution_has_its_files(folder: str) -> None:
    name = "tenterhooks" if folder == "core" else package(Path(folder).name)
    wanted = ["pyproject.toml", "README.md", f"src/{name}/__init__.py", f"src/{name}/py.typed"]
    assert [file for file in wanted if not (ROOT / folder / file).is_file()] == []
    assert list((ROOT / "tests" / folder).glob("test_*.py")), f"tests/{folder} has no tests"


def test_requirements_dev_installs_every_distribution_editable() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    editable = [line.removeprefix("-e ") for line in lines if line.startswith("-e ")]
    assert sorted(editable) == sorted(f"./{folder}" for folder in DISTRIBUTIONS)


def test_the_uv_workspace_has_every_distribution() -> None:
    patterns = read_toml(ROOT / "pyproject.toml")["tool"]["uv"]["workspace"]["members"]
    members = [path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(f"{pattern}/")]
    assert sorted(members) == sorted(DISTRIBUTIONS)


def test_the_readmes_table_lists_every_plugin_with_its_distribution() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## Plugins$(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL)
    assert section, 'README.md has no heading "## Plugins"'
    rows = re.findall(r"^\| \[?`([^`]+)`[^|]*\| \[?`([^`]+)`", section[1], re.MULTILINE)
    assert sorted(rows) == [(name, f"tenterhooks-{name}") for name in PLUGINS]


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_a_distribution_takes_its_tool_settings_from_the_workspace(folder: str) -> None:
    assert read_toml(ROOT / folder / "pyproject.toml").get("tool", {}).keys() <= {"hatch"}


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_every_distribution_supports_the_same_pythons(folder: str) -> None:
    assert project(folder)["requires-python"] == ">=3.11"


@pytest.mark.parametrize("folder", DISTRIBUTIONS)
def test_a_distribution_names_what_its_tests_need(folder: str) -> None:
    assert "pytest" in requirement_names(project(folder)["optional-dependencies"]["test"])


def test_the_core_needs_pluggy_numpy_and_importlib_metadata_alone() -> None:
    assert project("core")["name"] == "tenterhooks"
    assert requirement_names(project("core")["dependencies"]) == ["importlib-metadata", "numpy", "pluggy"]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugins_names_follow_from_its_folder(plugin: str) -> None:
    table = project(f"plugins/{plugin}")
    assert table["name"] == f"tenterhooks-{plugin}"
    # A plugin brings a hook, or an adapter for the types of a framework; or it is a library, which nothing looks for.
    groups = table.get("entry-points", {})
    main = groups.get("tenterhooks.hooks") or groups.get("tenterhooks.state") or {}
    assert plugin in main or not groups  # One for types of several modules is an entry point for each.
    objects = [reference for group in groups.values() for reference in group.values()]
    assert {re.split("[.:]", reference)[0] for reference in objects} <= {package(plugin)}


def test_libraries_are_few() -> None:
    assert [plugin for plugin in PLUGINS if "entry-points" not in project(f"plugins/{plugin}")] == ["estimator"]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_of_this_repository_a_plugin_needs_the_core_alone(plugin: str) -> None:
    names = requirement_names(project(f"plugins/{plugin}")["dependencies"])
    assert [name for name in names if name.startswith("tenterhooks")] == ["tenterhooks"]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_plugin_imports_no_other_plugin(plugin: str) -> None:
    others = {package(name) for name in PLUGINS} - {package(plugin)}
    imports = {
        path.relative_to(ROOT).as_posix(): sorted(
            module
            for module in imported_modules(path.read_text(encoding="utf-8"))
            if module.partition(".")[0] in others
        )
        for path in sources(f"plugins/{plugin}")
    }
    assert imports, "no sources"
    assert {path: modules for path, modules in imports.items() if modules} == {}


def test_the_core_names_no_plugins_package() -> None:
    names = re.compile("|".join(rf"\b{package(name)}\b" for name in PLUGINS))
    found = {path.name: names.findall(path.read_text(encoding="utf-8")) for path in sources("core")}
    assert found, "no sources"
    assert {path: packages for path, packages in found.items() if packages} == {}


def test_a_module_of_tests_that_cannot_be_imported_fails(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    broken = "from tenterhooks import NoSuchName\n\n\ndef test_nothing():\n    pass\n"
    (tmp_path / "tests" / "test_broken.py").write_text(broken, encoding="utf-8")
    line = [sys.executable, "-m", "pytest", "tests"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout
    assert "NoSuchName" in done.stdout
