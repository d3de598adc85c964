"""A few cells of the matrix of legality on this environment's Spark; `make legality` runs all, on five Sparks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.legality.cells import Cell, cells

pyspark = pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

SLICE = {
    "async-progress: rate to noop, stateless, fresh checkpoint": ("takes effect", ""),
    "async-progress: rate to foreach_batch, stateless, fresh checkpoint": (
        "refused", "Sink ForeachBatchSink does not support async progress tracking",
    ),
    "rocksdb-with-changelog: rate to noop, aggregation, old checkpoint": ("ignored", ""),
}  # fmt: skip


def test_what_spark_does_with_a_step(spark: Any, tmp_path: Path) -> None:
    from tests.legality.runs import Runner

    runner = Runner(spark, tmp_path)
    try:
        chosen = [cell for cell in cells(pyspark.__version__) if f"{cell.step}: {cell.name}" in SLICE]
        assert {f"{cell.step}: {cell.name}": _outcome(runner, cell, tmp_path) for cell in chosen} == SLICE
    finally:
        runner.advisor.detach()


def _outcome(runner: Any, cell: Cell, place: Path) -> tuple[str, str]:
    base = place / "queries" / re.sub(r"\W+", "-", cell.query.name)
    if cell.checkpoint == "old":
        runner.query(cell.query, base)
    return runner.cell(cell, base)
