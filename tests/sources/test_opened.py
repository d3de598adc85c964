"""A log whose stages cannot be told costs its own stages, and is named."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import advisor
from advisor.sources import files, formats
from advisor.sources.stages.driverlog import DriverLog

SAMPLES = Path(__file__).parents[2] / "sample_progress"
FAULTY = "driver.log"


class FaultyIn:
    """Reads a driver's log as ever, but for a fault in one place where the log is the one of that name."""

    def __init__(self, place: str, log: str) -> None:
        self._place, self._inner, self._faulty = place, DriverLog(log), Path(log).name == FAULTY

    @property
    def held(self) -> int:
        return self._inner.held

    def over(self, batches: pa.Table) -> object:
        return self._inner.over(batches)

    def read(self, *given: object) -> None:
        self._fail("read")
        self._inner.read(*given)  # type: ignore[arg-type]

    def finish(self, batches: pa.Table) -> object:
        self._fail("finish")
        works = self._inner.finish(batches)
        for work in works if self._faulty and self._place == "tables" else ():
            work.jobs = None  # type: ignore[assignment]
        return works

    def _fail(self, place: str) -> None:
        if self._faulty and self._place == place:
            raise ValueError("password=Zq7xPw91Lk is odd")


@pytest.mark.parametrize("place", ["read", "finish", "tables"])
def test_a_fault_in_one_log_costs_its_own_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    log = (SAMPLES / "CF001/async-state-checkpoint-4.3.0/driver.log.gz").read_bytes()
    (tmp_path / "other.log.gz").write_bytes(log)
    alone = files.read([tmp_path / "other.log.gz"], stages=True)
    (tmp_path / FAULTY).write_bytes((SAMPLES / "LG001/rate-to-noop-4.3.0/driver.log.gz").read_bytes())
    *others, text = formats.FORMATS
    monkeypatch.setattr(formats, "FORMATS", (*others, text._replace(stages=lambda name: FaultyIn(place, name))))
    reading = files.read([tmp_path], stages=True)
    assert reading.events > alone.events
    assert reading.tables["stages"].num_rows == alone.tables["stages"].num_rows > 0
    (lost,) = (each for each in reading.broken if "left out" in each.reason)
    assert FAULTY in lost.file
    assert "Zq7xPw91Lk" not in lost.reason
    assert "left out" in repr(advisor.analyze(tmp_path, stages=True))
