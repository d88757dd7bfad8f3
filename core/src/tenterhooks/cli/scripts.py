"""Runs a script or a module within this process, as `python SCRIPT` and `python -m MODULE` do."""

import builtins
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader, SourcelessFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from tenterhooks.cli.output import UsageError
from tenterhooks.errors import nearest

__all__ = ["Script"]


class Script:
    """A program of the user's.

    Args:
        target: The path of a file, or of a folder or an archive with a `__main__.py`; or a module's name.
        arguments: What it finds behind its own name in `sys.argv`.
        is_module: Whether the target is a module's name.

    Raises:
        UsageError: There is no such file.
    """

    def __init__(self, target: str, arguments: Sequence[str], *, is_module: bool = False) -> None:
        self.target = target
        self._arguments = list(arguments)
        self._is_module = is_module
        if not target:
            raise UsageError("the name of the script is empty")
        if not is_module and not Path(target).exists():
            raise UsageError(f"there is no script {target!r}{_nearest_file(Path(target))}")

    def run(self) -> None:
        """Run it. What it raises leaves this; its traceback, where Python prints it, begins with the script.

        Raises:
            UsageError: There is no such module.
        """
        main = ModuleType("__main__")
        vars(main).update(__builtins__=builtins, __cached__=None)
        try:
            code = self._find(main)
        except UsageError:
            raise
        except BaseException as error:
            _print_from(error, _without_ours(error.__traceback__))
            raise
        # For good: what is left to do when the program is over, such as a thread, may look there.
        sys.modules["__main__"] = main
        sys.argv[:] = [str(main.__file__) if self._is_module else self.target, *self._arguments]
        try:
            exec(code, vars(main))
        except SystemExit:
            raise
        except BaseException as error:
            _print_from(error, _without_ours(error.__traceback__))
            raise

    def _find(self, main: ModuleType) -> CodeType:
        """Find the code to run, put what belongs there onto the path, and tell the module what it is."""
        if self._is_module:
            self._put_first_on_path(str(Path.cwd()))
            return _code_of_module(main, self._find_module())
        if pkgutil.get_importer(self.target) is not None:
            place = _absolute(self.target)
            self._put_first_on_path(place)
            return _code_of_module(main, self._find_in(place))
        self._put_first_on_path(str(Path(self.target).resolve().parent))
        return _code_of_file(main, self.target)

    @staticmethod
    def _put_first_on_path(place: str) -> None:
        # Where Python is told not to look beside what it runs, nothing stands there that would have to give way.
        if not sys.flags.safe_path:
            sys.path[:1] = [place]

    def _find_module(self) -> ModuleSpec:
        name = self.target
        if name.startswith("."):
            raise UsageError(f"-m {name}: a module is named from the top, without a dot before it")
        try:
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.submodule_search_locations is not None:
                name = f"{name}.__main__"
                spec = importlib.util.find_spec(name)
                if spec is None:
                    raise UsageError(f"-m {self.target}: it is a package without a __main__ module, and cannot be run")
        except ModuleNotFoundError as error:
            # A parent that exists and does not find what it imports fails by itself.
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            spec = None
        except ValueError as error:
            raise UsageError(f"-m {self.target}: {error}") from None
        if spec is None or spec.loader is None:
            here = [module.name for module in pkgutil.iter_modules([str(Path.cwd())])]
            raise UsageError(f"-m {self.target}: there is no such module{nearest(self.target, here)}")
        return spec

    @staticmethod
    def _find_in(place: str) -> ModuleSpec:
        spec = PathFinder.find_spec("__main__", [place])
        if spec is None or spec.loader is None:
            raise UsageError(f"there is no __main__.py in {place!r}, so it cannot be run: name a script in it")
        return spec


def _absolute(target: str) -> str:
    return os.path.abspath(target)  # noqa: PTH100 - as Python does, which leaves links as they are.


def _code_of_file(main: ModuleType, target: str) -> CodeType:
    path = _absolute(target)
    is_compiled = path.endswith(".pyc")
    loader = (SourcelessFileLoader if is_compiled else SourceFileLoader)("__main__", path)
    vars(main).update(__file__=path, __loader__=loader)
    try:
        # The loader would write what it compiles beside the file.
        code = loader.get_code("__main__") if is_compiled else _compiled(loader.get_data(path), path)
    except OSError as error:
        raise UsageError(f"the script {target!r} cannot be read: {error}") from None
    assert code is not None
    return code


def _compiled(source: bytes, path: str) -> CodeType:
    code = compile(source, path, "exec", dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def _code_of_module(main: ModuleType, spec: ModuleSpec) -> CodeType:
    loader: Any = spec.loader
    code = loader.get_code(spec.name)
    if not isinstance(code, CodeType):
        raise UsageError(f"-m {spec.name}: it has no Python code that could be run")
    vars(main).update(
        __spec__=spec, __loader__=loader, __file__=spec.origin, __cached__=spec.cached, __package__=spec.parent
    )
    return code


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback from the first frame on that is the user's."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith((__file__, "<frozen ")):
        traceback = traceback.tb_next
    return traceback


def _print_from(error: BaseException, first: TracebackType | None) -> None:
    """Have Python print the traceback of an error from a frame on, as if nothing had called that."""
    hook = sys.excepthook

    def excepthook(kind: type[BaseException], raised: BaseException, traceback: TracebackType | None) -> None:
        if raised is error:
            traceback = first
        hook(kind, raised.with_traceback(traceback), traceback)

    sys.excepthook = excepthook


def _nearest_file(path: Path) -> str:
    try:
        return nearest(path.name, [file.name for file in path.parent.iterdir() if file.suffix == ".py"])
    except OSError:
        return f": there is no folder {str(path.parent)!r}"
