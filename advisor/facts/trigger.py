"""The trigger: which kinds the batches leave possible, and which one their starts and rates show.

Spark starts batches at whole multiples of a trigger's interval since 1970. Rows over inputRowsPerSecond are the time
since the trigger before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np

from advisor.batches import Columns, whole_seconds
from advisor.facts.names import Known
from advisor.statistics import middle, quantile, since_last

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
_WAITS, _FEWEST_WAITS = 10, 3
"""How many starts after a wait are needed before their alignment means something; fewer must all lie on one grid."""
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
_OFF_BY_MS: Final = 2
"""How far from whole seconds the time since the trigger before may lie where its interval has them."""
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


def possible_triggers(
    executed: Columns, sources: Columns, source: str, kind_of: Callable[[str], str]
) -> tuple[str, ...]:
    """The kinds of trigger that could have run these batches of one run; `source` is the kind of what they read.

    Once runs one batch, AvailableNow what was there at the start, without a pause; real-time mode's batches last at
    least five seconds. `sources`: one row per batch and source; `kind_of` tells the kind of one by its description.
    """
    data = executed["input_rows"] > 0
    numbers = executed["batch_id"][data]
    batches = len(set(numbers[~np.isnan(numbers)].tolist())) + bool(np.isnan(numbers).any())
    given = {text for text in set(sources["description"]) if text and kind_of(text) in _AT_A_BLOW}
    at_a_blow = sources["batch"][np.isin(sources["description"], list(given)) & (sources["input_rows"] > 0)]
    more = len(set(at_a_blow.tolist())) > 2  # a batch that was not finished before the start comes first
    excluded = {
        "once": batches > 1 or (executed["input_rows_per_second"] > 0).any(),
        "available_now": more or (source == "kafka" and _grows(sources)) or _pauses(executed),
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
    durations, starts = (executed[name][known] for name in ("trigger_execution_ms", "timestamp"))
    pauses = np.diff(starts) - durations[:-1]
    paced = _paced(executed)
    steps = paced.steps[np.isfinite(paced.steps) & (executed["input_rows_per_second"] >= _LEAST_ROUNDED)]
    since = middle(steps) if len(steps) else np.nan
    interval = _interval_of(starts, pauses, paced.steps[known][1:], since)
    if interval is not None and not since <= 5 * LATE_MS:  # else triggers lie between: a source delivers at such times
        return _every(interval, _origin(interval, since))
    if _polls_at_once(paced) or (len(steps) >= _WAITS and since < LATE_MS):
        return {"trigger": Known("unspecified", "progress")}
    if found := _AT_ONCE if _each_at_once(durations, pauses) else _by_rates(executed, paced):
        return found
    few = None if since <= 5 * LATE_MS else _interval_of(starts, pauses, paced.steps[known][1:], since, few=True)
    return _every(few, _origin(few, since)) if few else {}


def _origin(interval: int, since: float) -> str:
    """Return how sure an interval of the starts is: the time since the trigger before bears it out, or does not."""
    return "progress" if since >= _MOST_OF_IT * interval else "inferred"


_AT_ONCE: Final = {"trigger": Known("unspecified", "inferred")}


def _every(interval: int, origin: str) -> dict[str, Known]:
    return {"trigger": Known("processing_time", origin), "trigger_interval_ms": Known(interval, origin)}


def _interval_of(
    starts: np.ndarray, pauses: np.ndarray, steps: np.ndarray, since_trigger: float, few: bool = False
) -> int | None:
    """The longest interval at whose multiples nearly all starts after a wait lie, and that most waits do not exceed.

    It is a usual one, or the usual step between starts or triggers, rounded to what a person writes. Behind a batch
    that outlasts it, the next one waits for no multiple, unless the trigger before, by `steps`, is one interval away.
    """
    waited = pauses > LATE_MS
    needed, share, least = (_FEWEST_WAITS, 1.0, _SHORTEST_BY_RATE_MS) if few else (_WAITS, _ALIGNED_SHARE, 5 * LATE_MS)
    if waited.sum() < needed:
        return None
    begun, ended = starts[:-1][waited], (starts[1:] - pauses)[waited]
    after, usual = starts[1:][waited], middle(np.diff(starts)[waited])
    waits, steps = pauses[waited], steps[waited]
    shortest = usual if whole_seconds(starts) else 0  # where seconds were cut, all lie at multiples of one
    likely = (usual, usual if np.isnan(since_trigger) else since_trigger)
    possible = {*USUAL_MS, *(round(int(step) / unit) * unit for step in likely for unit in (10, 50, 100, 500, 1000))}
    for each in sorted(possible, reverse=True):
        if each < max(shortest, least):
            return None
        if since_trigger < _MOST_OF_IT * each and middle(ended - begun) < each:
            continue  # the trigger before came sooner than that, and behind no batch that outlasts it
        polled = np.abs(steps - each) <= LATE_MS
        in_time = (begun // each == ended // each) | polled
        if in_time.sum() < needed:
            continue
        aligned, short = after % each < LATE_MS, (waits <= each) | polled
        if aligned[in_time].mean() >= share and short[in_time].mean() >= 0.5:
            return each
    return None


def _each_at_once(durations: np.ndarray, pauses: np.ndarray) -> bool:
    """Whether every batch started as soon as the one before was done, and not before: that clock stands."""
    if len(pauses) < 2 * _WAITS:
        return False
    allowed = max(AT_ONCE_MS, 0.15 * middle(durations))
    return bool(-allowed <= quantile(pauses, 0.1) and quantile(pauses, 0.9) <= allowed)


class _Paced(NamedTuple):
    """For each batch how long it took, when it started, ms since the last trigger by its rate, and how long the batch
    before took; NaN where that is not known.
    """

    took: np.ndarray
    starts: np.ndarray
    steps: np.ndarray
    before: np.ndarray

    def where(self, keep: np.ndarray) -> _Paced:
        """These of the batches."""
        return _Paced(*(column[keep] for column in self))


def _polls_at_once(paced: _Paced) -> bool:
    """Whether batches began within 20 ms of a trigger that found nothing, long after the batch before had ended.

    With an interval, only the trigger right behind a batch that outlasts it may be so near to the one before.
    """
    shortest = paced.before + np.fmax(paced.before, PAUSE_MS)
    found = (paced.steps < LATE_MS) & (since_last(paced.starts) > shortest)
    return bool(found.sum() >= _FEWEST_AT_ONCE)


def _paced(executed: Columns) -> _Paced:
    took, rate = executed["trigger_execution_ms"], executed["input_rows_per_second"]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = executed["input_rows"] / rate * 1000
    before = np.where(since_last(executed["batch_id"]) == 1, np.roll(took, 1), np.nan)
    return _Paced(took, executed["timestamp"], np.where((rate > 0) & np.isfinite(steps), steps, np.nan), before)


def _by_rates(executed: Columns, paced: _Paced) -> dict[str, Known]:
    """What the rates of a few batches show, where their starts alone say nothing."""
    if not np.isfinite(paced.steps).any():
        return {}
    placed = paced.where(np.isfinite(paced.steps) & ~np.isnan(paced.starts))
    sure = _interval_by_rate(paced, placed)
    if sure is not None:
        return _every(sure, "progress")
    steps = _rounded_steps(executed, paced)
    likely = _interval_by_wait(placed) or _interval_by_steps(steps, paced)
    if likely is not None and likely < min(_intervals_ruled_out(executed, paced, placed), default=np.inf):
        return _every(likely, "inferred")
    return _AT_ONCE if _at_once_by_rate(executed, steps) else {}


def _intervals_ruled_out(executed: Columns, paced: _Paced, placed: _Paced) -> Iterator[float]:
    """Intervals in ms than which that of the trigger is shorter.

    With an interval each batch but the first starts a whole one after the other, or later: so many batches in that time
    leave little more. One batch alone that began off the grid soon after the trigger before is next to impossible with
    one many times as long; of batches without a time, the one that began latest, as the second of a run may begin at
    once on the grid.
    """
    numbers, starts = executed["batch_id"], executed["timestamp"]
    known = ~np.isnan(numbers) & ~np.isnan(starts)
    if known.sum() >= 2:
        waits, took, cut = np.ptp(numbers[known]) - 1, np.ptp(starts[known]), 1000 * (starts[known] % 1000 == 0).all()
        if waits >= 1 and took > 0:
            yield int((took + cut) / waits) + LATE_MS
    off = placed.starts % _GRID_MS >= LATE_MS
    if off.any() and not whole_seconds(placed.starts):
        yield max(2 * _GRID_MS, int(_SOONER * placed.steps[off].min()))
    timeless = paced.steps[np.isnan(paced.starts) & (numbers > 1) & np.isfinite(paced.steps)]
    if len(timeless):
        yield max(2 * _GRID_MS, int(_SOONER * timeless.max()))


def _interval_by_rate(paced: _Paced, placed: _Paced) -> int | None:
    """The interval that a few batches show, one even, by their rates and starts together.

    inputRowsPerSecond is rows over the time since the trigger before. Where that time is a usual interval and every
    batch starts at a multiple of it, an interval of that length is all but certain; intervals below a second are left
    out, as a start lies near one of their multiples by chance. Where each batch began as the one before ended, that
    time is but the length of a batch.
    """
    known = np.isfinite(paced.steps) & np.isfinite(paced.before)
    at_once = np.abs(paced.steps - paced.before) <= AT_ONCE_MS + _STEP_SHARE * paced.steps
    if not len(placed.starts) or (known.any() and at_once[known].all()):
        return None
    usual = _near(placed.steps, _SHORTEST_BY_RATE_MS)
    return next((each for each in usual if (placed.starts % each < LATE_MS).all()), None)


def _interval_by_wait(placed: _Paced) -> int | None:
    """The least interval that explains why a few batches, one even, waited and then began at its multiple.

    The trigger before may have been late, a run's first one say, so that the time since then is shorter than the
    interval. By default trigger a batch or a poll begins at once after the other; one that lasted so long and ended
    within 20 ms of a multiple of five seconds or more is one in 250. Beside batches that did not wait, two others must
    have waited, or one most of the interval. So it must where several intervals fit, as at a full minute: most of the
    least. Starts cut to seconds say nothing.
    """
    few = placed.steps[:_WAITS].tolist()
    whole = {round(step, -3) for step in few if abs(step - round(step, -3)) <= _OFF_BY_MS}
    long = sorted(each for each in {*USUAL_MS, *map(int, whole)} if each >= _SHORTEST_BY_WAIT_MS)
    fitting = {each: waits for each in long if len(waits := _waits(placed, each))}
    if not fitting or whole_seconds(placed.starts):
        return None
    least, waits = next(iter(fitting.items()))
    single = len(waits) == 1 < len(placed.steps)
    clear = waits.max() >= _MOST_OF_IT * least or (len(fitting) == 1 and not single)
    return least if clear else None


def _waits(placed: _Paced, interval: int) -> np.ndarray:
    """How long the batches waited for a multiple of that interval, if it explains them all; else none.

    A batch that came right after the one before did not wait: a multiple passed while the one before it ran, as a first
    batch that outlasts its interval. So it may be with one whose forerunner nobody saw.
    """
    on_time = placed.starts % interval < LATE_MS
    if not on_time.any():
        return placed.steps[:0]
    waited = ~(placed.steps - placed.before < PAUSE_MS) & (on_time | ~np.isnan(placed.before))
    steps, at_once = placed.steps[waited], placed.where(~waited)
    explained = (
        interval >= (1 - _STEP_SHARE) * steps.max(initial=0)
        and on_time[waited].all()
        and (steps >= _WAITED * placed.took[waited]).all()
        and ((at_once.starts - at_once.steps) // interval < at_once.starts // interval).all()
    )
    return steps if explained else steps[:0]


def _interval_by_steps(steps: np.ndarray, paced: _Paced) -> int | None:
    """Return the usual interval that all batches' rates give as the time since the last trigger, although each waited.

    Without an interval a batch begins as soon as the one before ends, or as its rows come; a single one at any time.
    """
    present = np.isfinite(steps)
    filled = np.fmax(paced.took, paced.before) > _BUSY * steps
    if not present.any() or filled[present].any():
        return None
    several = present.sum() > 1
    near = _near(steps[present], _SHORTEST_BY_STEPS_MS, _STEP_SHARE if several else _ONE_STEP_SHARE)
    return next((each for each in near if several or not (paced.starts[present] % each >= LATE_MS).any()), None)


def _at_once_by_rate(executed: Columns, steps: np.ndarray) -> bool:
    """Return whether the rates of long consecutive batches show that each began as the last one ended."""
    durations = executed["trigger_execution_ms"]
    if _near(steps[np.isfinite(steps)]):
        return False  # an interval that the batches fill, it may be
    pauses = steps[1:] - durations[:-1]
    known = (np.diff(executed["batch_id"]) == 1) & np.isfinite(pauses)
    pauses, before = np.abs(pauses[known]), durations[:-1][known]
    long = len(before) >= _FEWEST_AT_ONCE and before.min() >= _LONG_MS
    return bool(long and (pauses <= _AT_ONCE_SHARE * before).all())


def _rounded_steps(executed: Columns, paced: _Paced) -> np.ndarray:
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


def _near(steps: np.ndarray, shortest: int = 0, share: float = _STEP_SHARE) -> list[int]:
    """Return the usual intervals that each step is within a share of them: the precision of a rate with one decimal."""
    ends = (float(steps.min()), float(steps.max())) if len(steps) else ()
    usual = [each for each in USUAL_MS if each >= shortest]
    return [each for each in usual if all(abs(end - each) <= share * each for end in ends)]
