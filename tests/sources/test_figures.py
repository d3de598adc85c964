"""Figures of batches as loggers, gauges and R write them."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.sources.formats.gauges import of_the_last_trigger
from tests.sources.reading import scanned


def told(text: str) -> list[tuple[Any, ...]]:
    """(name, batch, rows, triggerExecution, addBatch) of each record."""
    columns = ("name", "batch_id", "input_rows", "trigger_execution_ms", "add_batch_ms")
    return [tuple(row[name] for name in columns) for row in scanned(text.encode()).table.to_pylist()]


GAUGES = """
driver_spark_streaming_{name}_inputRate_total_Value{{type="gauges"}} {came}
driver_spark_streaming_{name}_inputRate_total_Number{{type="gauges"}} {came}
driver_spark_streaming_{name}_latency_Value{{type="gauges"}} {took}
driver_spark_streaming_{name}_processingRate_total_Value{{type="gauges"}} {done}
"""


def test_samples_of_gauges_are_batches_and_the_same_numbers_again_are_not() -> None:
    samples = [(900, 4200, 640), (900, 4200, 640), (910, 6100, 600), (0, 0, 0)]
    text = "".join(GAUGES.format(name="pay", came=came, took=took, done=done) for came, took, done in samples)
    assert told(text) == [("pay", None, 2688, 4200, None), ("pay", None, 3660, 6100, None)]


def test_the_gauges_of_two_queries_are_told_apart() -> None:
    text = GAUGES.format(name="a", came=10, took=500, done=40) + GAUGES.format(name="b", came=10, took=900, done=50)
    assert told(text) == [("a", None, 20, 500, None), ("b", None, 45, 900, None)]


def test_gauges_of_which_a_sample_lacks_one_are_no_batches() -> None:
    assert (
        told(GAUGES.format(name="a", came=10, took=500, done=40) + GAUGES.split("\n")[3].format(name="a", took=7)) == []
    )


JMX = 'metrics<name=a.driver.spark.streaming.q1.{name}, type=gauges><>Value"}} {value}\n'
LATENCY = {"name": "latency", "value": 700.0}
RATES = (("inputRate-total", 10.0), ("latency", 700.0), ("processingRate-total", 30.0))


def test_gauges_that_are_all_0_tell_of_no_batch() -> None:
    zero = "".join(JMX.format(name=name, value=0.0) for name, _ in RATES)
    assert "all are 0, as before the end of the first batch" in (of_the_last_trigger(zero) or "")
    assert "all are 0" not in (of_the_last_trigger(zero.replace("latency", "x") + JMX.format(**LATENCY)) or "")


@pytest.mark.parametrize(
    "text",
    [
        "metrics: a.driver.spark.streaming.q1.latency: value = 700\na.driver.spark.streaming.q1.inputRate-total: value "
        "= 10.0\na.driver.spark.streaming.q1.processingRate-total: value = 30.0",
        "".join(JMX.format(name=name, value=value) for name, value in RATES),
        'streaming_latency{query="q1"} 700\nstreaming_inputRate_total{query="q1"} 1e1\n'
        'streaming_processingRate_total{query="q1"} 3e1',
    ],
)
def test_other_spellings_of_gauges(text: str) -> None:
    assert told(text) == [("q1", None, 21, 700, None)]


ALIASES = (
    "INFO done query=pay batch_id=5 num_input_rows=500 trigger_execution_ms=4150 add_batch_ms=3600",
    "[progress] query=pay batchId=5 numInputRows=500 addBatchMs=3600 triggerMs=4150",
    "query_name=pay batchId: 5, num_input_rows: 500, add_batch: 3.6 s, trigger_execution: 4150 ms",
    '{"level": "info", "queryName": "pay", "batch_id": 5, "num_input_rows": 500, "trigger_execution_ms": 4150, '
    '"add_batch_ms": 3600}',
)


@pytest.mark.parametrize("line", ALIASES)
def test_lines_of_names_and_values(line: str) -> None:
    assert told(f"{line}\n") == [("pay", 5, 500, 4150, 3600)]
    assert len(told(f"{line}\n{line}\n")) == 2


R_PRINTS = """$batchId
[1] 57

$numInputRows
[1] 4100

$durationMs
$durationMs$addBatch
[1] 3310

$durationMs$triggerExecution
[1] 3999
"""
R_SHOWS = """List of 9
 $ batchId               : int 57
 $ numInputRows          : int 4100
 $ durationMs            :List of 4
  ..$ addBatch        : int 3310
  ..$ triggerExecution: int 3999
"""
R_GIVES = """list(id = "0a7c", runId = "7a7c", name = NULL, timestamp = "2024-03-02T11:20:00.002Z", batchId = 57L,
    numInputRows = 4100L, durationMs = list(addBatch = 3310L, triggerExecution = 3999L, walCommit = 310L),
    stateOperators = list(), sources = list(list(description = "KafkaV2[Subscribe[in]]", numInputRows = 4100L)),
    sink = list(description = "FileSink[/out (of)]"))
"""


@pytest.mark.parametrize("text", [R_PRINTS, R_SHOWS, R_GIVES])
def test_what_r_writes(text: str) -> None:
    ((_, *rest),) = told(text)
    assert rest == [57, 4100, 3999, 3310]


def test_a_list_of_r_tells_source_and_sink() -> None:
    (row,) = scanned(R_GIVES.encode()).table.to_pylist()
    assert row["sink"] == "FileSink[/out (of)]"
    assert [source["description"] for source in row["sources"]] == ["KafkaV2[Subscribe[in]]"]


UI = """Time,Input Rate (records/s),Process Rate (records/s),Batch Duration (ms)
2025/03/04 10:00:00,1200.5,2401.0,5000
2025/03/04 10:00:10,1189.9,2390.0,5000
"""
DASHBOARD = """"Time","inputRate-total","processingRate-total","latency"
"2025-03-04 10:00:00",300,600,5000
"2025-03-04 10:00:30",305,590,5210
"""


@pytest.mark.parametrize(
    ("text", "rows", "took"), [(UI, [12_005, 11_950], [5000, 5000]), (DASHBOARD, [3000, 3074], [5000, 5210])]
)
def test_tables_of_rates_and_lengths(text: str, rows: list[int], took: list[int]) -> None:
    found = told(text)
    assert [row[2] for row in found] == rows
    assert [row[3] for row in found] == took


def test_a_latency_beside_durations_is_another() -> None:
    found = told("batch,latency,triggerExecution,addBatch\n4,9000,700,600\n5,9100,710,610\n")
    assert [row[3] for row in found] == [700, 710]


XML = """<?xml version="1.0"?>
<progress><name>pay</name><batchId>{}</batchId>
  <numInputRows>500</numInputRows>
  <durationMs><addBatch>900</addBatch><triggerExecution>{}</triggerExecution><walCommit>80</walCommit></durationMs>
</progress>
"""


def test_elements_and_attributes_of_xml() -> None:
    several = told(XML.format(7, 1100) + XML.format(8, 1200))
    assert [each[1:] for each in several] == [(7, 500, 1100, 900), (8, 500, 1200, 900)]
    attributes = '<event batchId="7" numInputRows="500"><durationMs addBatch="900" triggerExecution="1100"/></event>'
    assert [each[1:] for each in told(attributes)] == [(7, 500, 1100, 900)]


@pytest.mark.parametrize(
    "text", [XML.format(7, "1100 or so"), XML.format("7", "").replace("addBatch", "add"), "<addBatch>900<addBatch>"]
)
def test_xml_without_the_whole_length_is_no_batch(text: str) -> None:
    assert told(text) == []
