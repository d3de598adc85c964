"""Bars of one scale: the phases of a typical batch with what a step takes away; before, the promise, and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from advisor.contract import Comparison, Effect, KeptPromise, QueryEntry, Report, Trial
from advisor.views import text
from advisor.views.addbatch import Bar
from advisor.views.comparison import outcome

_TYPICAL = {"batch": ("triggerExecution", "typical"), "record": ("record latency", "p50")}
_Kind = Literal["before", "promised", "after"]
_Drawn = tuple[str, _Kind, str, float, float, float]
"""Label, kind, words; milliseconds and their interval."""
_CAPTIONS = {"batch": "A typical batch", "record": "Record latency, p50"}


class Measured(NamedTuple):
    """One of these numbers: its length, the beginning and length of its interval if any, in percent of the longest."""

    label: str
    kind: _Kind
    says: str
    width: float
    low_at: float
    band: float


class Pair(NamedTuple):
    """The bars of one number, before first and after last, and what became of the promises on it."""

    caption: str
    bars: tuple[Measured, ...]


def waterfall(query: QueryEntry) -> Iterator[Bar]:
    """The phases in the order of the batch's life; together they are as wide as the batch."""
    whole, start = sum(query.budget.values()), 0.0
    for phase, ms in query.budget.items():
        saved = query.saved.get(phase, 0.0)
        yield Bar(phase, ms, 100 * start / whole, 100 * ms / whole, saved_ms=saved, saved_width=100 * saved / whole)
        start += ms


def before_and_after(entry: Comparison | Trial) -> list[Pair]:
    """Return the bars of the typical batch and the record latency, if both sides know them."""
    found = {(effect.name, effect.stat): effect for effect in entry.effects}
    pairs = [(of, found[key]) for of, key in _TYPICAL.items() if key in found]
    return [Pair(_CAPTIONS[of], _scaled(_drawn(effect, entry.promises, of))) for of, effect in pairs]


def measured_by_run(report: Report) -> dict[str, list[Pair]]:
    """The bars of each run that a session's report compares; of several comparisons those of the first."""
    found: dict[str, list[Pair]] = {}
    for one in report.comparisons or ():
        found.setdefault(one.after.run_id, before_and_after(one))
    return found


def _scaled(found: Iterable[_Drawn]) -> tuple[Measured, ...]:
    every = list(found)
    most = max(max(ms, high) for *_, ms, _, high in every)
    scale = 100 / most if most > 0 else 0.0
    return tuple(
        Measured(label, kind, says, ms * scale, low * scale, (high - low) * scale)
        for label, kind, says, ms, low, high in every
    )


def _drawn(effect: Effect, promises: tuple[KeptPromise, ...], of: str) -> Iterator[_Drawn]:
    before, change = effect.before_ms, effect.difference_ms
    yield "before", "before", text.ms(before), before, before, before
    for kept in promises:
        if kept.of == of:
            promise = kept.predicted_ms
            low, high, ms = (max(0.0, before - end) for end in (promise.high, promise.low, promise.likely))
            yield f"promised: {kept.do}", "promised", f"{_between(low, high)}: {outcome(kept)}", ms, low, high
    after = before + (change.value if change.value is not None else effect.after_ms - before)
    low, high = before + change.low, before + change.high
    yield "after", "after", f"{text.ms(after)} ({_between(low, high)})", after, max(0.0, low), high


def _between(low: float, high: float) -> str:
    return f"{text.ms(max(0.0, low))} to {text.ms(max(0.0, high))}"
