"""The live loop in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.errors import UsageError
from advisor.session import live_demo

LOOP = """
import json
from advisor.session import live_demo
said, shown, done = [], [], []
found = live_demo("stateless", said.append, shown.append, lambda words, part: done.append(part), batches=25)
print(json.dumps({"said": said, "reports": len(shown), "done": done[-1], "found": found}))
"""
ROOT = Path(__file__).parents[2]


@pytest.mark.spark
def test_the_advised_option_is_read_from_the_report_applied_and_measured(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    run = subprocess.run(
        [sys.executable, "-c", LOOP], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["reports"] == 1
    assert told["done"] == 1
    assert '.option("asyncProgressTrackingEnabled", "true")' in told["said"][0]
    assert {kept["step"] for kept in told["found"]["promises"]} == {"async-progress"}
    assert any(line.startswith("Measured: ") for line in told["said"])


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(UsageError, match="stateless, stateful"):
        live_demo("stateles", print, print, print)
