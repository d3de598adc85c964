"""Functions that build queries, for tests that start none."""

from __future__ import annotations

import os
from typing import Any


def in_a_function(setup: Any) -> Any:
    """Write with a foreachBatch that a function of its own names."""
    return _written(setup.spark.readStream.format("rate").load())


def forking(setup: Any) -> Any:
    """Go on twice."""
    os.fork()
    return in_a_function(setup)


def _written(rows: Any) -> Any:
    return rows.writeStream.foreachBatch(lambda batch, number: batch.count())
