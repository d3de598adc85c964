"""Find the jobs that a Delta table runs for its own log: lines name its snapshot's jobs, not its checkpoint's."""

from __future__ import annotations

import re

from advisor.redaction import redact
from advisor.stages import LOG_CHECKPOINT

_DELTA = re.compile(rb"DELTA: ([^\"\n]*)")


class DeltaLog:
    """Knows what Delta tables do with their logs at this line of a driver's log."""

    def __init__(self) -> None:
        self.job = ""
        """What jobs that begin now are for; empty without a line about it."""
        self._tasks = 0
        self._committed = False

    def snapshot(self, line: bytes, message: int) -> None:
        """Read a line of a table's snapshot."""
        if b"DELTA: " in line and (said := _DELTA.search(line, message)):
            text = said[1].decode("utf-8", "replace").strip()
            self.job = "" if text == "Done" else redact(f"Delta: {text}")

    def commits(self) -> None:
        """Note that a transaction is in the table's log."""
        self._committed = True

    def wrote(self) -> None:
        """Note that the batch is in the table."""
        self._committed = False

    def submits(self, what: str, ended: int, tasks: int) -> str:
        """Return what a job is for that submits a stage of so many tasks; `what` so far, after so many stages ended."""
        if self.job:
            self._tasks = max(self._tasks if ended else 0, tasks)
        elif self._committed and not what and not ended and tasks == self._tasks > 1:
            return LOG_CHECKPOINT
        return what
