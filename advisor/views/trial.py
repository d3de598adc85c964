"""A trial as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from advisor.contract import Trial
from advisor.views import paste, text
from advisor.views.clean import clean_all
from advisor.views.console import console, grid, table, written
from advisor.views.effects import STYLES, TITLE, effect_rows, effects_as_markdown, headings, promise_rows
from advisor.views.markdown import escape, fenced, section

WIDTH = 100
_HEADINGS = headings("baseline", "candidate")


def trial_as_text(tried: Trial, *, width: int = WIDTH, color: bool = False) -> str:
    """The trial as text that ends in a line break."""
    page = console(width, color=color)
    entry = clean_all(tried)
    page.print(Text(entry.says, style=STYLES.get(entry.verdict, "bold")))
    table(page, TITLE, _HEADINGS, effect_rows(entry))
    for title, rows in (("On trial", changes(entry)), ("Promises", promise_rows(entry)), ("Runs", runs(entry))):
        grid(page, title, rows, STYLES)
    grid(page, "Note", (("-", words) for words in entry.limits), STYLES)
    return written(page)


def trial_as_markdown(tried: Trial) -> str:
    """The trial as Markdown; what Spark and the query say can add no markup."""
    return "\n".join(_page(clean_all(tried))) + "\n"


def _page(entry: Trial) -> Iterator[str]:
    yield f"# Trial\n\n**{escape(entry.says)}**"
    yield from effects_as_markdown(_HEADINGS, entry)
    made = list(changes(entry))
    if made:
        yield "\n### On trial"
        yield from (f"\n{escape(where)}:\n\n{fenced(lines.splitlines())}" for where, lines in made)
    yield from section("Promises", promise_rows(entry))
    yield from section("Runs", runs(entry))
    yield from section("Note", (("", words) for words in entry.limits))


def changes(entry: Trial) -> Iterator[tuple[str, str]]:
    """(where it belongs, the lines) of what was tried."""
    for group in paste.pastes(entry.change):
        yield group.where, "\n".join(group.lines)
    for step in entry.change.code:
        yield "in your code", step


def runs(entry: Trial) -> Iterator[tuple[str, str]]:
    """(side, its runs with their typical batches), and how many task slots they took."""
    for side in ("baseline", "candidate"):
        runs = [run for run in entry.runs if run.side == side]
        levels = [text.ms(run.typical_ms) for run in runs if run.typical_ms is not None]
        batches = text.plural(sum(run.batches for run in runs), "steady batch", "steady batches")
        yield side, f"{text.plural(len(runs), 'run')}, {batches}" + (f": {', '.join(levels)}" if levels else "")
    if entry.task_slots:
        yield "took", f"up to {text.plural(entry.task_slots, 'task slot')}, one run after the other"
