"""What Spark's scheduler says of jobs, stages and tasks in a driver's log, as columns of numbers.

A line that has the usual form of its message is read together with all others of it. One that does not (a task that is
tried again, a stage that failed, a number of eight digits, a locale's comma), and each of a structured log, is read by
itself, with regular expressions. Both give the same: the kind of the message, its numbers, the batch that it may name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from advisor.redaction import redact
from advisor.sources.stages.begun import Named
from advisor.sources.stages.cursor import Cursor
from advisor.sources.stages.forms import FORMS
from advisor.sources.stages.gathered import Lines
from advisor.sources.stages.kinds import JOBS, TASKS, Kind
from advisor.sources.stages.layout import words
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

    def read(self, lines: Lines, *, alike: bool) -> Messages:
        """What the lines say; `alike`: whether messages end where their lines do, as in a log of text."""
        told = _nothing(len(lines.starts), self._names)
        for name, place in self._places.items():
            rows = np.flatnonzero(lines.loggers == place)
            told.kind[rows] = Kind.NOTHING
            for at in (self._alike(lines, told, rows, name) if alike else rows).tolist():
                if found := one_message(name, lines.line(at), lines.message(at)):
                    told.kind[at], told.number[at], told.other[at], told.ms[at] = found[:4]
                    told.query[at], told.batch[at] = self._query(found.query) if found.query else -1, found.batch
        return told

    def _alike(self, lines: Lines, told: Messages, rows: np.ndarray, logger: str) -> np.ndarray:
        """Read the lines that fit a form; those that are left."""
        places = lines.messages[rows]
        left = np.zeros(len(rows), bool)
        if logger == TASKS:
            left = self._read_names(lines.text, places, rows, told)
        heads = words(lines.text, 4)[places]
        for letters, (kind, read) in FORMS[logger].items():
            of_form = np.flatnonzero(heads == int.from_bytes(letters, "little"))
            found = read(lines.text, places[of_form], lines.stops[rows[of_form]])
            into = rows[of_form[found.fits]]
            told.kind[into] = kind
            for column, values in zip((told.number, told.other, told.ms), found[1:], strict=False):
                if isinstance(values, np.ndarray):
                    column[into] = values[found.fits]
            left[of_form] = ~(found.fits | found.nothing)
        return rows[left]

    def _read_names(self, text: np.ndarray, places: np.ndarray, rows: np.ndarray, told: Messages) -> np.ndarray:
        """Read the batches before messages, and move `places` behind them; in which rows one is that does not fit."""
        named = Cursor(text, places).sees(b"[queryId = ")
        front = Cursor(text, places[named])
        front.passes(b"[queryId = ")
        letters, which = np.unique(front.letters(_OF_QUERY), return_inverse=True)
        queries = np.array([self._query(each) if _ID.fullmatch(each) else -1 for each in letters.tolist()], np.int64)[
            which
        ]
        front.passes(b"] [batchId = ")
        batch = front.number()
        front.passes(b"] ")
        fits = front.fits & (queries >= 0)
        into = np.flatnonzero(named)[fits]
        places[into] = front.at[fits]
        told.query[rows[into]], told.batch[rows[into]] = queries[fits], batch[fits]
        named[into] = False
        return named

    def _query(self, letters: bytes) -> int:
        """A number for a query."""
        if letters not in self._queries:
            self._queries[letters] = len(self._names)
            self._names.append(redact(letters.decode(errors="replace")))
        return self._queries[letters]


def _nothing(size: int, queries: Sequence[str]) -> Messages:
    number, other, batch = np.zeros((3, size), np.int64)
    return Messages(np.zeros(size, np.int8), number, other, np.zeros(size), np.full(size, -1), batch, queries)
