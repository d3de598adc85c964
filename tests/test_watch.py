"""`latency-advisor watch`: what it shows, and when it ends."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from advisor import api
from advisor.cli import main
from advisor.cli.watch import ended, until_it_ends
from advisor.views.shown import Report
from tests.views.reports import dead, healthy, report, slow

LOG = Path(__file__).parents[1] / "sample_progress/LG001/rate-to-noop-4.3.0/driver.log.gz"


def test_it_shows_what_is_new_and_ends_when_every_query_has_stopped() -> None:
    running, stopped = report(slow()), report(slow() | {"state": "stopped"})
    shown: list[Report] = []
    waits: list[float] = []
    until_it_ends(iter([Report(running), None, Report(stopped), Report(running)]), shown.append, waits.append)
    assert [one.typed for one in shown] == [running, stopped]
    assert len(waits) == 2


def test_an_interrupt_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    shown: list[Report] = []
    until_it_ends(iter([None, Report(report(slow()))]), shown.append, interrupted)
    assert shown == []
    assert "no log there yet" in capsys.readouterr().err


def test_no_query_has_not_stopped() -> None:
    assert not ended(report())
    assert not ended(report(dead(), slow()))
    assert ended(report(dead(), healthy() | {"state": "stopped"}))


def test_a_log_whose_query_has_stopped_is_printed_once() -> None:
    result = CliRunner().invoke(main, ["watch", str(LOG), "--once-per", "1s"])
    assert (result.exit_code, result.output.count("─" * 20)) == (0, 1), result.output
    assert result.output.startswith("─" * 20 + " last batch began 2026-11-21 08:56:53 UTC\n")


def test_output_and_format_are_those_of_analyze(tmp_path: Path) -> None:
    made = tmp_path / "report.json"
    result = CliRunner().invoke(main, ["watch", str(LOG), "--format", "json", "--output", str(made)])
    assert (result.exit_code, result.output) == (0, "")
    (query,) = json.loads(made.read_text())["queries"]
    assert query["screen"]["loss"]["kind"] == "logs"
    assert query["inside"]["parts"], "addBatch of a small log is opened"


def test_ctrl_c_ends_with_0(monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(*_: object, **__: object) -> Iterator[Report | None]:
        yield Report(report(slow()))
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "follow", steps)
    result = CliRunner().invoke(main, ["watch", str(LOG), "--once-per", "1ms"])
    assert (result.exit_code, result.output.count("orders-enricher")) == (0, 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.log"], "no such file or directory"),
        (["-"], "only local files can be watched"),
        ([str(LOG), "--once-per", "10"], "10 has no unit"), ([str(LOG), "--format", "html"], "needs --output FILE"),
        ([str(LOG), "--set", "nosuch:task_slots=8"], "no query 'nosuch' in the input"),
    ],
)  # fmt: skip
def test_what_is_asked_wrongly_is_told_in_a_line(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["watch", *arguments])
    assert (result.exit_code, said in result.output, result.output.count("\n")) == (2, True, 1)


def test_facts_are_given_for_a_query_that_begins_later(tmp_path: Path) -> None:
    log, made = tmp_path / "driver.log", gzip.decompress(LOG.read_bytes())
    log.write_bytes(b"26/03/01 02:00:00 INFO SparkContext: Running Spark version 4.3.0\n")
    looks = api.follow(log, set=["rate-to-noop:task_slots=8"])
    first = next(looks)
    assert first is not None and not first.queries
    log.write_bytes(log.read_bytes() + made)
    second = next(looks)
    assert second is not None and second.queries[0]["facts"]["task_slots"] == {"value": 8, "from": "user"}
    looks.close()
