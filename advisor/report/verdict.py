"""The report on one run in one sentence, and the step that it should take first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from advisor.batches import Batches
from advisor.contract import Advice, BestStep, Calm, Changed, Finding, Loss, LossKind, Promise
from advisor.facts import is_older
from advisor.metrics import Estimate, measure
from advisor.metrics.fetch import rows_per_partition
from advisor.metrics.files import files_waiting
from advisor.metrics.flow import rows_taken
from advisor.metrics.numbers import any_above_zero, fact_number, known, median
from advisor.metrics.words import milliseconds, number
from advisor.report.change import slower
from advisor.report.judged import Judged
from advisor.report.loss import BY_BATCH, GRAVE, GROWTH, NEARLY_FULL, NO_CAUSE, long_watermark_wait_ms
from advisor.report.pace import NOT_TOLD, pace, undivided
from advisor.report.unjudged import first_batch, idle, without_rows
from advisor.window import Window

FEWEST_BATCHES = 10  # for a number in the verdict to stand without its count
NOTHING_TO_CHANGE = "This log shows nothing that needs a change."
UNEVEN = 3.0  # p99 of the batches over p50
BY_DEFAULT, FEW_ROWS = 200, 10  # spark.sql.shuffle.partitions; rows for each that are next to none
LONG_MS, MOST = 1000.0, 0.5  # an addBatch that is worth a word, and most of the batch
OUTPACED = 1.1  # times as fast as they are processed: rows of a batch that leaves more to the next one
_TOLD_IN_SHORT = ("TR007",)
"""Rules whose findings have a shorter sentence here."""
_LIMITED = "TR012"
"""The rule by which rows likely wait that nobody counted."""
_GENERAL: dict[LossKind, str] = {"discovery": "SR001"}
"""Rules that say of a phase that it is long; one that explains it names the cause."""
_OF_DEATH = ("ER001", "LG005")
"""Rules that speak of what a query died of: that comes before whatever its batches take."""
FEW_EMPTY, NO_ROWS = 0.2, 0.9  # of the batches; rows of the offsets: what is less is worth a word
_MANY_UNKNOWN = 2  # facts that a sentence can name
_FIRST_BATCH_RUNS = "Spark reports a batch once it has ended: the first one may still have run when this was written."
_TOO_LONG: tuple[LossKind, ...] = ("falling_behind", "backlog")
"""Losses that say that batches take too long, and not why."""
LOPSIDED = 5.0  # times the rows of the others: one task then decides how long the stage takes
FEW_PARTITIONS = 16  # of Kafka: more are seldom what bounds a query


LITTLE = 0.25
"""Of the largest loss: a step that saves less per batch does not stand before a look at the loss itself."""
WEAKER = 0.8
"""What a saving counts for that has a price in what the query guarantees: one nearly as large without comes first."""


def best_step(findings: Sequence[Finding], loss: Loss | None = None) -> BestStep | None:
    """Of all steps that Spark takes, what saves a record most; a new checkpoint only where nothing else helps.

    Never one that loses the state for a gain that nobody has a number for, nor one that is made for a platform or a
    source that may be another: there it does nothing, ends the query, or moves files away. Where rows are lost, or the
    state grows without end, only what helps against that; and where all savings that were measured are little beside
    what one part of addBatch takes, what may save that part.
    """
    asked = [finding for finding in findings if loss is not None and finding.rule == loss.rule in GRAVE] or findings
    offers = [(finding, step) for finding in asked for step in finding.steps if _may_be_first(step)]
    if not offers:
        return None
    offers = _against(loss, offers) or offers
    finding, step = min(offers, key=lambda offer: (offer[0].rule not in _OF_DEATH, _preference(offer[1])))
    return BestStep(rule=finding.rule, step=step.id, title=finding.title, advice=step)


def _against(loss: Loss | None, offers: Sequence[tuple[Finding, Advice]]) -> list[tuple[Finding, Advice]]:
    """Where nothing is expected to save a worthwhile part of the loss: what may, else what its own rule offers."""
    if loss is None or loss.ms is None or loss.rule is None:
        return []
    worthwhile = LITTLE * loss.ms
    promised = [(offer, promise) for offer in offers if (promise := offer[1].saves_ms) is not None]
    if any(_worth(step, promise) >= worthwhile for (_, step), promise in promised):
        return []
    may = [offer for offer, promise in promised if promise.expected is None and promise.high >= worthwhile]
    return may or [offer for offer in offers if offer[0].rule == loss.rule]


def _may_be_first(step: Advice) -> bool:
    return step.legal != "no" and not step.untold_kinds and (step.takes != "new_checkpoint" or _promises(step))


def _promises(step: Advice) -> bool:
    promise = felt(step)
    return promise is not None and promise.high >= 1


def felt(step: Advice) -> Promise | None:
    """What the step promises of a record's latency, else of the batch."""
    return step.saves_latency_ms or step.saves_ms


def _preference(step: Advice) -> tuple[int, bool, float, float, bool]:
    """What saves something, then a new checkpoint, then what promises nothing; a plain yes before an if."""
    promise = felt(step)
    if promise is None or promise.high < 1:
        return 2, step.legal != "yes", 0.0, 0.0, step.experimental
    tier = int(step.takes == "new_checkpoint")
    return tier, step.legal != "yes", -_worth(step, promise), -promise.high, step.experimental


def _worth(step: Advice, promise: Promise) -> float:
    """What the step is expected to save, as far as what it guarantees weighs."""
    return promise.likely * (1.0 if step.semantics == "unchanged" else WEAKER)


def verdict(
    judged: Judged, best: BestStep | None, loss: Loss | None, others: Sequence[str], calm: Calm | None = None
) -> str:
    """The report on this run in one sentence or two; of a run that died first what it died of.

    `others`: what is not well besides the loss.
    """
    if calm is not None:
        return f"{calm.says} {NOTHING_TO_CHANGE}"
    error = judged.window.facts.value("terminated_error")
    who = f"{judged.died:,} of {judged.runs:,} runs stopped" if judged.died > 1 else "The query stopped"
    died = f"{who} with an error: {str(error).rstrip('.;')}. " if error is not None else ""
    lost = f"{loss.says} " if loss else ""
    return f"{died}{lost}{_advice(judged, best, loss, others, bool(died))}".rstrip()


def _advice(judged: Judged, best: BestStep | None, loss: Loss | None, others: Sequence[str], died: bool) -> str:
    findings = [finding for finding in judged.judgement.findings if finding.explained_by is None]
    if judged.fault is not None:
        return f"This run could not be judged, because of a fault in the advisor: {judged.fault}."
    if not findings:
        return "" if died else _nothing_found(judged, others)
    if best is None and not len(judged.window):
        return _nothing_to_judge(judged)
    if best is None:
        return f"{findings[0].title}. {_without_a_step(findings)}"
    step = best.advice
    if not len(judged.window):
        problem = findings[0].says if died else f"{findings[0].title}."
        return f"{problem} {step.do}{_condition(step)}."
    saving = _saving(step, len(judged.window))
    told = saving or _told_by(loss, best, judged.judgement.findings)
    problem = "" if told else f"{best.title}. "  # a step without a number says too little by itself
    return f"{problem}{step.do}{saving}{_condition(step)}."


def _told_by(loss: Loss | None, best: BestStep, findings: Sequence[Finding]) -> bool:
    """Whether the sentence of the loss already says what the step's rule found."""
    if loss is None:
        return False
    explains = {finding.explained_by for finding in findings if loss.rule and finding.rule == loss.rule}
    of_spikes = loss.kind in ("spikes", "slow_batches") and best.advice.ends_slow_batches
    return of_spikes or loss.rule == best.rule or best.rule in explains


def _saving(step: Advice, batches: int) -> str:
    promise = felt(step.rounded())
    if promise is None or promise.likely < 1:
        return ""
    per = "record" if step.saves_latency_ms else "batch"
    few = f" (judged by {batches} steady {'batch' if batches == 1 else 'batches'} only)"
    return f": about {milliseconds(promise.likely)} less per {per}{few if batches < FEWEST_BATCHES else ''}"


def _without_a_step(findings: Sequence[Finding]) -> str:
    if any(step.legal != "no" for finding in findings for step in finding.steps):
        return "The steps that may help need a new checkpoint, and their gain is not known."
    return "No rule knows a step for this that Spark accepts."


def _condition(step: Advice) -> str:
    if step.legal == "yes":
        return ""
    if len(step.unknown) > _MANY_UNKNOWN:
        return ", once more is known of the query"
    if step.unknown:
        return f", once {' and '.join(step.unknown)} {'is' if len(step.unknown) == 1 else 'are'} known for sure"
    return ", at the price of a new checkpoint" if step.takes == "new_checkpoint" else f", if {step.because}"


def _nothing_found(judged: Judged, others: Sequence[str]) -> str:
    if not len(judged.window):
        return _nothing_to_judge(judged)
    if judged.window.facts.value("trigger") == "real_time":
        return "No rule knows a change that would help. In real-time mode a batch lasts as long as its trigger."
    if undivided(judged.window):
        return f"{' '.join(others) or pace(judged.window)}{f' {NOT_TOLD}' * bool(others)}"
    if others:
        silenced = ", ".join(entry.rule for entry in judged.judgement.suppressed)
        hidden = f" (silenced: {silenced})" if silenced else ""
        return f"{' '.join(others)} No rule knows a step for this{hidden}."
    return f"No rule knows a change that would help{_of_the_interval(judged.window)}."


def troubles(judged: Judged, changed: Changed | None, loss: Loss | None) -> list[str]:
    """What is not well besides the loss, a sentence each, the gravest first."""
    window, findings = judged.window, judged.judgement.findings
    if not len(window):  # what needs no steady batch
        told = [finding.says for finding in findings if finding.explained_by is None]
        return told[window.facts.value("terminated_error") is not None :]  # the verdict has the error and the gravest
    own = [finding for finding in findings if finding.explained_by is None and not (loss and finding.rule == loss.rule)]
    seen = [finding.says for finding in own if finding.measure is None or not finding.steps]
    grave = [finding.says for finding in own if finding.rule in (*GRAVE, _LIMITED) and finding.level != "low"]
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
    return list(dict.fromkeys([*grave, *told, *readers, *seen]))


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
    interval, batch = fact_number(window, "trigger_interval_ms"), measure(window, "trigger_execution_ms")
    if window.facts.value("trigger") != "processing_time" or not interval or not isinstance(batch, Estimate):
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
    rows, told = median(rows_taken(window)), measure(window, "state_partitions")
    if not isinstance(add_batch, Estimate) or not isinstance(share, Estimate) or not window.facts.value("stateful"):
        return
    few = rows < FEW_ROWS * BY_DEFAULT and add_batch.safe >= LONG_MS and share.safe >= MOST
    of_a_function = window.facts.value("sink") in ("foreach", "foreach_batch")
    if few and not of_a_function and not (isinstance(told, Estimate) and told.safe):
        yield (
            f"How many partitions the state has is not told: {BY_DEFAULT} by default, each a task in every batch, "
            f"however few its rows: the usual cause of a long batch of {number(rows, 'rows')}."
        )


def _before_min_partitions(window: Window) -> bool:
    """Whether this Spark is older than 3.0, for which minPartitions was not tried."""
    return is_older(window.facts.value("spark_version"), window.facts.value("spark_version_below"), "3.0")


def _outpaced(window: Window) -> Iterator[str]:
    """That rows came faster than a few batches process them: many would show whether it lasts."""
    busy, batch = measure(window, "utilisation"), measure(window, "trigger_execution_ms")
    if (
        window.facts.value("source") in BY_BATCH
        or len(window) >= FEWEST_BATCHES
        or not isinstance(busy, Estimate)
        or not isinstance(batch, Estimate)
    ):
        return
    if busy.safe >= OUTPACED and batch.safe >= LONG_MS:
        yield f"Rows came {busy.safe:.2g} times as fast as they were processed: if that lasts, the query falls behind."


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


def files_left(window: Window) -> int:
    """The files that a source says it has not taken yet; 0 where none says so."""
    waiting = files_waiting(window)
    return int(known(waiting)[-1]) if isinstance(waiting, np.ndarray) else 0


def _uneven(window: Window) -> Iterator[str]:
    usual, slowest = (measure(window, "trigger_execution_ms", stat) for stat in ("p50", "p99"))
    if len(window) < FEWEST_BATCHES or not isinstance(usual, Estimate) or not isinstance(slowest, Estimate):
        return
    if slowest.safe >= UNEVEN * usual.safe > 0:
        yield f"The slowest batches take {milliseconds(slowest.safe)}, the median one {milliseconds(usual.safe)}."


def _of_the_interval(window: Window) -> str:
    interval = fact_number(window, "trigger_interval_ms")
    return f" within the {milliseconds(interval)} between two triggers" if interval else ""


def _took_rows(triggers: Batches) -> bool:
    """Whether triggers without addBatch count rows: they ran, and their records were shortened."""
    return any_above_zero(triggers.rows["input_rows"])


def _nothing_to_judge(judged: Judged) -> str:
    executed = judged.window.executed
    if judged.window.facts.value("trigger") == "continuous":
        return "No data: continuous processing writes no progress events."
    if not len(executed) and judged.since == "asked" and judged.run.batches:
        return "Nothing to judge: no batch in the time asked for."
    if not len(executed):
        if not judged.run.batches or judged.idle is None or not len(judged.idle):
            return f"Nothing to judge: no progress event. {_FIRST_BATCH_RUNS}"
        quiet = "no whole record of a batch" if _took_rows(judged.idle) else "idle, no whole record of a batch"
        return f"Nothing to judge: {quiet}. {idle(judged.idle)}"
    if bool(executed["cold"].all()):
        quiet = f" {idle(judged.idle)}" if judged.idle is not None and len(judged.idle) else ""
        return f"{first_batch(judged.window)}{quiet}"
    return f"Nothing to judge: {_why_none_is_steady(judged.window)}"


def _why_none_is_steady(window: Window) -> str:
    executed, none = window.executed, "no batch with rows after the start."
    if executed["impossible"].any():
        return "the times of these batches contradict each other, so they cannot be right."
    if any_above_zero(executed["input_rows"]) or np.isnan(executed["trigger_execution_ms"][-1]):
        return none
    return f"{none} {without_rows(window)}"
