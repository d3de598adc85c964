"""What the benchmark of offset management plans and says: no Spark."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from advisor.errors import InputError, UsageError
from lab import jars, require
from lab.__main__ import main
from lab.offsets import chart
from lab.offsets.cells import CONFIGURATIONS, MANAGER, Cell, Checkpoint, Planned, plan, variant
from lab.offsets.result import as_json, entry, read, result, write
from lab.offsets.runs import _estimated
from lab.offsets.table import offsets_as_text
from tests.made import window

LOCAL = Checkpoint("local")


def run(
    configuration: str,
    p50: float,
    *,
    rate: int = 1000,
    batches: int = 300,
    checkpoint: Checkpoint = LOCAL,
    **more: float,
) -> dict[str, Any]:
    found = {
        "p50": p50, "p99": 2 * p50, "achieved_per_second": float(rate), "missing_share": 0.0, "purged_files": 402.0,
    }  # fmt: skip
    told = {
        "round": 1, "configuration": configuration, "batches": batches, "refused": None,
        "trigger_ms": {"p50": p50 / 2, "p99": p50}, "phases_ms": {"walCommit": 10.0}, "measured": found | more,
    }  # fmt: skip
    return entry(Planned(Cell("stat", checkpoint, rate), configuration, 1), told, "4.3.0")


def test_s3a_where_its_jars_are_not_known_is_one_line() -> None:
    with pytest.raises(UsageError, match="no S3A jars were tested with Hadoop 9"):
        jars.s3a("9.0.0")


def test_configurations_take_turns_and_turn_round() -> None:
    planned = list(plan(("stat",), (LOCAL,), (1000,), 2))
    names = [one.configuration for one in planned]
    assert names == [*CONFIGURATIONS, *reversed(CONFIGURATIONS)]
    every = Counter(plan(("stat", "kafka"), (LOCAL, Checkpoint("s3a", 20)), (1, 2, 3), 3))
    assert len(every) == sum(every.values()) == 2 * 2 * 3 * 3 * 4


def test_the_settings_of_a_run() -> None:
    both = variant(Planned(Cell("stat", Checkpoint("s3a-abortable", 5), 1000), "both", 1))
    assert both.writer_option == {"asyncProgressTrackingEnabled": "true"}
    assert both.conf == {
        "spark.sql.streaming.asyncLogPurge.enabled": "true",
        "spark.sql.streaming.checkpointFileManagerClass": MANAGER,
    }
    inline = variant(Planned(Cell("kafka", LOCAL, 1000), "inline", 1))
    assert not inline.writer_option and inline.conf == {"spark.sql.streaming.asyncLogPurge.enabled": "false"}


@pytest.mark.parametrize("text", ["disk", "local:5", "s3a:soon", "s3a:-1", ""])
def test_no_checkpoint(text: str) -> None:
    with pytest.raises(UsageError, match="give local, s3a"):
        Checkpoint.parse(text)


def test_checkpoints() -> None:
    assert Checkpoint.parse("s3a:20") == Checkpoint("s3a", 20.0)
    assert [str(Checkpoint.parse(text)) for text in ("local", "s3a", "s3a-abortable:5")] == [
        "local", "s3a, +0 ms", "s3a-abortable, +5 ms",
    ]  # fmt: skip


def test_change_is_of_medians_against_inline() -> None:
    runs = [run("inline", p50) for p50 in (100.0, 90.0, 300.0)] + [run("both", p50) for p50 in (20.0, 30.0)]
    (cell,) = result(runs).cells
    inline, both = cell.configurations
    assert inline.latency_ms["p50"] == 100 and inline.p50_of_runs_ms == (90, 100, 300) and not inline.change
    assert both.change == {"batch": pytest.approx(-0.75), "p50": pytest.approx(-0.75), "p99": pytest.approx(-0.75)}
    assert both.published == (-0.85, -0.85) and both.runs == 2 and both.purged_files == 402


@pytest.mark.parametrize(
    ("measured", "kept"),
    [
        ({}, True), ({"achieved_per_second": 995.0, "missing_share": 0.005}, True),
        ({"achieved_per_second": 900.0}, False), ({"missing_share": 0.05}, False),
    ],
)  # fmt: skip
def test_who_kept_up_and_was_short(measured: dict[str, float], kept: bool) -> None:
    assert not any("fewer than 300" in words for words in result([run("inline", 100)]).limits)
    assert any("fewer than 300" in words for words in result([run("inline", 100, batches=299)]).limits)
    found = result([run("inline", 100, **measured)])
    assert found.cells[0].configurations[0].kept_up is kept
    assert any("did not keep up" in words for words in found.limits) is not kept
    assert ("did not keep up" in offsets_as_text(found).partition("- ")[0]) is not kept


def test_what_progress_says_stands_beside_what_was_measured() -> None:
    runs = [{**run("inline", 100), "estimated_ms": {"p50": p50, "p99": 2 * p50}} for p50 in (104.0, 110.0)]
    (cell,) = result(runs).cells
    assert cell.configurations[0].estimated_ms == {"p50": 107, "p99": 214}
    assert "107 ms, 214 ms" in offsets_as_text(result(runs))
    assert "estimated" in offsets_as_text(result(runs))
    assert "estimated" not in offsets_as_text(result([run("inline", 100)]))


def test_a_long_batch_of_steady_rows_weighs_as_long_as_it_is() -> None:
    row = {"numInputRows": 1, "triggerExecution": 60, "addBatch": 50, "walCommit": 5, "commitOffsets": 5}
    rows = [{**row, "interval": 500}, *[row] * 59]  # a row is a span of records: the first holds an eighth of them
    seen = window(rows, trigger="unspecified", stateful=False, sink="noop")
    stat, kafka = _estimated(seen, "stat"), _estimated(seen, "kafka")
    assert kafka["p99"] < 400 < stat["p99"] < 560
    assert stat["p50"] == pytest.approx(kafka["p50"], abs=10)


def test_a_run_without_a_batch_has_no_figures() -> None:
    nothing = entry(
        Planned(Cell("kafka", LOCAL, 1000), "both", 1),
        {"round": 1, "configuration": "both", "batches": 0, "refused": "Spark says no", "measured": {},
         "trigger_ms": {}, "phases_ms": {}},
        "4.3.0",
    )  # fmt: skip
    found = result([nothing])
    assert found.cells[0].configurations[0].change == {} and "Spark says no" in offsets_as_text(found)


def test_the_table() -> None:
    lines = offsets_as_text(result([run("inline", 100), run("both", 15), run("inline", 50, rate=10_000)])).splitlines()
    (told,) = (line.split() for line in lines if "both" in line)
    assert " ".join(told) == "both 7.5 ms 15 ms 30 ms -85 % -85 % -85 % 402"
    assert any(line == "local, 10,000/s" for line in lines)


def test_written_and_read_again(tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    write(result([run("inline", 100)]), first)
    write(result([run("both", 15)]), second)
    words = ["offsets", "--rounds", "0", "--runs-from", str(first), "--runs-from", str(second)]
    made = CliRunner().invoke(main, [*words, "--format", "json"])
    assert made.exit_code == 0, made.output
    told = json.loads(made.output)
    assert told == json.loads(as_json(result([*read(first), *read(second)])))
    assert told["cells"][0]["configurations"][1]["change"]["p50"] == pytest.approx(-0.85)
    first.write_text("[1]")
    with pytest.raises(InputError, match="not a result of this benchmark"):
        read(first)


def test_each_bar_stands_under_the_title_of_its_cell(tmp_path: Path) -> None:
    """Not every checkpoint has every rate; no reader of a picture can see that a bar is another's."""
    pytest.importorskip("altair")
    stored = Checkpoint("s3a", 20)
    runs = [run("inline", 1), run("inline", 2, rate=9), run("inline", 3, rate=9, checkpoint=stored)]
    chart.write(result(runs), tmp_path / "offsets.svg")
    text = (tmp_path / "offsets.svg").read_text()
    assert text.startswith("<svg") and "async" not in text and "inline" in text
    drawn = re.findall(r"p50 in ms: (\d+)|>(stat sink[^<]*)<", text)
    told = ["1", "stat sink, local, 1,000/s", "2", "stat sink, local, 9/s", "3", "stat sink, s3a +20 ms, 9/s"]
    assert [bar or title for bar, title in drawn] == told


def test_what_is_saved_is_drawn_by_the_delay_of_the_storage(tmp_path: Path) -> None:
    pytest.importorskip("altair")
    slow, slower = Checkpoint("s3a", 5), Checkpoint("s3a", 20)
    runs = [
        run(name, p50, checkpoint=one) for one, inline in ((slow, 100), (slower, 300))
        for name, p50 in (("inline", inline), ("both", 40))
    ]  # fmt: skip
    chart.write(result(runs), tmp_path / "offsets.svg")
    drawn = re.findall(r"storage: (\d+); saved at p50, in ms: (\d+)", (tmp_path / "offsets.svg").read_text())
    assert sorted(set(drawn)) == [("20", "260"), ("5", "60")]
    chart.write(result(runs[:2]), tmp_path / "one.svg")
    assert "saved at p50" not in (tmp_path / "one.svg").read_text()


def test_an_interval_is_set_told_and_kept_apart(tmp_path: Path) -> None:
    (planned,) = plan(("stat",), (LOCAL,), (1000,), 1, ("async progress",), 4000)
    assert variant(planned).writer_option["asyncProgressTrackingCheckpointIntervalMs"] == "4000"
    longer = {**run("both", 15), "interval_ms": 4000}
    found = result([run("both", 30), longer])
    assert [cell.interval_ms for cell in found.cells] == [1000, 4000]
    assert "local, 1,000/s, logs every 4,000 ms" in offsets_as_text(found)
    older = {key: value for key, value in longer.items() if key != "interval_ms"}
    (tmp_path / "older.json").write_text(json.dumps({"runs": [older]}))
    assert [one["interval_ms"] for one in read(tmp_path / "older.json")] == [1000]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--chart", "offsets.gif"], "not a chart format"), (["--checkpoint", "disk"], "not a kind of checkpoint"),
        (["--spark", "a"], "KEY=VALUE"), (["--rate", "0"], "0 is not in the range"),
        (["--save-runs", "no/runs.json"], "--save-runs no/runs.json: there is no such directory"),
        (["--chart", "no/x.svg"], "--chart no/x.svg: there is no such directory"),
        (["--output", "no/x"], "--output no/x: there is no such directory"),
    ],
)  # fmt: skip
def test_what_was_asked_wrongly(words: list[str], said: str) -> None:
    made = CliRunner().invoke(main, ["offsets", *words])
    assert made.exit_code == 2 and said in made.output


def test_a_package_that_is_missing_is_one_line() -> None:
    require("json", "click")
    with pytest.raises(UsageError, match=r"^laboratory: no_such, not_here are not installed; pip install --group lab"):
        require("json", "no_such", "not_here")
