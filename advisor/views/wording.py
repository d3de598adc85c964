"""What there is to say of one run, a line each: state, latency, lag, what changed, which batches were judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from advisor.contract import (
    Advice,
    BrokenRecord,
    ComparedRun,
    Conflict,
    Evidence,
    FactEntry,
    Finding,
    Input,
    Metric,
    PartialRecord,
    QueryEntry,
    Report,
    Session,
    Silenced,
    Trend,
    WorstBatch,
)
from advisor.facts import value_in_words, version_in_words
from advisor.progress import PARTS
from advisor.views import text
from advisor.views.addbatch import slow

_LONGEST_NAME = 200
_NAMED = 5  # names of advisor.yaml


def name(query: QueryEntry) -> str:
    """What to call a query: its name, of a very long one the beginning, else the beginning of its id."""
    called = query.name or f"query {(query.id or query.run_id)[:8]}"
    return called if len(called) <= _LONGEST_NAME else f"{called[: _LONGEST_NAME - 1]}…"


def state(query: QueryEntry, stalled_ms: float | None = None) -> str:
    """`running`, `running, idle since …`, `the log ends, last batch …`, `restarting`, `dead: why`, … in one line."""
    words = query.state.replace("_", " ")
    if query.stall is not None:
        ms = stalled_ms or query.stall.ms
        lasts = f" for {text.ms(ms)}," if ms else ""
        return f"{query.stall.word}{lasts} since {text.moment(query.stall.since)} UTC: {query.stall.says}"
    if isinstance(query.idle_since, str):
        return f"{words}, idle since {text.moment(query.idle_since)} UTC"
    if query.state == "log_ends":
        return f"the log ends, last batch {text.moment(query.last)} UTC" if query.last else "the log ends"
    return f"{words}: {query.terminated.error}" if query.terminated and query.terminated.error else words


def version(run: QueryEntry | ComparedRun) -> str:
    """`Spark 4.0.0`, `Spark 3.2 to 3.3` where only bounds are known, or that it is unknown."""
    if run.spark_version:
        return f"Spark {run.spark_version}"
    if isinstance(run, ComparedRun):
        return f"Spark {run.spark_between or 'version unknown'}"
    bounds = version_in_words(run.value("spark_version_at_least"), run.value("spark_version_below"))
    on = " (Databricks)" if run.value("platform") == "databricks" else ""
    return f"Spark {bounds or 'version unknown'}{on}"


def budget(query: QueryEntry) -> list[tuple[str, float, float]]:
    """Each phase of a typical batch as (key, ms, share of the batch), the longest first, without what is negligible."""
    total = sum(query.budget.values())
    ordered = sorted(query.budget.items(), key=lambda item: -item[1])
    return [(key, value, value / total) for key, value in ordered if value >= 0.5 and value >= 0.002 * total]


def typical_batch(query: QueryEntry) -> str:
    """How long a typical batch takes."""
    return text.ms(query.metric("trigger_execution_ms").typical or sum(query.budget.values()))


def percentile(query: QueryEntry, stat: Literal["p50", "p99"]) -> str:
    """One percentile of record latency for a table's cell."""
    value = getattr(query.metric("record_latency_ms"), stat)
    return "-" if value is None else text.ms(value)


def at_least(query: QueryEntry) -> str:
    """What stands before a latency where more waits than the sources tell."""
    return "at least " if query.screen.backlog_untold else ""


def lag(query: QueryEntry) -> str:
    """What waits in the source, with its trend in words, or why that is not known."""
    rows = query.metric("backlog_rows")
    if rows.p50 is None:
        return not_known(rows)
    wait = query.metric("backlog_ms").p50
    words = f"{text.amount(rows.p50, 'rows')} wait in the source" + (f", {text.ms(wait)} of work" if wait else "")
    gone = catch_up(query)
    return words + trend(query.trend.backlog_rows, lambda value: f"{text.count(value)} rows") + (gone and f"; {gone}")


def catch_up(query: QueryEntry) -> str:
    """When the backlog will be gone, as long as it shrinks as it does now; empty where it does not."""
    left = query.metric("catch_up_ms")
    if not isinstance(left.value, int | float):
        return ""
    most = f" to {text.ms(left.high)}" if left.high is not None else " or longer"
    return f"at this pace it is gone in {text.ms(left.value)} ({text.ms(left.low)}{most})"


def no_capacity(query: QueryEntry) -> str:
    """Return why the load that the query holds is unknown; empty if nothing was judged."""
    found = query.metric("capacity_per_second")
    return not_known(found) if found.missing and query.window.batches else ""


def not_known(found: Metric) -> str:
    """That a metric is not known, and why."""
    return f"not known: {found.missing}" if found.missing else "not known"


def trend(found: Trend, words: Callable[[float], str], *, rising: str = "rising", falling: str = "falling") -> str:
    """`; rising by 120 ms an hour`, or nothing where no direction is known."""
    if found.direction == "unknown":
        return ""
    direction = {"rising": rising, "falling": falling}.get(found.direction, found.direction)
    if found.direction == "steady" or not found.per_hour:
        return f"; {direction}"
    return f"; {direction} by {words(abs(found.per_hour))} an hour"


def window(query: QueryEntry) -> str:
    """Which batches were judged and why these."""
    found, all_batches = query.window, text.plural(query.batches, "batch", "batches")
    because = f" ({found.because})" if found.because else ""
    if not found.batches:
        why = "" if found.because.startswith("all ") else because  # all of none
        return f"none of {all_batches}{why}" if query.batches else f"no batch{why}"
    return f"{found.batches:,} of {all_batches}, {text.span(found.first, found.last)}{because}"


def read(report: Report) -> str:
    """What was read, in one line."""
    found = report.input
    pages = "" if report.session else from_pages(found)
    unreadable = f"{records(found.broken):,} not readable" if found.broken else ""
    if pages and not found.events and not (unreadable and found.files):
        return ", ".join(filter(None, (pages, unreadable))) + unmatched(found)
    extras = [
        text.plural(found.events, "progress event"),
        f"{found.idle:,} idle" if found.idle else "",
        text.plural(found.duplicates, "duplicate dropped", "duplicates dropped") if found.duplicates else "",
        text.plural(records(found.partial), "partial record") if found.partial else "",
        unreadable,
        pages,
    ]
    where = "a session" if report.session else text.plural(found.files, "file")
    return f"{where}, {text.size(found.bytes)}: " + ", ".join(filter(None, extras)) + unmatched(found)


def unmatched(found: Input) -> str:
    """Return which names of advisor.yaml no query has, behind a semicolon; empty where each has one."""
    more = f" and {len(found.unmatched) - _NAMED} more" if len(found.unmatched) > _NAMED else ""
    named = ", ".join(found.unmatched[:_NAMED])
    return f"; advisor.yaml: no query here is called {named}{more}" if named else ""


def from_pages(found: Input) -> str:
    """How many batches a driver's pages showed, and since when it is gone; empty where no page was read."""
    if not found.from_ui and (found.files or not found.bytes):
        return ""
    gone = f", gone since {text.moment(found.gone_since)} UTC" if found.gone_since else ""
    batches = f"the last {text.plural(found.from_ui, 'batch', 'batches')}" if found.from_ui else "no batch yet"
    return f"{batches}, read from the UI{gone}"


def heard(session: Session) -> str:
    """How many events a session's advisor heard, in which way, and how many were lost."""
    way = f"{session.way} way" + (f", because {session.because}" if session.because else "")
    said = [
        f"{text.plural(sum(session.events.values()), 'event')} heard ({way})",
        f"{session.dropped:,} dropped",
        f"{session.waiting:,} waiting" if session.waiting else "",
        f"{session.unheard:,} not delivered yet: another listener is slow" if session.unheard else "",
        "" if session.attached else "detached",
    ]
    return ", ".join(filter(None, said))


def problems(session: Session) -> list[str]:
    """What went wrong while listening, a line each, with how often."""
    return [f"{entry.problem} ({text.plural(entry.times, 'time')})" for entry in session.problems]


_SEMANTICS = {
    "at_least_once": "after a failure records may be processed again (at least once)",
    "at_most_once": "after a failure records may be lost (at most once)",
}


def semantics(step: Advice) -> str:
    """What a step changes in the delivery guarantee, empty if nothing."""
    return "" if step.semantics == "unchanged" else _SEMANTICS.get(step.semantics, step.semantics.replace("_", " "))


def run_on(step: Advice) -> str:
    """On which Sparks the step was run."""
    return f"Spark {', '.join(step.run_on)}" if step.run_on else "not among the steps that were run on each Spark"


def savings(step: Advice) -> list[str]:
    """What a step saves per batch and in record latency, a line each; one line that says so if nothing is promised."""
    per_batch, latency = (text.saving(one, text.only_bounded(step)) for one in (step.saves_ms, step.saves_latency_ms))
    of_all = ", on average over all batches" if step.ends_slow_batches else ""
    said = [f"per batch {per_batch}{of_all}" if per_batch else "", f"in record latency {latency}" if latency else ""]
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
    if isinstance(value, list | tuple):
        return " or ".join(map(fact_value, value))
    return text.UNKNOWN if value is None else value_in_words(value)


def conflict(entry: Conflict) -> str:
    """Two sources that say different things of one fact, and which was believed."""
    said = ", ".join(fact(value) for value in entry.values)
    return f"{entry.fact}: {said}; used: {fact_value(entry.taken)}"


def suppression(entry: Silenced) -> str:
    """Why a rule is silenced, and until when."""
    return entry.reason + (f" (until {entry.until})" if entry.until else "")


def unread(record: BrokenRecord) -> str:
    """Why a record could not be read; of a partial one what it holds, and what it lacks."""
    said = record.reason
    if isinstance(record, PartialRecord):
        lacks = ", ".join(PARTS.get(part, part) for part in record.lacks)
        said += f" ({lacks} missing or cut off)" if lacks else " (complete, but not in the usual form)"
    return said + (f"; {record.times - 1:,} more are not listed" if record.times > 1 else "")


def records(entries: Iterable[BrokenRecord]) -> int:
    """How many records these entries stand for."""
    return sum(entry.times for entry in entries)


def place(broken: BrokenRecord) -> str:
    """Where a record stands that is not whole; of a file that cannot be read at all its name."""
    line = f" line {broken.line:,}" if broken.line is not None else ""
    return f"{broken.file}{line} (byte {broken.offset:,})" if line or broken.offset else broken.file


def batch(found: WorstBatch) -> tuple[str, str, str, str, str]:
    """One slow batch as cells: batch, time, length, rows, and its longest phase."""
    return (
        "a batch" if found.batch_id is None else f"batch {found.batch_id}",
        text.moment(found.timestamp),
        text.ms(found.trigger_execution_ms),
        text.amount(found.input_rows, "rows"),
        f"{text.phase(found.phase)} {text.ms(found.phase_ms)}"
        + (f"; longer than usual: {slow(found.inside)}" if found.inside else ""),
    )
