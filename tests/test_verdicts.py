"""Verdicts that were once wrong, each by its kind."""

from __future__ import annotations

import dataclasses
import gzip
import json
import re
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import convert
from msgspec.structs import replace

import advisor
from advisor.catalogue import load
from advisor.catalogue.traces import done_besides
from advisor.contract import Finding, Promise
from advisor.engine.judge import folded
from advisor.facts import Known
from advisor.metrics import Estimate, measure
from advisor.report.verdict import may_be_late
from advisor.savings import in_common
from advisor.savings.promise import HAS_PARTS
from advisor.sources.sightings.line import Told
from advisor.sources.sightings.plan import read_physical_plan
from advisor.sources.sightings.region import sight
from advisor.views.first_screen import no_step
from advisor.views.terminal import report_as_text
from tests.made import events, window
from tests.test_metrics import topic
from tests.views.reports import ASYNC, advice, finding, report, slow

QUICK = {"triggerExecution": 330, "addBatch": 254, "walCommit": 30, "commitOffsets": 30, "numInputRows": 500}
SLOW = QUICK | {"triggerExecution": 2330, "addBatch": 2254}
SAMPLES = Path(__file__).resolve().parents[1] / "sample_progress"


@pytest.mark.parametrize(
    ("origin", "rows", "late"), [("inferred", SLOW, True), ("inferred", QUICK, False), ("log", SLOW, False)]
)
def test_long_batches_without_a_pause_may_overrun_an_interval(origin: str, rows: dict[str, Any], late: bool) -> None:
    shown = window([rows] * 20)
    assert may_be_late(shown.with_facts(shown.facts.having(trigger=Known("unspecified", origin)))) is late


def test_no_clean_bill_is_given_of_a_log_that_was_torn(tmp_path: Path) -> None:
    text = (SAMPLES / "healthy/long-trigger-4.3.0/driver.log").read_text()
    (tmp_path / "whole.log").write_text(text)
    at = text.rindex('"durationMs"')
    (tmp_path / "torn.log").write_text(text[:at] + text[text.index("\n", text.index("sink", at)) :])
    whole, torn = (advisor.analyze(tmp_path / f"{name}.log").typed for name in ("whole", "torn"))
    (query,) = torn.queries
    assert whole.queries[0].screen.calm and not whole.queries[0].screen.calm.partial
    assert query.screen.calm and query.screen.calm.partial
    assert not any(words in report_as_text(torn) for words in ("KEEPS UP", "Nothing needs a change", "shows nothing"))


@pytest.mark.parametrize(("batches", "words"), [(3, "Nothing needs a change so far."), (60, "Nothing needs a change.")])
def test_a_few_batches_need_no_change_so_far(tmp_path: Path, batches: int, words: str) -> None:
    rows = events([QUICK | {"addBatch": 310, "walCommit": 5, "commitOffsets": 5}] * batches, interval_ms=2000)
    (tmp_path / "progress.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    known = ["trigger_interval_ms=2000", "latency_target_ms=9000"]
    assert words in report_as_text(advisor.analyze(tmp_path, set=known).typed)


@pytest.mark.parametrize("phase", [HAS_PARTS, "walCommit"])
def test_the_low_end_of_one_step_is_not_added_to_what_another_is_expected_to_save(phase: str) -> None:
    measured, most = Promise(10, 20, 30), Promise(5, None, 400)
    steps = [advice(ASYNC | {"saves_in": [where]}) for where in (HAS_PARTS, phase)]
    both = [replace(step, saves_ms=saved) for step, saved in zip(steps, (measured, most), strict=True)]
    assert in_common(both, {HAS_PARTS: 600.0, "walCommit": 600.0}).expected is None


@pytest.mark.parametrize(("other", "made"), [("", {"offline-state-repartition"}), ("f", {"fewer-state-partitions"})])
def test_a_query_that_kept_its_id_has_no_new_checkpoint(tmp_path: Path, other: str, made: set[str]) -> None:
    before = SAMPLES / "ST002/rocksdb-without-changelog-4.3.0"
    text = gzip.decompress((before / "driver.log.gz").read_bytes()).decode()
    (run,), (query,) = ({*re.findall(rf'"{key}" : "([0-9a-f-]+)"', text)} for key in ("runId", "id"))
    later = re.sub(r"(shuffle.partitions -> |numShufflePartitions. : )8", r"\g<1>2", text).replace(run, f"0{run[1:]}")
    (tmp_path / "after.log").write_text(later.replace(query, other + query[len(other) :]))
    (found,) = advisor.compare(before, tmp_path / "after.log").typed.comparisons
    assert made <= {kept.step for kept in found.promises}
    assert other or "fewer-state-partitions" not in {kept.step for kept in found.promises}


def test_a_comparison_and_a_report_tell_the_same_state_commit() -> None:
    sample = SAMPLES / "ST009/state-reloaded-4.3.0"
    (query,), (found,) = advisor.analyze(sample).typed.queries, advisor.compare(sample, sample).typed.comparisons
    assert query.inside
    told = {part.name: part.ms for part in query.inside.parts}
    (compared,) = (one.before_ms for one in found.effects if one.name == "addBatch: state commit")
    assert compared == pytest.approx(told["state_commit"], abs=0.2)


@pytest.mark.parametrize("cold", [{0}, {0, 1}], ids=["the first batch is cold", "the second one, too"])
def test_two_slow_batches_are_a_rhythm_where_a_table_log_is_written_and_two_are_said_to_be_few(
    tmp_path: Path, cold: set[int]
) -> None:
    rows = [SLOW if number in {10, 20} | cold else QUICK for number in range(28)]
    (tmp_path / "p.json").write_text("\n".join(map(json.dumps, events(rows, first=0))))
    (query,) = advisor.analyze(tmp_path / "p.json", set=["writes_delta=true", "sink=foreach_batch"]).typed.queries
    assert {one.rule for one in query.findings} >= {"SK001"}
    assert any("two are few" in words for words in query.limits)
    (other,) = advisor.analyze(tmp_path / "p.json", set=["sink=kafka"]).typed.queries
    assert {one.rule for one in other.findings} & {"SK001", "DR005"} == {"DR005"}


def test_a_scan_of_real_time_mode_tells_it_of_its_own_query() -> None:
    told = [
        read_physical_plan(f"* Project\n+- {scan}[value#1] class org.apache.spark.sql.kafka010.KafkaSourceRDD")
        for scan in ("RealTimeStreamScan", "MicroBatchScan")
    ]
    assert told == [[Told("trigger", "real_time")], []]


@pytest.mark.parametrize(
    ("first", "second", "again"),
    [
        ("score(value#37L)#38", "score(value#37L)#38", ["score"]),
        ("score(value#37L)#38", "score(value#37L)#39", []),  # two calls that the query asks for
        ("score(value#37L)#38, tax(price#2, 1)#40", "tax(price#2, 1)#40", ["tax"]),
        ("score(tax(price#2, 1)#40)#38", "tax(price#2, 1)#40", []),  # the inner call is not counted
        (f"score(concat({'cast(value#37L as string), ' * 60}a))#38", "score(text#4)#38", ["score"]),
    ],
)
def test_a_python_function_that_two_operators_call_is_told(first: str, second: str, again: list[str]) -> None:
    calls = "".join(
        f"({number}) {name}EvalPython\nInput [1]: [value#37L]\nArguments: [{text}], [pythonUDF0#{number}]\n\n"
        for number, name, text in ((3, "Batch", first), (6, "Arrow", second))
    )
    assert [one.value for one in read_physical_plan(calls) if one.fact == "python_called_again"] == again


_DISTINCT = "(5) HashAggregate\nFunctions: []\n\n(6) LocalLimit [codegen id : 2]\nInput [1]: [metric#12]\n"
_OWN_GROUPS = (
    "(1) Scan ExistingRDD\nArguments: [user#1L, x#4], SQLExecutionRDD[{}] at X.java:0, ExistingRDD, Unknown(0)\n"
    "(3) Scan ExistingRDD\nArguments: [user#5L, x#7], SQLExecutionRDD[52] at X.java:0, ExistingRDD, Unknown(0)\n"
    "(8) HashAggregate\nInput [2]: [user#5L, x#7]\nKeys [1]: [user#5L]\nFunctions [1]: [avg(x#7)]\n"
    "(11) BroadcastHashJoin\nLeft keys [1]: [{}]\nRight keys [1]: [user#5L]\nJoin type: Inner"
)
_FILES = "(6) Execute InsertIntoHadoopFsRelationCommand\nInput: []\nArguments: file:/a, false, JSON, [path=file:/a], "
_TABLE = "(2) SaveIntoDataSourceCommand\nArguments: org.apache.spark.sql.delta.sources.DeltaDataSource@4a, [path=/a], "
CALLED = "Input [1]: [value#1L]\nArguments: [score(value#1L)#4], [pythonUDF0#5]"
_PANES = "Arguments: [" + ", ".join(3 * ["[named_struct(start, time#0, end, CASE WHEN a THEN b END), value#1]"])


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("(10) SortMergeJoin [codegen id : 5]", {"shuffled_join": True}),
        ("(2) Exchange\nArguments: rangepartitioning(user#7L ASC NULLS FIRST, 2)", {"sort_of_all": True}),
        ("(2) Exchange\nArguments: hashpartitioning(user#7L, 2)", {}),
        (f"{_DISTINCT}Arguments: 10001\n", {"pivot_looks": True}),
        (f"{_DISTINCT}Arguments: 100\n", {}),
        (_OWN_GROUPS.format(52, "user#1L"), {"joins_own_groups": True}),
        (_OWN_GROUPS.format(49, "user#1L"), {}),  # groups of another batch
        (_OWN_GROUPS.format(52, "user#5L"), {}),  # groups on both sides
        (_OWN_GROUPS.format(52, "user#1L").replace("\nRight keys [1]: [user#5L]", "\nRight keys [1]: [x#7]"), {}),
        ("(2) Exchange\nArguments: hashpartitioning(user#7L, 2), ENSURE_REQUIREMENTS, [plan_id=58]", {}),
        (
            "(3) Exchange\nArguments: RoundRobinPartitioning(100), REPARTITION_BY_NUM, [plan_id=18]",
            {"repartitioned_to": 100},
        ),
        (  # of a repartition(2, "user"), to which the join gives its own number
            "(5) Exchange\nArguments: hashpartitioning(user#7L, 40), REPARTITION_BY_NUM\n(8) SortMergeJoin",
            {"shuffled_join": True},
        ),
        (f"(5) Expand\n{_PANES}], [window#10]", {"windows_per_row": 3}),
        (f"(5) Expand\n{_PANES}, ... 155 more fields], [window#10]", {"windows_per_row": 158}),
        ("(5) Expand\nArguments: [[a#1, null, 1], [null, b#2, 2]], [a#3, b#4, gid#5]", {}),  # count distinct
        ("(3) Project\nOutput [1]: [CASE WHEN (a = 1) THEN x WHEN (a = 2) THEN y END AS b#2]", {"case_branches": 2}),
        (
            "(3) Project\nOutput [2]: [map(keys: [A,B,C], values: [1,2,3])[code#2] AS a#3]\nInput [1]: [keys: [x]]",
            {"map_keys": 3},
        ),
        (
            "* Project (4)\n+- * Project (3)\n   +- * Project (2)\n      +- Scan (1)\n\n(2) Project\n",
            {"projections": 3},
        ),
        (
            "(3) Project\nOutput [342]: [c0#1L, c1#2L, ... 340 more fields]\nInput [2]: [a#1, b#2]",
            {"plan_columns": 342},
        ),
        (
            "(3) Project\nOutput [4]: [get_json_object(raw#4, $.a) AS a#5, get_json_object(raw#4, $.b) AS b#6,"
            " get_json_object(cast(raw#4 as string), $.b) AS c#7, get_json_object(other#8, $.c) AS d#9]",
            {"column_parser": "get_json_object", "column_parsed_times": 3},
        ),
        (
            "(3) Project\nOutput [2]: [from_json(StructField(a,LongType,true), cast(value#8 as string)).a AS a#5,"
            " from_json(StructField(b,StringType,true), cast(value#8 as string)).b AS b#6]",
            {"column_parser": "from_json", "column_parsed_times": 2},
        ),
        (
            r"Output [4]: [regexp_extract(line#2, ^(\S) (\d), 1) AS g1#3, regexp_extract(line#2, ^(\S) (\d), 2) AS b#4,"
            r" regexp_extract(cast(line#2 as string), ^(\S) (\d), 2) AS g3#5, regexp_extract(line#2, ^(\S) (\d), 1)]",
            {"column_parser": "regexp_extract", "column_parsed_times": 3},
        ),
        (
            "== Physical Plan ==\nScan (1)\n\n\n(1) Scan\nOutput [1]: [obj#4]\nArguments: obj#4: java.lang.String, Map",
            {"schema_inferred": True},
        ),
        ("(3) Project\nOutput [2]: [from_json(StructField(a,LongType,true), value#8).a AS a#5, value#8]", {}),
        (f"{_FILES}Overwrite, [a]", {"overwrites": True}),
        (f"{_FILES}Append, [a]", {}),
        (f"{_TABLE}Overwrite\n", {"overwrites": True}),
        (f"{_TABLE}Append\n", {}),
        ("(5) OverwriteByExpression\nInput [1]: [a#1]\nArguments: X$$Lambda@1, Y", {"overwrites": True}),
        ("(5) AppendData\nInput [1]: [a#1]\nArguments: X$$Lambda@1, Y", {}),
        ("(5) HashAggregate\nKeys [2]: [country#726L, spark_grouping_id#725L]\n", {"grouping_sets": True}),
        (
            "(2) Filter\nCondition : (isnotnull(a#2) AND RLIKE(concat(a#2, b#3), .*(ERROR|FATAL), x.*))",
            {"open_pattern": ".*(ERROR|FATAL), x.*"},
        ),
        (
            "Functions [2]: [partial_approx_count_distinct(a#8, 0.05, 0, 0), approx_count_distinct(b#9L, 0.01, 0, 0)]",
            {"distinct_error": 0.01},
        ),
        (
            "== Physical Plan ==\nCollectLimit (3)\n+- * Filter (2)\n   +- Scan text  (1)\n\n\n(1) Scan text \n"
            "Output [1]: [value#21]\nBatched: false\n\n(2) Filter\nCondition : (length(trim(value#21, None)) > 0)\n",
            {"columns_looked_up": True},
        ),
        (
            "(6) BroadcastNestedLoopJoin\nJoin type: Inner\nJoin condition: (a#24L <= b#4)\n",
            {"loop_join": True, "loop_condition": "(a <= b)"},
        ),
        ("(6) CartesianProduct\nJoin type: Inner\nJoin condition: None\n", {"loop_join": True}),
        ("(2) Filter\nCondition : RLIKE(a#2, (?i).*a\\(b)", {"open_pattern": r"(?i).*a\(b"}),
        ("(2) Filter\nCondition : NOT RLIKE(a#2, (.*)(a|b)(.*)@(.*)\\.c)", {"open_pattern": r"(.*)(a|b)(.*)@(.*)\.c"}),
        (f"(2) Filter\nCondition : RLIKE(a#2, .*{70 * 'a'})", {"open_pattern": f".*{58 * 'a'}"}),
        ("(2) Filter\nCondition : RLIKE(a#2, ^.*(ERROR|FATAL).*)", {}),  # tried once
        (
            "(2) Filter\nCondition : (RLIKE(a#2, ERROR.*) AND (regexp_extract(a#2, .*=(a), 1) = b))",
            {},
        ),  # takes the last
    ],
)
def test_a_plan_tells_what_multiplies_its_work(plan: str, told: dict[str, object]) -> None:
    assert {one.fact: one.value for one in read_physical_plan(plan)} == told


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("+- MapInPandas (3)\n(3) MapInPandas\nInput [1]: [value#1L]\n", {"runs_python", "python_batches"}),
        ("(3) PythonMapInArrow\nInput [1]: [value#1L]\n", {"runs_python", "python_batches"}),
        ("(5) FlatMapGroupsInPandas\nInput [1]: [value#1L]\n", {"runs_python", "python_batches"}),
        ("(5) FlatMapGroupsInPandasWithState\nInput [1]: [value#1L]\n", {"runs_python"}),
        (f"(2) ArrowEvalPython\n{CALLED}, 204\n", {"runs_python", "python_batches"}),
        (f"(2) ArrowEvalPython\n{CALLED}, 200\n", {"runs_python", "python_batches"}),
        (f"(2) ArrowEvalPython\n{CALLED}, 101\n", {"runs_python"}),
        (f"(2) BatchEvalPython\n{CALLED}\n", {"runs_python"}),
        ("*(2) Project [pythonUDF0#5]\n:  +- *(1) BatchEvalPython [score(value#1L)#4]\n", {"runs_python"}),
        ("*(1) Project [InPandas#5 AS Python#6]\n+- MicroBatchScan[value#1L] Python\n", set()),
    ],
)
def test_a_python_function_is_told_and_whether_it_takes_many_rows(plan: str, told: set[str]) -> None:
    assert {one.fact for one in read_physical_plan(plan) if one.value is True} == told


ONE = "SinglePartition, ENSURE_REQUIREMENTS, [plan_id=3]"


@pytest.mark.parametrize(
    ("tree", "exchange", "told"),
    [
        ("Window (4)\n   +- * Sort (3)\n      +- Exchange (2)", ONE, True),
        (
            "Window (5)\n   +- * Sort (4)\n      +- ShuffleQueryStage (3), Statistics(a)\n         +- Exchange (2)",
            ONE,
            True,
        ),
        ("Window (4)\n   +- * Sort (3)\n      +- Exchange (2)", "SinglePartition, REPARTITION_BY_NUM", False),
        (
            "Window (4)\n   +- * Sort (3)\n      +- Exchange (2)",
            "hashpartitioning(a#1L, 1), ENSURE_REQUIREMENTS",
            False,
        ),
        ("Window (5)\n   +- Sort (4)\n      +- HashAggregate (3)\n         +- Exchange (2)", ONE, False),
        ("GlobalLimit (4)\n   +- * Sort (3)\n      +- Exchange (2)", ONE, False),
    ],
)
def test_a_window_without_partition_by_is_told(tree: str, exchange: str, *, told: bool) -> None:
    plan = f"* Project (6)\n+- {tree}\n\n\n(2) Exchange\nInput [1]: [id#0L]\nArguments: {exchange}\n"
    assert (Told("window_in_one_partition", value=True) in read_physical_plan(plan)) is told


@pytest.mark.parametrize(
    ("where", "runs_in", "modes"),
    [
        ("<unknown>", "", set()),
        ("<unknown>", "<unknown>", set()),
        ("<unknown>", "file:/c/state", {"complete"}),
        ("file:/c/state", "file:/c/state", {"update"}),
    ],
)
def test_a_plan_without_its_query_tells_no_output_mode(where: str, runs_in: str, modes: set[str]) -> None:
    """The plan that foreachBatch makes anew says Append of any query; its operators hold the one that runs."""

    def saves(place: str) -> str:
        run = "816643e7-3157-4133-ae26-0e2ee96a9179"
        return f"[window#10], state info [ checkpoint = {place}, runId = {run}, opId = 0, ver = 0, numPartitions = 2], "

    plan = f"(5) StateStoreSave\nArguments: {saves(where)}Update, 0, 0, 2\n"
    operators = [{"simpleString": f"{name} {saves(runs_in)}Complete, 0, 2"} for name in ("StateStoreSave", "Other")]
    told = read_physical_plan(plan, json.dumps(operators, separators=(",", ":")).encode() if runs_in else b"")
    assert {one.value for one in told if one.fact == "output_mode"} == modes
    assert Told("stateful", value=True) in told


def test_a_phase_that_takes_longer_than_the_loss_is_named_too(tmp_path: Path) -> None:
    row = {"triggerExecution": 1550, "addBatch": 385, "latestOffset": 626, "walCommit": 240, "commitOffsets": 245}
    (tmp_path / "p.json").write_text("\n".join(map(json.dumps, events([row] * 30))))
    (query,) = advisor.analyze(tmp_path / "p.json").typed.queries
    assert query.screen.loss and query.screen.loss.rule == "LG001"
    assert any("626 ms" in words for words in query.screen.troubles)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "INFO FileStreamSource: maxFilesPerBatch = Some(7), maxBytesPerBatch = None",
            [("max_files_per_trigger", "7")],
        ),
        (
            "INFO FileStreamSource: maxFilesPerBatch = None, maxBytesPerBatch = None",
            [("max_files_per_trigger", "null")],
        ),
        ("INFO FileStreamSource: maxFilesPerBatch = None, maxBytesPerBatch = Some(1024)", []),
        ("DEBUG TaskSetManager: Valid locality levels for TaskSet 0.0: NO_PREF, ANY", [("debug_log", "true")]),
        ("DEBUG MyJob: Valid locality levels for TaskSet 0.0: NO_PREF, ANY", []),
    ],
)
def test_the_limit_of_a_file_source_and_the_level_of_spark_s_own_lines_are_told(
    line: str, told: list[tuple[str, str]]
) -> None:
    found = sight(f"26/11/26 08:11:52 {line}\n".encode(), log="a", file="a", base=0)
    assert [(one.fact, one.value) for one in found] == told


@pytest.mark.parametrize(("told", "step"), [([], None), (["latency_target_ms=2000"], "interval-no-longer-than-needed")])
def test_a_query_that_keeps_its_interval_is_not_restarted_for_a_twentieth(told: list[str], step: str | None) -> None:
    (query,) = advisor.analyze(SAMPLES / "TR006/varying-load-4.3.0", set=told).typed.queries
    assert (query.best_step and query.best_step.step) == step
    assert (query.screen.calm is None) == (step is not None)


@pytest.mark.parametrize(
    ("first", "known"),
    [({"first": 1}, False), ({"first": 7}, True), ({"first": 1, "interval_ms": 1000}, True)],
)
def test_the_gap_to_the_first_batch_of_all_is_no_wait(first: dict[str, Any], known: bool) -> None:
    row = {"triggerExecution": 420, "addBatch": 300, "numInputRows": 4000}
    trigger = "processing_time" if "interval_ms" in first else "unspecified"
    found = window([row], **first, trigger=trigger, trigger_interval_ms=first.get("interval_ms"))
    assert isinstance(measure(found, "record_latency_ms", "p50"), Estimate) is known


@pytest.mark.parametrize(
    ("waits", "words"),
    [(20_000, "KEEPS UP"), (20_000, "is gone in 4.4 s at"), (20_000, "falls, gone in 4.4 s"), (2_000_000, "BEHIND")],
)
def test_a_backlog_that_is_soon_gone_is_no_trouble(tmp_path: Path, waits: int, words: str) -> None:
    row = {"triggerExecution": 300, "addBatch": 200, "numInputRows": 900}
    rows = [row | {"sources": [topic(900, 900 * at, waits - 900 * at)]} for at in range(1, 21)]
    (tmp_path / "p.json").write_text("\n".join(map(json.dumps, events(rows, interval_ms=2000))))
    report = advisor.analyze(tmp_path / "p.json", set=["trigger_interval_ms=2000"]).typed
    assert words in " ".join(report_as_text(report).split())


@pytest.mark.parametrize(
    ("more", "told"),
    [([], "/b (3 files)"), (["table_ms 950 /c"], "/c"), (["table_ms 950"], None), (["table_ms 900 /b/c"], "/b/c")],
    ids=["of two tables", "of three", "the longest is not known", "of one file"],
)
def test_of_several_tables_the_one_that_takes_longest_is_named(more: list[str], told: str | None) -> None:
    shown = window([QUICK] * 4)
    traces = ["reads_files 40 /a", "reads_files 3 /b", "table_ms 80 /a", "table_ms 900 /b", *more]
    batches = shown.batches.having(traces=np.array([", ".join(traces)] * 4, object))
    found = done_besides(dataclasses.replace(shown, batches=batches)).get("longest_table")
    assert (found and found.value) == told


@pytest.mark.parametrize(("high", "general"), [("PY001", "CL010"), ("SK015", "CL010"), ("CL010", "SK002")])
def test_of_several_that_explain_a_finding_the_order_does_not_choose(high: str, general: str) -> None:
    rules = ("SK002", "CL010", "PY001", "SK015")
    made = [finding(rule, "t", "T", "high" if rule == high else "low", "S", []) for rule in rules]
    found = convert(made, list[Finding])
    told = [{one.rule: one.explained_by for one in folded(list(each), load())} for each in permutations(found)]
    assert all(each == told[0] for each in told)
    assert told[0][general] == (high if high != "CL010" else "SK015")  # which has a cause


@pytest.mark.parametrize(("seen", "waves"), [(2, 1), (1, None)])
def test_state_tasks_that_were_all_seen_at_once_run_in_one_wave(seen: int, waves: int | None) -> None:
    operator = {"operatorName": "stateStoreSave", "numShufflePartitions": 2, "commitTimeMs": 90, "allUpdatesTimeMs": 90}
    found = measure(window([QUICK | {"operators": [operator]}] * 5, task_slots_at_least=seen), "state_waves")
    assert (found.value if isinstance(found, Estimate) else None) == waves


def test_what_is_left_out_is_said_where_it_is_most_of_a_log(tmp_path: Path) -> None:
    rows = [QUICK | {"triggerExecution": ms, "addBatch": ms - 80} for ms in (9000, 4000, 2500, 300, 400)]
    (tmp_path / "p.json").write_text("\n".join(map(json.dumps, events(rows, first=0))))
    report = advisor.analyze(tmp_path / "p.json", set=["trigger_interval_ms=2000"]).typed
    words = "left out: 3 cold after a start (the last took 2.5 s, longer than the interval)"
    assert words in " ".join(report_as_text(report).split())


def test_a_saving_that_is_not_worth_the_state_is_no_step_to_take() -> None:
    (query,) = report(slow()).queries
    lossy = replace(query.findings[0], steps=(advice(ASYNC | {"takes": "new_checkpoint"}),))
    words = no_step(replace(query, best_step=None, findings=(lossy,)))
    assert words.startswith("Nothing that is worth the state") and re.search(r"\(\d+ ms to \d+ ms\)", words)
