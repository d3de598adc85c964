"""What the benchmark of offset and commit logs found, as its table and its chart read it; times in milliseconds."""

from __future__ import annotations

from typing import Any

import msgspec


class OffsetConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one configuration in one cell: medians over the runs of each number that all of them have."""

    name: str
    runs: int
    batches: int
    """Of the run that has the fewest."""
    trigger_ms: dict[str, float]
    phases_ms: dict[str, float]
    latency_ms: dict[str, float]
    estimated_ms: dict[str, float]
    """What progress alone says of the latency."""
    p50_of_runs_ms: tuple[float, ...]
    purged_files: int
    kept_up: bool
    refused: str | None
    change: dict[str, float]
    """Shares of the baseline, negative where it is faster; empty for the baseline, and without one."""
    published: tuple[float, float] | None
    """From and to: the change that others published."""


class OffsetCell(msgspec.Struct, frozen=True, kw_only=True):
    """One path, checkpoint, rate and interval, with what was measured there."""

    path: str
    checkpoint: str
    delay_ms: float
    rate: int
    interval_ms: int
    spark_version: str
    configurations: tuple[OffsetConfiguration, ...]


class OffsetResult(msgspec.Struct, frozen=True, kw_only=True):
    """All runs, as they were written, and what they say together."""

    schema_version: int
    advisor_version: str
    python_version: str
    measured: dict[str, str]
    """What latency means on each path."""
    cells: tuple[OffsetCell, ...]
    runs: tuple[dict[str, Any], ...]
    limits: tuple[str, ...]
