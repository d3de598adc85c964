"""What a query loses first: rows, results, its pace, or most of its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from advisor.contract import Changed, Finding, Loss, LossKind, Part
from advisor.metrics import Estimate, measure, sure
from advisor.metrics.drift import fills_interval_ms
from advisor.metrics.flow import SAME_LOAD, rows_taken
from advisor.metrics.latency import waits_for_watermark, watermark_wait_ms
from advisor.metrics.numbers import fact_number, fixed_interval_ms, known, median, quantile
from advisor.metrics.spikes import Rhythm, rhythm
from advisor.metrics.words import milliseconds, number, with_article
from advisor.report.behind import LEAST_WAIT, behind, nothing_waits
from advisor.report.change import medians, slower
from advisor.report.mean_wait import mean_wait
from advisor.report.parts import typical_parts, within_add_batch
from advisor.window import Window

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
    too_slow = next(behind(window), None) or grave.get("state_grows") or next(_growth(window, findings), None)
    found = list(_losses(window, findings, changed))
    return too_slow or _with_mean_wait(_with_what_is_left(max(found, key=_weight, default=None), window), window)


def _grave(findings: Sequence[Finding]) -> Iterator[Loss]:
    """What is lost beside time, by findings of the highest level."""
    for finding in findings:
        if finding.rule in GRAVE and finding.level == "high" and finding.explained_by is None:
            yield Loss(kind=GRAVE[finding.rule], says=finding.says, rule=finding.rule)


def _with_what_is_left(loss: Loss | None, window: Window) -> Loss | None:
    """The loss; where it only names a phase, with what the batch leaves of its trigger's interval."""
    interval, batch = fixed_interval_ms(window), sure(window, "trigger_execution_ms")
    slowest = measure(window, "trigger_execution_ms", "p99")
    if loss is None or loss.kind not in NO_CAUSE or not interval or not isinstance(slowest, Estimate):
        return loss
    if slowest.safe > NEARLY_FULL * interval:
        return loss
    left = f"{milliseconds(interval - batch)} of the trigger's {milliseconds(interval)} are left"
    return msgspec.structs.replace(loss, says=f"{loss.says} {_keeps_up(window).format(left=left)}")


def _with_mean_wait(loss: Loss | None, window: Window) -> Loss | None:
    """The loss; of a part of the batch with what a record waits for its trigger, where that is more than the batch."""
    wait = mean_wait(window) if loss is not None and loss.kind in _SAYS else ""
    return msgspec.structs.replace(loss, says=f"{loss.says} {wait}") if loss is not None and wait else loss


def _keeps_up(window: Window) -> str:
    """That the query keeps up, where the sources say that nothing waits; else only what is left."""
    late = sure(window, "over_interval_share") or window.facts.value("falling_behind")
    return "It keeps up: {left}, and no rows wait." if nothing_waits(window) and not late else "{left}."


def _weight(loss: Loss) -> float:
    """Its share; what only names a phase, half of it: nobody can take all of addBatch away."""
    return (loss.share or 0.0) * (IN_GENERAL if loss.kind in NO_CAUSE else 1.0)


def _losses(window: Window, findings: Sequence[Finding], changed: Changed | None) -> Iterator[Loss]:
    """Everything that takes time, shares being of the time from one batch to the next."""
    batch = sure(window, "trigger_execution_ms")
    if not batch:
        return
    held = sure(window, "held_back_interval_ms") if sure(window, "held_back_wait_ms") else 0.0
    cycle, inside = max(batch, held, fixed_interval_ms(window) or 0.0), within_add_batch(window, findings)
    held_up = [*_spikes(window, batch / cycle), *_slow_batches(window, batch / cycle)]
    usual = 1 - sum(loss.share or 0.0 for loss in held_up) / (batch / cycle)  # of all batch time: the usual batches'
    yield from held_up
    yield from [*_held_back(window)] or _interval_wait(window, batch)
    yield from _watermark_wait(window, cycle, findings)
    yield from _slower(window, changed, batch / cycle)
    for part in typical_parts(window):
        most = inside[0] if inside and part.kind == "add_batch" else None
        named = most if most and most.share >= MOST_OF_ADD_BATCH else part
        says = _says_of_rule(named, findings) if named is most else _says(part, most, batch, _least(part, window))
        share, rule = round(usual * named.ms / cycle, 3), most.rule if most and most.share >= LEAST_NAMED else None
        yield Loss(kind=named.kind, says=says, ms=named.ms, share=share, name=named.name, rule=rule)


def _says_of_rule(part: Part, findings: Sequence[Finding]) -> str:
    return next(finding.says for finding in findings if finding.rule == part.rule)


def _least(part: Part, window: Window) -> float:
    """The milliseconds that are surely this part's: before Spark 3.4 the commit log only may be what no phase names."""
    logs = measure(window, "offset_log_ms") if part.kind == "logs" else None
    return min(part.ms, logs.safe) if isinstance(logs, Estimate) else part.ms


def _says(part: Part, most: Part | None, batch: float, least: float) -> str:
    """The sentence on a part of the batch; of addBatch with the most that is known of it."""
    ms, share = milliseconds(part.ms), f"{100 * part.share:.0f} %"
    if milliseconds(least) != ms:
        ms, share = f"{milliseconds(least)} to {ms}", f"{100 * least / batch:.0f} to {share}"
    says = _SAYS[part.kind].format(part=ms, whole=with_article(milliseconds(batch)), share=share)
    if most is None or most.share < LEAST_NAMED:
        return says
    about = "about" if most.share_at_most is None else "at least"
    return f"{says.partition(':')[0]}, {about} {milliseconds(most.ms)} of it lost to {most.name}."


def _growth(window: Window, findings: Sequence[Finding]) -> Iterator[Loss]:
    """What gets longer all along: it goes before whatever a batch spends its time on today."""
    for finding in findings:
        if finding.rule not in GROWTH or finding.level == "low":
            continue
        fills, interval = fills_interval_ms(window), fixed_interval_ms(window) or 0.0
        full = f" At this pace a batch fills the trigger's {milliseconds(interval)} in {milliseconds(fills or 0)}."
        yield Loss(
            kind="growth",
            says=f"{finding.says}{full if fills else ''}",
            ms=sure(window, GROWTH[finding.rule]),
            rule=finding.rule,
        )


def _spikes(window: Window, busy: float) -> Iterator[Loss]:
    found = rhythm(window)
    excess = sure(window, "spike_excess_share")
    if not isinstance(found, Rhythm) or excess < LEAST_SPIKES:
        return
    slow = window.batches["trigger_execution_ms"][found.slow]
    low, high = (milliseconds(quantile(slow, at)) for at in (0.1, 0.9))
    takes = low if low == high else f"{low} to {high}"
    yield Loss(
        kind="spikes",
        says=f"Every {found.every}{_ending(found.every)} batch takes {takes} instead of "
        f"{milliseconds(sure(window, 'spike_rest_ms'))}: {100 * sure(window, 'spike_time_share'):.0f} % of all "
        f"batch time.{_due(found.every, window)}",
        ms=sure(window, "spike_excess_ms"),
        share=sure(window, "spike_time_share") * busy,
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
    wait, apart = sure(window, "held_back_wait_ms"), sure(window, "held_back_interval_ms")
    if wait < LEAST_WAIT / 2:
        return
    least = fact_number(window, "min_offsets_per_trigger")
    enough = number(least, "rows") if least else "enough"
    says = (
        f"A batch starts only every {milliseconds(apart)}: triggers in between find rows in Kafka and leave them, "
        f"until there are {enough} (minOffsetsPerTrigger) or maxTriggerDelay, by default 15 min, has passed. A batch "
        f"itself takes {milliseconds(sure(window, 'trigger_execution_ms'))}."
    )
    yield Loss(kind="held_back", says=says, ms=2 * wait, share=min(1.0, 2 * wait / apart))


def _interval_wait(window: Window, batch: float) -> Iterator[Loss]:
    """What the trigger's interval is longer than the batch, where nobody said that it is wanted.

    That is most of the time from one batch to the next, and so more than any loss inside the batch.
    """
    interval = fixed_interval_ms(window)
    if not interval or interval <= batch or not sure(window, "unwanted_interval_wait_ms"):
        return
    likely = "likely " if window.facts["trigger_interval_ms"].origin == "inferred" else ""
    yield Loss(
        kind="interval",
        says=f"A batch takes {milliseconds(batch)}, and the trigger {likely}starts one only every "
        f"{milliseconds(interval)}: records wait {milliseconds(interval / 2)} for it on average. A shorter interval "
        f"costs more batches.{_otherwise(window, interval)}",
        ms=interval - batch,
        share=(interval - batch) / interval,
    )


def long_watermark_wait_ms(window: Window) -> float:
    """What the watermark lies behind the newest event, where results of windows may wait for it; 0 if it is short."""
    behind = watermark_wait_ms(window)
    short = behind < max(LONG_WAIT_MS, LONG_WAIT * sure(window, "trigger_execution_ms"))
    return 0.0 if short or waits_for_watermark(window) is False else behind


def keeps_old_state(window: Window) -> bool:
    """Whether a watermark far behind may be what keeps the state: rows of it are told, and that none was removed."""
    held, removed = window.operators["rows_total"], window.operators["rows_removed"]
    return bool(long_watermark_wait_ms(window) and (held > 0).any() and (removed == 0).all())


def _watermark_wait(window: Window, cycle: float, findings: Sequence[Finding]) -> Iterator[Loss]:
    """That results wait for the watermark far longer than for any batch."""
    behind = long_watermark_wait_ms(window)
    if not behind or not waits_for_watermark(window):
        return
    yield Loss(
        kind="watermark",
        says=f"A window's result waits until the watermark ({milliseconds(behind)} behind the newest event) has passed "
        f"the window's end. A batch takes {milliseconds(sure(window, 'trigger_execution_ms'))}.",
        ms=behind,
        share=round(behind / (behind + cycle), 3),
        rule=next((finding.rule for finding in findings if finding.rule == "ST016"), None),
    )


def _otherwise(window: Window, interval: float) -> str:
    """That nothing else is wrong, where no batch comes near the interval and nothing is known to wait."""
    slowest, waits = measure(window, "trigger_execution_ms", "p99"), sure(window, "backlog_rows")
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
