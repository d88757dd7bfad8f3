"""The clock and the log of the kit."""

import logging

from tenterhooks.testing import ManualClock
from tenterhooks.testing.surroundings import Listener


def test_the_clock_stands_still_until_it_is_moved() -> None:
    clock = ManualClock(10.0)
    assert [clock(), clock()] == [10.0, 10.0]
    clock.advance(0.5)
    assert clock() == 10.5


def test_a_listener_hears_others_than_the_core_from_info_on() -> None:
    with Listener() as listener:
        logging.getLogger("plugin").info("heard")
        logging.getLogger("plugin").debug("too low")
        logging.getLogger("tenterhooks.session").warning("the core's")
        logging.getLogger("tenterhooks_plugin").info("heard too")
    logging.getLogger("plugin").warning("too late")
    assert [record.getMessage() for record in listener.records] == ["heard", "heard too"]


def test_the_root_logger_is_left_as_it_was() -> None:
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    root.setLevel(logging.ERROR)
    try:
        with Listener():
            assert root.level == logging.INFO
        assert (root.level, root.handlers) == (logging.ERROR, before[1])
    finally:
        root.setLevel(before[0])
