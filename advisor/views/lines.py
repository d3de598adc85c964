"""What there is to say of one run, a line each: state, latency, lag, what changed, which batches were judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from advisor.views import text

Data = Mapping[str, Any]


def name(query: Data) -> str:
    """What to call a query: its name, else the beginning of its id."""
    return query.get("name") or f"query {str(query.get('id') or query.get('run_id') or text.UNKNOWN)[:8]}"


def state(query: Data) -> str:
    """`running`, `running, idle since …`, `restarting`, `dead: why`, … in one line."""
    terminated = query.get("terminated") or {}
    words = str(query.get("state") or text.UNKNOWN).replace("_", " ")
    if query.get("idle_since"):
        return f"{words}, idle since {text.moment(query['idle_since'])} UTC"
    return f"{words}: {terminated['error']}" if terminated.get("error") else words


def version(query: Data) -> str:
    """`Spark 4.0.0`, or that it is unknown."""
    return f"Spark {query.get('spark_version') or 'version unknown'}"


def budget(query: Data) -> list[tuple[str, float, float]]:
    """Each phase of a typical batch as (key, ms, share of the batch), the longest first, without what is negligible."""
    phases = {key: value for key, value in (query.get("budget") or {}).items() if value}
    total = sum(phases.values())
    ordered = sorted(phases.items(), key=lambda item: -item[1])
    return [(key, value, value / total) for key, value in ordered if value >= 0.5 and value >= 0.002 * total]


def typical_batch(query: Data) -> str:
    """How long a typical batch takes: all phases of the budget together."""
    return text.ms(sum(value for value in (query.get("budget") or {}).values() if value))


def number(query: Data, metric: str, stat: str) -> float | None:
    """One number of a run's metrics, None where it is missing."""
    value = (query["metrics"].get(metric) or {}).get(stat)
    return None if value is None else float(value)


def percentile(query: Data, stat: str) -> str:
    """One percentile of record latency for a table's cell."""
    value = number(query, "record_latency_ms", stat)
    return "-" if value is None else text.ms(value)


def latency(query: Data) -> str:
    """Record latency with its trend in words, or why there is none."""
    found = query["metrics"].get("record_latency_ms") or {}
    if found.get("p50") is None:
        return f"not known: {found['missing']}" if found.get("missing") else "not known"
    words = f"p50 {text.ms(found['p50'])}, p99 {text.ms(found.get('p99'))}, from created to visible, estimated"
    return words + trend(query, "record_latency_ms", text.ms)


def lag(query: Data) -> str:
    """What waits in the source, with its trend in words, or why that is not known."""
    rows = query["metrics"].get("backlog_rows") or {}
    now = next((rows[stat] for stat in ("last", "p50", "typical", "value") if rows.get(stat) is not None), None)
    if now is None:
        return f"not known: {rows['missing']}" if rows.get("missing") else "not known"
    wait = number(query, "backlog_ms", "p50") or 0
    words = f"{text.count(now)} rows wait in the source" + (f", {text.ms(wait)} of work" if wait else "")
    return words + trend(query, "backlog_rows", lambda value: f"{text.count(value)} rows")


def trend(query: Data, metric: str, words: Callable[[float], str]) -> str:
    """`; rising by 120 ms an hour`, or nothing where no direction is known."""
    found = (query.get("trend") or {}).get(metric) or {}
    direction = found.get("direction")
    if direction in (None, "unknown"):
        return ""
    if direction == "steady" or not found.get("per_hour"):
        return f"; {direction}"
    return f"; {direction} by {words(abs(found['per_hour']))} an hour"


def change(query: Data) -> list[str]:
    """Since when the run is as it is and what changed, in one or two lines; empty if nothing did."""
    changed = query.get("changed")
    if not changed:
        return []
    said = changed.get("says") or ("After a restart." if changed.get("because") == "restart" else "Without a restart.")
    return [f"{text.moment(changed['at'])} UTC. {said}", *_before_after(query, changed)]


def _before_after(query: Data, changed: Data) -> list[str]:
    parts = []
    before, after = ((changed.get(side) or {}).get("metrics") or {} for side in ("before", "after"))
    for metric in before:
        for stat in ("typical", "p50", "p99"):
            old, new = (before[metric] or {}).get(stat), (after.get(metric) or {}).get(stat)
            if old is not None and new is not None and old != new:
                unit = (query["metrics"].get(metric) or {}).get("unit") or ("ms" if metric.endswith("_ms") else None)
                name = text.metric(metric) + ("" if stat == "typical" else f" {stat}")
                parts.append(f"{name} {text.amount(old, unit)} → {text.amount(new, unit)}")
    return [" · ".join(parts)] if parts else []


def window(query: Data) -> str:
    """Which batches were judged and why these."""
    found = query.get("window") or {}
    if not found.get("batches"):
        return f"none of {text.plural(query['batches'], 'batch', 'batches')}" + _because(found)
    words = f"{found['batches']:,} of {text.plural(query['batches'], 'batch', 'batches')}, "
    return words + text.span(found.get("first"), found.get("last")) + _because(found)


def _because(found: Data) -> str:
    return f" ({found['because']})" if found.get("because") else ""


def read(report: Data) -> str:
    """What was read, in one line."""
    found = report["input"]
    extras = [
        text.plural(found["events"], "progress event"),
        f"{found['idle']:,} idle" if found["idle"] else "",
        text.plural(found["duplicates"], "duplicate dropped", "duplicates dropped") if found["duplicates"] else "",
        f"{len(found['broken']):,} not readable" if found["broken"] else "",
    ]
    where = "a session" if "session" in report else text.plural(found["files"], "file")
    return f"{where}, {text.size(found['bytes'])}: " + ", ".join(filter(None, extras))


def heard(session: Data) -> str:
    """How many events a session's advisor heard, in which way, and how many were lost."""
    way = f"{session['way']} way" + (f", because {session['because']}" if session["because"] else "")
    said = [
        f"{text.plural(sum(session['events'].values()), 'event')} heard ({way})",
        f"{session['dropped']:,} dropped",
        f"{session['waiting']:,} waiting" if session["waiting"] else "",
        "" if session["attached"] else "detached",
    ]
    return ", ".join(filter(None, said))


def problems(session: Data) -> list[str]:
    """What went wrong while listening, a line each, with how often."""
    return [f"{entry['problem']} ({text.plural(entry['times'], 'time')})" for entry in session["problems"]]


_TAKES = {
    "nothing": "nothing: it works while the query runs",
    "restart": "a restart of the query",
    "new_checkpoint": "a restart from a new checkpoint",
    "stages": "several restarts, one for each stage",
}


def takes(step: Data) -> str:
    """What it takes to make the change."""
    return _TAKES.get(step["takes"], str(step["takes"]))


_SEMANTICS = {
    "at_least_once": "after a failure records may be processed again (at least once)",
    "at_most_once": "after a failure records may be lost (at most once)",
}


def semantics(step: Data) -> str:
    """What a step changes in the delivery guarantee, empty if nothing."""
    found = step.get("semantics") or "unchanged"
    return "" if found == "unchanged" else _SEMANTICS.get(found, found.replace("_", " "))


def savings(step: Data) -> list[str]:
    """What a step saves per batch and in record latency, a line each; one line that says so if nothing is promised."""
    per_batch, latency = text.saving(step.get("saves_ms")), text.saving(step.get("saves_latency_ms"))
    said = [f"{per_batch}, per batch" if per_batch else "", f"{latency}, in record latency" if latency else ""]
    return [words for words in said if words] or ["no number is promised"]


def evidence(finding: Data) -> str:
    """The facts that a finding stands on, with where they come from."""
    return ", ".join(f"{entry['fact']} = {fact(entry)}" for entry in finding["evidence"])


def fact(known: Data) -> str:
    """A fact's value and where it comes from."""
    value = {True: "true", False: "false", None: text.UNKNOWN}.get(known["value"], known["value"])
    return f"{value} ({str(known['from']).replace('_', ' ')})" if known.get("from") else str(value)


def conflict(entry: Data) -> str:
    """Two sources that say different things of one fact, and which was believed."""
    said = ", ".join(fact(value) for value in entry["values"])
    return f"{entry['fact']}: {said}; taken: {fact({'value': entry['taken']})}"


def suppression(entry: Data) -> str:
    """Why a rule is silenced, and until when."""
    return str(entry["reason"]) + (f" (until {entry['until']})" if entry.get("until") else "")


def place(broken: Data) -> str:
    """Where a record that is not readable stands."""
    line = f" line {broken['line']:,}" if broken.get("line") is not None else ""
    return f"{broken['file']}{line} (byte {broken['offset']:,})"


def batch(found: Data) -> tuple[str, str, str, str, str]:
    """One slow batch as cells: batch, time, length, rows, and its longest phase."""
    phase = f"{text.phase(found['phase'])} {text.ms(found['phase_ms'])}" if found.get("phase") else ""
    return (
        f"batch {found['batch_id']}",
        text.moment(found["timestamp"]),
        text.ms(found["trigger_execution_ms"]),
        f"{text.count(found['input_rows'])} rows",
        phase,
    )
