"""A plugin of somebody else, from `tenterhooks new` to `pip uninstall`: from wheels, in an environment of its own."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from .fresh_environment import FreshEnvironment, build

ROOT = Path(__file__).parents[2]
NAME = "lowest-value"
DISTRIBUTION = "tenterhooks-lowest-value"
PACKAGE = "tenterhooks_lowest_value"
# What the hook says at its end, of the losses 3, 2 and 1.
SAID = "the lowest value of loss was 1, up to global step 3"
TRAIN = f"""
import logging
import sys

import tenterhooks as th

logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.WARNING)
logging.getLogger("{PACKAGE}").setLevel(logging.INFO)
with th.MonitoredTrainingSession(hooks=sys.argv[1:]) as session:
    for step in session.steps(range(3)):
        session.publish(loss=3.0 - step, other=5.0 - step)
for row in session.hooks_report:
    if row.state == "active":
        print(row)
print("{PACKAGE}" in sys.modules)
"""

Completed = subprocess.CompletedProcess[str]
# Runs the program with the hook, named in one of the ways in which that can be done.
Way = Callable[[FreshEnvironment, Path], Completed]


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    """An environment in which nothing but the core is installed."""
    folder = tmp_path_factory.mktemp("third-party")
    environment = FreshEnvironment(folder, ["importlib-metadata", "numpy", "pluggy", "pytest"])
    (wheel,) = build(ROOT / "core", folder / "core", "--wheel")
    environment.pip("install", wheel)
    return environment


@pytest.fixture(scope="session")
def project(bare: FreshEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the plugin, as it was made."""
    folder = tmp_path_factory.mktemp("author") / "project"
    done = bare.tenterhooks("new", NAME, folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel of the plugin, made from its sdist, and that."""
    wheel, sdist = build(project, tmp_path_factory.mktemp("dist"))
    return [wheel, sdist]


@pytest.fixture(scope="session")
def environment(bare: FreshEnvironment, built: list[Path]) -> FreshEnvironment:
    """The environment of a user who has installed the plugin."""
    bare.pip("install", built[0])
    return bare


@pytest.fixture(scope="class")
def without(environment: FreshEnvironment, built: list[Path]) -> Iterator[FreshEnvironment]:
    """The environment after the user has uninstalled it again."""
    environment.pip("uninstall", "--yes", DISTRIBUTION)
    yield environment
    environment.pip("install", built[0])


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a program that trains."""
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    return tmp_path


def by_code(environment: FreshEnvironment, work: Path) -> Completed:
    return environment.run(environment.python, "-W", "error", "train.py", NAME, cwd=work)


def by_file(environment: FreshEnvironment, work: Path) -> Completed:
    (work / "tenterhooks.toml").write_text(f'hooks = ["{NAME}"]\n', "utf-8")
    return environment.run(environment.python, "-W", "error", "train.py", cwd=work)


def by_environment(environment: FreshEnvironment, work: Path) -> Completed:
    return environment.run(environment.python, "-W", "error", "train.py", cwd=work, TENTERHOOKS_HOOKS=NAME)


def by_command_line(environment: FreshEnvironment, work: Path) -> Completed:
    return environment.tenterhooks("run", "--hook", NAME, "train.py", cwd=work, PYTHONWARNINGS="error")


ORIGINS: dict[Way, str] = {
    by_code: "code train.py:9",
    by_file: "tenterhooks.toml:1",
    by_environment: "environment TENTERHOOKS_HOOKS",
    by_command_line: f"command line --hook {NAME}",
}
WAYS = pytest.mark.parametrize("run", ORIGINS)


def hooks_listed(environment: FreshEnvironment) -> list[tuple[str, str, str]]:
    """What `tenterhooks plugins` lists: name, distribution and version of each hook."""
    done = environment.tenterhooks("plugins", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["plugins"]
    return [(row["name"], row["distribution"], row["version"]) for row in rows]


class TestInstalled:
    def test_it_is_listed_alone(self, environment: FreshEnvironment) -> None:
        assert hooks_listed(environment) == [(NAME, DISTRIBUTION, "0.1.0")]

    def test_all_that_it_requires_is_there(self, environment: FreshEnvironment) -> None:
        environment.pip("check")

    @WAYS
    def test_it_is_active_where_it_is_named(self, environment: FreshEnvironment, work: Path, run: Way) -> None:
        done = run(environment, work)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            SAID,
            f"{NAME} ({DISTRIBUTION} 0.1.0): active; {ORIGINS[run]}",
            "True",
        ]

    def test_it_is_not_imported_where_it_is_not_named(self, environment: FreshEnvironment, work: Path) -> None:
        done = environment.run(environment.python, "-W", "error", "train.py", cwd=work)
        assert (done.returncode, done.stdout.splitlines()) == (0, ["False"]), done.stderr

    def test_an_option_is_given_without_a_change_to_the_program(
        self, environment: FreshEnvironment, work: Path
    ) -> None:
        done = environment.tenterhooks("run", "--hook", f"{NAME}:value=other", "train.py", cwd=work)
        assert done.returncode == 0, done.stderr
        assert "the lowest value of other was 3, up to global step 3" in done.stdout

    def test_it_keeps_the_contract(self, environment: FreshEnvironment) -> None:
        done = environment.tenterhooks("check", NAME)
        assert done.returncode == 0, done.stdout + done.stderr


class TestProject:
    def test_it_passes_its_own_tests(self, environment: FreshEnvironment, project: Path) -> None:
        done = environment.run(environment.python, "-m", "pytest", "-p", "no:cacheprovider", cwd=project)
        assert done.returncode == 0, done.stdout + done.stderr
        (last,) = re.findall(r"^=+ (.*) in .* =+$", done.stdout, re.MULTILINE)
        assert re.fullmatch(r"\d+ passed", last)

    @pytest.mark.parametrize("line", [["check", "--no-cache"], ["format", "--check", "--no-cache"]])
    def test_ruff_finds_nothing(self, environment: FreshEnvironment, project: Path, line: list[str]) -> None:
        done = environment.run(sys.executable, "-m", "ruff", *line, cwd=project)
        assert done.returncode == 0, done.stdout + done.stderr

    def test_mypy_finds_nothing(self, environment: FreshEnvironment, project: Path, tmp_path: Path) -> None:
        options = ["--strict", "--python-executable", str(environment.python), "--cache-dir", str(tmp_path)]
        done = environment.run(sys.executable, "-m", "mypy", *options, "src", "tests", cwd=project)
        assert done.returncode == 0, done.stdout + done.stderr

    @pytest.mark.skipif(find_spec("twine") is None, reason="twine is not installed: pip install twine")
    def test_an_index_can_show_what_it_says_of_itself(self, environment: FreshEnvironment, built: list[Path]) -> None:
        done = environment.run(sys.executable, "-m", "twine", "check", "--strict", *built)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("PASSED") == 2


class TestUninstalled:
    def test_it_is_listed_no_more(self, without: FreshEnvironment) -> None:
        assert hooks_listed(without) == []

    @WAYS
    def test_to_name_it_is_an_error_with_the_line_that_brings_it(
        self, without: FreshEnvironment, work: Path, run: Way
    ) -> None:
        done = run(without, work)
        assert done.returncode != 0
        assert f"no plugin named '{NAME}' is installed" in done.stderr
        assert f"pip install {DISTRIBUTION}" in done.stderr
        assert SAID not in done.stdout
        if run is by_command_line:
            assert "Traceback" not in done.stderr

    def test_a_program_that_does_not_name_it_runs_as_before(self, without: FreshEnvironment, work: Path) -> None:
        done = without.run(without.python, "-W", "error", "train.py", cwd=work)
        assert (done.returncode, done.stdout.splitlines()) == (0, ["False"]), done.stderr
