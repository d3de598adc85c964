"""What Spark's scheduler says of jobs, stages and tasks in a driver's log, as columns of numbers.

A message has one of few forms, as Spark writes it: letters that are always the same, and numbers between them. All
lines of a form are read together, step by step, with `Cursor`. A line that does not fit (a task that is tried again, a
stage that failed, a number of eight digits, a locale's comma), and each line of a structured log, is read by itself,
with a regular expression. Both give the same: the kind of the message, its numbers, and the batch that it may name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from advisor.redaction import redact
from advisor.sources.stages.begun import Named
from advisor.sources.stages.cursor import Cursor
from advisor.sources.stages.gathered import Lines
from advisor.sources.stages.layout import words
from advisor.stages import LOCALITIES

JOBS, TASKS = "DAGScheduler", "TaskSetManager"
"""The classes that write them."""


class Kind(IntEnum):
    """Of a message, and what its number, its other number and its length are."""

    NOTHING = -1
    """It tells nothing."""
    OTHER = 0
    """Of another logger."""
    GOT = 1
    """Job; 1 where it runs in the background."""
    FINAL = 2
    """Stage."""
    PARENTS = 3
    """1 where the final stage has some."""
    SUBMITS = 4
    """Stage; tasks."""
    STAGE_ENDS = 5
    """Stage; LAST, FAILED, or both; ms."""
    JOB_ENDS = 6
    """Job; none; ms."""
    STARTS = 7
    """Stage; place in LOCALITIES, or -1."""
    FINISHES = 8
    """Stage; the task's place in it; ms."""
    LOST = 9
    """Stage."""


LAST, FAILED = 1, 2
"""Of a stage that ends: it is a job's last one; it failed."""


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


class _Told(NamedTuple):
    """What lines of one form tell, of those that fit; those that do not may be of another form, which tells nothing."""

    fits: np.ndarray
    number: np.ndarray
    other: np.ndarray | int = 0
    ms: np.ndarray | float = 0.0
    nothing: np.ndarray | bool = False


# Lines of a form together.

_Form = Callable[[np.ndarray, np.ndarray, np.ndarray], _Told]
"""Reads lines of a text, given where their messages begin and where they end."""

_OF_QUERY = 5
"""Letters of a query's id that stand before a message."""
_ID = re.compile(rb"\w+")
_STAGES = b"ResultStage ", b"ShuffleMapStage "
_TAILS = b" bytes) ", b" bytes) taskResourceAssignments Map()"
_NEAR = [f" {name}".encode() for name in LOCALITIES]
_SITE = re.compile(rb"(.*?)\) with \d+ output partitions")
_BACKGROUND = re.compile(rb"withThreadLocalCaptured|ThreadPoolExecutor|FutureTask|CompletableFuture")


def _got(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> _Told:
    front = Cursor(text, at)
    front.passes_one(b"Got job ", b"Got map stage job ")
    job = front.number()
    front.passes(b" (")
    ends = zip(front.at.tolist(), stops.tolist(), strict=True)
    sites = np.array([_background(text[begin:end].tobytes()) for begin, end in ends], np.int64)
    return _Told(front.fits & (sites >= 0), job, sites)


@lru_cache(1024)
def _background(site: bytes) -> int:
    """Whether a job that is called from there runs in the background; -1 where it is no call of a job."""
    found = _SITE.match(site)
    return bool(_BACKGROUND.search(found[1])) if found else -1


def _final(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> _Told:
    front = Cursor(text, at)
    front.passes(b"Final stage: ")
    front.passes_one(*_STAGES)
    stage = front.number()
    return _Told(front.fits, stage)


def _parents(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> _Told:
    front = Cursor(text, at)
    front.passes(b"Parents of final stage: List()")
    return _Told(front.fits, np.zeros(len(at), np.int64))


def _submits(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> _Told:
    front = Cursor(text, at)
    front.passes(b"Submitting ")
    beginning = front.sees(b"ResultStage") | front.sees(b"ShuffleMapStage")
    tasks = front.number()
    front.passes(b" missing tasks from ")
    front.passes_one(*_STAGES)
    stage = front.number()
    return _Told(front.fits, stage, tasks, nothing=beginning)


def _stage_ends(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> _Told:
    front = Cursor(text, at)
    last = front.passes_one(*_STAGES) == 0
    stage = front.number()
    front.passes(b" (")
    back, ms = _length(text, stops)
    back.passes_back(b") finished in ")
    return _Told(front.fits & back.fits, stage, np.where(last, LAST, 0), ms)


def _job_ends(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> _Told:
    front = Cursor(text, at)
    front.passes(b"Job ")
    job = front.number()
    ending = front.sees(b" is finished")
    front.passes(b" finished: ")
    back, ms = _length(text, stops)
    back.passes_back(b", took ")
    return _Told(front.fits & back.fits, job, ms=ms, nothing=ending)


def _starts(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> _Told:
    front, back = Cursor(text, at), Cursor(text, _ends(text, stops))
    front.passes(b"Starting task ")
    front.number()
    stage = _of_stage(front)
    back.passes_one_back(*_TAILS)
    back.number_back()
    back.passes_back(b", ")
    near = back.passes_one_back(*_NEAR)
    return _Told(front.fits & back.fits, stage, near)


def _finishes(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> _Told:
    front = Cursor(text, at)
    front.passes(b"Finished task ")
    place = front.number()
    stage = _of_stage(front)
    front.passes(b" in ")
    ms = front.number()
    front.passes(b" ms")
    return _Told(front.fits, stage, place, ms)


def _lost(_: np.ndarray, at: np.ndarray, __: np.ndarray) -> _Told:
    return _Told(np.zeros(len(at), bool), np.zeros(len(at), np.int64))


def _of_stage(front: Cursor) -> np.ndarray:
    """The stage of a first try at a task."""
    front.passes(b".0 in stage ")
    stage = front.number()
    front.passes(b".0 (TID ")
    front.number()
    front.passes(b")")
    return stage


def _length(text: np.ndarray, stops: np.ndarray) -> tuple[Cursor, np.ndarray]:
    """(where the length begins with which lines end, it in ms)."""
    back = Cursor(text, _ends(text, stops))
    unit = back.passes_one_back(b" ms", b" s")
    length = back.decimal_back()
    return back, np.where(unit == 1, length * 1000, length)


def _ends(text: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Where lines end, on whatever system they were written."""
    return stops - (text[stops - 1] == ord("\r"))


FORMS: Mapping[str, Mapping[bytes, tuple[Kind, _Form]]] = {
    JOBS: {
        b"Got ": (Kind.GOT, _got),
        b"Fina": (Kind.FINAL, _final),
        b"Pare": (Kind.PARENTS, _parents),
        b"Subm": (Kind.SUBMITS, _submits),
        b"Resu": (Kind.STAGE_ENDS, _stage_ends),
        b"Shuf": (Kind.STAGE_ENDS, _stage_ends),
        b"Job ": (Kind.JOB_ENDS, _job_ends),
    },
    TASKS: {b"Star": (Kind.STARTS, _starts), b"Fini": (Kind.FINISHES, _finishes), b"Lost": (Kind.LOST, _lost)},
}
BEGINNINGS: Mapping[str, Sequence[str]] = {JOBS: [letters.decode() for letters in FORMS[JOBS]]}
"""The first four letters of the messages that are wanted of a logger; those of tasks may stand behind a batch's name."""


# One line.

_GOT = re.compile(rb"Got (?:map stage )?job (\d{1,15}) \((?=(.*))")
_FINAL = re.compile(rb"Final stage: \w+ (\d{1,15})")
_PARENTS = re.compile(rb"Pare(?!.*List\(\))")
_SUBMITS = re.compile(rb"Submitting (\d{1,15}) missing tasks from \w+ (\d{1,15})")
_STAGE_ENDS = re.compile(
    rb"(?:(Result)|ShuffleMap)Stage (\d{1,15}) \(.*\) (?:finished|(failed)) in (\d{1,12}(?:[.,]\d{1,12})?) (m?s)"
)
_JOB_ENDS = re.compile(rb"Job (\d{1,15}) (?:finished|failed): .*, took (\d{1,12}(?:[.,]\d{1,12})?) (m?s)")
_NAMED = re.compile(rb"\[queryId = (\w+)\] \[batchId = (\d{1,15})\] ")
_STARTS = re.compile(
    rb"Starting task [\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) .*? ([A-Z]{3,}(?:_[A-Z]+)?), \d+ bytes"
)
_FINISHES = re.compile(rb"Finished task (\d{1,9})[\d.]+ in stage (\d{1,15})[\d.]+ \(TID \d+\) in (\d{1,15}) ms")
_LOST = re.compile(rb"Lost task [\d.]+ in stage (\d{1,15})\.")
_CONTEXT = re.compile(rb'"(?i:batch_id)":"(\d{1,15})","(?i:query_id)":"([^"]+)"')
_LOCALITIES = {name.encode(): place for place, name in enumerate(LOCALITIES)}


class _One(NamedTuple):
    """A row of Messages, and the batch that it names."""

    kind: Kind
    number: int
    other: int = 0
    ms: float = 0.0
    query: bytes = b""
    batch: int = 0


def _of_jobs(line: bytes, message: int) -> _One | None:
    """What a line of the scheduler of jobs says."""
    if got := _GOT.match(line, message):
        background = _background(got[2])
        return _One(Kind.GOT, int(got[1]), background) if background >= 0 else None
    if final := _FINAL.match(line, message):
        return _One(Kind.FINAL, int(final[1]))
    if _PARENTS.match(line, message):
        return _One(Kind.PARENTS, 1)
    if submits := _SUBMITS.match(line, message):
        return _One(Kind.SUBMITS, int(submits[2]), int(submits[1]))
    if ends := _STAGE_ENDS.match(line, message):
        last, stage, failed, length, unit = ends.groups()
        return _One(Kind.STAGE_ENDS, int(stage), (LAST if last else 0) | (FAILED if failed else 0), _ms(length, unit))
    if ends := _JOB_ENDS.match(line, message):
        batch, query = found.groups() if (found := _CONTEXT.search(line)) else (b"0", b"")
        return _One(Kind.JOB_ENDS, int(ends[1]), 0, _ms(ends[2], ends[3]), query, int(batch))
    return None


def _of_tasks(line: bytes, message: int) -> _One | None:
    """What a line of the manager of a stage's tasks says."""
    named = _NAMED.match(line, message)
    if named:
        message = named.end()
        found = _of_tasks(line, message)
        return found and found._replace(query=named[1], batch=int(named[2]))
    if starts := _STARTS.match(line, message):
        return _One(Kind.STARTS, int(starts[1]), _LOCALITIES.get(starts[2], -1))
    if finishes := _FINISHES.match(line, message):
        return _One(Kind.FINISHES, int(finishes[2]), int(finishes[1]), float(finishes[3]))
    if lost := _LOST.match(line, message):
        return _One(Kind.LOST, int(lost[1]))
    return None


def _ms(length: bytes, unit: bytes) -> float:
    value = float(length.replace(b",", b"."))
    return value * 1000 if unit == b"s" else value


_ONE = {JOBS: _of_jobs, TASKS: _of_tasks}


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
                if found := _ONE[name](lines.line(at), lines.message(at)):
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
        queries = np.array([self._query(each) if _ID.fullmatch(each) else -1 for each in letters.tolist()], np.int64)[which]
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
