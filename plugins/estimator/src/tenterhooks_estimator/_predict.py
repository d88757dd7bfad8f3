"""One prediction: the values of a model's predictions, an example or a batch at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenterhooks import SingularMonitoredSession
from tenterhooks.errors import nearest
from tenterhooks_estimator._checkpoints import RestoredSessionCreator

__all__ = ["chosen", "predict"]


def chosen(predictions: Any, keys: Iterable[str] | None) -> Any:
    """Those of a model's predictions that are asked for.

    Raises:
        ValueError: There is none of a name, or they have no names.
    """
    if keys is None:
        return predictions
    if not isinstance(predictions, Mapping):
        raise ValueError(
            f"predict_keys chooses from a dict, and the model's predictions are {predictions!r}: leave it out"
        )
    names = [keys] if isinstance(keys, str) else list(keys)
    for name in names:
        if name not in predictions:
            raise ValueError(f"the model has no prediction {name!r}{nearest(name, predictions)}")
    return {name: predictions[name] for name in names}


def predict(
    fetches: Any, creator: RestoredSessionCreator, hooks: Iterable[object], *, single_examples: bool
) -> Iterator[Any]:
    """Give predictions, as long as there is input. A run is made when its first example is wanted."""
    with SingularMonitoredSession(hooks, session_creator=creator) as session:
        while not session.should_stop():
            # The input ends it, whether or not the predictions look at it.
            values, _ = session.run((fetches, "input"))
            if single_examples:
                yield from _examples(values)
            else:
                yield values


def _examples(values: Any) -> Iterator[Any]:
    """The examples of a batch: what lies along the first axis."""
    if not isinstance(values, Mapping):
        yield from (values[number] for number in range(_length("predictions", values)))
        return
    lengths = {name: _length(f"the prediction {name!r}", value) for name, value in values.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the predictions of one batch are of different numbers of examples: {lengths}")
    for number in range(next(iter(lengths.values()), 0)):
        yield {name: value[number] for name, value in values.items()}


def _length(what: str, value: Any) -> int:
    try:
        return len(value)
    except TypeError:
        raise ValueError(
            f"{what} cannot be split into examples, since it has no first axis, being {value!r:.60}: predict with "
            "yield_single_examples=False"
        ) from None
