"""What the charts of the judged batches say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.api import analyze
from advisor.contract import QueryEntry
from advisor.views.charts import Chart, charts
from tests.made import events

BATCH = {"triggerExecution": 100, "addBatch": 30, "walCommit": 30, "commitOffsets": 30, "numInputRows": 100}


def made(tmp_path: Path, rows: list[dict[str, Any]], **how: Any) -> QueryEntry:
    (tmp_path / "progress.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events(rows, **how)))
    given = ["stateful=false", "sink=kafka", "spark_version=4.0.0", *how.pop("set", [])]
    return analyze(tmp_path / "progress.jsonl", series=True, set=given).typed.queries[0]


def drawn(query: QueryEntry) -> dict[str, Chart]:
    return {chart.name: chart for chart in charts(query, query.series)}


def test_the_fit_is_drawn_where_there_is_one(tmp_path: Path) -> None:
    query = made(tmp_path, [BATCH | {"numInputRows": 100 + 40 * (n % 5)} for n in range(40)])
    assert drawn(query)["rows"].words.startswith("No line is drawn: ") and len(drawn(query)["rows"].spec["layer"]) == 1
    known = msgspec.structs.replace(query.metrics["fixed_cost_ms"], missing=None)
    fit = {
        "fixed_cost_ms": msgspec.structs.replace(known, low=80.0, value=90.0, high=95.0),
        "cost_per_1000_rows_ms": msgspec.structs.replace(known, low=10.0, value=20.0, high=40.0),
    }
    chart = drawn(msgspec.structs.replace(query, metrics=query.metrics | fit))["rows"]
    band, line, _ = chart.spec["layer"]
    end = line["data"]["values"][-1]
    assert end["rows"] == 260 and end["ms"] == pytest.approx(90 + 20 * 0.26)
    assert (end["one"], end["other"]) == (pytest.approx(80 + 40 * 0.26), pytest.approx(95 + 10 * 0.26))
    assert band["encoding"]["y2"] == {"field": "other"}
    assert "A batch costs 90 ms (80 ms to 95 ms) whatever its rows, and 20 ms more for each 1,000 rows." in chart.words
