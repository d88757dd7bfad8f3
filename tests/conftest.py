"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    # A shell has what it runs in the background ignore Ctrl-C, and so do the children of that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
