"""Whether a loop was left by an exception, or by `break` and `return`: its iterator is dropped in each case."""

import dis
import gc
import inspect
import sys
from types import FrameType, TracebackType

__all__ = ["Left", "left_by_exception"]


def _instructions(*names: str) -> frozenset[int]:
    # Each version of Python has some of them.
    return frozenset(dis.opmap[name] for name in names if name in dis.opmap)


_STORING = _instructions(
    *(f"{what}_{where}" for what in ("STORE", "DELETE") for where in ("FAST", "NAME", "GLOBAL", "DEREF")),
    *("STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"),
)
# Those that drop what a loop held and raise nothing themselves. An exception drops it while the instruction that raised
# is the last one.
_DROPPING = _STORING | _instructions("POP_TOP", "POP_ITER", "END_FOR", "RETURN_VALUE", "RETURN_CONST")
_HANDLED = _instructions("POP_EXCEPT", "RERAISE")
_YIELDING = _instructions("YIELD_VALUE", "RESUME")


class Left(BaseException):
    """Is raised in a loop's iterator by who leaves the loop without dropping it.

    Args:
        failed: Whether by an exception.
    """

    def __init__(self, failed: bool) -> None:
        super().__init__()
        self.failed = failed


def left_by_exception() -> bool:
    """Whether an exception is what drops the object in whose `__del__`, or the generator in which, this is called.

    Python says nowhere that an exception is under way while it drops what a loop held. The last instruction of the
    frame that does so tells; where it may raise and may drop, such as a call, the traceback that is being made does.
    """
    # None where the process ends.
    frame: FrameType | None = sys._getframe(1).f_back
    while frame is not None:
        code, last = frame.f_code.co_code, frame.f_lasti
        if not 0 <= last < len(code):
            return False
        instruction = code[last]
        if instruction in _HANDLED or (instruction in _STORING and _ends_handler(code, last)):
            # With the exception that was caught goes what its frames held.
            return True
        if instruction in _DROPPING or not _raises(frame):
            return False
        if instruction not in _YIELDING or not frame.f_code.co_flags & inspect.CO_GENERATOR:
            return True
        if sys.exc_info()[1] is not None:
            return True
        # A generator that is closed: by the loop that goes through it, which may be left in either way.
        frame = frame.f_back
    return False


def _ends_handler(code: bytes, last: int) -> bool:
    """Whether this is the end of an `except ... as error`, where `error` is set to None."""
    return last >= 4 and code[last - 2] == dis.opmap["LOAD_CONST"] and code[last - 4] in _HANDLED


def _raises(frame: FrameType) -> bool:
    """Whether an exception is on its way out of the instruction that a frame has come to."""

    def of_now(found: object) -> bool:
        return isinstance(found, TracebackType) and found.tb_frame is frame and found.tb_lasti == frame.f_lasti

    # It is among the youngest objects, but where it was made long ago.
    return any(map(of_now, gc.get_objects(0))) or any(map(of_now, gc.get_referrers(frame)))
