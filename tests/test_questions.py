"""Logs as people bring them: what the report says of each, and what it must not say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.batches import Reading
from advisor.sources import files
from advisor.views.in_short import no_step
from advisor.views.selection import selections
from advisor.views.terminal import report_as_text
from tests.cluster.apart import read_apart
from tests.made import event
from tests.sources.variants import KAFKA, STATE, compact, pretty

OLD_STATE = {"numRowsTotal": 60, "numRowsUpdated": 60, "memoryUsedBytes": 1000}
PINNED = (
    "26/03/01 02:00:02 INFO MicroBatchExecution: Committed offsets for batch 1. Metadata OffsetSeqMetadata(0,1,"
    "Map(spark.sql.shuffle.partitions -> 200))"
)
MARK = "26/03/01 02:00:01 INFO MicroBatchExecution: Streaming query made progress: "
BEHIND = "WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is {}, but spent {}"


def batch(number: int, **row: Any) -> dict[str, Any]:
    """One event of a Kafka query of an old Spark."""
    usual = {
        "triggerExecution": 9906, "addBatch": 9291, "getBatch": 3, "getOffset": 1, "queryPlanning": 391,
        "walCommit": 173, "numInputRows": 1832, "sources": [KAFKA], "sink": "ConsoleSink",
    }  # fmt: skip
    return event(number, 60_000 * number, 10_000, usual | row)


FIRST = {"triggerExecution": 16878, "addBatch": 12713, "getOffset": 3308, "queryPlanning": 531, "numInputRows": 7440}


def report(folder: Path, *lines: str) -> advisor.report.Report:
    path = folder / "asked.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return advisor.analyze(path)


def told(folder: Path, *lines: str) -> dict[str, Any]:
    data: dict[str, Any] = report(folder, *lines).data
    return data


def only(data: dict[str, Any]) -> dict[str, Any]:
    (query,) = data["queries"]
    found: dict[str, Any] = query
    return found


def value(query: dict[str, Any], fact: str) -> Any:
    return query["facts"][fact]["value"]


def test_a_first_batch_that_is_cut_is_taken_apart(tmp_path: Path) -> None:
    text = pretty(batch(0, operators=[OLD_STATE], **FIRST))
    data = told(tmp_path, MARK + text[: text.index('"sources"')])
    query = only(data)
    assert (data["input"]["events"], data["input"]["broken"], len(data["input"]["partial"])) == (0, [], 1)
    assert data["input"]["partial"][0]["lacks"] == ["sources", "sink"]
    assert query["verdict"].startswith("First batch after a start: 16.9 s for 7,440 rows: addBatch 12.7 s")
    assert "getOffset 3.3 s (discovery)" in query["verdict"]
    assert "judge later ones" in query["verdict"]
    assert (value(query, "stateful"), value(query, "sink"), value(query, "source")) == (True, None, None)
    assert "saves" not in query["verdict"]


@pytest.mark.parametrize(("rows", "told_of"), [(3, True), (7440, False)])
def test_a_long_first_batch_of_few_rows_names_the_default_of_state_partitions(
    tmp_path: Path, rows: int, told_of: bool
) -> None:
    text = pretty(batch(0, operators=[OLD_STATE], **FIRST) | {"numInputRows": rows})
    query = only(told(tmp_path, MARK + text[: text.index('"sources"')]))
    assert ("200 by default" in query["verdict"]) is told_of


def test_what_is_missing_is_not_taken_for_absent(tmp_path: Path) -> None:
    text = pretty(batch(7))
    query = only(told(tmp_path, "He saw:", text[: text.index('"stateOperators"')], "```"))
    assert [value(query, fact) for fact in ("stateful", "sink", "source", "watermarked")] == [None] * 4
    assert any("state operators" in limit and "missing" in limit for limit in query["limits"])
    assert query["metrics"]["state_commit_wall_ms"]["missing"] == "partial record: state operators missing"
    assert query["window"]["batches"] == 1


def test_a_whole_record_without_operators_is_stateless(tmp_path: Path) -> None:
    assert value(only(told(tmp_path, pretty(batch(7)))), "stateful") is False


def test_partial_records_give_low_confidence(tmp_path: Path) -> None:
    slow = {"walCommit": 4000, "addBatch": 5000}
    texts = [pretty(batch(number, **slow))[:-2] for number in range(5, 45)]
    query = only(told(tmp_path, *texts))
    assert query["window"]["batches"] == 40
    assert {finding["confidence"] for finding in query["findings"]} == {"low"}


def test_partial_records_are_left_out_beside_enough_whole_ones(tmp_path: Path) -> None:
    whole = [MARK + pretty(batch(number)) for number in range(5, 25)]
    data = told(tmp_path, *whole, MARK + pretty(batch(25))[:-2], MARK + pretty(batch(26)))
    query = only(data)
    assert (data["input"]["events"], len(data["input"]["partial"]), query["window"]["batches"]) == (21, 1, 21)


@pytest.mark.parametrize(
    ("interval", "spent", "ms"),
    [
        ("1000 milliseconds", "10581 milliseconds", (1000, 10581, 10581)),
        ("30000 ms", "43341 ms", (30000, 43341, 43341)),
        ("500} milliseconds", "2200 milliseconds", (500, 2200, 2200)),
        ("{500} milliseconds", "{2200} milliseconds", (500, 2200, 2200)),
        ("2 s", "8000–18000 ms", (2000, 8000, 18000)),
        ("\n# 10000 milliseconds", "26676\n# milliseconds", (10000, 26676, 26676)),
    ],
)
def test_a_line_about_falling_behind_speaks(
    tmp_path: Path, interval: str, spent: str, ms: tuple[int, int, int]
) -> None:
    data = told(tmp_path, "#26/03/01 02:00:01 " + BEHIND.format(interval, spent))
    (entry,) = data["input"]["falling_behind"]
    assert (entry["interval_ms"], entry["low_ms"], entry["high_ms"], entry["first"]) == (*ms, "26/03/01 02:00:01")
    assert "latency-advisor log4j" in data["input"]["progress_needs"]
    assert "shuffle" not in entry["says"]


@pytest.mark.parametrize("split", [61, 1 << 20])
def test_ranges_tell_of_falling_behind_as_the_file_does(tmp_path: Path, split: int) -> None:
    line = f"26/03/01 02:00:01 {BEHIND.format('1000 ms', '5000 ms')}"
    for name, lines in {"warn": [line] * 4, "marked": [line, MARK + compact(batch(7)), line]}.items():
        (tmp_path / f"{name}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = [str(tmp_path / f"{name}.log") for name in ("marked", "warn")]
    told = [[(one.file, one.offset, one.spent_ms) for one in found.overruns] for found in _both(paths, split)]
    assert told[0] == told[1]
    assert [file for file, *_ in told[0]] == [paths[1]] * 4


def _both(paths: list[str], split: int) -> tuple[Reading, Reading]:
    return read_apart(paths, split), files.read(paths)


def test_lines_about_falling_behind_are_counted(tmp_path: Path) -> None:
    times = ("02:00:01", "02:00:12", "02:00:23")
    lines = [f"26/03/01 {at} {BEHIND.format('1000 ms', f'{n}000 ms')}" for n, at in enumerate(times, 5)]
    (entry,) = told(tmp_path, *lines)["input"]["falling_behind"]
    assert (entry["lines"], entry["median_ms"], entry["last"]) == (3, 6000, "26/03/01 02:00:23")
    assert entry["says"].startswith(
        "3 lines say that batches fall behind: 5.0 s to 7.0 s of work in an interval of 1.0 s"
    )
    assert "5.0 to 7.0 times the interval" in entry["says"]


def test_what_the_text_names_decides_the_likely_cause(tmp_path: Path) -> None:
    line = BEHIND.format("1000 ms", "5000 ms")
    shuffled = told(tmp_path, line, "// spark.sql.shuffle.partitions was 200")["input"]["falling_behind"][0]["says"]
    jdbc = told(tmp_path, line, "every batch reads the table by JDBC")["input"]["falling_behind"][0]["says"]
    assert "spark.sql.shuffle.partitions" in shuffled
    assert "JDBC" in jdbc
    assert "shuffle" not in jdbc


def test_a_structured_line_about_falling_behind(tmp_path: Path) -> None:
    line = (
        '{"ts":"2026-03-01T02:00:01.000Z","level":"WARN","msg":"Current batch is falling behind. The trigger '
        'interval is 500} milliseconds, but spent 2200 milliseconds",'
        '"context":{"elapsed_time":"2200","trigger_interval":"500"}}'
    )
    (entry,) = told(tmp_path, line)["input"]["falling_behind"]
    assert (entry["interval_ms"], entry["high_ms"], entry["first"]) == (500, 2200, "2026-03-01T02:00:01")


def test_an_idle_event_tells_of_state_and_its_stale_timings_are_not_judged(tmp_path: Path) -> None:
    idle = batch(1, operators=[STATE | {"commitTimeMs": 1163}], numInputRows=0)
    idle["durationMs"] = {"latestOffset": 7, "triggerExecution": 7}
    query = only(told(tmp_path, MARK + pretty(idle)))
    assert "idle" in query["verdict"]
    assert "stateStoreSave, 7 rows in 2 partitions" in query["verdict"]
    assert (value(query, "stateful"), query["findings"]) == (True, [])


def test_many_partitions_pinned_at_the_start_need_no_steady_batch(tmp_path: Path) -> None:
    query = only(told(tmp_path, MARK + pretty(batch(0, operators=[OLD_STATE, OLD_STATE], **FIRST)), PINNED))
    (finding,) = (each for each in query["findings"] if each["rule"] == "ST012")
    assert finding["says"].startswith("In the first batch after a start, state is spread over 200 partitions")
    assert all(step["saves_ms"] is None and step["saves_latency_ms"] is None for step in finding["steps"])
    assert any(limit.startswith("First batch after a start: 16.9 s") for limit in query["limits"])


@pytest.mark.parametrize(
    ("number", "hits", "found"),
    [(1, 400, True), (2, 800, True), (1, 8, False), (100, 400, False), (1, 402, False), (0, 400, False)],
)
def test_caches_show_the_default_number_of_partitions(tmp_path: Path, number: int, hits: int, found: bool) -> None:
    custom = {"loadedMapCacheHitCount": hits, "loadedMapCacheMissCount": 0}
    query = only(told(tmp_path, pretty(batch(number, operators=[OLD_STATE | {"customMetrics": custom}]))))
    assert any(each["rule"] == "ST012" for each in query["findings"]) is found


def test_caches_of_a_first_batch_count_from_its_start(tmp_path: Path) -> None:
    custom = {"loadedMapCacheHitCount": 200, "loadedMapCacheMissCount": 200}
    first = batch(13, operators=[OLD_STATE | {"customMetrics": custom}], **FIRST)
    del first["inputRowsPerSecond"]  # as Spark leaves it out behind a start
    query = only(told(tmp_path, pretty(first)))
    assert any(each["rule"] == "ST012" for each in query["findings"])


def test_the_caches_of_an_idle_trigger_tell_of_partitions_without_rows(tmp_path: Path) -> None:
    caches = {"loadedMapCacheHitCount": 1600, "loadedMapCacheMissCount": 0}
    idle = batch(5, operators=[OLD_STATE | {"numRowsTotal": 8, "customMetrics": caches}], numInputRows=0)
    verdict = only(told(tmp_path, pretty(idle | {"durationMs": {"getOffset": 0, "triggerExecution": 0}})))["verdict"]
    assert "8 rows in 200 partitions" in verdict and "spark.sql.shuffle.partitions" in verdict


def test_a_sink_that_is_cut_behind_its_description_is_known(tmp_path: Path) -> None:
    text = pretty(batch(7, sink="ForeachBatchSink"))
    assert value(only(told(tmp_path, text[: text.rindex("}") - 3])), "sink") == "foreach_batch"
    assert value(only(told(tmp_path, text[: text.rindex("Sink")])), "sink") is None


def test_an_idle_trigger_on_the_full_minute_shows_that_one_decides(tmp_path: Path) -> None:
    idle = batch(3, numInputRows=0) | {"durationMs": {"latestOffset": 5, "triggerExecution": 8}}
    aligned = only(told(tmp_path, pretty(idle | {"timestamp": "2026-03-01T08:33:00.001Z"})))
    other = only(told(tmp_path, pretty(idle | {"timestamp": "2026-03-01T08:33:07.001Z"})))
    assert ("full minute" in aligned["verdict"], "full minute" in other["verdict"]) == (True, False)


def test_a_record_without_durations_is_told(tmp_path: Path) -> None:
    data = told(
        tmp_path,
        "```jsonc",
        "{",
        '  "batchId": 1,',
        '  "numInputRows": 0,     // rows of this batch',
        '  "stateOperators": [ { "operatorName": "dedupe", "numRowsTotal": 342, ... } ],',
        '  "sink": { "description": "DeltaSink[s3a://lake/gold]" }',
        "}",
    )
    (record,) = data["input"]["partial"]
    assert record["says"] == "batch 1, 0 rows, state operator dedupe with 342 rows, sink DeltaSink[s3a://lake/gold]"
    assert {"durationMs", "stateOperators", "sources"} <= set(record["lacks"])
    assert data["queries"] == []


def test_an_event_whose_head_is_cut_off_says_nothing_of_batch_duration(tmp_path: Path) -> None:
    text = pretty(batch(17, triggerExecution=29400, addBatch=28700, walCommit=300, commitOffsets=200, queryPlanning=50))
    whole, headless = only(told(tmp_path, text)), only(told(tmp_path, text[text.index('"numInputRows"') :]))
    assert whole["facts"]["spark_version_below"]["value"] == "4.0"
    assert headless["facts"]["spark_version_below"]["value"] is None


def durations(ms: int, *more: str) -> str:
    """The piece of an event that people paste when they speak of durations."""
    told = ['"numInputRows" : 200', '"inputRowsPerSecond" : 20.0', '"processedRowsPerSecond" : 300.5']
    phases = f'"addBatch" : {ms - 80}, "queryPlanning" : 20, "latestOffset" : 1, "walCommit" : 9'
    return ",\n".join([*told, f'"durationMs" : {{ {phases}, "triggerExecution" : {ms} }}', *more])


SHORTLY = {"timestamp": "2026-03-01T02:07:03.217Z", "queryPlanning": 20,
           "sources": [{"description": "KafkaSource[Subscribe[in]]", "numInputRows": 1832}]}  # fmt: skip
APART = {"inputRowsPerSecond": 1832 / 9.734}


@pytest.mark.parametrize(("number", "said"), [(7, True), (1, False)])
def test_batches_that_lie_apart_let_records_wait_if_that_is_usual(tmp_path: Path, number: int, said: bool) -> None:
    """After the first, cold batch the second may only have waited for its end."""
    short = batch(number, triggerExecution=900, addBatch=800, walCommit=30, **SHORTLY) | APART
    words = "A trigger began 9.7 s after the one before: if that is usual, a record waits 4.9 s for the trigger"
    assert (words in only(told(tmp_path, pretty(short)))["verdict"]) is said


def test_logs_that_no_phase_times_make_an_interval_of_the_loss(tmp_path: Path) -> None:
    old = batch(7, triggerExecution=500, addBatch=200, walCommit=120, **SHORTLY) | APART
    verdict = only(told(tmp_path, pretty(old)))["verdict"]
    assert verdict.startswith("120 ms to 276 ms of a 500 ms batch (24 to 55 %) goes into the offset and commit logs.")


def test_durations_with_an_elision_are_judged_by_what_they_tell(tmp_path: Path) -> None:
    text = pretty(batch(7, sources=[]))
    begin, end = text.index('    "getBatch"'), text.index('    "addBatch"')
    data = told(tmp_path, "Look:", text[:begin] + "    ...\n" + text[end:])
    query = only(data)
    assert "durationMs" in data["input"]["partial"][0]["lacks"]
    assert query["window"]["batches"] == 1
    assert {part["kind"] for part in query["screen"]["goes_to"]} == {"add_batch"}
    assert value(query, "spark_version_below") is None


def test_durations_without_the_whole_trigger_are_not_judged(tmp_path: Path) -> None:
    text = pretty(batch(7))
    data = told(tmp_path, text[: text.index('    "getBatch"')] + "    ...\n")
    assert (data["queries"], len(data["input"]["partial"])) == ([], 1)


def test_prose_about_the_keys_before_a_record_is_not_the_record(tmp_path: Path) -> None:
    text = pretty(batch(7))
    prose = ["batchId is the number:", '"batchId" : 2,', "and the rows", '  "numInputRows" : 10,', ""]
    query = only(told(tmp_path, *prose, text[text.index("\n") + 1 :]))
    assert (query["id"], query["window"]["batches"]) == (batch(7)["id"], 1)


def test_a_key_without_its_first_quote_costs_nothing(tmp_path: Path) -> None:
    text = pretty(batch(7)).replace('"startOffset" : {', '"startOffset" : {\n      others" : 5,', 1)
    assert value(only(told(tmp_path, text)), "sink") == "console"


@pytest.mark.parametrize("line", ['print(f"Query made progress: {event.progress}")', 'log("made progress: {}", json)'])
def test_program_text_that_prints_progress_is_no_record(tmp_path: Path, line: str) -> None:
    read = told(tmp_path, MARK + pretty(batch(7)), line)["input"]
    assert (read["events"], read.get("broken", []), read.get("partial", [])) == (1, [], [])


def test_rows_that_an_operator_does_not_tell_are_not_none(tmp_path: Path) -> None:
    silent = {"operatorName": "stateStoreSave", "commitTimeMs": 3_186_626, "numShufflePartitions": 200}
    query = only(told(tmp_path, pretty(batch(7, operators=[silent]))))
    assert "ST012" not in [finding["rule"] for finding in query["findings"]]


ROW_BY_ROW = {
    "triggerExecution": 372_000, "addBatch": 371_800, "latestOffset": 1, "walCommit": 40, "commitOffsets": 40,
    "numInputRows": 191, "sink": "ForeachWriterTable(org.apache.spark.sql.execution.python.PythonForeachWriter@1)",
}  # fmt: skip


def test_a_foreach_writer_is_named_and_gets_code_of_its_own(tmp_path: Path) -> None:
    made = event(7, 0, 17_000, ROW_BY_ROW)
    query = only(told(tmp_path, pretty(made)))
    assert "a ForeachWriter gets them one by one" in query["screen"]["loss"]["says"]
    code = query["best_step"]["advice"]["change"]["code"]
    assert ("process(row)" in code, "foreachBatch" in code) == (True, False)


def keeping_up(**source: Any) -> dict[str, Any]:
    """One event of a trigger of five seconds, at one of its multiples."""
    row = {
        "triggerExecution": 3700, "addBatch": 3500, "latestOffset": 20, "queryPlanning": 4, "walCommit": 67,
        "commitOffsets": 80, "numInputRows": 500, "sink": "ForeachBatchSink",
        "sources": [{"description": "KafkaV2[Subscribe[a]]", "numInputRows": 500} | source],
    }  # fmt: skip
    return event(12, 0, 5000, row)


def offsets(behind: int, partitions: int = 6) -> dict[str, Any]:
    """Offsets of a batch of 500 rows that leaves so many behind in its last partition."""
    start = {str(number): 1000 for number in range(partitions)}
    end = start | {"0": 1500}
    return {
        "startOffset": {"a": start},
        "endOffset": {"a": end},
        "latestOffset": {"a": end | {str(partitions - 1): 1000 + behind}},
    }


def test_a_query_that_keeps_up_is_told_so(tmp_path: Path) -> None:
    query = only(told(tmp_path, pretty(keeping_up(**offsets(0)))))
    assert "It keeps up: 1.3 s of the trigger's 5.0 s are left, and no rows wait." in query["screen"]["loss"]["says"]
    assert "no more than 6 tasks read each batch, unless minPartitions is set" in " ".join(query["screen"]["troubles"])


def test_nobody_keeps_up_while_rows_wait_or_may_wait(tmp_path: Path) -> None:
    behind = only(told(tmp_path, pretty(keeping_up(**offsets(300)))))
    unknown = only(told(tmp_path, pretty(keeping_up())))
    assert "keeps up" not in behind["verdict"] + unknown["verdict"]
    assert "1.3 s of the trigger's 5.0 s are left." in unknown["screen"]["loss"]["says"]


def test_rows_that_a_batch_of_kafka_leaves_are_left_by_a_limit(tmp_path: Path) -> None:
    query = only(told(tmp_path, pretty(keeping_up(**offsets(300)))))
    (found,) = [finding for finding in query["findings"] if finding["rule"] == "TR010"]
    assert "The limit maxOffsetsPerTrigger lets a batch take 500 rows; 300 rows wait" in found["says"]
    assert found["steps"][0]["change"]["reader_option"] == {"maxOffsetsPerTrigger": "1000"}


def test_files_that_wait_for_auto_loader_are_told(tmp_path: Path) -> None:
    source = {"description": "CloudFilesSource[s3://a/b]", "metrics": {"numFilesOutstanding": "1287"}}
    query = only(told(tmp_path, pretty(keeping_up(**source))))
    assert any("1,287 files wait in the source" in words for words in query["screen"]["troubles"])
    assert "keeps up" not in query["verdict"]


def delta_source(first: int, taken: int, waiting: int) -> dict[str, Any]:
    """A Delta source that reads a version of its table from one file to another."""
    ends = ({"reservoirId": "r", "reservoirVersion": 7, "index": at} for at in (first, first + taken))
    found = dict(zip(("startOffset", "endOffset"), ends, strict=True))
    metrics = {"numFilesOutstanding": str(waiting)}
    return {"description": "DeltaSource[s3://a/b]", "numInputRows": 900, "metrics": metrics, **found}


def test_files_that_wait_are_as_old_as_the_batches_that_they_take(tmp_path: Path) -> None:
    """40,000 files at 1,000 in ten seconds are 400 s of work."""
    row = batch(7, triggerExecution=9000, addBatch=8600, sources=[delta_source(3000, 1000, 40_000)])
    query = only(told(tmp_path, pretty(row | {"inputRowsPerSecond": row["numInputRows"] / 10})))
    assert query["verdict"].startswith("40,000 files wait in the source, 6.7 min of work")
    assert query["screen"]["loss"]["kind"] == "falling_behind"
    assert query["metrics"]["record_latency_ms"]["p50"] > 400_000


def test_more_and_more_files_that_wait_are_falling_behind(tmp_path: Path) -> None:
    rows = [batch(number, sources=[delta_source(number, 0, 500 + 70 * number)]) for number in range(7, 30)]
    query = only(told(tmp_path, *map(pretty, rows)))
    assert query["screen"]["loss"]["kind"] == "falling_behind"
    assert "More and more files wait in the source: 990 after the first batch, 2,530 after" in query["verdict"]
    assert query["screen"]["backlog_untold"]


def test_a_record_with_rows_and_without_add_batch_is_not_idle(tmp_path: Path) -> None:
    durations = {"triggerExecution": 4200, "walCommit": 30}
    query = only(told(tmp_path, pretty(event(7, 0, 5000, {**durations, "numInputRows": 900}))))
    assert query["verdict"].endswith("A trigger took 4.2 s for 900 rows; its durations name no addBatch.")
    assert "idle" not in query["verdict"]


def test_a_record_with_rows_and_a_length_alone_is_judged(tmp_path: Path) -> None:
    query = only(told(tmp_path, pretty(event(7, 0, 5000, {"triggerExecution": 4200, "numInputRows": 900}))))
    assert query["window"]["batches"] == 1
    assert query["verdict"].startswith("Little of the trigger interval is left. Bring whole records")


@pytest.mark.parametrize(("rest", "idle"), [({"walCommit": 17}, False), ({"queryPlanning": 40}, False), ({}, True)])
def test_a_record_with_phases_of_a_batch_is_not_idle(tmp_path: Path, rest: dict[str, int], idle: bool) -> None:
    durations = {"triggerExecution": 3200, "latestOffset": 50, **rest}
    query = only(told(tmp_path, f"# {json.dumps(durations)}", "that is what query.lastProgress['durationMs'] says"))
    assert ("An idle trigger takes 3.2 s" in query["verdict"]) is idle
    assert ("A trigger took 3.2 s; its durations name no addBatch, only" in query["verdict"]) is not idle


def test_a_source_that_says_that_nothing_waits(tmp_path: Path) -> None:
    """Kafka's metrics tell it where the offsets were left out."""
    source = {"description": "KafkaV2[Subscribe[in]]", "numInputRows": 90, "metrics": {"maxOffsetsBehindLatest": "0"}}
    for behind, told_of in (("0", 0), ("17", None)):
        source["metrics"] = {"maxOffsetsBehindLatest": behind}
        query = only(told(tmp_path, compact(batch(7, numInputRows=90, sources=[source]))))
        assert query["metrics"].get("backlog_rows", {}).get("p50") == told_of
    page = report_as_text(report(tmp_path, compact(batch(7, numInputRows=90, sources=[source]))).typed)
    assert "Lag at least 17 rows" in page


@pytest.mark.parametrize(("mean", "rows"), [("4.5", 18), ("3.3333333333333335", 13.333), ("1.2345678E7", 49_382_712)])
def test_the_mean_of_kafkas_partitions_tells_what_waits_in_all(tmp_path: Path, mean: str, rows: int) -> None:
    source = {"numInputRows": 90, "endOffset": {"in": {"0": 5, "1": 6, "2": 7}, "other": {"0": 9}},
              "metrics": {"maxOffsetsBehindLatest": "17", "avgOffsetsBehindLatest": mean}}  # fmt: skip
    query = only(told(tmp_path, compact(batch(7, numInputRows=90, sources=[source]))))
    assert query["metrics"]["backlog_rows"]["p50"] == pytest.approx(rows, rel=1e-4)
    assert value(query, "source") == "kafka"  # no other source has such metrics


def test_a_later_batch_is_not_the_second_of_its_run(tmp_path: Path) -> None:
    """Of batch 0 and batch 303 the later one tells by its rate how far it began from the one before."""
    short = {"triggerExecution": 101, "addBatch": 51, "walCommit": 24, "numInputRows": 1035}
    records = [pretty(event(0, 0, 0, FIRST)), pretty(event(303, 141_000, 109, short))]
    query = only(told(tmp_path, *records))
    assert query["metrics"]["record_latency_ms"]["p50"] == pytest.approx(101 + 109 / 2, rel=0.2)


def test_rows_that_only_the_rate_tells(tmp_path: Path) -> None:
    """24.8 rows a second for 8.069 s are 200 rows, and 11.7 a second that came make 17.1 s between two starts."""
    rates = '"inputRowsPerSecond" : 11.667250029168125,\n"processedRowsPerSecond" : 24.786218862312552,\n'
    query = only(told(tmp_path, f'{rates}"durationMs" : {{"addBatch" : 7964, "triggerExecution" : 8069}}'))
    assert query["metrics"]["record_latency_ms"]["p50"] == pytest.approx(17_142 / 2 + 8_069, rel=0.05)


SHORT = {
    "triggerExecution": 900, "addBatch": 500, "getBatch": 0, "getOffset": 1, "queryPlanning": 80, "walCommit": 209,
}  # fmt: skip


def test_a_first_batch_with_only_batches_without_rows_behind_it(tmp_path: Path) -> None:
    first = event(0, 0, 0, FIRST | {"getBatch": 60, "walCommit": 40, "operators": [OLD_STATE]})
    second = event(1, 17_000, 17_000, SHORT)
    second["numInputRows"] = 0
    query = only(told(tmp_path, compact(first), compact(second)))
    assert query["verdict"].startswith("First batch after a start: 16.9 s for 7,440 rows: addBatch 12.7 s")
    assert "A batch without rows takes 900 ms: addBatch 500 ms" in query["verdict"]
    assert "in no phase 110 ms" in query["verdict"]


@pytest.mark.parametrize(("wal", "told_of"), [(1800, False), (60, True)])
def test_a_first_batch_tells_a_large_part_in_no_phase(tmp_path: Path, wal: int, told_of: bool) -> None:
    row = event(0, 0, 0, FIRST | {"addBatch": 11000, "getBatch": 60, "walCommit": wal})
    assert ("in no phase 1.9 s" in only(told(tmp_path, pretty(row)))["verdict"]) is told_of


def test_an_idle_record_without_a_run_is_no_earlier_run(tmp_path: Path) -> None:
    short = {key: value for key, value in batch(6, triggerExecution=2).items() if key != "runId"}
    del short["durationMs"]["addBatch"]
    found = report(tmp_path, pretty(short | {"numInputRows": 0}), pretty(batch(7)))
    assert [chosen.earlier for chosen in selections(found.typed) if chosen.query.batches] == [0]


def test_a_batch_hardly_longer_than_its_interval_is_told_in_percent(tmp_path: Path) -> None:
    (entry,) = told(tmp_path, BEHIND.format("5000 ms", "5098 ms"))["input"]["falling_behind"]
    assert "That is 2 % more than the interval" in entry["says"]


def test_a_range_in_one_line_is_more_than_one_batch(tmp_path: Path) -> None:
    line = BEHIND.format("500 ms", "8000–18000 ms")
    (entry,) = told(tmp_path, line, "Each batch writes to s3a://bucket/table.")["input"]["falling_behind"]
    assert ("One line is no pattern" in entry["says"], "The text names S3" in entry["says"]) == (False, True)


def test_operators_that_load_once_per_batch_have_the_default_too(tmp_path: Path) -> None:
    caches = [{"loadedMapCacheHitCount": count, "loadedMapCacheMissCount": 0} for count in (6000, 800)]
    operators = [OLD_STATE | {"customMetrics": counted} for counted in caches]
    query = only(told(tmp_path, pretty(batch(4, operators=operators))))
    assert query["metrics"]["state_partitions"]["p50"] == 200


def backlog(number: int, waits: int) -> dict[str, Any]:
    """A batch of 10,000 rows of Kafka after which so many wait."""
    ends = [{"orders": {"0": 10_000 * at}} for at in (number, number + 1)]
    newest = {"orders": {"0": 10_000 * (number + 1) + waits}}
    source = KAFKA | {"startOffset": ends[0], "endOffset": ends[1], "latestOffset": newest, "numInputRows": 10_000}
    usual = {"triggerExecution": 2000, "addBatch": 1900, "latestOffset": 3, "commitOffsets": 30}
    return event(number, 2000 * number, 2000, usual | {"numInputRows": 10_000, "sources": [source]})


def test_a_backlog_that_shrinks_is_no_falling_behind(tmp_path: Path) -> None:
    shrinks = only(told(tmp_path, *(MARK + pretty(backlog(n, 100_000 - 4000 * n)) for n in range(5, 20))))
    assert shrinks["screen"]["loss"]["kind"] == "backlog"
    assert shrinks["screen"]["loss"]["says"].startswith("24,000 rows still wait in the source; a batch takes 10,000")
    grows = only(told(tmp_path, *(MARK + pretty(backlog(n, 20_000 + 4000 * n)) for n in range(5, 20))))
    assert grows["screen"]["loss"]["kind"] == "falling_behind"


def test_kafka_that_is_not_asked_for_its_latest_offset_is_real_time(tmp_path: Path) -> None:
    source = KAFKA | {"latestOffset": None}
    row = {"triggerExecution": 300_000, "addBatch": 299_000, "commitOffsets": 40, "sources": [source]}
    lines = [MARK + pretty(event(n, 300_200 * n, 300_200, row)) for n in range(5, 12)]
    query = only(told(tmp_path, *lines))
    assert value(query, "trigger") == "real_time"
    asked = only(
        told(tmp_path, *(line.replace('"latestOffset" : null', '"latestOffset" : {"a":{"0":1}}') for line in lines))
    )
    assert value(asked, "trigger") != "real_time"


@pytest.mark.parametrize(
    ("left_out", "below"),
    [
        ((), "3.2"),  # an idle event of an old Spark
        (("timestamp",), None),
        (("timestamp", "sink"), None),
        (("timestamp", "sources", "sink"), None),
    ],
)
def test_keys_that_an_author_left_out_bound_no_version(
    tmp_path: Path, left_out: tuple[str, ...], below: str | None
) -> None:
    event = {
        "id": "11111111-1111-1111-1111-111111111111",
        "runId": "22222222-2222-2222-2222-222222222222",
        "name": None,
        "timestamp": "2024-01-01T00:00:00.000Z",
        "batchId": 42,
        "numInputRows": 0,
        "inputRowsPerSecond": 0.0,
        "processedRowsPerSecond": 0.0,
        "durationMs": {"latestOffset": 4, "triggerExecution": 5},
        "stateOperators": [{"numRowsTotal": 5000, "numRowsUpdated": 100}],
        "sources": [{"description": "KafkaV2[Subscribe[events]]", "startOffset": None, "endOffset": None}],
        "sink": {"description": "MemorySink"},
    }
    kept = {key: part for key, part in event.items() if key not in left_out}
    assert value(only(told(tmp_path, json.dumps(kept))), "spark_version_below") == below


def test_a_cold_batch_of_an_old_spark_has_no_asynchronous_progress(tmp_path: Path) -> None:
    old = "Asynchronous progress tracking is no option: it needs Spark 3.4."
    assert old in only(told(tmp_path, MARK + pretty(batch(0, **FIRST))))["verdict"]
    assert old not in only(told(tmp_path, MARK + pretty(batch(0, commitOffsets=20, **FIRST))))["verdict"]


def test_the_largest_partition_is_told(tmp_path: Path) -> None:
    ends = [{"orders": {"0": 900 * at, "1": 50 * at, "2": 50 * at}} for at in (7, 8)]
    source = KAFKA | {"startOffset": ends[0], "endOffset": ends[1], "latestOffset": ends[1]}
    troubles = only(told(tmp_path, MARK + pretty(batch(7, sources=[source]))))["screen"]["troubles"]
    assert "The largest partition of Kafka holds 18 times the rows of the others, and one task reads it." in troubles


def test_what_a_collector_wrapped_is_not_broken_as_well(tmp_path: Path) -> None:
    hits = [{"_source": {"message": MARK + compact(batch(number))}} for number in range(5, 9)]
    found = told(tmp_path, json.dumps({"hits": {"hits": hits}}, indent=1))["input"]
    assert (found["events"], found["broken"]) == (4, [])


@pytest.mark.parametrize(("add_batch", "verdict"), [(900, "900 ms of a 2.0 s batch"), (2600, None)])
def test_the_rate_tells_the_length_of_a_batch_whose_durations_lack_it(
    tmp_path: Path, add_batch: int, verdict: str | None
) -> None:
    """A phase that is longer than the whole contradicts it, and nothing is judged."""
    durations = f"'durationMs': {{'addBatch': {add_batch}, 'getBatch': 4, ...}}"
    text = f"# {{'batchId': 12, 'numInputRows': 300, 'processedRowsPerSecond': 150.0,\n#  {durations}}}\n"
    found = told(tmp_path, text)
    assert len(found["input"]["partial"]) == 1
    assert [query["verdict"].startswith(verdict) for query in found["queries"] if verdict] == [True] * bool(verdict)
    assert len(found["queries"]) == bool(verdict)


def test_what_a_partial_record_lacks_makes_no_first_batch(tmp_path: Path) -> None:
    text = '"batchId" : 12,\n"numInputRows" : 20,\n"durationMs" : {"addBatch" : 400, "triggerExecution" : 540}\n'
    assert only(told(tmp_path, text))["verdict"].startswith("400 ms of a 540 ms batch (74 %) is addBatch")


@pytest.mark.parametrize(("sink", "said"), [("ConsoleTable$@5d", True), ("ForeachBatchSink", False)])
def test_a_long_batch_of_few_rows_whose_state_partitions_are_not_told(tmp_path: Path, sink: str, said: bool) -> None:
    """Before Spark 3.2 an event does not name them; a function may take all the time by itself."""
    operator = {"numRowsTotal": 5, "numRowsUpdated": 1, "memoryUsedBytes": 80_000}
    slow = batch(7, triggerExecution=8460, addBatch=8123, numInputRows=1, operators=[operator], sink=sink, sources=[])
    query = only(told(tmp_path, compact(slow)))
    words = "200 by default"
    assert any(words in trouble for trouble in query["screen"].get("troubles", ())) is said
    assert query["metrics"]["state_partitions"].get("p50") is None


def test_a_batch_without_rows_is_taken_apart(tmp_path: Path) -> None:
    query = only(told(tmp_path, compact(batch(7, numInputRows=0, operators=[STATE], sources=[]))))
    assert "A batch without rows takes 9.9 s: addBatch 9.3 s" in query["verdict"]
    assert query["window"]["batches"] == 0


@pytest.mark.parametrize(("found_ms", "said"), [(900_000, True), (1_400, False)])
def test_a_batch_of_a_delta_source_without_rows_tells_what_its_long_discovery_reads(
    tmp_path: Path, found_ms: int, said: bool
) -> None:
    long = {"latestOffset": found_ms, "getBatch": found_ms // 2, "addBatch": 60_000, "triggerExecution": 1_500_000}
    delta = {"description": "DeltaSource[s3://lake/raw]", "numInputRows": 0}
    query = only(told(tmp_path, compact(batch(7, numInputRows=0, sources=[delta], **long))))
    assert ("reads the log of each version since the last batch" in query["verdict"]) is said


@pytest.mark.parametrize(
    ("starts", "rate", "interval"),
    [
        ("2026-03-01T13:52:50.001Z", 9 / 9.4, 10_000),
        ("2026-03-01T20:30:00.004Z", 9 / 432.3, 600_000),
        ("2026-03-01T13:52:50.001Z", 9 / 0.2, None),
        ("2026-03-01T13:52:00.001Z", 9 / 9.4, 10_000),
        ("2026-03-01T13:52:00.001Z", 9 / 2.2, None),
        ("2026-03-01T00:00:00.000Z", 9 / 0.8, None),
        ("2026-03-01T13:52:51.001Z", 9 / 9.4, None),
    ],
)
def test_a_batch_that_waited_and_began_on_time_shows_a_trigger(
    tmp_path: Path, starts: str, rate: float, interval: int | None
) -> None:
    """A trigger of one second would have started a batch in between."""
    short = batch(6, addBatch=140, queryPlanning=10, triggerExecution=213, walCommit=42, numInputRows=9, sources=[])
    query = only(told(tmp_path, pretty(short | {"timestamp": starts, "inputRowsPerSecond": rate})))
    assert query["facts"]["trigger_interval_ms"] == {"value": interval, "from": "inferred" if interval else None}
    assert ("likely starts one only every" in query["verdict"]) == bool(interval)


def test_an_interval_that_a_person_gives_is_one_of_processing_time(tmp_path: Path) -> None:
    path = tmp_path / "asked.txt"
    path.write_text(pretty(batch(7)), encoding="utf-8")
    query = only(advisor.analyze(path, set=["trigger_interval_ms=60000"]).data)
    assert query["facts"]["trigger"] == {"value": "processing_time", "from": "user"}


def test_metrics_of_real_time_mode_that_are_null_show_none(tmp_path: Path) -> None:
    """Newer Sparks name them in every event, and a Python dict says None."""
    record = f"PROGRESS = {batch(7) | {'rtmMetrics': None}!r}"
    assert value(only(told(tmp_path, record)), "trigger") == "processing_time"


@pytest.mark.parametrize(
    ("logger", "rate", "processed", "bounds"),
    [
        ("ProgressReporter", 953.206239168111, 953.206239168111, ("4.0", "4.1")),
        ("ProgressReporter", 953.2, 953.2, ("4.0", None)),
        ("ProgressReporter", 953.2, 1000.0, ("4.0", None)),
        ("ProgressReporter", 953.2, 2028.4, ("4.1", None)),
        ("MicroBatchExecution", 953.206239168111, 953.206239168111, ("3.4", "4.0")),
        ("MicroBatchExecution", 953.2, 2028.4, ("3.4", "4.0")),
    ],
)
def test_the_line_before_an_event_and_its_rates_bound_the_version(
    tmp_path: Path, logger: str, rate: float, processed: float, bounds: tuple[str | None, str | None]
) -> None:
    span = {"batchDuration": 905} if logger == "ProgressReporter" else {}
    rates = {"inputRowsPerSecond": rate, "processedRowsPerSecond": processed}
    shown = batch(7, commitOffsets=20, latestOffset=3, getOffset=0) | rates | span
    head = f"26/03/01 02:00:01 INFO {logger}: Streaming query made progress: "
    ordered = {key: shown[key] for key in ("id", "runId", *(key for key in shown if key not in ("id", "runId")))}
    query = only(told(tmp_path, head + pretty(ordered)))
    assert (value(query, "spark_version_at_least"), value(query, "spark_version_below")) == bounds


def _late(*batches: tuple[str, int], interval: int = 10_000) -> list[str]:
    return [f"26/03/04 {at} " + BEHIND.format(f"{interval} ms", f"{spent} ms") for at, spent in batches]


@pytest.mark.parametrize(
    ("around", "piled"),
    [("", True), ("maxOffsetsPerTrigger at 200", False), ('writeStream.option("maxOffsetsPerTrigger", 500)', True)],
)
def test_a_limit_keeps_what_had_piled_up_out_of_one_batch(tmp_path: Path, around: str, piled: bool) -> None:
    (entry,) = told(tmp_path, around, *_late(("09:00:14", 14000)))["input"]["falling_behind"]
    assert ("often works off what had piled up" in entry["says"]) is piled


SINK = "df.writeStream.format('parquet').option('path', '/out')"
EVERY_TENTH = _late(("09:00:14", 14000), ("09:01:54", 14900), ("09:03:34", 15800), ("09:05:14", 16700))


@pytest.mark.parametrize(
    ("lines", "says", "never"),
    [
        ([SINK, *EVERY_TENTH], "One batch in 10 is late, every 100.0 s", "without a pause"),
        ([SINK, *EVERY_TENTH], "They take ever longer: 14.0 s at first, 16.7 s at last.", ""),
        ([SINK, *EVERY_TENTH], "the list of all its files anew, a list that grows", "Delta"),
        (EVERY_TENTH, "Delta writes a checkpoint then", "the text names a file sink"),
        (EVERY_TENTH[::-1], "One batch in 10 is late", ""),
        (_late(("09:00:12", 12000), ("09:05:12", 12100), ("09:10:12", 11900), ("09:15:12", 12000)), "in 30", "Delta"),
        (
            _late(("09:00:10", 10400), ("09:00:23", 13500), ("09:00:41", 17600), ("09:01:04", 22900)),
            "each about 1.3 times as long as the one before",
            "keep the interval.",
        ),
        (
            _late(("09:00:31", 31000), ("09:01:02", 31200), ("09:01:33", 30900), ("09:02:04", 31000)),
            "without a pause: no batch keeps the interval.",
            "times as long as the one before",
        ),
        (
            _late(("09:00:12", 12000), ("09:10:41", 15000), ("09:12:02", 11000), ("09:40:22", 19000)),
            "about 236 intervals that were kept",
            "One batch in",
        ),
        (_late(("09:00:12", 12000), ("09:01:12", 12000)), "2 lines say", "One batch in"),
        (
            _late(("09:01:01", 61000), ("09:01:42", 41000), ("09:02:03", 21000), ("09:02:14", 11000)),
            "They get shorter, 61.0 s at first, 11.0 s at last: the query catches up.",
            "ever longer",
        ),
        (
            _late(("09:00:11", 11000), ("09:01:11", 21000), ("09:02:11", 31000), ("09:03:11", 41000)),
            "They take ever longer: 11.0 s at first, 41.0 s at last.",
            "One batch in",
        ),
        (
            [line.replace("03/04", f"03/0{day}") for day in (1, 2, 3, 4) for line in _late(("02:00:12", 26_000))],
            "late only around 02:00 by the log's clock, on 4 days",
            "One batch in",
        ),
    ],
)
def test_lines_about_falling_behind_are_read_together(tmp_path: Path, lines: list[str], says: str, never: str) -> None:
    (entry,) = told(tmp_path, *lines)["input"]["falling_behind"]
    assert says in entry["says"]
    assert not never or never not in entry["says"]


@pytest.mark.parametrize(
    ("other", "means"), [("09:00:32", "both run at the same time"), ("11:00:32", "or the query after a restart")]
)
def test_two_intervals_are_two_queries_where_they_overlap(tmp_path: Path, other: str, means: str) -> None:
    lines = [*_late(("09:00:31", 31000), ("09:01:02", 31200)), *_late((other, 62000), interval=60_000)]
    first, second = told(tmp_path, *lines)["input"]["falling_behind"]
    assert ("Another interval" in first["says"], means in second["says"]) == (False, True)


@pytest.mark.parametrize(
    ("around", "first"),
    [
        (("Batch 0 empty - nothing to do", None), True),
        ((None, "Batch: 1"), True),
        (("Batch: 1", "Batch: 1"), True),
        (("Processing batch 7", "Processing batch 8"), False),
        ((None, "Batch: 4"), False),
        ((None, None), False),
    ],
)
def test_a_late_batch_that_the_text_numbers_as_the_first_is_cold(
    tmp_path: Path, around: tuple[str | None, str | None], first: bool
) -> None:
    before, after = around
    lines = filter(None, [before, *_late(("09:00:31", 31000)), after])
    (entry,) = told(tmp_path, *lines)["input"]["falling_behind"]
    assert ("names it as the first batch" in entry["says"], "no pattern" in entry["says"]) == (first, not first)


def test_of_late_batches_the_first_after_a_start_is_told_from_later_ones(tmp_path: Path) -> None:
    first, later = _late(("09:00:31", 31000), ("09:00:44", 12000))
    (entry,) = told(tmp_path, "Batch: 0", first, "Batch: 1", later)["input"]["falling_behind"]
    assert "the first after a start, which is cold, took 31.0 s; later ones 12.0 s." in entry["says"]
    lines = [*_late(("09:00:31", 31000)), "Batch: 1", *_late(("10:00:44", 12000), interval=5000), "Batch: 1"]
    assert all("By itself" in entry["says"] for entry in told(tmp_path, *lines)["input"]["falling_behind"])


def test_late_batches_beside_the_name_of_a_database(tmp_path: Path) -> None:
    lines = ["It goes from kafka to mysql.", *_late(("09:00:31", 31000), ("09:01:31", 32000))]
    (entry,) = told(tmp_path, *lines)["input"]["falling_behind"]
    assert "The text names a database" in entry["says"]


def test_many_times_the_interval_are_told_without_a_fraction(tmp_path: Path) -> None:
    (entry,) = told(tmp_path, *_late(("09:00:31", 1491), ("09:17:39", 1538), interval=10))["input"]["falling_behind"]
    assert "That is 149 to 154 times the interval" in entry["says"]


def _of_real_time(groups: dict[str, Any], key: str = "rtmMetrics") -> dict[str, Any]:
    kafka = KAFKA | {"latestOffset": None}
    long = {"triggerExecution": 300_140, "addBatch": 300_020, "walCommit": 40, "commitOffsets": 35, "latestOffset": 0}
    return batch(12, sources=[kafka], sink="KafkaTable", **long) | {key: groups}


@pytest.mark.parametrize(
    ("event", "p50"),
    [
        (_of_real_time({"e2eLatencyMs": {"P0": 0, "P50": 4, "P99": 44}, "processingLatencyMs": {"P50": 2}}), 4),
        (_of_real_time({"e2eLatencyMs": {"p50": 7.5, "p99": 44}}, "latencies"), 7.5),
        (_of_real_time({"processingLatencyMs": {"P50": 2, "P99": 31}}), None),
        (_of_real_time({"e2eLatencyMs": "4 ms"}), None),
        (_of_real_time({"e2eLatencyMs": None}), None),
        (_of_real_time({"latencies": {"e2eLatencyMs": {"P50": 5, "P99": 9}}}), 5),
    ],
)
def test_real_time_events_tell_the_latency_themselves(tmp_path: Path, event: dict[str, Any], p50: float | None) -> None:
    query = only(told(tmp_path, pretty(event)))
    screen, latency = query["screen"], query["metrics"]["record_latency_ms"]
    assert value(query, "trigger") == "real_time"
    assert (latency.get("p50"), screen.get("unopened"), screen.get("goes_to")) == (p50, None, None)
    assert ("calm" in screen) == (p50 is not None)


def test_a_record_without_the_rate_that_a_first_batch_lacks_may_be_one(tmp_path: Path) -> None:
    shown = (
        '"numInputRows" : 99,%s "processedRowsPerSecond" : 9.9, '
        '"durationMs" : {"addBatch" : 9000, "triggerExecution" : 10000}'
    )
    for between, doubted in (("", True), (' "inputRowsPerSecond" : 9.8,', False), (" ...,", False)):
        query = only(told(tmp_path, "Before:", "```", shown % between, "```"))
        assert query["window"]["batches"] == 1
        assert (
            any("may be the first batch after a start" in words for words in query["screen"].get("troubles", ()))
            is doubted
        )


@pytest.mark.parametrize(("took", "advised"), [(143, 300), (500, 1000), (501, 2000), (1500, 3000)])
def test_one_batch_advises_no_interval_to_the_millisecond(tmp_path: Path, took: int, advised: int) -> None:
    query = only(
        told(tmp_path, pretty(batch(7, triggerExecution=took, addBatch=took - 20, queryPlanning=5, walCommit=5)))
    )
    assert query["metrics"]["advised_interval_ms"]["value"] == advised


@pytest.mark.parametrize(
    ("removed", "watermark", "first"),
    [
        (0, "2026-02-17T00:00:00.000Z", True),
        (0, "2026-03-01T02:06:50.000Z", False),
        (9, "2026-02-17T00:00:00.000Z", False),
    ],
)
def test_a_watermark_far_behind_comes_before_another_store(
    tmp_path: Path, removed: int, watermark: str, first: bool
) -> None:
    caches = {"loadedMapCacheHitCount": 980, "loadedMapCacheMissCount": 4220}
    kept = STATE | {"numRowsTotal": 60_000_000, "numRowsRemoved": removed, "customMetrics": caches}
    durations = {"triggerExecution": 9906, "addBatch": 9291, "latestOffset": 3, "walCommit": 73, "commitOffsets": 80}
    times = {"watermark": watermark, "max": "2026-03-01T02:07:00.000Z"}
    shown = batch(7) | {"stateOperators": [kept], "eventTime": times, "durationMs": durations | {"queryPlanning": 91}}
    path = tmp_path / "asked.txt"
    path.write_text(pretty(shown), encoding="utf-8")
    (query,) = advisor.analyze(path).typed.queries
    assert query.screen.keeps_old_state is first
    assert no_step(query).startswith("Find out first why the watermark lies so far behind") is first


CONSOLE = """-------------------------------------------
Batch: {}
-------------------------------------------
+----+-----+
|word|count|
+----+-----+
|  of|    4|
+----+-----+
{}
"""


@pytest.mark.parametrize(("below", "few"), [("", True), ("only showing top 20 rows", False)])
def test_few_rows_of_the_console_beside_late_batches_name_the_partitions(tmp_path: Path, below: str, few: bool) -> None:
    late = [BEHIND.format("200 milliseconds", f"{spent} milliseconds") for spent in (9400, 8100)]
    texts = [CONSOLE.format(number, below) + late[number] for number in (0, 1)]
    (entry,) = told(tmp_path, *texts)["input"]["falling_behind"]
    assert ("If the query keeps state or shuffles rows" in entry["says"]) is few


def test_a_cut_record_has_the_source_that_the_one_before_it_names(tmp_path: Path) -> None:
    cut = pretty(batch(8))
    cut = cut[: cut.index('"sources"') + len('"sources" : [ {')]
    query = only(told(tmp_path, MARK + pretty(batch(7)), MARK + cut))
    assert value(query, "source") == "kafka"
    other = pretty(batch(8) | {"sources": [KAFKA | {"description": "RateStreamV2[rowsPerSecond=5]"}]})
    query = only(told(tmp_path, MARK + pretty(batch(7)), MARK + other[: other.index('"startOffset"')]))
    assert value(query, "source") != "kafka"


@pytest.mark.parametrize(("commit_ms", "told_of"), [(6000, True), (90, False)])
def test_a_first_batch_tells_what_committing_its_state_took(tmp_path: Path, commit_ms: int, told_of: bool) -> None:
    first = batch(0, operators=[STATE | {"commitTimeMs": commit_ms}], **FIRST)
    verdict = only(told(tmp_path, pretty(first)))["verdict"]
    assert ("Committing the state took its tasks 6.0 s, 3.0 s each on average." in verdict) is told_of


def test_a_step_that_the_first_batch_cannot_settle_is_named_with_that_doubt(tmp_path: Path) -> None:
    state = {"operatorName": "stateStoreSave", "numShufflePartitions": 64, "numRowsUpdated": 0, "commitTimeMs": 9973}
    event = {
        "id": "1" * 8, "runId": "2" * 8, "name": "orders", "timestamp": "2026-01-01T00:00:00.000Z", "batchId": 0,
        "numInputRows": 0, "durationMs": {"addBatch": 15923, "triggerExecution": 18645},
        "stateOperators": [state], "sources": [{"description": "RateStreamV2[]", "numInputRows": 0}],
        "sink": {"description": "ForeachBatchSink"},
    }  # fmt: skip
    path = tmp_path / "progress.jsonl"
    path.write_text(json.dumps(event))
    known = ["spark_version=4.3.0", "state_store=rocksdb", "platform=open_source", "task_slots=2"]
    (query,) = advisor.analyze(path, set=known).data["queries"]
    assert "; whether it fits is not known: there are no steady batches." in query["verdict"]
