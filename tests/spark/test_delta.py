"""Attached to a query that writes a Delta table, on the oldest PySpark supported, for which Delta's jars are small."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.session import attach
from tests.record.cases import DELTA
from tests.spark.conftest import quiet, settings
from tests.spark.queries import Heard, known, rows

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not pyspark.__version__.startswith("3.5."), reason="test_oldest runs it, on PySpark 3.5"),
]
PACKAGES = {"spark.jars.packages": "io.delta:delta-spark_2.12:3.2.0"}


@pytest.fixture(scope="module")
def delta(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with quiet(settings(tmp_path_factory.mktemp("spark")) | PACKAGES | DELTA) as session:
        yield session


def test_the_jobs_tell_in_how_many_tasks_the_snapshot_is_rebuilt(delta: Any, tmp_path: Path) -> None:
    with attach(delta) as advisor:
        heard = Heard(advisor)
        writer = rows(delta).writeStream.format("delta").option("checkpointLocation", f"{tmp_path}/checkpoint")
        query = writer.start(f"{tmp_path}/table")
        heard.batches(query, 6)
        found = heard.steady(query)
        query.stop()
    assert known(found, "sink", "delta_snapshot_tasks", "task_slots") == {
        "sink": "delta", "delta_snapshot_tasks": 50, "task_slots": 2,
    }  # fmt: skip
    assert "SK003" not in {skipped["rule"] for skipped in found["skipped"]}
