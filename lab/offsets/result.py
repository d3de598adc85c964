"""What the benchmark found: every run, and what they say together."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import advisor
from advisor.contract import plain
from advisor.errors import InputError
from advisor.facts.confs import ASYNC_INTERVAL_MS
from lab.offsets.cells import BASELINE, CONFIGURATIONS, PUBLISHED, Planned
from lab.offsets.entries import OffsetCell, OffsetConfiguration, OffsetResult
from lab.offsets.table import FEWEST

SCHEMA_VERSION: Final = 1
KEPT_UP: Final = 0.99
_CELL: Final = ("path", "checkpoint", "delay_ms", "rate", "interval_ms", "spark_version")
Run = Mapping[str, Any]
_WHAT: Final = {
    "stat": "Record created -> handed to the sink by its task; 1,000 records of each second, evenly chosen.",
    "kafka": "Record created -> visible in the outgoing topic (the broker's time of arrival), every record.",
}


def entry(planned: Planned, told: Run, spark_version: str) -> dict[str, Any]:
    """A run with what it was made for."""
    path, checkpoint, rate, interval = planned.cell
    where = {"path": path, "checkpoint": checkpoint.kind, "delay_ms": checkpoint.delay_ms, "rate": rate}
    return {**where, "interval_ms": interval, "spark_version": spark_version, **told}


def result(runs: Sequence[Run]) -> OffsetResult:
    """Runs and cells; a cell holds its configurations, with medians over the runs of each."""
    cells: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        cells.setdefault(tuple(run[key] for key in _CELL), []).append(run)
    return OffsetResult(
        schema_version=SCHEMA_VERSION,
        advisor_version=advisor.__version__,
        python_version=platform.python_version(),
        measured=_WHAT,
        cells=tuple(
            OffsetCell(**dict(zip(_CELL, cell, strict=True)), configurations=tuple(_all(of)))
            for cell, of in cells.items()
        ),
        runs=tuple(dict(run) for run in runs),
        limits=tuple(_limits(runs)),
    )


def _all(runs: Sequence[Run]) -> Iterator[OffsetConfiguration]:
    """The configurations of one cell, each beside the baseline."""
    base = _one(BASELINE, [run for run in runs if run["configuration"] == BASELINE], None)
    for name in CONFIGURATIONS:
        found = base if name == BASELINE else _one(name, [run for run in runs if run["configuration"] == name], base)
        if found is not None:
            yield found


def _one(name: str, runs: Sequence[Run], base: OffsetConfiguration | None) -> OffsetConfiguration | None:
    if not runs:
        return None
    trigger, measured = _middle(runs, "trigger_ms"), _middle(runs, "measured")
    latency = {key: value for key, value in measured.items() if key in ("p50", "p99", "p99.9")}
    return OffsetConfiguration(
        name=name,
        runs=len(runs),
        batches=min(run["batches"] for run in runs),
        trigger_ms=trigger,
        phases_ms=_middle(runs, "phases_ms"),
        latency_ms=latency,
        estimated_ms=_middle(runs, "estimated_ms"),
        p50_of_runs_ms=tuple(sorted(run["measured"]["p50"] for run in runs if "p50" in run.get("measured", {}))),
        purged_files=int(measured.get("purged_files", 0)),
        kept_up=all(kept_up(run) for run in runs),
        refused=next((run["refused"] for run in runs if run.get("refused")), None),
        change=_change(base, trigger, latency) if base else {},
        published=PUBLISHED[runs[0]["path"]].get(name),
    )


def _middle(runs: Sequence[Run], key: str) -> dict[str, float]:
    """The median over runs of each number that all of them have."""
    found = [run.get(key) or {} for run in runs]
    return {name: median(one[name] for one in found) for name in found[0] if all(name in one for one in found)}


def _change(base: OffsetConfiguration, trigger: dict[str, float], latency: dict[str, float]) -> dict[str, float]:
    pairs = {"batch": (base.trigger_ms.get("p50"), trigger.get("p50"))}
    pairs |= {name: (base.latency_ms.get(name), latency.get(name)) for name in ("p50", "p99")}
    return {name: new / old - 1 for name, (old, new) in pairs.items() if old and new is not None}


def kept_up(run: Run) -> bool:
    """Whether the load was what it should be, and all of it came through."""
    measured = run.get("measured", {})
    achieved, missing = measured.get("achieved_per_second", 0.0), measured.get("missing_share", 0.0)
    return bool(achieved >= KEPT_UP * run["rate"] and missing <= 1 - KEPT_UP)


def _limits(runs: Sequence[Run]) -> Iterable[str]:
    yield "Medians over runs; how far runs of one configuration differ stands in p50_of_runs_ms."
    if any(run["batches"] < FEWEST for run in runs):
        yield f"Runs with fewer than {FEWEST} steady batches: a purge starts after 100, so these show less of it."
    if not all(kept_up(run) for run in runs):
        yield "Where a run did not keep up, its quantiles are too low: the slowest records are not among them."


def read(path: Path) -> list[dict[str, Any]]:
    """The runs of a result that was written before; InputError for any other file."""
    try:
        return [{"interval_ms": ASYNC_INTERVAL_MS, **run} for run in json.loads(path.read_text())["runs"]]
    except (ValueError, KeyError, TypeError):
        raise InputError(str(path), "is not a result of this benchmark", "give a file written by --save-runs") from None


def write(result: OffsetResult, path: Path) -> None:
    """Write the result as JSON."""
    path.write_text(as_json(result))


def as_json(result: OffsetResult) -> str:
    """The result as JSON that ends in a line break."""
    return json.dumps(plain(result), indent=2, ensure_ascii=False) + "\n"
