"""Before, the promise, and after: what a comparison or a trial measured, as bars of one scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from advisor.contract import Comparison, Effect, KeptPromise, Report, Trial
from advisor.views import text
from advisor.views.comparison import outcome

_TYPICAL = {"batch": ("triggerExecution", "typical"), "record": ("record latency", "p50")}
_CAPTIONS = {"batch": "A typical batch", "record": "Record latency, p50"}


@dataclass(frozen=True)
class Bar:
    """One bar: its milliseconds, its interval if any, and their position in percent of the longest."""

    label: str
    kind: Literal["before", "promised", "after"]
    ms: float
    low: float
    high: float
    says: str
    scale: float = 1.0

    @property
    def width(self) -> float:
        """The length of the bar."""
        return self.ms * self.scale

    @property
    def low_at(self) -> float:
        """Where the interval begins."""
        return self.low * self.scale

    @property
    def band(self) -> float:
        """The length of the interval."""
        return (self.high - self.low) * self.scale


@dataclass(frozen=True)
class Pair:
    """The bars of one number, before first and after last, and what became of the promises on it."""

    caption: str
    bars: tuple[Bar, ...]


def before_and_after(entry: Comparison | Trial) -> list[Pair]:
    """Return the bars of the typical batch and the record latency, if both sides know them."""
    found = {(effect.name, effect.stat): effect for effect in entry.effects}
    pairs = [(of, found[key]) for of, key in _TYPICAL.items() if key in found]
    return [Pair(_CAPTIONS[of], _scaled(_bars(effect, entry.promises, of))) for of, effect in pairs]


def measured_by_run(report: Report) -> dict[str, list[Pair]]:
    """The bars of each run that a session's report compares; of several comparisons those of the first."""
    found: dict[str, list[Pair]] = {}
    for one in report.comparisons or ():
        found.setdefault(one.after.run_id, before_and_after(one))
    return found


def _scaled(bars: Iterator[Bar]) -> tuple[Bar, ...]:
    every = tuple(bars)
    most = max(max(bar.ms, bar.high) for bar in every)
    return tuple(replace(bar, scale=100 / most if most > 0 else 0.0) for bar in every)


def _bars(effect: Effect, promises: tuple[KeptPromise, ...], of: str) -> Iterator[Bar]:
    before, change = effect.before_ms, effect.difference_ms
    yield Bar("before", "before", before, before, before, text.ms(before))
    for kept in promises:
        if kept.of == of:
            yield _promised(before, kept)
    after = before + (change.value if change.value is not None else effect.after_ms - before)
    low, high = before + change.low, before + change.high
    yield Bar("after", "after", after, max(0.0, low), high, f"{text.ms(after)} ({_between(low, high)})")


def _promised(before: float, kept: KeptPromise) -> Bar:
    low, high = before - kept.predicted_ms.high, before - kept.predicted_ms.low
    ms = max(0.0, before - kept.predicted_ms.likely)
    said = f"{_between(low, high)}: {outcome(kept)}"
    return Bar(f"promised: {kept.do}", "promised", ms, max(0.0, low), max(0.0, high), said)


def _between(low: float, high: float) -> str:
    return f"{text.ms(max(0.0, low))} to {text.ms(max(0.0, high))}"
