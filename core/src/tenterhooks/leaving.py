"""Whether a loop was left by an exception, or by `break` and `return`: its iterator is dropped in each case."""

import dis
import sys

__all__ = ["left_by_exception"]

# The instructions that drop what a loop held and raise nothing themselves. An exception drops it while the instruction
# that raised is the last one. Of `POP_JUMP_IF_TRUE` or `STORE_ATTR` either may be: these count as raising.
_DROPPING = frozenset(
    dis.opmap.get(name)
    for name in (
        *("POP_TOP", "POP_ITER", "END_FOR", "RETURN_VALUE", "RETURN_CONST"),
        *(f"{what}_{where}" for what in ("STORE", "DELETE") for where in ("FAST", "NAME", "GLOBAL", "DEREF")),
        *("STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"),
    )
)


def left_by_exception() -> bool:
    """Whether an exception is what drops the object in whose `__del__` this is called.

    Python says nowhere that an exception is under way while it drops what a loop held; the last instruction of the
    frame that does so tells.
    """
    frame = sys._getframe(2)
    code = frame.f_code.co_code
    return 0 <= frame.f_lasti < len(code) and code[frame.f_lasti] not in _DROPPING
