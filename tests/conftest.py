"""What holds for all tests."""

import signal
from collections.abc import Generator
from importlib.util import find_spec

import pytest


def pytest_configure() -> None:
    # A shell has what it runs in the background ignore Ctrl-C, and so do the children of that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    # Tests have no examples in docstrings. Doctest looks for some first, and takes an import that fails for a framework
    # that is not installed: a module of tests that is broken would be left out silently. Where a plugin is installed
    # alone, that is what becomes of tests that need another one, too.
    collectors = yield
    if find_spec("tenterhooks_checkpoint") is None:
        return collectors
    return [collector for collector in collectors if type(collector).__name__ != "DoctestModule"]
