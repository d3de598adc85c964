"""The report opens addBatch where jobs were seen."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import advisor
from advisor.contract import BatchPart, InsideBatch
from advisor.sources.codecs import Source, blocks
from advisor.views import addbatch, wording
from advisor.views.markdown import report_as_markdown
from advisor.views.terminal import report_as_text

SAMPLES = Path(__file__).parents[1] / "sample_progress"
DELTA = SAMPLES / "SK003/delta-sink-4.0.0"
BOTH = SAMPLES / "CF001/async-state-checkpoint-4.3.0"


@pytest.fixture(scope="module")
def delta() -> advisor.Report:
    return advisor.analyze(DELTA, stages=True)


def opened(report: advisor.Report) -> InsideBatch:
    found = report.typed.queries[0].inside
    assert found is not None
    return found


def test_logs_are_opened_without_asking_unless_stages_are_left_out() -> None:
    assert advisor.analyze(DELTA).typed.queries[0].inside is not None
    query = advisor.analyze(DELTA, stages=False).typed.queries[0]
    assert (query.inside, addbatch.rows(query)) == (None, [])
    assert all(not batch.inside for batch in query.worst)


def test_the_parts_of_a_typical_batch(delta: advisor.Report) -> None:
    query, found = delta.typed.queries[0], opened(delta)
    assert found.ms == pytest.approx(query.budget["addBatch"], rel=0.01)
    assert sum(part.ms for part in found.parts) == pytest.approx(found.ms, abs=0.5)
    table = next(part for part in found.parts if part.name == "table_log")
    assert (table.what, table.tasks) == ("Delta: Compute snapshot", 54) and table.ms > found.ms / 2
    assert next(part.holds for part in found.parts if part.name == "source_read") == ("sink_write",)
    assert addbatch.sentence(found).startswith("addBatch 1.7 s: Delta: Compute snapshot 1.2 s in 54 tasks, ")


def test_the_slowest_batches_say_what_was_slow_in_them(delta: advisor.Report) -> None:
    worst = delta.typed.queries[0].worst
    assert worst
    for batch in worst:
        assert batch.inside[0].name == "table_log"
        told = wording.batch(batch)[4]
        assert told.startswith(f"addBatch {wording.text.ms(batch.phase_ms)}; longer than usual: Delta: ")


def test_every_view_opens_it(delta: advisor.Report) -> None:
    rows = addbatch.rows(delta.typed.queries[0])
    assert [row[0] for row in rows][:2] == ["table log", "driver + planning"]
    text = report_as_text(delta.typed, everything=True)
    assert "  - table log " in text
    assert "| - table log | 1.2 s |" in report_as_markdown(delta.typed)
    assert delta.data["queries"][0]["inside"]["parts"]
    assert addbatch.sentence(opened(delta)).split(",")[0] in " ".join(report_as_text(delta.typed).split())


def test_the_parts_of_a_usual_batch_fill_it() -> None:
    (log,) = BOTH.glob("eventlog_*")
    query = advisor.analyze(log, stages=True).typed.queries[0]
    assert query.inside is not None
    bars = addbatch.bars(query.inside)
    assert bars[-1].start + bars[-1].width == pytest.approx(100, abs=0.5)
    assert addbatch.counted(query.inside) == "1 job, 2 stages and 4 tasks each"


def test_who_held_the_slots_is_named() -> None:
    part = BatchPart(name="slots_wait", ms=200.0)
    told = InsideBatch(ms=300.0, batches=9, parts=(part,), jobs=1, stages=1, tasks=2, waited_for=("heavy",))
    assert addbatch.meaning(part, told) == "tasks of heavy held them"


def test_names_of_jobs_hide_credentials(tmp_path: Path) -> None:
    (log,) = BOTH.glob("eventlog_*/events_1*")
    with log.open("rb") as file:
        events = b"".join(blocks(Source(file)))
    secret = b"Delta: Filtering files for jdbc:postgresql://user:hunter2@host/db snapshot for version 3"
    (tmp_path / "events").write_bytes(events.replace(b'\\nbatch = 5"', b"\\nbatch = 5: " + secret + b'"'))
    stages = advisor.read_stages(tmp_path / "events")
    batch = stages[stages["batch_id"] == 5]
    assert set(batch["what"]) == {
        "Delta: Filtering files for jdbc:postgresql://*********(redacted)@host/db snapshot for version 3"
    }
    assert "hunter2" not in advisor.analyze(tmp_path / "events", stages=True).to_json()


def test_two_runs_differ_part_by_part() -> None:
    log = next(BOTH.glob("eventlog_*"))
    found = advisor.compare(log, SAMPLES / "ST001/rocksdb-8-partitions-4.3.0", stages=True).typed.comparisons[0]
    assert {"addBatch: state commit", "addBatch: driver before"} <= {effect.name for effect in found.effects}
    plain = advisor.compare(log, SAMPLES / "ST001/rocksdb-8-partitions-4.3.0", stages=False).typed.comparisons[0]
    assert not [effect for effect in plain.effects if ":" in effect.name]


def test_a_number_of_partitions_that_cannot_be_costs_the_state_commit_alone(tmp_path: Path) -> None:
    log = gzip.decompress((SAMPLES / "LG004" / "s3a-count-by-key-4.0.0" / "driver.log.gz").read_bytes()).decode()
    before, key, after = log.rpartition('"numShufflePartitions" : ')
    (tmp_path / "driver.log").write_text(f"{before}{key}1e-320{after[1:]}", encoding="utf-8")
    report = advisor.analyze(tmp_path / "driver.log", stages=True)
    (query,) = json.loads(report.to_json())["queries"]
    assert query["inside"]["ms"] > 0


def test_a_batch_whose_add_batch_cannot_be_right_is_opened(tmp_path: Path) -> None:
    log = gzip.decompress((SAMPLES / "SK009" / "long-file-list-4.3.0" / "driver-ms.log.gz").read_bytes()).decode()
    events = list(re.finditer(r"[^\n]+Streaming query made progress: \{.*?\n\}\n", log, re.DOTALL))
    for event in [*events[4:], *events[:3]][::-1]:
        log = log.replace(event[0], "")
    (tmp_path / "driver.log").write_text(re.sub(r'("addBatch" : )\d+', r"\1-1", log), encoding="utf-8")
    (query,) = advisor.analyze(tmp_path / "driver.log", stages=True).typed.queries
    assert query.batches == 1
    assert query.inside is not None


def test_logs_of_two_kinds_are_not_compared_part_by_part() -> None:
    log = next(BOTH.glob("eventlog_*"))
    found = advisor.compare(BOTH / "driver.log.gz", log, stages=True).typed.comparisons[0]
    assert not [effect for effect in found.effects if ":" in effect.name]
    assert any("logs are of different kinds" in limit for limit in found.limits)
