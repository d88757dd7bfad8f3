"""The handlers that a plugin implements."""

import pytest

from tenterhooks.state_adapters import GeneratorHandler, ObjectHandler, ValueHandler


@pytest.mark.parametrize("base", [GeneratorHandler, ObjectHandler, ValueHandler])
def test_a_handler_that_lacks_a_part_is_an_error_when_it_is_made(base: type) -> None:
    incomplete = type("Incomplete", (base,), {"load": None})
    with pytest.raises(TypeError, match="abstract"):
        incomplete()
