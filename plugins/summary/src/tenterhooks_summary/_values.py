"""What a summary holds for each kind of value, as protocol buffers. Imported where something is written."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tensorboardX.proto.api_pb2 import (  # type: ignore[import-untyped]
    DataType,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboardX.proto.plugin_hparams_pb2 import (  # type: ignore[import-untyped]
    HParamsPluginData,
    SessionEndInfo,
    SessionStartInfo,
)
from tensorboardX.proto.plugin_text_pb2 import TextPluginData  # type: ignore[import-untyped]
from tensorboardX.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata  # type: ignore[import-untyped]
from tensorboardX.proto.tensor_pb2 import TensorProto  # type: ignore[import-untyped]
from tensorboardX.proto.tensor_shape_pb2 import TensorShapeProto  # type: ignore[import-untyped]

from tenterhooks_summary._png import png

__all__ = ["histogram", "hparams_end", "hparams_start", "image", "text"]

_log = logging.getLogger("tenterhooks_summary")

_BINS = 30


def histogram(tag: str, values: NDArray[Any]) -> Any:
    """How the finite ones among numbers are distributed, in as many bins as TensorBoard's own summaries have."""
    numbers = values.astype(np.float64).ravel()
    finite = numbers[np.isfinite(numbers)]
    if finite.size < numbers.size:
        _log.warning(
            "the histogram %r shows %d of %d numbers: the others are NaN or infinite", tag, finite.size, numbers.size
        )
    made = HistogramProto(num=numbers.size, sum=numbers.sum(), sum_squares=numbers.dot(numbers))
    if finite.size:
        low, high = finite.min(), finite.max()
        # Numbers that all are the same have one bin.
        counts, edges = np.histogram(finite, _BINS if low < high else 1, (low, high) if low < high else None)
        made.min, made.max = low, high
        made.bucket.extend(counts.tolist())
        made.bucket_limit.extend([*edges[1:-1].tolist(), high])
    return Summary.Value(tag=tag, histo=made)


def image(tag: str, pixels: NDArray[Any]) -> Any:
    """An image of the shape (height, width, channels), as PNG."""
    height, width, channels = pixels.shape
    made = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=png(pixels))
    return Summary.Value(tag=tag, image=made)


def text(tag: str, value: str) -> Any:
    """A text."""
    made = TensorProto(
        dtype="DT_STRING",
        string_val=[value.encode()],
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
    )
    return Summary.Value(tag=tag, metadata=_metadata("text", TextPluginData()), tensor=made)


def hparams_start(hparams: Mapping[str, bool | float | str], metrics: Iterable[str]) -> list[Any]:
    """The hyperparameters of a run, as the summaries by which TensorBoard knows them."""
    infos, start = [], SessionStartInfo()
    for name, value in hparams.items():
        if isinstance(value, bool):
            kind, start.hparams[name].bool_value = "DATA_TYPE_BOOL", value
        elif isinstance(value, str):
            kind, start.hparams[name].string_value = "DATA_TYPE_STRING", value
        else:
            kind, start.hparams[name].number_value = "DATA_TYPE_FLOAT64", value
        infos.append(HParamInfo(name=name, type=DataType.Value(kind)))
    compared = [MetricInfo(name=MetricName(tag=tag)) for tag in metrics]
    return [
        _of_hparams("experiment", HParamsPluginData(experiment=Experiment(hparam_infos=infos, metric_infos=compared))),
        _of_hparams("session_start_info", HParamsPluginData(session_start_info=start)),
    ]


def hparams_end(exception: BaseException | None) -> Any:
    """How a run with hyperparameters ended."""
    status = Status.Value("STATUS_SUCCESS" if exception is None else "STATUS_FAILURE")
    return _of_hparams("session_end_info", HParamsPluginData(session_end_info=SessionEndInfo(status=status)))


def _of_hparams(name: str, data: Any) -> Any:
    return Summary.Value(tag=f"_hparams_/{name}", metadata=_metadata("hparams", data))


def _metadata(plugin: str, content: Any) -> Any:
    return SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content.SerializeToString())
    )
