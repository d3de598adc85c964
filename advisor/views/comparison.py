"""A comparison as text or Markdown."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.views import lines, text
from advisor.views.clean import clean_all
from advisor.views.markdown import escape

Data = Mapping[str, Any]

WIDTH = 100
_STYLES = {"slower": "bold red", "faster": "bold green", "kept": "green", "broken": "bold red"}
_HEADINGS = ("", "before", "after", "difference", "95 % interval", "of before", "")
_SMALLEST_MS = 0.5  # phases that take less on both sides are left out


def render(compared: Data, *, width: int = WIDTH, color: bool = False) -> str:
    """All comparisons as text that ends in a line break."""
    out = io.StringIO()
    console = Console(
        file=out, width=max(40, min(width, 120)), force_terminal=color, color_system="standard" if color else None,
        no_color=not color, highlight=False, markup=False, emoji=False, legacy_windows=False, _environ={},
    )  # fmt: skip
    for number, entry in enumerate(clean_all(compared)["comparisons"]):
        if number:
            console.print()
        _Page(console, entry).print()
    return "".join(line.rstrip() + "\n" for line in out.getvalue().splitlines())


class _Page:
    """One comparison on its way to a console."""

    def __init__(self, console: Console, entry: Data) -> None:
        self.console = console
        self.entry = entry

    def print(self) -> None:
        self.console.print(Text(_name(self.entry), style="bold"))
        self.console.print(Text(self.entry["says"], style=_STYLES.get(self.entry["verdict"], "bold")))
        self._grid("Compared", _sides(self.entry))
        self._effects()
        self._grid("Changed between them", _changes(self.entry))
        self._grid("Promises", _promises(self.entry))
        self._grid("Note", (("-", words) for words in self.entry["limits"]))

    def _effects(self) -> None:
        rows = list(_effects(self.entry))
        if not rows:
            return
        self._heading("By how much (negative is faster)")
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for title in _HEADINGS:
            table.add_column(title, justify="right" if title else "left", overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self.console.print(Padding(table, (0, 0, 0, 2)))

    def _grid(self, title: str, rows: Iterable[tuple[str, str]]) -> None:
        found = list(rows)
        if not found:
            return
        self._heading(title)
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(overflow="fold")
        grid.add_column(overflow="fold")
        for label, words in found:
            grid.add_row(Text(label, _STYLES.get(label, "dim")), Text(words))
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _heading(self, words: str) -> None:
        self.console.print()
        self.console.print(Text(words, style="bold"))


def markdown(compared: Data) -> str:
    """All comparisons as Markdown; what comes from logs can add no markup."""
    pages = ["\n".join(_page(entry)) for entry in clean_all(compared)["comparisons"]]
    return "\n\n".join(["# Comparison", *pages]) + "\n"


def _page(entry: Data) -> Iterator[str]:
    yield f"## {escape(_name(entry))}\n\n**{escape(entry['says'])}**\n"
    for label, words in _sides(entry):
        yield f"- {label}: {escape(words)}"
    rows = list(_effects(entry))
    if rows:
        yield "\n| | before | after | difference | 95 % interval | of before | |\n|---|---:|---:|---:|---:|---:|---|"
        yield from (f"| {' | '.join(map(escape, row))} |" for row in rows)
    yield from _section("Changed between them", _changes(entry))
    yield from _section("Promises", _promises(entry))
    yield from _section("Note", (("", words) for words in entry["limits"]))


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    found = [f"- {escape(label)}{': ' if label else ''}{escape(words)}" for label, words in rows]
    if found:
        yield "\n".join([f"\n### {title}\n", *found])


def _name(entry: Data) -> str:
    return str(entry["query"] or "a query without a name")


def _sides(entry: Data) -> Iterator[tuple[str, str]]:
    for label in ("before", "after"):
        side = entry[label]
        words = f"{text.plural(side['batches'], 'batch', 'batches')}, {text.span(side['first'], side['last'])}"
        yield label, f"run {str(side['run_id'])[:8]}, {lines.version(side)}: {words} ({side['because']})"


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


def _signed(value: float) -> str:
    return f"{'+' if value > 0 else ''}{text.ms(value)}"


def _interval(ends: Data) -> str:
    """`-63 to -16 ms`; both with their unit where these differ."""
    low, high = text.ms(ends["low"]), text.ms(ends["high"])
    unit = high.rpartition(" ")[2]
    return f"{low.removesuffix(unit).rstrip()} to {high}"


def _changes(entry: Data) -> Iterator[tuple[str, str]]:
    """What changed, a row each; what only one side tells, by name in one row."""
    for change in entry["changed"]:
        if change["sure"]:
            yield change["fact"], f"{lines.fact(change['before'])} → {lines.fact(change['after'])}"
    for side, other in (("before", "after"), ("after", "before")):
        alone = [change["fact"] for change in entry["changed"] if change[other] is None]
        facts = [name for name in alone if not name.startswith("conf:")]
        if alone:
            settings = len(alone) - len(facts)
            more = [text.plural(settings, "setting")] if settings else []
            yield f"known {side} only", ", ".join([*facts, *more])


def _promises(entry: Data) -> Iterator[tuple[str, str]]:
    for kept in entry["promises"]:
        of = "per batch" if kept["of"] == "batch" else "in record latency"
        saved = kept["measured_ms"]
        measured = f"measured {text.ms(saved['value'])} ({_interval(saved)}); " if saved else ""
        yield (
            kept["verdict"],
            f"{kept['do']}, {of}: promised {_promised(kept['predicted_ms'])}; {measured}{kept['because']}",
        )


def _promised(saves: Data) -> str:
    return text.saving(saves) if saves["expected"] is not None else f"at most {text.ms(saves['high'])}"
