"""The trigger: which kinds the batches leave possible, and which one their starts and rates show.

Spark starts batches at whole multiples of a trigger's interval since 1970. Rows over inputRowsPerSecond are the time
since the trigger before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from advisor.batches import Columns, whole_seconds
from advisor.facts.names import Known
from advisor.statistics import middle, sorted_quantile

_TRIGGERS: Final = ("unspecified", "processing_time", "once", "available_now", "real_time")
"""All but continuous processing, which reports no progress at all."""
SHORTEST_REAL_TIME_MS: Final = 5000.0
"""Spark refuses a shorter interval of real-time mode, and each of its batches lasts that long."""
_ALIKE, _ALIKE_SHARE = 3, 0.1
"""Batches that must last as long, and by how much of it they may differ: a checkpoint interval and its end."""
_PAUSES: Final = 2
"""AvailableNow starts each batch as soon as the one before is done."""
_AT_A_BLOW: Final = ("rate", "rate_micro_batch")
"""Sources that give all that AvailableNow asks for in one batch (tried on Spark 4.3.0)."""
_WAITS: Final = 10
"""How many starts after a wait are needed before their alignment means something."""
_ALIGNED_SHARE: Final = 0.9
LATE_MS: Final = 20
"""How late after its time a batch may start and still count as aligned."""
AT_ONCE_MS: Final = 60
"""The longest pause between batches that start at once: progress is reported in between."""
PAUSE_MS: Final = 1000
"""A longer pause between two batches is one in which the trigger waited."""
USUAL_MS: Final = (
    100, 200, 250, 500, 1000, 2000, 3000, 5000, 10000, 15000, 20000, 30000, 60000, 120000, 300000, 600000,
)  # fmt: skip
_SHORTEST_BY_RATE_MS: Final = 1000
_SHORTEST_BY_WAIT_MS: Final = 5000
_WAITED: Final = 2
"""Times as long as the batch that the time since the trigger before must be, to be a wait."""
_MOST_OF_IT: Final = 0.8
_STEP_SHARE, _ONE_STEP_SHARE = 0.01, 0.005
"""How far from an interval a rate's time may lie: for several batches, for one."""
_HALF_DIGIT, _LEAST_ROUNDED = 0.0501, 1.0
"""The step of a rate with one decimal, and the rate from which it is precise enough."""
_SHORTEST_BY_STEPS_MS: Final = 2000
_BUSY: Final = 0.9
"""Of the time since the trigger before: a batch that took more of it may not have waited."""
_FEWEST_AT_ONCE, _AT_ONCE_SHARE, _LONG_MS = 2, 0.05, 1000
"""Batches that began as the one before ended, how far from its end, of its length, and how long that was at least."""
_SOONER: Final = 10
"""Times as long as the time since the trigger before an interval must be, to be ruled out by one start off its grid."""
_GRID_MS: Final = 500
"""Intervals of at least twice as much start at its multiples, as people write them."""


def possible_triggers(executed: Columns, sources: Columns, source: str) -> tuple[str, ...]:
    """The kinds of trigger that could have run these batches of one run; `source` is the kind of what they read.

    Once runs one batch, AvailableNow what was there at the start, without a pause; real-time mode's batches last at
    least five seconds. `sources`: one row per batch and source.
    """
    data = executed["input_rows"] > 0
    numbers = executed["batch_id"][data]
    batches = len(set(numbers[~np.isnan(numbers)].tolist())) + bool(np.isnan(numbers).any())
    at_once = 2 if source in _AT_A_BLOW else np.inf  # a batch that was not finished before the start comes first
    excluded = {
        "once": batches > 1 or (executed["input_rows_per_second"] > 0).any(),
        "available_now": batches > at_once or (source == "kafka" and _grows(sources)) or _pauses(executed),
        "real_time": (executed["trigger_execution_ms"][data] < SHORTEST_REAL_TIME_MS).any()
        or _latest_is_asked(sources),
    }
    return tuple(kind for kind in _TRIGGERS if not excluded.get(kind))


def real_time(executed: Columns, sources: Columns) -> bool:
    """Whether these are batches of real-time mode: Kafka is not asked for its latest offset, and all last as long.

    Spark 3.4 and later name the latest offset of Kafka in every other batch. A single record may have been shortened.
    """
    durations = executed["trigger_execution_ms"]
    kafka = [(text or "").startswith("Kafka") for text in sources["description"]]
    if len(durations) < _ALIKE or not kafka or not all(kafka) or _latest_is_asked(sources):
        return False
    if np.isnan(executed["commit_offsets_ms"]).any():
        return False
    shortest, longest = durations.min(), durations.max()
    return bool(shortest >= SHORTEST_REAL_TIME_MS and longest <= (1 + _ALIKE_SHARE) * shortest)


def _latest_is_asked(sources: Columns) -> bool:
    """Whether a batch asked a source for its latest offset, which real-time mode never does."""
    return any(offset is not None for offset in sources["latest_offset"])


def _grows(sources: Columns) -> bool:
    """Whether Kafka holds more at a later batch; AvailableNow names what was there at its start (4.3.0)."""
    newest: dict[str, set[str]] = {}
    for description, offset in zip(sources["description"], sources["latest_offset"], strict=True):
        if offset is not None:
            newest.setdefault(description or "", set()).add(offset)
    return any(len(offsets) > 1 for offsets in newest.values())


def _pauses(executed: Columns) -> bool:
    """Whether the query waited between batches, and more than once."""
    waited = np.diff(executed["timestamp"]) - executed["trigger_execution_ms"][:-1]
    return bool((waited > PAUSE_MS).sum() >= _PAUSES)


def infer_trigger(executed: Columns) -> dict[str, Known]:
    """`trigger` and `trigger_interval_ms` where the starts of a run's executed batches show them, else nothing.

    With an interval Spark starts batches at whole multiples of it since 1970, or at once when the batch before took
    longer; without one, a batch starts at once after the other. Starts that fit neither say nothing. An interval that
    no batch keeps looks like none, and so does a run that only works off what is there: a log's word counts for more.
    """
    known = ~np.isnan(executed["trigger_execution_ms"]) & ~np.isnan(executed["timestamp"])
    durations = executed["trigger_execution_ms"][known].astype(np.int64)
    starts = executed["timestamp"][known].astype(np.int64)
    pauses = np.diff(starts) - durations[:-1]
    interval = interval_of(starts, pauses)
    if interval is not None:
        return every(interval)
    if each_at_once(durations, pauses):
        return {"trigger": Known("unspecified", "inferred")}
    return by_rates(executed)


def interval_of(starts: np.ndarray, pauses: np.ndarray) -> int | None:
    """The longest interval at whose multiples nearly all starts after a wait lie."""
    waited = pauses > LATE_MS
    if waited.sum() < _WAITS:
        return None
    after = starts[1:][waited]
    steps = np.diff(starts)[waited]
    shortest = middle(steps) if whole_seconds(starts) else 0  # where seconds were cut, all lie at multiples of one
    candidates = sorted((each for each in _candidates(steps) if each >= shortest), reverse=True)
    return next((each for each in candidates if _aligned(after, each) and _reached(pauses, starts, each)), None)


def _candidates(steps: np.ndarray) -> set[int]:
    """Usual intervals, and the usual step between starts rounded to what a person writes."""
    usual = int(middle(steps))
    rounded = {round(usual / unit) * unit for unit in (10, 50, 100, 500, 1000)}
    return {each for each in rounded | set(USUAL_MS) if each >= 5 * LATE_MS}


def _aligned(starts: np.ndarray, interval: int) -> bool:
    return bool((starts % interval < LATE_MS).mean() >= _ALIGNED_SHARE)


def _reached(pauses: np.ndarray, starts: np.ndarray, interval: int) -> bool:
    """Whether batches wait for the next multiple only: a batch that is done waits less than one interval, mostly."""
    waits = pauses[pauses > LATE_MS]
    return bool((waits <= interval).mean() >= 0.5) and len(starts) > _WAITS


def each_at_once(durations: np.ndarray, pauses: np.ndarray) -> bool:
    """Whether every batch started as soon as the one before was done, and not before: that clock stands."""
    if len(pauses) < 2 * _WAITS:
        return False
    allowed = max(AT_ONCE_MS, 0.15 * middle(durations))
    ordered = np.sort(pauses)
    soonest, latest = sorted_quantile(ordered, 0.1), sorted_quantile(ordered, 0.9)
    return bool(-allowed <= soonest and latest <= allowed)


def every(interval: int, origin: str = "progress") -> dict[str, Known]:
    """An interval that the starts show: by chance, they would not lie at its multiples."""
    return {"trigger": Known("processing_time", origin), "trigger_interval_ms": Known(interval, origin)}


def by_rates(executed: Columns) -> dict[str, Known]:
    """What the rates of a few batches show, where their starts alone say nothing."""
    paced = _paced(executed)
    if not np.isfinite(paced.steps).any():
        return {}
    by_rate = _interval_by_rate(paced)
    if by_rate is not None:
        return every(by_rate)
    steps = _steps(executed, paced)
    likely = _interval_by_wait(paced) or _interval_by_steps(steps, paced)
    if likely is not None and likely < (interval_below(executed) or likely + 1):
        return every(likely, "inferred")
    return {"trigger": Known("unspecified", "inferred")} if _at_once_by_rate(executed, steps) else {}


def interval_below(executed: Columns) -> int | None:
    """The interval in ms that the trigger of these batches of one run is shorter than; None where none is ruled out.

    With an interval each batch but the first starts a whole one after the other, or later. One batch alone that began
    off the grid soon after the trigger before is next to impossible with one many times as long.
    """
    paced = _paced(executed)
    found = [*_by_batches(executed), *_by_one_start(paced), *_by_rates_alone(executed, paced)]
    return min(found) if found else None


def _by_batches(executed: Columns) -> list[int]:
    """The most that the interval can be for so many batches in that time, and a little more."""
    numbers, starts = executed["batch_id"], executed["timestamp"]
    known = ~np.isnan(numbers) & ~np.isnan(starts)
    if known.sum() < 2:
        return []
    waits, took, cut = np.ptp(numbers[known]) - 1, np.ptp(starts[known]), 1000 * (starts[known] % 1000 == 0).all()
    return [int((took + cut) / waits) + LATE_MS] if waits >= 1 and took > 0 else []


def _by_one_start(paced: _Paced) -> list[int]:
    steps, starts, *_ = _since_the_trigger_before(paced)
    off = starts % _GRID_MS >= LATE_MS
    if not off.any() or whole_seconds(starts):
        return []
    return [_ruled_out(steps[off].min())]


def _by_rates_alone(executed: Columns, paced: _Paced) -> list[int]:
    """The same of batches without a time, by the longest: the second of a run may begin at once on the grid."""
    steps = paced.steps[np.isnan(paced.starts) & (executed["batch_id"] > 1)]
    present = steps[np.isfinite(steps)]
    return [_ruled_out(present.max())] if len(present) else []


def _ruled_out(step: float) -> int:
    return max(2 * _GRID_MS, int(_SOONER * step))


def _interval_by_steps(steps: np.ndarray, paced: _Paced) -> int | None:
    """Return the usual interval that all batches' rates give as the time since the last trigger, although each waited.

    Without an interval a batch begins as soon as the one before ends, or as its rows come.
    """
    present = np.isfinite(steps)
    longer = np.fmax(paced.took, paced.before)
    waited = present & ~(longer > _BUSY * steps)
    if not present.any() or not waited[present].all():
        return None
    share = _STEP_SHARE if present.sum() > 1 else _ONE_STEP_SHARE
    usual = [each for each in USUAL_MS if each >= _SHORTEST_BY_STEPS_MS and _near(steps[present], each, share)]
    return next(iter(usual), None)


def _at_once_by_rate(executed: Columns, steps: np.ndarray) -> bool:
    """Return whether the rates of long consecutive batches show that each began as the last one ended."""
    durations = executed["trigger_execution_ms"]
    if any(_near(steps[np.isfinite(steps)], each) for each in USUAL_MS):
        return False  # an interval that the batches fill, it may be
    follows = np.diff(executed["batch_id"]) == 1
    pauses = (steps[1:] - durations[:-1])[follows]
    before = durations[:-1][follows]
    known = np.isfinite(pauses)
    near = np.abs(pauses[known]) <= _AT_ONCE_SHARE * before[known]
    return bool(known.sum() >= _FEWEST_AT_ONCE and near.all() and before[known].min() >= _LONG_MS)


def _steps(executed: Columns, paced: _Paced) -> np.ndarray:
    """Return ms since the last trigger by each batch's rate, NaN without a rate.

    Where a rate of one decimal fits a usual interval, the step is that interval.
    """
    rate, rows = executed["input_rows_per_second"], executed["input_rows"]
    longest_first = np.array(USUAL_MS[::-1], dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = (np.abs(rate * 10 - np.round(rate * 10)) < 1e-6) & (rate >= _LEAST_ROUNDED)
        fits = rounded & (np.abs(rows / longest_first[:, np.newaxis] * 1000 - rate) <= _HALF_DIGIT)
    usual = longest_first[fits.argmax(axis=0)]
    return np.where(fits.any(axis=0), usual, np.where(rows > 0, paced.steps, np.nan))


class _Paced(NamedTuple):
    """For each batch: how long it took, when it started, ms since the last trigger by its rate, and how long
    the batch before took; NaN where that is not known.
    """

    took: np.ndarray
    starts: np.ndarray
    steps: np.ndarray
    before: np.ndarray


def _paced(executed: Columns) -> _Paced:
    took, starts = executed["trigger_execution_ms"], executed["timestamp"]
    return _Paced(took, starts, _by_rate(executed), _before(executed))


def _by_rate(executed: Columns) -> np.ndarray:
    """Return ms since the last trigger for each batch: its rows over its rate. NaN without a rate."""
    rate = executed["input_rows_per_second"]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = executed["input_rows"] / rate * 1000
    return np.where((rate > 0) & np.isfinite(steps), steps, np.nan)


def _before(executed: Columns) -> np.ndarray:
    """Of each batch how long the one before took; NaN where that is not there."""
    length = executed["trigger_execution_ms"]
    before = np.full(len(length), np.nan)
    before[1:] = np.where(np.diff(executed["batch_id"]) == 1, length[:-1], np.nan)
    return before


def _interval_by_rate(paced: _Paced) -> int | None:
    """The interval that a few batches show, one even, by their rates and starts together.

    inputRowsPerSecond is rows over the time since the trigger before. Where that time is a usual interval and every
    batch starts at a multiple of it, an interval of that length is all but certain; intervals below a second are left
    out, as a start lies near one of their multiples by chance. Where each batch began as the one before ended, that
    time is but the length of a batch.
    """
    steps, starts, *_ = _since_the_trigger_before(paced)
    if _each_followed_at_once(paced):
        return None
    usual = [each for each in USUAL_MS if each >= _SHORTEST_BY_RATE_MS and _near(steps, each)]
    return next((each for each in usual if len(starts) and (starts % each < LATE_MS).all()), None)


def _interval_by_wait(paced: _Paced) -> int | None:
    """The least interval that explains why a few batches, one even, waited and then began at its multiple.

    The trigger before may have been late, a run's first one say, so that the time since then is shorter than the
    interval. By default trigger a batch or a poll begins at once after the other; one that lasted so long and ended
    within 20 ms of a multiple of five seconds or more is one in 250. Beside batches that did not wait, two others must
    have waited, or one most of the interval. So it must where several intervals fit, as at a full minute: most of the
    least. Starts cut to seconds say nothing.
    """
    since = _since_the_trigger_before(paced)
    fitting = {each: waits for each in USUAL_MS if len(waits := _waits(since, each))}
    if not fitting or whole_seconds(since.starts):
        return None
    least, waits = next(iter(fitting.items()))
    single = len(waits) == 1 < len(since.steps)
    clear = waits.max() >= _MOST_OF_IT * least or (len(fitting) == 1 and not single)
    return least if clear else None


def _waits(since: _Since, interval: int) -> np.ndarray:
    """How long the batches waited for a multiple of that interval, if it explains them all; else none.

    A batch that came right after the one before did not wait: a multiple passed while the one before it ran, as a first
    batch that outlasts its interval. So it may be with one whose forerunner nobody saw.
    """
    on_time = since.starts % interval < LATE_MS
    waited = ~since.followed & (on_time | ~since.unseen)
    steps, began = since.steps[waited], (since.starts - since.steps)[~waited]
    explained = (
        interval >= max(_SHORTEST_BY_WAIT_MS, (1 - _STEP_SHARE) * steps.max(initial=0))
        and on_time[waited].all()
        and (steps >= _WAITED * since.took[waited]).all()
        and (began // interval < since.starts[~waited] // interval).all()
    )
    return steps if explained else steps[:0]


class _Since(NamedTuple):
    """For each batch with a rate: ms since the last trigger, its start, how long it took, whether it came
    right after the batch before, and whether that one is not there.
    """

    steps: np.ndarray
    starts: np.ndarray
    took: np.ndarray
    followed: np.ndarray
    unseen: np.ndarray


def _since_the_trigger_before(paced: _Paced) -> _Since:
    present = np.isfinite(paced.steps) & ~np.isnan(paced.starts)
    steps, before = paced.steps[present], paced.before[present]
    followed = steps - before < PAUSE_MS
    return _Since(steps, paced.starts[present].astype(np.int64), paced.took[present], followed, np.isnan(before))


def _each_followed_at_once(paced: _Paced) -> bool:
    """Return whether each batch with a rate and a known predecessor began as that one ended."""
    steps, before = paced.steps, paced.before
    present = np.isfinite(steps) & np.isfinite(before)
    near = np.abs(steps - before) <= AT_ONCE_MS + _STEP_SHARE * steps
    return bool(present.any() and near[present].all())


def _near(steps: np.ndarray, interval: int, share: float = _STEP_SHARE) -> bool:
    """Return whether each step is that interval within a share of it: the precision of a rate with one decimal."""
    return bool((np.abs(steps - interval) <= share * interval).all())
