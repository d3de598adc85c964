"""Opens the batches of many logs: what tells of stages in each, whatever its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import pyarrow as pa

from advisor.sources.harvest import Window
from advisor.sources.stages.driverlog import DriverLog
from advisor.sources.stages.eventlog import EventLog
from advisor.stages import Work, tables


class Reads(Protocol):
    """Reads one log, file by file."""

    def read(self, window: Window, resume: int, file: str) -> None:
        """Take what has been read of a window of a file, from its `begin` to `resume`."""

    def finish(self, batches: pa.Table) -> Work:
        """What the log told; `batches` are those of all logs."""


READERS: Mapping[str, Callable[[str], Reads]] = {"event_log": EventLog, "text": DriverLog, "json_lines": DriverLog}
"""What reads the stages of a log, by the name of its format."""


class Opened:
    """Jobs, stages and tasks of all logs that are read."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, str], Reads] = {}

    def read(self, format: str, log: str, file: str, window: Window, resume: int) -> None:
        """Take what has been read of a window of a file."""
        key = format, log
        if key not in self._logs:
            self._logs[key] = READERS[format](log)
        self._logs[key].read(window, resume, file)

    def tables(self, batches: pa.Table) -> dict[str, pa.Table]:
        """The tables of stages and of batch parts."""
        stages, parts = tables([each.finish(batches) for each in self._logs.values()], batches)
        return {"stages": stages, "batch_parts": parts}
