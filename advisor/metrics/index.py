"""All metrics by name, and one number of each by its name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from advisor.errors import did_you_mean, fault
from advisor.metrics import (
    addbatch,
    backlog,
    cost,
    drift,
    event_time,
    fetch,
    files,
    flow,
    headroom,
    latency,
    limits,
    parallel,
    phases,
    quality,
    repeats,
    shuffles,
    skew,
    slots,
    slowdowns,
    spikes,
    state,
    state_operators,
    tasks,
    writes,
)
from advisor.metrics import measure as measuring
from advisor.metrics.registry import NOT_SEEN, AnyMetric, Batchwise, Estimate, Metric, Missing, Windowed, in_words
from advisor.window import Window

_MODULES = (
    state_operators,
    state,
    flow,
    backlog,
    limits,
    event_time,
    files,
    drift,
    phases,
    latency,
    cost,
    headroom,
    fetch,
    spikes,
    slowdowns,
    quality,
    writes,
    addbatch,
    tasks,
    repeats,
    skew,
    shuffles,
    parallel,
    slots,
)
"""Every module that defines metrics."""


def _defined() -> Iterator[AnyMetric]:
    """Return each metric once: a module may also name those of others."""
    values = [value for module in _MODULES for value in vars(module).values()]
    every = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    yield from dict.fromkeys(one for one in every if isinstance(one, Metric))


METRICS: dict[str, AnyMetric] = {metric.name: metric for metric in _defined()}
_OF_PROGRESS = {name: metric for name, metric in METRICS.items() if not metric.inside}
"""Metrics that progress alone may give."""
_NOT_SEEN = {name: NOT_SEEN for name, metric in METRICS.items() if metric.inside}
"""The others, where nothing shows jobs."""
assert len(METRICS) == sum(1 for _ in _defined()), "two metrics have one name"


def named(name: str) -> AnyMetric:
    """The metric of that name; KeyError with a suggestion."""
    if name not in METRICS:
        raise KeyError(f"no metric '{name}'; {did_you_mean(name, METRICS, 'advisor.metrics.METRICS lists them')}")
    return METRICS[name]


def label(name: str) -> str:
    """Return what a reader calls the metric, or another number of a report (`triggerExecution`)."""
    return METRICS[name].label if name in METRICS else in_words(name)


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
    metrics = METRICS if window.opened else _OF_PROGRESS
    if window.batches.length:
        values = {name: metric(window) for name, metric in metrics.items()}
        window.memo.update(values)
        window.memo.update({} if window.opened else _NOT_SEEN)
    else:
        values = {name: measured(window, name) for name in metrics}
    found = measuring.typical(window, {METRICS[name]: value for name, value in values.items()})
    window.memo.update({(name, "typical"): value for name, value in found.items()})


def sure(window: Window, name: str) -> float:
    """Return the sure part of a number in a typical batch; 0 if unknown."""
    found = measure(window, name)
    return found.safe if isinstance(found, Estimate) and np.isfinite(found.safe) else 0.0


def measured(window: Window, name: str) -> Batchwise | Windowed:
    """The metric's plain values: an array, Bounds, Estimate, Quantiles or Missing."""
    found = window.memo.get(name)
    if found is None:
        window.memo[name] = found = measuring.computed(window, named(name))
    return found  # type: ignore[return-value]
