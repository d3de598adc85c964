"""Attached, and a fleet's logs, on the oldest PySpark supported, installed beside the one of this environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(sys.version_info >= (3, 12), reason="PySpark 3.5 was tried on Python up to 3.11"),
]
pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[2]
OLDEST = "3.5.9"
PACKAGES = (f"pyspark=={OLDEST}", "py4j==0.10.9.7")
TESTS = {
    "tests/spark/test_attached.py": "stateless or stateful or fails or restart",
    "tests/spark/test_fleet.py": "all_forms or second_run",
    "tests/spark/test_delta.py": "test",
}


@pytest.fixture(scope="module")
def oldest(request: pytest.FixtureRequest) -> Path:
    """A directory with that PySpark, kept in pytest's cache."""
    place: Path = request.config.cache.mkdir("pyspark") / OLDEST
    if not place.is_dir():
        part = place.with_name(f"{OLDEST}.part{os.getpid()}")
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(part), *PACKAGES]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"PySpark {OLDEST} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
        part.rename(place)
    return place


@pytest.mark.parametrize("file", TESTS)
def test_the_same_tests_hold_on_it(oldest: Path, file: str) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
    environment["PYTHONPATH"] = str(oldest)
    python = [sys.executable, "-c", "import pyspark; print(pyspark.__version__)"]
    told = subprocess.run(python, env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == OLDEST
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file, "-k", TESTS[file]]
    done = subprocess.run(tests, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "skipped" not in done.stdout
