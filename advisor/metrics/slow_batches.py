"""Slow batches: in a fixed rhythm, as by a log's compaction in every k-th of them, or without one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from advisor.metrics.metric import remembered, window_metric
from advisor.metrics.missing import NO_BATCHES, Missing, needed
from advisor.statistics import known, median, quantile
from advisor.window import LONGEST_WARM_UP, PHASES, Window, last_of_warm_up

LONGEST = 100
"""Batches of the longest interval that is looked for."""
_USUAL = (10, 5, 20, 25, 50, 100)
RHYTHMS = (*_USUAL, *(every for every in range(2, LONGEST + 1) if every not in _USUAL))
"""Intervals that are looked for, Spark's and Delta's default first: the later one is tried, the surer it has to be."""
_RHYTHMS = np.array(RHYTHMS, dtype=np.intp)
FEWEST_SPIKES = 3
_TWO = 2
OF_A_TABLE = 10
"""Commits from one checkpoint of Delta's log to the next, and batches between compactions of a file sink's or source's
log: where that is known to be written, two spikes so far apart are enough."""
SPIKE_FACTOR = 1.5  # a spike takes at least this many times the median of the other batches
MOST_MISSED = 0.2  # of the batches in the rhythm that are no spikes
MOST_ELSEWHERE = 0.1  # of the other batches that are as slow as a spike
MOST_CHANCE = 0.01  # that slow batches without a rhythm look like one
NEIGHBOURS = 11
SLOW_FACTOR = 3.0  # times the median from which a batch without a rhythm counts as slow
NO_RHYTHM = Missing("no batches are slow in a fixed rhythm")


class Rhythm(NamedTuple):
    """`every`: batches from one spike to the next. `offset`: their batch id modulo that. `slow`: which batches of the
    window are in the rhythm.
    """

    every: int
    offset: float
    slow: np.ndarray


@remembered
def rhythm(window: Window) -> Rhythm | Missing:
    """The rhythm in which the batches of this run are slow, by batch id; Missing where there is none.

    It is looked for in all batches of the run that had rows, cold ones too, each compared with its neighbours: a run
    that gets faster while it warms up has its spikes all the same.
    """
    found = _found(window) if len(window) else None
    if found is None:
        return NO_RHYTHM
    every, offset = found
    slow = window.batches["batch_id"] % every == offset
    return Rhythm(every, offset, slow) if slow.any() and not slow.all() else NO_RHYTHM


def _found(window: Window) -> tuple[int, float] | None:
    """The rhythm's length and the batch id modulo that at which it is slow."""
    run, few = window.executed, OF_A_TABLE if _keeps_a_log(window) else None
    counted = ~np.isnan(run["trigger_execution_ms"] + run["batch_id"]) & (run["input_rows"] != 0)
    present = np.flatnonzero(counted & (run["batch_id"] > 0) if few else counted)  # a table's first commit is cold
    ids, times = run["batch_id"][present], _beside_neighbours(run["trigger_execution_ms"][present])
    possible = _may_be(ids, times, few)
    for tried, every in enumerate(RHYTHMS, 1):
        if every not in possible:
            continue
        places = ids % every
        offset = _slowest(places, times)
        slow = places == offset
        others = _warm(times[~slow]) if run["cold"][0] else times[~slow]
        alone = every == few and _two_alone(times[slow], others)
        if alone or _in_rhythm(times[slow], others, MOST_CHANCE / (tried * every)):
            return every, float(offset)
    return None


def _warm(others: np.ndarray) -> np.ndarray:
    """Return the batches outside of a rhythm without the warm-up, which is easier to tell beside no spikes."""
    slow = others[:LONGEST_WARM_UP] >= SPIKE_FACTOR * median(others)
    return others[last_of_warm_up(np.flatnonzero(slow)) + 1 :]


def _keeps_a_log(window: Window) -> bool:
    """Whether the query is known to write a table's log that is gathered up in every tenth commit."""
    ends = (window.facts.value("sink"), window.facts.value("source"))
    return window.facts.value("writes_delta") is True or any(end in ("delta", "file") for end in ends)


def _two_alone(slow: np.ndarray, others: np.ndarray) -> bool:
    """Whether two batches are slow beyond doubt, and no other one is slow at all."""
    usual = median(others)
    return len(slow) == _TWO and bool(slow.min() >= SLOW_FACTOR * usual and others.max() < SPIKE_FACTOR * usual)


def _may_be(ids: np.ndarray, times: np.ndarray, few: int | None) -> set[int]:
    """Return the rhythms with enough spikes at one place, found for all at once; each is then examined more closely.

    A spike takes a factor of the median of the others. These are at least half of all, their median no less than p25.
    In the rhythm `few` two are enough.
    """
    if len(times) < FEWEST_SPIKES * min(RHYTHMS):
        return set()
    slow = times >= SPIKE_FACTOR * np.sort(times)[(len(times) - 1) // 4]
    if slow.sum() < _TWO:
        return set()
    fewest = np.where(few == _RHYTHMS, _TWO, FEWEST_SPIKES)
    held = len(times) >= fewest * _RHYTHMS
    every, fewest = _RHYTHMS[held][:, np.newaxis], fewest[held][:, np.newaxis]
    first = np.cumsum(every, axis=0) - every  # the places of each interval, those of all put in one row
    places = first + ids.astype(np.intp) % every
    count, spikes = (np.bincount(some.ravel(), minlength=int(every.sum())) for some in (places, places[:, slow]))
    least = np.repeat(fewest.ravel(), every.ravel())
    enough = (count >= least) & (spikes >= (1 - MOST_MISSED) * count)
    return set(every[np.logical_or.reduceat(enough, first.ravel())].ravel().tolist())


def _slowest(places: np.ndarray, times: np.ndarray) -> float:
    """The place whose median time is the longest, the first of several; medians of all places at once."""
    order = np.lexsort((times, places))
    places, times = places[order], times[order]
    first = np.flatnonzero(np.concatenate([[True], places[1:] != places[:-1]]))
    last = np.append(first[1:], len(places)) - 1
    below, above = times[(first + last) // 2], times[(first + last + 1) // 2]
    return float(places[first[np.argmax(below + (above - below) * ((last - first) % 2 / 2))]])


def _beside_neighbours(duration: np.ndarray) -> np.ndarray:
    """Each duration over the median of the eleven around it."""
    if len(duration) < NEIGHBOURS:
        return duration
    half = NEIGHBOURS // 2
    padded = np.concatenate([duration[half:0:-1], duration, duration[-2 : -half - 2 : -1]])
    around = np.arange(len(duration))[:, np.newaxis] + np.arange(NEIGHBOURS)
    usual = np.sort(padded[around], axis=1)[:, half]
    return duration / np.maximum(usual, 1.0)


def _in_rhythm(slow: np.ndarray, others: np.ndarray, chance: float) -> bool:
    """Whether nearly all of `slow` are slow and nearly none of the others, less likely than that without a rhythm."""
    if len(slow) < FEWEST_SPIKES or len(others) < len(slow):
        return False
    limit = SPIKE_FACTOR * median(others)
    hits, elsewhere = int((slow >= limit).sum()), int((others >= limit).sum())
    if hits < (1 - MOST_MISSED) * len(slow) or elsewhere > MOST_ELSEWHERE * len(others):
        return False
    return _by_chance(len(slow), len(others), hits, hits + elsewhere) < chance


def _by_chance(places: int, others: int, hits: int, spikes: int) -> float:
    """Chance that at least `hits` of `spikes`, thrown at random, fall into `places` (hypergeometric)."""
    ways = sum(math.comb(places, n) * math.comb(others, spikes - n) for n in range(hits, min(places, spikes) + 1))
    return ways / math.comb(places + others, spikes)


def _parted(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """Durations of the batches in the rhythm, and of the others; raises MissingError where there is no rhythm."""
    slow, duration = needed(rhythm(window)).slow, window.batches["trigger_execution_ms"]
    return duration[slow], duration[~slow & ~np.isnan(duration)]


@window_metric("count", "count", label="the batches from one slow one to the next")
def spike_every(window: Window) -> float:
    """Every how many batches one is slow."""
    return float(needed(rhythm(window)).every)


@window_metric("count", "count", label="periodic slow batches that were seen")
def spikes_seen(window: Window) -> float:
    """How many of the judged batches are slow in the rhythm."""
    return float(needed(rhythm(window)).slow.sum())


@window_metric("share", label="the share of the periodic slow batches in all time")
def spike_time_share(window: Window) -> float:
    """The time of the periodic slow batches over the time of all batches."""
    slow, others = _parted(window)
    return float(slow.sum() / (slow.sum() + others.sum()))


@window_metric("ms", label="a periodic slow batch")
def spike_batch_ms(window: Window) -> float:
    """The median of the periodic slow batches."""
    return median(_parted(window)[0])


@window_metric("ms", label="a batch between the periodic slow ones")
def spike_rest_ms(window: Window) -> float:
    """The median of the other batches."""
    return median(_parted(window)[1])


@window_metric("ms", phases=tuple(PHASES), label="the time of the periodic slow batches")
def spike_excess_ms(window: Window) -> float:
    """What the periodic slow batches take beyond the median of the others, spread over all batches."""
    slow, others = _parted(window)
    return _beyond(slow, others) / (len(slow) + len(others))


@window_metric("share", label="the share of the periodic slow batches")
def spike_excess_share(window: Window) -> float:
    """What the periodic slow batches take beyond the median of the others, over the time of all batches; 0 without."""
    if isinstance(rhythm(window), Missing):
        return 0.0
    slow, others = _parted(window)
    return _beyond(slow, others) / float(slow.sum() + others.sum())


def _beyond(slow: np.ndarray, others: np.ndarray) -> float:
    return float((slow - median(others)).clip(min=0).sum())


@window_metric("ms", label="what periodic slow batches take longer")
def spike_gap_ms(window: Window) -> float:
    """How much longer the median periodic slow batch takes than the median of the others; 0 where there is none."""
    if isinstance(rhythm(window), Missing):
        return 0.0
    slow, others = map(median, _parted(window))
    return slow - others


@window_metric("ms", label="p99 of the batch without the periodic slow ones")
def batch_p99_without_spikes_ms(window: Window) -> float:
    """p99 of triggerExecution over all batches but the periodic slow ones."""
    return quantile(_parted(window)[1], 0.99)


@window_metric("ms", label="p99 of the batch")
def batch_p99_ms(window: Window) -> float | Missing:
    """p99 of triggerExecution."""
    p99 = quantile(window.batches["trigger_execution_ms"], 0.99)
    return NO_BATCHES if np.isnan(p99) else p99


@window_metric("count", "count")
def slow_batches(window: Window) -> float | Missing:
    """How many batches take at least three times the median, where they come without a rhythm."""
    return float(len(_slow(window)[0])) if len(window) else NO_BATCHES


@window_metric("ms", label="the median slow batch")
def slow_batch_ms(window: Window) -> float | Missing:
    """The median of the batches that are slow without a rhythm."""
    slow, _ = _slow(window)
    return median(slow) if len(slow) else Missing("no batch is slow without a rhythm")


@window_metric("ms", phases=tuple(PHASES), label="slow batches")
def slow_batches_excess_ms(window: Window) -> float | Missing:
    """What batches that are slow without a rhythm take beyond the median, spread over all batches."""
    slow, duration = _slow(window)
    return _beyond(slow, duration) / len(duration) if len(duration) else NO_BATCHES


@window_metric("share", label="the share of slow batches")
def slow_batches_excess_share(window: Window) -> float | Missing:
    """What batches that are slow without a rhythm take beyond the median, over the time of all batches."""
    slow, duration = _slow(window)
    return _beyond(slow, duration) / float(duration.sum()) if duration.sum() > 0 else NO_BATCHES


def _slow(window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The durations of the slow batches, and of all; none is slow where the slow ones have a rhythm."""
    duration = known(window.batches["trigger_execution_ms"])
    slow = duration >= SLOW_FACTOR * max(median(duration), 1.0) if len(duration) else duration > 0
    return duration[slow & isinstance(rhythm(window), Missing)], duration
