"""An environment as a user has it: nothing of this repository is in it but what is installed from wheels.

Nothing is downloaded: libraries of others are those of the environment in which the tests run, linked one by one.
"""

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

__all__ = ["FreshEnvironment", "build"]


def build(project: Path, out: Path, *what: str) -> list[Path]:
    """Build a project with the build tools of the environment in which the tests run.

    Args:
        project: Its folder.
        out: Where the files go.
        what: "--wheel" or "--sdist"; nothing for an sdist, and from that a wheel.

    Returns:
        The files.
    """
    line = [sys.executable, "-m", "build", "--no-isolation", *what, "--outdir", str(out), str(project)]
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(out.iterdir())


class FreshEnvironment:
    """A virtual environment.

    Args:
        folder: Where it goes.
        libraries: The distributions of others that it has, with all that these require.
    """

    def __init__(self, folder: Path, libraries: Iterable[str]) -> None:
        # pip is that of the environment in which the tests run: to install another one takes longer than all the rest.
        venv.create(folder / "env", symlinks=os.name != "nt", with_pip=False)
        self._folder = folder
        self._scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        self.python = self._scripts / ("python.exe" if os.name == "nt" else "python")
        borrowed = folder / "borrowed"
        borrowed.mkdir()
        for library in _with_requirements(libraries):
            _link(library, borrowed)
        printed = self.run(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout
        Path(printed.strip(), "borrowed.pth").write_text(f"{borrowed}\n", "utf-8")

    def pip(self, *arguments: str | Path) -> None:
        """Call pip for this environment, without any index."""
        options = ["--python", str(self.python), "--disable-pip-version-check", "--no-input"]
        done = self.run(sys.executable, "-m", "pip", *options, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr

    def tenterhooks(
        self, *arguments: str | Path, cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Call the command that the core's wheel brings."""
        return self.run(self._scripts / "tenterhooks", *arguments, cwd=cwd, **variables)

    def run(self, *line: str | Path, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program.

        Args:
            line: The program and its arguments.
            cwd: The working directory; by default one in which nothing lies that matters.
            variables: Variables of the environment; no others begin with TENTERHOOKS_ or PYTHON.
        """
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("TENTERHOOKS_", "PYTHON", "PIP_"))}
        return subprocess.run(
            list(map(str, line)),
            cwd=cwd or self._folder,
            env={**environment, "PYTHONUTF8": "1", "PIP_NO_INDEX": "1", **variables},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )


def _with_requirements(names: Iterable[str]) -> Iterator[Distribution]:
    """Distributions that are installed here, and all that they require."""
    waiting, seen = list(names), set()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in seen:
            continue
        seen.add(name)
        found = distribution(name)
        yield found
        requirements = map(Requirement, found.requires or ())
        waiting += [r.name for r in requirements if r.marker is None or r.marker.evaluate({"extra": ""})]


def _link(library: Distribution, folder: Path) -> None:
    """Have a distribution in another folder too."""
    if library.files is None:
        raise PackageNotFoundError(library.name)
    for part in {file.parts[0] for file in library.files} - {"..", "__pycache__"}:
        source, target = Path(str(library.locate_file(part))), folder / part
        if target.exists() or not source.exists():
            continue
        try:
            target.symlink_to(source)
        except OSError:
            # Windows lets not everybody make links.
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, target)
