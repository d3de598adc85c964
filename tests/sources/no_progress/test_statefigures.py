"""Figures of state without durations: what they tell of rows, partitions and the parts of a commit, and what not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import advisor
from advisor.errors import InputError
from advisor.sources.no_progress.statefigures import state_figures

SMALL = {"operatorName": "stateStoreSave", "numRowsTotal": 120, "allUpdatesTimeMs": 300, "commitTimeMs": 24000,
         "numShufflePartitions": 200}  # fmt: skip
COMMIT = {"rocksdbCommitFlushLatency": 4000, "rocksdbCommitFileSyncLatencyMs": 18000,
          "rocksdbCommitCheckpointLatency": 1000, "rocksdbCommitCompactLatency": 0}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SMALL),
        json.dumps([SMALL], indent=2),
        repr(SMALL),
        "\n".join(f"{name}: {value}" for name, value in SMALL.items()),
        "\n".join(f"| {name} | {value} |" for name, value in SMALL.items()),
        " ".join(f"stateOperators[0].{name}={value}" for name, value in SMALL.items()),
        "numRowsTotal  allUpdatesTimeMs  commitTimeMs  numShufflePartitions\n120  300  24000  200\n",
        "The state has 200 partitions and 120 rows; commitTimeMs is 24,000 and allUpdatesTimeMs 300.",
    ],
)
def test_an_operator_in_any_form_tells_rows_partitions_and_times(text: str) -> None:
    said = state_figures(text) or ""
    assert "120 rows in 200 partitions. Partitions with next to no rows cost a task and a commit each" in said
    assert "Summed over tasks: updates 300 ms, commits 24.0 s, 120 ms a partition." in said


def test_a_cell_that_only_looks_like_a_number_tells_nothing() -> None:
    assert state_figures("numRowsTotal  commitTimeMs\n120  \N{SUPERSCRIPT TWO}\n") is None


@pytest.mark.parametrize("text", [json.dumps(COMMIT), " ".join(f"{name}={ms}" for name, ms in COMMIT.items())])
def test_the_parts_of_commits_are_held_against_each_other(text: str) -> None:
    said = state_figures(text) or ""
    assert "file sync (the upload) takes most: 18.0 s of 23.0 s, summed over tasks" in said
    assert "How long a batch waits for its state is not told" in said


def test_a_state_that_is_large_is_not_called_empty() -> None:
    said = state_figures("numRowsTotal=5000000 numShufflePartitions=200 memoryUsedBytes=4294967296") or ""
    assert "5,000,000 rows in 200 partitions in 4,295 MB of memory." in said
    assert "next to no rows" not in said


def test_each_of_two_operators_is_told() -> None:
    said = state_figures(json.dumps([SMALL, {"numRowsTotal": 7, "numShufflePartitions": 5}])) or ""
    assert "Another operator: 7 rows in 5 partitions." in said


@pytest.mark.parametrize(
    "text",
    [
        "numShufflePartitions is 200 by default. commitTimeMs and rocksdbCommitFlushLatency are sums over tasks.",
        "a table of 200 partitions with 120 rows",
        "numRowsTotal: 12",
        "numRowsTotal: many, numShufflePartitions: few",
    ],
)
def test_one_figure_or_none_says_nothing(text: str) -> None:
    assert state_figures(text) is None


def test_no_milliseconds_are_promised_of_them(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(SMALL))
    with pytest.raises(InputError, match="figures of state without durations"):
        advisor.analyze(path)


@pytest.mark.parametrize("unit", ["numRowsTotal: ", "1,000 ", "commitTimeMs=1 ", "a | b "])
def test_figures_on_one_long_line_are_read_at_once(unit: str) -> None:
    """Patterns that took the square of its length would take minutes here."""
    assert state_figures(unit * (60_000 // len(unit))) is None


@pytest.mark.parametrize(("removed", "told"), [(0, "in 200 partitions."), (90, "0 rows in 200 partitions.")])
def test_a_state_whose_rows_are_not_counted_is_not_told_as_empty(removed: int, told: str) -> None:
    said = state_figures(json.dumps({**SMALL, "numRowsTotal": 0, "numRowsUpdated": 90, "numRowsRemoved": removed}))
    assert said is not None
    assert said.startswith(f"these are figures of state without durations: {told}")


def test_changed_rows_alone_say_nothing() -> None:
    assert state_figures('{"numRowsUpdated": 90, "numRowsRemoved": 3}') is None
