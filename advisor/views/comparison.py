"""A comparison as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from advisor.contract import Comparison, Comparisons
from advisor.views import text, wording
from advisor.views.clean import clean_all
from advisor.views.console import console, grid, table, written
from advisor.views.effects import STYLES, TITLE, effect_rows, effects_as_markdown, headings, promise_rows
from advisor.views.markdown import escape, section
from advisor.vocabulary import CONF

WIDTH = 100
_HEADINGS = headings("before", "after")


def comparisons_as_text(compared: Comparisons, *, width: int = WIDTH, color: bool = False) -> str:
    """All comparisons as text that ends in a line break."""
    page = console(width, color=color)
    for number, entry in enumerate(clean_all(compared).comparisons):
        if number:
            page.print()
        _print(page, entry)
    return written(page)


def _print(page: Console, entry: Comparison) -> None:
    page.print(Text(_name(entry), style="bold"))
    page.print(Text(entry.says, style=STYLES.get(entry.verdict, "bold")))
    grid(page, "Compared", _sides(entry), STYLES)
    table(page, TITLE, _HEADINGS, effect_rows(entry))
    grid(page, "Changed between them", _changes(entry), STYLES)
    grid(page, "Promises", promise_rows(entry), STYLES)
    grid(page, "Note", (("-", words) for words in entry.limits), STYLES)


def comparisons_as_markdown(compared: Comparisons) -> str:
    """All comparisons as Markdown; what comes from logs can add no markup."""
    pages = ["\n".join(_page(entry)) for entry in clean_all(compared).comparisons]
    return "\n\n".join(["# Comparison", *pages]) + "\n"


def _page(entry: Comparison) -> Iterator[str]:
    yield f"## {escape(_name(entry))}\n\n**{escape(entry.says)}**\n"
    for label, words in _sides(entry):
        yield f"- {label}: {escape(words)}"
    yield from effects_as_markdown(_HEADINGS, entry)
    yield from section("Changed between them", _changes(entry))
    yield from section("Promises", promise_rows(entry))
    yield from section("Note", (("", words) for words in entry.limits))


def _name(entry: Comparison) -> str:
    return entry.query or "a query without a name"


def _sides(entry: Comparison) -> Iterator[tuple[str, str]]:
    for label, side in (("before", entry.before), ("after", entry.after)):
        words = f"{text.plural(side.batches, 'batch', 'batches')}, {text.span(side.first, side.last)}"
        yield label, f"run {side.run_id[:8]}, {wording.version(side)}: {words} ({side.because})"


def _changes(entry: Comparison) -> Iterator[tuple[str, str]]:
    """Return what changed, a row each; facts that only one side knows, by name in one row."""
    for change in entry.changed:
        if change.before and change.after:
            yield change.fact, f"{wording.fact(change.before)} → {wording.fact(change.after)}"
    before = [change.fact for change in entry.changed if change.after is None]
    after = [change.fact for change in entry.changed if change.before is None]
    for side, alone in (("before", before), ("after", after)):
        facts = [name for name in alone if not name.startswith(CONF)]
        if alone:
            settings = len(alone) - len(facts)
            more = [text.plural(settings, "setting")] if settings else []
            yield f"known {side} only", ", ".join([*facts, *more])
