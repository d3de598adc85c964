"""The score and the table of promises, as Markdown."""

from __future__ import annotations

from typing import Any

import numpy as np

from advisor.views.text import plural

BEGINS, ENDS = "<!-- promises: written by make bench-promises -->", "<!-- end of promises -->"
HEAD = (
    "| query | settings | step | batch before, ms | promised, ms | measured, ms |  |",
    "|---|---|---|---:|---:|---:|---|",
)


def written(readme: str, known: dict[str, dict[str, Any]]) -> str:
    """README with the table between its two marks."""
    before, _, rest = readme.partition(BEGINS)
    after = rest.partition(ENDS)[2]
    return f"{before}{BEGINS}\n{markdown(known)}\n{ENDS}{after}" if rest else readme


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
