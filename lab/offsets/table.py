"""The benchmark of offset management as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import compress
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.facts.confs import ASYNC_INTERVAL_MS
from advisor.views import text
from advisor.views.clean import clean_all
from advisor.views.console import console, written
from lab.offsets.entries import OffsetCell, OffsetConfiguration, OffsetResult

WIDTH: Final = 120
FEWEST: Final = 300
"""Batches below which a configuration is marked: a purge starts after 100."""
_TITLES: Final = {"stat": "Steady rows to the stat sink", "kafka": "Kafka to Kafka"}
_HEADINGS: Final = ("", "batch", "p50", "p99", "estimated", "p50 by", "p99 by", "published", "purged", " ")
_LEFT: Final = ("", " ")


def offsets_as_text(result: OffsetResult, *, width: int = WIDTH, color: bool = False) -> str:
    """The tables as text that ends in a line break."""
    page = console(width, color=color, narrowest=WIDTH)
    found = clean_all(result)
    for path, title in _TITLES.items():
        cells = [cell for cell in found.cells if cell.path == path]
        if cells:
            page.print(Text(title, style="bold"))
            page.print(Text(found.measured[path], style="dim"))
            page.print(Padding(Group(*_tables(cells)), (0, 0, 1, 0)))
    for words in found.limits:
        page.print(Text(f"- {words}", style="dim"))
    return written(page)


def _tables(cells: list[OffsetCell]) -> Iterator[RenderableType]:
    """The headings, then for each cell its name and its rows, in columns that stand below each other."""
    rows = [[_row(one) for one in cell.configurations] for cell in cells]
    every = [row for of_cell in rows for row in of_cell]
    used = [any(row[at] for row in every) for at in range(len(_HEADINGS))]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *every, strict=True)]
    columns = list(compress(zip(_HEADINGS, widths, strict=True), used))
    yield _table(columns, [], header=True)
    for cell, of_cell in zip(cells, rows, strict=True):
        yield Text(_place(cell), "bold")
        yield _table(columns, [tuple(compress(row, used)) for row in of_cell], header=False)


def _table(columns: list[tuple[str, int]], rows: list[tuple[str, ...]], *, header: bool) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False, show_header=header)
    for title, width in columns:
        table.add_column(title, justify="left" if title in _LEFT else "right", no_wrap=True, min_width=width)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _place(cell: OffsetCell) -> str:
    delay = f" +{cell.delay_ms:g} ms" if cell.delay_ms else ""
    return f"{cell.checkpoint}{delay}, {cell.rate:,}/s{interval(cell)}"


def interval(cell: OffsetCell) -> str:
    """How often logs are written that are written asynchronously; nothing where that is Spark's own interval."""
    return "" if cell.interval_ms == ASYNC_INTERVAL_MS else f", logs every {cell.interval_ms:,} ms"


def _row(one: OffsetConfiguration) -> tuple[str, ...]:
    latency, change = one.latency_ms, one.change
    return (
        f"  {one.name}", _ms(one.trigger_ms.get("p50")), _ms(latency.get("p50")), _ms(latency.get("p99")),
        _estimated(one.estimated_ms), _share(change.get("p50")), _share(change.get("p99")),
        _published(one.published), str(one.purged_files), _note(one),
    )  # fmt: skip


def _note(one: OffsetConfiguration) -> str:
    few = f"{one.batches} batches" if one.batches < FEWEST else ""
    slow = "" if one.kept_up else "did not keep up"
    return one.refused or ", ".join(words for words in (slow, few) if words)


def _ms(value: float | None) -> str:
    return "" if value is None else text.ms(value)


def _estimated(found: Mapping[str, float]) -> str:
    return f"{_ms(found['p50'])}, {_ms(found['p99'])}" if found else ""


def _share(value: float | None) -> str:
    return "" if value is None else f"{value * 100:+.0f} %"


def _published(ends: tuple[float, float] | None) -> str:
    if not ends:
        return ""
    low, high = ends
    return _share(low) if low == high else f"{_share(low)} to {_share(high)}"
