"""`tenterhooks new`: a plugin to begin with, complete and ready to publish."""

import argparse
import importlib.metadata
import re
import shutil
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from tenterhooks.cli.output import FINE, FailureError, UsageError, say
from tenterhooks.cli.parsing import EXIT_CODES, Parser
from tenterhooks.plugins import installed

__all__ = ["NAME", "add_to"]

NAME = "new"
_DESCRIPTION = """\
Make a plugin: a hook with an option and a state, its entry point, tests, a README and a licence. It passes its tests,
`ruff check` and `mypy --strict` as it is. No file that exists is changed."""

_SHORT_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# With it no line of the templates grows too long.
_LONGEST_NAME = 40
# The files of a project by their templates, and those in the repository of tenterhooks.
_PROJECT = {
    "gitignore": ".gitignore",
    "LICENSE": "LICENSE",
    "README.md": "README.md",
    "pyproject.toml": "pyproject.toml",
    "init.py": "src/$package/__init__.py",
    "hook.py": "src/$package/hook.py",
    "py.typed": "src/$package/py.typed",
    "test_hook.py": "tests/test_hook.py",
}
_IN_REPO = {
    "README.md": "plugins/$name/README.md",
    "pyproject-in-repo.toml": "plugins/$name/pyproject.toml",
    "init.py": "plugins/$name/src/$package/__init__.py",
    "hook.py": "plugins/$name/src/$package/hook.py",
    "py.typed": "plugins/$name/src/$package/py.typed",
    "test_hook.py": "tests/plugins/$name/test_hook.py",
}
_BY_HAND = """\
add by hand, in the order of the names:
to requirements-dev.txt:
-e ./plugins/$name
to the table of plugins in README.md:
| [`$name`](plugins/$name/README.md) | `$distribution` | `$cls` | keeps the lowest value of a number |
to docs/reference/plugins.md:
## $name

Keeps the lowest value of a number, and logs it at the end.

### `$package.$cls`

| option | type | default | meaning |
|---|---|---|---|
| `value` | `str` | `'loss'` | The number to watch. |
to docs/reference/plugins-api.md:
## $package

```{eval-rst}
.. automodule:: $package
```
to docs/changelog.md:
## $distribution

### 0.1.0

- `$cls`."""


def add_to(subparsers: "argparse._SubParsersAction[Parser]") -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        NAME, help="make a plugin to begin with", description=_DESCRIPTION, epilog=EXIT_CODES
    )
    parser.add_argument("new", metavar="NAME", help="the hook's short name: small letters and digits, with hyphens")
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", type=Path, help="the folder to make (default: tenterhooks-NAME)"
    )
    parser.add_argument(
        "--in-repo", action="store_true", help="make it under plugins/ and tests/ of the repository of tenterhooks"
    )
    parser.set_defaults(carry_out=_carry_out)


def _carry_out(arguments: argparse.Namespace) -> int:
    name = _checked(arguments.new)
    words = {
        "name": name,
        "distribution": f"tenterhooks-{name}",
        "package": f"tenterhooks_{name.replace('-', '_')}",
        "cls": "".join(word.capitalize() for word in name.removesuffix("-hook").split("-")) + "Hook",
        "version": importlib.metadata.version("tenterhooks"),
    }
    if arguments.in_repo:
        if arguments.directory is not None:
            raise UsageError(f"new {name} {arguments.directory} --in-repo: give either a folder or --in-repo")
        root = _repository()
        _make(root, _IN_REPO, words, [root / f"plugins/{name}", root / f"tests/plugins/{name}"])
        for line in Template(_BY_HAND).substitute(words).splitlines():
            say(line)
        say(f"then: pip install -e ./plugins/{name} && pytest tests/plugins/{name} tests/ecosystem")
        return FINE
    folder: Path = arguments.directory or Path(words["distribution"])
    _make(folder, _PROJECT, words, [folder])
    say(f"then: cd {folder} && pip install -e '.[test]' && pytest && tenterhooks check {name}")
    return FINE


def _checked(name: str) -> str:
    if name.startswith(("tenterhooks-", "tenterhooks_")):
        raise UsageError(
            f"new {name}: give the short name alone, {name[len('tenterhooks-') :]!r}; the distribution becomes "
            "tenterhooks-NAME"
        )
    if not _SHORT_NAME.fullmatch(name):
        near = re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()).strip("-0123456789")
        raise UsageError(
            f"new {name}: a short name is made of small letters and digits, with hyphens between words, and begins "
            "with a letter" + (f": {near!r}, say" if _SHORT_NAME.fullmatch(near) else "")
        )
    if len(name) > _LONGEST_NAME:
        raise UsageError(f"new {name}: a short name has at most {_LONGEST_NAME} characters, and this has {len(name)}")
    for plugin in installed():
        if plugin.name == name:
            raise FailureError(
                f"new {name}: {plugin.distribution} {plugin.version} is installed and has a hook of this name; "
                "two of one name cannot be used: choose another"
            )
    return name


def _repository() -> Path:
    """The repository of tenterhooks in which this is called."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        project = folder / "core/pyproject.toml"
        if not (project.is_file() and (folder / "plugins").is_dir()):
            continue
        if tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("name") == "tenterhooks":
            return folder
    raise FailureError(f"new --in-repo: neither {here} nor a folder above it is the repository of tenterhooks")


def _make(root: Path, layout: Mapping[str, str], words: Mapping[str, str], made: list[Path]) -> None:
    """Write all files, or none.

    Args:
        root: The folder that their paths start from.
        layout: The path of each template's file.
        words: What stands for the names in templates and paths.
        made: The folders that are made for them.
    """
    for folder in made:
        if folder.exists() or folder.is_symlink():
            raise FailureError(f"new {words['name']}: {folder} exists already; nothing is changed: name another folder")
    templates = files("tenterhooks.cli").joinpath("templates")
    try:
        for template, place in layout.items():
            path = root / Template(place).substitute(words)
            text = "" if template == "py.typed" else templates.joinpath(f"{template}.txt").read_text(encoding="utf-8")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(words), encoding="utf-8")
            say(f"made {path}")
    except OSError as error:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)
        raise FailureError(f"new {words['name']}: {error}; what was made is removed again") from error
