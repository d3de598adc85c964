"""Python workers of the cluster: what was imported for a task is kept out of the collector's way."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pyarrow as pa

Task = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def sparing(task: Task) -> Task:
    """The same task. PySpark collects garbage after each, which takes as long as there are objects of modules."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from task(batches)
        _freeze(len(sys.modules))

    return run


@cache
def _freeze(modules: int) -> None:  # noqa: ARG001 - once, and once more when a task has imported others
    gc.freeze()
