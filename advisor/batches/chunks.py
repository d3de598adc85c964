"""Events of one file after another to chunks of the table of batches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.arrays import undivided
from advisor.batches.build import Rows
from advisor.batches.columns import SCHEMA
from advisor.progress import Progress

FRESH_EVENTS = 256
"""Events that are best taken apart at a time, as long as they are near (see Rows)."""
EVENTS_PER_CHUNK = 16384


class Chunks:
    """Takes events, of many files if need be: a chunk is some hundred arrays, however few its events are."""

    def __init__(self) -> None:
        self._done: list[pa.RecordBatch] = []
        self._rows = Rows()
        self._fresh: list[Progress] = []
        self._times: list[pa.Array] = []
        self._starts: list[int] = []
        self._lacks: list[str | None] = []
        self._files: list[tuple[str, str, int]] = []

    def add(
        self,
        events: Sequence[Progress],
        times: pa.Array,
        starts: Sequence[int],
        file: str,
        log: str,
        lacks: Sequence[str] | None = None,
    ) -> None:
        """Take events of a file of a log, which begin at these times, and at these bytes of it.

        `lacks`: what each partial record lacks.
        """
        self._fresh += events
        self._times.append(times)
        self._starts += starts
        self._lacks += lacks or [None] * len(starts)
        self._files.append((file, log, len(starts)))
        if len(self._fresh) >= FRESH_EVENTS:
            self._take_apart()
            if len(self._starts) >= EVENTS_PER_CHUNK:
                self._end_chunk()

    def take(self) -> list[pa.RecordBatch]:
        """The chunks of all events so far; in each the rows of a run stand together."""
        self.so_far()
        taken, self._done = self._done, []
        return taken

    def so_far(self) -> pa.Table:
        """The rows of all events so far, which stay here, in the order in which they will be taken."""
        if self._starts:
            self._take_apart()
            self._end_chunk()
        return pa.Table.from_batches(self._done, SCHEMA)

    def _take_apart(self) -> None:
        if self._fresh:
            self._rows.add(self._fresh, pa.concat_arrays(self._times))
            self._fresh, self._times = [], []

    def _end_chunk(self) -> None:
        files, logs, counts = zip(*self._files, strict=True)
        each = pa.array(np.repeat(np.arange(len(files)), counts))
        partial, starts = pa.array(self._lacks, pa.string()), pa.array(self._starts, pa.int64())
        where = [partial, pa.array(files).take(each), starts, pa.array(logs).take(each)]
        chunk = pa.RecordBatch.from_arrays([*self._rows.arrays(), *where], schema=SCHEMA)
        self._done.append(_by_run(_without_those_that_ran(chunk)))
        self._rows, self._starts, self._lacks, self._files = Rows(), [], [], []


def _without_those_that_ran(chunk: pa.RecordBatch) -> pa.RecordBatch:
    """The chunk with records of rows and a length, and no phase, as batches: no idle trigger has rows."""
    idle = np.asarray(chunk["idle"])
    rows, took = (np.asarray(pc.fill_null(chunk[name], 0)) for name in ("input_rows", "trigger_execution_ms"))
    ran = idle & (rows > 0) & (took > 0)
    if not ran.any() or not (ran := ran & undivided(chunk)).any():
        return chunk
    at, others = SCHEMA.get_field_index("idle"), pa.array(idle & ~ran)
    return pa.RecordBatch.from_arrays([*chunk.columns[:at], others, *chunk.columns[at + 1 :]], schema=SCHEMA)


def _by_run(chunk: pa.RecordBatch) -> pa.RecordBatch:
    """The chunk with the rows of a run together, in order; whole stretches of it can then be put in order."""
    coded = chunk["run_id"].dictionary_encode()
    runs = np.asarray(coded.indices)
    together = np.count_nonzero(np.diff(runs)) < len(coded.dictionary)
    return chunk if together else chunk.take(pa.array(np.argsort(runs, kind="stable")))
