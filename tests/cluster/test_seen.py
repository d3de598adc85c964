"""Which files a run that adds to saved tables takes for grown, and which for others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from advisor.api import analyze_fleet
from advisor.cluster.saving import changed, seen
from advisor.cluster.tablefolder import _held
from advisor.cluster.units import File, Unit
from advisor.errors import UsageError

BEGIN = b"+ a line of the entrypoint that each start prints\n" * 12
FIRST = b"a batch of the first run" + b", the end of which is as that of any other one" * 40 + b"\n"


@pytest.mark.parametrize(
    ("now", "new", "grown"),
    [
        (BEGIN + FIRST, 0, 0), (BEGIN + FIRST + b"and more\n", 0, 1),
        (BEGIN + FIRST.replace(b"first", b"other") + b"and more\n", 1, 0), (BEGIN, 1, 0),
    ],
)  # fmt: skip
def test_a_log_that_begins_as_another_one_is_no_grown_one(tmp_path: Path, now: bytes, new: int, grown: int) -> None:
    path = tmp_path / "driver.log"
    path.write_bytes(BEGIN + FIRST)
    before = seen(File(0, str(path), path.stat().st_size))
    path.write_bytes(now)
    found = changed(Unit("driver.log", (File(0, str(path), len(now)),)), {str(path): before})
    assert tuple(map(len, found)) == (new, grown)


@pytest.mark.parametrize("asked", [{"incremental": True}, {"save_table": ""}, {"save_table": "a\0b"}], ids=str)
def test_a_directory_without_a_name_is_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="save_table: names no directory"):
        analyze_fleet("logs", engine="spark", **asked)


def test_a_pipe_in_the_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "_lock")
    with pytest.raises(UsageError, match="_lock is a named pipe"):
        _held(str(tmp_path))
