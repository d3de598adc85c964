"""A notebook run from top to bottom, and its outputs as a page that a browser can open."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def executed(path: Path, changes: Mapping[str, str] = MappingProxyType({}), timeout: int = 900) -> Any:
    """The notebook with the outputs of its cells; of `changes` each text of a cell stands in place of another."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for old, new in changes.items():
            cell.source = cell.source.replace(old, new)
    patience = dict.fromkeys(
        ("timeout", "startup_timeout", "iopub_timeout"), timeout
    )  # their own end on a busy machine
    nbclient.NotebookClient(notebook, **patience, resources={"metadata": {"path": str(ROOT)}}).execute()
    return notebook


def cells(notebook: Any) -> dict[str, Any]:
    """Each cell of code by its last line."""
    return {cell.source.rstrip().rpartition("\n")[2]: cell for cell in notebook.cells if cell.cell_type == "code"}


def kinds(notebook: Any) -> dict[str, list[str]]:
    """What each cell shows: of every output its type."""
    return {last: [output.output_type for output in cell.outputs] for last, cell in cells(notebook).items()}


FRONT_END = (
    ".output dl dt { float: left; width: 20%; font-weight: bold } .output table { table-layout: fixed } "
    ".output:not(.other) td, .output:not(.other) th { text-align: right }"
)
"""What a notebook's front end says of lists and tables, as far as it would disturb a card."""


def as_page(notebook: Any) -> str:
    """The HTML outputs of all cells on one page, without any script of a front end."""
    shown = [
        output.data["text/html"]
        for cell in cells(notebook).values()
        for output in cell.outputs
        if "text/html" in output.get("data", {})
    ]
    body = "".join(f'<div class="output">{html}</div>' for html in shown)
    head = f'<meta charset="utf-8"><title>outputs</title><style>{FRONT_END}</style>'
    return f'<!doctype html><html lang="en">{head}<body>{body}</body></html>'
