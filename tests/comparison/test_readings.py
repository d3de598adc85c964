"""Two readings: which runs are compared, the plain data, the function and the command."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

import advisor
from advisor.catalogue import load
from advisor.cli import main
from advisor.errors import InputError, UsageError
from advisor.report import Asked
from advisor.report.comparing import _advised, compare_readings
from advisor.sources import files
from tests.made import events

ORDERS, CLICKS = ("aaaaaaaa-0000-0000-0000-000000000000", "bbbbbbbb-0000-0000-0000-000000000000")
MINUTE = 60_000


def log(path: Path, *runs: dict[str, Any]) -> str:
    """A file of progress: for each run its query, run id, batch length in ms, and when it starts."""
    lines = []
    for number, run in enumerate(runs):
        base = run["ms"]
        rows = []
        for batch in range(run.get("batches", 40)):
            length = base + (batch * 7) % 5 * base // 100  # a little noise
            phases = {"addBatch": length - 10, "walCommit": 5, "commitOffsets": 4, "triggerExecution": length}
            names = {"id": run.get("id", ORDERS), "runId": run["run"]}
            rows.append(phases | names | {"numInputRows": run.get("rows", 500)})
        lines += [
            json.dumps(event | {"name": run.get("name")})
            for event in shifted(events(rows, interval_ms=run.get("every")), 10 * number)
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def shifted(made: list[dict[str, Any]], minutes: int) -> list[dict[str, Any]]:
    return [event | {"timestamp": event["timestamp"].replace("T02:", f"T{2 + minutes // 10:02}:")} for event in made]


def command(*words: str) -> Result:
    return CliRunner().invoke(main, ["compare", *words])


@pytest.fixture
def slow(tmp_path: Path) -> str:
    return log(tmp_path / "slow.json", {"run": "11111111-a", "ms": 200})


@pytest.fixture
def fast(tmp_path: Path) -> str:
    return log(tmp_path / "fast.json", {"run": "22222222-b", "ms": 100, "id": CLICKS})


def test_a_step_that_spark_refuses_was_not_made() -> None:
    steps = [SimpleNamespace(id=legal, legal=legal, takes="restart") for legal in ("yes", "no", "if")]
    judgement = SimpleNamespace(findings=[SimpleNamespace(steps=steps)])
    side: Any = SimpleNamespace(judgement=judgement, run=SimpleNamespace(id=ORDERS))
    assert [step.id for step in _advised(side, side)] == ["yes", "if"]


def test_one_query_on_each_side_is_compared_whatever_its_id(slow: str, fast: str) -> None:
    found = advisor.compare(slow, fast)
    entry = found.data["comparisons"][0]
    assert entry["verdict"] == "faster"
    assert (entry["before"]["run_id"], entry["after"]["run_id"]) == ("11111111-a", "22222222-b")
    assert entry["effects"][0]["difference_ms"]["value"] == pytest.approx(-102, abs=3)
    assert found.data["schema_version"] == 1
    assert json.loads(found.to_json()) == found.data


def test_queries_are_paired_by_id_and_by_name(tmp_path: Path) -> None:
    before = log(tmp_path / "a", {"run": "1", "ms": 100}, {"run": "2", "ms": 100, "id": CLICKS, "name": "clicks"})
    after = log(
        tmp_path / "b", {"run": "3", "ms": 200}, {"run": "4", "ms": 50, "id": "c", "name": "clicks"},
        {"run": "5", "ms": 9, "id": "new"},
    )  # fmt: skip
    found = advisor.compare(before, after)
    pairs = {(one.before.run_id, one.after.run_id) for one in found.typed.comparisons}
    assert pairs == {("1", "3"), ("2", "4")}
    assert (found.typed.only_before, found.typed.only_after) == ((), ("new",))
    assert "only AFTER holds batches to judge: new" in str(found) and not found.undecided
    with Path(after).open("a", encoding="utf-8") as file:
        file.write('{"id": "c", "runId": "4", "durationMs": {"addBatch": 1')
    found = advisor.compare(before, after)
    assert (found.typed.unread_before, found.typed.unread_after) == (0, 1)
    assert "AFTER: 1 record not readable" in str(found)
    other = advisor.compare(after, before)
    assert (other.typed.only_before, other.typed.only_after) == (("new",), ())
    assert other.undecided == ["only BEFORE holds new"]
    assert "only BEFORE holds batches to judge: new" in other.to_markdown()
    only = advisor.compare(before, after, query="clicks").data["comparisons"]
    assert [one["verdict"] for one in only] == ["faster"]


def test_one_log_with_two_runs_compares_the_newest_with_the_one_before(tmp_path: Path) -> None:
    runs = [{"run": run, "ms": ms} for run, ms in (("1-old", 300), ("2-mid", 200), ("3-new", 100))]
    both = log(tmp_path / "a", *runs)
    entry = advisor.compare(both).data["comparisons"][0]
    assert (entry["before"]["run_id"], entry["after"]["run_id"]) == ("2-mid", "3-new")


def test_a_change_after_a_restart_hides_the_restart_not(tmp_path: Path) -> None:
    path = Path(log(tmp_path / "a", {"run": "0", "ms": 300}, {"run": "1", "ms": 100}))
    later = log(tmp_path / "b", *[{"run": "x", "ms": 1}] * 2, {"run": "1", "ms": 150, "every": 5_000})
    path.write_text(path.read_text() + "".join(Path(later).read_text().splitlines(keepends=True)[80:]))
    found = advisor.compare(path).data["comparisons"]
    pairs = [(one["before"]["run_id"], one["after"]["run_id"], one["verdict"]) for one in found]
    assert pairs == [("0", "1", "faster")]


def test_what_is_not_there_is_said(slow: str) -> None:
    with pytest.raises(InputError, match="not two parts of one query to compare; restart a query in this session"):
        compare_readings(files.read([slow]), None, load(None), Asked(live=True))
    with pytest.raises(InputError, match="not two parts of one query to compare; give two logs"):
        advisor.compare(slow)
    with pytest.raises(UsageError, match="no query 'orders'"):
        advisor.compare(slow, slow, query="orders")


def test_a_side_without_a_batch_to_judge_is_named(slow: str, tmp_path: Path) -> None:
    first = "".join(Path(slow).read_text(encoding="utf-8").splitlines(keepends=True)[:1])
    (tmp_path / "first.jsonl").write_text(first.replace('"addBatch"', '"elsewhere"'), encoding="utf-8")
    with pytest.raises(InputError, match="AFTER: no batch can be judged; latency-advisor analyze shows why"):
        advisor.compare(slow, tmp_path / "first.jsonl")


def test_slower_by_more_than_the_limit_ends_with_1(slow: str, fast: str) -> None:
    assert command(fast, slow, "--fail-if-slower", "50").exit_code == 1
    assert command(fast, slow, "--fail-if-slower", "150").exit_code == 0
    assert command(slow, fast, "--fail-if-slower", "0").exit_code == 0
    assert command(fast, slow).exit_code == 0


def test_a_limit_that_cannot_be_judged_ends_with_2(slow: str, tmp_path: Path) -> None:
    few = log(tmp_path / "few", {"run": "3", "ms": 100, "batches": 5})
    loaded = log(tmp_path / "loaded", {"run": "4", "ms": 300, "rows": 5000})
    same = "Both sides are the same batches of one run"
    for other, words in ((few, "Too few batches"), (loaded, "Not comparable"), (slow, same)):
        done = command(slow, other, "--fail-if-slower", "5")
        assert done.exit_code == 2
        assert words in done.stdout and words in done.stderr


def test_every_form_is_printed(slow: str, fast: str) -> None:
    assert "95 % interval" in command(slow, fast).stdout
    assert json.loads(command(slow, fast, "--format", "json").stdout)["comparisons"][0]["verdict"] == "faster"
    assert command(slow, fast, "--format", "markdown").stdout.startswith("# Comparison\n")
