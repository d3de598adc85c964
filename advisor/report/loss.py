"""Where a query loses most of its time, and where all of its batch time goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from advisor.contract import Changed, Finding, Loss, LossKind, Part
from advisor.engine.levels import part_ms
from advisor.facts.bounds import shortened
from advisor.metrics import METRICS, Estimate, Missing, measure
from advisor.metrics.drift import fills_interval_ms
from advisor.metrics.files import files_waiting
from advisor.metrics.flow import SAME_LOAD, passed_ms, rows_taken, trend
from advisor.metrics.labels import label
from advisor.metrics.latency import waits_for_watermark, watermark_wait_ms
from advisor.metrics.numbers import fact_number, known, median, quantile
from advisor.metrics.phases import DATABRICKS, DISCOVERY, OFFSET_LOG, hides_commit_log, summed
from advisor.metrics.spikes import Rhythm, rhythm
from advisor.metrics.words import milliseconds, number, with_article
from advisor.report.change import medians, slower
from advisor.window import PHASES, Window

OUTPACED = 2.0  # times as long as its rows took to come: a batch that leaves more to the next one
MOSTLY_BEHIND = 0.5  # of the batches outlast the interval: that is the loss, whatever they spend their time on
LEAST_PART = 0.02  # of all batch time: what takes less is not told
BY_BATCH = ("rate_micro_batch",)  # sources that give each batch as many rows, whatever time has passed
LEAST_WAIT = 1000.0  # ms for which rows wait in the source: less is no backlog to speak of
SLOW_FACTOR = 3.0  # times the median: a slow batch
LEAST_SPIKES = 0.05  # of all time
NO_CAUSE = ("add_batch", "unaccounted", "other")  # losses that name a phase, and not what it does
COMPACTED_EVERY = 10  # batches, by default: the log of a file sink, and Delta's checkpoint
NEARLY_FULL = 0.8  # of the trigger interval
LONG_WAIT_MS, LONG_WAIT = 60_000.0, 20.0  # for the watermark: so long, and so many times a batch, is worth a headline
IN_GENERAL = 0.5  # what counts of them
LEAST_NAMED = 0.2  # of addBatch: a part that takes less is not named beside it

GRAVE: dict[str, LossKind] = {
    "ST011": "rows_dropped",
    "ST015": "rows_dropped",
    "ST017": "watermark_stands",
    "ST007": "state_grows",
}
"""Rules that speak of what no millisecond makes good, and what is lost by it."""

_GROUPS: dict[LossKind, tuple[str, ...]] = {
    "add_batch": ("add_batch_ms",),
    "logs": OFFSET_LOG,
    "discovery": (*DISCOVERY, "get_batch_ms"),
    "planning": ("query_planning_ms",),
    "other": DATABRICKS,
}
"""The phases of a batch as a reader sees them, by their columns."""

_NOTHING = Estimate.exactly(0.0)
_MS_OF_RULE = {"ST005": "state_waves_excess_ms", "ST012": "state_waves_excess_ms", "SR002": "reread_ms"}
"""The time that a rule speaks of, where what it measures is no share of the batch."""
GROWTH = {
    "DR001": "add_batch_growth_ms",
    "DR003": "query_planning_growth_ms",
    "DR004": "source_discovery_growth_ms",
}
"""Rules of phases that get longer all along, and by how much they did."""

MOST_OF_ADD_BATCH = 0.5  # a part of addBatch that takes so much of it is named in its place
_SAYS: dict[LossKind, str] = {
    "add_batch": "{part} of {whole} batch ({share}) is addBatch: reading, computing, writing.",
    "logs": "{part} of {whole} batch ({share}) goes into the offset and commit logs.",
    "discovery": "{part} of {whole} batch ({share}) goes into finding the batch's data in the source.",
    "planning": "{part} of {whole} batch ({share}) goes into planning the query.",
    "other": "{part} of {whole} batch ({share}) goes into phases that only this Spark has.",
    "unaccounted": "{part} of {whole} batch ({share}) is in none of Spark's phases.",
}


def largest_loss(window: Window, findings: Sequence[Finding], changed: Changed | None) -> Loss | None:
    """What is lost first: rows; all results of windows; a query that falls behind; state without end; growth; time.

    None without a steady batch.
    """
    grave = {loss.kind: loss for loss in _grave(findings)} if len(window) else {}
    lost = grave.get("rows_dropped") or grave.get("watermark_stands")
    if lost is not None or not len(window) or window.facts.value("trigger") == "real_time":
        return lost
    behind = next(_behind(window), None) or grave.get("state_grows") or next(_growth(window, findings), None)
    found = list(_losses(window, findings, changed))
    return behind or _with_what_is_left(max(found, key=_weight, default=None), window)


def _grave(findings: Sequence[Finding]) -> Iterator[Loss]:
    """What is lost beside time, by findings of the highest level."""
    for finding in findings:
        if finding.rule in GRAVE and finding.level == "high" and finding.explained_by is None:
            yield Loss(kind=GRAVE[finding.rule], says=finding.says, rule=finding.rule)


def _with_what_is_left(loss: Loss | None, window: Window) -> Loss | None:
    """The loss; where it only names a phase, with what the batch leaves of its trigger's interval."""
    interval, batch = _interval(window), _value(window, "trigger_execution_ms")
    slowest = measure(window, "trigger_execution_ms", "p99")
    if loss is None or loss.kind not in NO_CAUSE or not interval or not isinstance(slowest, Estimate):
        return loss
    if slowest.safe > NEARLY_FULL * interval:
        return loss
    left = f"{milliseconds(interval - batch)} of the trigger's {milliseconds(interval)} are left"
    return msgspec.structs.replace(loss, says=f"{loss.says} {_keeps_up(window).format(left=left)}")


def _keeps_up(window: Window) -> str:
    """That the query keeps up, where the sources say that nothing waits; else only what is left."""
    late = _value(window, "over_interval_share") or window.facts.value("falling_behind")
    return "It keeps up: {left}, and no rows wait." if nothing_waits(window) and not late else "{left}."


def _weight(loss: Loss) -> float:
    """Its share; what only names a phase, half of it: nobody can take all of addBatch away."""
    return (loss.share or 0.0) * (IN_GENERAL if loss.kind in NO_CAUSE else 1.0)


def _losses(window: Window, findings: Sequence[Finding], changed: Changed | None) -> Iterator[Loss]:
    """Everything that takes time, shares being of the time from one batch to the next."""
    batch = _value(window, "trigger_execution_ms")
    if not batch:
        return
    held = _value(window, "held_back_interval_ms") if _value(window, "held_back_wait_ms") else 0.0
    cycle, inside = max(batch, held, _interval(window) or 0.0), within_add_batch(window, findings)
    held_up = [*_spikes(window, batch / cycle), *_slow_batches(window, batch / cycle)]
    usual = 1 - sum(loss.share or 0.0 for loss in held_up) / (batch / cycle)  # of all batch time: the usual batches'
    yield from held_up
    yield from [*_held_back(window)] or _interval_wait(window, batch)
    yield from _watermark_wait(window, cycle, findings)
    yield from _slower(window, changed, batch / cycle)
    for part in _typical_parts(window):
        most = inside[0] if inside and part.kind == "add_batch" else None
        named = most if most and most.share >= MOST_OF_ADD_BATCH else part
        says = _says_of_rule(named, findings) if named is most else _says(part, most, batch)
        share, rule = round(usual * named.ms / cycle, 3), most.rule if most and most.share >= LEAST_NAMED else None
        yield Loss(kind=named.kind, says=says, ms=named.ms, share=share, name=named.name, rule=rule)


def _says_of_rule(part: Part, findings: Sequence[Finding]) -> str:
    return next(finding.says for finding in findings if finding.rule == part.rule)


def _says(part: Part, most: Part | None, batch: float) -> str:
    """The sentence on a part of the batch; of addBatch with the most that is known of it."""
    share = f"{100 * part.share:.0f} %"
    whole = with_article(milliseconds(batch))
    says = _SAYS[part.kind].format(part=milliseconds(part.ms), whole=whole, share=share)
    if most is None or most.share < LEAST_NAMED:
        return says
    about = "about" if most.share_at_most is None else "at least"
    return f"{says.partition(':')[0]}, {about} {milliseconds(most.ms)} of it lost to {most.name}."


def _so_many(window: Window, late: float) -> str:
    """How many of the batches are late; of a single one it says nothing more."""
    return f": {100 * late:.0f} % of the batches are late" if len(window) > 1 else ""


def _behind(window: Window) -> Iterator[Loss]:
    """That the query does not keep up."""
    over, share = _value(window, "over_interval_share"), _value(window, "falling_behind_share")
    batch, interval = _value(window, "trigger_execution_ms"), _interval(window)
    if over >= MOSTLY_BEHIND and interval:
        yield _falling(
            f"A batch takes {milliseconds(batch)}, the trigger allows {milliseconds(interval)}{_so_many(window, over)}."
            f"{_nothing_waits(window)}"
        )
    slope = _value(window, "backlog_trend_ms_per_minute")
    if share >= MOSTLY_BEHIND and slope > 0:
        yield _falling(f"The backlog grows: every minute records wait {milliseconds(slope)} longer.")
    yield from _more_files_wait(window)
    busy, of_a_row = _value(window, "utilisation"), milliseconds(_value(window, "add_batch_per_row_ms"))
    one_by_one = ", where a ForeachWriter gets them one by one," if window.facts.value("sink") == "foreach" else ""
    if busy >= OUTPACED and batch >= 1000 and window.facts.value("source") not in BY_BATCH:
        yield _falling(
            f"Rows arrive {busy:.1f} times as fast as they are processed: a batch takes {milliseconds(batch)}, its "
            f"rows arrived in {milliseconds(batch / busy)}; addBatch{one_by_one} takes {of_a_row} per row."
        )
    wait = _value(window, "backlog_wait_ms")
    if wait >= batch and wait >= LEAST_WAIT:
        takes = f"a batch takes {number(median(rows_taken(window)), 'rows')}{_by_a_limit(window)}."
        left = measure(window, "catch_up_ms")
        if files := _value(window, "files_waiting"):
            yield _falling(f"{files:,.0f} files wait in the source, {milliseconds(wait)} of work at the current pace.")
        elif not isinstance(measure(window, "backlog_rows"), Estimate):
            yield _falling(f"The source says that it is {milliseconds(wait)} behind; {takes}")
        elif isinstance(left, Estimate):
            yield _worked_off(window, takes, left)
        elif not _waits_at_end(window):
            rows = number(_value(window, "backlog_rows"), "rows")
            says = f"{rows} waited in the source in the middle of the run, and none after its last batch; {takes}"
            yield Loss(kind="backlog", says=says)
        else:
            rows = number(_value(window, "backlog_rows"), "rows")
            yield _falling(f"{rows} wait in the source, {milliseconds(wait)} of work at the current pace; {takes}")


def _growth(window: Window, findings: Sequence[Finding]) -> Iterator[Loss]:
    """What gets longer all along: it goes before whatever a batch spends its time on today."""
    for finding in findings:
        if finding.rule not in GROWTH or finding.level == "low":
            continue
        fills, interval = fills_interval_ms(window), _interval(window) or 0.0
        full = f" At this pace a batch fills the trigger's {milliseconds(interval)} in {milliseconds(fills or 0)}."
        yield Loss(
            kind="growth",
            says=f"{finding.says}{full if fills else ''}",
            ms=_value(window, GROWTH[finding.rule]),
            rule=finding.rule,
        )


def _more_files_wait(window: Window) -> Iterator[Loss]:
    """That the source's files that wait become more, by Kendall's test."""
    waiting = files_waiting(window)
    if not isinstance(waiting, np.ndarray):
        return
    more, told = trend(passed_ms(window) / 60_000, waiting), known(waiting)
    if isinstance(more, Estimate) and more.low > 0:
        rise = f"{told[0]:,.0f} after the first batch, {told[-1]:,.0f} after the last"
        yield _falling(f"More and more files wait in the source: {rise}, about {more.safe:,.0f} more a minute.")


def _worked_off(window: Window, takes: str, left: Estimate) -> Loss:
    """A backlog that shrinks: what waits at the end, and for how long it will."""
    says = f"{number(_waits_at_end(window), 'rows')} still wait in the source; {takes} They will be gone in about "
    return Loss(kind="backlog", says=f"{says}{milliseconds(left.safe)}, if no more come than came until now.")


def _waits_at_end(window: Window) -> float:
    """The rows that wait after the last batch."""
    return float(window.sources["backlog_rows"][window.sources["batch"] == len(window) - 1].sum())


def _by_a_limit(window: Window) -> str:
    """That a limit holds the batches, where the source takes all that is there but for one."""
    return ", as a limit of the source has it" if window.facts.value("source") == "kafka" else ""


def nothing_waits(window: Window) -> bool:
    """Whether the sources say that no batch left rows behind."""
    waits = measure(window, "backlog_rows", "p99")
    return isinstance(waits, Estimate) and waits.high == 0


def _nothing_waits(window: Window) -> str:
    """That late batches leave no rows behind, where the sources say so."""
    return " No rows pile up in the source." if nothing_waits(window) else ""


def _falling(says: str) -> Loss:
    return Loss(kind="falling_behind", says=says)


def _spikes(window: Window, busy: float) -> Iterator[Loss]:
    found = rhythm(window)
    excess = _value(window, "spike_excess_share")
    if not isinstance(found, Rhythm) or excess < LEAST_SPIKES:
        return
    slow = window.batches["trigger_execution_ms"][found.slow]
    low, high = (milliseconds(quantile(slow, at)) for at in (0.1, 0.9))
    takes = low if low == high else f"{low} to {high}"
    yield Loss(
        kind="spikes",
        says=f"Every {found.every}{_ending(found.every)} batch takes {takes} instead of "
        f"{milliseconds(_value(window, 'spike_rest_ms'))}: {100 * _value(window, 'spike_time_share'):.0f} % of all "
        f"batch time.{_due(found.every, window)}",
        ms=_value(window, "spike_excess_ms"),
        share=_value(window, "spike_time_share") * busy,
    )


def _due(every: int, window: Window) -> str:
    """What is due in every tenth batch, by what the query writes; nobody saw it at work."""
    if every != COMPACTED_EVERY:
        return ""
    if window.facts.value("writes_delta"):
        return " Delta writes a checkpoint of its log after every 10th commit."
    return " A file sink compacts its log in every 10th batch." if window.facts.value("sink") == "file" else ""


def _ending(ordinal: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(ordinal % 10 if ordinal % 100 not in (11, 12, 13) else 0, "th")


def _slow_batches(window: Window, busy: float) -> Iterator[Loss]:
    """Batches that are slow without a rhythm."""
    duration = known(window.batches["trigger_execution_ms"])
    usual = median(duration)
    slow = duration[duration >= SLOW_FACTOR * usual] if usual > 0 else duration[:0]
    if isinstance(rhythm(window), Rhythm) or not len(slow):
        return
    excess = float((slow - usual).sum())
    pattern = "" if len(slow) == 1 else ", without a pattern"
    one = "1 slow batch takes" if len(slow) == 1 else f"{len(slow):,} slow batches of {len(duration):,} take"
    yield Loss(
        kind="slow_batches",
        says=f"{one} {milliseconds(median(slow))} instead of {milliseconds(usual)}{pattern}: "
        f"{100 * slow.sum() / duration.sum():.0f} % of all batch time.",
        ms=excess / len(duration),
        share=excess / float(duration.sum()) * busy,
    )


def _held_back(window: Window) -> Iterator[Loss]:
    """That triggers which find rows run no batch, as long as they are too few."""
    wait, apart = _value(window, "held_back_wait_ms"), _value(window, "held_back_interval_ms")
    if wait < LEAST_WAIT / 2:
        return
    least = fact_number(window, "min_offsets_per_trigger")
    enough = number(least, "rows") if least else "enough"
    says = (
        f"A batch starts only every {milliseconds(apart)}: triggers in between find rows in Kafka and leave them, "
        f"until there are {enough} (minOffsetsPerTrigger) or maxTriggerDelay, by default 15 min, has passed. A batch "
        f"itself takes {milliseconds(_value(window, 'trigger_execution_ms'))}."
    )
    yield Loss(kind="held_back", says=says, ms=2 * wait, share=min(1.0, 2 * wait / apart))


def _interval_wait(window: Window, batch: float) -> Iterator[Loss]:
    """What the trigger's interval is longer than the batch, where nobody said that it is wanted."""
    interval = _interval(window)
    if not interval or interval <= batch or not _value(window, "unwanted_interval_wait_ms"):
        return
    likely = "likely " if window.facts["trigger_interval_ms"].origin == "inferred" else ""
    yield Loss(
        kind="interval",
        says=f"A batch takes {milliseconds(batch)}, and the trigger {likely}starts one only every "
        f"{milliseconds(interval)}: "
        f"records wait for the trigger.{_otherwise(window, interval)}",
        ms=interval - batch,
        share=(interval - batch) / interval,
    )


def long_watermark_wait_ms(window: Window) -> float:
    """What the watermark lies behind the newest event, where results of windows may wait for it; 0 if it is short."""
    behind = watermark_wait_ms(window)
    short = behind < max(LONG_WAIT_MS, LONG_WAIT * _value(window, "trigger_execution_ms"))
    return 0.0 if short or waits_for_watermark(window) is False else behind


def _watermark_wait(window: Window, cycle: float, findings: Sequence[Finding]) -> Iterator[Loss]:
    """That results wait for the watermark far longer than for any batch."""
    behind = long_watermark_wait_ms(window)
    if not behind or not waits_for_watermark(window):
        return
    yield Loss(
        kind="watermark",
        says=f"A window's result waits until the watermark ({milliseconds(behind)} behind the newest event) has passed "
        f"the window's end. A batch takes {milliseconds(_value(window, 'trigger_execution_ms'))}.",
        ms=behind,
        share=round(behind / (behind + cycle), 3),
        rule=next((finding.rule for finding in findings if finding.rule == "ST016"), None),
    )


def _otherwise(window: Window, interval: float) -> str:
    """That nothing else is wrong, where no batch comes near the interval and nothing is known to wait."""
    slowest, waits = measure(window, "trigger_execution_ms", "p99"), _value(window, "backlog_rows")
    short = isinstance(slowest, Estimate) and slowest.safe <= NEARLY_FULL * interval
    return " Otherwise it keeps up." if short and not waits and not window.facts.value("falling_behind") else ""


def _slower(window: Window, changed: Changed | None, busy: float) -> Iterator[Loss]:
    """What a batch takes longer than before, at the same load."""
    if changed is None or not slower(changed):
        return
    old, new = medians(changed)
    rows = [side.metrics.get("input_rows", {}).get("p50") for side in (changed.before, changed.after)]
    if None in rows or max(rows) > SAME_LOAD * max(1.0, min(rows)):  # type: ignore[type-var, operator]
        return
    yield Loss(
        kind="slower_than_before",
        says=f"The median batch takes {milliseconds(new)}, it took {milliseconds(old)} before, at the same load "
        f"({number(median(rows_taken(window)), 'rows')}).",
        ms=new - old,
        share=(new - old) / new * busy,
    )


def within_add_batch(window: Window, findings: Sequence[Finding]) -> list[Part]:
    """What of a typical addBatch is a loss by one of these findings, the largest first, with its share of addBatch."""
    whole = _value(window, "add_batch_ms")
    found: dict[str, Part] = {}
    for finding in findings if whole else ():
        metric, ms = _time_of(finding, window)
        if metric == "add_batch_ms" or set(METRICS[metric].phases) != {"add_batch_ms"} or ms.safe < LEAST_PART * whole:
            continue
        share, most = (round(min(1.0, value / whole), 3) for value in (ms.safe, ms.high))
        at_most = most if ms.value is None and most > share else None
        name, told = label(metric), round(min(ms.safe, whole), 3)
        part = Part("within_add_batch", told, share, share_at_most=at_most, name=name, rule=finding.rule)
        found.setdefault(name, part)
    return sorted(found.values(), key=lambda part: -part.ms)


def _time_of(finding: Finding, window: Window) -> tuple[str, Estimate]:
    """(the metric in milliseconds that the finding speaks of, its value per batch); 0 where it speaks of none."""
    if finding.rule in _MS_OF_RULE:
        return _MS_OF_RULE[finding.rule], _known(measure(window, _MS_OF_RULE[finding.rule]))
    measured = finding.measure
    part = METRICS[measured.metric].part if measured else None
    if measured is None or part is None:
        return "add_batch_ms", _NOTHING
    return part.name, part_ms(measured.metric, measured.stat, window) or _NOTHING


def _typical_parts(window: Window) -> list[Part]:
    """The parts of a typical batch."""
    batch = _value(window, "trigger_execution_ms")
    inside = window.middle
    parts = {kind: _mean(summed(window, columns)[inside]) for kind, columns in _GROUPS.items()}
    parts[_rest(window)] = parts.get(_rest(window), 0.0) + _value(window, "unaccounted_ms")
    return _told(parts, batch)


def goes_to(window: Window) -> list[Part]:
    """All batch time by where it goes: batches that are slow in a rhythm, and the parts of the others.

    Nothing of real-time mode, whose batches last as long as they are told to.
    """
    if not len(window) or window.facts.value("trigger") == "real_time":
        return []
    found = rhythm(window)
    duration = window.batches["trigger_execution_ms"]
    others = ~found.slow if isinstance(found, Rhythm) else ~np.isnan(duration)
    if not isinstance(found, Rhythm):
        others &= window.middle
    whole = float(np.nansum(duration if isinstance(found, Rhythm) else duration[others]))
    count = len(window) if isinstance(found, Rhythm) else max(1, int(others.sum()))
    parts = {kind: float(np.nansum(summed(window, columns)[others])) for kind, columns in _GROUPS.items()}
    parts["other"] += float(np.nansum(window.batches["other_phases_ms"][others]))
    parts[_rest(window)] = parts.get(_rest(window), 0.0) + _in_no_phase(window, others)
    if isinstance(found, Rhythm):
        parts["spikes"] = float(np.nansum(duration[found.slow]))
    return _told({kind: ms / count for kind, ms in parts.items()}, whole / count)


def _in_no_phase(window: Window, counted: np.ndarray) -> float:
    """The time of these batches in no phase, all of them together; nothing of those that somebody shortened."""
    told = counted & ~shortened(window.batches)
    named = summed(window, tuple(PHASES)) + window.batches["other_phases_ms"]
    return max(0.0, float(np.nansum((window.batches["trigger_execution_ms"] - named)[told])))


def _rest(window: Window) -> LossKind:
    """What the time in no phase is: before Spark 3.4 mostly the commit log's."""
    return "logs" if hides_commit_log(window) else "unaccounted"


def _told(parts: dict[LossKind, float], whole: float) -> list[Part]:
    if not whole > 0:
        return []
    found = [Part(kind=kind, ms=round(ms, 1), share=round(ms / whole, 4)) for kind, ms in parts.items()]
    return sorted((part for part in found if part.share >= LEAST_PART), key=lambda part: -part.ms)


def _mean(values: np.ndarray) -> float:
    told = known(values)
    return float(told.mean()) if len(told) else 0.0


def _interval(window: Window) -> float | None:
    """The interval of the trigger, where it has one."""
    fixed = window.facts.value("trigger") == "processing_time"
    return fact_number(window, "trigger_interval_ms") if fixed else None


def _value(window: Window, name: str) -> float:
    """A typical number of the window, what is sure of it; 0 where it is not known."""
    return _known(measure(window, name)).safe


def _known(value: Estimate | Missing) -> Estimate:
    return value if isinstance(value, Estimate) and np.isfinite(value.safe) else _NOTHING
