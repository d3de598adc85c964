"""The tables of promises and of grids, as Markdown, and their places in README."""

from __future__ import annotations

from typing import Any

import numpy as np

from advisor.views.text import plural

GOOD = 1.1
"""Of the best point's batch: where the advice should lead at most."""
GRID_HEAD = (
    "| query | best point, ms | worst, ms | ways that end within 10 % of it | the way that ends furthest off, ms |",
    "|---|---|---:|---:|---|",
)
HEAD = (
    "| query | settings | step | batch before, ms | promised, ms | measured, ms |  |",
    "|---|---|---|---:|---:|---:|---|",
)


def written(readme: str, name: str, table: str) -> str:
    """README with the table between the two marks of that name."""
    begins, ends = f"<!-- {name}: written by make bench-promises -->", f"<!-- end of {name} -->"
    before, _, rest = readme.partition(begins)
    after = rest.partition(ends)[2]
    return f"{before}{begins}\n{table}\n{ends}{after}" if rest else readme


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


def markdown(known: dict[str, dict[str, Any]]) -> str:
    """The score in a sentence, and a row for each case."""
    rows = [_row(one) for one in known.values() if "failed" not in one]
    return "\n".join([score(known), "", *HEAD, *rows])


def score(known: dict[str, dict[str, Any]]) -> str:
    """How many promises held, how wide they were and how far their expected values lay off."""
    tried = [one for one in known.values() if "failed" not in one]
    given = [one for one in tried if one["promised_ms"]]
    if not given:
        return f"{plural(len(tried), 'case')}, no promise."
    held = sum(_holds(one) for one in given)
    width = np.median([(one["promised_ms"]["high"] - one["promised_ms"]["low"]) / one["before_ms"] for one in given])
    off = [abs(one["promised_ms"]["expected"] - one["saved_ms"]) / one["before_ms"]
           for one in given if one["promised_ms"]["expected"] is not None]  # fmt: skip
    sparks = " and ".join(sorted({one["spark"] for one in tried}))
    return (
        f"{plural(len(tried), 'case')} on Spark {sparks}, {len(given)} with a promise; "
        f"the measured saving lies in the promised interval in {held} of {len(given)}. The interval is "
        f"{width * 100:.0f} % of the batch wide (median); the expected saving is off by "
        f"{np.median(off) * 100:.0f} % of the batch (median), by more than 15 % in {sum(one > 0.15 for one in off)}."
    )


def _holds(one: dict[str, Any]) -> bool:
    promised = one["promised_ms"]
    return bool(promised["low"] <= one["saved_ms"] <= promised["high"])


def _row(one: dict[str, Any]) -> str:
    promised, case = one["promised_ms"], one["case"]
    low, high = one["saved_between_ms"]
    said = "none" if promised is None else _interval(promised["low"], promised["expected"], promised["high"])
    found = "" if promised is None else "held" if _holds(one) else "missed"
    cells = (case["workload"], case["settings"], case["step"], f"{one['before_ms']:,.0f}", said,
             _interval(low, one["saved_ms"], high), found)  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _interval(low: float, value: float | None, high: float) -> str:
    middle = "" if value is None else f"{value:,.0f} "
    return f"{middle}({low:,.0f} to {high:,.0f})"
