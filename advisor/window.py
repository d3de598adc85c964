"""The steady batches of one run that are judged together, and why these."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches import operators, sources

if TYPE_CHECKING:
    from advisor.facts import Facts

LONGEST_WARM_UP = 50  # batches after a start that can still be cold
CALM_BATCHES = 5  # this many fast batches in a row end the warm-up
WARM_UP_FACTOR = 1.5  # a batch is cold until it stays under this times the later median
MOST_BATCHES = 10_000  # the last ones of a run that are judged
FEWEST_IN_REGIME = 15  # batches that a regime needs on each side of its change point
REGIME_P = 0.001  # chance that an even series shows such a split
REGIME_RATIO = 1.3  # medians of two regimes differ at least by this factor
REGIME_MS = 20.0  # ... and by this much

PHASES: dict[str, str] = {
    "latest_offset_ms": "latestOffset",
    "get_offset_ms": "getOffset",
    "get_end_offset_ms": "getEndOffset",
    "set_offset_range_ms": "setOffsetRange",
    "wal_commit_ms": "walCommit",
    "get_batch_ms": "getBatch",
    "query_planning_ms": "queryPlanning",
    "add_batch_ms": "addBatch",
    "commit_offsets_ms": "commitOffsets",
    "commit_batch_ms": "commitBatch",
    "collect_source_metrics_ms": "collectSourceMetrics",
    "post_add_batch_callback_ms": "postAddBatchCallback",
    "post_commit_batch_callback_ms": "postCommitBatchCallback",
}
"""Column of a phase -> Spark's own name of it, in the order of a batch's life."""


@dataclass(frozen=True)
class Window:
    """Steady batches of one run.

    `batches`: one row per batch, in order of time, columns of `batches.COLUMNS` without the lists, plus
    `interval_ms` (this trigger's start less the start of the trigger before) and `between_batches_ms`.
    `operators`, `sources`: one row per batch and operator or source; column `batch` is the row's index in `batches`.
    `executed`: every executed batch of the run, cold and no-data ones too. `because`: why these batches.
    """

    batches: pd.DataFrame
    operators: pd.DataFrame
    sources: pd.DataFrame
    executed: pd.DataFrame
    facts: Facts
    because: str
    memo: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.batches)

    @cached_property
    def middle(self) -> pd.Series[bool]:
        """Which batches lie between p25 and p75 of triggerExecution: those that `typical` averages."""
        duration = self.batches["trigger_execution_ms"]
        low, high = duration.quantile(0.25, interpolation="lower"), duration.quantile(0.75, interpolation="higher")
        return duration.between(low, high)

    def with_facts(self, facts: Facts) -> Window:
        """The same batches, judged with other facts."""
        return replace(self, facts=facts, memo={})

    def only(self, keep: pd.Series[bool], because: str) -> Window:
        """The batches for which `keep` is true, and their operators and sources."""
        batches = self.batches[keep]
        return replace(
            self,
            batches=batches,
            operators=self.operators[self.operators["batch"].isin(batches.index)],
            sources=self.sources[self.sources["batch"].isin(batches.index)],
            because=because,
            memo={},
        )


def run_window(table: pa.Table, facts: Facts) -> Window:
    """The steady batches of one run.

    `table`: rows of one run by `batches.SCHEMA`, in order of time, idle ones included. May come back empty.
    """
    executed_table = table.filter(pc.invert(table["idle"]))
    executed_table = executed_table.slice(max(0, len(executed_table) - MOST_BATCHES - LONGEST_WARM_UP))
    executed = _flat(executed_table)
    executed["cold"] = cold(executed)
    whole = Window(
        batches=executed,
        operators=operators(executed_table).rename_axis("batch").reset_index(),
        sources=sources(executed_table).rename_axis("batch").reset_index(),
        executed=executed,
        facts=facts,
        because="",
    )
    steady = ~executed["cold"] & (executed["input_rows"] != 0)
    steady &= steady.iloc[::-1].cumsum().iloc[::-1].le(MOST_BATCHES)
    return whole.only(steady, "all steady batches of the run")


def _flat(table: pa.Table) -> pd.DataFrame:
    plain = table.drop_columns(["operators", "sources", "other_phases"])
    frame: pd.DataFrame = plain.cast(_of_floats(plain.schema), safe=False).to_pandas()
    other = table["other_phases"].to_pylist()
    frame["interval_ms"] = intervals(frame)
    frame["other_phases_ms"] = [sum(ms for _, ms in phases) if phases else 0 for phases in other]
    started = _since_last(frame)
    consecutive = frame["batch_id"].diff() == 1
    gap = started - frame["trigger_execution_ms"].shift()
    frame["between_batches_ms"] = gap.where(consecutive & (frame["interval_ms"] >= started - 1)).clip(lower=0)
    return frame


def _of_floats(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(pa.float64()) if _is_number(field.type) else field for field in schema])


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def intervals(frame: pd.DataFrame) -> pd.Series[float]:
    """Milliseconds from the start of the trigger before to this one's; NaN where nothing tells.

    Spark's inputRowsPerSecond is rows over just that time, idle triggers included; timestamps tell it where no
    idle trigger lay between. The smaller of both is taken.
    """
    by_rate = (frame["input_rows"] / frame["input_rows_per_second"] * 1000).replace([np.inf, 0], np.nan)
    by_clock = _since_last(frame).where(frame["batch_id"].diff() == 1)
    by_clock = by_clock.where(by_clock > 0)
    # Spark 4.1 rounds the rate to one decimal: below ten rows a second it says nothing about milliseconds.
    by_rate = by_rate.where((frame["input_rows_per_second"] >= 10) | by_clock.isna())
    interval: pd.Series[float] = pd.concat([by_clock, by_rate], axis=1).min(axis=1)
    return interval


def _since_last(frame: pd.DataFrame) -> pd.Series[float]:
    return frame["timestamp"].diff().dt.total_seconds() * 1000  # type: ignore[arg-type]


def cold(executed: pd.DataFrame) -> pd.Series[bool]:
    """Which batches still pay for the start of the run.

    The first of a run (batchId 0, or no inputRowsPerSecond), and those after it until triggerExecution stays under
    1.5 x the run's later median, at most 50.
    """
    marked = pd.Series(False, index=executed.index)
    if executed.empty or not _is_start(executed.iloc[0]):
        return marked
    duration = executed["trigger_execution_ms"].to_numpy()
    later = duration[min(LONGEST_WARM_UP, len(duration) // 2) :]
    slow = np.flatnonzero(duration[:LONGEST_WARM_UP] >= WARM_UP_FACTOR * np.nanmedian(later))
    marked.iloc[: _last_of_warm_up(slow) + 1] = True
    return marked


def _last_of_warm_up(slow: np.ndarray) -> int:
    """Position of the last slow batch that no more than five calm ones part from the start.

    A spike in every tenth batch (a compaction) is no warm-up.
    """
    last = 0
    for index in slow:
        if index - last > CALM_BATCHES:
            break
        last = int(index)
    return last


def _is_start(first: pd.Series) -> bool:
    rate = first["input_rows_per_second"]
    return first["batch_id"] == 0 or (bool(first["input_rows"]) and (pd.isna(rate) or rate == 0))


def latest_regime(window: Window) -> tuple[Window, Window | None]:
    """The batches since the last change point, and those between it and the change point before (or None)."""
    at, before = _last_change(window.batches["trigger_execution_ms"].to_numpy(dtype=float))
    if at == 0:
        return window, None
    position = pd.Series(np.arange(len(window)), index=window.batches.index)
    when = window.batches["timestamp"].iloc[at]
    latest = window.only(position >= at, f"since the change at {when:%Y-%m-%d %H:%M:%S} UTC")
    return latest, window.only((position < at) & (position >= before), "before the change")


def _last_change(duration: np.ndarray) -> tuple[int, int]:
    """Positions of the last two change points; 0 where there is none."""
    at, before = 0, 0
    while (split := change_point(duration[at:])) is not None:
        at, before = at + split, at
    return at, before


def change_point(series: np.ndarray) -> int | None:
    """Where a series changes its level, or None.

    Pettitt's rank test (Applied Statistics 28, 1979): U(t) = 2 x (sum of the first t ranks) - t x (n + 1), approximate
    p = 2 exp(-6 K^2 / (n^3 + n^2)) with K = max |U|. The medians must differ too: a test on ten thousand batches
    sees differences that nobody feels.
    """
    n = len(series)
    if n < 2 * FEWEST_IN_REGIME:
        return None
    ranks = pd.Series(series).rank().to_numpy()
    t = np.arange(1, n)
    u = np.abs(2 * np.cumsum(ranks)[:-1] - t * (n + 1))
    # K itself leans towards the middle: the place is where U is largest for its own spread.
    possible = slice(FEWEST_IN_REGIME - 1, n - FEWEST_IN_REGIME)
    at = int(np.argmax((u / np.sqrt(t * (n - t)))[possible])) + FEWEST_IN_REGIME
    inside = u[possible]
    p = 2 * np.exp(-6 * float(inside.max()) ** 2 / (float(n) ** 3 + float(n) ** 2))
    old, new = np.median(series[:at]), np.median(series[at:])
    differs = max(old, new) >= REGIME_RATIO * min(old, new) and abs(new - old) >= REGIME_MS
    return _parted(series, old, new, possible) if p < REGIME_P and differs else None


def _parted(series: np.ndarray, old: float, new: float, possible: slice) -> int:
    """Where most batches before are nearer to the old level and most from there on to the new one.

    Ranks leave the place off by up to a dozen batches: those next to it look alike when they happen to be in order.
    """
    nearer = np.where(np.abs(series - old) < np.abs(series - new), 1, -1)
    return int(np.argmax(np.cumsum(nearer)[possible])) + FEWEST_IN_REGIME
