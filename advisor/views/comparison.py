"""A comparison as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from advisor.views import lines, text
from advisor.views.clean import clean_all
from advisor.views.effects import STYLES, TITLE, effects, headings, promises
from advisor.views.markdown import escape
from advisor.views.page import console, grid, table, written

Data = Mapping[str, Any]

WIDTH = 100
_HEADINGS = headings("before", "after")


def render(compared: Data, *, width: int = WIDTH, color: bool = False) -> str:
    """All comparisons as text that ends in a line break."""
    page = console(width, color=color)
    for number, entry in enumerate(clean_all(compared)["comparisons"]):
        if number:
            page.print()
        _print(page, entry)
    return written(page)


def _print(page: Console, entry: Data) -> None:
    page.print(Text(_name(entry), style="bold"))
    page.print(Text(entry["says"], style=STYLES.get(entry["verdict"], "bold")))
    grid(page, "Compared", _sides(entry), STYLES)
    table(page, TITLE, _HEADINGS, effects(entry))
    grid(page, "Changed between them", _changes(entry), STYLES)
    grid(page, "Promises", promises(entry), STYLES)
    grid(page, "Note", (("-", words) for words in entry["limits"]), STYLES)


def markdown(compared: Data) -> str:
    """All comparisons as Markdown; what comes from logs can add no markup."""
    pages = ["\n".join(_page(entry)) for entry in clean_all(compared)["comparisons"]]
    return "\n\n".join(["# Comparison", *pages]) + "\n"


def _page(entry: Data) -> Iterator[str]:
    yield f"## {escape(_name(entry))}\n\n**{escape(entry['says'])}**\n"
    for label, words in _sides(entry):
        yield f"- {label}: {escape(words)}"
    rows = list(effects(entry))
    if rows:
        yield f"\n| {' | '.join(_HEADINGS)} |\n|---|---:|---:|---:|---:|---:|---|"
        yield from (f"| {' | '.join(map(escape, row))} |" for row in rows)
    yield from _section("Changed between them", _changes(entry))
    yield from _section("Promises", promises(entry))
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
