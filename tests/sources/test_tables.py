"""Progress in tables: each batch a row or a column, its durations in cells."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.sources.formats import tables
from tests.sources.reading import Scanned, scanned
from tests.sources.variants import made

DAY = "2024-05-03T08:11:0{}.137Z"
PHASES = [
    {"triggerExecution": 880 + n, "addBatch": 210 + n, "commitOffsets": 310, "latestOffset": 8, "walCommit": 330}
    for n in range(4)
]
ROWS: list[dict[str, Any]] = [
    {"batchId": 100 + n, "timestamp": DAY.format(n), "numInputRows": 1500, **phases} for n, phases in enumerate(PHASES)
]
MAPS: list[dict[str, Any]] = [
    {"batchId": 100 + n, "timestamp": DAY.format(n), "durationMs": phases, "sink": "ForeachBatchSink"}
    for n, phases in enumerate(PHASES)
]
FRAME, MAPPED = pd.DataFrame(ROWS), pd.DataFrame(MAPS)
EVENTS = [{**made()[1], "batchId": 100 + n, "timestamp": DAY.format(n), "durationMs": PHASES[n]} for n in range(4)]


def written(rows: Sequence[dict[str, Any]], **how: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, **how)
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return text.getvalue()


def shown(rows: Sequence[dict[str, Any]], bar: str = "|", corner: str = "+") -> str:
    """A table as `df.show(truncate=False)` prints it."""
    lines = [[*rows[0]], *([str(cell) for cell in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        bar + bar.join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)) + bar for line in lines
    ]
    ruler = corner + corner.join("-" * width for width in widths) + corner
    return "\n".join([ruler, text[0], ruler, *text[1:], ruler, "only showing top 4 rows"])


def as_scala(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {**row, "durationMs": f"{{{', '.join(f'{key} -> {ms}' for key, ms in row['durationMs'].items())}}}"}
        for row in rows
    ]


def renamed(name: Callable[[str], str], rows: Sequence[dict[str, Any]] = ROWS) -> list[dict[str, Any]]:
    return [{name(key) if key in PHASES[0] else key: cell for key, cell in row.items()} for row in rows]


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name) + "_ms"


FLAT = pd.json_normalize(EVENTS)
FORMS = {
    "CSV": written(ROWS),
    "CSV with an index and a mark of its encoding": "\ufeff" + FRAME.to_csv(),
    "CSV with semicolons": written(ROWS, delimiter=";"),
    "all quoted": written(ROWS, quoting=csv.QUOTE_ALL),
    "pasted from a sheet": written(ROWS, delimiter="\t"),
    "thousands": written([{k: f"{v:,}" if k in PHASES[0] else v for k, v in row.items()} for row in ROWS]),
    "units in the head": written(renamed("{} (ms)".format)),
    "units in the cells": written([{k: f"{v} ms" if k in PHASES[0] else v for k, v in row.items()} for row in ROWS]),
    "seconds": written(
        renamed("{} (s)".format, [{k: v / 1000 if k in PHASES[0] else v for k, v in row.items()} for row in ROWS])
    ),
    "this project's columns": written(renamed(snake)),
    "paths": written(renamed("progress.durationMs.{}".format)),
    "elements of a map": written(renamed("durationMs[{}]".format)),
    "columns that never have a value": written([{**row, "getBatch": "NaN", "queryPlanning": ""} for row in ROWS]),
    "df.show()": shown(ROWS),
    "df.show() in prose": f"We did this:\n\n{shown(ROWS)}\n\nWhy, and what does addBatch mean?\n",
    "df.show() with a map": shown(as_scala(MAPS)),
    "Markdown": shown(ROWS, corner="|"),
    "Markdown with remarks on what its numbers are of": shown(
        [{{"numInputRows": "numInputRows (this batch)"}.get(k, k): v for k, v in row.items()} for row in ROWS],
        corner="|",
    ),
    "Markdown without outer bars": "\n".join(line.strip("|") for line in shown(ROWS, corner="|").split("\n")),
    "lines of a box": shown(ROWS, bar="│", corner="┼").replace("-", "─").replace("2024─05─03", "2024-05-03"),
    "show(vertical=True)": "\n".join(
        f"-RECORD {n}------\n" + "\n".join(f" {key:16} | {cell}" for key, cell in row.items())
        for n, row in enumerate(ROWS)
    ),
    "each batch a column": "\n".join(f"{key} | " + " | ".join(str(row[key]) for row in ROWS) for key in ROWS[0]),
    "a frame": FRAME.to_string(),
    "a frame without index": FRAME.to_string(index=False),
    "a frame, folded": FRAME.to_string(line_width=70),
    "a frame turned": FRAME.T.to_string(),
    "a map in CSV, as Python prints it": MAPPED.to_csv(index=False),
    "a map in CSV, as JSON": written([{**row, "durationMs": json.dumps(row["durationMs"])} for row in MAPS]),
    "a map in tabs": written(as_scala(MAPS), delimiter="\t"),
    "a map as pairs": written([{**row, "durationMs": [*row["durationMs"].items()]} for row in MAPS]),
    "a frame of progress": pd.DataFrame(EVENTS).to_string(),
    "a frame of progress as CSV": pd.DataFrame(EVENTS).to_csv(),
    "flattened": FLAT.to_string(),
    "flattened, CSV": FLAT.to_csv(),
    "flattened, JSON lines": FLAT.to_json(orient="records", lines=True),
    "flattened, JSON": FLAT.to_json(orient="records", indent=2),
    "flattened, Python": str(FLAT.to_dict("records")),
    "flattened in an envelope": "\n".join(
        json.dumps({"timestamp": 5, "result": {f"progress.{key}": cell for key, cell in row.items()}})
        for row in FLAT.to_dict("records")
    ),
    "key=value": "\n".join("INFO " + " ".join(f"{key}={cell}" for key, cell in row.items()) for row in ROWS),
}


def told(found: Scanned) -> list[tuple[Any, ...]]:
    columns = ("batch_id", "trigger_execution_ms", "add_batch_ms", "commit_offsets_ms", "wal_commit_ms")
    return list(zip(*(found.table[column].to_pylist() for column in columns), strict=True))


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_table_is_read_in_whatever_form(text: str) -> None:
    found = scanned(text.encode())
    assert told(found) == [(100 + n, 880 + n, 210 + n, 310, 330) for n in range(4)]
    assert found.batch_ids == []
    assert len(set(found.table["run_id"].to_pylist())) == 1
    assert len(found.broken) == 4


def test_what_a_table_does_not_have_is_missing_and_not_none() -> None:
    found = scanned(FORMS["CSV"].encode())
    assert {lacks for _, lacks in found.partial} == {"id,durationMs,eventTime,stateOperators,sources,sink"}
    mapped = scanned(FORMS["a map in CSV, as JSON"].encode())
    assert {lacks for _, lacks in mapped.partial} == {"id,numInputRows,eventTime,stateOperators,sources"}
    assert mapped.table["sink"].to_pylist() == ["ForeachBatchSink"] * 4


def test_a_frame_of_progress_lacks_nothing() -> None:
    found = scanned(FORMS["a frame of progress as CSV"].encode())
    assert {lacks for _, lacks in found.partial} == {""}
    assert set(found.table["id"].to_pylist()) == {EVENTS[0]["id"]}


def test_the_clock_of_an_envelope_is_not_that_of_the_trigger() -> None:
    text = '{"timestamp": "2024-05-03T08:11:00Z", "p.durationMs.addBatch": 2, "p.durationMs.triggerExecution": 3}'
    assert scanned(text.encode()).table["timestamp"].to_pylist() == [None]


def test_a_table_that_is_cut_is_read_as_far_as_it_goes() -> None:
    text = FORMS["CSV"]
    assert told(scanned(text[: -len("310,8,330\r\n")].encode()))[-1] == (103, 883, 213, None, None)
    assert len(scanned(text[: text.index("880")].encode()).table) == 0


def test_a_number_that_was_cut_is_no_trigger() -> None:
    assert len(scanned(b"batchId,addBatch,triggerExecution\n7,210,88").table) == 0


STATISTICS = FRAME[[*PHASES[0]]].describe()


@pytest.mark.parametrize("text", [STATISTICS.to_string(), STATISTICS.to_csv(), STATISTICS.T.to_string()])
def test_of_statistics_the_typical_batch_is_taken(text: str) -> None:
    assert told(scanned(text.encode())) == [(None, 882, 212, 310, 330)]


def test_a_row_that_sums_up_is_no_batch() -> None:
    total = f"{FORMS['pasted from a sheet']}mean\t\t\t882\t212\t310\t8\t330\n"
    assert len(scanned(total.encode()).table) == 4


def test_two_tables_are_two_runs() -> None:
    table = "addBatch\ttriggerExecution\n{}\t{}\n"
    found = scanned(f"Before:\n{table.format(210, 880)}\nAfter:\n{table.format(90, 120)}".encode())
    assert found.table["add_batch_ms"].to_pylist() == [210, 90]
    assert len(set(found.table["run_id"].to_pylist())) == 2


ODD = {
    "two statistics": "phase | avg ms | p95 ms\naddBatch | 210 | 500\ntriggerExecution | 880 | 2200\n",
    "shares": "| phase | ms | % |\n|-|-|-|\n| addBatch | 210 | 24 % |\n| triggerExecution | 880 | 100 % |\n",
    "a phase and its time": "phase,ms\naddBatch,210\ntriggerExecution,880\n",
    "bold": "| **addBatch** (ms) | **triggerExecution** (ms) |\n|---|---|\n| **210** | ~880 |\n",
    "a decimal comma": "addBatch;triggerExecution\n210,0;880,0\n",
    "seconds": "addBatch,triggerExecution\n0.21 s,0.88 s\n",
    "the length that Spark tells beside its phases": "batchDuration,addBatch,walCommit\n880,210,330\n",
    "phases of Spark's chart": "addBatch,walCommit,queryPlanning\n210,600,70\n",
    "a database": " add_batch | trigger_execution\n-----------+-------\n       210 |   880\n(1 row)\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_an_odd_table_is_read(text: str) -> None:
    assert [row[1:3] for row in told(scanned(text.encode()))] == [(880, 210)]


def test_of_aggregates_the_mean_is_taken() -> None:
    head = "avg(addBatch),max(addBatch),avg(triggerExecution),max(triggerExecution)"
    assert [row[1:3] for row in told(scanned(f"{head}\n210.0,500,880.4,2200\n".encode()))] == [(880, 210)]


def test_what_a_table_leaves_out_tells_no_version(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(FORMS["a map in CSV, as JSON"])
    (query,) = advisor.analyze(path).data["queries"]
    assert query["facts"]["spark_version_at_least"]["value"] == "3.4"
    assert query["facts"]["spark_version_below"]["value"] is None
    assert query["window"]["batches"] == 4


def test_before_and_after_are_two_runs() -> None:
    found = scanned(b"phase | before | after\naddBatch | 210 | 90\ntriggerExecution | 880 | 120\n")
    assert found.table["add_batch_ms"].to_pylist() == [210, 90]
    assert len(set(found.table["run_id"].to_pylist())) == 2


def test_thousands_with_a_point_may_be_fractions() -> None:
    assert len(scanned(b"addBatch;triggerExecution\n1.210;1.880\n").table) == 0


def test_a_map_that_was_cut_is_told_and_not_judged() -> None:
    cut = shown([{"batchId": 100, "durationMs": "{addBatch -> 210,..."}])
    found = scanned(cut.encode())
    assert len(found.table) == 0
    assert found.reasons == ["batch 100, addBatch 210 ms"]


NO_TABLES = [
    "addBatch, walCommit and triggerExecution are phases, says a page\n1, 2, 3\n",
    "addBatch,walCommit\n210,330\n",
    "select addBatch, triggerExecution from progress\n",
    "batchId,durationMs\n100,880\n",
]


@pytest.mark.parametrize("text", NO_TABLES)
def test_prose_is_no_table(text: str) -> None:
    assert len(scanned(text.encode()).table) == 0


def test_an_event_goes_before_a_table() -> None:
    found = scanned(f"{FORMS['CSV']}\n{json.dumps(EVENTS[1])}\n".encode())
    assert (found.batch_ids, found.partial) == ([101], [])


cells = st.one_of(
    st.integers(0, 10**7), st.sampled_from(["", "NaN", "null", "-", "…", "x", "1.5", '"', "|", "{", "\x00"])
)


@given(st.lists(st.tuples(cells, cells, cells, cells), max_size=6), st.sampled_from([",", "\t", ";", " | ", "  "]))
def test_whatever_stands_in_a_table_only_whole_numbers_are_read(rows: list[tuple[Any, ...]], between: str) -> None:
    head = between.join(["batchId", "addBatch", "walCommit", "triggerExecution"])
    text = "\n".join([head, *(between.join(map(str, row)) for row in rows)])
    given_numbers = {number for row in rows for number in row if isinstance(number, int)} | {2}
    for row in scanned(text.encode()).table.to_pylist():
        assert row["add_batch_ms"] <= row["trigger_execution_ms"]
        assert {row["add_batch_ms"], row["trigger_execution_ms"]} <= given_numbers


@given(st.text(alphabet="addBatch triggerExecution,|\t;{}[]\"'\n:0129.-\\=>", max_size=300))
def test_nothing_that_looks_like_a_table_stops_the_reading(text: str) -> None:
    scanned(f"batchId,addBatch,triggerExecution\n{text}".encode())


def test_a_table_that_is_longer_than_what_is_looked_at_for_its_head(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MOST", 200)
    rows = [ROWS[0] | {"batchId": number} for number in range(100)]
    assert len(scanned(written(rows).encode()).table) == 100


@pytest.mark.parametrize("key", ["addBatchMs", "ADD_BATCH_MS", "add_batch", "durationMs.addBatch"])
def test_flattened_keys_in_any_case(key: str) -> None:
    texts = [f'{{"batchId": {n}, "triggerExecution": 300, "{key}": {200 + n}}}' for n in range(3)]
    found = scanned("\n".join(texts).encode()).table
    assert found["add_batch_ms"].to_pylist() == [200, 201, 202]
    assert len(set(found["run_id"].to_pylist())) == 1


SOURCE = """
"description" : "KafkaV2[Subscribe[views]]",
"startOffset" : {"views" : {"0" : 1000, "1" : 2000}},
"endOffset" : {"views" : {"0" : 1500, "1" : 2500}},
"latestOffset" : {"views" : {"0" : 6500, "1" : 7500}},
"numInputRows" : 1000,
"inputRowsPerSecond" : 99.8,
"processedRowsPerSecond" : 100.4
"""


@pytest.mark.parametrize("text", [SOURCE, f"{{{SOURCE}}}", f"The source:\n```\n{SOURCE}```\nWhy so slow?"])
def test_the_members_of_a_source_alone_tell_what_waits_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "paste.txt").write_text(text)
    (query,) = json.loads(advisor.analyze(str(tmp_path / "paste.txt")).to_json())["queries"]
    assert query["facts"]["source"]["value"] == "kafka"
    assert query["facts"]["kafka_partitions"]["value"] == 2
    assert "10,000 rows wait in the source" in query["verdict"]


PEOPLE = {
    "Markdown": "| Batch | Rows | Processing time |\n|---|---|---|\n| 4 | 700 | ~21 sec |\n| 5 | 1,300 | 34.5 s |\n",
    "a unit in the head": "Batch ID,Records,Duration (ms)\n4,700,21000\n5,1300,34500\n",
    "HTML": "<table>\n<tr><th>Batch</th><th>Events</th>\n<th>Batch duration</th></tr>\n<tr><td><b>4</b></td><td>700"
    "</td><td>21&nbsp;s</td></tr>\n<tr><td>5</td><td>1,300</td><td>34,500 ms</td></tr></table>\n",
}


@pytest.mark.parametrize("text", PEOPLE.values(), ids=PEOPLE)
def test_a_table_in_people_s_words_tells_the_length_of_batches(text: str) -> None:
    found = scanned(f"Our Spark stream with foreachBatch:\n\n{text}".encode())
    assert found.table["input_rows"].to_pylist() == [700, 1300]
    assert found.table["trigger_execution_ms"].to_pylist() == [21000, 34500]


def test_a_length_without_a_unit_and_batches_of_no_stream_are_not_read() -> None:
    assert len(scanned(b"A Spark stream:\nBatch,Rows,Duration\n4,700,21\n").table) == 0
    assert len(scanned(b"Loads of the warehouse:\nBatch,Rows,Duration\n4,700,21 s\n").table) == 0
    assert len(scanned(b"A Spark stream:\nBatch,Rows,Processing time limit\n4,700,21 s\n").table) == 0
    assert len(scanned(b"Our nightly Spark jobs:\nBatch,Rows,Processing time\n4,700,21 min\n").table) == 0


@pytest.mark.parametrize(
    "row",
    ["addBatch (writing) | 210 ms", "`addBatch` (foreachBatch) | **210**", "| **addBatch** | 210 ms, 24 % |"],
)
def test_words_behind_a_phase_s_name_are_none_of_it(row: str) -> None:
    found = scanned(f"{row}\nwalCommit | 15-24 ms\n**`triggerExecution` total** | 880 ms\n".encode())
    assert [each[1:3] for each in told(found)] == [(880, 210)]
    assert found.reasons == ["addBatch 210 ms, triggerExecution 880 ms; walCommit 15-24 ms is a range: no number of it "
                             "is taken"]  # fmt: skip


@pytest.mark.parametrize("remark", ["(max)", "(share)", "(s)", "(first batch)", "(before)", "total"])
def test_words_by_which_a_number_is_another_are_heeded(remark: str) -> None:
    assert len(scanned(f"addBatch {remark} | 210\ntriggerExecution | 880\n".encode()).table) == 0


def test_phases_with_remarks_in_a_table_of_columns() -> None:
    text = "phase | note | ms\naddBatch (write) | sink | 210\nwalCommit | log | 15-24\nTotal triggerExecution | | 880\n"
    assert [each[1:3] for each in told(scanned(text.encode()))] == [(880, 210)]


def test_phases_of_which_one_is_a_range_are_not_summed() -> None:
    text = "addBatch,walCommit,queryPlanning,latestOffset\n210,600,70,10-20\n"
    assert len(scanned(text.encode()).table) == 0


def test_a_table_of_html_with_a_phase_in_each_row() -> None:
    rows = "".join(f"<tr><td>{name}</td><td>{ms} ms</td></tr>" for name, ms in (("addBatch", 210),
                   ("walCommit", 330), ("triggerExecution", 880)))  # fmt: skip
    assert [each[1:3] for each in told(scanned(f"<table class='a'>{rows}</table>".encode()))] == [(880, 210)]


@pytest.mark.parametrize(
    "unit",
    ["<table>", "<tr>", "<td", "<table><tr><td>", "addBatch (", "addBatch (a)|", "addBatch 1-", "batch duration ",
     "batch,rows,duration\n", "1 s-", "triggerExecution total ",
     "addBatch spark batch duration\n<table>" + 19_000 * "<td <"],
)  # fmt: skip
def test_a_long_text_of_odd_tables_is_read_once(unit: str) -> None:
    """Patterns that took the square of its length would take minutes here."""
    scanned(f"spark {unit * (100_000 // len(unit))}".encode())


def test_a_table_with_cells_over_several_rows_is_not_read() -> None:
    text = PEOPLE["HTML"].replace("<td><b>4</b>", '<td rowspan="2"><b>4</b>')
    assert len(scanned(f"Our Spark stream with foreachBatch:\n\n{text}".encode()).table) == 0
