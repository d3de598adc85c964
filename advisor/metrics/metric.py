"""What a metric is, and the values that metrics give."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar, final

import msgspec
import numpy as np

from advisor.errors import fault
from advisor.metrics.missing import NO_READER, NOT_SEEN, Missing, MissingError
from advisor.window import Window

Unit = Literal["ms", "share", "rows", "count", "bytes", "per_second", "ratio", "ms_per_minute"]
Basis = Literal["wall", "task", "count", "bytes"]
T = TypeVar("T")
STATS = ("typical", "total", "mean", "p50", "p95", "p99", "max")


@final
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

    @property
    def ends(self) -> tuple[float, float, float]:
        """The low end, what may be relied on, and the high end."""
        return self.low, self.safe, self.high


@dataclass(frozen=True)
class Bounds:
    """A batch metric that lies between two values; `fact`: the fact that would narrow them, if one would."""

    low: np.ndarray
    high: np.ndarray
    fact: str | None = None


@final
class Quantiles(msgspec.Struct, frozen=True, gc=False):
    """A window metric that has its own p50 and p99 (a latency)."""

    p50: float
    p99: float


@dataclass(frozen=True, eq=False)
class Metric(Generic[T]):
    """One number that rules and views read; called with a window it gives its values, computed once.

    `basis`: `wall` is part of the batch's clock, `task` is summed over tasks, `count`, `bytes`. `per`: one value a
    `batch` (with statistics) or one for the `window`. `phases`: columns of the phases that it lies in. `time`: whether
    milliseconds are those of a `batch` or of a record's `latency`. A share has its `part` and its `whole`, both batch
    metrics, so that `typical` and `total` are ratios of sums and the parts of a budget add up. `inside`: whether only
    the jobs of the batches give it. `label`: what a reader calls it, in few words; without one its name in words.
    `share`: whether its share of the batch is a metric, too.
    """

    name: str
    unit: Unit
    basis: Basis
    meaning: str
    compute: Callable[[Window], T | Missing]
    per: Literal["batch", "window"] = "batch"
    phases: tuple[str, ...] = ()
    time: Literal["batch", "latency"] = "batch"
    part: BatchMetric | None = None
    whole: Metric[np.ndarray] | None = None
    inside: bool = False
    label: str = ""
    share: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or in_words(self.name))

    def __call__(self, window: Window) -> T | Missing:
        """Its values over the window; Missing where a fault in the advisor prevents them, which costs no others."""
        found = window.memo.get(self.compute)
        if found is None:
            try:
                found = self.compute(window)
            except MissingError as error:
                found = error.missing
            except Exception as error:
                found = Missing(f"{self.name} could not be computed ({fault(error)})")
            window.memo[self.compute] = found
        return found  # type: ignore[return-value]

    @property
    def promises_ms(self) -> bool:
        """Whether a step may promise milliseconds by this metric: wall time only."""
        return self.unit == "ms" and self.basis == "wall"


def in_words(name: str) -> str:
    """Return the name of a number as a reader may call it."""
    return name.removesuffix("_ms").replace("_", " ")


Batchwise: TypeAlias = "np.ndarray | Bounds"
BatchMetric: TypeAlias = "Metric[np.ndarray] | Metric[Batchwise]"
AnyMetric: TypeAlias = "BatchMetric | Metric[Estimate] | Metric[Quantiles]"
Values: TypeAlias = "np.ndarray | Bounds | Estimate | Quantiles | Missing"


def remembered(compute: Callable[[Window], T]) -> Callable[[Window], T]:
    """The same function, which computes once per window."""

    @functools.wraps(compute)
    def once(window: Window) -> T:
        found = window.memo.get(compute, window)  # the window itself stands for nothing yet
        if found is window:
            window.memo[compute] = found = compute(window)
        return found  # type: ignore[return-value]

    return once


def metric(unit: Unit, basis: Basis = "wall", **more: Any) -> Callable[[Callable[[Window], T | Missing]], Metric[T]]:
    """A function of a window as the metric of its own name, its docstring as the meaning; `more` as in `Metric`."""

    def made(compute: Callable[[Window], T | Missing]) -> Metric[T]:
        meaning = " ".join((compute.__doc__ or "").split())
        return Metric(compute.__name__, unit, basis, meaning, compute, **more)

    return made


batch_metric = metric
"""For a function that returns one value per batch."""
bounded_metric: Callable[..., Callable[[Callable[[Window], Batchwise | Missing]], Metric[Batchwise]]] = metric
"""For one that may know only bounds of them."""


def window_metric(
    unit: Unit, basis: Basis = "wall", **more: Any
) -> Callable[[Callable[[Window], float | Estimate | Missing]], Metric[Estimate]]:
    """For a function that returns one number of the whole window, with its interval where it has one."""

    def made(compute: Callable[[Window], float | Estimate | Missing]) -> Metric[Estimate]:
        @functools.wraps(compute)
        def estimate(window: Window) -> Estimate | Missing:
            found = compute(window)
            return found if type(found) is Missing or type(found) is Estimate else Estimate.exactly(float(found))

        return metric(unit, basis, per="window", **more)(estimate)

    return made


def stage_metric(
    unit: Unit, basis: Basis = "wall", *, of_reads: bool = False, **more: Any
) -> Callable[[Callable[[Window], T | Missing]], Metric[T]]:
    """For a function that takes the stages of a window, which it then has; milliseconds lie in addBatch.

    `of_reads`: it looks for stages that read the source, so that 0 is unknown where one of several stages may read it.
    """

    def made(compute: Callable[[Window], T | Missing]) -> Metric[T]:
        @functools.wraps(compute)
        def where_seen(window: Window) -> T | Missing:
            found = compute(window) if len(window.stages) else NOT_SEEN
            return _where_reads_are_known(window, found) if of_reads and isinstance(found, np.ndarray) else found

        phases = ("add_batch_ms",) if unit == "ms" else ()
        return metric(unit, basis, phases=phases, inside=True, **more)(where_seen)

    return made


def _where_reads_are_known(window: Window, found: Any) -> Any:
    """Return the values; NaN instead of 0 where a stage of the batch may read the source, or may not."""
    maybe = window.stages["batch"][window.stages["kind"] == None]  # noqa: E711 (element by element)
    known = np.where((np.bincount(maybe, minlength=len(window)) > 0) & (found == 0), np.nan, found)
    return NO_READER if len(maybe) and np.isnan(known).all() else known
