"""Opens the batches of many logs: what tells of stages in each, whatever its form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import pyarrow as pa

from advisor.sources.harvest import Buffer, Window
from advisor.sources.stages.eventlog import EventLog
from advisor.stages import Work, tables


class Reads(Protocol):
    """Reads one log; `work` is what it told so far."""

    work: Work

    def read(self, buffer: Buffer, begin: int, end: int) -> None:
        """Take what stands in [begin, end) of the buffer; the log goes on there."""


READERS: Mapping[str, Callable[[str], Reads]] = {"event_log": EventLog}
"""What reads the stages of a log, by the name of its format."""


class Opened:
    """Jobs, stages and tasks of all logs that are read."""

    def __init__(self) -> None:
        self._logs: dict[tuple[str, str], Reads] = {}

    def read(self, format: str, log: str, window: Window, resume: int) -> None:
        """Take what has been read of a window."""
        reader = READERS.get(format)
        if reader is None:
            return
        key = format, log
        if key not in self._logs:
            self._logs[key] = reader(log)
        self._logs[key].read(window.buffer, window.begin, resume)

    def tables(self, batches: pa.Table) -> dict[str, pa.Table]:
        """The tables of stages and of batch parts."""
        stages, parts = tables([each.work for each in self._logs.values()], batches)
        return {"stages": stages, "batch_parts": parts}
