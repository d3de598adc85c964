"""Noise of real runs, resampled in blocks: series as long as a test wants, with the memory that real batches have."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from advisor.batches import RunBatches
from advisor.comparison.levels import TOTAL
from advisor.facts import Facts
from advisor.regime import latest_regime
from advisor.sources import files
from advisor.window import Window, run_window

SAMPLES = Path(__file__).parents[2] / "sample_progress"
RUNS = (
    "LG001/rate-to-noop-3.5.9", "LG001/rate-to-noop-4.3.0", "LG002/interval-0-3.5.9", "LG002/interval-0-4.3.0",
    "LG005/switched-off-3.5.9", "ST002/rocksdb-without-changelog-4.3.0", "ST005/8-partitions-on-2-slots-4.3.0",
)  # fmt: skip
BLOCK = 12  # longer than the memory of any of these runs asks for, so that it is kept


@lru_cache
def windows() -> tuple[Window, ...]:
    """The latest regime of the longest run in each recording."""
    return tuple(_longest(run) for run in RUNS)


def _longest(name: str) -> Window:
    reading = files.read([str(SAMPLES / name)], sightings=False)
    found = [run_window(table, Facts({})) for table in RunBatches(reading.batches).values()]
    return latest_regime(max(found, key=len))[0]


def series(batches: int, seed: int) -> np.ndarray:
    """Batch lengths in ms: blocks of one recorded run, chosen by the seed."""
    recorded = windows()[seed % len(RUNS)].batches["trigger_execution_ms"]
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, len(recorded), (-(-batches // BLOCK), 1))
    drawn: np.ndarray = recorded[(starts + np.arange(BLOCK)) % len(recorded)].ravel()[:batches]
    return drawn


def table(lengths: np.ndarray) -> dict[str, np.ndarray]:
    """Batches of which nothing but their length is known."""
    return {TOTAL: lengths}
