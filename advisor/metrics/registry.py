"""What a metric is, the metrics by name, and the values that they give."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from advisor.window import Window

Unit = Literal["ms", "share", "rows", "count", "bytes", "per_second", "ratio", "ms_per_minute"]
Basis = Literal["wall", "task", "count", "bytes"]
T = TypeVar("T")
STATS = ("typical", "total", "mean", "p50", "p95", "p99", "max")


@dataclass(frozen=True)
class Missing:
    """A number that cannot be had: the reason in words, and the fact that would give it, if one would."""

    reason: str
    fact: str | None = None


@dataclass(frozen=True)
class Estimate:
    """One number with the interval in which it lies. `value` is None where only the interval is known."""

    low: float
    value: float | None
    high: float

    @property
    def safe(self) -> float:
        """What may be relied on: the value, else the low end."""
        return self.low if self.value is None else self.value


@dataclass(frozen=True)
class Bounds:
    """A batch metric that an unknown fact leaves between two values."""

    low: pd.Series[float]
    high: pd.Series[float]


@dataclass(frozen=True)
class Quantiles:
    """A window metric that has its own p50 and p99 (a latency)."""

    p50: float
    p99: float


Batchwise: TypeAlias = "pd.Series[float] | Bounds | Missing"
Windowed: TypeAlias = "Estimate | Quantiles | Missing"


@dataclass(frozen=True)
class Metric:
    """One number that rules and views read.

    `basis`: `wall` is part of the batch's clock, `task` is summed over tasks, `count`, `bytes`. `per`: one value a
    `batch` (with statistics) or one for the `window`. `phases`: columns of the phases that it lies in. `time`: whether
    milliseconds are those of a `batch` or of a record's `latency`. A share names its `part` and its `whole`, both batch
    metrics, so that `typical` and `total` are ratios of sums and the parts of a budget add up.
    """

    name: str
    unit: Unit
    basis: Basis
    meaning: str
    compute: Callable[[Window], Batchwise | Windowed]
    per: Literal["batch", "window"] = "batch"
    phases: tuple[str, ...] = ()
    time: Literal["batch", "latency"] = "batch"
    part: str | None = None
    whole: str | None = None

    @property
    def promises_ms(self) -> bool:
        """Whether a step may promise milliseconds by this metric: wall time only."""
        return self.unit == "ms" and self.basis == "wall"


METRICS: dict[str, Metric] = {}


def remembered(compute: Callable[[Window], T], name: str | None = None) -> Callable[[Window], T]:
    """The same function, which computes once per window."""
    key = name or compute.__name__

    @functools.wraps(compute)
    def once(window: Window) -> T:
        if key not in window.memo:
            window.memo[key] = compute(window)
        return window.memo[key]  # type: ignore[return-value]

    return once


def batch_metric(
    unit: Unit, basis: Basis = "wall", phases: tuple[str, ...] = ()
) -> Callable[[Callable[[Window], Batchwise]], Callable[[Window], Batchwise]]:
    """Register a function `Window -> one value per batch` under its own name, its docstring as the meaning."""

    def register(compute: Callable[[Window], Batchwise]) -> Callable[[Window], Batchwise]:
        once = remembered(compute)
        _add(Metric(compute.__name__, unit, basis, _meaning(compute), once, phases=phases))
        return once

    return register


def window_metric(
    unit: Unit,
    basis: Basis = "wall",
    time: Literal["batch", "latency"] = "batch",
    phases: tuple[str, ...] = (),
) -> Callable[[Callable[[Window], Windowed]], Callable[[Window], Windowed]]:
    """Register a function `Window -> Estimate | Quantiles | Missing` under its own name."""

    def register(compute: Callable[[Window], Windowed]) -> Callable[[Window], Windowed]:
        once, meaning = remembered(compute), _meaning(compute)
        _add(Metric(compute.__name__, unit, basis, meaning, once, per="window", time=time, phases=phases))
        return once

    return register


def share_of(part: str, name: str, meaning: str, whole: str = "trigger_execution_ms") -> None:
    """Register `name` = `part` over `whole`, batch by batch."""
    divided = METRICS[part]

    def compute(window: Window) -> Batchwise:
        return _ratio(divided.compute(window), METRICS[whole].compute(window))

    once = remembered(compute, name)
    _add(Metric(name, "share", divided.basis, meaning, once, phases=divided.phases, part=part, whole=whole))


def named(name: str) -> Metric:
    """The metric of that name; KeyError with a suggestion."""
    if name not in METRICS:
        near = difflib.get_close_matches(name, METRICS, 1)
        raise KeyError(f"no metric '{name}'" + (f"; did you mean '{near[0]}'?" if near else ""))
    return METRICS[name]


def _ratio(part: Batchwise | Windowed, whole: Batchwise | Windowed) -> Batchwise:
    if isinstance(part, Missing):
        return part
    assert isinstance(whole, pd.Series)
    numbers = whole.to_numpy(dtype=float)
    positive = np.where(numbers > 0, numbers, np.nan)
    if isinstance(part, Bounds):
        return Bounds(part.low / positive, part.high / positive)
    assert isinstance(part, pd.Series)
    return part / positive


def _meaning(compute: Callable[..., object]) -> str:
    return " ".join((compute.__doc__ or "").split())


def _add(metric: Metric) -> None:
    if metric.name in METRICS:
        raise ValueError(f"metric {metric.name} is registered twice")
    METRICS[metric.name] = metric
