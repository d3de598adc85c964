"""Texts as people paste them, with code and words around the records: what is taken from them, and what is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import InputError
from advisor.sources.sightings.paste import read_paste
from tests.made import event
from tests.sources.variants import KAFKA, pretty
from tests.test_questions import BEHIND, MARK, only, report, told, value

CODE = 'df.writeStream.format("console").trigger(processingTime="20 seconds").start()'
WARM = {
    "triggerExecution": 130, "addBatch": 70, "commitOffsets": 22, "walCommit": 26, "latestOffset": 3,
    "queryPlanning": 5, "getBatch": 0, "numInputRows": 840, "sources": [KAFKA], "sink": "ConsoleTable",
}  # fmt: skip


def progress(number: int, at_ms: float, interval_ms: float, **row: Any) -> str:
    """One record of a Kafka query of Spark 3.4, as Spark prints it."""
    return pretty(event(number, at_ms, interval_ms, WARM | row))


@pytest.mark.parametrize(
    "records",
    [
        [progress(412, 7_271, 137)],
        [progress(3, 20_000, 20_000), progress(204, 130_650, 20_000)],
    ],
)
def test_an_interval_in_code_is_not_that_of_batches_that_start_sooner(tmp_path: Path, records: list[str]) -> None:
    query = only(told(tmp_path, CODE, "", *records))
    assert (value(query, "trigger"), value(query, "trigger_interval_ms")) == (None, None)
    assert "the trigger starts" not in query["verdict"]


@pytest.mark.parametrize(
    "records",
    [
        [progress(412, 40_003, 20_000)],
        [progress(1, 20_001, 4_300), progress(2, 40_002, 20_001), progress(3, 60_001, 19_999)],
        [progress(2, 27_310, 27_290, triggerExecution=24_000, addBatch=23_500)],
    ],
)
def test_an_interval_in_code_is_that_of_batches_that_fit_it(tmp_path: Path, records: list[str]) -> None:
    query = only(told(tmp_path, CODE, "", *records))
    assert (value(query, "trigger"), value(query, "trigger_interval_ms")) == ("processing_time", 20_000)


def test_an_interval_in_code_gives_way_to_the_one_that_the_batches_show(tmp_path: Path) -> None:
    query = only(told(tmp_path, CODE, "", progress(7, 15_001, 15_000)))
    assert (value(query, "trigger"), value(query, "trigger_interval_ms")) == ("processing_time", 15_000)
    assert query["conflicts"] == []


def test_an_interval_in_spark_s_own_line_stays(tmp_path: Path) -> None:
    line = (
        "26/03/01 02:00:02 WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is 2000 "
        "milliseconds, but spent 2300 milliseconds"
    )
    query = only(told(tmp_path, line, progress(412, 7_271, 137)))
    assert value(query, "trigger_interval_ms") == 2000


JAVA = "res7: java.util.Map[String,Long] = {triggerExecution=84, queryPlanning=2, getBatch=6, addBatch=41, walCommit=31"


def test_a_whole_map_of_durations_bounds_the_version(tmp_path: Path) -> None:
    query = only(told(tmp_path, "scala> q.lastProgress.durationMs", JAVA + ", getOffset=0}"))
    assert value(query, "spark_version_below") == "3.4"
    assert (query["best_step"], value(query, "async_progress")) == (None, False)


@pytest.mark.parametrize("end", ["}", ", ...}", ", getOffset=0", ""])
def test_a_map_of_durations_that_may_not_be_whole_bounds_nothing(tmp_path: Path, end: str) -> None:
    data = told(tmp_path, "scala> q.lastProgress.durationMs", JAVA + end)
    assert value(only(data), "spark_version_below") is None


HAND_MADE = """
// numInputRows : 5200,
// durationMs : {
//   addBatch : 8100,
//   getBatch : 20,
//   triggerExecution : 8422
//   walCommit : 61
// }
// sources,
"""


def test_one_comma_that_was_forgotten_is_no_loss(tmp_path: Path) -> None:
    data = told(tmp_path, "query.recentProgress // we see this:", HAND_MADE)
    assert only(data)["verdict"].startswith("8.1 s of an 8.4 s batch")
    assert "durationMs" not in data["input"]["partial"][0]["lacks"]


def test_numbers_on_lines_that_all_lack_a_comma_may_be_cut(tmp_path: Path) -> None:
    data = told(tmp_path, pretty({"durationMs": {"addBatch": 8100, "getBatch": 20, "walCommit": 7}}).replace(",", ""))
    assert data["input"]["partial"][0]["lacks"][0] == "id"
    assert "durationMs" in data["input"]["partial"][0]["lacks"]


def _advised(folder: Path, sink: str, batches: int = 1) -> str:
    row = WARM | {"sink": sink, "triggerExecution": 210, "addBatch": 150}
    made = [pretty(event(number, 20_000 * number, 20_000, row)) for number in range(40, 40 + batches)]
    (query,) = told(folder, CODE.replace("console", "parquet" if sink.startswith("File") else "console"), *made)[
        "queries"
    ]
    assert query["best_step"]["step"] == "interval-no-longer-than-needed"
    (step,) = [step for one in query["findings"] for step in one["steps"] if step["id"] == query["best_step"]["step"]]
    return str(step["change"]["trigger"]["processing_time"])


@pytest.mark.parametrize(
    ("sink", "batches", "advised"),
    [
        ("ConsoleTable", 1, "500 milliseconds"),
        ("ConsoleTable", 12, "280 milliseconds"),
        ("FileSink[/t]", 1, "2000 milliseconds"),
        ("FileSink[/t]", 12, "2000 milliseconds"),
    ],
)
def test_an_interval_is_not_taken_from_one_batch_alone_nor_makes_too_many_files(
    tmp_path: Path, sink: str, batches: int, advised: str
) -> None:
    assert _advised(tmp_path, sink, batches) == advised


def test_a_step_saves_no_more_wait_than_there_was(tmp_path: Path) -> None:
    row = {"triggerExecution": 240, "addBatch": 180}
    query = only(told(tmp_path, CODE, progress(1, 20_001, 6_000, **row)))
    twice_the_batch_rounded_up = 500
    assert query["metrics"]["interval_wait_ms"]["value"] == pytest.approx((6_000 - twice_the_batch_rounded_up) / 2)


def _durations(**more: int) -> str:
    return pretty({"numInputRows": 90, "durationMs": {"queryPlanning": 30, "getEndOffset": 1, **more}})


def test_records_without_name_and_time_stay_as_their_author_ordered_them(tmp_path: Path) -> None:
    data = told(
        tmp_path, "Without tuning:", _durations(addBatch=9800, triggerExecution=9990, walCommit=41),
        "With one partition:", _durations(addBatch=310, triggerExecution=540, walCommit=88),
        "With more memory:", _durations(addBatch=350, triggerExecution=610, walCommit=95),
    )  # fmt: skip
    took = [query["metrics"]["trigger_execution_ms"]["p50"] for query in data["queries"]]
    assert took == [9990, 540, 610]


def test_a_phase_that_somebody_left_out_took_no_known_time(tmp_path: Path) -> None:
    kept = {key: WARM[key] for key in ("numInputRows", "sources")}
    record = event(7, 70_000, 10_000, kept | {"triggerExecution": 7_800, "addBatch": 7_100, "sink": "DeltaSink[/t]"})
    query = only(told(tmp_path, MARK + json.dumps(record)))
    reasons = {entry["rule"]: entry["reason"] for entry in query["skipped"]}
    assert {reasons.get(rule) for rule in ("LG001", "LG003", "LG004")} == {"no batch reports it"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("It logs `WARN ProcessingTimeExecutor: Current batch is falling behind` all day.", "not its figures"),
        (
            '"e2eLatencyMs" : {"P0" : 2.0, "P50" : 31.0, "P99" : 75.0}',
            "real-time mode measured: end to end 31 ms (p50) and 75 ms (p99)",
        ),
    ],
)
def test_a_text_without_progress_is_told_what_it_is(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        told(tmp_path, text)


EVERY_SECOND = """
  events
    .writeStream
    .format("delta")
    {0}
    .foreachBatch(upsert _)
    .start()
"""
REMARKS = (
    '.trigger(Trigger.ProcessingTime("4 seconds")) // Continuous processing does not support Aggregate operations.',
    '//.trigger(Trigger.Continuous("4 seconds")) // Unknown type of trigger: ContinuousTrigger(4000)',
    "// AnalysisException: Continuous processing does not support Union operations.;;\n"
    "    .trigger(Trigger.ProcessingTime(4.seconds))",
)


@pytest.mark.parametrize("remark", REMARKS)
def test_a_remark_on_why_code_was_written_so_ended_no_query(tmp_path: Path, remark: str) -> None:
    query = only(told(tmp_path, EVERY_SECOND.replace("{0}", remark), progress(40, 7_300, 900)))
    assert query["state"] == "log_ends"
    assert "error" not in query["verdict"]
    with pytest.raises(InputError, match="does not show that this query ended with it"):
        told(tmp_path, EVERY_SECOND.replace("{0}", remark))


def test_an_error_that_its_code_explains_ended_the_query(tmp_path: Path) -> None:
    text = "AnalysisException: Continuous processing does not support Union operations.;;"
    assert only(told(tmp_path, "events.writeStream", text))["state"] == "dead"


def test_an_error_in_a_remark_is_named_with_what_mends_it(tmp_path: Path) -> None:
    code = '.trigger(Trigger.Continuous("1 second"))\n// Continuous processing does not support Union operations.'
    with pytest.raises(InputError, match="names an error of Spark"):
        told(tmp_path, "events.writeStream", code)


def test_foreach_batch_stands_in_for_a_format_named_before_it() -> None:
    code = EVERY_SECOND.replace("{0}", '.option("checkpointLocation", "/c")')
    assert [each.value for each in read_paste(code) if each.fact == "sink"] == ["foreach_batch"]
    both = code + '\nother.writeStream.format("console").start()'
    assert [each.value for each in read_paste(both) if each.fact == "sink"] == []


@pytest.mark.parametrize("mark", ["{...}", "{…}", "{}"])
def test_words_about_the_line_with_progress_are_no_record(tmp_path: Path, mark: str) -> None:
    with pytest.raises(InputError, match="no streaming progress"):
        told(tmp_path, f"| `Streaming query made progress: {mark}` | the whole record |")
    assert len(told(tmp_path, f"Look for `made progress: {mark}`.", MARK + progress(41, 8_000, 900))["queries"]) == 1


def test_records_that_name_no_query_share_what_the_text_says_of_its_sink(tmp_path: Path) -> None:
    table = (
        "Metrics of a job that reads with **FileStreamSource** and writes with **ForeachBatchSink**.",
        "| **Sink Description** | ForeachBatchSink | ForeachBatchSink |",
        "",
        "| Stage | Views | Orders |",
        "|---|---|---|",
        "| **Trigger Execution** | 1904 | 1904 |",
        "| **Add Batch** | 640 | 601 |",
        "| **Commit Offsets** | 131 | 127 |",
        "| **WAL Commit** | 180 | 171 |",
        "| **Latest Offset** | 820 | 877 |",
    )
    queries = told(tmp_path, *table)["queries"]
    assert [(value(query, "source"), value(query, "sink")) for query in queries] == [("file", "foreach_batch")] * 2
    legal = {step["legal"] for query in queries for finding in query["findings"] for step in finding["steps"]
             if step["id"] == "async-progress"}  # fmt: skip
    assert legal == {"no"}


def test_a_map_of_durations_with_dots_tells_the_whole_trigger(tmp_path: Path) -> None:
    record = '{"batchId": 42, "inputRowsPerSecond": 1200.0, "processedRowsPerSecond": 980.5, "durationMs": %s}'
    query = only(told(tmp_path, record % '{"triggerExecution": 1250, "getBatch": 80, ...}'))
    assert (query["screen"]["undivided"], query["metrics"]["trigger_execution_ms"]["p50"]) == (True, 1250)
    assert query["verdict"].startswith("Rows came 1.2 times as fast as they were processed")


def test_an_interval_in_code_is_not_that_of_rows_that_came_in_a_tenth_of_it(tmp_path: Path) -> None:
    record = '{"batchId": 42, "numInputRows": 1200, "inputRowsPerSecond": %s, "durationMs": {"addBatch": 900,' \
             ' "triggerExecution": 1000}}'  # fmt: skip
    assert value(only(told(tmp_path, CODE, record % 1100.0)), "trigger_interval_ms") is None
    assert value(only(told(tmp_path, CODE, record % 60.0)), "trigger_interval_ms") == 20_000
    second = (record % 1100.0).replace("42", "1")  # which follows the first one at once
    assert value(only(told(tmp_path, CODE, second)), "trigger_interval_ms") == 20_000


def test_an_error_of_the_query_s_own_code_is_told_in_its_words(tmp_path: Path) -> None:
    lines = (
        'Exception in thread "main" org.apache.spark.sql.streaming.StreamingQueryException: The second table is closed',
        "=== Streaming Query ===",
        "Identifier: [id = 11111111-1111-1111-1111-111111111111, runId = 22222222-2222-2222-2222-222222222222]",
        "Current Committed Offsets: {}",
    )
    found = report(tmp_path, *lines)
    assert only(found.data)["verdict"] == "The query stopped with an error: The second table is closed."
    assert "No rule knows this error: mend what it names." in str(found)


def test_the_first_screen_says_nothing_twice(tmp_path: Path) -> None:
    record = '{"batchId": 3, "numInputRows": 120, "inputRowsPerSecond": 30.0, "durationMs": {"triggerExecution": 4500}}'
    assert str(report(tmp_path, record)).count("times as fast as they were processed") == 1


@pytest.mark.parametrize(
    ("before", "says", "not_said"),
    [
        ("Batch 0 written to sessions in 9020ms (2 rows, 0 rows/sec)", "as the first batch after a start", "few rows"),
        ("Batch 6 written to sessions in 9020ms (2 rows, 0 rows/sec)", "it tells of one batch. The text shows few rows",
         "first batch"),
        ("Batch 6 written to sessions in 9020ms (21000 rows)", "it tells of one batch.", "few rows"),
        ("It runs all day.", "the first batch after a start often works off", "few rows"),
    ],
)  # fmt: skip
def test_a_late_batch_is_the_one_that_the_text_numbers(tmp_path: Path, before: str, says: str, not_said: str) -> None:
    (entry,) = told(tmp_path, before, BEHIND.format("9000ms", "9012ms"))["input"]["falling_behind"]
    assert says in entry["says"]
    assert not_said not in entry["says"]


@pytest.mark.parametrize(
    ("rate", "contradicts"),
    [("4.0", True), ("20.8", False), ("15.0", False), ("500.0", True), ("0.0", False)],
)
def test_a_length_that_its_rows_and_rate_belie_is_not_judged(tmp_path: Path, rate: str, contradicts: bool) -> None:
    rows = '"batchId": 7, "numInputRows": 25, "inputRowsPerSecond": 5'
    record = f'{{{rows}, "processedRowsPerSecond": {rate}, "durationMs": {{"triggerExecution": 1200}}}}'
    found = str(report(tmp_path, record))
    assert ("another length than triggerExecution in 1 batch" in found) is contradicts
    assert ("Nothing to judge" in found) is contradicts


def test_what_its_author_wrote_behind_a_line_tells_which_batch_was_late(tmp_path: Path) -> None:
    lines = [
        "Current batch is falling behind. Trigger interval is 20000ms, but spent 91000ms (first batch)",
        "Current batch is falling behind. Trigger interval is 20000ms, but spent 24000ms (steady-state)",
    ]
    (entry,) = told(tmp_path, *lines)["input"]["falling_behind"]
    assert "the first after a start, which is cold, took 91.0 s; later ones 24.0 s" in entry["says"]


@pytest.mark.parametrize("prose", ["First I looked at the cluster.", "Every query of ours prints this."])
def test_a_sentence_behind_a_line_is_no_label_of_it(tmp_path: Path, prose: str) -> None:
    line = BEHIND.format("10000 ms", "15000 ms")
    (entry,) = told(tmp_path, f"26/03/04 09:00:14 {line}. {prose}")["input"]["falling_behind"]
    assert "the first batch after a start often works off what had piled up" in entry["says"]


LATE_AT = "26/03/{0} 07:12:40 WARN ProcessingTimeExecutor: " + BEHIND.format("4000 ms", "{1} ms")


@pytest.mark.parametrize(
    ("lines", "says", "not_said"),
    [
        (("Batch: 0", LATE_AT.format("02", 7100), "", "the next day:", "wrote epoch 0", LATE_AT.format("03", 6200),
          "writes epoch 1"), "each was the first batch after a start", "later ones 6.2 s"),
        (("Batch: 7", LATE_AT.format("02", 7100), "restarted:", "wrote epoch 0", LATE_AT.format("03", 9200)),
         "cold, took 9.2 s; later ones 7.1 s", "each was"),
        (("Batch: 7", LATE_AT.format("02", 7100), "", LATE_AT.format("03", 9200)), "2 lines say", "the text numbers"),
        (("Batch: 7", "and after a restart", LATE_AT.format("03", 9200)), "the first batch after a start often",
         "it tells of one batch"),
    ],
)  # fmt: skip
def test_a_number_counts_for_the_late_batch_of_its_own_run_only(
    tmp_path: Path, lines: tuple[str, ...], says: str, not_said: str
) -> None:
    (entry,) = told(tmp_path, *lines)["input"]["falling_behind"]
    assert says in entry["says"]
    assert not_said not in entry["says"]


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ('["device"]', "no key ever leaves the state then"),
        ('Seq("device", "room")', "no key ever leaves the state then"),
        ('["device", "at"]', "The text shows dropDuplicates: its state"),
        ("keys", "The text shows dropDuplicates: its state"),
        ('Seq("device", time)', "The text shows dropDuplicates: its state"),
    ],
)
def test_deduplication_by_other_columns_than_the_watermark_s_keeps_its_keys(
    tmp_path: Path, keys: str, says: str
) -> None:
    code = f'readings.withWatermark("at", "5 minutes").dropDuplicates({keys}).writeStream.format("console").start()'
    (entry,) = told(tmp_path, code, BEHIND.format("4000 ms", "6100 ms"))["input"]["falling_behind"]
    assert says in entry["says"]
