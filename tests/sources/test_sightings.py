"""What single lines, stretches of logs and lines of event logs reveal."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.facts import Sighting
from advisor.sources.sightings.events import sight_event_log
from advisor.sources.sightings.plan import read_execution, read_physical_plan
from advisor.sources.sightings.region import sight
from advisor.sources.sightings.stretches import Memory

SAMPLES = Path(__file__).parent.parent.parent / "sample_progress"
ID, RUN = "0631397e-624a-4851-bdbe-7f4e9e732d17", "df5cab04-135b-4cb5-9d4b-d7cc126e49da"
NAMED = f"[id = {ID}, runId = {RUN}]"
AT = "26/11/21 08:57:03 INFO"
STORE = " to store the query checkpoint."
PROVIDER = "org.apache.spark.sql.execution.streaming.state"
PINNED = (
    f"Committed offsets for batch 0. Metadata OffsetSeqMetadata(0,1795251423507,Map("
    f"spark.sql.streaming.stateStore.providerClass -> {PROVIDER}.RocksDBStateStoreProvider, "
    "spark.sql.streaming.join.stateFormatVersion -> 2, spark.sql.shuffle.partitions -> 8))"
)


def look(text: str) -> list[Sighting]:
    return sight(text.encode(), log="log", file="driver.log", base=1000)


def told(text: str) -> dict[str, Any]:
    """Fact to value; of two the later."""
    return {each.fact: json.loads(each.value) for each in look(text)}


def structured(message: str, logger: str = "MicroBatchExecution", **more: Any) -> str:
    line = {"ts": "2026-11-21T08:57:32.112Z", "level": "INFO", "msg": message} | more | {"logger": logger}
    return json.dumps(line, separators=(",", ":"))


@cache
def recorded() -> list[bytes]:
    """The beginnings of some recorded logs."""
    logs = sorted(SAMPLES.glob("L*/*/*.log.gz"))
    assert logs
    return [gzip.open(log).read(30_000) for log in logs]


def event(kind: str, **fields: Any) -> dict[str, Any]:
    line = json.dumps({"Event": kind} | fields).encode()
    found = sight_event_log(line, log="log", file="events", base=7)
    assert all((each.origin, each.offset) == ("event_log", 7) for each in found)
    return {each.fact: json.loads(each.value) for each in found}


SPARK = "SparkContext: Running Spark version"
LISTED = "BatchIds found from listing: "
AQE = "MicroBatchExecution: Disabling AQE since AQE is not supported in"
PACKED = "FileSourceScanExec: Planning scan with bin packing, max size:"
OPEN = "open cost is considered as scanning"
RETAINED = "HDFSBackedStateStoreProvider: Trying to add version=2 to state cache map with current_size=0 and "
RETAINED += "max_versions_to_retain_in_memory"
RENAMED = "CheckpointFileManager: Renamed temp file file:/"
OF = "Map(path -> /data/incoming, maxFilesPerTrigger -> 60),None)"
PYTHON = {"runs_python": True}
LOADED = "Times: total = 618, boot = -644, init = 1255, finish = 7"
WORKED = "Times: total = 1187, boot = -957, init = 1407, finish = 737"
START = f"MicroBatchExecution: Starting orders {NAMED}. Use %s{STORE}"
STARTED = {"async_progress": False, "query_name": "orders", "checkpoint_path": "file:/ck", "checkpoint_scheme": "file"}
OF_THE_CHECKPOINT = {
    "conf:spark.sql.streaming.stateStore.providerClass": f"{PROVIDER}.RocksDBStateStoreProvider",
    "state_store": "rocksdb", "conf:spark.sql.streaming.join.stateFormatVersion": "2",
    "conf:spark.sql.shuffle.partitions": "8", "shuffle_partitions": 8,
}  # fmt: skip
REJECTED = "terminated with error\njava.util.concurrent.RejectedExecutionException: Producer interrupted"


@pytest.mark.parametrize(
    ("lines", "facts"),
    [
        ([f"{SPARK} 4.3.0", "SparkContext: Submitted application: orders "],
         {"spark_version": "4.3.0", "platform": "open_source", "application": "orders"}),
        (["DriverLogger: Added a local log appender at: /tmp/driver/driver.log"], {"platform": "open_source"}),
        ([f"{SPARK} 3.5.1-amzn-0"], {"spark_version": "3.5.1-amzn-0", "platform": "other"}),
        (["X: spark.databricks.clusterUsageTags.sparkVersion=13.3.x-scala2.12"],
         {"databricks_runtime": "13.3.x-scala2.12", "platform": "databricks"}),
        (["StandaloneSchedulerBackend: Granted executor ID a/0 on hostPort h:1 with 4 core(s), 1 MiB",
          "DriverEndpoint: Registered executor Ref(spark-client://E) (h:1) with ID 7",
          "TaskSchedulerImpl: Lost executor 3 on h: Command exited with code 137",
          "TaskSchedulerImpl: Executor 5 on ip-10-0-0-5.internal killed by driver."],
         {"executor:0": 4, "executor:7": None, "executor:3": 0, "executor:5": 0}),
        (["FileStreamSource: 'latestFirst' is true. New files will be processed first, which may affect the watermark"],
         {"latest_first": True}),
        (["FileStreamSource: Listed 38 file(s) in 3216 ms"], {"listed_files": 38}),
        (["FairSchedulableBuilder: Fair scheduler configuration not found, created default pool: default, minShare: 0",
          "FairSchedulableBuilder: Added task set TaskSet_0.0 tasks to pool default"],
         {"conf:spark.scheduler.mode": "FAIR"}),
        (["ResourceProfile: Default ResourceProfile created, executor resources: Map(cores -> name: cores, amount: 4, "
          "script: ), task resources: Map(cpus -> name: cpus, amount: 1.0)"],
         {"conf:spark.executor.cores": "4", "conf:spark.task.cpus": "1"}),
        ([f"MicroBatchExecution: Starting {NAMED}. Use /tmp/ck{STORE}"],
         {"async_progress": False, "checkpoint_path": "/tmp/ck"}),
        (["AsyncProgressTrackingMicroBatchExecution: Submitting async offset log write for batch 168."],
         {"async_progress": True}),
        ([f"AsyncProgressTrackingMicroBatchExecution: Query q {NAMED} {REJECTED}"], {}),  # it was stopped
        # gaps in the offset log are of asynchronous tracking
        ([f"OffsetSeqLog: {LISTED}0, 1, 12, 23"], {"async_progress_before": True}),
        ([f"OffsetSeqLog: {LISTED}10, 11, 12"], {}), ([f"OffsetSeqLog: {LISTED}"], {}),
        ([f"CommitLog: {LISTED}0, 12"], {}), ([f"OffsetSeqLog: {LISTED}0, {'9' * 5000}"], {}),
        ([f"{AQE} stateful workloads."], {"stateful": True}), ([f"{AQE} Real-time Mode."], {"trigger": "real_time"}),
        ([f"{AQE} continuous mode."], {"trigger": "continuous"}),
        (["X: Delay offset logging for batch 3 in real time mode."], {"trigger": "real_time"}),
        (["X: Using Source [KafkaSource] from V1 named 'kafka' [DataSource(Map(maxoffsetspertrigger -> 500))]"],
         {"max_offsets_per_trigger": 500}),
        ([f"X: Using Source [FileStreamSource[file:/data/incoming]] from V1 named 'F' [DataSource({OF}]"],
         {"max_files_per_trigger": 60}),
        ([f"{RENAMED}ck/offsets/1.tmp to file:/ck/offsets/1"], {"checkpoint_manager": "rename"}),
        ([f"{RENAMED}out/_spark_metadata/1.tmp to file:/out/_spark_metadata/1"], {}),  # the list of a file sink
        (["CodeGenerator: Method too long to be JIT compiled: S1.expand_doConsume_0$"], {"long_expand": True}),
        (["OptimisticTransaction: [tableId=1,txnId=2] Committed delta #12 to file:/t"], {"writes_delta": True}),
        (["X: values\n\tfetch.max.wait.ms = 500"], {"kafka_fetch_max_wait_ms": 500}),
        (["X: values\n\tfetch.min.bytes = 1048576"], {"kafka_fetch_min_bytes": 1048576}),
        (["X: values\n\tmax.partition.fetch.bytes = 4096"], {"kafka_partition_fetch_bytes": 4096}),
        ([f"PythonUDFRunner: {LOADED}"], PYTHON | {"python_loads": True}),
        (["X: values\n\tfetch.max.wait.ms = soon"], {}), (["X: values\n\tmax.poll.records = 0"], {}),
        (["X: values\n\tmax.poll.records = 1"], {"kafka_max_poll_records": 1}),
        ([f"{RETAINED}=0"], {"conf:spark.sql.streaming.maxBatchesToRetainInMemory": "0"}),
        ([f"{PACKED} 65536 bytes, {OPEN} 4194304 bytes."], {"split_bytes": 65536}),
        ([f"{PACKED} 65536 bytes, {OPEN} 4096 bytes."], {}),  # files of that size may have made it so small
        (["CodecConfig: Compression: ZSTD"], {"file_codec": "zstd"}),
        (["X: we are falling behind schedule"], {}),
        (["FileScanRDD: Reading File path: file:/in/a.json.gz, range: 0-9, values: [empty row]"], {"reads_gzip": True}),
        (["FileScanRDD: Reading File path: file:/in/a.json, range: 0-9, values: [empty row]"], {}),
        (["X: (spark.executor.id,driver), (spark.master,local[2]), (a,b)"], {"conf:spark.master": "local[2]"}),
        (["X: {spark.app.id=local-1, spark.master=local[*], a=b}"], {}),
        ([f"ArrowPythonRunner: {WORKED}"], PYTHON | {"python_batches": True}), ([f"PythonUDFRunner: {WORKED}"], PYTHON),
        ([f"MapInBatchEvaluatorFactory$MapInBatchEvaluator$$anon$1: {WORKED}"], PYTHON | {"python_batches": True}),
        ([f"ArrowEvalPythonEvaluatorFactory$$anon$2: {WORKED}"], PYTHON),
        ([f"ArrowPythonWithNamedArgumentRunner: {WORKED}"], PYTHON),
        ([structured(WORKED, "CoGroupedArrowPythonRunner")], PYTHON | {"python_batches": True}),
        # control characters and ends of lines
        ([(START % "file:/ck").replace("orders", "\x1b[31morders\u202e")], STARTED),
        ([START % "file:/ck" + "\r"], STARTED),
        # where Databricks is named the platform is not guessed
        (["DriverDaemon: Starting in /databricks/driver", f"{SPARK} 3.4.1"], {"spark_version": "3.4.1"}),
        (["X: spark.databricks.delta.a", f"{SPARK} 3.4.1"], {"spark_version": "3.4.1", "platform": "open_source"}),
        (["SparkContext: Spark configuration:\nspark.app.name=x\nspark.sql.shuffle.partitions=2"],
         {"application": "x", "shuffle_partitions": 2, "conf:spark.sql.shuffle.partitions": "2"}),
        # silence on s3a is the manager that can abort
        ([START % "file:/ck", f"MicroBatchExecution: {PINNED}"], STARTED | OF_THE_CHECKPOINT),
        ([START % "s3a://b/ck"], STARTED | {"checkpoint_path": "s3a://b/ck", "checkpoint_scheme": "s3a"}),
        ([START % "s3a://b/ck", f"MicroBatchExecution: {PINNED}"],
         STARTED | OF_THE_CHECKPOINT
         | {"checkpoint_path": "s3a://b/ck", "checkpoint_scheme": "s3a", "checkpoint_manager": "abortable"}),
    ],
)  # fmt: skip
def test_what_a_line_tells(lines: list[str], facts: dict[str, Any]) -> None:
    assert told("".join(f"{AT} {line}\n" for line in lines)) == facts


class TestStart:
    LAYOUTS: ClassVar[dict[str, str]] = {
        "log4j2": f"{AT} {{}}: ", "log4j2, milliseconds": "26/11/21 08:57:03.112 INFO {}: ",
        "log4j1": "2026-11-21 08:57:03 INFO  {}:54 - ", "two parts": f"{AT} streaming.{{}}: ",
        "braces": "[26-11-21 08:57:03] {{{}}} INFO: ",
        "glue": "2026-11-21 08:57:03,112 INFO  [stream] streaming.{} (Logging.scala:logInfo(57)) - ",
        "container": f"2026-11-21T08:57:03.112345678Z stdout F {AT} {{}}: ",
    }  # fmt: skip

    @pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
    @pytest.mark.parametrize(
        ("logger", "fact", "value"),
        [
            ("MicroBatchExecution", "async_progress", False),
            ("AsyncProgressTrackingMicroBatchExecution", "async_progress", True),
            ("ContinuousExecution", "trigger", "continuous"),
        ],
    )
    def test_the_logger_of_the_start_is_the_kind_of_execution(
        self, layout: str, logger: str, fact: str, value: Any
    ) -> None:
        line = f"{layout.format(logger)}Starting orders {NAMED}. Use hdfs://nn:8020/ck/orders{STORE}"
        found = look(line + "\n")
        assert {(each.id, each.run_id) for each in found} == {(ID, RUN)}
        assert told(line)[fact] == value
        assert told(line)["checkpoint_scheme"] == "hdfs"
        assert told(line)["checkpoint_path"] == "hdfs://nn:8020/ck/orders"
        assert told(line)["query_name"] == "orders"

    def test_a_structured_line_knows_the_time(self) -> None:
        message = f"Starting orders {NAMED}. Use s3a://b/ck{STORE}"
        found = look("[Stage 1:> (0 + 2) / 2]\r" + structured(message) + "\n")
        assert {each.run_id for each in found} == {RUN}
        assert told(structured(message))["start_time"] == "2026-11-21T08:57:32.112000Z"
        assert told(structured(message))["async_progress"] is False

    def test_places_are_those_of_the_lines(self) -> None:
        before = f"{AT} SparkContext: Running Spark version 3.5.9\n"
        line = f"{AT} MicroBatchExecution: Starting {NAMED}. Use file:/ck{STORE}\n"
        places = {each.fact: each.offset for each in look(before + line)}
        assert places["spark_version"] == 1000
        assert places["checkpoint_path"] == 1000 + len(before)

    def test_credentials_in_a_checkpoint_path_are_removed(self) -> None:
        line = f"{AT} MicroBatchExecution: Starting {NAMED}. Use s3a://AKIAIOSFODNN7EXAMPLE:pw/1@b/ck{STORE}"
        assert "AKIA" not in str(look(line))


def test_a_query_in_real_time_mode_says_so_right_after_its_start() -> None:
    start = f"{AT} MicroBatchExecution: Starting %s [id = %s, runId = {RUN}]. Use file:/ck{STORE}\n"
    first, other = start % ("a", ID), start % ("b", ID.replace("1", "2"))
    says = f"{AT} MicroBatchExecution: Real-Time Mode: defaulting spark.sql.streaming.stateStore.providerClass=2\n"
    assert told(first + says)["trigger"] == "real_time"
    both = {(each.id, each.fact): each.value for each in look(first + other + says)}
    assert ("trigger" in {fact for _, fact in both}) and (ID, "trigger") not in both


class TestProgressHeader:
    def header(self, logger: str) -> str:
        return f'{AT} {logger}: Streaming query made progress: {{\n  "id" : "{ID}",\n  "runId" : "{RUN}",\n'

    def test_until_3_5_the_execution_itself_reports_progress(self) -> None:
        (found,) = look(self.header("AsyncProgressTrackingMicroBatchExecution"))
        assert (found.fact, found.value, found.id, found.run_id) == ("async_progress", "true", ID, RUN)
        (cut,) = look(self.header("MicroBatchExecution").partition("\n")[0])
        assert (cut.value, cut.run_id) == ("false", None)

    def test_from_4_0_on_the_reporter_does(self) -> None:
        (found,) = look(self.header("ProgressReporter"))
        assert (found.fact, found.value, found.run_id) == ("spark_version_at_least", '"4.0"', RUN)


class TestPinned:
    def test_as_newer_versions_print_it(self) -> None:
        message = PINNED.replace("Map(", "HashMap(")
        found = look(structured(message, context={"query_id": ID, "RUN_ID": RUN}))
        assert {(each.id, each.run_id) for each in found} == {(ID, RUN)}
        assert told(structured(message)) == OF_THE_CHECKPOINT

    def test_a_value_that_the_checkpoint_replaces(self) -> None:
        words = "Updating the value of conf 'spark.sql.shuffle.partitions' in current session from '200' to '8'."
        text = f"{AT} OffsetSeqMetadata: {words}\n"
        found = {(each.fact, json.loads(each.value), each.origin) for each in look(text)}
        assert {("shuffle_partitions", 200, "session"), ("shuffle_partitions", 8, "log")} <= found


class TestFallingBehind:
    SPELLINGS = (
        "Current batch is falling behind. The trigger interval is 500 milliseconds, but spent 2200 milliseconds",
        "Current batch is falling behind. The trigger interval is 500} milliseconds, but spent 2200 milliseconds",
        "Current batch is falling behind. The trigger interval is 500 ms, but spent 8000–18000 ms",
        "Current batch is falling behind. The trigger interval\nis 500 milliseconds, but spent 2200 milliseconds",
    )

    @pytest.mark.parametrize("spelling", SPELLINGS)
    @pytest.mark.parametrize("form", [lambda text: f"26/11/21 WARN ProcessingTimeExecutor: {text}\n", structured])
    def test_it_shows_the_trigger_and_its_interval(self, spelling: str, form: Any) -> None:
        found = told(form(spelling))
        assert found.pop("late_batch", None) in ([500, 2200], [500, 8000])
        assert found == {"falling_behind": True, "trigger": "processing_time", "trigger_interval_ms": 500}


WARNED = "No Partition Defined for Window operation! Moving all data to a single partition, this can cause serious"
ENDS = "Finished processing all available data for the trigger, terminating this Trigger.AvailableNow query"


@pytest.mark.parametrize("form", [lambda text: f"26/11/21 08:57:03 WARN WindowExec: {text}\n", structured])
@pytest.mark.parametrize(
    ("line", "facts"),
    [
        (WARNED, {"window_in_one_partition": True}), ("why does it say No Partition Defined for Window operation?", {}),
        (ENDS, {"trigger": "available_now"}), ("terminating this Trigger.Other query", {}),
    ],
)  # fmt: skip
def test_lines_that_stand_alone(form: Any, line: str, facts: dict[str, Any]) -> None:
    assert told(form(line)) == facts


TERMINATED = f"26/11/21 ERROR MicroBatchExecution: Query orders {NAMED} terminated with error\n"


class TestEnd:
    def test_an_error_and_the_batch_that_is_missing(self) -> None:
        error = "java.lang.IllegalStateException: batch 138 doesn't exist"
        text = f"{TERMINATED}{error}\n\tat org.apache.spark\n"
        assert {each.run_id for each in look(text)} == {RUN}
        assert told(text) == {"terminated_error": error, "missing_batch": 138, "async_progress": False}

    def test_another_error_says_that_no_batch_is_missing(self) -> None:
        words = {"class": "java.lang.RuntimeException", "msg": "password=hunter2 refused\nand more", "stacktrace": []}
        line = structured(f"Query {NAMED} terminated with error", exception=words)
        assert told(line)["missing_batch"] is None
        assert told(line)["terminated_error"].startswith("java.lang.RuntimeException: password=")
        assert "hunter2" not in str(look(line))

    def test_of_an_error_in_python_the_exception_is_told(self) -> None:
        text = (
            f"{TERMINATED}org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] Traceback (most recent call "
            'last):\n  File "worker.py", line 4207, in invoke_udf\n    import lookups\n'
            "ModuleNotFoundError: No module named 'lookups'\n SQLSTATE: 38000\n\tat org.apache.spark\n"
        )
        assert told(text)["terminated_error"] == "ModuleNotFoundError: No module named 'lookups'"

    @pytest.mark.parametrize(
        ("cause", "fact"),
        [("java.lang.InterruptedException", "stopped"), ("java.lang.IllegalStateException: no", "terminated_error")],
    )
    def test_a_stop_that_interrupts_planning_is_no_error(self, cause: str, fact: str) -> None:
        reflected = "java.lang.reflect.InvocationTargetException\n\tat org.apache.spark.sql.catalyst.trees.TreeNode\n"
        text = f"{TERMINATED}{reflected}Caused by: {cause}\n\tat java.base\n"
        assert fact in told(text)
        assert ("terminated_error" in told(text)) is (fact == "terminated_error")


class TestPlan:
    HEAD = "MicroBatchExecution: Finish initializing with logical plan:"
    SCAN = "~StreamingDataSourceV2ScanRelation[timestamp#0, value#1L] Rate"

    def plan(self, *rows: str, root: str = "WriteToMicroBatchDataSource noop-table") -> str:
        return "\n".join([f"{AT} {self.HEAD}", root, *rows, "", f"{AT} CommitLog: x", ""])

    @pytest.mark.parametrize(
        ("rows", "stateful"),
        [
            ([f"+- {SCAN}"], False),
            (["+- ~Aggregate [key#2], [count(1)]", f"   +- {SCAN}"], True),
            (["+- ~Deduplicate [value#1L]", f"   +- {SCAN}"], True),
            (["+- ~Project [value#1L]", "   +- ~TransformWithState f, value#1", f"      +- {SCAN}"], True),
            (["+- ~FlatMapGroupsInPandasWithState f(x)", f"   +- {SCAN}"], True),
            (["+- ~Join Inner, (a = b)", f"   :- {SCAN}", "   +- Range (0, 100)"], False),
            (["+- ~Join Inner, (a = b)", f"   :- {SCAN}", "   +- Aggregate [x], [x]", "      +- Range (0, 9)"], False),
            (["+- ~Join Inner, (a = b)", "   :- ~Project [a]", f"   :  +- {SCAN}", f"   +- {SCAN}"], True),
            (["+- ~Project [x]", "   +- ~Union false, false", f"      :- {SCAN}", f"      +- {SCAN}"], False),
        ],
    )
    def test_what_keeps_state(self, rows: list[str], stateful: bool) -> None:
        assert told(self.plan(*rows))["stateful"] is stateful

    @pytest.mark.parametrize(
        ("rows", "loops"),
        [
            (["+- ~Join LeftOuter, ((src#24L >= a#4L) AND (src#24L <= b#5L))"], "((src >= a) AND (src <= b))"),
            (["+- ~Join Cross"], True),
            (["+- ~Join Inner, ((src#24L = a#4L) AND (src#24L <= b#5L))"], None),
            (["+- ~Join LeftOuter, (src#24L <=> a#4L)"], None),
            (["+- ~Filter (src#24L = a#4L)", "   +- ~Join Cross"], None),
            (["+- ~Join Inner, (x#1 = y#2)", "   +- ~Join Inner, (src#24L < a#4L)"], "(src < a)"),
            (["+- ~Project [Join Cross AS a#1]"], None),
        ],
    )
    def test_a_join_without_an_equality(self, rows: list[str], loops: bool | str | None) -> None:
        found = told(self.plan(*rows, f"      :- {self.SCAN}", "      +- Relation [a#4L,b#5L] parquet"))
        assert found.get("loop_condition", found.get("loop_join")) == loops

    def test_a_pattern_that_begins_with_any_text(self) -> None:
        assert told(self.plan("+- ~Filter RLIKE(a#2, .*x.*)", f"   +- {self.SCAN}"))["open_pattern"] == ".*x.*"

    def test_sliding_windows_of_a_long_plan(self) -> None:
        windows = ", ".join(["[named_struct(start, CASE WHEN (a = 1) THEN b END), value#1L]"] * 25)
        expand = f"      +- ~Expand [{windows}, ... 155 more fields], [window#2]"
        rows = ["+- ~Aggregate [w#2], [count(1)]", f"   +- ~Filter {'a' * 5000}", expand, f"         +- {self.SCAN}"]
        assert told(self.plan(*rows))["windows_per_row"] == 180

    @pytest.mark.parametrize(
        ("plan", "words"), [("* Project (1)\n(1) Output: [a#1, ... 9 more fields]", 19), ("", None)]
    )
    def test_the_words_of_a_plan_with_those_that_spark_cuts_off(self, plan: str, words: int | None) -> None:
        assert {one.fact: one.value for one in read_execution(plan, {})}.get("plan_words") == words

    def test_a_tower_of_projections_that_takes_many_letters(self) -> None:
        rows = [
            f"{3 * at * ' '}+- ~Project [{', '.join(f'sensor{number}#1' for number in range(25))}]" for at in range(60)
        ]
        assert told(self.plan(*rows, f"{180 * ' '}+- {self.SCAN}"))["projections"] == 60

    def test_a_plan_that_foreach_batch_may_extend_has_no_known_tower(self) -> None:
        assert "projections" not in told(self.plan(f"+- {self.SCAN}", root="WriteToDataSourceV1 ForeachBatchSink, u"))

    def test_a_plan_that_is_cut_says_only_what_was_seen(self) -> None:
        cut = f"{AT} {self.HEAD}\nWriteToMicroBatchDataSource noop-table\n"
        assert told(cut) == {}
        assert told(cut + "+- ~Aggregate [a], [b]\n")["stateful"] is True

    def test_a_watermark(self) -> None:
        rows = ("+- ~EventTimeWatermark timestamp#0: timestamp, 5 seconds", f"   +- {self.SCAN}")
        assert told(self.plan(*rows))["watermarked"] is True
        assert told(self.plan(rows[1][3:]))["watermarked"] is False

    def options(self, options: str, sink: str = "org.apache.spark.NoopTable$@4455fdcc") -> str:
        return f"~WriteToMicroBatchDataSource {sink}, {ID}, [{options}], Update"

    def test_4_0_prints_the_writer_options(self) -> None:
        root = self.options("queryName=q, checkpointLocation=file:/ck, ASYNCPROGRESSTRACKINGENABLED=true")
        found = look(self.plan(f"+- {self.SCAN}", root=root))
        assert {each.id for each in found if each.fact == "output_mode"} == {ID}
        assert told(self.plan(f"+- {self.SCAN}", root=root)) == {
            "output_mode": "update", "async_progress": False, "stateful": False, "watermarked": False,
            "ignored_async_setting": "ASYNCPROGRESSTRACKINGENABLED", "projections": 1,
        }  # fmt: skip

    def test_how_a_writer_compresses_its_files(self) -> None:
        options = "compression=ZSTD, parquet.compression.codec.zstd.level=19, parquet.compression=gzip, path=file:/out"
        root = self.options(options)
        found = told(self.plan(f"+- {self.SCAN}", root=root))
        assert (found["file_codec"], found["zstd_level"]) == ("zstd", 19)
        write = (
            "(3) Execute InsertIntoHadoopFsRelationCommand\nInput: []\nArguments: file:/out, false, [day#1], Parquet, "
        )
        read = read_physical_plan(write + "[compression=gzip, path=file:/out], Append, [a, b]\n")
        assert [(each.fact, each.value) for each in read] == [("file_codec", "gzip")]

    def test_options_with_commas_and_credentials(self) -> None:
        root = self.options(
            'kafka.bootstrap.servers=a:9092,b:9092, kafka.sasl.jaas.config=org.X required password="hunter2";, '
            "asyncProgressTrackingEnabled=true, asyncProgressTrackingCheckpointIntervalMs=5000"
        )
        text = structured("\n".join([self.HEAD.partition(": ")[2], root, f"+- {self.SCAN}", ""]))
        found = told(text)
        assert (found["async_progress"], found["async_progress_interval_ms"]) == (True, 5000)
        assert found["ignored_async_setting"] is None
        assert found["stateful"] is False
        assert "hunter2" not in str(look(text))


def stage(number: int, tasks: int, burst: int, prefix: str = "", executor: str = "driver") -> list[str]:
    """The lines of a stage of which `burst` tasks run at once; the next task starts before the driver sees an end."""

    def task(word: str, index: int, more: str) -> str:
        return f"{AT} TaskSetManager: {prefix}{word} task {index}.0 in stage {number}.0 (TID {index}) {more}"

    rows = [f"{AT} TaskSchedulerImpl: Adding task set {number}.0 with {tasks} tasks resource profile 0"]
    rows += [task("Starting", index, f"(h,executor {executor}, partition 0") for index in range(burst)]
    for index in range(tasks):
        sent = f"Executor: Finished task {index}.0 in stage {number}.0 (TID {index}). 9 bytes result sent"
        added = f"BlockManagerInfo: Added broadcast_{number}_piece0 in memory on h"
        rows.append(f"{AT} {sent if executor == 'driver' else added}")
        rows += [task("Starting", index + burst, f"(h,executor {executor}, p")] if index + burst < tasks else []
        rows.append(task("Finished", index, f"in 5 ms on h (executor {executor}) (1/{tasks})"))
    return rows


MINE, OTHER = stage(1, 8, 2), stage(2, 8, 2)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        *(  # as many as start before the first ends
            ([*stage(1, 2, 2, prefix, executor), *stage(2, 8, 3, prefix, executor)], {"": 3, "_at_least": 3})
            for prefix in ("", "[queryId = a4c94] [batchId = 0] ") for executor in ("driver", "17")
        ),
        # a stage with no more tasks than slots tells how many there are at least
        ([*stage(1, 2, 2), *stage(2, 4, 4)], {"_at_least": 4}), (stage(1, 3, 3), {"_at_least": 3}), ([], {}),
        # other jobs may hold slots; tasks of other stages do not count, nor does one that two loggers name twice
        ([*MINE, *stage(2, 8, 4), *stage(3, 8, 3)], {"": 4, "_at_least": 4}),
        ([MINE[0], OTHER[0], *OTHER[1:3], *MINE[1:3], *OTHER[3:], *MINE[3:]], {"": 2, "_at_least": 2}),
        ([line for line in MINE for _ in range(2)], {"": 2, "_at_least": 2}),
        (MINE[:3], {}),  # a stage that is cut does not tell
    ],
)  # fmt: skip
def test_task_slots_are_inferred_from_the_tasks_that_start_before_the_first_ends(
    rows: list[str], told: dict[str, int]
) -> None:
    found = look("\n".join(rows))
    assert {each.fact: int(each.value) for each in found} == {f"task_slots{end}": n for end, n in told.items()}
    assert {each.origin for each in found} <= {"inferred"}


def test_each_application_of_a_file_has_slots_of_its_own() -> None:
    starts = f"{AT} {SPARK} 4.3.0"
    rows = [starts, *stage(1, 8, 4), starts, *stage(1, 3, 3), starts, *stage(1, 8, 2)]
    region = "\n".join(rows)
    found = [(each.offset, int(each.value)) for each in look(region) if each.fact == "task_slots"]
    assert found == [(1000, 4), (1000 + region.rfind(starts), 2)]


COMMITTED = f"{AT} MicroBatchExecution: Committed offsets for batch 41. Metadata x"
SNAPSHOT = f"{AT} Snapshot: DELTA: Compute snapshot for version: 40"
DONE = f"{AT} Snapshot: DELTA: Done"
PROGRESS = f"{AT} ProgressReporter: Streaming query made progress: {{"
FEW, MANY = stage(1, 3, 2), stage(2, 50, 2)


@pytest.mark.parametrize(
    ("rows", "tasks"),
    [
        ([COMMITTED, SNAPSHOT, *FEW, *MANY, DONE, *stage(3, 2, 2), PROGRESS], [50]),
        ([COMMITTED, SNAPSHOT], []),  # cut off before its tasks: their number is not known
        ([COMMITTED, SNAPSHOT, *FEW, DONE, PROGRESS], [3]),
        ([COMMITTED, *stage(1, 2, 2), SNAPSHOT, *MANY, DONE, PROGRESS], [None]),  # for a checkpoint of Delta: rare
        ([COMMITTED, *MANY, PROGRESS], []),
    ],
    ids=["before a batch does anything else", "cut off", "few partitions", "within a batch", "without Delta"],
)
def test_the_tasks_of_deltas_snapshot(rows: list[str], tasks: list[int | None]) -> None:
    found = told("\n".join(rows) + "\n")
    assert [value for name, value in found.items() if name == "delta_snapshot_tasks"] == tasks


ONE = {"Executor ID": "1", "Timestamp": 1795251478857}


class TestEventLog:
    STARTED = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent"
    TERMINATED = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent"
    EXECUTION = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"

    @pytest.mark.parametrize(
        ("kind", "fields", "told"),
        [
            ("LogStart", {"Spark Version": "4.3.0"}, {"spark_version": "4.3.0"}),
            ("ApplicationStart", {"App Name": "a", "Timestamp": 1}, {"application": "a"}),
            ("ExecutorAdded", {"Executor Info": {"Host": "h", "Total Cores": 4}} | ONE, {"executor:1": 4}),
            ("ExecutorAdded", {"Executor Info": {}} | ONE, {"executor:1": None}),
            ("ExecutorRemoved", {"Removed Reason": "idle"} | ONE, {"executor:1": 0}),
        ],
    )
    def test_what_an_event_tells(self, kind: str, fields: dict[str, Any], told: dict[str, Any]) -> None:
        assert event(f"SparkListener{kind}", **fields) == told

    def test_times_of_executors(self) -> None:
        line = json.dumps({"Event": "SparkListenerExecutorAdded", "Executor Info": {}} | ONE, separators=(",", ":"))
        (found,) = sight_event_log(line.encode(), log="l", file="f", base=0)
        assert found.timestamp.isoformat() == "2026-11-21T08:57:58.857000+00:00"

    @pytest.mark.parametrize("shape", [dict, lambda properties: [list(pair) for pair in properties.items()]])
    def test_spark_properties(self, shape: Any) -> None:
        properties = {
            "spark.master": "local[2]", "spark.app.name": "orders",
            "spark.sql.streaming.stateStore.providerClass": f"{PROVIDER}.RocksDBStateStoreProvider",
            "spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled": "true",
            "spark.hadoop.fs.s3a.secret.key": "hunter2", "spark.databricks.some.token": "hunter2",
        }  # fmt: skip
        found = event("SparkListenerEnvironmentUpdate", **{"Spark Properties": shape(properties)})
        assert found["conf:spark.master"] == "local[2]"
        assert (found["application"], found["state_store"]) == ("orders", "rocksdb")
        assert found["ignored_databricks_setting"].endswith("asyncCheckpoint.enabled")
        assert "hunter2" not in str(found)

    def test_the_start_and_the_end_of_a_run(self) -> None:
        started = event(self.STARTED, id=ID, runId=RUN, name="orders", timestamp="2026-11-21T08:58:03.136Z")
        assert started == {"start_time": "2026-11-21T08:58:03.136Z", "query_name": "orders"}
        message = "org.apache.spark.sql.streaming.StreamingQueryException: [STREAM_FAILED] batch 7 doesn't exist\nat x"
        ended = event(self.TERMINATED, id=ID, runId=RUN, exception=message)
        assert ended == {"terminated_error": "[STREAM_FAILED] batch 7 doesn't exist", "missing_batch": 7}
        assert event(self.TERMINATED, id=ID, runId=RUN, exception=None) == {"stopped": True}

    def test_the_plan_and_the_settings_of_a_batch(self) -> None:
        plan = (
            "(8) StateStoreSave\nInput [1]: [a]\nArguments: [a], state info [ checkpoint = file:/ck/q/state, runId = "
            f"{RUN}, opId = 0, ver = 1, numPartitions = 8] stateStoreCkptIds = None, Update, 0, 0, 2\n"
        )
        fields = {
            "description": f"orders\nid = {ID}\nrunId = {RUN}\nbatch = 0",
            "physicalPlanDescription": plan,
            "modifiedConfigs": {
                "spark.sql.streaming.internal.stateStore.partitions": "8",
                "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
            },
            "time": 1,
        }
        found = event(self.EXECUTION, **fields)
        assert found["stateful"] is True
        assert found["output_mode"] == "update"
        fields["sparkPlanInfo"] = {"simpleString": plan.partition(") ")[2].replace("\n", " ")}
        fields["physicalPlanDescription"] = plan.replace("file:/ck/q/state", "<unknown>").replace("Update", "Append")
        assert event(self.EXECUTION, **fields)["output_mode"] == "update"
        assert (found["checkpoint_path"], found["checkpoint_scheme"]) == ("file:/ck/q", "file")
        assert (found["shuffle_partitions"], found["changelog"]) == (8, True)
        line = json.dumps({"Event": self.EXECUTION} | fields).encode()
        assert {each.run_id for each in sight_event_log(line, log="l", file="f", base=0)} == {RUN}

    def test_a_query_that_is_no_stream_tells_nothing(self) -> None:
        assert event(self.EXECUTION, description="count at x", modifiedConfigs={"spark.master": "x"}) == {}

    @pytest.mark.parametrize(
        "line", [b"", b"{", b"[]", b'{"Event":1}', b'{"Event":"SparkListenerLogStart","Spark Version":7}', b"\xff\xfe"]
    )
    def test_a_broken_line_tells_nothing(self, line: bytes) -> None:
        assert sight_event_log(line, log="l", file="f", base=0) == []


class TestRegions:
    def test_lines_that_are_cut_or_no_text_break_nothing(self) -> None:
        region = f"{AT} MicroBatchExecution: {PINNED}\n{structured('Running Spark version 4.0.0')}\n".encode()
        for cut in range(0, len(region), 3):
            sight(region[cut:], log="l", file="f", base=cut)
            sight(region[:cut] + b"\xff\x00" + region[cut + 5 :], log="l", file="f", base=0)

    @given(st.data())
    @settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
    def test_no_damage_to_a_recorded_log_breaks_anything(self, data: st.DataObject) -> None:
        region = bytearray(data.draw(st.sampled_from(recorded())))
        for _ in range(data.draw(st.integers(1, 5))):
            at = data.draw(st.integers(0, len(region) - 1))
            region[at : at + data.draw(st.integers(0, 60))] = data.draw(st.binary(max_size=20))
        for each in sight(bytes(region), log="l", file="f", base=0):
            json.loads(each.value)
        for line in region.splitlines()[:3]:
            sight_event_log(bytes(line), log="l", file="f", base=0)

    def test_repeats_are_left_out_until_the_value_changes(self) -> None:
        memory = Memory()
        one = Sighting(None, None, "l", "shuffle_partitions", "8", "log", "f", 1)
        two = one._replace(value="16")
        assert list(memory.fresh([one, one])) == [one]
        assert list(memory.fresh([one, two, one._replace(run_id=RUN)])) == [two, one._replace(run_id=RUN)]
        assert list(memory.fresh([one])) == [one]
