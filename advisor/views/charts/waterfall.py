"""The phases of a typical batch, one after another, with what the advised step takes away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from advisor.contract import QueryEntry
from advisor.views import text
from advisor.views.charts.chart import WIDE, Chart, Spec, layered


@dataclass(frozen=True)
class Bar:
    """One phase: its milliseconds, the step's part of them, and where it lies, in percent of the batch."""

    phase: str
    ms: float
    saved_ms: float
    start: float
    width: float
    saved_width: float

    @property
    def saved_start(self) -> float:
        """Where the part begins that the step removes: the end of the phase."""
        return self.start + self.width - self.saved_width


def waterfall(query: QueryEntry) -> Iterator[Bar]:
    """The bars in the order of the batch's life; together they are as wide as the batch."""
    whole, start = sum(query.budget.values()), 0.0
    for phase, ms in query.budget.items():
        saved = query.saved.get(phase, 0.0)
        yield Bar(phase, ms, saved, 100 * start / whole, 100 * ms / whole, 100 * saved / whole)
        start += ms


def waterfall_chart(query: QueryEntry) -> Iterator[Chart]:
    """Return the same as a chart, if the report has a typical batch; page and cell draw it as a table."""
    if not query.budget:
        return
    names = list(query.budget)
    whole = sum(query.budget.values())
    ends = [bar.start * whole / 100 for bar in waterfall(query)]
    rows = [
        {"phase": name, "from": start, "to": start + ms, "kept": start + ms - query.saved.get(name, 0.0)}
        for (name, ms), start in zip(query.budget.items(), ends, strict=True)
    ]
    step = query.best_step.advice.do if query.saved and query.best_step else ""
    said = f" A dashed frame is what is expected of: {step}." if step else ""
    words = f"{text.ms(whole)}; the longest is {max(names, key=lambda name: query.budget[name])}.{said}"
    saving = [_frame(rows, names)] if query.saved else []
    spec = layered(WIDE, 26 * len(rows), _phases(rows, names), *saving) | {"padding": {"left": 20}}
    yield Chart("waterfall", "Where a typical batch goes", words, spec, wide=True)


def _phases(rows: list[dict[str, object]], names: list[str]) -> Spec:
    return {
        "data": {"values": rows},
        "mark": {"type": "bar"},
        "encoding": {
            "y": {"field": "phase", "type": "nominal", "sort": names, "axis": {"title": None, "labelLimit": 220}},
            "x": {"field": "from", "type": "quantitative", "title": "ms"},
            "x2": {"field": "to"},
            "color": {
                "field": "phase", "type": "nominal", "legend": None,
                "scale": {"domain": names, "range": [f"var(--{name}, var(--other))" for name in names]},
            },
        },
    }  # fmt: skip


def _frame(rows: list[dict[str, object]], names: list[str]) -> Spec:
    return {
        "data": {"values": [row for row in rows if row["kept"] != row["to"]]},
        "mark": {"type": "bar", "fill": "var(--paper)", "fillOpacity": 0.72, "stroke": "var(--good)",
                 "strokeWidth": 2, "strokeDash": [4, 2]},
        "encoding": {
            "y": {"field": "phase", "type": "nominal", "sort": names},
            "x": {"field": "kept", "type": "quantitative"},
            "x2": {"field": "to"},
        },
    }  # fmt: skip
