"""The demonstration's stream: what it needs, how it ends."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from advisor.demo.local import LOG, NoStreamError, run_stream, spark_missing

BEGIN = "import os, pathlib, subprocess, sys, time; place = pathlib.Path(sys.argv[1])\n"
BATCH = "(place / 'driver.log').write_text('made progress: {}')\n"


def stream(place: Path, program: str, grace: float = 30) -> list[tuple[str, float]]:
    told: list[tuple[str, float]] = []
    run_stream(place, 0, lambda words, done: told.append((words, done)), ("-c", BEGIN + program), grace)
    return told


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def test_it_tells_how_far_it_is(tmp_path: Path) -> None:
    assert stream(tmp_path, BATCH + "print('0.5 12 batches')") == [("12 batches", 0.5)]
    assert (tmp_path / LOG).is_file()


def test_why_it_failed_is_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(NoStreamError, match=r"^the port is taken$"):
        stream(tmp_path, "sys.exit('Setting default log level\\nthe port is taken')")
    with pytest.raises(NoStreamError, match=r"^it ended with 3 before its first batch$"):
        stream(tmp_path, "os._exit(3)")


def test_a_stream_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    child = "child = subprocess.Popen(['sleep', '600']); (place / 'pid').write_text(str(child.pid)); time.sleep(600)"
    stream(tmp_path, BATCH + child, grace=3)
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not alive(pid):
            return
        time.sleep(0.1)
    pytest.fail("the child is still there")


def test_without_java_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert spark_missing() == "there is no Java here (Spark 4 wants 17 or newer)"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert spark_missing() != "there is no Java here (Spark 4 wants 17 or newer)"


@pytest.mark.spark
@pytest.mark.skipif(spark_missing() is not None, reason=str(spark_missing()))
def test_real_batches_are_in_its_log(tmp_path: Path) -> None:
    run_stream(tmp_path, 5, lambda words, done: None, grace=200)
    assert (tmp_path / LOG).read_text().count("made progress") > 3
