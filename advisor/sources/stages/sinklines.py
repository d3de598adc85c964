"""Read the lines of sinks, table formats, sources and the code generator in a driver's log."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import nan

from advisor.catalogue.traces import traced_line
from advisor.sources.stages.loggedjobs import Moment, Place
from advisor.sources.stages.scheduler import DeltaLog, Scheduler
from advisor.stages import Note

_GENERATED = re.compile(rb"Code generated in (\d{1,12}(?:[.,]\d{1,12})?) ms")
_WROTE = re.compile(rb"Wrote (\d{1,15}) files, with total size (\d{1,15})")
_COMMITTED = re.compile(rb"Committed (?:transaction, .*?duration=|in )(\d{1,15}) ms")
_ICEBERG = re.compile(
    rb"CommitReport\{.{0,1000}? attempts=\w{1,40}\{unit=COUNT, value=(\d{1,15})\}"
    rb"(?:, addedDataFiles=\w{1,40}\{unit=COUNT, value=(\d{1,15})\})?"
    rb"(?:.{0,4000}? addedFilesSizeInBytes=\w{1,40}\{unit=BYTES, value=(\d{1,15})\})?"
)
_HUDI_COMMITS = re.compile(rb"Committing \d{1,20} action")
_HUDI_DONE = re.compile(rb"Micro batch id=\d{1,15} (?:succeeded|failed)")
_POLLED = re.compile(
    rb"From Kafka .{0,1000}? through (\d{1,15}) polls .{0,300}?, taking (\d{1,15}(?:\.\d{1,15})?) (nano|m)s"
)
_POLLED_MS = {b"nano": 1e-6, b"m": 1.0}
"""Spark 3.3 to 3.5 writes nanoseconds, 4.0 and later milliseconds."""
_CLOCK = re.compile(rb"\d\d:(\d\d):(\d\d)")
_COMPACTED = re.compile(rb"(?:(W)riting atomically|Renamed temp file).* \S*/_spark_metadata/\.?\d{1,15}\.compact\b")

_LATER_PART = re.compile(rb", range: [1-9]\d{0,18}-|:[1-9]\d{0,18}\+\d{1,19}\s{0,2}$")
"""Of a file that another task begins to read."""
_LETTERS = 4200
"""Of a message that are traced; no form reaches further."""

Reader = Callable[[bytes, int], None]
"""Reads a line; the number is where its message begins."""


def _second(line: bytes) -> float:
    """Return the second of the hour in which a line was written; NaN without a clock."""
    found = _CLOCK.search(line)
    return 60 * int(found[1]) + int(found[2]) if found else nan


class Notes:
    """Reads these lines; each may become a note."""

    def __init__(self, scheduler: Scheduler, moment: Moment, delta: DeltaLog) -> None:
        """`scheduler` knows the jobs, `moment` where the log is read."""
        self.readers: Mapping[str, Reader] = {
            "CodeGenerator": self._code,
            "Snapshot": delta.snapshot,
            **dict.fromkeys(("MergeIntoCommand", "DeleteCommand", "UpdateCommand"), delta.command),
            "VacuumCommand": delta.vacuum,
            "OptimisticTransaction": self._transaction,
            "DeltaSink": self._sink,
            "SparkWrite": self._sink,
            "LoggingMetricsReporter": self._iceberg,
            "BaseHoodieWriteClient": self._hudi,
            "HoodieStreamingSink": self._hudi,
            "KafkaDataConsumer": self._consumer,
            "CheckpointFileManager": self._compaction,
            "ParquetOutputFormat": self._opens,
            "ManifestFileCommitProtocol": self._commits_files,
        }
        """What reads a line, by the short name of the class that wrote it."""
        self.notes: list[tuple[Place, Note]] = []
        self._scheduler, self._moment, self._delta = scheduler, moment, delta
        self._compacting: float | None = None
        self._hudi_since: float | None = None
        self._opened: list[float] = []  # when tasks began files: seconds of the hour, NaN without a clock

    def take(self, until: Place) -> list[tuple[Place, Note]]:
        """Return the notes of the lines before this place; they are forgotten here."""
        taken = [note for note in self.notes if note[0] < until]
        self.notes = self.notes[len(taken) :]
        return taken

    def _code(self, line: bytes, message: int) -> None:
        if generated := _GENERATED.match(line, message):
            ms = float(generated[1].replace(b",", b"."))
            self._note("code_generated_ms", ms)
            if self._scheduler.idle:
                self._note("planning_ms", ms)

    def _transaction(self, line: bytes, _: int) -> None:
        self._delta.committed = self._delta.committed or b"Committed delta #" in line

    def _sink(self, line: bytes, message: int) -> None:
        if wrote := _WROTE.match(line, message):
            self._note("files_written", int(wrote[1]))
            self._note("bytes_written", int(wrote[2]))
            self._scheduler.mark()
            self._delta.committed = False
        elif line.startswith(b"Committing epoch", message):  # of Iceberg, behind the jobs that write
            self._scheduler.mark()
        elif committed := _COMMITTED.match(line, message):
            self._commits(float(committed[1]))

    def _commits(self, ms: float) -> None:
        """Note a sink's commit that took so long, without the jobs in it."""
        self._note("sink_commit_ms", max(0.0, ms - self._scheduler.since_mark()))
        self._scheduler.mark()
        self._delta.committed = False

    def _hudi(self, line: bytes, message: int) -> None:
        """Note the time from its first line of the commit to the end of the micro-batch, its cleaning included."""
        moment = self._moment
        if not moment.fine:
            return
        if _HUDI_COMMITS.match(line, message) and self._hudi_since is None:
            self._hudi_since = moment.now
            self._scheduler.mark()
        elif self._hudi_since is not None and _HUDI_DONE.match(line, message):
            self._commits(moment.now - self._hudi_since)
            self._hudi_since = None

    def _iceberg(self, line: bytes, message: int) -> None:
        if report := _ICEBERG.search(line, message):
            for name, number in zip(("commit_retries", "files_written", "bytes_written"), report.groups(), strict=True):
                self._note(name, int(number or 0) - (name == "commit_retries"))

    def _consumer(self, line: bytes, message: int) -> None:
        if polled := _POLLED.match(line, message):
            self._note("kafka_polls", int(polled[1]))
            self._note("kafka_poll_ms", float(polled[2]) * _POLLED_MS[polled[3]])

    def _opens(self, line: bytes, message: int) -> None:
        """Count a file that a task begins to write; in local mode the lines of tasks stand in the log."""
        if line.startswith(b"ParquetRecordWriter", message):
            self._opened.append(_second(line[:message]))

    def _commits_files(self, line: bytes, message: int) -> None:
        """Note the files that tasks began before a file sink commits its batch, and from the first to the last one."""
        if line.startswith(b"Committed batch", message):
            if opened := self._opened:
                self._note("files_written", len(opened))
                self._note("writing_ms", (opened[-1] - opened[0]) % 3600 * 1000.0)
            self._opened = []

    def _compaction(self, line: bytes, message: int) -> None:
        """Note how long a file sink wrote the list of all its files again; read where a batch begins."""
        moment = self._moment
        if b"/offsets/" in line:  # the next batch begins
            self._delta.committed = False
        elif b"/commits/" in line and line.startswith(b"Writ", message) and not moment.fine:
            since = (_second(line[:message]) - _second(self._scheduler.ended)) % 3600
            self._note("since_last_stage_ms", 1000.0 * since)
        if not moment.fine or b".compact" not in line or not (compacted := _COMPACTED.match(line, message)):
            return
        if compacted[1]:
            self._compacting = moment.now
        elif self._compacting is not None:
            self._note("log_compaction_ms", moment.now - self._compacting)
            self._compacting = None

    def tracing(self, of: str, other: Reader | None) -> Reader:
        """Return a reader of the messages of a class, of files up to their folder, and of what `other` reads."""

        def read(line: bytes, message: int) -> None:
            of_file = line.startswith((b"Reading ", b"Input split"), message)
            end = line.rfind(b"/") + 1 if of_file else None
            again = of_file and _LATER_PART.search(line, message)
            for one in () if again else traced_line(of, line[message:end][:_LETTERS]):
                self._note(*one)
            if other:
                other(line, message)

        return read

    def _note(self, name: str, value: float, trace: str = "") -> None:
        self.notes.append((self._moment.place, Note(None, name, value, self._moment.now, trace)))
