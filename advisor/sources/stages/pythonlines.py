"""What a driver log in local mode tells of Python workers: a line for each task of each function."""

from __future__ import annotations

import re

_TIMES = re.compile(rb"Times: total = (\d{1,12}), boot = (?:.* task [\d.]+ in stage (\d{1,15}) \(TID)?")

LOGGERS = (
    *("PythonUDFRunner", "PythonUDTFRunner", "PythonUDFWithNamedArgumentsRunner", "PythonRunner"),
    *("ArrowPythonRunner", "ArrowPythonUDTFRunner", "ArrowPythonWithNamedArgumentRunner", "CoGroupedArrowPythonRunner"),
    *("ArrowEvalPythonEvaluatorFactory", "ColumnarArrowEvalPythonEvaluatorFactory", "MapInBatchEvaluatorFactory"),
    *("FlatMapGroupsInBatchExec", "ArrowAggregatePythonExec", "ArrowWindowPythonEvaluatorFactory"),
    *("ApplyInPandasWithStatePythonRunner", "TransformWithStateInPySparkPythonRunner"),
    *("TransformWithStateInPandasPythonRunner", "PythonForeachWriter", "$$anon$1", "$$anon$2"),
)
"""Classes that write it; in Spark 4.3 some are nameless ones inside of these."""


def told(line: bytes) -> tuple[float, int | None] | None:
    """(ms in a Python worker, the stage if it is named: 4.3 does, 3.5 does not); None of other lines."""
    times = _TIMES.search(line)
    return (float(times[1]), int(times[2]) if times[2] else None) if times else None
