"""Records that were cut, shortened or written by hand: read as far as they go, and nothing guessed."""

from __future__ import annotations

import json
import re
from pprint import pformat
from typing import Any

import pytest

from advisor.batches import Reading
from advisor.progress.partial import Fragment, of_fragment
from tests.sources.reading import scanned
from tests.sources.variants import made, pretty

EVENT = made()[1]
TEXT = pretty(EVENT)
HEAD = TEXT.index('"stateOperators"')


def each_line(text: str, before: str, behind: str = "") -> str:
    return "\n".join(f"{before}{line}{behind}" for line in text.split("\n"))


def in_quotes(text: str, quote: str = '"', behind: str = " +") -> str:
    lines = [json.dumps(line + "\n")[1:-1] for line in text.split("\n")]
    if quote == "'":
        lines = [line.replace('\\"', '"') for line in lines]
    return "String json = " + f"{behind}\n        ".join(f"{quote}{line}{quote}" for line in lines) + ";"


def elided(text: str) -> str:
    return re.sub(r'  "stateOperators" : .*', "  ...\n}", text, flags=re.DOTALL)


NOTHING_LOST = {
    "no last brace": TEXT[:-2],
    "no first brace": TEXT[2:],
    "trailing commas": re.sub(r"\n( *)([}\]])", r",\n\1\2", TEXT)[:-2],
    "notes": TEXT.replace('"batchId" : 11,', '"batchId" : 11,   // the second').replace("{\n", "{ # opens\n", 1),
    "arrows to notes": TEXT.replace('"batchId" : 11,', '"batchId" : 11, <- the second').replace(
        "{\n", "{ <-- opens\n", 2
    ),
    "other arrows to notes": TEXT.replace('"runId"', '"x" : 1, ← "runId" : 5\n  "runId"', 1),
    "a block of notes": TEXT.replace('"batchId"', '/* see "runId" : 5 */ "batchId"'),
    "Java strings": in_quotes(TEXT[:-2]),
    "Java strings, plus in front": in_quotes(TEXT[:-2], behind="\n    +").replace("+\n", "+ "),
    "Python strings": in_quotes(TEXT[:-2], quote="'", behind=""),
    "scaladoc": "/**\n" + each_line("```\n" + TEXT[:-2] + "\n```", "    * ") + "\n    */",
    "long quotes around one line": 'val p = """' + re.sub(r"\n *", " ", TEXT)[:-2],
    "long quotes around the first of two lines": 'val p = """' + " ".join(TEXT[:HEAD].split()) + "\n" + TEXT[HEAD:-2],
    "margin": '"""' + each_line(TEXT[:-2], "    |") + '\n""".stripMargin',
    "hashes": each_line(TEXT[:-2], "# "),
    "slashes, indented": each_line(TEXT[:-2], "    //   "),
    "CRLF": TEXT[:-2].replace("\n", "\r\n"),
    "colours": TEXT[:-2].replace('"batchId"', '\x1b[32m"batchId"\x1b[0m'),
    "no quotes around keys": re.sub(r'"(\w+)" :', r"\1 :", TEXT),
    "pprint": "# " + pformat(EVENT, width=60)[:-1].replace("\n", "\n#"),
}


@pytest.mark.parametrize("text", NOTHING_LOST.values(), ids=NOTHING_LOST)
def test_what_lost_only_its_form_lacks_nothing(text: str) -> None:
    found = scanned(f"He wrote:\n\n{text}\n\nand asked why.\n".encode())
    assert (found.batch_ids, found.partial) == ([], [(11, "")])
    (row,) = found.table.to_pylist()
    assert (row["add_batch_ms"], row["trigger_execution_ms"], row["commit_offsets_ms"]) == (220, 300, 31)
    assert [operator["commit_ms"] for operator in row["operators"]] == [90]
    assert [source["end_offset"] for source in row["sources"]] == ['{"orders":{"0":15,"1":25}}']
    assert row["sink"] == "ForeachBatchSink"


LACKING = {
    "ends behind its durations": (TEXT[:HEAD], "eventTime,stateOperators,sources,sink"),
    "ends in a key": (TEXT[: TEXT.index('"metrics"') + 4], "sources,sink"),
    "ends in an operator": (TEXT[: TEXT.index('"memoryUsedBytes"')], "stateOperators,sources,sink"),
    "shortened": (elided(TEXT), "eventTime,stateOperators,sources,sink"),
    "shortened by a sign": (elided(TEXT).replace("...", "…"), "eventTime,stateOperators,sources,sink"),
    "shortened before its operators": (
        TEXT.replace('  "stateOperators"', '  ...\n  "stateOperators"').replace('"eventTime"', '"x"'),
        "eventTime",
    ),
    "shortened by a string": (elided(TEXT).replace("...", '"...",'), "eventTime,stateOperators,sources,sink"),
    "rows shortened": (re.sub(r'"numInputRows" : .*', "...", TEXT), "numInputRows,sources"),
    "rows shortened, but those of the source": (re.sub(r'  "numInputRows" : .*', "  ...", TEXT, count=1), ""),
    "no timestamp": (re.sub(r'  "timestamp" : .*\n', "", TEXT)[:-2], "timestamp"),
    "an array that is cut": (f'res7: Array[StreamingQueryProgress] =\nArray({TEXT[:HEAD]}  "stateOpera...', None),
}


@pytest.mark.parametrize(("text", "lacks"), LACKING.values(), ids=LACKING)
def test_what_is_missing_is_named(text: str, lacks: str | None) -> None:
    found = scanned(f"He wrote:\n\n{text}\n```\n".encode())
    assert (found.batch_ids, len(found.broken)) == ([], 1)
    assert found.partial == [(11, "eventTime,stateOperators,sources,sink" if lacks is None else lacks)]
    (row,) = found.table.to_pylist()
    assert row["trigger_execution_ms"] == 300
    assert [operator["commit_ms"] for operator in row["operators"]] == [90] * ('"commitTimeMs"' in text)


CUT_NUMBERS = [
    '{"id": "a", "durationMs": {"addBatch": 12', '{"id": "a", "durationMs": {"addBatch": 12...',
    '{"id": "a", "durationMs": {"addBatch": 12\n26/03/01 02:00:01 INFO Foo: bar',
    '{"id": "a", "durationMs": {"addBatch": 12 …', '{"id": "a", "durationMs": {"addBatch": 12,345}',
]  # fmt: skip


@pytest.mark.parametrize("text", CUT_NUMBERS)
def test_a_number_that_may_be_cut_is_not_read(text: str) -> None:
    assert Fragment(text).thing == {"id": "a", "durationMs": {}}


def test_a_number_with_a_comma_is_not_read_nor_is_a_record_in_other_text() -> None:
    assert Fragment('{"a" : 184,938,\n "c" : 1}').thing == {"c": 1}
    for text in ("{'color': 'red', 'size': 5}", '{"durationMs": {"addBa', "{", ""):
        assert of_fragment(Fragment(text)) is None


def test_the_next_record_is_not_taken_for_more_of_this_one() -> None:
    cut = TEXT[: TEXT.index('"walCommit"')]
    fragment = Fragment(f"{cut}\n26/03/01 INFO x: progress: {TEXT}")
    assert fragment.thing["durationMs"].keys() == {"latestOffset", "getBatch", "queryPlanning"}
    assert "durationMs" in fragment.lacks


def test_durations_that_are_cut_are_told_and_not_judged() -> None:
    cut = TEXT[: TEXT.index('"addBatch"')]
    found = scanned(each_line(f"{cut}\n...", "# ").encode())
    assert len(found.table) == 0
    (record,) = found.broken
    assert record.lacks is not None
    assert "durationMs" in record.lacks
    assert record.reason.startswith("batch 11, 10 rows, latestOffset 4 ms")


@pytest.mark.parametrize("before", ['"addBatch"', '"walCommit"'])
@pytest.mark.parametrize("into", [0, 6], ids=["before a key", "inside a key"])
def test_records_that_are_all_cut_among_their_durations_are_not_taken_for_rows_of_a_table(
    before: str, into: int
) -> None:
    cut = TEXT[: TEXT.index(before) + into]
    records = [cut.replace('"batchId" : 11', f'"batchId" : {number}') for number in range(20)]
    found = scanned("".join(f"26/03/01 02:00:00 INFO x: made progress: {each}\n" for each in records).encode())
    assert len(found.table) == 0
    assert [reason.partition(",")[0] for reason in found.reasons] == [f"batch {number}" for number in range(20)]


def without(part: str, events: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: value for key, value in each.items() if key != part} for each in events]


@pytest.mark.parametrize(
    "form",
    [
        lambda events: "\n".join(json.dumps(each) for each in events),
        lambda events: "\n".join(json.dumps(each, indent=2) for each in events),
        lambda events: json.dumps({"app": "ingest", "metrics": events[0]}, indent=4),
        lambda events: f"it printed {events!r}",
    ],
    ids=["JSON lines", "pretty", "inside another object", "a printed list"],
)
@pytest.mark.parametrize("misspelt", [False, True])
def test_a_whole_record_that_leaves_its_state_out_is_not_that_of_a_query_without(form: Any, misspelt: bool) -> None:
    events = without("stateOperators", made(2))
    if misspelt:
        events = [{**each, "stateOperator": [{"numRowsTotal": 40}]} for each in events]
    found = scanned(form(events).encode())
    assert found.batch_ids == []
    assert found.partial
    assert {lacks for _, lacks in found.partial} == {"stateOperators"}


def test_a_record_with_no_state_operator_is_whole() -> None:
    events = [{**each, "stateOperators": []} for each in made(2)]
    assert scanned("\n".join(json.dumps(each) for each in events).encode()).batch_ids == [10, 11]


def test_a_map_of_durations_is_told_as_one() -> None:
    partial = of_fragment(Fragment("{triggerExecution=122, addBatch=36, walCommit=10}"))
    assert partial is not None
    assert partial.event is not None
    assert set(partial.lacks) >= {"id", "timestamp", "numInputRows", "stateOperators", "sources", "sink"}
    assert partial.says == "triggerExecution 122 ms, addBatch 36 ms"


OFFSETS = {
    "a name": '"endOffset" : _END_OFFSET,',
    "a call": '"endOffset" : json.dumps(end),',
    "shortened": '"endOffset" : { "orders" : { "0" : 15, ... } },',
}


@pytest.mark.parametrize("offset", OFFSETS.values(), ids=OFFSETS)
def test_an_offset_that_cannot_be_read_is_there_and_the_rest_of_its_source_is_kept(offset: str) -> None:
    found = scanned((re.sub(r'"endOffset" : \{.*?\}\s*\},', offset, TEXT, count=1, flags=re.DOTALL)[:-2]).encode())
    assert found.partial == [(11, "")]
    (source,) = found.table["sources"].to_pylist()[0]
    assert (source["end_offset"], source["input_rows"]) == ('"not told"', 10)


def test_an_operator_that_is_shortened_keeps_what_stands_in_it() -> None:
    text = '{"id": "a", "durationMs": {"addBatch": 220, "triggerExecution": 300}, "stateOperators": [{\n…\n%s,\n…\n}]}'
    found = scanned((text % '"commitTimeMs": 90').encode())
    (row,) = found.table.to_pylist()
    assert [(one["commit_ms"], one["rows_total"]) for one in row["operators"]] == [(90, None)]


def test_records_that_name_no_batch_are_no_copies_of_each_other() -> None:
    piece = '  "numInputRows" : 199,\n  "durationMs" : {"addBatch" : %d, "triggerExecution" : %d}\n'
    first, second = piece % (220, 264), piece % (48, 92)
    found = scanned(f"Before:\n```\n{first}```\nAfter:\n```\n{second}```\n".encode())
    assert found.table["add_batch_ms"].to_pylist() == [220, 48]
    merged = Reading.merge([Reading.of(found.table), Reading.of(found.table)])
    assert (len(merged.batches), merged.duplicates) == (2, 2)


def test_a_whole_record_stays_beside_a_partial_one_in_one_piece_and_in_blocks() -> None:
    first, second, third = made()
    raw = "\n".join(["one", pretty(first), "two", pretty(second)[:-2], "three", pretty(third)]).encode()
    for found in (scanned(raw), scanned(raw, 500)):
        assert (found.batch_ids, found.partial) == ([10, 12], [(11, "")])


@pytest.mark.parametrize(("opens", "closes"), [('String text = "', '";'), ('let text = r#"', '"#;'), ("text = '", "'")])
def test_a_record_in_one_string_of_a_program_is_read(opens: str, closes: str) -> None:
    escaped = TEXT.replace('"', '\\"').replace("\n", "\\n")
    found = scanned(f"{opens}{escaped}{closes}\n".encode())
    assert found.table["batch_id"].to_pylist() == [11]


@pytest.mark.parametrize("lost", ["runId", "id", "id|runId"])
def test_a_record_that_lost_its_ids_is_of_the_query_that_others_show(lost: str) -> None:
    texts = [pretty({**event, "name": "orders"}) for event in made()]
    texts[0] = re.sub(rf'\n  "(?:{lost})" : .*', "", texts[0])
    read = Reading.of(scanned("\n".join(f"made progress: {text}" for text in texts).encode()).table).batches
    assert len(read) == 3
    for name in ("id", "runId"):
        assert read[{"runId": "run_id"}.get(name, name)].unique().to_pylist() == [EVENT[name]]
