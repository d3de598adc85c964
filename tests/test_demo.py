"""The demonstration where no stream can run, and what it says of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from advisor.cli import main
from advisor.demo import Stage, run
from advisor.demo.loop import _applicable
from advisor.demo.spark import spark_missing, uninterrupted
from tests.views.reports import ASYNC, advice

ROOT = Path(__file__).parents[1]
TOO_OLD = "java.lang.UnsupportedClassVersionError: org/apache/spark/launcher/Main has been compiled by a newer version"

DEMONSTRATED = """
import json
from advisor.demo import Stage, run
said, shown = [], []
run(Stage(said.append, shown.append, lambda words, done: None))
print(json.dumps([said, len(shown)]))
"""


WITHOUT_SPARK = "import sys\nsys.modules['pyspark'] = None\n"
"""A Python in which nothing can import PySpark, as after an installation without extras."""


def test_without_pyspark_the_recorded_log_is_advised_on() -> None:
    code = WITHOUT_SPARK + "from advisor.cli import main\nmain(['demo'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "No stream runs here" in done.stdout


def demonstrated(**options: object) -> tuple[list[str], int]:
    """What is said, and how many reports are shown."""
    said: list[str] = []
    shown: list[object] = []
    run(Stage(said.append, shown.append, lambda words, done: None), **options)  # type: ignore[arg-type]
    return said, len(shown)


def test_without_java_one_clear_line_and_the_advice_on_the_shipped_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    said, reports = demonstrated()
    assert reports == 1
    assert said[1:-1] == ["\n2. No stream runs here: Java was not found (Spark 4 wants 17 or newer)."]


def test_java_may_be_in_its_home_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert spark_missing() != "Java was not found (Spark 4 wants 17 or newer)"


def test_a_java_that_spark_does_not_take_is_told_in_its_words(tmp_path: Path) -> None:
    """In a process of its own: one in which Spark runs already refuses before it asks Java."""
    pytest.importorskip("pyspark")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'Error: linkage' >&2\necho '{TOO_OLD}' >&2\necho '  at somewhere' >&2\nexit 1\n")
    java.chmod(0o755)
    environment = os.environ | {"JAVA_HOME": str(tmp_path), "SPARK_HOME": str(tmp_path / "another")}
    command = [sys.executable, "-c", DEMONSTRATED]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    said, reports = json.loads(ran.stdout)
    assert reports == 1
    assert said[2:-1] == [f"No stream runs here: Spark did not start: {TOO_OLD}"]


@pytest.fixture
def in_the_foreground() -> Iterator[None]:
    """Ctrl-C as a terminal's command has it: a suite that runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("error", [None, RuntimeError("Java was interrupted")])
@pytest.mark.usefixtures("in_the_foreground")
def test_a_signal_waits_for_the_end_of_a_start_and_is_not_lost(
    error: Exception | None, number: signal.Signals, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(partial(signal.signal, number, signal.signal(number, signal.default_int_handler)))
    ended = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(number)
        ended.append("the start")
        if error:
            raise error
    assert ended == ["the start"]
    assert signal.getsignal(number) is signal.default_int_handler


@pytest.mark.usefixtures("in_the_foreground")
def test_in_the_background_ctrl_c_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_what_goes_wrong_while_nobody_interrupts_is_told() -> None:
    with pytest.raises(RuntimeError, match="no Java"), uninterrupted():
        raise RuntimeError("no Java")


def test_it_ends_with_a_page_that_it_names() -> None:
    pytest.importorskip("vl_convert")
    said = CliRunner().invoke(main, ["demo", "--no-spark"]).output.splitlines()[-1]
    assert said.startswith("The last report as a page with charts")
    page = Path(said.rpartition(": ")[2])
    assert "rate-to-noop" in page.read_text(encoding="utf-8") and "<svg role" in page.read_text(encoding="utf-8")
    shutil.rmtree(page.parent)


def test_without_the_extra_that_draws_it_the_demonstration_ends_with_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    ran = CliRunner().invoke(main, ["demo", "--no-spark"])
    assert ran.exit_code == 0 and "streaming-latency-advisor[page]" in ran.output.splitlines()[-1]
    assert "LG001" in ran.output and "2. No stream runs here: --no-spark was given." in ran.output


@pytest.mark.parametrize(
    ("other", "applicable"),
    [
        ({}, True), ({"legal": "if"}, False), ({"takes": "new_checkpoint"}, False),
        ({"change": {"conf": {"spark.executor.cores": "4"}}}, False),
        ({"change": {"trigger": {"processing_time": "500"}}}, False),
    ],
)  # fmt: skip
def test_only_what_a_restart_in_the_same_session_applies_is_applied(other: dict[str, object], applicable: bool) -> None:
    change = {"writer_option": {"a": "b"}, "conf": {"spark.sql.c": "d"}}
    assert _applicable(advice(ASYNC | {"takes": "restart", "change": change} | other)) is applicable
