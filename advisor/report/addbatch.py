"""What addBatch of a typical batch consists of, and what was slow inside a slow one."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from advisor.contract import BatchPart, InsideBatch
from advisor.metrics import sure
from advisor.metrics.addbatch import holds, names_in
from advisor.metrics.metric import remembered
from advisor.metrics.state import as_spark_reports
from advisor.metrics.tasks import of_kind
from advisor.stages import PARTS
from advisor.stages.parts import HOME
from advisor.statistics import mean, median
from advisor.window import Window

_NAMES = [column.name for column in PARTS]
_FEWEST_MS = 0.05
_NUMBER = re.compile(r"(?: for version:?)? ?\d+")
_SLOW_PARTS = 3
_ALIKE = 1.1
"""Times a typical addBatch: parts of longer batches say nothing of it."""


def inside(window: Window) -> InsideBatch | None:
    """The parts of a typical batch's addBatch; None where nothing shows its jobs, or only those of longer batches."""
    if "jobs" not in window.batches or not len(window):
        return None
    columns = part_columns(window)
    together = np.nansum([*columns.values()], axis=0) if columns else np.zeros(len(window))
    can_be_right = together <= window.batches["trigger_execution_ms"] + 1
    shown = window.middle & ~np.isnan(window.batches["jobs"] + window.batches["tasks"]) & can_be_right
    if not shown.any():
        return None
    parts = {name: ms for name, values in columns.items() if not np.isnan(ms := mean(values[shown]))}
    together_ms = sum(parts.values())
    if together_ms > _ALIKE * (sure(window, "add_batch_ms") or np.inf):
        return None
    entries = tuple(_part(window, shown, name, round(ms, 1)) for name, ms in parts.items() if ms >= _FEWEST_MS)
    return InsideBatch(
        ms=round(together_ms, 1),
        batches=int(shown.sum()),
        parts=entries,
        **{name: round(float(window.batches[name][shown].mean()), 1) for name in ("jobs", "stages", "tasks")},
        waited_for=tuple(sorted({name for text in window.batches["waited_for"][shown] for name in names_in(text)})),
    )


def slow_inside(window: Window, at: int) -> tuple[BatchPart, ...]:
    """The parts of a batch's addBatch that were above their own median, the furthest first, if jobs were seen."""
    if "jobs" not in window.batches or np.isnan(window.batches["jobs"][at]):
        return ()
    columns = part_columns(window)
    above = {name: float(values[at]) - median(values) for name, values in columns.items()}
    longest = sorted((name for name, ms in above.items() if ms > _FEWEST_MS), key=lambda name: -above[name])
    this = np.arange(len(window)) == at
    return tuple(_part(window, this, name, round(float(columns[name][at]), 1)) for name in longest[:_SLOW_PARTS])


@remembered
def part_columns(window: Window) -> dict[str, np.ndarray]:
    """Return the parts that some batch has, 0 for a batch with visible jobs and without the part."""
    if "jobs" not in window.batches:
        return {}
    seen = ~np.isnan(window.batches["jobs"])
    columns = {name: window.batches[name] for name in _NAMES if name in window.batches}
    told = {name: values for name, values in columns.items() if not np.isnan(values).all()}
    return as_spark_reports({name: np.where(np.isnan(ms) & seen, 0.0, ms) for name, ms in told.items()}, window)


def _part(window: Window, shown: np.ndarray, name: str, ms: float) -> BatchPart:
    what, tasks = _work(window, shown, name)
    short = name.removesuffix("_ms")
    return BatchPart(name=short, ms=ms, holds=holds(window, shown, short), what=what, tasks=tasks)


def _work(window: Window, shown: np.ndarray, name: str) -> tuple[str | None, int | None]:
    """(what jobs of this part say of themselves, if they do; how many tasks its stages have in a typical batch)."""
    there = shown[window.stages["batch"]] & of_kind(window, *(str(kind) for kind in HOME if HOME[kind] == name))
    if not there.any():
        return None, None
    batches = window.stages["batch"][there]
    tasks = np.bincount(batches, window.stages["tasks"][there], len(window))
    texts = Counter(_NUMBER.sub("", text).strip(" :") for text in window.stages["what"][there] if text)
    what = texts.most_common(1)[0][0] if texts and name == "table_log_ms" else None
    ran = tasks[tasks > 0]  # none where Spark made a stage without one
    return what, round(median(ran)) if len(ran) else None
