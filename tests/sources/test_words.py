"""The trigger that people name in words, of now and of before; what was left out; what Spark refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import advisor
from advisor.errors import InputError
from advisor.sources.sightings.paste import read_paste
from tests.sources.reading import told


def interval(text: str) -> int | str | None:
    """The interval that the text tells, else the kind of trigger."""
    said = {each.fact: each.value for each in read_paste(text)}
    found: int | str | None = said.get("trigger_interval_ms", said.get("trigger"))
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Trigger 30 Sekunden, Spark 3.4.", 30_000),
        ("We have trigger 1 minute. Batches take 20 s.", 60_000),
        ("It is triggered every 15 s and writes to Kafka.", 15_000),
        ("The trigger interval is 2 minutes; addBatch 140 s", 120_000),
        ("trigger interval: 500 ms", 500),
        ("It runs with Trigger.ProcessingTime(10 seconds) on YARN.", 10_000),
        ("disparador cada 20 segundos", 20_000),
        ("a batch starts every 5 minutes", 300_000),
        ("no trigger set", "unspecified"),
    ],
)
def test_an_interval_in_words(text: str, found: int | str) -> None:
    assert interval(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The trigger was 10 s, now it is 30 s.", 30_000),
        ("I changed the trigger interval from 5 seconds to 1 minute last week.", 60_000),
        ("We had trigger 5s before.", None),
        ("We had trigger(processingTime='5 seconds') before and removed it", None),
        ("We had trigger(processingTime='5 seconds') before, now processingTime='20 seconds'", 20_000),
        ('q = df.writeStream.trigger(processingTime="20 seconds").start()  # was 5 seconds before', 20_000),
        ("We tried trigger 10 seconds. It made no difference.", None),
        ("Trigger 10 s here, trigger 20 s there.", "processing_time"),
    ],
)
def test_an_interval_of_before_does_not_count(text: str, found: int | str | None) -> None:
    assert interval(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Would it help to set the trigger to 10 seconds?",
        "If the trigger is 10 s, what then",
        "triggerExecution 14 s and addBatch 13 s",
        "batch 7: trigger: 2205 ms, rows: 12",
        "A cron job restarts it every 10 minutes, and we log every 5 s.",
        "each trigger takes 12 s",
        "spark.sql.streaming.noDataProgressEventInterval=10000",
        "the window is 10 minutes and the watermark 1 hour; the trigger fires often",
    ],
)
def test_other_lengths_are_no_interval(text: str) -> None:
    assert interval(text) is None


ELIDED = """{{
  "batchId" : 12, "numInputRows" : 500,
  "durationMs" : {{ "addBatch" : 1100, "getBatch" : 2, "latestOffset" : 20, "queryPlanning" : 40,
    {}
    "triggerExecution" : 2000, "walCommit" : 60 }}
}}"""


@pytest.mark.parametrize(
    "rest", ["...", "…", "// ...", "// ... other phases", "/* some omitted */", "# snip", "[...]", "<snip>"]
)
def test_what_was_left_out_is_not_the_commit_log(tmp_path: Path, rest: str) -> None:
    budget = told(tmp_path, ELIDED.format(rest))["budget"]
    assert (budget["addBatch"], budget["walCommit"]) == (1100, 60)
    assert budget.keys().isdisjoint({"commitLog", "unaccounted"})


@pytest.mark.parametrize("rest", ["", "// a comment", "# why so slow"])
def test_other_comments_leave_nothing_out(tmp_path: Path, rest: str) -> None:
    assert told(tmp_path, ELIDED.format(rest))["budget"]["commitLog"] == 778


@pytest.mark.parametrize(
    "text",
    [
        '>>> q = df.writeStream.format("kafka").trigger(continuous="1 second").start()\n>>> q.recentProgress\n[]\n',
        'Why is lastProgress None with Trigger.Continuous("500 milliseconds")?',
    ],
)
def test_continuous_processing_is_not_asked_for_progress(tmp_path: Path, text: str) -> None:
    path = tmp_path / "asked.txt"
    path.write_text(text)
    with pytest.raises(InputError) as failed:
        advisor.analyze(path)
    assert "continuous processing writes no progress" in str(failed.value)
    assert "give a driver log" not in str(failed.value)


REFUSED = (
    "pyspark.errors.exceptions.captured.IllegalArgumentException: "
    "Sink ForeachBatchSink does not support async progress tracking"
)
DIED = (
    "24/05/01 10:00:07 ERROR MicroBatchExecution: Query pay [id = 11111111-1111-1111-1111-111111111111, "
    "runId = 22222222-2222-2222-2222-222222222222] terminated with error\n{}\n\tat scala.Predef$.assert\n"
)
ASSERTION = "java.lang.AssertionError: assertion failed: batch 3"


def test_a_refusal_counts_before_a_failed_assertion_behind_it(tmp_path: Path) -> None:
    query = told(tmp_path, f"{REFUSED}\n{DIED.format(ASSERTION)}")
    assert "Sink ForeachBatchSink does not support async" in query["verdict"]
    assert "AssertionError" not in query["verdict"]
    assert query["best_step"]["rule"] == "ER001"


@pytest.mark.parametrize(
    "text",
    [
        f"{DIED.format(ASSERTION)}\n{REFUSED}",
        f"{REFUSED}\n{DIED.format('java.lang.ArithmeticException: / by zero')}",
    ],
)
def test_what_a_run_says_that_it_died_of_stays(tmp_path: Path, text: str) -> None:
    assert "Sink ForeachBatchSink" not in told(tmp_path, text)["verdict"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It has a 30-second trigger.", 30_000),
        ("with a 1 minute processing-time trigger", 60_000),
        ("My trigger has been set at 10 seconds", 10_000),
        ("I set the trigger to 10 seconds", 10_000),
        ("trigger:\n  processingTime: 10 seconds", 10_000),
        ('{"triggerInterval": "10 seconds"}', 10_000),
        ("job.sh --trigger-interval 10s", 10_000),
        ("TRIGGER_INTERVAL=10s", 10_000),
        ('name = "TRIGGER_INTERVAL"\nvalue = "10s"', 10_000),
        ("stream.trigger.processingTime=10 seconds", 10_000),
        ("Why is it slow with a 30-second trigger?", 30_000),
        ("Is a 30-second trigger better?", None),
        ("the 12 s trigger took long", None),
        ("processingTime: 2205 ms", None),
        ("processing time: 10 s", None),
        ("# trigger_interval: 10 s", None),
    ],
)
def test_an_interval_that_stands_ahead_or_is_set_by_a_key(text: str, found: int | None) -> None:
    assert interval(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I set maxOffsetsPerTrigger, with value 100.", 100),
        ("`maxOffsetsPerTrigger`: 5,000", 5000),
        ('options:\n  maxOffsetsPerTrigger: "5000"', 5000),
        ('.option("maxOffsetsPerTrigger", 5_000)', 5000),
        ("run --max-offsets-per-trigger 5000", 5000),
        ("MAX_OFFSETS_PER_TRIGGER=5000 python job.py", 5000),
        ('env {\n  name  = "MAX_OFFSETS_PER_TRIGGER"\n  value = "5000"\n}', 5000),
        ("maxOffsetsPerTrigger has been set to 20k", 20_000),
        ("a limit of 5000 offsets per trigger", 5000),
        ("It reads at most 5000 offsets in each batch.", 5000),
        ("Before maxOffsetsPerTrigger was 100, now maxOffsetsPerTrigger is 5000", 5000),
        ("maxOffsetsPerTrigger was 100", None),
        ("Should I set maxOffsetsPerTrigger to 100?", None),
        ("If maxOffsetsPerTrigger is 100, what then", None),
        ("maxOffsetsPerTrigger is 100 here. There it is different: maxOffsetsPerTrigger 200", None),
        ("maxOffsetsPerTrigger is not read; 3 of them", None),
        ("# maxOffsetsPerTrigger=100", None),
        ("batches of 5000 rows", None),
    ],
)
def test_a_limit_of_rows_in_words_and_by_a_key(text: str, found: int | None) -> None:
    said = {each.fact: each.value for each in read_paste(text)}
    assert said.get("max_offsets_per_trigger") == found


def test_an_option_that_somebody_tried_is_no_trigger_of_now() -> None:
    assert not list(read_paste("With `--trigger 700ms` the latency went from 5.1 to 4.9 s."))
