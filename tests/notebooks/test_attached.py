"""The notebook that tells the whole story, run with a real Spark; what its cells show is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq"),
]

NOTEBOOK = Path(__file__).with_name("attached.ipynb")
ROOT = Path(__file__).parents[2]


def shown(cell: Any, kind: str) -> str:
    """What a cell shows in this form."""
    outputs = [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]
    return "".join(outputs)


def printed(cell: Any) -> str:
    return "".join(output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def test_attach_advise_apply_compare() -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(ROOT)}}).execute()
    cells = {"".join(cell.source).partition("\n")[0]: cell for cell in notebook.cells}
    card = shown(cells["advisor"], "text/html")
    assert "orders" in card
    assert "walCommit" in card
    assert "asyncProgressTrackingEnabled" in card
    assert "Best step" in shown(cells["advisor"], "text/plain")
    assert "LG001" in shown(cells["report = advisor.report()"], "text/html")
    assert "trigger_execution_ms" in shown(
        cells["report.to_frame().query(\"metric == 'trigger_execution_ms'\")"], "text/html"
    )
    proof = printed(cells['comparison = advisor.compare().data["comparisons"][0]'])
    assert "typical batch" in proof
    assert "async-progress batch" in proof
    assert printed(cells["query.stop()"]).strip() == "lean 0 []"
