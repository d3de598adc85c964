"""What Spark's scheduler says of jobs, stages and tasks in a driver's log, as columns of numbers.

Each line gives the kind of its message, its numbers and the batch that it may name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from advisor.redaction import redact
from advisor.sources.stages.begun import Named
from advisor.sources.stages.forms import FORMS
from advisor.sources.stages.gathered import Lines
from advisor.sources.stages.kinds import JOBS, Kind
from advisor.sources.stages.onebyone import one_message

LOGGERS = tuple(FORMS)
BEGINNINGS: Mapping[str, Sequence[str]] = {JOBS: [letters.decode() for letters in FORMS[JOBS]]}
"""The first four letters of the messages wanted of a logger; those of tasks may stand behind a batch's name."""
_OF_QUERY = 5
"""Letters of a query's id that stand before a message."""
_ID = re.compile(rb"\w+")


class Messages(NamedTuple):
    """A row for each line; `query`: the place in `queries` of the one whose batch it names, -1 where it names none."""

    kind: np.ndarray
    number: np.ndarray
    other: np.ndarray
    ms: np.ndarray
    query: np.ndarray
    batch: np.ndarray
    queries: Sequence[str]
    """What is named of queries: the beginnings of their ids."""

    def named(self, at: int) -> Named | None:
        """The batch that a line names."""
        query = int(self.query[at])
        return (self.queries[query], int(self.batch[at])) if query >= 0 else None


class Reader:
    """Reads the messages of one log."""

    def __init__(self, loggers: Sequence[str]) -> None:
        """`loggers`: the short names of the classes that lines may be of."""
        self._places = {name: loggers.index(name) for name in FORMS}
        self._queries: dict[bytes, int] = {}
        self._names: list[str] = []

    def read(self, lines: Lines) -> Messages:
        """Return what the lines say."""
        told = _nothing(len(lines.starts), self._names)
        for name, place in self._places.items():
            rows = np.flatnonzero(lines.loggers == place)
            told.kind[rows] = Kind.NOTHING
            for at in rows.tolist():
                if found := one_message(name, lines.line(at), lines.message(at)):
                    told.kind[at], told.number[at], told.other[at], told.ms[at] = found[:4]
                    told.query[at], told.batch[at] = self._query(found.query) if found.query else -1, found.batch
        return told

    def _query(self, letters: bytes) -> int:
        """A number for a query."""
        if letters not in self._queries:
            self._queries[letters] = len(self._names)
            self._names.append(redact(letters.decode(errors="replace")))
        return self._queries[letters]


def _nothing(size: int, queries: Sequence[str]) -> Messages:
    number, other, batch = np.zeros((3, size), np.int64)
    return Messages(np.zeros(size, np.int8), number, other, np.zeros(size), np.full(size, -1), batch, queries)
