"""The hooks that log values of a training run: `logging`, and to files `json-lines` and `csv`."""

from tenterhooks_logging.csv_file import CsvHook
from tenterhooks_logging.hook import LoggingTensorHook
from tenterhooks_logging.json_lines import JsonLinesHook

__all__ = ["CsvHook", "JsonLinesHook", "LoggingTensorHook"]
