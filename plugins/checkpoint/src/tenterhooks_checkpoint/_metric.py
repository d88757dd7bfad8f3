"""What is measured at a save, so that the best checkpoints are known."""

from tenterhooks import OutOfRangeError, Session
from tenterhooks.errors import note

__all__ = ["measured"]


def measured(session: Session, name: str | None) -> dict[str, float]:
    """A metric by its name, on the last batch again; nothing if there is no name, no batch at all, or no value yet.

    Raises:
        TypeError: It has no order.
        ValueError: To compute it would train.
    """
    if name is None:
        return {}
    if not session.gives(session.compile(name), session.inputs):
        # Before the first run; or before an evaluation publishes it.
        return {}
    try:
        value = session.measure(name)
    except OutOfRangeError:
        # The session has no input at all.
        return {}
    except Exception as error:
        note(error, f"when best={name!r} was computed, which a saver does at each save")
        raise
    try:
        return {name: float(value)}
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"best={name!r} is {value!r:.60}, which has no order: take a node that gives one number"
        ) from error
