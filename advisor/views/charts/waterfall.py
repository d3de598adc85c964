"""The phases of a typical batch, one after another, with what the advised step takes away."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.contract import QueryEntry
from advisor.views import text
from advisor.views.addbatch import Bar
from advisor.views.charts.chart import WIDE, Chart, layer, layered, number


def waterfall(query: QueryEntry) -> Iterator[Bar]:
    """The bars in the order of the batch's life; together they are as wide as the batch."""
    whole, start = sum(query.budget.values()), 0.0
    for phase, ms in query.budget.items():
        saved = query.saved.get(phase, 0.0)
        yield Bar(phase, ms, 100 * start / whole, 100 * ms / whole, saved_ms=saved, saved_width=100 * saved / whole)
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
    phase, scale = {"field": "phase", "type": "nominal"}, [f"var(--{name}, var(--other))" for name in names]
    drawn = layer(
        rows, {"type": "bar"}, y=phase | {"sort": names, "axis": {"title": None, "labelLimit": 220}},
        x=number("from", title="ms"), x2={"field": "to"},
        color=phase | {"legend": None, "scale": {"domain": names, "range": scale}},
    )  # fmt: skip
    frame = {"type": "bar", "fill": "var(--paper)", "fillOpacity": 0.72, "stroke": "var(--good)", "strokeWidth": 2}
    saved = layer(
        [row for row in rows if row["kept"] != row["to"]], frame | {"strokeDash": [4, 2]},
        y=phase | {"sort": names}, x=number("kept"), x2={"field": "to"},
    )  # fmt: skip
    spec = layered(WIDE, 26 * len(rows), drawn, *([saved] if query.saved else [])) | {"padding": {"left": 20}}
    yield Chart("waterfall", "Where a typical batch goes", words, spec, wide=True)
