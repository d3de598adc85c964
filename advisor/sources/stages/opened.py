"""Opens the batches of many logs: what tells of stages in each, whatever its form."""

from __future__ import annotations

import pyarrow as pa

from advisor.batches import Broken
from advisor.errors import fault
from advisor.redaction import redact
from advisor.sources.formats import Format, OfStages
from advisor.sources.harvest import Stretch
from advisor.stages import Work, tables


class Opened:
    """Jobs, stages and tasks of all logs that are read; a log that cannot be opened costs its own stages alone."""

    def __init__(self) -> None:
        self.broken: list[Broken] = []
        """The logs that could not be opened, and why."""
        self._logs: dict[tuple[str, str], OfStages | None] = {}

    def read(self, format: Format, log: str, file: str, window: Stretch, resume: int) -> None:
        """Take what has been read of a window of a file."""
        key = format.name, log
        if key not in self._logs:
            self._logs[key] = format.stages(log)
        reader = self._logs[key]
        if reader is not None:
            try:
                reader.read(window, resume, file)
            except Exception as error:
                self._logs[key] = None
                self._lose(file, window.base, error)

    def tables(self, batches: pa.Table, events: pa.Table) -> dict[str, pa.Table]:
        """The tables of stages and of batch parts.

        `events`: the batches with those that another log tells of, too, since in each log they say whose its jobs are.
        """
        works = [work for key in self._logs if (work := self._finished(key, events)) is not None]
        try:
            stages, parts = tables(works, batches)
        except Exception:
            stages, parts = tables([work for work in works if self._can_be_told(work, batches)], batches)
        return {"stages": stages, "batch_parts": parts}

    def _finished(self, key: tuple[str, str], events: pa.Table) -> Work | None:
        reader = self._logs[key]
        try:
            return None if reader is None else reader.finish(events)
        except Exception as error:
            self._lose(key[1], 0, error)
            return None

    def _can_be_told(self, work: Work, batches: pa.Table) -> bool:
        try:
            tables([work], batches)
        except Exception as error:
            self._lose(work.log, 0, error)
            return False
        return True

    def _lose(self, file: str, offset: int, error: Exception) -> None:
        self.broken.append(Broken(file, offset, 0, f"its jobs, stages and tasks are left out: {redact(fault(error))}"))
