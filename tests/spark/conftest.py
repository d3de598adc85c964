"""One Spark for all tests that need one in this process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.spark.queries import SECONDS


def settings(place: Path) -> dict[str, str]:
    """What keeps a Spark of these tests small, quiet and in its own directory."""
    return {
        "spark.master": "local[2]", "spark.app.name": "advisor-tests", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false", "spark.local.dir": str(place / "tmp"),
        "spark.sql.warehouse.dir": str(place / "warehouse"), "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.noDataProgressEventInterval": "200",
    }  # fmt: skip


@contextmanager
def quiet(conf: dict[str, str]) -> Iterator[Any]:
    """A session with these settings, which logs nothing."""
    pyspark_sql = pytest.importorskip("pyspark.sql")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.delenv("SPARK_HOME", raising=False)
        builder = pyspark_sql.SparkSession.builder
        for key, value in conf.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine under load is slow: what comes in the end is waited for."""
    pytest.importorskip("pyspark")
    for name in ("sources.listener.recorder.FLUSH_SECONDS", "sources.listener.session.LEAVING_SECONDS",
                 "sources.listener.session.ANSWER_SECONDS",                  "session.live.STOP_SECONDS"):  # fmt: skip
        monkeypatch.setattr(f"advisor.{name}", SECONDS)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with quiet(settings(tmp_path_factory.mktemp("spark"))) as session:
        yield session
