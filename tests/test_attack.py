"""Inputs of an attack: none takes more than linear time, ends in a crash, or is obeyed."""

from __future__ import annotations

import json
import pickle
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import advisor
from advisor.api import duration
from advisor.cli import main
from advisor.contract import as_json
from advisor.errors import AdvisorError
from tests.fuzz.inputs import Input
from tests.fuzz.passes import every_view
from tests.made import event

BATCH = {"triggerExecution": 608, "addBatch": 327, "walCommit": 93, "commitOffsets": 81, "numInputRows": 1000}
AT = "26/11/22 11:00:00"
GROWS = 9.0
"""More than linear time grows over four times the text; quadratic time grows by 16."""
SHORTEST_S = 0.1
"""A shorter time shows no growth."""
PUMPED = {
    "a phase and blanks": f"{AT} INFO X: processingTime|{{}}x",
    "falling behind and blanks": f"{AT} WARN X: falling behind. Trigger interval is 0{{}}x",
    "a phase and blanks without a head": "triggerExecution{}x",
    "two phases and blanks": "durationMs addBatch triggerExecution{}x",
}


def run_of(name: str, **changed: Any) -> bytes:
    """A run of three batches as JSON lines."""
    made = [event(number, number * 1000, 1000, BATCH | {"name": name}) | changed for number in range(3)]
    return "".join(json.dumps(one) + "\n" for one in made).encode()


TOKENS = '{"auth-tokens":{"0":12345678901,"1":12345678902...'
ODD = {
    "a time of 400 digits": run_of("q", timestamp=10**400),
    "tokens in a name": run_of("tokens=[" + "0" * 40 + "x"),
    "tokens in offsets": run_of("q", sources=[{"description": "R", "endOffset": TOKENS, "numInputRows": 1}]),
    "a command in a name": run_of("::error::owned"),
}


@pytest.mark.parametrize("asked", [{}, {"query": "kept"}, {"packed": True}, {"series": True}], ids=str)
def test_a_report_can_be_pickled(tmp_path: Path, asked: dict[str, Any]) -> None:
    path = tmp_path / "progress.jsonl"
    path.write_bytes(run_of("kept") + run_of("other", id="other", runId="other"))
    report = advisor.analyze(path, **asked)
    kept = pickle.loads(pickle.dumps(report))
    assert (kept.to_json(), kept.to_text(everything=True), kept.to_html()) == (
        report.to_json(), report.to_text(everything=True), report.to_html()
    )  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_record_is_judged_and_shown(kind: str) -> None:
    every_view(Input(ODD[kind]))


def test_a_packed_report_shows_the_same(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    runs = [run_of(f"::error::{number}  \u202e" * (1 + 9 * number), runId=f"run {number}") for number in range(5)]
    path.write_bytes(b"".join(runs))
    whole, packed = advisor.analyze(path), advisor.analyze(path, packed=True)
    assert packed.to_json() == whole.to_json() == as_json(whole.typed)
    for everything in (False, True):
        assert packed.to_text(everything=everything) == whole.to_text(everything=everything)
        assert packed.to_markdown(everything=everything) == whole.to_markdown(everything=everything)
    assert whole == advisor.analyze(path)
    assert not any("add_batch_ms" in query.metrics for query in packed.typed.queries)


def test_a_configuration_that_the_kernel_makes_is_not_read() -> None:
    if not Path("/proc/kmsg").exists():
        pytest.skip("no such kernel")
    said = CliRunner().invoke(main, ["analyze", str(Path(__file__)), "--config", "/proc/kmsg"])
    assert (said.exit_code, "never end" in said.output, len(said.output.splitlines())) == (2, True, 1)


@pytest.mark.parametrize("path", ["x" * 5000, "a/" * 5000])
def test_a_path_that_is_too_long_is_refused(path: str) -> None:
    for call in (advisor.analyze, advisor.read_progress, lambda path: advisor.analyze(".", rules=[path])):
        with pytest.raises(AdvisorError):
            call(path)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"engine": "Spark"}, "engine=Spark"), ({"spark": "local[2]"}, "spark: str is no Spark session"),
     ({"set": [5]}, "set: int"), ({"rules": None}, "rules: NoneType"), ({"config": 5}, "config: int"),
     ({"last": 30}, "no unit"), ({"last": timedelta(0)}, "be longer than 0"), ({"last": pd.NaT}, "is not a length"),
     ({"last": -timedelta(1)}, "is not a length"), ({"last": "5 apples"}, "is not a length"),
     ({"last": "999999999d"}, "is not a length"), ({"since": 5}, "is not a time"),
     ({"until": "2026-11-21 11:21:50 CET"}, "is not a time")],
)  # fmt: skip
def test_an_argument_of_the_wrong_kind_is_refused_by_its_name(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(AdvisorError, match=words):
        advisor.analyze("sample_progress", **wrong)


@pytest.mark.parametrize(
    "last", [timedelta(days=1, minutes=30), timedelta(microseconds=5), pd.Timedelta("90s"), np.timedelta64(30, "m")]
)
def test_a_length_of_time_may_be_of_pythons_own_types(last: Any) -> None:
    assert duration(str(last), "--last") == pd.Timedelta(last)


@pytest.mark.parametrize("kind", PUMPED)
@pytest.mark.parametrize("unit", [" ", "\t", " ["])
def test_a_long_line_takes_linear_time(tmp_path: Path, kind: str, unit: str) -> None:
    path = tmp_path / "driver.log"

    def seconds(size: int) -> float:
        path.write_text(PUMPED[kind].format(unit * (size // len(unit))) + "\n", encoding="utf-8")
        started = time.thread_time()
        assert CliRunner().invoke(main, ["analyze", str(path)]).exit_code == 2
        return time.thread_time() - started

    seconds(100)  # what is loaded once
    for _ in range(3):  # a busy machine may delay one of the two
        long = seconds(16_000)
        if long < SHORTEST_S or long < GROWS * seconds(4_000):
            return
    raise AssertionError(f"{long} s for 16,000 letters")
