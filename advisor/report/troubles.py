"""What is not well besides the largest loss, and what looks odd and is as it should be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from advisor.batches import in_part
from advisor.contract import Changed, Finding, Loss, LossKind
from advisor.facts import is_older
from advisor.metrics import Estimate, measure, sure
from advisor.metrics.fetch import rows_per_partition
from advisor.metrics.flow import rows_taken
from advisor.metrics.numbers import fact_number, fixed_interval_ms, median
from advisor.metrics.words import milliseconds, number
from advisor.progress import AT_BYTE, INPUT_RATE
from advisor.report.behind import BY_BATCH
from advisor.report.change import hardly_longer, slower
from advisor.report.judged import Judged
from advisor.report.loss import GRAVE, GROWTH, NEARLY_FULL, NO_CAUSE, long_watermark_wait_ms
from advisor.report.unjudged import untold_partitions
from advisor.report.verdict import FEWEST_BATCHES
from advisor.window import Window

UNEVEN = 3.0  # p99 of the batches over p50
LONG_MS, MOST = 1000.0, 0.5  # an addBatch that is worth a word, and most of the batch
OUTPACED = 1.1  # times as fast as they are processed: rows of a batch that leaves more to the next one
_TOLD_IN_SHORT = ("TR007",)
"""Rules whose findings have a shorter sentence here."""
_LIMITED = ("TR012", "SR012")
"""The rules by which rows or files likely wait that nobody counted."""
_GENERAL: dict[LossKind, str] = {"discovery": "SR001"}
"""Rules that say of a phase that it is long; one that explains it names the cause."""
FEW_EMPTY, NO_ROWS = 0.2, 0.9  # of the batches; rows of the offsets: what is less is worth a word
_TOO_LONG: tuple[LossKind, ...] = ("falling_behind", "backlog")
"""Losses that say that batches take too long, and not why."""
LOPSIDED = 5.0  # times the rows of the others: one task then decides how long the stage takes
FEW_PARTITIONS = 16  # of Kafka: more are seldom what bounds a query


def troubles(judged: Judged, changed: Changed | None, loss: Loss | None) -> list[str]:
    """What is not well besides the loss, a sentence each, the gravest first."""
    window, findings = judged.window, judged.judgement.findings
    if not len(window):  # what needs no steady batch
        told = [finding.says for finding in findings if finding.explained_by is None]
        return told[window.facts.value("terminated_error") is not None :]  # the verdict has the error and the gravest
    own = [finding for finding in findings if finding.explained_by is None and not (loss and finding.rule == loss.rule)]
    seen = [finding.says for finding in own if finding.measure is None or not finding.steps]
    grave = [finding.says for finding in own if finding.rule in (*GRAVE, *_LIMITED) and finding.level != "low"]
    grave += [finding.says for finding in own if finding.rule.startswith("CF")]  # what somebody counts on does nothing
    seen += [finding.says for finding in own if finding.rule in (*GRAVE, *GROWTH)]
    causes = [*_what_explains(findings, loss), *_in_general_words(findings, loss)]
    seen = [*dict.fromkeys([*causes, *seen])]
    if window.facts.value("trigger") == "real_time":
        return seen
    said = loss.kind if loss else None
    readers = (
        [] if causes else [*_largest_partition(window), *_readers(window), *_untold_partitions(window)]
    )  # few readers are a guess beside a cause that was found
    told = [words for kinds, words in _troubles(window, changed) if said not in kinds]
    if changed is not None and AT_BYTE in judged.run.run_id:
        told += hardly_longer(changed)
    return list(dict.fromkeys([*grave, *_perhaps_first(window), *told, *readers, *seen]))


def _what_explains(findings: Sequence[Finding], loss: Loss | None) -> Iterator[str]:
    """What the finding says by which that of the loss is explained: it names the cause, and often the step."""
    rule = None if loss is None else loss.rule or _GENERAL.get(loss.kind)
    by = {finding.explained_by for finding in findings if finding.rule == rule}
    yield from (finding.says for finding in findings if finding.rule in by)


def _in_general_words(findings: Sequence[Finding], loss: Loss | None) -> list[str]:
    """What the gravest finding says, where the loss is but the name of a phase, or that batches take too long."""
    if loss is None or loss.kind not in (*NO_CAUSE, *_TOO_LONG, "growth"):
        return []
    graver = [
        finding
        for finding in findings
        if finding.explained_by is None
        and not (loss.kind == "growth" and finding.rule == loss.rule)
        and finding.level != "low"
        and not (loss.kind in _TOO_LONG and _of_pace(finding))
    ]
    if not graver or graver[0].rule in (loss.rule, *_TOLD_IN_SHORT):
        return []
    return [graver[0].says]


def _of_pace(finding: Finding) -> bool:
    """Whether it says that batches take too long, and not why."""
    return finding.rule.startswith("TR")


def _troubles(window: Window, changed: Changed | None) -> Iterator[tuple[tuple[LossKind, ...], str]]:
    """(losses that say the same, the sentence)."""
    over = measure(window, "over_interval_share")
    if window.facts.value("falling_behind") and not (isinstance(over, Estimate) and not over.safe):
        yield ("falling_behind",), "Spark said that batches outlast the trigger interval."
    excess = measure(window, "latency_target_excess_ms")
    if isinstance(excess, Estimate) and excess.safe > 0:
        yield (), f"The p99 of the record latency is {milliseconds(excess.safe)} above its target."
    yield from ((("falling_behind", "growth"), words) for words in _nearly_full(window))
    yield from ((("spikes", "slow_batches"), words) for words in _uneven(window))
    yield from ((("falling_behind",), words) for words in _outpaced(window))
    if behind := long_watermark_wait_ms(window):
        yield (
            ("watermark",),
            f"The watermark lies {milliseconds(behind)} behind the newest event: in append mode results of windows "
            "wait for it, and the state of that time is kept.",
        )
    if changed is not None and slower(changed):
        yield ("slower_than_before",), f"{changed.says.partition(';')[0].rstrip('.')}."


def _nearly_full(window: Window) -> Iterator[str]:
    interval, batch = fixed_interval_ms(window), measure(window, "trigger_execution_ms")
    if not interval or not isinstance(batch, Estimate):
        return
    if batch.safe > NEARLY_FULL * interval:
        left = max(0.0, interval - batch.safe)
        yield (
            f"A batch takes {milliseconds(batch.safe)} of its trigger's {milliseconds(interval)}: {milliseconds(left)} "
            "are left."
        )


def _readers(window: Window) -> Iterator[str]:
    """How few tasks read each batch, where the batch is long."""
    add_batch, share = measure(window, "add_batch_ms"), measure(window, "add_batch_share")
    if not isinstance(add_batch, Estimate) or not isinstance(share, Estimate):
        return
    count, slots = fact_number(window, "kafka_partitions"), fact_number(window, "task_slots")
    few = count is not None and count <= FEW_PARTITIONS and (slots is None or count < slots)
    waves = math.ceil(count / slots) if count and slots else 1
    one_source = window.facts.value("source") == "kafka" and window.facts.value("trigger") != "real_time"
    if count is None or not (few or waves > 1) or not one_source or add_batch.safe < LONG_MS or share.safe < MOST:
        return
    if waves > 1:
        yield f"{count:.0f} partitions of Kafka are read, and {slots:.0f} tasks run at once: {waves} waves of tasks."
        return
    unless = "" if _before_min_partitions(window) else ", unless minPartitions is set"
    if count == 1:
        yield f"One partition of Kafka is read: one task reads each batch{unless}."
    else:
        yield f"{count:.0f} partitions of Kafka are read: no more than {count:.0f} tasks read each batch{unless}."


def _largest_partition(window: Window) -> Iterator[str]:
    """That one partition of Kafka holds most rows, where the batch is long."""
    add_batch, ratio = measure(window, "add_batch_ms"), median(rows_per_partition(window))
    if isinstance(add_batch, Estimate) and add_batch.safe >= LONG_MS and ratio >= LOPSIDED:
        yield f"The largest partition of Kafka holds {ratio:.0f} times the rows of the others, and one task reads it."


def _untold_partitions(window: Window) -> Iterator[str]:
    """How many partitions state has by default, where a long batch of few rows does not tell how many it has."""
    add_batch, share = measure(window, "add_batch_ms"), measure(window, "add_batch_share")
    if not isinstance(add_batch, Estimate) or not isinstance(share, Estimate):
        return
    rows = median(rows_taken(window))
    words = untold_partitions(window, window, rows)
    if words and add_batch.safe >= LONG_MS and share.safe >= MOST:
        yield f"{words}: the usual cause of a long batch of {number(rows, 'rows')}."


def _perhaps_first(window: Window) -> Iterator[str]:
    """That what was judged may be the first batch after a start: its record lacks the rate that such a one lacks."""
    if len(window) < FEWEST_BATCHES and in_part(window.executed, INPUT_RATE)[0]:
        which = "This" if len(window) == 1 else "The first of these"
        yield (
            f"{which} may be the first batch after a start, and cold: Spark leaves {INPUT_RATE} out of that "
            "one's record, and this record lacks it."
        )


def _before_min_partitions(window: Window) -> bool:
    """Whether this Spark is older than 3.0, for which minPartitions was not tried."""
    return is_older(window.facts.value("spark_version"), window.facts.value("spark_version_below"), "3.0")


def _outpaced(window: Window) -> Iterator[str]:
    """That rows came faster than a few batches process them: many would show whether it lasts."""
    if outpaced(window):
        busy = sure(window, "utilisation")
        yield f"Rows came {busy:.2g} times as fast as they were processed: if that lasts, the query falls behind."


def outpaced(window: Window) -> bool:
    """Whether rows came faster than a few long batches process them."""
    if window.facts.value("source") in BY_BATCH or len(window) >= FEWEST_BATCHES:
        return False
    return sure(window, "utilisation") >= OUTPACED and sure(window, "trigger_execution_ms") >= LONG_MS


def harmless(window: Window) -> list[str]:
    """What looks odd and is as it should be: offsets of Kafka that are no rows."""
    if window.facts.value("source") != "kafka":
        return []
    ran, why = window.executed, "markers of transactions and compacted records have offsets, too. No row is lost by it"
    empty = (ran["input_rows"] == 0) & ran["moved"]
    told = []
    if empty.sum() >= FEW_EMPTY * max(1, len(ran)):
        each = milliseconds(median(ran["trigger_execution_ms"][empty]))
        told.append(f"{empty.sum():,} of {len(ran):,} batches took offsets and no row: {why}; each costs {each}.")
    factor = measure(window, "reread_factor", "p50")
    if isinstance(factor, Estimate) and 0 < factor.safe <= NO_ROWS:
        told.append(f"Only {100 * factor.safe:.0f} % of Kafka's offsets were rows: {why}.")
    return told[:1]


def _uneven(window: Window) -> Iterator[str]:
    usual, slowest = (measure(window, "trigger_execution_ms", stat) for stat in ("p50", "p99"))
    if len(window) < FEWEST_BATCHES or not isinstance(usual, Estimate) or not isinstance(slowest, Estimate):
        return
    if slowest.safe >= UNEVEN * usual.safe > 0:
        yield f"The slowest batches take {milliseconds(slowest.safe)}, the median one {milliseconds(usual.safe)}."
