"""Workers that are processes of their own, without this package in their Python: it is sent along."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

from advisor import api
from advisor.cluster.session import java

pytestmark = [pytest.mark.spark, pytest.mark.slow]
pyspark = pytest.importorskip("pyspark")

HOME = Path(pyspark.__file__).parent
ROOT = Path(__file__).parents[2]
LOGS = ("sample_progress/LG001/rate-to-noop-4.3.0",)
SENT = re.compile(r"/advisor-[\w.-]+\.zip/advisor/__init__\.py$")
_DEPLOY = "org.apache.spark.deploy"
_JAVA_17 = ("--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--add-opens=java.base/java.util=ALL-UNNAMED")  # fmt: skip


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has the libraries, but not this package: what `.pth` files add is not looked at."""
    place = tmp_path_factory.mktemp("python") / "python"
    libraries = sysconfig.get_paths()["purelib"]
    place.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec "{sys.executable}" -S "$@"\n')
    place.chmod(0o755)
    return str(place)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(place), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the wheel cannot be built: {done.stderr.strip().splitlines()[-1]}")
    return str(next(place.glob("*.whl")))


def environment(python: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    scala = next(re.findall(r"_(2\.\d+)-", jar.name)[0] for jar in (HOME / "jars").glob("spark-core_*.jar"))
    own = {"SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": scala}
    return kept | own | {"PYSPARK_PYTHON": python}


def judged(*options: str, **environment: str) -> dict[str, Any]:
    command = [str(HOME / "bin" / "spark-submit"), *options, "tests/spark/fleet_job.py", *LOGS]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]  # Spark sends what Python says there
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def local() -> Any:
    return json.loads(api.analyze([ROOT / log for log in LOGS]).to_json())


def test_two_executors_get_the_package_by_themselves(python: str) -> None:
    own = environment(python) | {"PYSPARK_DRIVER_PYTHON": sys.executable}
    found = judged("--master", "local-cluster[2,1,1024]", **own)
    assert found["report"] == local()
    assert all(SENT.search(place) for place in found["workers"])


def test_a_standalone_cluster_takes_the_wheel(python: str, wheel: str, tmp_path: Path) -> None:
    with started("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0") as master:
        url = said(master, r"Starting Spark master at (spark://\S+)")
        size = ("--cores", "2", "--memory", "1g")
        place = ("--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(tmp_path))
        with started("worker.Worker", *size, *place, url) as worker:
            said(worker, r"Successfully registered with master (\S+)")
            found = judged("--master", url, "--py-files", wheel, **environment(python))
    assert found["report"] == local()
    assert found["driver"].startswith(wheel)
    assert all(SENT.search(place) for place in found["workers"])


@contextmanager
def started(daemon: str, *arguments: str) -> Iterator[Queue[str]]:
    """What a process of Spark's own says, line by line; it is ended afterwards."""
    command = [java(), "-Xmx512m", *_JAVA_17, "-cp", str(HOME / "jars" / "*"), f"{_DEPLOY}.{daemon}", *arguments]
    lines: Queue[str] = Queue()
    with subprocess.Popen(
        command, env=environment(sys.executable), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        reader = Thread(target=heard, args=(process.stderr, lines))  # a pipe that nobody reads would stop the process
        reader.start()
        try:
            yield lines
        finally:
            process.terminate()
            reader.join()


def heard(stream: Iterable[str], lines: Queue[str]) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")


def said(lines: Queue[str], pattern: str) -> str:
    """What is said, as soon as it is."""
    others = []
    for line in iter(lines.get, ""):
        if found := re.search(pattern, line):
            return found[1]
        others.append(line)
    raise AssertionError("".join(others))
