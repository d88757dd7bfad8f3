"""A terminal in the process: what is written to it, and what one sees."""

import io
import logging

import pyte

WIDTH, HEIGHT = 100, 30


def seen(written: bytes) -> list[str]:
    """The lines that a terminal shows when it was written this."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    pyte.ByteStream(screen).feed(written)
    return [line.rstrip() for line in screen.display if line.strip()]


class Terminal(io.StringIO):
    """A terminal, as a file to write to."""

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        # The terminal's driver adds the carriage returns.
        return seen(self.getvalue().replace("\n", "\r\n").encode())

    @property
    def last(self) -> str:
        return self.lines[-1]


def stream_handler(stream: io.StringIO) -> "logging.StreamHandler[io.StringIO]":
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    return handler
