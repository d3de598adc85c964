"""The levels of a window that are compared: triggerExecution, its phases, record latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from advisor.comparison.bootstrap import Blocks, Level, blocks
from advisor.metrics import Missing, Quantiles, measured
from advisor.metrics.addbatch import holds
from advisor.metrics.latency import Mixture, mixture
from advisor.metrics.phases import summed, unaccounted_ms
from advisor.metrics.state import as_spark_reports
from advisor.stages import PARTS
from advisor.window import PHASES, Window

TOTAL = "triggerExecution"
REST = ("other", "unaccounted")


def _called(*columns: str) -> str:
    return f"addBatch: {' + '.join(column.removesuffix('_ms').replace('_', ' ') for column in columns)}"


INSIDE = {_called(part.name): (part.name,) for part in PARTS}
"""Parts of addBatch by the names of their effects, and the columns that add up to each."""
_BY_KIND_OF_LOG = ("driver_ms", "planning_ms", "slots_wait_ms")
"""Parts that some kinds of logs never show; such logs also divide the other parts differently."""
LATENCIES = {"p50": 0.50, "p99": 0.99}
_KNOTS = 400  # points at which the distribution of the record latency is held
FEWEST = 10  # steady batches that a comparison needs


@dataclass(frozen=True)
class Levels:
    """The levels of one window in ms. `typical` by Spark's name of the phase; the phases add up to triggerExecution.

    Beside them the parts of addBatch, where the jobs of each batch were seen. `mean`: triggerExecution over all
    batches, rare slow ones too. `latency`: p50 and p99, or why there are none.
    """

    typical: dict[str, Level]
    mean: Level
    latency: dict[str, Level] | Missing


def timed(window: Window) -> Window:
    """Return the batches of a window whose length is known."""
    return window.only(~np.isnan(window.batches["trigger_execution_ms"]), window.because)


def levels(window: Window, inside: Mapping[str, tuple[str, ...]] = INSIDE) -> Levels:
    """The levels of a window of at least FEWEST timed batches."""
    parts = _parts(window, inside)
    total, cut = parts[TOTAL], blocks(parts[TOTAL])
    drawn = np.concatenate([weights @ total / weights.sum(axis=1) for weights in cut.weights()])
    mean = cut.around(float(total.mean()), drawn)
    return Levels(typical(parts, cut, window.middle), mean, _latencies(window, cut))


def typical(parts: Mapping[str, np.ndarray], cut: Blocks, inside: np.ndarray) -> dict[str, Level]:
    """The mean of each of the parts over the batches between p25 and p75 of triggerExecution: those marked `inside`.

    A drifting window has a long memory, so few blocks are drawn and the level is as uncertain as it moves.
    """
    values = np.column_stack(list(parts.values()))
    order = np.argsort(parts[TOTAL], kind="stable")
    drawn = np.concatenate([middle(weights[:, order]) @ values[order] for weights in cut.weights()])
    seen = values[inside].mean(axis=0)
    return {name: cut.around(float(seen[i]), drawn[:, i]) for i, name in enumerate(parts)}


def _parts(window: Window, inside: Mapping[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    phases = {name: summed(window, (column,)) for column, name in PHASES.items()}
    rest = unaccounted_ms(window)
    assert isinstance(rest, np.ndarray)
    parts = {**phases, REST[0]: window.batches["other_phases_ms"], REST[1]: rest}
    parts |= _inside(window, inside)
    known = ((name, ms) for name, ms in parts.items() if ms.any() and not np.isnan(ms).any())
    return {TOTAL: window.batches["trigger_execution_ms"]} | dict(known)


def opened_alike(before: Window, after: Window) -> bool | None:
    """Whether logs of one kind opened addBatch in both; None where a batch of one was not opened."""
    if not (is_opened(before) and is_opened(after)):
        return None
    return all(np.isnan(before.batches[part]).all() == np.isnan(after.batches[part]).all() for part in _BY_KIND_OF_LOG)


def is_opened(window: Window) -> bool:
    """Whether the jobs of each batch were seen."""
    return "jobs" in window.batches and not np.isnan(window.batches["jobs"]).any()


def parts_apart(before: Window, after: Window) -> dict[str, tuple[str, ...]]:
    """Return the parts of addBatch as INSIDE does; those that only one side tells apart are one.

    The time of a stage that reads and writes is its read's. Once two stages do so, each has its own.
    """
    groups = [{part.name} for part in PARTS]
    for part in PARTS if is_opened(before) and is_opened(after) else ():
        held = [_held(window, part.name) for window in (before, after)]
        if held[0] != held[1]:
            joined = [group for group in groups if group & {part.name, *held[0], *held[1]}]
            groups = [*(group for group in groups if group not in joined), set.union(*joined)]
    of_each = (next(group for group in groups if part.name in group) for part in PARTS)
    ordered = (tuple(part.name for part in PARTS if part.name in group) for group in of_each)
    return {_called(*columns): columns for columns in ordered}


def _held(window: Window, column: str) -> set[str]:
    """Return the parts whose time this one holds, as columns."""
    seen = ~np.isnan(window.batches["jobs"])
    return {f"{name}_ms" for name in holds(window, seen, column.removesuffix("_ms"))}


def _inside(window: Window, inside: Mapping[str, tuple[str, ...]]) -> dict[str, np.ndarray]:
    if not is_opened(window):
        return {}
    columns = {part.name: np.nan_to_num(window.batches[part.name]) for part in PARTS}
    told = as_spark_reports(columns, window)
    return {name: np.sum([told[column] for column in columns], axis=0) for name, columns in inside.items()}


def middle(weights: np.ndarray) -> np.ndarray:
    """The weight of each batch in the mean of the middle half; batches in order of length, one row per draw."""
    drawn = np.cumsum(weights, axis=1)
    quarter = drawn[:, -1:] / 4
    inside = np.clip(drawn, quarter, 3 * quarter)
    inside[:, 1:] -= inside[:, :-1].copy()
    inside[:, :1] -= quarter
    kept: np.ndarray = inside / (2 * quarter)
    return kept


def _latencies(window: Window, cut: Blocks) -> dict[str, Level] | Missing:
    seen, mixed = measured(window, "record_latency_ms"), mixture(window)
    if not isinstance(mixed, Mixture) or not isinstance(seen, Quantiles):
        return seen if isinstance(seen, Missing) else Missing("there are no steady batches")
    width = np.maximum(mixed.width, 1e-9)
    ends = np.concatenate([mixed.start, mixed.start + width])
    knots = np.unique(np.quantile(ends, np.linspace(0, 1, _KNOTS)))
    below = np.clip((knots - mixed.start[:, None]) / width[:, None], 0, 1) * mixed.rows[:, None]
    drawn = []
    for weights in (every[:, mixed.known] for every in cut.weights()):
        reached = weights @ below / np.maximum(weights @ mixed.rows, 1e-9)[:, None]
        drawn.append([_where(knots, reached, wanted) for wanted in LATENCIES.values()])
    of_each = zip(LATENCIES, (seen.p50, seen.p99), np.concatenate(drawn, axis=1), strict=True)
    return {name: cut.around(value, draws) for name, value, draws in of_each}


def _where(knots: np.ndarray, reached: np.ndarray, wanted: float) -> np.ndarray:
    """Where so large a share of the rows is reached; `reached`: up to each of the knots, a row for each draw."""
    above = np.clip((reached < wanted).sum(axis=1), 1, len(knots) - 1)
    draw = np.arange(len(reached))
    low, high = reached[draw, above - 1], reached[draw, above]
    part = np.clip((wanted - low) / np.maximum(high - low, 1e-12), 0, 1)
    found: np.ndarray = knots[above - 1] + part * (knots[above] - knots[above - 1])
    return found
