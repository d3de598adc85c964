"""A log becomes rows piece by piece: the same rows, however small its pieces, and little is held."""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import advisor
from advisor.sources import opening, random_access
from advisor.sources.harvest import Stretch
from advisor.sources.stages import stagetables
from advisor.sources.stages.eventlog import EventLog
from tests.bench._long import ONE_QUERY, repeated

SAMPLES = Path(__file__).parents[2] / "sample_progress"
LOGS = [
    "BC001/static-side-4.3.0/eventlog_*", "CF001/async-state-checkpoint-4.3.0/eventlog_*",
    "CF001/async-state-checkpoint-4.3.0/driver.log.gz", "CL005/beside-a-heavy-query-4.3.0",
    "CL005/beside-a-heavy-query-4.3.0/driver.log.gz", "CL005/beside-a-heavy-query-4.3.0/eventlog_*",
    "DV001/count-then-wait-4.3.0/driver-ms.log.gz", "SK003/delta-sink-4.0.0/driver.log.gz",
    "SK005/hudi-sink-3.5.9/driver-ms.log.gz", "both/two-queries-4.3.0/driver-ms.log.gz",
    "both/two-queries-4.3.0/eventlog_*", "healthy/restart-4.3.0/driver.log",
]  # fmt: skip
FEW = 24
"""Jobs and stages of a piece, where pieces are made small."""


def tables(log: Path) -> list[pd.DataFrame]:
    return [advisor.read_stages(log, parts=parts) for parts in (False, True)]


@cache
def whole(log: Path) -> list[pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stagetables, "_PIECE", 1 << 40)
        return tables(log)


def in_pieces(log: Path, window: int, piece: int) -> list[pd.DataFrame]:
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((opening, "WINDOW"), (opening, "IN_CACHE"), (random_access, "STEP")):
            patch.setattr(module, name, window)
        patch.setattr(stagetables, "_PIECE", piece)
        return tables(log)


def assert_same(found: list[pd.DataFrame], expected: list[pd.DataFrame]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize(("window", "piece"), [(1 << 12, 1), (30_000, 40)])
@pytest.mark.parametrize("name", LOGS)
def test_rows_are_the_same_however_a_log_is_cut(name: str, window: int, piece: int) -> None:
    (log,) = SAMPLES.glob(name)
    assert_same(in_pieces(log, window, piece), whole(log))


@pytest.mark.parametrize("kind", ONE_QUERY)
def test_little_of_a_long_log_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"".join(repeated(ONE_QUERY[kind], 4)))
    expected, held = whole(log), []
    put = stagetables.StageTables._put

    def noting(self: stagetables.StageTables, one: stagetables._Log, events: pa.Table) -> None:
        before = one.reader.held
        put(self, one, events)
        held.append((before, one.reader.held))

    monkeypatch.setattr(stagetables.StageTables, "_put", noting)
    assert_same(in_pieces(log, 1 << 16, FEW), expected)
    assert len(expected[1]) > 300
    assert len(held) > 10
    assert max(left for _, left in held) < FEW
    assert max(before for before, _ in held) < 20 * FEW


def test_of_an_application_that_is_over_nothing_holds_the_next_one(tmp_path: Path) -> None:
    """Its last job never ended, and its query is never heard of again."""
    first, second = (gzip.decompress(ONE_QUERY["event log"].read_bytes()) for _ in range(2))
    last = first.rindex(b'{"Event":"SparkListenerJobEnd"')
    second = re.sub(rb'"App ID":"[^"]*"', b'"App ID":"another"', second)
    for id in (b"c676c8c8-a4ca-441d-a409-ffe86c0a5693", b"42e8295d-58ac-4d9b-a00a-793eef3df258"):
        second = second.replace(id, b"abad1dea" + id[8:])
    (tmp_path / "log").write_bytes(first[:last] + second)
    stages, parts = in_pieces(tmp_path / "log", 1 << 16, FEW)
    assert len(parts) == 2 * 83 - 1
    assert parts["run_id"].nunique() == 2
    assert len(stages) == 2 * 83  # of the batch without an event there is a stage


@pytest.mark.parametrize("kind", ONE_QUERY)
@pytest.mark.parametrize(("first", "since"), [(1.0, 0.0), (0.6, 0.4)])
def test_lines_that_a_log_holds_twice_count_once(tmp_path: Path, kind: str, first: float, since: float) -> None:
    lines = gzip.decompress(ONE_QUERY[kind].read_bytes()).splitlines(keepends=True)
    again = [*lines[: int(first * len(lines))], *lines[int(since * len(lines)) :]]
    (tmp_path / "log").write_bytes(b"".join(again))
    once = whole(ONE_QUERY[kind])
    for twice in (in_pieces(tmp_path / "log", 1 << 16, FEW), tables(tmp_path / "log")):
        assert [len(table) for table in twice] == [len(table) for table in once]


def test_data_that_left_a_cache_is_forgotten() -> None:
    log = EventLog("log")
    log._now._kept.add(7)
    line = b'{"Event":"SparkListenerUnpersistRDD","RDD ID":7}\n'
    log.read(Stretch(line, 0, 0, True), len(line), "file")
    assert not log._now._kept
