"""Texts that hold several measurements under different settings: told apart where the text says so, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from advisor.sources.headings import heading
from tests.made import event
from tests.sources.variants import pretty
from tests.test_questions import told, value

NAMES_NO_RUN = ("id", "runId", "name")


def record(number: int, at_ms: float, ms: int, without: tuple[str, ...] = NAMES_NO_RUN, **row: Any) -> str:
    """A record of a batch of this length; `without`: what its author left out."""
    usual = {"addBatch": ms - 200, "walCommit": 60, "commitOffsets": 55, "queryPlanning": 40, "numInputRows": 9000}
    made = event(number, at_ms, 3000, usual | {"triggerExecution": ms} | row)
    return pretty({key: each for key, each in made.items() if key not in without})


def lengths(folder: Path, *lines: str) -> dict[str, float]:
    """The median batch of each entry, by its name."""
    queries = told(folder, *lines)["queries"]
    return {query["name"]: query["metrics"]["trigger_execution_ms"]["p50"] for query in queries}


PAIRS = (
    ("With maxOffsetsPerTrigger 10000:", "With maxOffsetsPerTrigger 50000:"),
    ("with maxOffsetsPerTrigger 10000:", "with 50000:"),
    ("### before", "### after"),
    ("Before the change:", "After raising the partitions:"),
    ("**4 workers**", "**16 workers**"),
    ("1. m5.xlarge", "2. m5.4xlarge"),
    ("spark.sql.shuffle.partitions=200", "spark.sql.shuffle.partitions = 12"),
    ("My stream is slow, this is a batch", "I set minPartitions to 48 and then got this:"),
    ("Look:", "With RocksDB and changelog:"),
    ("Job A", "Job B"),
    ("Baseline", "Tuned"),
    ("-- no cache --", "-- with cache() --"),
    ("Without tuning it ran like this:", "Locality by setting *spark.sql.shuffle.partitions* to 1 gives a boost"),
    ("By using *minRatePerPartition* it gets better", "No gain by increasing *spark.driver.memory*"),
)


@pytest.mark.parametrize(("one", "other"), PAIRS)
@pytest.mark.parametrize("without", [NAMES_NO_RUN, ()])
def test_measurements_under_headings_are_not_averaged(
    tmp_path: Path, one: str, other: str, without: tuple[str, ...]
) -> None:
    text = (one, record(12, 1_000, 2900, without), "", other, "", "```", record(31, 90_000, 900, without), "```")
    assert sorted(lengths(tmp_path, *text).values()) == [900, 2900]


OF_ONE_RUN = (
    ("Here is one:", "and the next one:"),
    ("A fast batch:", "A slow batch:"),
    ("batch 12", "batch 13"),
    ("Example 1", "Example 2"),
    ("At first:", "After 6 hours:"),
    ("before the spike", "after the spike"),
    ("at 10:00", "at 10:30"),
    ("The cluster has 4 workers. This is a record:", "And this is another record:"),
    ("The trigger is 10 seconds.", "It takes longer then."),
    ("", ""),
    ("With a slow batch:", "With an idle one:"),
    ("My stream is slow:", "**16 workers**"),
)


@pytest.mark.parametrize(("one", "other"), OF_ONE_RUN)
def test_records_of_one_run_stay_together(tmp_path: Path, one: str, other: str) -> None:
    text = (one, record(12, 1_000, 2900), "", other, record(13, 4_000, 2700))
    assert list(lengths(tmp_path, *text).values()) == [2800]


def test_headings_hold_for_all_records_below_them(tmp_path: Path) -> None:
    many = [record(10 + n, 3_000.0 * n, 2900) for n in range(3)]
    few = [record(40 + n, 200_000 + 1_000.0 * n, 700) for n in range(4)]
    found = told(tmp_path, "## shuffle partitions = 200", *many, "## shuffle partitions = 16", *few)["queries"]
    assert sorted(query["window"]["batches"] for query in found) == [3, 4]
    (later,) = (query for query in found if query["window"]["batches"] == len(few))
    assert later["changed"]["says"].startswith("Compared with the measurement before it in this text, the median batch")


def test_a_heading_s_setting_is_that_of_its_records(tmp_path: Path) -> None:
    text = ("With maxOffsetsPerTrigger 10000:", record(12, 1_000, 2900), "With maxOffsetsPerTrigger 50000:")
    found = told(tmp_path, *text, record(31, 90_000, 8800))["queries"]
    limits = {
        query["metrics"]["trigger_execution_ms"]["p50"]: value(query, "max_offsets_per_trigger") for query in found
    }
    assert limits == {2900: 10_000, 8800: 50_000}


def test_batch_ids_that_begin_anew_are_another_run(tmp_path: Path) -> None:
    assert sorted(lengths(tmp_path, record(112, 1_000, 2900), record(3, 900_000, 900)).values()) == [900, 2900]


def test_records_that_stand_newest_first_are_one_run(tmp_path: Path) -> None:
    untimed = (*NAMES_NO_RUN, "timestamp")
    for without in (NAMES_NO_RUN, untimed):
        text = [record(n, 3_000.0 * n, 2900, without) for n in (14, 13, 12)]
        assert list(lengths(tmp_path, *text).values()) == [2900]


@pytest.mark.parametrize("line", ["```", "{", '"sink" : {', "2 min later:"])
def test_what_is_no_heading(line: str) -> None:
    found = heading(line + "\n")
    assert found is None or not found.sure


def test_a_heading_is_shown_without_credentials(tmp_path: Path) -> None:
    text = ("Before:", record(12, 1_000, 2900), "with kafka.sasl.password=Xq7hunter2Zz and 4 workers:")
    assert "hunter2" not in str(told(tmp_path, *text, record(31, 90_000, 900)))


@pytest.mark.parametrize(("rows", "ms", "said"), [(7200, 4300, True), (7200, 6900, False), (900, 4300, False)])
def test_many_times_the_rows_in_the_same_time_are_told(tmp_path: Path, rows: int, ms: int, said: bool) -> None:
    small = record(12, 1_000, 4200, numInputRows=300)
    text = (
        "with maxOffsetsPerTrigger 300:",
        small,
        "with maxOffsetsPerTrigger 8000:",
        record(31, 90_000, ms, numInputRows=rows),
    )
    troubles = [words for query in told(tmp_path, *text)["queries"] for words in query["screen"].get("troubles", ())]
    words = "A batch of 7,200 rows takes 4.3 s, one of 300 rows 4.2 s: by these two most of a batch does not follow"
    assert any(trouble.startswith(words) for trouble in troubles) is said
