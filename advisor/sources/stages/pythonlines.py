"""What a driver log in local mode tells of Python workers: a line for each task of each function."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from advisor.sources.stages.submitted import Submitted

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


class _Stretches(NamedTuple):
    """Lines between two lines, each of a stage attempt."""

    of: np.ndarray
    begin: np.ndarray
    end: np.ndarray


def told(line: bytes) -> tuple[float, int | None] | None:
    """(ms in a Python worker, the stage if it is named: 4.3 does, 3.5 does not); None of other lines."""
    times = _TIMES.search(line)
    return (float(times[1]), int(times[2]) if times[2] else None) if times else None


def share(
    nameless: Sequence[tuple[int, float]], tasks: np.ndarray, left: np.ndarray, submitted: Sequence[Submitted]
) -> None:
    """Give (line, ms) that name no stage to the one that had a task running then, or was open, if there was no other.

    `tasks`: lines of tasks, those of one of `submitted` behind the other; `left`: how many of it run behind each.
    """
    lines, ms = (np.array(column) for column in zip(*nameless, strict=True))
    since, ends = np.array([(one.line, one.end) for one in submitted], np.int64).T
    until = np.append(tasks["line"][1:], 0)
    last = np.diff(tasks["of"], append=-1) != 0
    until[last] = ends[tasks["of"][last]]
    running = _Stretches(*(column[left > 0] for column in (tasks["of"], tasks["line"], until)))
    for stretches in (running, _Stretches(np.arange(len(since)), since, ends)):
        count, whose = _those_at(lines, stretches)
        for of, length in zip(whose[count == 1].tolist(), ms[count == 1].tolist(), strict=True):
            submitted[of].works(length)
        for of in _which_hold(lines[count > 1], stretches):
            submitted[of].works(nan)
        lines, ms = lines[count == 0], ms[count == 0]


def _those_at(lines: np.ndarray, stretches: _Stretches) -> tuple[np.ndarray, np.ndarray]:
    """(how many stretches hold each of these lines, the sum of what they are of)."""
    found = np.zeros((2, len(lines)), np.int64)
    for places, sign in ((stretches.begin, 1), (stretches.end, -1)):
        order = np.argsort(places)
        before = np.searchsorted(places[order], lines)
        found += sign * np.stack([before, np.append(0, np.cumsum(stretches.of[order]))[before]])
    return found[0], found[1]


def _which_hold(lines: np.ndarray, stretches: _Stretches) -> set[int]:
    """Of what some stretch holds one of these lines."""
    begin, end = (np.searchsorted(lines, places) for places in (stretches.begin, stretches.end))
    return set(stretches.of[begin < end].tolist())
