"""A trial as text."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.views import paste, text
from advisor.views.clean import clean_all

Data = Mapping[str, Any]

WIDTH = 100
_STYLES = {"faster": "bold green", "slower": "bold red", "refused": "bold red", "kept": "green", "broken": "bold red"}
_HEADINGS = ("", "baseline", "candidate", "difference", "95 % interval", "of baseline", "")
_SMALLEST_MS = 0.5  # phases that take less on both sides are left out


def render(tried: Data, *, width: int = WIDTH, color: bool = False) -> str:
    """The trial as text that ends in a line break."""
    out = io.StringIO()
    console = Console(
        file=out, width=max(40, min(width, 120)), force_terminal=color, color_system="standard" if color else None,
        no_color=not color, highlight=False, markup=False, emoji=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    entry = clean_all(tried)
    console.print(Text(entry["says"], style=_STYLES.get(entry["verdict"], "bold")))
    _print_effects(console, entry)
    for title, rows in (("On trial", _change(entry)), ("Promises", _promises(entry)), ("Runs", _runs(entry))):
        _print_grid(console, title, rows)
    _print_grid(console, "Note", (("-", words) for words in entry["limits"]))
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


def _print_effects(console: Console, entry: Data) -> None:
    rows = list(_effects(entry))
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for title in _HEADINGS:
        table.add_column(title, justify="right" if title else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    _heading(console, "By how much (negative is faster)")
    console.print(Padding(table, (0, 0, 0, 2)))


def _print_grid(console: Console, title: str, rows: Iterable[tuple[str, str]]) -> None:
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(2):
        grid.add_column(overflow="fold")
    for label, words in rows:
        grid.add_row(Text(label, _STYLES.get(label, "dim")), Text(words))
    if grid.row_count:
        _heading(console, title)
        console.print(Padding(grid, (0, 0, 0, 2)))


def _heading(console: Console, words: str) -> None:
    console.print()
    console.print(Text(words, style="bold"))


def _effects(entry: Data) -> Iterator[tuple[str, ...]]:
    for one in entry["effects"]:
        if max(one["before_ms"], one["after_ms"]) < _SMALLEST_MS:
            continue
        share = one["difference_share"]
        yield (
            _what(one),
            text.ms(one["before_ms"]),
            text.ms(one["after_ms"]),
            _signed(one["difference_ms"]["value"]),
            _interval(one["difference_ms"]),
            f"{100 * share['value']:+.0f} %" if share else "",
            "" if one["told"] else "may be noise",
        )


def _what(one: Data) -> str:
    words = "batch" if one["name"] == "triggerExecution" else str(one["name"])
    return words if one["stat"] == "typical" and words != "batch" else f"{words}, {one['stat']}"


def _change(entry: Data) -> Iterator[tuple[str, str]]:
    for group in paste.pastes(entry["change"] | {"code": None}):
        yield group.where, "\n".join(group.lines)
    for step in entry["change"].get("code", ()):
        yield "in your code", step


def _promises(entry: Data) -> Iterator[tuple[str, str]]:
    for kept in entry["promises"]:
        of = "per batch" if kept["of"] == "batch" else "in record latency"
        saved = kept["measured_ms"]
        measured = f"measured {text.ms(saved['value'])} ({_interval(saved)}); " if saved else ""
        promised = text.saving(kept["predicted_ms"])
        yield kept["verdict"], f"{kept['do']}, {of}: promised {promised}; {measured}{kept['because']}"


def _runs(entry: Data) -> Iterator[tuple[str, str]]:
    for side in ("baseline", "candidate"):
        runs = [run for run in entry["runs"] if run["side"] == side]
        levels = [text.ms(run["typical_ms"]) for run in runs if run["typical_ms"] is not None]
        batches = text.plural(sum(run["batches"] for run in runs), "steady batch", "steady batches")
        yield side, f"{text.plural(len(runs), 'run')}, {batches}" + (f": {', '.join(levels)}" if levels else "")
    if entry["task_slots"]:
        yield "took", f"up to {text.plural(entry['task_slots'], 'task slot')}, one run after the other"


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{text.ms(value)}"


def _interval(ends: Data) -> str:
    return f"{text.ms(ends['low'])} to {text.ms(ends['high'])}"
