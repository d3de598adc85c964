"""The benchmark as a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from advisor.bench.offsets.cells import CONFIGURATIONS, LOCAL
from advisor.errors import UsageError

KINDS: Final = (".svg", ".png", ".html", ".json")
_TITLES: Final = {"stat": "stat sink", "kafka": "Kafka to Kafka"}
_COLUMNS: Final = 3


def check(path: Path) -> None:
    """Return if a chart can be written there; UsageError otherwise."""
    if path.suffix not in KINDS:
        raise UsageError(str(path), "is no kind of chart", f"end its name in {', '.join(KINDS)}")


def write(result: Mapping[str, Any], path: Path) -> None:
    """Write p50 of each configuration, a panel for each path, checkpoint and rate."""
    try:
        import altair as alt  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError("--chart", "altair is missing", "pip install 'streaming-latency-advisor[bench]'") from None
    names, rows = list(CONFIGURATIONS), list(_rows(result))
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    bars = alt.Chart(alt.Data(values=rows)).mark_bar()
    bars = bars.encode(
        x=alt.X("configuration:N", sort=names, title=None),
        y=alt.Y("p50:Q", title="record latency, p50 in ms"),
        color=alt.Color("configuration:N", sort=names, legend=None),
    )
    # one facet, not rows by columns: where a cell of that grid is empty, Vega moves the bars of the others
    panel = alt.Facet("panel:N", sort=panels, title=None)
    chart = bars.properties(width=170, height=130).facet(facet=panel, columns=_COLUMNS)
    chart.resolve_scale(y="independent").save(str(path))


def _rows(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in result["cells"]:
        delay = f" +{cell['delay_ms']:g} ms" if cell["checkpoint"] != LOCAL else ""
        panel = f"{_TITLES[cell['path']]}, {cell['checkpoint']}{delay}, {cell['rate']:,}/s"
        for one in cell["configurations"]:
            if "p50" in one["latency_ms"]:
                yield {"panel": panel, "configuration": one["name"], "p50": round(one["latency_ms"]["p50"], 1)}
