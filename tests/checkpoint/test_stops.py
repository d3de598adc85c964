"""Queries of a real Spark, stopped at random moments: it goes on as the reader says."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.checkpoint.stops import KINDS, check, stopped, tried
from tests.checkpoint.workers import Worker

pytestmark = pytest.mark.spark
pytest.importorskip("pyspark")


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    started = Worker(sys.executable, tmp_path_factory.mktemp("worker"))
    yield started
    started.close()


def test_a_crash_is_answered_as_spark_does(worker: Worker, tmp_path: Path) -> None:
    kind = KINDS["count with changelogs"]
    left = stopped(worker, kind, tmp_path, "freeze", random.Random(1))
    assert check(worker, None, kind, left, "partitions=5") == "partitions=5: if"


@pytest.mark.slow
def test_random_stops_are_answered_as_spark_does(worker: Worker) -> None:
    assert [told for told in tried([worker], len(KINDS), seed=3) if told[-1]] == []
