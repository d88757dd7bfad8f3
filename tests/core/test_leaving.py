"""Whether an exception is what drops an object: what a loop holds is dropped by `break` and `return` as well."""

import contextlib
import itertools
import signal
from collections.abc import Callable, Iterator

import pytest

from tenterhooks.leaving import left_by_exception


@pytest.fixture(autouse=True)
def alarm_raises() -> Iterator[None]:
    def raise_it(*args: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, raise_it)
    yield
    signal.signal(signal.SIGALRM, before)


class Ones(Iterator[int]):
    """Goes on for ever, and notes how it is dropped."""

    def __init__(self, notes: list[bool]) -> None:
        self.notes = notes

    def __next__(self) -> int:
        return 1

    def __del__(self) -> None:
        self.notes.append(left_by_exception())


class Dropped:
    """What the iterators that it gave noted."""

    def __init__(self) -> None:
        self.by_exception: list[bool] = []

    def __iter__(self) -> Iterator[int]:
        return Ones(self.by_exception)


def by_break(dropped: Dropped) -> None:
    for _ in dropped:
        break


def by_return(dropped: Dropped) -> int:
    for item in dropped:
        try:
            return item
        finally:
            len("an instruction between")
    return 0


def by_break_of_an_enumeration(dropped: Dropped) -> None:
    for _ in enumerate(zip(dropped, dropped, strict=False)):
        break


def by_break_of_a_generator(dropped: Dropped) -> None:
    for _ in (item for item in dropped):
        break


def by_assignment(dropped: Dropped) -> None:
    iterator = iter(dropped)
    next(iterator)
    iterator = iter([1])
    next(iterator)


def by_deletion(dropped: Dropped) -> None:
    iterator = iter(dropped)
    del iterator


def by_break_through_a_generator(dropped: Dropped) -> None:
    def going_through() -> Iterator[int]:
        for item in dropped:  # noqa: UP028
            yield item

    for _ in enumerate(going_through()):
        break


def by_a_slice_that_ends(dropped: Dropped) -> None:
    for _ in itertools.islice(dropped, 2):
        len("an instruction")


def by_a_shorter_one_beside_it(dropped: Dropped) -> None:
    for _ in zip(dropped, [1], strict=False):
        len("an instruction")


def by_return_from_a_function_that_holds_it(dropped: Dropped) -> None:
    def loop() -> None:
        iterator = iter(dropped)
        for _ in iterator:
            return

    loop()


def by_clearing_a_list(dropped: Dropped) -> None:
    iterators = [iter(dropped)]
    iterators.clear()


def by_raise(dropped: Dropped) -> None:
    for _ in dropped:
        raise ValueError("raised")


def by_raise_that_is_caught(dropped: Dropped) -> None:
    try:
        for _ in dropped:
            raise ValueError("raised")
    except ValueError:
        return


def by_call(dropped: Dropped) -> None:
    for _ in dropped:
        int("one")


def by_unknown_name(dropped: Dropped) -> None:
    for _ in dropped:
        unknown  # type: ignore[name-defined]  # noqa: B018, F821


def by_arithmetic(dropped: Dropped) -> None:
    for item in dropped:
        item / 0


def by_unpacking(dropped: Dropped) -> None:
    for item in dropped:
        _, _ = [item][:item]


def by_subscript(dropped: Dropped) -> None:
    for item in dropped:
        [0][item]


class Unclear:
    """Has no truth value, and takes no attribute."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise ValueError("neither true nor false")


def by_condition(dropped: Dropped) -> None:
    unclear = Unclear()
    for _ in dropped:
        if unclear:
            len("an instruction")


def by_condition_of_a_loop(dropped: Dropped) -> None:
    unclear = Unclear()
    for _ in dropped:
        while not unclear:
            len("an instruction")


def by_assignment_of_an_attribute(dropped: Dropped) -> None:
    unclear = Unclear()
    for item in dropped:
        unclear.item = item  # type: ignore[attr-defined]


def by_exception_that_holds_it(dropped: Dropped) -> None:
    def loop() -> None:
        iterator = iter(dropped)
        for _ in iterator:
            raise ValueError("raised")

    try:
        loop()
    except ValueError:
        return


def by_named_exception_that_holds_it(dropped: Dropped) -> None:
    def loop() -> None:
        iterator = iter(dropped)
        for _ in iterator:
            raise ValueError("raised")

    try:
        loop()
    except ValueError as error:
        str(error)


def by_raise_of_a_wrapper(dropped: Dropped) -> None:
    for _ in map([0].__getitem__, dropped):
        len("an instruction")


def by_raise_through_a_generator_function(dropped: Dropped) -> None:
    def going_through() -> Iterator[int]:
        for item in dropped:  # noqa: UP028
            yield item

    for _ in going_through():
        raise ValueError("raised")


def by_throw_into_a_generator(dropped: Dropped) -> None:
    @contextlib.contextmanager
    def going_through() -> Iterator[int]:
        for item in dropped:  # noqa: UP028
            yield item

    with going_through():
        raise ValueError("raised")


def by_interrupt(dropped: Dropped) -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    with contextlib.suppress(TimeoutError):
        for _ in dropped:
            while True:
                pass


def by_raise_through_a_generator(dropped: Dropped) -> None:
    for _ in (item for item in dropped):
        raise ValueError("raised")


@pytest.mark.parametrize(
    "leave",
    [
        by_break,
        by_return,
        by_break_of_an_enumeration,
        by_break_of_a_generator,
        by_break_through_a_generator,
        by_a_slice_that_ends,
        by_a_shorter_one_beside_it,
        by_return_from_a_function_that_holds_it,
        by_clearing_a_list,
        by_assignment,
        by_deletion,
    ],
)
def test_leaving_is_no_exception(leave: Callable[[Dropped], object]) -> None:
    dropped = Dropped()
    leave(dropped)
    assert set(dropped.by_exception) == {False}


@pytest.mark.parametrize(
    "leave",
    [
        by_raise,
        by_raise_that_is_caught,
        by_call,
        by_unknown_name,
        by_arithmetic,
        by_unpacking,
        by_subscript,
        by_condition,
        by_condition_of_a_loop,
        by_assignment_of_an_attribute,
        by_exception_that_holds_it,
        by_named_exception_that_holds_it,
        by_raise_of_a_wrapper,
        by_raise_through_a_generator_function,
        by_throw_into_a_generator,
        by_interrupt,
        by_raise_through_a_generator,
    ],
)
def test_an_exception_is_one(leave: Callable[[Dropped], object]) -> None:
    dropped = Dropped()
    with contextlib.suppress(ArithmeticError, AttributeError, LookupError, NameError, ValueError):
        leave(dropped)
    assert dropped.by_exception == [True]
