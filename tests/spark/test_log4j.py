"""Whether a driver that is started with the printed settings writes progress, on the oldest Spark, 4.0 and this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import advisor
from advisor.log4j import log4j_settings
from tests.spark.conftest import settings
from tests.spark.versions import PY4J, installed

pytestmark = pytest.mark.spark
pytest.importorskip("pyspark")

APPLICATION = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder
for key, value in json.loads(sys.argv[1]).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
rows = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
query = rows.writeStream.format("noop").start()
while not query.recentProgress:
    query.exception()
query.stop()
spark.stop()
"""


@pytest.mark.parametrize(
    "version", [*(pytest.param(one, marks=pytest.mark.slow) for one in PY4J), None], ids=[*PY4J, "this one"]
)
def test_the_driver_writes_progress_to_the_file(
    version: str | None, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if version == "3.5.9" and sys.version_info >= (3, 12):
        pytest.skip("PySpark 3.5 was tried on Python up to 3.11")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_HOME", "PYSPARK_"))}
    environment |= {"PYTHONPATH": str(installed(request.config, version))} if version else {}
    properties, log = tmp_path / "log4j2.properties", tmp_path / "driver.log"
    properties.write_text(log4j_settings(log))
    conf = settings(tmp_path) | {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{properties}"}
    run = [sys.executable, "-c", APPLICATION, json.dumps(conf)]
    done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(advisor.read_progress(log)) >= 1
    parts = advisor.read_stages(log, parts=True)
    assert parts["driver_before_ms"].notna().all()
    assert len(parts)
