"""Queries of which no batch ends: silent, long, idle, unheard or gone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import Doing, Reading, instant, rows_of
from advisor.catalogue import doing_of, silence
from advisor.contract import Stall, StallWord
from advisor.metrics.units import milliseconds
from advisor.statistics import median

_NOTHING_NEW = "it waits for new data"
_LEFT = "its driver no longer lists it"
_GONE = "its driver does not answer, or its session is stopped"
_LOOKED_AT = 200
"""Batches of a run that show the usual time, the newest."""
ALARMS = ("silent", "gone")
"""Words that are a reason to wake somebody."""


def stalls(reading: Reading, *, timed: bool = False) -> dict[str, Stall]:
    """Return a word for each run that a live source was asked about and of which no batch ends.

    With `timed` each says how long that had lasted at the look.
    """
    found = {run: _stall(_pace(reading.batches, run), doing, silence()) for run, doing in reading.doing.items()}
    words = {run: stall for run, stall in found.items() if stall is not None}
    if reading.gone_since is not None:
        words |= dict.fromkeys(reading.doing, Stall(word="gone", since=_iso(reading.gone_since), says=_GONE))
    if not timed:
        return words
    lasted = {run: reading.doing[run].at - datetime.fromisoformat(stall.since) for run, stall in words.items()}
    return {run: msgspec.structs.replace(words[run], ms=1000 * each.total_seconds()) for run, each in lasted.items()}


class _Pace(NamedTuple):
    """When the last batch of a run ended, its number, its usual time from batch to batch, and its longest batch."""

    ended: datetime
    newest: float
    usual_ms: float
    longest_ms: float


def _pace(batches: pa.Table, run_id: str) -> _Pace | None:
    own = batches.filter(pc.equal(batches["run_id"], run_id))
    rows = rows_of(own.slice(max(0, len(own) - _LOOKED_AT)))
    starts, took, ran = rows["timestamp"], np.nan_to_num(rows["trigger_execution_ms"]), ~rows["idle"]
    if not ran.any() or np.isnan(starts).all():
        return None
    ended = instant(float(np.nanmax(starts + np.where(ran, took, 0.0))))
    between = np.diff(starts[ran])
    usual = max(median(took[ran]), median(between) if len(between) else 0.0)
    assert ended is not None
    return _Pace(ended, float(rows["batch_id"][ran][-1]), usual, float(took[ran].max()))


def _stall(pace: _Pace | None, doing: Doing, limits: Mapping[str, Any]) -> Stall | None:
    if doing.gone is not None:
        return Stall(word="gone", since=_iso(doing.gone), says=_LEFT)
    if pace is None:
        if doing.met is None:
            return None
        pace = _Pace(doing.met, math.inf if doing.oldest is None else doing.oldest, 0.0, 0.0)  # no batch has ended
    elif doing.met is not None:  # the clock of its driver may be ahead
        pace = pace._replace(ended=min(pace.ended, doing.met))
    unheard = doing.newest is not None and doing.newest - pace.newest >= limits["unheard_batches"]
    if doing.at - pace.ended >= _quiet(pace, limits) and unheard:
        says = limits["unheard_says"].format(newest=doing.newest)
        return Stall(word="unheard", since=_iso(pace.ended), says=says)
    heard = max(pace.ended, doing.idle or pace.ended)
    if doing.at - heard < _quiet(pace, limits):
        waits = pace.usual_ms and heard - pace.ended > timedelta(milliseconds=limits["times_usual"] * pace.usual_ms)
        waits = waits and doing.at - heard <= timedelta(seconds=limits["idle_seconds"])
        return Stall(word="idle", since=_iso(pace.ended), says=_NOTHING_NEW) if waits else None
    word, says = _word(pace, doing)
    return Stall(word=word, since=_iso(heard if word == "silent" else pace.ended), says=says)


def _word(pace: _Pace, doing: Doing) -> tuple[StallWord, str]:
    """Return the word for a run of which no batch has ended for long, and what it does."""
    what = doing_of(doing.thread)
    if what is not None and what.get("idle"):
        return "idle", f"it {what['says']}"
    says = f"it {what['says']}" if what else "no batch has ended"
    if doing.job:
        longest = f"; so far the longest batch took {milliseconds(pace.longest_ms)}" if pace.longest_ms else ""
        return "long", f"{says}, {doing.job}{longest}"
    return "silent", f"{says}; usually one ends every {milliseconds(pace.usual_ms)}" if pace.usual_ms else says


def _quiet(pace: _Pace, limits: Mapping[str, Any]) -> timedelta:
    """Return how long no batch may end before anything is said."""
    return timedelta(seconds=max(limits["least_seconds"], limits["times_usual"] * pace.usual_ms / 1000))


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="seconds")
