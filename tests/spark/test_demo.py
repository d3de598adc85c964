"""The live loop in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark
pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[2]
LOOP = """
import json, logging, sys
from functools import partial
from pathlib import Path
from advisor import analyze
from advisor.contract import plain
from advisor.demo import Stage, loop, spark as demo
from advisor.demo.loop import run_loop
loop.FIRST_SECONDS, loop.BOTH_SECONDS = 600, 1200  # so many batches, however slow the machine is
said, shown, done, place = [], [], [], Path(sys.argv[1])
# Any share is worth a step here: which of a batch's phases is the longest follows the machine.
wanted = place / "advisor.yaml"
levels = {"LG001": {"low": 0.001, "medium": 0.9, "high": 0.95}}
wanted.write_text(json.dumps({"queries": {"demo": {"levels": levels}}}))
loop.attach = partial(loop.attach, config=wanted)
stage = Stage(said.append, shown.append, lambda words, part: done.append(part))
held, end = [], demo._end
def ended(java):  # Py4J's own thread has these to tell Java for half a second; Java is gone sooner
    logging.basicConfig(level=logging.INFO, filename=place / "python.log")
    held.clear()
    end(java)
demo._end = ended
with demo.started(place) as spark:
    found = run_loop(spark, place, stage, batches=60)  # the first 50 may all be cold
    held.extend(spark.sparkContext._jvm.java.lang.StringBuilder() for _ in range(3000))
logged = [query["batches"] for query in analyze(place / demo.LOG).queries]
print(json.dumps({"said": said, "reports": len(shown), "done": done[-1], "found": plain(found), "logged": logged}))
"""


def test_what_is_applied_is_read_from_the_report_and_measured_and_java_is_told_nothing_while_it_ends(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", LOOP, str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800, check=True)
    told: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    assert (told["reports"], told["done"]) == (1, 1)
    assert '.option("asyncProgressTrackingEnabled", "true")' in told["said"][0]
    assert {kept["step"] for kept in told["found"]["promises"]} == {"async-progress"}
    assert any(words.startswith("Measured: ") for words in told["said"])
    assert len(told["logged"]) == 2
    assert min(told["logged"]) > 10
    assert run.stderr == ""
    assert not re.search("while (?:receiving|sending)", (tmp_path / "python.log").read_text())


PROGRESS = re.compile(r" +\d+%  ")
"""What the demonstration says of its progress, until it hears that it is to end."""


def ctrl_c(command: subprocess.Popen[str]) -> None:
    """It reaches every process of the terminal's group; the Java machine is in it."""
    os.killpg(command.pid, signal.SIGINT)


def with_ctrl_c() -> None:
    """A suite that runs in the background ignores it, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


TERMINATE = pytest.param("as it is", subprocess.Popen.terminate, marks=pytest.mark.slow)


@pytest.mark.parametrize(("moment", "stop"), [("starting Spark", ctrl_c), ("as it is", ctrl_c), TERMINATE])
def test_after_it_was_stopped_nothing_is_left(moment: str, stop: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "advisor", "demo"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=with_ctrl_c,  # noqa: PLW1509 - this test has no threads
    ) as demo:  # fmt: skip
        assert demo.stderr is not None
        assert any(moment in line for line in demo.stderr)
        stop(demo)
        rest = demo.stderr.read()
    assert demo.returncode == 130
    assert [line for line in rest.splitlines() if line and not PROGRESS.match(line)] == []
    assert running(demo.pid) == []
    assert [left.name for left in tmp_path.glob("latency-advisor-demo-*")] == []


def running(session: int) -> list[str]:
    """Commands of a session's processes, without those that have ended and only wait to be asked how."""
    listed = subprocess.run(["ps", "-e", "-o", "sid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    return [args for own, state, args in rows if int(own) == session and not state.startswith("Z")]
