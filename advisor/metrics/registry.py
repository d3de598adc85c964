"""What a metric is, and the values that metrics give."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np

from advisor.errors import fault
from advisor.window import Window

Unit = Literal["ms", "share", "rows", "count", "bytes", "per_second", "ratio", "ms_per_minute"]
Basis = Literal["wall", "task", "count", "bytes"]
T = TypeVar("T")
STATS = ("typical", "total", "mean", "p50", "p95", "p99", "max")


class Missing(msgspec.Struct, frozen=True, gc=False):
    """A number that cannot be had: the reason in words, and the fact that would give it, if one would."""

    reason: str
    fact: str | None = None


NO_BATCHES = Missing("there are no steady batches")
NOT_SEEN = Missing(
    "nothing shows the jobs of these batches (--stages reads them from event logs and from logs at INFO)"
)


class Estimate(msgspec.Struct, frozen=True, gc=False):
    """One number with the interval in which it lies. `value` is None where only the interval is known.

    `fact`: the fact that would narrow the interval, if one would.
    """

    low: float
    value: float | None
    high: float
    fact: str | None = None

    @classmethod
    def exactly(cls, number: float) -> Estimate:
        """A number without an interval."""
        return cls(number, number, number)

    @property
    def safe(self) -> float:
        """What may be relied on: the value, else the low end."""
        return self.low if self.value is None else self.value


@dataclass(frozen=True)
class Bounds:
    """A batch metric that lies between two values; `fact`: the fact that would narrow them, if one would."""

    low: np.ndarray
    high: np.ndarray
    fact: str | None = None


class Quantiles(msgspec.Struct, frozen=True, gc=False):
    """A window metric that has its own p50 and p99 (a latency)."""

    p50: float
    p99: float


Batchwise: TypeAlias = "np.ndarray | Bounds | Missing"
Windowed: TypeAlias = "Estimate | Quantiles | Missing"


@dataclass(frozen=True, eq=False)
class Metric(Generic[T]):
    """One number that rules and views read; called with a window it gives its values, computed once.

    `basis`: `wall` is part of the batch's clock, `task` is summed over tasks, `count`, `bytes`. `per`: one value a
    `batch` (with statistics) or one for the `window`. `phases`: columns of the phases that it lies in. `time`: whether
    milliseconds are those of a `batch` or of a record's `latency`. A share has its `part` and its `whole`, both batch
    metrics, so that `typical` and `total` are ratios of sums and the parts of a budget add up. `inside`: whether only
    the jobs of the batches give it. `label`: what a reader calls it, in few words; without one its name in words.
    """

    name: str
    unit: Unit
    basis: Basis
    meaning: str
    compute: Callable[[Window], T]
    per: Literal["batch", "window"] = "batch"
    phases: tuple[str, ...] = ()
    time: Literal["batch", "latency"] = "batch"
    part: BatchMetric | None = None
    whole: BatchMetric | None = None
    inside: bool = False
    label: str = ""

    def __call__(self, window: Window) -> T:
        """Its values over the window; Missing where a fault in the advisor prevents them, which costs no others."""
        found = window.memo.get(self.compute)
        if found is None:
            try:
                found = self.compute(window)
            except Exception as error:
                found = Missing(f"{self.name} could not be computed ({fault(error)})")
            window.memo[self.compute] = found
        return found  # type: ignore[return-value]

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or in_words(self.name))

    @property
    def promises_ms(self) -> bool:
        """Whether a step may promise milliseconds by this metric: wall time only."""
        return self.unit == "ms" and self.basis == "wall"


def in_words(name: str) -> str:
    """Return the name of a number as a reader may call it."""
    return name.removesuffix("_ms").replace("_", " ")


BatchMetric: TypeAlias = "Metric[Batchwise]"
WindowMetric: TypeAlias = "Metric[Windowed]"
AnyMetric: TypeAlias = "Metric[Batchwise] | Metric[Windowed]"


def remembered(compute: Callable[[Window], T]) -> Callable[[Window], T]:
    """The same function, which computes once per window."""

    @functools.wraps(compute)
    def once(window: Window) -> T:
        found = window.memo.get(compute, window)  # the window itself stands for nothing yet
        if found is window:
            window.memo[compute] = found = compute(window)
        return found  # type: ignore[return-value]

    return once


def batch_metric(
    unit: Unit, basis: Basis = "wall", phases: tuple[str, ...] = (), inside: bool = False, label: str = ""
) -> Callable[[Callable[[Window], Batchwise]], BatchMetric]:
    """A function `Window -> one value per batch` as the metric of its own name, its docstring as the meaning."""

    def made(compute: Callable[[Window], Batchwise]) -> BatchMetric:
        meaning, name = _meaning(compute), compute.__name__
        return Metric(name, unit, basis, meaning, compute, phases=phases, inside=inside, label=label)

    return made


def window_metric(
    unit: Unit,
    basis: Basis = "wall",
    time: Literal["batch", "latency"] = "batch",
    phases: tuple[str, ...] = (),
    inside: bool = False,
    label: str = "",
) -> Callable[[Callable[[Window], Windowed]], WindowMetric]:
    """A function `Window -> Estimate | Quantiles | Missing` as the metric of its own name."""

    def made(compute: Callable[[Window], Windowed]) -> WindowMetric:
        meaning, name = _meaning(compute), compute.__name__
        return Metric(
            name, unit, basis, meaning, compute, per="window", time=time, phases=phases, inside=inside, label=label
        )

    return made


def _meaning(compute: Callable[..., object]) -> str:
    return " ".join((compute.__doc__ or "").split())
