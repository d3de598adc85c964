"""Ranks queries and changes over many runs, and counts what could not be judged."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

SCHEMA_VERSION = 1
HOUR_MS = 3_600_000
UNKNOWN = "unknown"
METRICS = ("interval_ms", "trigger_execution_ms")
"""What `summary` needs of a run's metrics."""

Data = Mapping[str, Any]


def summary(entry: Data) -> dict[str, Any]:
    """What the fleet's report needs of a run's entry in the report; small, and made where the run is judged."""
    per_hour = batches_per_hour(entry)
    findings = [_finding(finding, per_hour) for finding in entry["findings"]]
    return {
        "id": entry["id"],
        "run_id": entry["run_id"],
        "name": entry["name"],
        "state": entry["state"],
        "runs": entry["runs"],
        "batches": entry["batches"],
        "first": entry["first"],
        "last": entry["last"],
        "spark_version": entry["spark_version"] or _value(entry, "databricks_runtime") or _at_least(entry),
        "platform": _value(entry, "platform"),
        "batches_per_hour": per_hour,
        "trigger_execution_ms": _stat(entry, "trigger_execution_ms", "p50"),
        "verdict": entry["verdict"],
        "best_step": entry["best_step"],
        "recoverable": _best(entry["best_step"], findings),
        "findings": findings,
        "judged": bool(entry["window"]["batches"] or entry["findings"]),
        "skipped": [{"rule": skipped["rule"], "reason": skipped["reason"]} for skipped in entry["skipped"]],
    }


def batches_per_hour(entry: Data) -> float | None:
    """How often the query runs a batch, from the typical interval of its judged batches; None when it is not known."""
    interval = _stat(entry, "interval_ms", "mean") or _stat(entry, "interval_ms", "typical")
    return round(HOUR_MS / interval, 1) if interval and interval > 0 else None


def report(summaries: Iterable[Data], read: Data, *, version: str) -> dict[str, Any]:
    """The fleet's report as plain data, from `summary` of each run and the `input` of the whole reading.

    `queries`: the latest run of each query, most recoverable first. `changes`: steps, by what they would win over all
    queries. Milliseconds per hour are savings per batch times batches per hour; what is only bounded counts apart.
    """
    runs = list(summaries)
    queries = sorted(latest(runs), key=_most_first)
    return {
        "schema_version": SCHEMA_VERSION,
        "advisor_version": version,
        "input": dict(read),
        "runs": len(runs),
        "recoverable": _sum(query["recoverable"] for query in queries),
        "queries": queries,
        "changes": changes(queries),
        "versions": _counted(query["spark_version"] for query in queries),
        "platforms": _counted(query["platform"] for query in queries),
        "states": _counted(query["state"] for query in queries),
        "not_judged": not_judged(queries),
        "skipped": skipped(queries),
    }


def latest(runs: Iterable[Data]) -> list[Data]:
    """The newest run of each query; a run of which no query is known stands for itself."""
    newest: dict[str, Data] = {}
    for run in runs:
        key = run["id"] or run["run_id"]
        if key not in newest or _age(newest[key]) <= _age(run):
            newest[key] = run
    return list(newest.values())


def changes(queries: Iterable[Data]) -> list[dict[str, Any]]:
    """Each step that would help, with how many queries and how much per hour over all of them, the most first."""
    offers: dict[str, list[tuple[Data, Data]]] = defaultdict(list)
    for query in queries:
        for step in _offered(query):
            offers[step["step"]].append((query, step))
    found = [_change(step, members) for step, members in offers.items()]
    return sorted(found, key=lambda change: (-change["recoverable"]["expected"], -change["queries"], change["step"]))


def not_judged(queries: Iterable[Data]) -> list[dict[str, Any]]:
    """Why queries could not be judged at all, with how many and some of them, the most frequent first."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for query in queries:
        if not query["judged"]:
            reasons[query["verdict"]].append(query["name"] or query["id"] or query["run_id"])
    ordered = sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0]))
    return [{"reason": reason, "queries": len(names), "examples": sorted(names)[:3]} for reason, names in ordered]


def skipped(queries: Iterable[Data]) -> list[dict[str, Any]]:
    """Why rules could not be judged, with in how many queries, the most frequent first."""
    reasons: Counter[tuple[str, str]] = Counter(
        (entry["rule"], entry["reason"]) for query in queries if query["judged"] for entry in query["skipped"]
    )
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return [{"rule": rule, "reason": reason, "queries": count} for (rule, reason), count in ordered]


def _finding(finding: Data, per_hour: float | None) -> dict[str, Any]:
    told = {name: finding[name] for name in ("rule", "title", "level", "confidence", "says", "explained_by")}
    return told | {"steps": [_step(step, per_hour) for step in finding["steps"]]}


def _step(step: Data, per_hour: float | None) -> dict[str, Any]:
    told = {name: step[name] for name in ("do", "legal", "takes", "change")}
    return {"step": step["id"]} | told | {"recoverable": _recoverable(step["saves_ms"], per_hour)}


def _recoverable(saves: Data | None, per_hour: float | None) -> dict[str, float] | None:
    """Milliseconds per hour: `expected`, 0 where only an upper bound is known, and `at_most`."""
    if saves is None or per_hour is None:
        return None
    expected, most = saves["expected"], saves["high"]
    return {
        "expected": round((expected or 0.0) * per_hour, 1),
        "at_most": round((most if most is not None else expected or 0.0) * per_hour, 1),
    }


def _best(best: Data | None, findings: Iterable[Data]) -> dict[str, float] | None:
    """What the best step of the query wins."""
    if best is None:
        return None
    steps = [step for finding in findings if finding["rule"] == best["rule"] for step in finding["steps"]]
    return next((step["recoverable"] for step in steps if step["step"] == best["step"]), None)


def _offered(query: Data) -> list[Data]:
    """Each step that Spark takes or may take for the query, once."""
    steps = [step for finding in query["findings"] for step in finding["steps"] if step["legal"] != "no"]
    return list({step["step"]: step for step in reversed(steps)}.values())


def _change(name: str, members: list[tuple[Data, Data]]) -> dict[str, Any]:
    step = members[0][1]
    ordered = sorted(members, key=lambda member: -((member[1]["recoverable"] or {}).get("expected", 0.0)))
    return {
        "step": name,
        "do": step["do"],
        "takes": step["takes"],
        "change": step["change"],
        "queries": len(members),
        "legal": dict(Counter(member["legal"] for _, member in members)),
        "recoverable": _sum(member["recoverable"] for _, member in members),
        "most_for": [query["name"] or query["id"] or query["run_id"] for query, _ in ordered[:3]],
    }


def _sum(parts: Iterable[Data | None]) -> dict[str, float]:
    known = [part for part in parts if part]
    return {key: round(sum(part[key] for part in known), 1) for key in ("expected", "at_most")}


def _most_first(query: Data) -> tuple[float, float, int, str]:
    wins = query["recoverable"] or {"expected": 0.0, "at_most": 0.0}
    dead = 0 if query["state"] in ("dead", "restarting") else 1
    return -wins["expected"], -wins["at_most"], dead, query["name"] or query["id"] or query["run_id"]


def _age(run: Data) -> tuple[bool, str]:
    """For order in time: a run that died before its first batch is the newest of its query."""
    return run["last"] is None, run["last"] or ""


def _counted(values: Iterable[str | None]) -> list[dict[str, Any]]:
    counts = Counter(value or UNKNOWN for value in values)
    return [{"value": value, "queries": count} for value, count in sorted(counts.items(), key=lambda i: (-i[1], i[0]))]


def _value(entry: Data, fact: str) -> Any:
    return (entry["facts"].get(fact) or {}).get("value")


def _at_least(entry: Data) -> str | None:
    least = _value(entry, "spark_version_at_least")
    return f"{least} or later" if least else None


def _stat(entry: Data, metric: str, stat: str) -> float | None:
    value = (entry["metrics"].get(metric) or {}).get(stat)
    return float(value) if isinstance(value, int | float) else None
