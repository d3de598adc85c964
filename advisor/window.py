"""The steady batches of one run that are judged together, and why these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from advisor import batches as tables
from advisor.batches import Batches, Columns, instant, whole_seconds
from advisor.batches.runs import NO_STAGES, members_of
from advisor.column import longest
from advisor.facts.trigger import AT_ONCE_MS
from advisor.statistics import median, middle, quantile, since_last, sorted_quantile, zero_filled

if TYPE_CHECKING:
    from advisor.facts import Facts

OVERLAP_MS = 50.0  # of two batches of a run: in no recorded one they overlap by more than 2 ms
BELIED, BELIED_MS = 2.0, 1000.0  # times, and by how much: Spark divides rows by that very time
LONGEST_WARM_UP = 50  # batches after a start that can still be cold
CALM_BATCHES = 5  # this many fast batches in a row end the warm-up
WARM_UP_FACTOR = 1.5  # a batch is cold until it stays under this times the later median
STILL_USUAL = 0.9  # nor is one cold that takes no longer than so many of the later batches
FEWEST_WHOLE = 10  # whole events beside which partial records are not judged
SEVERAL, MOSTLY, FEWEST_CHANGES = 1.5, 0.9, 4  # intervals; of the batches that must fit; of the time between them
MOST_BATCHES = 10_000  # the last ones of a run that are judged

PHASES: dict[str, str] = {column.name: column.spark for column in tables.PHASES if column.spark != "triggerExecution"}
"""Column of a phase -> Spark's own name of it, in the order of a batch's life."""


@dataclass(frozen=True)
class Window:
    """Steady batches of one run.

    `batches`: one row per batch, in order of time, columns of `batches.COLUMNS` without the lists, plus `interval_ms`
    (this trigger's start less the start of the trigger before; of a batch for which rows waited on purpose, of the
    batch before), `held_back` (which batches these are), `moved` (1 where a source's offsets moved),
    `between_batches_ms`, `clock` (the latest time that the run's clock had shown by then), `other_phases_ms`, `cold`,
    `implausible`, `belied` and `impossible`. `operators`, `sources`: one row per batch and operator or source; column
    `batch` is the position of its row in `batches`. `executed`: every executed batch of the run, cold and no-data ones
    too. `stages`: one row per stage inside addBatch with its `batch`, where something shows them; then `batches` has
    the parts of addBatch, too. `because`: why these batches. `earlier`: the batches before the restart or change that
    they are compared with. `cold`: those right after the start, if no other ran: they show how the query is laid out,
    but not its milliseconds. `memo`: what was computed of this window, by the function that did.
    """

    batches: Columns
    operators: Columns
    sources: Columns
    executed: Columns
    facts: Facts
    because: str
    cold: Window | None = None
    stages: Columns = NO_STAGES
    earlier: Window | None = None
    memo: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return self.batches.length

    @cached_property
    def middle(self) -> np.ndarray:
        """Which batches lie between p25 and p75 of triggerExecution: those that `typical` averages."""
        duration = self.batches["trigger_execution_ms"]
        known = np.sort(duration[~np.isnan(duration)])
        if not len(known):
            return np.zeros(len(duration), dtype=bool)
        last = len(known) - 1
        low, high = known[last // 4], known[-(last // 4) - 1]
        return (duration >= low) & (duration <= high)

    @cached_property
    def opened(self) -> bool:
        """Whether something shows the jobs of these batches."""
        return "jobs" in self.batches or len(self.stages) > 0

    @property
    def span(self) -> tuple[datetime | None, datetime | None]:
        """When the first and the last batch started; None where that is not known."""
        return span(self.batches)

    @cached_property
    def lacks(self) -> frozenset[str]:
        """Parts of an event, by Spark's names, that all these batches lack: their records are partial."""
        return tables.all_lack(self.batches)

    @cached_property
    def partial(self) -> bool:
        """Whether some of these batches come from partial records."""
        return any(text is not None for text in set(self.batches["partial"]))

    def with_facts(self, facts: Facts) -> Window:
        """The same batches, judged with other facts."""
        cold = self.cold.with_facts(facts) if self.cold else None
        return replace(self, facts=facts, cold=cold, memo={})

    def only(self, keep: np.ndarray, because: str) -> Window:
        """The batches for which `keep` is true, and their operators and sources."""
        if keep.all():
            return replace(self, because=because, memo={})
        return replace(
            self,
            batches=self.batches.where(keep),
            operators=members_of(self.operators, keep),
            sources=members_of(self.sources, keep),
            stages=members_of(self.stages, keep),
            because=because,
            memo={},
        )


def span(batches: Columns) -> tuple[datetime | None, datetime | None]:
    """When the first and the last of these batches started; None where that is not known."""
    times = batches["timestamp"]
    return (instant(times[0]), instant(times[-1])) if len(times) else (None, None)


def run_window(table: pa.Table | Batches, facts: Facts) -> Window:
    """The steady batches of one run.

    `table`: rows of one run by `batches.SCHEMA`, in order of time, idle ones included. May come back empty.
    """
    whole = executed_window(table, facts)
    steady = ~whole.executed["cold"] & (whole.executed["input_rows"] != 0) & ~whole.executed["impossible"]
    sound = steady & ~whole.executed["implausible"]  # what is left out of a batch would count as 0 ms in a mean
    steady = sound if sound.sum() >= FEWEST_WHOLE else steady
    window = whole.only(steady & newest(steady, MOST_BATCHES), "all steady batches of the run")
    if len(window) or not len(whole):
        return window
    return replace(window, cold=whole.only(whole.executed["cold"], "only cold batches"))


def executed_window(table: pa.Table | Batches, facts: Facts) -> Window:
    """Every executed batch of the same rows, cold and no-data ones too."""
    whole = Batches.of(table)
    ran = _as_whole_as_possible(whole.rows, ~whole.rows["idle"])
    ran &= newest(ran, MOST_BATCHES + LONGEST_WARM_UP)
    every = facts.fixed_interval_ms if facts.value("source") == "kafka" else None
    executed = _timed(whole.rows.where(ran), _held_back(whole, facts)[ran], _moved(whole)[ran], every or np.inf)
    return Window(
        batches=executed,
        operators=members_of(whole.operators, ran),
        sources=members_of(whole.sources, ran),
        executed=executed,
        facts=facts,
        because="all executed batches of the run",
        stages=members_of(whole.stages, ran),
    )


def _as_whole_as_possible(events: Columns, ran: np.ndarray) -> np.ndarray:
    """Return which of the batches that ran are judged: those of whole events where there are enough, else all."""
    whole = ran & events["whole"]
    return whole if whole.sum() >= FEWEST_WHOLE else ran


def newest(mask: np.ndarray, count: int) -> np.ndarray:
    """Which of the elements stand where no more than `count` true ones are left, itself included."""
    if len(mask) <= count:
        return np.ones(len(mask), dtype=bool)
    return np.cumsum(mask[::-1])[::-1] <= count


def _held_back(whole: Batches, facts: Facts) -> np.ndarray:
    """Which of these triggers come after one that found rows in the source and ran no batch.

    So it is with minOffsetsPerTrigger, where rows wait until there are enough (tried on Spark 3.5.9 and 4.3.0). From
    3.5 on logs show no idle triggers: there the option itself decides.
    """
    if facts.value("min_offsets_per_trigger"):
        return np.ones(len(whole), dtype=bool)
    waiting, at = whole.sources["backlog_rows"], whole.sources["batch"]
    found = np.zeros(len(whole), dtype=bool)
    found[at[waiting > 0]] = True
    found &= whole.rows["idle"]
    return np.concatenate([[False], found[:-1]]) if len(found) else found


def _moved(whole: Batches) -> np.ndarray:
    """Return 1 for triggers that moved a source's offsets, 0 for others; NaN where the records name none."""
    start, end, at = (whole.sources[name] for name in ("start_offset", "end_offset", "batch"))
    moved = np.full(len(whole), np.nan)
    moved[at[end != None]] = 0.0  # noqa: E711 (element by element)
    moved[at[(end != None) & (start != end)]] = 1.0  # noqa: E711
    return moved


def _gathered(executed: Columns, by_clock: np.ndarray, every: float) -> np.ndarray:
    """Return which batches waited for a number of rows, though triggers came `every` so many ms.

    Such batches start several intervals apart and take just over one number of rows: less than came in an interval
    more. The later one starts, the more rows it has, for they come all the time; a burst is as large whether the next
    trigger comes sooner or later.
    """
    triggered, rows = _intervals(executed, by_clock) < SEVERAL * every, executed["input_rows"]
    longer = triggered & (by_clock > SEVERAL * every) & (rows > 0)
    longer[:2] = False  # the start may be at any time
    apart, rows = by_clock[longer], rows[longer]
    came = rows / apart * every  # in an interval
    over = (rows - quantile(rows, 1 - MOSTLY)) / came
    later = np.diff(apart) / every
    more = (np.diff(rows) / came[1:])[np.abs(later) > 0.5] - later[np.abs(later) > 0.5]
    sharp = len(more) >= FEWEST_CHANGES and np.mean(np.abs(more) < 0.5) >= MOSTLY and np.mean(over < 1.2) >= MOSTLY
    return longer & bool(sharp and len(rows) * 2 > len(executed))


def _timed(executed: Columns, held_back: np.ndarray, moved: np.ndarray, every: float) -> Columns:
    """Return the executed batches with the columns that follow from their order in time."""
    since, steps = (since_last(executed[name]) for name in ("timestamp", "batch_id"))
    by_clock = np.where((steps == 1) & (since > 0), since, np.nan)
    held_back = held_back | _gathered(executed, by_clock, every)
    interval = np.where(held_back, by_clock, _intervals(executed, by_clock))
    gap = since - np.concatenate([[np.nan], executed["trigger_execution_ms"]])[:-1]
    known = (steps == 1) & (interval >= since - 1)
    lasts_on, belied = _lasts_into_the_next(executed), _belied(executed)
    return executed.having(
        interval_ms=np.where(_follows_the_start(executed, gap), np.nan, interval),
        between_batches_ms=np.maximum(np.where(known, gap, np.nan), 0),
        clock=_clock(executed),
        held_back=held_back,
        moved=moved,
        cold=cold(executed),
        lasts_on=lasts_on,
        belied=belied,
        impossible=lasts_on | belied | _outlasted(executed),
    )


def _clock(executed: Columns) -> np.ndarray:
    """Return the latest time that the run's clock had shown by each batch; batches count by number, not by time."""
    times = executed["timestamp"]
    order = np.lexsort((times, executed["batch_id"]))
    shown = np.empty_like(times)
    shown[order] = np.fmax.accumulate(times[order])
    return shown


def _outlasted(executed: Columns) -> np.ndarray:
    """Which batches have phases that together outlast their trigger, which holds them."""
    phases = zero_filled(np.array([executed[phase] for phase in PHASES])).sum(axis=0)
    return phases > longest(executed["trigger_execution_ms"])


def _belied(executed: Columns) -> np.ndarray:
    """Return which batches without phases contradict their rows and rate: Spark divides rows by the batch time."""
    alone = np.isnan(executed["add_batch_ms"])  # of a whole record the phases bear the length out
    if not alone.any():
        return alone
    rate, took = executed["processed_rows_per_second"], executed["trigger_execution_ms"]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        by_rate = executed["input_rows"] / rate * 1000
        factor = np.fmax(by_rate, took) / np.fmin(by_rate, took)
    comparable = alone & (rate >= 1) & (by_rate > 0) & (took > 0)  # Spark 4.1 rounds it to one decimal
    return comparable & (factor > BELIED) & (np.abs(by_rate - took) > BELIED_MS)


def _lasts_into_the_next(executed: Columns) -> np.ndarray:
    """Which batches end after the next one began, or have a higher number: a clock or a duration is wrong.

    The next one is that by time, or by number where that contradicts fewer: batches from before and after a clock was
    set back lie between one another in time.
    """
    found = _overlapping(executed)
    if found.any():
        order = np.argsort(executed["batch_id"], kind="stable")
        found = min(found, _overlapping(executed.at(order))[np.argsort(order)], key=np.sum)
    return found


def _overlapping(executed: Columns) -> np.ndarray:
    """Which batches contradict the next of these rows. None follows the last: it is trusted where all others can be."""
    starts, numbers = executed["timestamp"], executed["batch_id"]
    falls = (numbers[1:] < numbers[:-1]) & (starts[1:] >= starts[:-1])
    allowed = OVERLAP_MS + (1000 if whole_seconds(starts) else 0)
    found = (starts[:-1] + executed["trigger_execution_ms"][:-1] - starts[1:] > allowed) | falls
    return np.concatenate([found, np.full(min(1, len(executed)), found.any())])


def _follows_the_start(executed: Columns, gap: np.ndarray) -> np.ndarray:
    """Which batch waited behind the first of the run: from a start, which may be at any time, it is no interval."""
    second = np.zeros(len(executed), dtype=bool)
    if len(executed) > 1 and _is_start(executed):
        second[1] = gap[1] > AT_ONCE_MS and not executed["batch_id"][1] - executed["batch_id"][0] > 1
    return second


def _intervals(batches: Columns, by_clock: np.ndarray) -> np.ndarray:
    """Return milliseconds from the last trigger's start to this one's, `by_clock` if that is known; else NaN.

    Spark's inputRowsPerSecond is rows over just that time, idle triggers included; timestamps show it if no
    idle trigger lay between. The smaller of both is taken.
    """
    rate = batches["input_rows_per_second"]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        by_rate = batches["input_rows"] / rate * 1000
    # Spark 4.1 rounds the rate to one decimal: below ten rows a second it is too coarse for milliseconds.
    precise = np.isfinite(by_rate) & (by_rate > 0) & ((rate >= 10) | np.isnan(by_clock))
    return np.fmin(by_clock, np.where(precise, by_rate, np.nan))


def cold(executed: Columns) -> np.ndarray:
    """Which batches still pay for the start of the run.

    The first of a run (batchId 0, or no inputRowsPerSecond), and those after it until triggerExecution stays under
    1.5 x the run's later median, or under what one in ten of the later batches reaches, too; at most 50.
    A batch after which most take as long or longer is not cold: a trend is no warm-up.
    """
    marked = np.zeros(len(executed), dtype=bool)
    if not len(executed) or not _is_start(executed):
        return marked
    duration = executed["trigger_execution_ms"]
    later = duration[min(LONGEST_WARM_UP, len(duration) // 2) :]
    known = later[~np.isnan(later)]
    # Where every second batch waits for another query's, half of all are far above the median, and none is a warm-up.
    usual = max(WARM_UP_FACTOR * middle(known), sorted_quantile(np.sort(known), STILL_USUAL))
    near = duration[: 2 * LONGEST_WARM_UP]
    slow = [int(at) for at in np.flatnonzero(near[:LONGEST_WARM_UP] >= usual) if near[at] > median(near[at + 1 :])]
    marked[: last_of_warm_up(slow) + 1] = True
    return marked


def last_of_warm_up(slow: Iterable[int]) -> int:
    """Position of the last slow batch that no more than five calm ones part from the start.

    A spike in every tenth batch (a compaction) is no warm-up.
    """
    last = 0
    for index in slow:
        if index - last > CALM_BATCHES:
            break
        last = int(index)
    return last


def _is_start(executed: Columns) -> bool:
    number, rows, rate = (executed[name][0] for name in ("batch_id", "input_rows", "input_rows_per_second"))
    nameless = np.isnan(number) and np.isnan(executed["timestamp"][0])  # figures alone: their rate may be left out
    whole = executed["partial"][0] is None  # what a partial record lacks is not absent
    untold = np.isnan(rate) and whole  # also of no rows: later on theirs is a rate of 0
    return bool(number == 0 or (not nameless and (untold or (rows != 0 and rate == 0))))
