"""Messages of Spark's scheduler that have the form in which Spark writes them: many lines of each form at once.

A form is letters that are always the same, and numbers between them. `Cursor` goes through all of its lines together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from advisor.sources.stages.cursor import Cursor
from advisor.sources.stages.kinds import JOBS, LAST, TASKS, Kind
from advisor.stages import LOCALITIES

_STAGES = b"ResultStage ", b"ShuffleMapStage "
_TAILS = b" bytes) ", b" bytes) taskResourceAssignments Map()"
_NEAR = [f" {name}".encode() for name in LOCALITIES]
_SITE = re.compile(rb"(.*?)\) with \d+ output partitions")
_BACKGROUND = re.compile(rb"withThreadLocalCaptured|ThreadPoolExecutor|FutureTask|CompletableFuture")


class Columns(NamedTuple):
    """What lines of one form tell, of those that fit; those that do not may be of another form, which tells nothing."""

    fits: np.ndarray
    number: np.ndarray
    other: np.ndarray | int = 0
    ms: np.ndarray | float = 0.0
    nothing: np.ndarray | bool = False


Form = Callable[[np.ndarray, np.ndarray, np.ndarray], Columns]
"""Reads lines of a text, given where their messages begin and where they end."""


def _got(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> Columns:
    front = Cursor(text, at)
    front.passes_one(b"Got job ", b"Got map stage job ")
    job = front.number()
    front.passes(b" (")
    ends = zip(front.at.tolist(), stops.tolist(), strict=True)
    sites = np.array([background(text[begin:end].tobytes()) for begin, end in ends], np.int64)
    return Columns(front.fits & (sites >= 0), job, sites)


@lru_cache(1024)
def background(site: bytes) -> int:
    """Whether a job that is called from there runs in the background; -1 where it is no call of a job."""
    found = _SITE.match(site)
    return bool(_BACKGROUND.search(found[1])) if found else -1


def _final(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> Columns:
    front = Cursor(text, at)
    front.passes(b"Final stage: ")
    front.passes_one(*_STAGES)
    stage = front.number()
    return Columns(front.fits, stage)


def _parents(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> Columns:
    front = Cursor(text, at)
    front.passes(b"Parents of final stage: List()")
    return Columns(front.fits, np.zeros(len(at), np.int64))


def _submits(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> Columns:
    front = Cursor(text, at)
    front.passes(b"Submitting ")
    beginning = front.sees(b"ResultStage") | front.sees(b"ShuffleMapStage")
    tasks = front.number()
    front.passes(b" missing tasks from ")
    front.passes_one(*_STAGES)
    stage = front.number()
    return Columns(front.fits, stage, tasks, nothing=beginning)


def _stage_ends(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> Columns:
    front = Cursor(text, at)
    last = front.passes_one(*_STAGES) == 0
    stage = front.number()
    front.passes(b" (")
    back, ms = _length(text, stops)
    back.passes_back(b") finished in ")
    return Columns(front.fits & back.fits, stage, np.where(last, LAST, 0), ms)


def _job_ends(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> Columns:
    front = Cursor(text, at)
    front.passes(b"Job ")
    job = front.number()
    ending = front.sees(b" is finished")
    front.passes(b" finished: ")
    back, ms = _length(text, stops)
    back.passes_back(b", took ")
    return Columns(front.fits & back.fits, job, ms=ms, nothing=ending)


def _starts(text: np.ndarray, at: np.ndarray, stops: np.ndarray) -> Columns:
    front, back = Cursor(text, at), Cursor(text, _ends(text, stops))
    front.passes(b"Starting task ")
    front.number()
    stage = _of_stage(front)
    front.passes(b" ")
    back.passes_one_back(*_TAILS)
    back.number_back()
    back.passes_back(b", ")
    near = back.passes_one_back(*_NEAR)
    return Columns(front.fits & back.fits, stage, near)


def _finishes(text: np.ndarray, at: np.ndarray, _: np.ndarray) -> Columns:
    front = Cursor(text, at)
    front.passes(b"Finished task ")
    place = front.number()
    stage = _of_stage(front)
    front.passes(b" in ")
    ms = front.number()
    front.passes(b" ms")
    return Columns(front.fits, stage, place, ms)


def _lost(_: np.ndarray, at: np.ndarray, __: np.ndarray) -> Columns:
    return Columns(np.zeros(len(at), bool), np.zeros(len(at), np.int64))


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
    return np.asarray(stops - (text[stops - 1] == ord("\r")))


FORMS: Mapping[str, Mapping[bytes, tuple[Kind, Form]]] = {
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
