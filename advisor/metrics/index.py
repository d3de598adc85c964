"""All metrics by name, one number of each by its name, and their statistics as the report holds them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module

import numpy as np

from advisor import contract
from advisor.errors import did_you_mean, fault
from advisor.metrics import measure as measuring
from advisor.metrics.metric import AnyMetric, Estimate, Metric, Quantiles, Values, in_words
from advisor.metrics.missing import Missing
from advisor.metrics.phases import share_of
from advisor.statistics import row_quantiles
from advisor.window import Window

_MODULES = (
    "state", "flow", "backlog", "event_time", "drift", "phases", "latency", "interval", "capacity", "fetch",
    "slow_batches", "writes", "addbatch", "tasks", "repeats", "shuffles",
)  # fmt: skip
"""Every module that defines metrics."""
_ENDS = (0.50, 0.95, 0.99)
_SIX_FIGURES = 1e6


def _defined() -> Iterator[AnyMetric]:
    """Return each metric once, and its share: a module may also name those of others."""
    values = [value for name in _MODULES for value in vars(import_module(f"advisor.metrics.{name}")).values()]
    every = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    for metric in dict.fromkeys(one for one in every if isinstance(one, Metric)):
        yield metric
        if metric.share:
            yield share_of(metric)


METRICS: dict[str, AnyMetric] = {metric.name: metric for metric in _defined()}
ALL = tuple(METRICS)
assert len(METRICS) == sum(1 for _ in _defined()), "two metrics have one name"


def named(name: str) -> AnyMetric:
    """The metric of that name; KeyError with a suggestion."""
    if name not in METRICS:
        raise KeyError(f"no metric '{name}'; {did_you_mean(name, METRICS, 'advisor.metrics.METRICS lists them')}")
    return METRICS[name]


def label(name: str) -> str:
    """Return what a reader calls the metric, or another number of a report (`triggerExecution`)."""
    return METRICS[name].label if name in METRICS else in_words(name)


def measured(window: Window, name: str) -> Values:
    """The metric's plain values: an array, Bounds, Estimate, Quantiles or Missing."""
    return measuring.computed(window, named(name))


def measure(window: Window, name: str, stat: str | None = None) -> Estimate | Missing:
    """One number of the window, with its interval, or why there is none; statistics as in `measure.measure`."""
    asked = name, stat or "typical"
    found = window.memo.get(asked)
    if found is None:
        metric = named(name)
        try:
            found = measuring.measure(window, metric, stat)
        except Exception as error:  # costs this number, never the report
            found = Missing(f"{name} could not be computed ({fault(error)})")
        window.memo[asked] = found
    return found  # type: ignore[return-value]


def remember_typical(window: Window) -> None:
    """Take the typical value of each metric at once, for those who ask one by one."""
    told = _untold(ALL, window.batches.length > 0, window.opened)[1]
    found = measuring.typical(window, map(METRICS.__getitem__, told))
    window.memo.update({(name, "typical"): value for name, value in found.items()})


def sure(window: Window, name: str) -> float:
    """Return the sure part of a number in a typical batch; 0 if unknown."""
    return measuring.sure_part(measure(window, name))


def statistics(window: Window, names: Iterable[str]) -> dict[str, contract.Metric]:
    """Return each of these metrics as the report holds it: its statistics, an interval, or why there is none."""
    untold, told = _untold(tuple(names), window.batches.length > 0, window.opened)
    values: dict[str, Values] = {name: METRICS[name](window) for name in told}
    of_batches = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    ends = row_quantiles(np.array([*of_batches.values()], dtype=np.float64), _ENDS).T.tolist() if of_batches else []
    by_name = dict(zip(of_batches, ends, strict=True))
    return untold | {name: _entry(window, name, value, by_name.get(name)) for name, value in values.items()}


@lru_cache(maxsize=64)
def _untold(
    names: tuple[str, ...], any_batches: bool, opened: bool
) -> tuple[dict[str, contract.Metric], tuple[str, ...]]:
    """Return the metrics in this order, with why a window of this kind never has them, and the names of the others.

    These others hold their place until they are told.
    """
    why = {name: measuring.never_told(METRICS[name], any_batches, opened) for name in names}
    entries = {name: _missing(missing.reason if missing else "") for name, missing in why.items()}
    return entries, tuple(name for name, missing in why.items() if missing is None)


def _entry(window: Window, name: str, value: Values, ends: Sequence[float] | None) -> contract.Metric:
    typical = value if type(value) is Missing or type(value) is Quantiles else measure(window, name)
    if type(typical) is Missing:
        return _missing(typical.reason)
    unit = METRICS[name].unit
    if type(typical) is Quantiles:
        return _shared(unit=unit, p50=_round(typical.p50), p99=_round(typical.p99))
    if ends is not None:
        p50, p95, p99 = map(_round, ends)
        return _shared(unit=unit, p50=p50, p95=p95, p99=p99, typical=_round(typical.safe))
    exact = None if typical.value is None else _round(typical.value)
    return _shared(unit=unit, low=_round(typical.low), value=exact, high=_round(typical.high))


_shared = lru_cache(maxsize=4096)(contract.Metric)
"""Metrics are most of a report's memory, and of many runs many are alike: these are one object."""


@lru_cache(maxsize=1024)
def _missing(reason: str) -> contract.Metric:
    return contract.Metric(missing=reason)


@lru_cache(maxsize=1024)
def _round(number: float) -> float | None:
    """Round to six significant figures: more would be noise in a report. None of infinity, which JSON has not."""
    number = float(number)
    if number.is_integer() and abs(number) < _SIX_FIGURES:
        return number + 0.0  # no -0.0, which is equal to 0.0
    return float(f"{number:.6g}") + 0.0 if math.isfinite(number) else None
