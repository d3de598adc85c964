"""Names, values, what progress tells, which sightings count, and who wins."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from advisor.batches import SIGHTINGS, Columns
from advisor.contract import Conflict, FactEntry
from advisor.errors import UsageError
from advisor.facts import (
    FACTS,
    ORIGINS,
    Known,
    Sighting,
    check_value,
    from_conf,
    from_confs,
    from_writer_options,
    parse_user_fact,
    platform_of,
    settle,
    version_at_least,
    version_in_words,
)
from advisor.facts.evidence import Evidence
from advisor.facts.inspection import _longest_stage, computed, sink_kind, source_kind
from tests.made import START, events, table

ID, RUN = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"
LOG = "made.log"
BATCH = {"triggerExecution": 100, "addBatch": 60, "walCommit": 20, "commitOffsets": 20, "latestOffset": 0}
ROCKS = {"rocksdbCommitFlushLatency": 0, "rocksdbCommitCheckpointLatency": 0, "rocksdbFilesCopied": 2}


def frame(rows: list[dict[str, Any]], **asked: Any) -> pa.Table:
    return table(events(rows, **asked))


def seen(
    fact: str, value: Any, *, origin: str = "log", run: str | None = None, offset: int = 0, **more: Any
) -> Sighting:
    return Sighting(more.get("id", ID if run else None), run, LOG, fact, json.dumps(value), origin, LOG, offset)


def sightings(*rows: Sighting) -> pa.Table:
    return pa.Table.from_pylist([row._asdict() for row in rows], schema=SIGHTINGS)


def values(facts: Any) -> dict[str, Any]:
    return {name: known.value for name, known in facts.items()}


class TestNames:
    def test_every_fact_says_what_it_is_and_where_it_is_found(self) -> None:
        assert all(fact.meaning and fact.where and name == fact.name for name, fact in FACTS.items())
        assert all(bool(fact.values) == (fact.kind in ("choice", "choices")) for fact in FACTS.values())
        assert all({*fact.origins} <= {*ORIGINS} and (fact.origins or fact.settable) for fact in FACTS.values())
        assert all(fact.unit == "ms" for fact in FACTS.values() if fact.name.endswith("_ms"))

    @pytest.mark.parametrize(
        ("text", "parsed"),
        [
            ("stateful=false", (None, "stateful", False)),
            ("task_slots=32", (None, "task_slots", 32)),
            ("latency_target_ms=250.5", (None, "latency_target_ms", 250.5)),
            ("spark_version=3.5.1-amzn-0", (None, "spark_version", "3.5.1-amzn-0")),
            ("orders:sink=Kafka", ("orders", "sink", "kafka")),
            ("my:query:trigger=available_now", ("my:query", "trigger", "available_now")),
            ("ignored_async_setting=none", (None, "ignored_async_setting", None)),
            ("checkpoint_path=s3a://b/a=1", (None, "checkpoint_path", "s3a://b/a=1")),
        ],
    )
    def test_a_user_gives_a_fact(self, text: str, parsed: tuple[Any, ...]) -> None:
        assert parse_user_fact(text) == parsed

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("statefull=false", "did you mean 'stateful'?"), ("sink=kafak", "did you mean 'kafka'?"),
            ("sink=zzz", "one of kafka, console"), ("task_slots=many", "give a whole number"),
            ("task_slots=0", "give at least 1"), ("latency_target_ms=nan", "give a number"),
            ("zstd_level=99", "give 1 to 22"), ("zstd_level=0", "give 1 to 22"),
            ("stateful=maybe", "give true or false"), ("spark_version=new", "give a version"),
            ("stateful", "--set stateful=false"), ("=1", "--set stateful=false"),
            ("max_files_per_trigger=abc", "give a whole number, or none"),
            ("data_problem=none", "cannot be set, it can only be observed"), ("falling_behind=true", "found in: log"),
        ],
    )  # fmt: skip
    def test_a_wrong_fact_is_answered_with_what_would_do(self, text: str, said: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse_user_fact(text)
        assert said in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "value", "fits"),
        [
            ("stateful", True, True), ("stateful", "true", False), ("task_slots", 4, True),
            ("task_slots", True, False), ("task_slots", 0, False), ("sink", "kafka", True), ("sink", "files", False),
            ("ignored_async_setting", None, True), ("sink", None, False), ("latency_target_ms", 1.5, True),
        ],
    )  # fmt: skip
    def test_values_from_logs_are_checked(self, name: str, value: Any, fits: bool) -> None:
        assert check_value(FACTS[name], value) is fits


class TestVersions:
    @pytest.mark.parametrize(
        ("version", "floor", "holds"),
        [
            ("4.0.1", "3.4", True), ("3.4", "3.4", True), ("3.3.4", "3.4", False), ("3.10.0", "3.4", True),
            ("4", "3.4", True), ("3", "3.4", False), ("4.2.0-SNAPSHOT", "4.2", True),
            ("3.5.1-amzn-0", "3.5.1", True), ("13.3.x-scala2.12", "10.4", True), ("10.4.x-scala2.12", "11.3", False),
            ("unknown", "3.4", False),
        ],
    )  # fmt: skip
    def test_versions_are_compared_as_far_as_the_floor_says(self, version: str, floor: str, holds: bool) -> None:
        assert version_at_least(version, floor) is holds

    @pytest.mark.parametrize(
        ("version", "platform"),
        [
            ("3.5.1", "open_source"), ("4.2.0-SNAPSHOT", "open_source"), ("3.4.1-amzn-2", "other"),
            ("2.4.0.7.1", "other"),
        ],
    )  # fmt: skip
    def test_vendors_add_to_the_numbers_of_a_release(self, version: str, platform: str) -> None:
        assert platform_of(version) == platform


class TestConfs:
    @pytest.mark.parametrize(
        ("text", "bytes"),
        [("64KB", 65536), ("1m", 1048576), ("128", 128), ("2 MB", None), ("0", None), ("1.5m", None), ("x", None)],
    )
    def test_a_size_is_read_as_spark_reads_it(self, text: str, bytes: int | None) -> None:
        assert dict(from_conf("spark.sql.files.maxPartitionBytes", text)).get("split_bytes") == bytes

    def test_a_configuration_value_settles_its_fact_and_is_kept(self) -> None:
        key = "spark.sql.streaming.stateStore.providerClass"
        name = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        assert from_conf(key, name) == [(f"conf:{key}", name), ("state_store", "rocksdb")]

    def test_the_partitions_that_are_pinned_inside_win_and_no_placebo_is_knowledge(self) -> None:
        assert from_confs({}, "event_log") == {"ignored_databricks_setting": Known(None, "event_log")}
        confs = {"spark.sql.streaming.internal.stateStore.partitions": "8", "spark.sql.shuffle.partitions": "200"}
        assert from_confs(confs, "event_log")["shuffle_partitions"] == Known(8, "event_log")

    def test_other_keys_and_credentials_are_not_kept(self) -> None:
        assert from_conf("spark.sql.parquet.compression.codec", "zstd") == []  # an option of the writer wins, unseen
        assert from_conf("spark.hadoop.fs.s3a.secret.key", "x") == []
        assert "x7" not in str(from_conf("spark.databricks.service.token", "x7"))

    @pytest.mark.parametrize(
        ("key", "ignored"),
        [
            ("asyncProgressTrackingEnabled", True), ("spark.asyncProgressTrackingEnabled", True),
            ("spark.sql.streaming.asyncProgressTracking", True),
            ("spark.sql.streaming.realTimeMode.asyncProgressTrackingByDefault.enabled", False),
        ],
    )  # fmt: skip
    def test_async_tracking_as_a_configuration_is_ignored(self, key: str, ignored: bool) -> None:
        told = [one for one in from_conf(key, "true") if one[0] != f"conf:{key}"]
        assert told == [("ignored_async_setting", key)] * ignored

    def test_only_exact_databricks_keys_are_placebos(self) -> None:
        key = "spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled"
        assert ("ignored_databricks_setting", key) in from_conf(key, "true")
        assert "ignored_databricks_setting" not in dict(from_conf(key, "false"))
        assert "ignored_databricks_setting" not in dict(from_conf("spark.databricks.delta.snapshotPartitions", "2"))

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"ASYNCPROGRESSTRACKINGENABLED": "true"},
             {"async_progress": False, "ignored_async_setting": "ASYNCPROGRESSTRACKINGENABLED"}),
            ({"asyncProgressTrackingEnabled": "true"},
             {"async_progress": True, "ignored_async_setting": None, "async_progress_interval_ms": 1000}),
            ({"asyncProgressTrackingEnabled": "true", "asyncProgressCheckpointingInterval": "5000"},
             {"async_progress": True, "ignored_async_setting": "asyncProgressCheckpointingInterval",
              "async_progress_interval_ms": 1000}),
        ],
    )  # fmt: skip
    def test_writer_options_count_in_exactly_this_spelling(self, options: Any, told: dict[str, Any]) -> None:
        assert dict(from_writer_options(options)) == told


class TestComputed:
    def test_a_stateless_query_and_none(self) -> None:
        told = computed(frame([BATCH] * 3))
        assert told["stateful"] == Known(False, "progress")
        assert values(told) | {"sink": "noop", "source": "rate", "spark_version_at_least": "3.4"} == values(told)
        assert "state_store" not in told and computed(frame([BATCH]).slice(0, 0)) == {}
        assert "stateful" not in computed(frame([{"triggerExecution": 3, "latestOffset": 2}]))  # an idle event

    @pytest.mark.parametrize(
        "times", [{"watermark": "1970-01-01T00:00:00.000Z"}, {"watermark": "", "max": "2026-01-05T03:00:00.000Z"}]
    )
    def test_a_stateful_query(self, times: dict[str, str]) -> None:
        operator = {"operatorName": "dedupe", "numRowsUpdated": 5, "customMetrics": {"loadedMapCacheHitCount": 1}}
        row = BATCH | {"operators": [operator, operator | {"operatorName": "stateStoreSave"}]}
        told = values(computed(frame([row | {"eventTime": times}] * 3)))
        wanted = {"stateful": True, "state_operators": "dedupe,stateStoreSave", "state_store": "hdfs"}
        assert told | wanted | {"watermarked": True} == told

    @pytest.mark.parametrize(
        ("usual", "snapshot", "changelog"),
        [({}, {"rocksdbCommitCheckpointLatency": 100, "rocksdbCommitFlushLatency": 24}, True),
         ({"rocksdbCommitCheckpointLatency": 85, "rocksdbCommitFlushLatency": 74}, {}, False)],
    )  # fmt: skip
    def test_changelog_is_told_by_what_most_commits_do(self, usual: Any, snapshot: Any, changelog: bool) -> None:
        def row(more: dict[str, int]) -> dict[str, Any]:
            return BATCH | {"operators": [{"operatorName": "s", "numRowsUpdated": 9, "customMetrics": ROCKS | more}]}

        rows = [row(snapshot if number % 10 == 9 else usual) for number in range(20)]
        assert computed(frame(rows))["changelog"] == Known(changelog, "progress")
        assert "changelog" not in computed(frame(rows[:4]))

    @pytest.mark.parametrize("changes", [0, 24_000])  # with changelogs a commit of so many makes a snapshot, too
    def test_commits_of_no_rows_and_of_very_many_do_not_tell_about_changelogs(self, changes: int) -> None:
        metrics = ROCKS | {"rocksdbCommitCheckpointLatency": 85}
        operator = {"operatorName": "s", "numRowsUpdated": changes, "numShufflePartitions": 2, "customMetrics": metrics}
        assert "changelog" not in computed(frame([BATCH | {"operators": [operator]}] * 20))

    def test_kafka_partitions_and_several_sources(self) -> None:
        kafka = {"description": "KafkaV2[Subscribe[a]]", "endOffset": {"a": {"0": 5, "1": 7}, "b": {"0": 1}}}
        file = {"description": "FileStreamSource[file:/x]", "endOffset": {"logOffset": 1}}
        assert values(computed(frame([BATCH | {"sources": [kafka]}])))["kafka_partitions"] == 3
        told = values(computed(frame([BATCH | {"sources": [kafka, file]}])))
        assert (told["source"], told["kafka_partitions"]) == ("several", 3)

    @pytest.mark.parametrize(
        ("folders", "scheme"),
        [
            (["file:/data/in"], "file"), (["hdfs://name:8020/in", "hdfs://other/in"], "hdfs"),
            (["S3A://bucket/in"], "s3a"), (["/data/in"], None), (["file:/a", "s3a://b"], None),
        ],
    )  # fmt: skip
    def test_the_file_system_of_the_folders_that_are_read(self, folders: list[str], scheme: str | None) -> None:
        sources = [{"description": f"FileStreamSource[{folder}]"} for folder in folders]
        assert values(computed(frame([BATCH | {"sources": sources}]))).get("source_scheme") == scheme

    @pytest.mark.parametrize(
        ("more", "platform"),
        [
            ({"commitBatch": 5}, "databricks"), ({}, None),  # by its phases, or by a source that only it has
            *(({"sources": [source | {"numInputRows": 100}]}, "databricks") for source in (
                {"description": "CloudFilesSource[/landing]"},
                {"description": "KafkaV2[Subscribe[a]]", "metrics": {"estimatedTotalBytesBehindLatest": "0.0"}},
                {"description": "DeltaSource[s3://a/b]", "metrics": {"numFilesOutstanding": "4"}},
            )),
        ],
    )  # fmt: skip
    def test_databricks_shows_in_its_batches(self, more: dict[str, Any], platform: str | None) -> None:
        assert values(computed(frame([BATCH | more]))).get("platform") == platform

    @pytest.mark.parametrize(
        ("description", "kind"),
        [
            ("org.apache.spark.sql.execution.datasources.noop.NoopTable$@5f0b", "noop"),
            ("org.apache.spark.sql.execution.streaming.ConsoleTable$@1", "console"),
            ("org.apache.spark.sql.execution.streaming.ConsoleSinkProvider@1", "console"), ("MemorySink", "memory"),
            ("org.apache.spark.sql.kafka010.KafkaSourceProvider$KafkaTable@1", "kafka"),
            ("org.apache.spark.sql.kafka010.KafkaSourceProvider@1", "kafka"),
            ("ForeachWriterTable(org.apache.spark.sql.execution.python.PythonForeachWriter@1,Left(...))", "foreach"),
            ("ForeachBatchSink", "foreach_batch"), ("FileSink[file:/kafka/x]", "file"),
            ("DeltaSink[file:/data/table]", "delta"), ("org.example.Custom@1", "other"),
        ],
    )  # fmt: skip
    def test_kinds_of_sinks(self, description: str, kind: str) -> None:
        assert sink_kind(description) == kind

    @pytest.mark.parametrize(
        ("description", "kind"),
        [
            ("KafkaV2[Subscribe[topic]]", "kafka"), ("KafkaSource[Subscribe[topic]]", "kafka"),
            ("FileStreamSource[file:/data]", "file"), ("DeltaSource[file:/data]", "delta"),
            ("RateStreamV2[rowsPerSecond=1", "rate"), ("RateStreamSource[rowsPerSecond=1]", "rate"),
            ("RatePerMicroBatchStream[rowsPerBatch=1000]", "rate_micro_batch"), ("MemoryStream[value#1]", "memory"),
            ("TextSocketV2[host: localhost, port: 9999]", "socket"), ("KinesisV2[stream]", "kinesis"),
            ("org.apache.spark.sql.eventhubs.EventHubsSource@1", "event_hubs"),
            ("CloudFilesSource[s3://x]", "auto_loader"), ("PaimonSource[s3://x]", "other"),
            ("org.apache.spark.sql.execution.datasources.v2.python.PythonMicroBatchStream@1", "python"),
            ("org.apache.spark.sql.x.python.PythonMicroBatchStreamWithAdmissionControl@7", "python"),
        ],
    )  # fmt: skip
    def test_kinds_of_sources(self, description: str, kind: str) -> None:
        assert source_kind(description) == kind


def starts(gaps: list[int], durations: list[int], first_ms: int = 0) -> pa.Table:
    """Executed batches that start at these distances."""
    rows = [BATCH | {"triggerExecution": length, "interval": gap} for gap, length in zip(gaps, durations, strict=True)]
    made = frame(rows)
    moved = pc.add(made["timestamp"], pa.scalar(timedelta(milliseconds=first_ms), pa.duration("ms")))
    return made.set_column(made.schema.get_field_index("timestamp"), "timestamp", moved)


class TestTrigger:
    def told(self, gaps: list[int], durations: list[int], first_ms: int = 0) -> dict[str, Any]:
        found = computed(starts(gaps, durations, first_ms))
        told = {name: found[name] for name in ("trigger", "trigger_interval_ms") if name in found}
        # Starts at an interval's multiples show it; batches one after the other may be an interval that none keeps.
        certain = "progress" if "trigger_interval_ms" in told else "inferred"
        assert all(known.origin == certain for known in told.values())
        return values(told)

    @pytest.mark.parametrize(
        ("gaps", "lengths", "first_ms", "told"),
        [
            ([200 + number * 7919 % 1613 for number in range(60)], [100] * 60, 0, {}),  # no pattern
            ([1000] * 60, [100] * 60, 437, {}),  # a steady source that is not aligned
            ([1000] * 6, [100] * 6, 0, {"trigger": "processing_time", "trigger_interval_ms": 1000}),
            ([1040] * 6, [100] * 6, 0, {}),
            ([100] * 10, [96] * 10, 0, {}),
            ([(90 + max(n - 1, 0) % 37) + 4 + n % 3 for n in range(40)], [90 + n % 37 for n in range(40)], 0,
             {"trigger": "unspecified"}),  # one batch right after the other
        ],
    )  # fmt: skip
    def test_what_the_starts_tell(
        self, gaps: list[int], lengths: list[int], first_ms: int, told: dict[str, Any]
    ) -> None:
        assert self.told(gaps, lengths, first_ms) == told

    @pytest.mark.parametrize(
        ("lengths", "gaps", "polled_ms", "trigger"),
        [
            ([700] * 6, [17_003 + 41 * n for n in range(6)], 12.0, "unspecified"),
            ([700] * 6, [17_003 + 41 * n for n in range(6)], 1000.0, None),
            ([470 + 11 * (n % 5) for n in range(20)], [1000] * 20, 12.0, "unspecified"),
        ],
    )
    def test_batches_12_ms_after_an_empty_trigger_show_that_there_is_no_interval(
        self, lengths: list[int], gaps: list[int], polled_ms: float, trigger: str | None
    ) -> None:
        made = events(
            [BATCH | {"triggerExecution": ms, "interval": gap} for ms, gap in zip(lengths, gaps, strict=True)]
        )
        for event in made:
            event["inputRowsPerSecond"] = event["numInputRows"] / polled_ms * 1000
        assert values(computed(table(made))).get("trigger") == trigger

    @pytest.mark.parametrize(("polled_ms", "origin"), [(10.0, None), (1000.0, "progress"), (None, "inferred")])
    def test_a_source_that_delivers_at_each_full_second_is_no_trigger(
        self, polled_ms: float | None, origin: str | None
    ) -> None:
        """The rate tells the time since the trigger before; where none does, the interval is only inferred."""
        made = events([BATCH | {"triggerExecution": 300}] * 30, interval_ms=1000)
        for event in made:
            del event["inputRowsPerSecond"]
            if polled_ms:
                event["inputRowsPerSecond"] = event["numInputRows"] / polled_ms * 1000
        found = computed(table(made)).get("trigger_interval_ms")
        assert found == (Known(1000, origin) if origin else None)

    def test_triggers_that_find_nothing_between_long_batches_show_the_interval(self) -> None:
        """One batch in six outlasts the wait, so that the next one begins at once, at no multiple."""
        gaps, lengths = [4000, 5000, 6000, 4000, 4463, 4537] * 6, [1800, 1800, 1800, 4460, 1800, 1800] * 6
        made = events(
            [BATCH | {"triggerExecution": ms, "interval": gap} for gap, ms in zip(gaps, lengths, strict=True)]
        )
        for event, gap in zip(made, gaps, strict=True):
            event["inputRowsPerSecond"] = event["numInputRows"] / (1.0 if gap != 4463 else 4.463)
        found = computed(table(made))
        assert (found["trigger_interval_ms"], found["trigger"].value) == (Known(1000, "progress"), "processing_time")

    @pytest.mark.parametrize("interval", [500, 700, 1000, 5000, 60000])
    def test_starts_at_multiples_of_an_interval(self, interval: int) -> None:
        aligned = {"trigger": "processing_time", "trigger_interval_ms": interval}
        offset = -(int(START.timestamp() * 1000) % interval)
        assert self.told([interval] * 30, [interval // 3] * 30, offset + 2) == aligned

    def test_late_batches_start_at_once_and_do_not_hide_the_interval(self) -> None:
        gaps, lengths = [1000] * 40, [300] * 40
        for late in (10, 20):
            lengths[late] = 1300
            gaps[late + 1], gaps[late + 2] = 1310, 690
        assert self.told(gaps, lengths)["trigger_interval_ms"] == 1000

    def test_one_wait_that_ends_at_a_multiple_tells_it_unless_the_batch_before_took_that_long(self) -> None:
        def told(before: int) -> Known | None:
            rows = [{"triggerExecution": before, "numInputRows": 0}, {"triggerExecution": 1900, "interval": 9700}]
            made = frame([BATCH | row for row in rows])
            second = int(made["timestamp"][1].as_py().timestamp() * 1000)
            moved = pc.add(
                made["timestamp"], pa.scalar(timedelta(milliseconds=15018 - second % 30000), pa.duration("ms"))
            )
            at = made.schema.get_field_index("timestamp")
            return computed(made.set_column(at, "timestamp", moved)).get("trigger_interval_ms")

        assert told(900) == Known(15000, "inferred")
        assert told(6500) == Known(15000, "inferred")
        assert told(9541) is None

    @pytest.mark.parametrize(("off", "told"), [(0, Known(5000, "progress")), (150, None)])
    def test_three_waits_behind_late_batches_show_an_interval_if_all_end_on_its_grid(
        self, off: int, told: Known | None
    ) -> None:
        gaps, lengths = [0, 5604, 5604, 5604, 5600, 7590, 4999 + off, 5001, 4998], [5600] * 4 + [4300] * 5
        first = int(starts(gaps, lengths)["timestamp"][0].as_py().timestamp() * 1000)
        found = computed(starts(gaps, lengths, -(first % 5000)))
        assert found.get("trigger_interval_ms") == told

    @pytest.mark.parametrize(
        ("start", "since", "interval"),
        [
            ("10:00:08.001", 8000, 8000),
            ("10:00:10.001", 10_000, 10_000),
            ("10:00:12.247", 2991, None),
            ("10:00:12.003", 2991, 3000),
        ],
    )
    def test_of_one_batch_start_and_rate_show_the_interval_together(
        self, start: str, since: int, interval: int | None
    ) -> None:
        (event,) = events([BATCH | {"triggerExecution": 900, "numInputRows": 11_000}])
        event |= {"timestamp": f"2026-03-01T{start}Z", "inputRowsPerSecond": 11_000_000 / since, "batchId": 7}
        found = computed(table([event])).get("trigger_interval_ms")
        assert (found and found.value) == interval


def update(offset: int = 0, **more: Any) -> Sighting:
    return seen("output_mode", "update", offset=offset, **more)


APPLICATION = [seen("checkpoint_manager", "rename"), seen("spark_version", "4.0.0")]
ANOTHER = {"run": "3", "id": "another"}


class TestEvidence:
    @pytest.mark.parametrize(
        ("rows", "told"),
        [
            (APPLICATION, {"checkpoint_manager": "rename"}),
            ([*APPLICATION, seen("async_progress", value=False, **ANOTHER)],
             {"spark_version": "4.0.0", "checkpoint_manager": ..., "async_progress": ...}),
            ([seen("shuffle_partitions", value, offset=at) for value, at in ((200, 0), (8, 1500), (16, 900_000))],
             {"shuffle_partitions": 8}),
            ([seen("output_mode", "append", run=RUN, offset=5), update(900)], {"output_mode": "append"}),
            ([update(id=ID), seen("sink", "file", run="4", id="another")], {"output_mode": "update"}),
            ([seen("ignored_databricks_setting", None, origin="event_log"),
              seen("start_time", "x", origin="event_log", **ANOTHER)], {"ignored_databricks_setting": None}),
        ],
        ids=[
            "what names no run counts where a log holds one query", "in a log of two queries only the application",
            "of two the later, and nothing after the run", "what names the run beats what does not",
            "what names the query alone counts for its runs", "an event log's application counts for all queries",
        ],
    )  # fmt: skip
    def test_which_sightings_count_for_a_run(self, rows: list[Sighting], told: dict[str, Any]) -> None:
        found = values(settle(Evidence(sightings(*rows), frame([BATCH] * 3)).of(RUN)))
        assert {name: found.get(name, ...) for name in told} == told

    def test_what_names_the_query_alone_belongs_to_its_last_run_before(self) -> None:
        rows = sightings(
            seen("async_progress", value=False, run="r1", id=ID),
            seen("ignored_async_setting", "A", id=ID, offset=10),
            seen("async_progress", value=True, run="r2", id=ID, offset=20),
            seen("ignored_async_setting", None, id=ID, offset=50_000),
            seen("async_progress", value=False, run="r3", id="another", offset=40),
        )
        evidence = Evidence(rows, frame([BATCH]).slice(0, 0))
        told = [values(settle(evidence.of(run))).get("ignored_async_setting", "unknown") for run in ("r1", "r2", "r3")]
        assert told == ["A", None, "unknown"]

    @pytest.mark.parametrize("origin", ["log", "event_log"])
    def test_of_two_applications_in_one_file_each_counts_for_its_own_run(self, origin: str) -> None:
        rows = [
            row
            for at, version, run, cores in ((0, "4.0.0", "r1", 4), (300, "4.3.0", "r2", 2))
            for row in (
                seen("spark_version", version, origin=origin, offset=at),
                seen(f"executor:{run}", cores, origin=origin, offset=at + 10),
                seen("query_name", run, run=run, id=ID, offset=at + 100),
            )
        ]
        rows.append(seen("task_slots_at_least", 4, offset=20))
        evidence = Evidence(sightings(*rows), frame([BATCH]).slice(0, 0))
        told = [values(settle(evidence.of(run))) for run in ("r1", "r2")]
        assert [(one["spark_version"], one["task_slots"]) for one in told] == [("4.0.0", 4), ("4.3.0", 2)]
        assert [one.get("task_slots_at_least") for one in told] == [4, None]

    def test_a_run_that_died_before_any_batch_is_a_run(self) -> None:
        rows = [
            seen("query_name", "orders", run="9", id="8"),
            seen("terminated_error", "boom", run="9", id="8", offset=7),
        ]
        evidence = Evidence(sightings(*rows), frame([BATCH]).slice(0, 0))
        assert [(run.id, run.name, run.batches) for run in evidence.runs.values()] == [("8", "orders", 0)]
        assert values(settle(evidence.of("9"), evidence.around("9")))["terminated_error"] == "boom"

    def test_an_earlier_run_tracked_asynchronously(self) -> None:
        old, new = (
            seen("async_progress", value=True, run="old", id=ID),
            seen("async_progress", value=False, run=RUN, offset=50),
        )
        evidence = Evidence(sightings(old, new), frame([BATCH]).slice(0, 0))
        assert evidence.around(RUN)["async_progress_before"] == Known(True, "computed")
        assert "async_progress_before" not in evidence.around("old")

    def test_queries_that_overlap_share_their_slots(self) -> None:
        mine, other = frame([BATCH] * 3), frame([BATCH | {"id": "o", "runId": "or"}] * 3)
        both = Evidence(sightings(), pa.concat_tables([mine, other]))
        assert both.around(RUN)["slots_shared"].value is True
        assert Evidence(sightings(), mine).around(RUN)["slots_shared"].value is False
        pieces = Evidence(sightings(), pa.concat_tables([mine[:1], other[2:]]))
        assert "slots_shared" not in pieces.around(RUN) and "slots_shared" not in pieces.around("or")

    def test_the_end_of_the_application_ends_every_run_however_far_behind_it_stands(self) -> None:
        told = [seen("stopped", value=True, offset=900_000), seen("query_name", "orders", run=RUN, offset=10)]
        evidence = Evidence(sightings(*told), frame([BATCH | {"runId": RUN}]))
        assert settle(evidence.of(RUN)).value("stopped") is True

    def test_a_file_sink_takes_append_mode_only(self) -> None:
        told = values(settle(Evidence(sightings(seen("sink", "file", run=RUN)), frame([BATCH])).of(RUN)))
        assert told["output_mode"] == "append"


def inferred(fact: str, value: Any) -> Sighting:
    return seen(fact, value, origin="inferred")


def logged(fact: str, value: Any, **more: Any) -> Sighting:
    return seen(fact, value, origin="event_log", **more)


SLOTS, BURST = inferred("task_slots", 4), inferred("task_slots_at_least", 2)
SHARED = {"slots_shared": Known(True, "computed")}
AT = {"checkpoint_path": Known("/a/b", "checkpoint")}
NO_INTERVAL = {"trigger": Known("unspecified", "inferred")}
ASKED, PINNED = logged("state_store", "rocksdb"), logged("state_store", "hdfs", run=RUN)
OFF = "spark.asyncProgressTrackingEnabled"
EXECUTORS = [logged(f"executor:{number}", 4) for number in range(3)]
CORELESS = [seen("executor:1", None), seen("executor:2", None)]


class TestSettle:
    def properties(self, **more: str) -> list[Sighting]:
        confs = {"spark.master": "local[4]"} | {key.replace("__", "."): value for key, value in more.items()}
        return [seen(name, known.value, origin="event_log") for name, known in from_confs(confs, "event_log").items()]

    @pytest.mark.parametrize(
        ("rows", "known", "user", "fact", "taken", "conflict"),
        [
            # the most trusted origin is taken; what a setting asked for, progress shows as it is; the user wins
            ([seen("trigger_interval_ms", 1000)], {"trigger_interval_ms": Known(500, "session")}, {},
             "trigger_interval_ms", Known(1000, "log"), True),
            ([logged("changelog", True)], {"changelog": Known(False, "progress")}, {}, "changelog",
             Known(False, "progress"), True),
            ([], {"stateful": Known(True, "progress")}, {"stateful": False}, "stateful", Known(False, "user"), True),
            # the provider that the checkpoint pins
            ([ASKED, PINNED], {}, {}, "state_store", Known("hdfs", "event_log"), True),
            ([ASKED, PINNED._replace(origin="log", run_id=None)], {}, {}, "state_store", Known("hdfs", "log"), True),
            # versions agree as far as both say; a lower bound contradicts only from above
            ([seen("spark_version", "3.5.1")], {}, {"spark_version": "3.5"}, "spark_version", ..., False),
            ([seen("spark_version", "3.4.1")], {}, {"spark_version": "3.5"}, "spark_version", ..., True),
            # one folder, in three forms
            ([seen("checkpoint_path", "file:///a/b/")], AT, {}, "checkpoint_path", Known("/a/b", "checkpoint"), False),
            ([seen("checkpoint_path", "file:/a/b")], AT, {}, "checkpoint_path", Known("/a/b", "checkpoint"), False),
            ([seen("checkpoint_path", "file:/a/c")], AT, {}, "checkpoint_path", ..., True),
            ([inferred("task_slots", 8)], {}, {"task_slots": 32}, "task_slots", ..., False),
            ([inferred("task_slots", 8)], {}, {"task_slots": 4}, "task_slots", ..., True),
            ([inferred("task_slots", 8), inferred("task_slots", 6)], {}, {}, "task_slots", Known(8, "inferred"), False),
            # slots that one stage shows are a bound where others hold some
            ([inferred("task_slots", 1), BURST], {}, {}, "task_slots_at_least", Known(2, "inferred"), False),
            ([inferred("task_slots", 1), BURST], {}, {}, "task_slots", None, False),
            ([SLOTS, BURST], SHARED, {}, "task_slots", None, False),
            ([SLOTS, BURST], SHARED, {}, "task_slots_at_least", Known(4, "inferred"), False),
            ([SLOTS, BURST], {}, {}, "task_slots", Known(4, "inferred"), False),
            # an interval that no batch keeps looks like none
            ([seen("trigger", "processing_time")], NO_INTERVAL, {}, "trigger", Known("processing_time", "log"), False),
            ([], {"trigger": Known("processing_time", "inferred")}, {"trigger": "once"}, "trigger", ..., True),
            # no log can mean these values; that nothing is set is known, and an option hides no placebo elsewhere
            ([seen("sink", "teapot")], {}, {}, "sink", None, False),
            ([seen("task_slots", "x")], {}, {}, "task_slots", None, False),
            ([seen("ignored_async_setting", None)], {}, {}, "ignored_async_setting", Known(None, "log"), False),
            ([seen("ignored_async_setting", None)], {}, {}, "ignored_databricks_setting", None, False),
            ([seen("ignored_async_setting", None), logged("ignored_async_setting", OFF)], {}, {},
             "ignored_async_setting", Known(OFF, "event_log"), False),
            # the slots of the executors that are there; their cores may stand in the configuration alone
            (EXECUTORS, {}, {}, "task_slots", Known(12, "event_log"), False),
            ([*EXECUTORS, logged("conf:spark.task.cpus", "2")], {}, {}, "task_slots", Known(6, "event_log"), False),
            ([*EXECUTORS, EXECUTORS[0]._replace(value="0")], {}, {}, "task_slots", Known(8, "event_log"), False),
            ([*EXECUTORS, EXECUTORS[0]._replace(value="0")], {}, {}, "executors_gone", Known(1, "event_log"), False),
            (CORELESS, {}, {}, "task_slots", None, False), (EXECUTORS, {}, {}, "executor:1", None, False),
            ([*CORELESS, seen("conf:spark.executor.cores", "5")], {}, {}, "task_slots", Known(10, "log"), False),
        ],
    )  # fmt: skip
    def test_what_is_taken_and_whether_it_is_told_as_a_contradiction(
        self, rows: list[Sighting], known: dict[str, Known], user: Any, fact: str, taken: Known | None, conflict: bool
    ) -> None:
        facts = settle(rows, known, user=user)
        assert taken is ... or facts.get(fact) == taken
        assert [one.fact for one in facts.conflicts] == [fact] * conflict

    def test_a_contradiction_tells_each_value_and_its_origin(self) -> None:
        facts = settle([seen("trigger_interval_ms", 1000)], {"trigger_interval_ms": Known(500, "session")})
        (told,) = facts.conflicts
        said = (FactEntry(value=1000, origin="log"), FactEntry(value=500, origin="session"))
        assert told == Conflict(fact="trigger_interval_ms", values=said, taken=1000)

    def test_properties_without_databricks_are_open_source(self) -> None:
        facts = settle(self.properties())
        assert facts["platform"] == Known("open_source", "event_log")
        assert facts["async_state_checkpoint"] == Known(False, "default")
        assert facts["task_slots"] == Known(4, "event_log")

    @pytest.mark.parametrize("key", ["spark.memory.offHeap.enabled", "spark.sql.codegen.wholeStage"])
    def test_settings_that_steps_ask_for_are_kept(self, key: str) -> None:
        assert settle(self.properties(**{key.replace(".", "__"): "true"}))[f"conf:{key}"] == Known("true", "event_log")

    def test_databricks_settings_work_on_databricks(self) -> None:
        key = "spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled"
        tag = {"spark__databricks__clusterUsageTags__sparkVersion": "13.3.x-scala2.12"}
        facts = settle(self.properties(**{key.replace(".", "__"): "true"}, **tag))
        assert facts["platform"].value == "databricks"
        assert facts["databricks_runtime"].value == "13.3.x-scala2.12"
        assert facts["async_state_checkpoint"].value is True
        assert "ignored_databricks_setting" not in facts
        elsewhere = settle(self.properties(**{key.replace(".", "__"): "true"}))
        assert elsewhere["ignored_databricks_setting"].value == key
        assert elsewhere["async_state_checkpoint"].value is False

    def test_the_log_purge_is_a_default_only_where_its_absence_was_seen(self) -> None:
        version = seen("spark_version", "3.5.9", origin="event_log")
        assert settle([*self.properties(), version])["async_log_purge"] == Known(True, "default")
        assert "async_log_purge" not in settle(self.properties())
        assert "async_log_purge" not in settle([version])
        off = self.properties(spark__sql__streaming__asyncLogPurge__enabled="false")
        assert settle([*off, version])["async_log_purge"] == Known(False, "event_log")


WHOLE = {"triggerExecution": 100, "addBatch": 60, "queryPlanning": 5, "walCommit": 20}
SOCKET = {"description": "TextSocketSource[localhost:9999]", "numInputRows": 5}
OLD_KAFKA = {"description": "KafkaSource[Subscribe[in]]", "numInputRows": 5}
OPERATOR = {"numRowsTotal": 5, "numRowsUpdated": 2}


def shaped(row: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """What three events of this shape tell; `changed`: keys of the event itself, None to leave one out."""
    made = [
        {key: value for key, value in (one | changed).items() if value is not None}
        for one in events([row] * 3, interval_ms=150)
    ]
    return values(computed(table(made)))


class TestBounds:
    @pytest.mark.parametrize(
        ("row", "changed", "least", "below"),
        [
            (WHOLE | {"getOffset": 2}, {"batchId": None, "runId": None}, None, "2.2"),
            (WHOLE | {"getOffset": 2}, {"batchId": None}, None, "2.3"),
            (WHOLE | {"getOffset": 2}, {}, None, "3.4"),
            (WHOLE | {"getOffset": 2, "sources": [OLD_KAFKA]}, {}, None, "3.0"),
            (WHOLE | {"getOffset": 2, "sources": [OLD_KAFKA, SOCKET]}, {}, None, "3.4"),
            (WHOLE | {"otherPhases": {"getEndOffset": 0, "setOffsetRange": 1}}, {}, "2.4", "3.0"),
            (WHOLE | {"latestOffset": 4, "operators": [OPERATOR]}, {}, "3.0", "3.2"),
            (WHOLE | {"latestOffset": 4, "operators": [OPERATOR | {"commitTimeMs": 9}]}, {}, "3.2", "3.4"),
            (WHOLE | {"latestOffset": 4, "commitOffsets": 20}, {}, "3.4", "4.0"),
            (WHOLE | {"latestOffset": 4, "commitOffsets": 20}, {"batchDuration": 100}, "3.4", None),
            (WHOLE | {"latestOffset": 4, "operators": [OPERATOR | {"operatorName": "dedupe"}]}, {}, "3.2", "3.4"),
            # idle
            ({"triggerExecution": 2, "otherPhases": {"getEndOffset": 0, "setOffsetRange": 1}}, {}, "2.4", "3.0"),
            ({"triggerExecution": 2, "getOffset": 2}, {"batchId": None}, None, "2.3"),
            ({"triggerExecution": 2, "latestOffset": 2}, {}, "3.0", None),
            # shortened by whoever printed it
            ({"triggerExecution": 100, "addBatch": 60}, {}, None, None),
            (WHOLE, {}, None, None),
            (WHOLE | {"operators": [OPERATOR]}, {}, None, None),
            (WHOLE | {"operators": [OPERATOR | {"numRowsDroppedByWatermark": 3}]}, {}, "3.1", None),
        ],
    )
    def test_the_shape_of_an_event_bounds_the_version(
        self, row: dict[str, Any], changed: dict[str, Any], least: str | None, below: str | None
    ) -> None:
        told = shaped(row, **changed)
        assert (told.get("spark_version_at_least"), told.get("spark_version_below")) == (least, below)

    def test_without_commit_offsets_databricks_is_older_than_11(self) -> None:
        assert shaped(WHOLE | {"latestOffset": 4})["databricks_runtime_below"] == "11.0"
        assert "databricks_runtime_below" not in shaped(WHOLE | {"latestOffset": 4, "commitOffsets": 20})

    @pytest.mark.parametrize(
        ("least", "below", "words"),
        [
            ("2.4", "3.0", "2.4"), ("3.2", "3.4", "3.2 to 3.3"), (None, "3.4", "below 3.4"),
            ("3.4", None, "3.4 or later"), (None, None, None),
        ],
    )  # fmt: skip
    def test_bounds_in_words(self, least: str | None, below: str | None, words: str | None) -> None:
        assert version_in_words(least, below) == words

    @pytest.mark.parametrize(
        ("name", "source"),
        [("display_query_3", "RateStreamV2[]"), ("orders", "FileStreamSource[dbfs:/mnt/landing]")],
    )
    def test_a_query_of_databricks_is_not_bounded_by_what_open_source_brought(self, name: str, source: str) -> None:
        row = WHOLE | {"commitOffsets": 20, "name": name, "sources": [{"description": source, "numInputRows": 100}]}
        found = settle([], computed(frame([row] * 3)))
        assert (found.value("platform"), found.value("spark_version_at_least")) == ("databricks", "3.3")


@pytest.mark.parametrize(
    ("known", "on"),
    [
        ({"stateful": True}, False), ({"sink": "file"}, False), ({"sink": "delta"}, False),
        ({"sink": "foreach_batch"}, False), ({"trigger": "available_now"}, False),
        ({"spark_version_below": "3.2"}, False),
        ({"spark_version_below": "3.4", "databricks_runtime_below": "11.0"}, False),
        ({"spark_version_below": "3.4", "platform": "open_source"}, False),
        ({"spark_version": "3.3.4", "platform": "open_source"}, False),
        ({"stateful": False, "sink": "kafka"}, None), ({"spark_version": "3.3.0", "platform": "databricks"}, None),
        ({"spark_version_below": "3.4"}, None), ({"spark_version_at_least": "3.4", "sink": "console"}, None),
        # a record that lost its line of commitOffsets looks like an old one
        ({"spark_version_below": "3.2", "spark_version_at_least": "4.1", "sink": "console"}, None),
        ({"sink": "file", "async_progress": Known(True, "log")}, True),  # what is shown counts for more
    ],
)  # fmt: skip
def test_asynchronous_progress_is_off_wherever_spark_refuses_it(known: dict[str, Any], on: bool | None) -> None:
    shown = {name: value if isinstance(value, Known) else Known(value, "progress") for name, value in known.items()}
    found = settle([], shown)
    assert (found.value("async_progress"), found.conflicts) == (on, [])


KAFKA = {"description": "KafkaV2[Subscribe[orders]]", "numInputRows": 100, "latestOffset": {"orders": {"0": 900}}}


def beside(*sources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return WHOLE | {"sources": list(sources)} | more


FILES = beside({"description": "FileStreamSource[file:/in]", "numInputRows": 100})
GROWN = beside(KAFKA | {"latestOffset": {"orders": {"0": 1000}}})
OWN = {"description": "org.example.OwnStream@13fc6a54", "numInputRows": 50}


def rate(rows: int) -> dict[str, Any]:
    return {"description": "RatePerMicroBatchStream[rowsPerBatch=100]", "numInputRows": rows}


class TestPossibleTriggers:
    def left(self, rows: list[dict[str, Any]], **asked: Any) -> set[str]:
        return set(values(computed(frame(rows, **asked)))["trigger_one_of"])

    def test_progress_is_never_that_of_continuous_processing(self) -> None:
        assert self.left([WHOLE | {"triggerExecution": 9000}], first=0) == {
            "unspecified", "processing_time", "once", "available_now", "real_time",
        }  # fmt: skip

    def test_a_trigger_before_the_batch_excludes_once_and_a_short_batch_real_time(self) -> None:
        assert self.left([WHOLE]) == {"unspecified", "processing_time", "available_now"}

    @pytest.mark.parametrize(
        ("rows", "interval_ms", "trigger", "possible"),
        [
            # a latest offset excludes real-time mode
            ([beside(KAFKA, triggerExecution=9000)], None, "real_time", False),
            ([beside(KAFKA | {"latestOffset": None}, triggerExecution=9000)], None, "real_time", True),
            # a backlog of files may be worked off, an end that grows may not
            ([FILES] * 30, None, "available_now", True), ([FILES] * 30, 5000, "available_now", False),
            ([beside(KAFKA)] * 4, None, "available_now", True),
            ([*[beside(KAFKA)] * 4, GROWN], None, "available_now", False),
            # nor may a third batch of the rate source, alone or beside another
            ([WHOLE] * 2, None, "available_now", True), ([WHOLE] * 3, None, "available_now", False),
            ([beside(rate(100), OWN)] * 3, None, "available_now", False),
            ([beside(rate(0), OWN)] * 3, None, "available_now", True),
        ],
    )  # fmt: skip
    def test_what_the_batches_leave(
        self, rows: list[Any], interval_ms: float | None, trigger: str, possible: bool
    ) -> None:
        assert (trigger in self.left(rows, interval_ms=interval_ms)) is possible

    @pytest.mark.parametrize(("version", "left"), [("2.4.8", False), ("3.5.1", True)])
    def test_a_trigger_that_this_spark_lacks_is_not_left(self, version: str, left: bool) -> None:
        found = settle([seen("spark_version", version)], computed(frame([WHOLE])))
        assert ("available_now" in found.value("trigger_one_of")) is left

    def test_what_alone_is_left_is_known(self) -> None:
        found = settle([], {"trigger_one_of": Known(("unspecified",), "computed")})
        assert found["trigger"] == Known("unspecified", "computed")


@pytest.mark.parametrize(
    ("operator", "mode"),
    [
        ({"numRowsRemoved": 100, "numRowsUpdated": 300, "numRowsTotal": 900}, "append"),
        ({"numRowsRemoved": 0, "numRowsUpdated": 100, "numRowsTotal": 900}, "update"),
        ({"numRowsRemoved": 0, "numRowsUpdated": 30, "numRowsTotal": 100}, "complete"),
        ({"numRowsRemoved": 100, "numRowsUpdated": 100, "numRowsTotal": 900}, None),
        ({"numRowsRemoved": 0, "numRowsUpdated": 300, "numRowsTotal": 900}, None),
    ],
)
def test_the_rows_that_a_sink_got_show_the_output_mode(operator: dict[str, int], mode: str | None) -> None:
    """Each batch reads 100 rows and hands 100 to the sink."""
    told = computed(frame([{**BATCH, "operators": [{"operatorName": "stateStoreSave", **operator}]}] * 12))
    assert told.get("output_mode") == (Known(mode, "inferred") if mode else None)


def test_a_sink_that_got_nothing_while_the_state_changed_is_in_append_mode() -> None:
    waits = {"operatorName": "stateStoreSave", "numRowsRemoved": 0, "numRowsUpdated": 3, "numRowsTotal": 9}
    batches = events([{**BATCH, "operators": [waits]}] * 12)
    for batch in batches:
        batch["sink"]["numOutputRows"] = 0
    assert computed(table(batches))["output_mode"] == Known("append", "inferred")
    assert "output_mode" not in computed(table(batches[:5]))


def test_the_rows_that_a_join_makes_are_not_those_of_a_first_batch_of_middle_length() -> None:
    joins = np.array(["StreamingSymmetricHashJoin"] * 4, object)
    stages = {
        "batch": np.arange(4),
        "wall_ms": np.array([2100.0, 1900.0, 2000.0, 2200.0]),
        "kind": np.array(["state"] * 4, object),
        "operators": joins,
        "multiplied_by": joins,
        "made_rows": np.array([100_000.0, 1_000_000.0, 1_100_000.0, 1_200_000.0]),
        "given_rows": np.full(4, 9_000.0),
    }
    assert _longest_stage(Columns(4, {}.__getitem__, stages))["made_rows"].value == 1_100_000


@pytest.mark.parametrize(
    ("operators", "names"),
    [
        ("Scan json (9 rows), ArrowEvalPython calling score once on amount (9 rows), Project", "score"),
        ("BatchEvalPython calling a 2 times and b once and c once on x, WriteFiles", "a, b, c and others"),
        ("FlatMapGroupsInPandas calling fit for each group on key (7 rows)", "fit"),
        ("Project calling upper once on name", None),
    ],
)
def test_the_python_functions_of_the_longest_stage_are_named(operators: str, names: str | None) -> None:
    nothing = np.full(4, np.nan)
    stages = {
        "batch": np.arange(4),
        "wall_ms": np.full(4, 900.0),
        "kind": np.array(["source_read"] * 4, object),
        "operators": np.array([operators] * 4, object),
        "multiplied_by": np.array([None] * 4, object),
        "made_rows": nothing,
        "given_rows": nothing,
    }
    found = _longest_stage(Columns(4, {}.__getitem__, stages)).get("python_calls")
    assert (found and found.value) == names
