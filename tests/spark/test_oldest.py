"""Attached, and a fleet's logs, on the oldest PySpark supported, installed beside the one of this environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.versions import OLDEST, installed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(sys.version_info >= (3, 12), reason="PySpark 3.5 was tried on Python up to 3.11"),
]
pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[2]
TESTS = {
    "tests/spark/test_attached.py": "stateless or stateful or fails or restart",
    "tests/spark/test_fleet.py": "all_forms or second_run",
    "tests/spark/test_delta.py": "test",
}


@pytest.fixture(scope="module")
def oldest(request: pytest.FixtureRequest) -> Path:
    """A directory with that PySpark."""
    return installed(request.config, OLDEST)


@pytest.mark.parametrize("file", TESTS)
def test_the_same_tests_hold_on_it(oldest: Path, file: str) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    environment["PYTHONPATH"] = str(oldest)
    python = [sys.executable, "-c", "import pyspark; print(pyspark.__version__)"]
    told = subprocess.run(python, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == OLDEST
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file, "-k", TESTS[file]]
    done = subprocess.run(tests, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "skipped" not in done.stdout
