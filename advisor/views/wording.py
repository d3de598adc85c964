"""What there is to say of one run, a line each: state, latency, lag, what changed, which batches were judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from advisor.contract import (
    Advice,
    BrokenRecord,
    Changed,
    ComparedRun,
    Conflict,
    Evidence,
    FactEntry,
    Finding,
    Loss,
    LossKind,
    Metric,
    Part,
    PartialRecord,
    Promise,
    QueryEntry,
    Question,
    Refused,
    Report,
    Session,
    Silenced,
    Trend,
    WorstBatch,
)
from advisor.facts.versions import version_in_words
from advisor.progress import PARTS
from advisor.views import text
from advisor.views.inside import sentence, slow

if TYPE_CHECKING:
    from advisor.views.selection import Selection

_NONE = Metric()
_STATS = ("typical", "p50", "p99")


def name(query: QueryEntry) -> str:
    """What to call a query: its name, else the beginning of its id."""
    return query.name or f"query {(query.id or query.run_id)[:8]}"


def state(query: QueryEntry) -> str:
    """`running`, `running, idle since …`, `the log ends, last batch …`, `restarting`, `dead: why`, … in one line."""
    words = query.state.replace("_", " ")
    if isinstance(query.idle_since, str):
        return f"{words}, idle since {text.moment(query.idle_since)} UTC"
    if query.state == "log_ends":
        return f"the log ends, last batch {text.moment(query.last)} UTC" if query.last else "the log ends"
    return f"{words}: {query.terminated.error}" if query.terminated and query.terminated.error else words


def version(run: QueryEntry | ComparedRun) -> str:
    """`Spark 4.0.0`, `Spark 3.2 to 3.3` where only bounds are known, or that it is unknown."""
    bounds = _bounds(run) if isinstance(run, QueryEntry) else None
    return f"Spark {run.spark_version or bounds or 'version unknown'}"


def _bounds(query: QueryEntry) -> str | None:
    words = version_in_words(query.value("spark_version_at_least"), query.value("spark_version_below"))
    return f"{words} (Databricks)" if words and query.value("platform") == "databricks" else words


def budget(query: QueryEntry) -> list[tuple[str, float, float]]:
    """Each phase of a typical batch as (key, ms, share of the batch), the longest first, without what is negligible."""
    total = sum(query.budget.values())
    ordered = sorted(query.budget.items(), key=lambda item: -item[1])
    return [(key, value, value / total) for key, value in ordered if value >= 0.5 and value >= 0.002 * total]


def typical_batch(query: QueryEntry) -> str:
    """How long a typical batch takes: all phases of the budget together."""
    return text.ms(sum(query.budget.values()))


def percentile(query: QueryEntry, stat: Literal["p50", "p99"]) -> str:
    """One percentile of record latency for a table's cell."""
    value = getattr(query.metrics.get("record_latency_ms", _NONE), stat)
    return "-" if value is None else text.ms(value)


def latency(query: QueryEntry) -> str:
    """Record latency with its trend in words, or why there is none."""
    found = query.metrics.get("record_latency_ms", _NONE)
    if found.p50 is None:
        return _not_known(found)
    words = f"p50 {text.ms(found.p50)}, p99 {text.ms(found.p99)}, from created to visible, estimated"
    return words + trend(query.trend.record_latency_ms, text.ms)


def lag(query: QueryEntry) -> str:
    """What waits in the source, with its trend in words, or why that is not known."""
    rows = query.metrics.get("backlog_rows", _NONE)
    if rows.p50 is None:
        return _not_known(rows)
    wait = query.metrics.get("backlog_ms", _NONE).p50
    words = f"{text.count(rows.p50)} rows wait in the source" + (f", {text.ms(wait)} of work" if wait else "")
    gone = catch_up(query)
    return words + trend(query.trend.backlog_rows, lambda value: f"{text.count(value)} rows") + (gone and f"; {gone}")


def catch_up(query: QueryEntry) -> str:
    """When the backlog will be gone, as long as it shrinks as it does now; empty where it does not."""
    left = query.metrics.get("catch_up_ms", _NONE)
    if not isinstance(left.value, int | float):
        return ""
    most = f" to {text.ms(left.high)}" if left.high is not None else " or longer"
    return f"at this pace it is gone in {text.ms(left.value)} ({text.ms(left.low)}{most})"


def _not_known(found: Metric) -> str:
    return f"not known: {found.missing}" if found.missing else "not known"


def trend(found: Trend, words: Callable[[float], str]) -> str:
    """`; rising by 120 ms an hour`, or nothing where no direction is known."""
    if found.direction == "unknown":
        return ""
    if found.direction == "steady" or not found.per_hour:
        return f"; {found.direction}"
    return f"; {found.direction} by {words(abs(found.per_hour))} an hour"


def change(query: QueryEntry) -> list[str]:
    """Since when the run is as it is and what changed, in one or two lines; empty if nothing did."""
    changed = query.changed
    return [f"{text.moment(changed.at)} UTC. {changed.says}", *_before_after(query, changed)] if changed else []


def _before_after(query: QueryEntry, changed: Changed) -> list[str]:
    parts = []
    for metric, before in changed.before.metrics.items():
        after = changed.after.metrics.get(metric, {})
        for stat in _STATS:
            old, new = before.get(stat), after.get(stat)
            if old is not None and new is not None and old != new:
                unit = query.metrics.get(metric, _NONE).unit or ("ms" if metric.endswith("_ms") else None)
                name = text.metric(metric) + ("" if stat == "typical" else f" {stat}")
                parts.append(f"{name} {text.amount(old, unit)} → {text.amount(new, unit)}")
    return [" · ".join(parts)] if parts else []


def window(query: QueryEntry) -> str:
    """Which batches were judged and why these."""
    found, all_batches = query.window, text.plural(query.batches, "batch", "batches")
    because = f" ({found.because})" if found.because else ""
    if not found.batches:
        return f"none of {all_batches}{because}"
    return f"{found.batches:,} of {all_batches}, {text.span(found.first, found.last)}{because}"


def read(report: Report) -> str:
    """What was read, in one line."""
    found = report.input
    extras = [
        text.plural(found.events, "progress event"),
        f"{found.idle:,} idle" if found.idle else "",
        text.plural(found.duplicates, "duplicate dropped", "duplicates dropped") if found.duplicates else "",
        text.plural(len(found.partial), "partial record") if found.partial else "",
        f"{len(found.broken):,} not readable" if found.broken else "",
    ]
    where = "a session" if report.session else text.plural(found.files, "file")
    return f"{where}, {text.size(found.bytes)}: " + ", ".join(filter(None, extras))


def heard(session: Session) -> str:
    """How many events a session's advisor heard, in which way, and how many were lost."""
    way = f"{session.way} way" + (f", because {session.because}" if session.because else "")
    said = [
        f"{text.plural(sum(session.events.values()), 'event')} heard ({way})",
        f"{session.dropped:,} dropped",
        f"{session.waiting:,} waiting" if session.waiting else "",
        "" if session.attached else "detached",
    ]
    return ", ".join(filter(None, said))


def problems(session: Session) -> list[str]:
    """What went wrong while listening, a line each, with how often."""
    return [f"{entry.problem} ({text.plural(entry.times, 'time')})" for entry in session.problems]


_TAKES = {
    "nothing": "nothing: it works while the query runs",
    "restart": "a restart of the query",
    "new_checkpoint": "a restart from a new checkpoint",
    "stages": "several restarts, one for each stage",
}


def takes(step: Advice) -> str:
    """What it takes to make the change."""
    return _TAKES[step.takes]


_SEMANTICS = {
    "at_least_once": "after a failure records may be processed again (at least once)",
    "at_most_once": "after a failure records may be lost (at most once)",
}


def semantics(step: Advice) -> str:
    """What a step changes in the delivery guarantee, empty if nothing."""
    return "" if step.semantics == "unchanged" else _SEMANTICS.get(step.semantics, step.semantics.replace("_", " "))


def savings(step: Advice) -> list[str]:
    """What a step saves per batch and in record latency, a line each; one line that says so if nothing is promised."""
    per_batch, latency = text.saving(step.saves_ms), text.saving(step.saves_latency_ms)
    said = [f"per batch {per_batch}" if per_batch else "", f"in record latency {latency}" if latency else ""]
    return [words for words in said if words] or ["no number is promised"]


def evidence(finding: Finding) -> str:
    """The facts that a finding stands on, with where they come from."""
    return ", ".join(f"{entry.fact} = {fact(entry)}" for entry in finding.evidence)


def fact(known: FactEntry | Evidence) -> str:
    """A fact's value and where it comes from."""
    value = fact_value(known.value)
    return f"{value} ({known.origin.replace('_', ' ')})" if known.origin else value


def fact_value(value: object) -> str:
    """A fact's value as people read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return text.UNKNOWN if value is None else str(value)


def conflict(entry: Conflict) -> str:
    """Two sources that say different things of one fact, and which was believed."""
    said = ", ".join(fact(value) for value in entry.values)
    return f"{entry.fact}: {said}; used: {fact_value(entry.taken)}"


def judged(query: QueryEntry) -> str:
    """How many rules fired, passed, …: they add up to the catalogue."""
    counts = {
        "fired": query.findings,
        "passed": query.passed,
        "silenced": query.suppressed,
        "not applicable": query.not_applicable,
        "not judged": query.skipped,
    }
    said = ", ".join(f"{len(rules)} {words}" for words, rules in counts.items())
    return f"{said} of {text.plural(sum(map(len, counts.values())), 'rule')}"


def suppression(entry: Silenced) -> str:
    """Why a rule is silenced, and until when."""
    return entry.reason + (f" (until {entry.until})" if entry.until else "")


def partial(record: PartialRecord) -> str:
    """What a partial record says, and what it lacks."""
    lacking = ", ".join(PARTS.get(part, part) for part in record.lacks)
    return f"{record.says} ({f'{lacking} missing or cut off' if lacking else 'complete, but not in the usual form'})"


def place(broken: BrokenRecord | PartialRecord) -> str:
    """Where a record stands that is not whole."""
    line = f" line {broken.line:,}" if broken.line is not None else ""
    return f"{broken.file}{line} (byte {broken.offset:,})"


def batch(found: WorstBatch) -> tuple[str, str, str, str, str]:
    """One slow batch as cells: batch, time, length, rows, and its longest phase."""
    return (
        "a batch" if found.batch_id is None else f"batch {found.batch_id}",
        text.moment(found.timestamp),
        text.ms(found.trigger_execution_ms),
        f"{text.count(found.input_rows)} rows",
        f"{text.phase(found.phase)} {text.ms(found.phase_ms)}" + (f": {slow(found.inside)}" if found.inside else ""),
    )


LOSSES: dict[LossKind, str] = {
    "falling_behind": "falling behind",
    "slower_than_before": "slower than before",
    "spikes": "spikes",
    "slow_batches": "slow batches",
    "interval": "waiting for the trigger",
    "within_add_batch": "in addBatch",
    "logs": "logs",
    "discovery": "source",
    "planning": "planning",
    "add_batch": "addBatch",
    "unaccounted": "no phase",
    "other": "other phases",
}
"""What time is lost to, in a word or two."""


def loss_name(of: Loss | Part) -> str:
    """What to call what time is lost to."""
    return of.name or LOSSES[of.kind]


_TRIGGERS = {
    "unspecified": "default trigger",
    "once": "trigger once",
    "available_now": "trigger AvailableNow",
    "continuous": "continuous",
    "real_time": "real-time mode",
}


_ENDS = {
    "foreach_batch": "foreachBatch",
    "rate_micro_batch": "rate",
    "event_hubs": "Event Hubs",
    "auto_loader": "Auto Loader",
}


def kind_of_query(query: QueryEntry) -> str:
    """`kafka, 6 partitions → delta · Spark 4.0.0 · stateless · default trigger`; what is not known is left out."""
    ends = [_ENDS.get(str(query.value(end)), str(query.value(end))) for end in ("source", "sink") if query.value(end)]
    if ends and query.value("source") and (partitions := query.value("kafka_partitions")):
        ends[0] += f", {text.plural(partitions, 'partition')}"
    if ends and not query.value("source"):
        ends.insert(0, "")
    return " · ".join(filter(None, (" → ".join(ends).lstrip(), version(query), _state_kept(query), _trigger(query))))


def _state_kept(query: QueryEntry) -> str:
    stateful, partitions = query.value("stateful"), query.metrics.get("state_partitions", _NONE).p50
    if stateful is None:
        return ""
    kept = f", {text.plural(round(partitions), 'state partition')}" if partitions else ""
    return f"stateful{kept}" if stateful else "stateless"


def _trigger(query: QueryEntry) -> str:
    kind, interval = query.value("trigger"), query.value("trigger_interval_ms")
    if kind == "processing_time":
        return f"trigger every {text.ms(interval)}" if interval else "trigger with an interval"
    return _TRIGGERS.get(str(kind), "trigger not known")


def state_if_news(query: QueryEntry) -> str:
    """That a query is idle or started again and again; empty for what the headline says, and for what is as usual."""
    if isinstance(query.idle_since, str):
        return state(query)
    return query.state if query.state == "restarting" else ""


def latency_now_and_then(query: QueryEntry) -> str:
    """`p50 218 ms   p99 536 ms   → about 160 ms (p50) with the step`, or why there is none."""
    found, after = query.metrics.get("record_latency_ms", _NONE), query.screen.after
    if found.p50 is None:
        return _not_known(found)
    now = f"p50 {text.ms(found.p50)}   p99 {text.ms(found.p99)}{_target(query, found.p99)}"
    now += _moving(query.trend.record_latency_ms, text.ms)
    if after is None:
        return now
    if after.without_spikes:
        return f"{now}   → without the spikes about {text.ms(after.p50)} / {text.ms(after.p99)}"
    return f"{now}   → {'at best' if after.at_best else 'about'} {text.ms(after.p50)} (p50) with the step"


def _moving(found: Trend, words: Callable[[float], str]) -> str:
    """The trend of what rises or falls."""
    return trend(found, words) if found.direction in ("rising", "falling") else ""


def _target(query: QueryEntry, p99: float | None) -> str:
    target = query.value("latency_target_ms")
    if not isinstance(target, int | float) or p99 is None:
        return ""
    return f" (target {text.ms(target)}: {'missed' if p99 > target else 'reached'})"


def batch_headroom_lag(query: QueryEntry) -> str:
    """`typical 0.33 s   p99 6.0 s   Headroom 12 %   Lag 0 rows`."""
    batch, lag = query.metrics.get("trigger_execution_ms", _NONE), query.metrics.get("backlog_rows", _NONE)
    headroom = query.screen.headroom
    rows = "not known" if lag.p50 is None else f"{text.count(lag.p50)} rows"
    if lag.p50 is not None:
        rows += _moving(query.trend.backlog_rows, lambda value: f"{text.count(value)} rows")
    took = "not known" if batch.typical is None else f"typical {text.ms(batch.typical)}   p99 {text.ms(batch.p99)}"
    return f"{took}   Headroom {'-' if headroom is None else f'{100 * headroom:.0f} %'}   Lag {rows}"


def within_add_batch(query: QueryEntry) -> str:
    """`of addBatch: state commit 36 %, ...`, or all its parts where jobs were seen; empty where nothing is known."""
    if query.inside:
        return sentence(query)
    found = query.screen.within_add_batch
    said = ", ".join(f"{loss_name(part)} {100 * part.share:.0f} %" for part in found)
    return f"of addBatch: {said}" if said else ""


SHORT_SPAN_MS = 600_000.0


def based_on(chosen: Selection) -> str:
    """`49 batches, 31 s (short: confirm on 10 min)`."""
    query, span = chosen.query, chosen.query.screen.span_ms
    found = query.window.batches
    if not found:
        return f"no steady batch, of {text.plural(query.batches, 'batch', 'batches')}" if query.batches else "no batch"
    said = text.plural(found, "batch", "batches")
    said += f", {text.ms(span)}" if span else ""
    short = found == 1 or span is None or span < SHORT_SPAN_MS
    said += " (it may be an outlier)" if found == 1 else " (short: confirm on 10 min)" if short else ""
    earlier = f"; {text.plural(chosen.earlier, 'earlier run')} of this query" if chosen.earlier else ""
    return said + earlier


def headline_name(query: QueryEntry) -> str:
    """What stands before the headline: what most time is lost to, or that the query keeps up; may be empty."""
    if query.screen.calm:
        return "keeps up"
    loss = query.screen.loss
    return "" if loss is None or loss.kind == "add_batch" else loss_name(loss)  # whose sentence names it already


def closest(query: QueryEntry) -> list[str]:
    """The rules that came closest to firing, a line each."""
    return [f"{entry.margin} · {entry.rule}" for entry in query.screen.calm.closest] if query.screen.calm else []


def in_a_line(query: QueryEntry) -> str:
    """`logs: Track progress asynchronously`: the loss and the step; the verdict where there is no loss."""
    loss, best = query.screen.loss, query.best_step
    if query.screen.calm:
        return "keeps up: no rule found anything"
    if loss is None:
        return query.verdict
    return f"{loss_name(loss)}: {best.advice.do if best else 'no rule here knows a step'}"


def no_step(query: QueryEntry) -> str:
    """That no step is known, and what was looked at."""
    if not query.window.batches and not query.findings:
        return "There is nothing to judge yet."
    if any(step.legal != "no" for finding in query.findings for step in finding.steps):
        return "The steps that may help need a new checkpoint, and their gain is not known: see --all."
    if query.screen.calm:
        return f"This log shows nothing that needs a change. {_looked_at(query)}".rstrip()
    known = "No rule here knows a step for it that Spark takes" if query.findings else "No rule here knows better"
    return f"{known}. {_looked_at(query)}".rstrip()


def _looked_at(query: QueryEntry) -> str:
    """How many rules were looked at, and what came of them."""
    counts = {
        "found something": query.findings,
        "passed": query.passed,
        "do not apply": query.not_applicable,
        "could not be judged": query.skipped,
        "are silenced": query.suppressed,
    }
    said = ", ".join(f"{len(rules)} {words}" for words, rules in counts.items() if rules)
    return f"Looked at: {text.plural(sum(map(len, counts.values())), 'rule')} ({said})." if said else ""


_TAKES_SHORT = {
    "nothing": "no restart",
    "restart": "restart",
    "new_checkpoint": "new checkpoint",
    "stages": "several restarts",
}


def takes_in_short(step: Advice) -> str:
    """What it takes to make the change, in a word or two."""
    return _TAKES_SHORT[step.takes]


def stages(step: Advice) -> str:
    """How many stages the step has, and how it begins."""
    first = step.stages[0].do
    begins = f" First {first}." if first else ""
    return f"In {text.plural(len(step.stages), 'stage')}, their code with --all.{begins}"


def gain(query: QueryEntry, step: Advice) -> str:
    """What the step promises, in one line; of the query's best step that ends spikes also the p99 after it."""
    after, p99 = query.screen.after, query.metrics.get("record_latency_ms", _NONE).p99
    if after is not None and after.without_spikes and p99 is not None:
        return f"p99 of the record latency {text.ms(p99)} → about {text.ms(after.p99)}"
    said = (_gain(step.saves_latency_ms, "record"), _gain(step.saves_ms, "batch"))
    return next(filter(None, said), "no number is promised")


def _gain(promise: Promise | None, of: str) -> str:
    if promise is None or promise.high < 1:
        return ""
    if promise.expected is None:
        return f"at most {text.ms(promise.high)} less per {of}, not measured yet"
    return f"about {text.ms(promise.expected)} less per {of} ({text.ms(promise.low)} to {text.ms(promise.high)})"


def also(step: Advice) -> str:
    """Another step that helps: what to do, how much it saves, what it takes."""
    promise, of = (step.saves_latency_ms, "record") if step.saves_latency_ms else (step.saves_ms, "batch")
    saved = _gain(promise, of).partition(" (")[0]
    sure = f", if {step.unknown[0]} allows it" if step.legal == "if" and step.unknown else ""
    return f"{step.do}: {saved} ({takes_in_short(step)}){sure}"


def together(query: QueryEntry) -> str:
    """What the steps save that can be taken beside each other; empty where fewer than two can."""
    if query.together is None:
        return ""
    does = {step.id: step.do for finding in query.findings for step in finding.steps}
    steps = "; ".join(does[named.step] for named in query.together.steps)
    return f"{_gain(query.together.saves_ms, 'batch')}: {steps}"


def refused(one: Refused) -> str:
    """A step that is not for this query, and why not."""
    return f"{one.do}: {one.because}"


def question(asked: Question) -> str:
    """The question that would settle most, how to answer it, and what waits for the answer."""
    counts = [(asked.rules, "rule"), (asked.steps, "step")]
    waiting = " and ".join(text.plural(len(names), words) for names, words in counts if names)
    verb = "waits" if len(asked.rules) + len(asked.steps) == 1 else "wait"
    with_interval = "; with an interval: --set trigger_interval_ms=N" if asked.fact == "trigger" else ""
    return f"{asked.asks} --set {asked.give}{with_interval} ({waiting} {verb} for it)"


def once_known(fact: str) -> str:
    """How to tell a fact that a step waits for."""
    return f"{fact} is not known for sure: --set {fact}=..."
