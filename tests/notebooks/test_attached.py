"""The notebook that tells the whole story, run with a real Spark; what its cells show is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.executed import cells, executed, kinds

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq"),
]
SILENT = (
    "live = advisor.attach(spark, on_finding=notices.append)",
    'spark.sparkContext.setLogLevel("OFF")',
    "wait_for(query, 60)",
)


def shown(cell: Any, kind: str) -> str:
    """What a cell shows in this form."""
    outputs = [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]
    return "".join(outputs)


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def test_attach_advise_apply_watch_compare() -> None:
    notebook = executed(Path(__file__).with_name("attached.ipynb"))
    told, counts = cells(notebook), {last: len(types) for last, types in kinds(notebook).items()}
    assert counts == {last: int(last not in SILENT) for last in counts}
    card = shown(told["live"], "text/html")
    assert "orders" in card and "walCommit" in card and "asyncProgressTrackingEnabled" in card
    assert "Do this first" in card and "<svg role" in card
    assert "LG001" in shown(told["report.findings"], "text/html")
    assert "trigger_execution_ms" in shown(
        told["report.to_frame().query(\"metric == 'trigger_execution_ms'\")"], "text/html"
    )
    watched = shown(told["advisor.watch()"], "text/html")
    assert "orders" in watched and "stopped" in watched
    assert "typical batch" in shown(told["comparison"], "text/html")
    assert "promised" in shown(told["comparison"], "text/html")
    assert "async-progress batch" in printed(told[_last(told, "print(promise")])
    assert printed(told[_last(told, "print(told")]).strip() == "lean 0 []"


def _last(told: dict[str, Any], begins: str) -> str:
    return next(last for last in told if last.strip().startswith(begins))
