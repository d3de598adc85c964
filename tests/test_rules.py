"""The shipped rules: their own examples, what Spark's documents state, and queries that are well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import pytest

from advisor.catalogue import Catalogue, Example, Rule, Step, load
from advisor.engine import Finding, judge, judge_rule
from advisor.examples import failures, progress, run, window

SHIPPED = load()
CASES = [(rule, example) for rule in SHIPPED.rules.values() for example in rule.examples]
FIRST_RULES = (
    "LG001 LG002 LG003 LG004 LG005 ST001 ST002 ST005 ST012 TR001 TR002 TR004 TR005 TR006 SK002 SK003 SR002 CF001 CF002"
    " DQ001"
)

# What the documents about these features state, and what running Spark says to it: (where it is told, the words).
# An engineer must meet each of them at the right moment, so a sentence that goes must come back elsewhere.
STATED: list[tuple[str, str]] = [
    # async progress tracking: options, exactly
    ("async-progress", "asyncProgressTrackingEnabled"),
    ("async-progress", "asyncProgressTrackingCheckpointIntervalMs"),
    ("CF002", "in exactly this spelling"),
    ("CF002", "such as a session setting"),
    # only some sinks, only without state, only some triggers, since when
    ("async-progress", "it accepts Kafka, console, memory and noop, and foreach from Spark 4.3 on"),
    ("async-progress", "starts with this option and fails in its first batch"),
    ("async-progress", "Spark refuses it at start with Once and AvailableNow; continuous processing ignores it"),
    ("async-progress", "It needs Spark 3.4 or later"),
    ("async-progress", "It needs Databricks Runtime 11.3 or later"),
    ("async-progress", "cannot be combined with sink evolution"),
    # no exactly-once end to end
    ("async-progress", "is processed again (at least once). The repeated batches can hold other offset ranges."),
    ("async-progress", "The Kafka sink never guarantees more than at-least-once"),
    ("async-progress", "Batch ids jump"),
    # the name of the interval that one article printed
    ("CF002", "asyncProgressCheckpointingInterval"),
    # log writes that come faster than they finish
    ("LG002", "its queue holds two writes"),
    ("LG002", "the batch waits and the gain is lost"),
    ("async-progress-interval", "of data is processed again"),
    # switching it off
    ("async-progress-off", "at least two more batches are complete"),
    ("async-progress-off", "batch N doesn't exist"),
    ("LG005", "A restart needs the offset log of batch"),
    ("LG005", "needs the offset logs of the last two batches, with consecutive numbers"),
    ("LG005", "The latest batch in the commit log must be the same or one earlier"),
    ("async-progress-on-again", "at least two batches are complete"),
    # the share of state commits
    ("ST001", "divides it by the number of partitions and multiplies it by the number of waves"),
    ("ST001", "3186626"),
    # async state checkpoints, Databricks only
    ("async-state-checkpoint", "spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled"),
    ("async-state-checkpoint", "com.databricks.sql.streaming.state.RocksDBStateStoreProvider"),
    (
        "async-state-checkpoint",
        "It needs Databricks Runtime 10.4 or later (the vendor's pages name both 10.3 and 10.4)",
    ),
    ("async-state-checkpoint", "Open-source Spark does not have it"),
    ("async-state-checkpoint", "ignores the first setting and fails on the second"),
    ("async-state-checkpoint", "Exactly-once is kept if the sink is idempotent"),
    ("async-state-checkpoint", "At most one batch is pending; after a failure up to two batches are processed again"),
    ("async-state-checkpoint", "a restart is slower"),
    ("async-state-checkpoint", "fails the whole query, without task retries"),
    ("async-state-checkpoint", "configure job retries"),
    ("async-state-checkpoint", "Do not resize the cluster"),
    ("async-state-checkpoint", "RocksDB state store only"),
    ("async-state-checkpoint", "up to 25 % shorter batches with millions of keys, more at the peak"),
    ("ST001", "an aggregation, a deduplication, a stream-stream join or a (flat)mapGroupsWithState"),
    ("rocksdb-with-changelog", "With 20,000 keys on 8 partitions RocksDB was slower"),
    # async log purge
    ("async-log-purge", "spark.sql.streaming.asyncLogPurge.enabled"),
    ("async-log-purge", "the default since Spark 3.4, for every kind of query"),
    ("LG003", "a vendor says half of the latency. On a local disk no cost was seen"),
    # continuous processing
    ("continuous-processing", "It needs Spark 2.3 or later"),
    ("continuous-processing", "experimental in Spark"),
    ("TR005", "Spark's guide says in about a millisecond"),
    (
        "continuous-processing",
        "It guarantees at-least-once only, and going back to micro-batches needs a new checkpoint",
    ),
    ("continuous-processing", "micro-batches then fail on it (Spark 3.5 to 4.3)"),
    ("continuous-processing", "although Spark's guide says that you can change between the modes"),
    ("continuous-processing", "no aggregation, no current_timestamp, no current_date"),
    ("continuous-processing", "It reads Kafka and the rate source only"),
    ("continuous-processing", "The rate source accepts only numPartitions and rowsPerSecond"),
    ("continuous-processing", "It writes to Kafka, memory, console and noop only"),
    ("continuous-processing", "The trigger's interval says how often the position is saved"),
    ("continuous-processing", "one task slot for each partition of the source"),
    ("continuous-processing", "A failed task stops the query, without retries"),
    ("continuous-processing", "You can ignore the warnings when the query stops"),
    ("continuous-processing", "It writes no progress events"),
    # what running Spark taught beside the documents
    ("fewer-state-partitions", "On the existing checkpoint the setting does nothing"),
    ("fewer-state-partitions", "silently skips batches"),
    ("rocksdb-with-changelog", "On the existing checkpoint the setting does nothing"),
    ("offline-state-repartition", "It refuses the default state store and leaves a checkpoint from which the query"),
    ("abortable-checkpoint-manager", "on any other file system, EMRFS's s3:// included, the query does not start"),
    ("abortable-checkpoint-manager", "Any other query of this session fails at start"),
    ("real-time-mode", "Spark 4.3 refuses the old checkpoint"),
    ("real-time-mode", "with it the query fails after its start"),
    ("real-time-mode-in-place", "It needs Spark 4.1 or later for Scala and Java, 4.2 for Python"),
    ("real-time-mode-stateful", "Real-time mode needs update mode"),
    ("interval-that-holds", "It saves work, not latency"),
    ("persist-in-foreach-batch", "If the source is cheap to read, it is no faster"),
    ("delta-snapshot-partitions", "Despite its name it works on open-source Spark too"),
]

HEALTHY: dict[str, dict[str, Any]] = {
    "foreachBatch to Delta every two seconds": {
        "facts": {
            "sink": "foreach_batch",
            "stateful": False,
            "trigger": "processing_time",
            "trigger_interval_ms": 2000,
        },
        "batches": {
            "row": {"triggerExecution": 1300, "walCommit": 30, "addBatch": 1180, "commitOffsets": 32},
            "interval_ms": 2000,
        },
    },
    "a long trigger with real work": {
        "facts": {"sink": "kafka", "stateful": False, "trigger": "processing_time", "trigger_interval_ms": 5000},
        "batches": {
            "row": {"triggerExecution": 3900, "walCommit": 40, "addBatch": 3700, "commitOffsets": 45},
            "interval_ms": 5000,
        },
    },
    "RocksDB with changelogs and work in every partition": {
        "facts": {
            "task_slots": 4,
            "trigger": "processing_time",
            "trigger_interval_ms": 5000,
            "checkpoint_scheme": "file",
        },
        "batches": {
            "row": {
                "triggerExecution": 3000,
                "walCommit": 30,
                "addBatch": 2850,
                "commitOffsets": 30,
                "numInputRows": 90000,
            },
            "interval_ms": 5000,
            "operators": [
                {
                    "operatorName": "stateStoreSave",
                    "commitTimeMs": 320,
                    "numShufflePartitions": 4,
                    "numRowsTotal": 900000,
                    "numRowsUpdated": 80000,
                    "customMetrics": {
                        "rocksdbCommitFlushLatency": 0,
                        "rocksdbCommitCompactLatency": 0,
                        "rocksdbCommitCheckpointLatency": 0,
                        "rocksdbCommitFileSyncLatencyMs": 290,
                        "rocksdbFilesCopied": 0,
                    },
                }
            ],
        },
    },
    "asynchronous tracking on": {
        "facts": {"sink": "kafka", "stateful": False, "trigger": "unspecified", "async_progress": True},
        "batches": {"row": {"triggerExecution": 29, "walCommit": 0, "addBatch": 22, "commitOffsets": 0}},
    },
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return SHIPPED


def text_of(catalogue: Catalogue, name: str) -> str:
    """Everything that a rule (without its steps) or a step says."""
    if name in catalogue.rules:
        return "\n".join(words_in(catalogue.rules[name].model_dump(exclude={"steps"})))
    return "\n".join(words_in(catalogue.steps[name].model_dump(exclude={"undo"})))


def words_in(value: Any) -> Iterator[str]:
    """Every key and value inside, as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from words_in(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from words_in(inner)
    else:
        yield str(value)


@pytest.mark.parametrize(("rule", "example"), CASES, ids=[f"{rule.id} {example.name}" for rule, example in CASES])
def test_an_example_is_answered_as_it_says(rule: Rule, example: Example) -> None:
    assert failures(rule, example) == []


def test_an_answer_that_differs_is_named(catalogue: Catalogue) -> None:
    rule = catalogue.rules["LG001"]
    expect = rule.examples[0].expect
    other = rule.examples[0].model_copy(
        update={"expect": expect.model_copy(update={"level": "low", "steps": {"async-progress": "no"}})}
    )
    said = run(rule.model_copy(update={"examples": (other,)}))
    level, step = (line.partition(": ")[2] for line in said)
    assert level.startswith("expected level low, got high, because offset_log_share is ")
    assert step.startswith("expected no for the step async-progress, got yes, because ")
    quiet = other.model_copy(update={"expect": expect.model_copy(update={"verdict": "quiet"})})
    (fires,) = failures(rule, quiet)
    assert fires.startswith("expected quiet, got fires, because offset_log_share is ")


def test_the_first_rules_are_there(catalogue: Catalogue) -> None:
    assert set(FIRST_RULES.split()) <= catalogue.rules.keys()


@pytest.mark.parametrize(("where", "words"), STATED)
def test_what_the_documents_state_is_told(catalogue: Catalogue, where: str, words: str) -> None:
    assert words in text_of(catalogue, where)


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_fires_on_a_healthy_query(catalogue: Catalogue, name: str) -> None:
    short = HEALTHY[name]
    example = Example.model_validate(
        {
            "name": name,
            "facts": short["facts"],
            "batches": {"count": 60} | short["batches"],
            "expect": {"verdict": "quiet"},
        }
    )
    assert [finding.says for finding in judge(window(example), catalogue).findings] == []


def test_every_sentence_is_filled_and_every_number_found() -> None:
    found = [judge_rule(rule, window(example)) for rule, example in CASES if example.expect.verdict == "fires"]
    assert len(found) > len(SHIPPED.rules)
    for finding in found:
        assert isinstance(finding, Finding)
        assert not re.search(r"\{|unknown", finding.says), finding.says
        for step in finding.steps:
            assert "{" not in step.costs + step.undo + step.check + step.do, step.id


@pytest.mark.parametrize("step", SHIPPED.steps.values(), ids=lambda step: step.id)
def test_a_step_that_takes_a_new_checkpoint_says_what_is_lost(step: Step) -> None:
    if step.takes == "new_checkpoint":
        assert re.search("state is lost|startingOffsets|new one|new checkpoint", step.costs)
        assert "checkpoint" in str(step.undo)


def test_nobody_is_told_to_switch_off_deltas_statistics(catalogue: Catalogue) -> None:
    assert not [step for step in catalogue.steps if "stats.collect" in catalogue.steps[step].model_dump_json()]


def test_code_to_paste_is_python(catalogue: Catalogue) -> None:
    changes = [c for s in catalogue.steps.values() for c in (s.change, *(stage.change for stage in s.stages)) if c]
    codes = [change.code.replace("{advised_state_partitions}", "2") for change in changes if change.code]
    assert codes
    for code in codes:
        ast.parse(f"writer{code}" if code.startswith(".") else code)


def test_references_are_public(catalogue: Catalogue) -> None:
    for rule in catalogue.rules.values():
        assert all(re.match(r"https://|measured", reference) for reference in rule.references), rule.id


def test_an_example_gives_the_same_progress_every_time(catalogue: Catalogue) -> None:
    example = catalogue.rules["LG001"].examples[0]
    events = progress(example)
    assert events == progress(example)
    assert len(events) == 60
    assert events[0]["batchId"] > 0
    assert all(event["inputRowsPerSecond"] > 0 for event in events)
    assert len({event["durationMs"]["triggerExecution"] for event in events}) > 1
