"""The table of grids, as Markdown, and the place of a table in a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MEASUREMENTS = Path(__file__).resolve().parents[2] / "docs" / "measurements.md"
GOOD = 1.1
"""Of the best point's batch: where the advice should lead at most."""
GRID_HEAD = (
    "| query | best point, ms | worst, ms | ways that end within 10 % of it | the way that ends furthest off, ms |",
    "|---|---|---:|---:|---|",
)


def written(page: str, name: str, table: str) -> str:
    """The page with the table between the two marks of that name."""
    begins, ends = f"<!-- {name}: written by make bench-promises -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begins)
    after = rest.partition(ends)[2]
    return f"{before}{begins}\n{table}\n{ends}{after}" if rest else page


def grid_table(known: dict[str, dict[str, Any]]) -> str:
    """A row for each query: its best point, and where the advice leads from the other points."""
    return "\n".join([*GRID_HEAD, *(_grid_row(name, one) for name, one in known.items())])


def _grid_row(name: str, one: dict[str, Any]) -> str:
    ways = one["ways"].values()
    good = sum(way["to_best"] <= GOOD for way in ways)
    furthest = max(one["ways"].items(), key=lambda way: way[1]["to_best"])
    batch = one["batch_ms"]
    end = furthest[1]["ends"]
    cells = (name, f"{one['best']}: {batch[one['best']]:,.0f}", f"{max(batch.values()):,.0f}", f"{good} of {len(ways)}",
             f"{furthest[0]} -> {end}: {batch[end]:,.0f}")  # fmt: skip
    return f"| {' | '.join(cells)} |"
