"""The benchmark as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from advisor.errors import UsageError
from lab import require
from lab.offsets.cells import BASELINE, CONFIGURATIONS, LOCAL
from lab.offsets.entries import OffsetCell, OffsetResult
from lab.offsets.table import interval

KINDS: Final = (".svg", ".png", ".html", ".json")
_TITLES: Final = {"stat": "stat sink", "kafka": "Kafka to Kafka"}
_COLUMNS: Final = 3
Row = dict[str, str | float]


def check(path: Path) -> None:
    """Return if a chart can be written there; UsageError otherwise."""
    if path.suffix not in KINDS:
        raise UsageError(str(path), "is not a chart format", f"use a file name that ends in {', '.join(KINDS)}")


def write(result: OffsetResult, path: Path) -> None:
    """Write p50 of each configuration, a panel for each path, checkpoint and rate.

    Where a storage was measured with several delays, also what each configuration saves there against inline purge.
    """
    require("altair")
    import altair as alt  # noqa: PLC0415 - of the group lab

    names, rows, saved = list(CONFIGURATIONS), list(_rows(result)), list(_saved(result))
    color = alt.Color("configuration:N", sort=names, title=None)
    bars = alt.Chart(alt.Data(values=rows)).mark_bar()
    bars = bars.encode(
        x=alt.X("configuration:N", sort=names, title=None),
        y=alt.Y("p50:Q", title="record latency, p50 in ms"),
        color=color if saved else color.legend(None),
    )
    chart = _panels(alt, bars, rows).resolve_scale(y="independent")
    if saved:
        curves = alt.Chart(alt.Data(values=saved)).mark_line(point=True)
        curves = curves.encode(
            x=alt.X("delay_ms:Q", title="ms more per request to the storage"),
            y=alt.Y("saved:Q", title="saved at p50, in ms"),
            color=color,
        )
        chart = alt.vconcat(chart, _panels(alt, curves, saved))
    chart.save(str(path))


def _panels(alt: Any, marks: Any, rows: Sequence[Row]) -> Any:
    # one facet, not rows by columns: where a cell of that grid is empty, Vega moves the marks of the others
    panel = alt.Facet("panel:N", sort=list(dict.fromkeys(row["panel"] for row in rows)), title=None)
    return marks.properties(width=170, height=130).facet(facet=panel, columns=_COLUMNS)


def _rows(result: OffsetResult) -> Iterator[Row]:
    for cell in result.cells:
        delay = f" +{cell.delay_ms:g} ms" if cell.checkpoint != LOCAL else ""
        panel = _panel(cell, delay)
        for one in cell.configurations:
            if "p50" in one.latency_ms:
                yield {"panel": panel, "configuration": one.name, "p50": round(one.latency_ms["p50"], 1)}


def _saved(result: OffsetResult) -> Iterator[Row]:
    """What a configuration saves at p50 against inline purge, by the delay of the storage; of storages with several."""
    delays: dict[str, set[float]] = {}
    for cell in result.cells:
        delays.setdefault(_panel(cell), set()).add(cell.delay_ms)
    for cell in result.cells:
        panel, p50 = _panel(cell), {one.name: one.latency_ms.get("p50") for one in cell.configurations}
        base = p50.pop(BASELINE, None)
        for name, value in p50.items():
            if len(delays[panel]) > 1 and base is not None and value is not None:
                yield {
                    "panel": panel,
                    "configuration": name,
                    "delay_ms": cell.delay_ms,
                    "saved": round(base - value, 1),
                }


def _panel(cell: OffsetCell, delay: str = "") -> str:
    return f"{_TITLES[cell.path]}, {cell.checkpoint}{delay}, {cell.rate:,}/s{interval(cell)}"
