"""The notebook that tells the whole story, run with a real Spark; what its cells show is looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.executed import cells, executed

pytestmark = [
    pytest.mark.spark, pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq"),
]  # fmt: skip
ATTACH = "live = advisor.attach(spark, on_finding=notices.append)"
LEVELS = {"low": 0.001, "medium": 0.9, "high": 0.95}
"""Any share of the logs is worth a step here: which of a batch's phases is the longest follows the machine."""
SILENT = (
    'spark.sparkContext.setLogLevel("OFF")',
    "wait_for(query, 60)",
)


def shown(cell: Any, kind: str) -> str:
    """What a cell shows in this form."""
    outputs = [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]
    return "".join(outputs)


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def test_attach_advise_apply_watch_compare(tmp_path: Path) -> None:
    wanted = tmp_path / "advisor.yaml"
    wanted.write_text(json.dumps({"queries": {"orders": {"levels": {"LG001": LEVELS}}}}))
    attach = ATTACH.replace("spark,", f"spark, config={str(wanted)!r},")
    notebook = executed(Path(__file__).with_name("attached.ipynb"), {ATTACH: attach})
    told = cells(notebook)
    wanted_outputs = {last: int(last not in (attach, *SILENT)) for last in told}
    assert {last: cell.outputs for last, cell in told.items() if len(cell.outputs) != wanted_outputs[last]} == {}
    card = shown(told["live"], "text/html")
    assert "orders" in card and "walCommit" in card and "asyncProgressTrackingEnabled" in card
    assert "Do this first" in card and "<svg role" in card
    assert "LG001" in shown(told["report.findings"], "text/html")
    watched = shown(told["advisor.watch()"], "text/html")
    assert "orders" in watched and "stopped" in watched
    assert "typical batch" in shown(told["comparison"], "text/html")
    assert "promised" in shown(told["comparison"], "text/html")
    assert "async-progress batch" in printed(told[_last(told, "print(promise")])
    assert printed(told[_last(told, "print(told")]).strip() == "lean 0 []"


def _last(told: dict[str, Any], begins: str) -> str:
    return next(last for last in told if last.strip().startswith(begins))
