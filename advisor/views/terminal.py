"""The report as text: the first screen for a reader in a hurry, or everything; plain or coloured, in any width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from advisor.contract import BrokenRecord, Input, QueryEntry, Report, Session
from advisor.views import first_screen, text, wording
from advisor.views.clean import clean_all
from advisor.views.comparison import proof_by_run
from advisor.views.console import WIDTH, columns, console, heading, indented, table, written
from advisor.views.markdown import details
from advisor.views.plain import print_written
from advisor.views.screen import STATE_STYLES, print_screen
from advisor.views.selection import FIRST_QUERIES, Selection, selection, selections

Screens = Callable[[list[Selection]], Iterator[tuple[Selection, list[str]]]]

_LEVEL_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan"}
_FEW = 3
_LINES = 1_000  # of queries, beside which nobody reads another
_IN_A_SESSION = 'Here --set FACT=VALUE is attach(spark, set=["FACT=VALUE"]), and --all is report.queries.'


def report_as_text(
    report: Report,
    *,
    everything: bool = False,
    width: int = WIDTH,
    color: bool = False,
    whole: Callable[[QueryEntry], QueryEntry] = lambda entry: entry,
) -> str:
    """The whole report as text that ends in a line break; `everything` shows what the first screen keeps back."""
    page, shown = console(width, color=color), selections(report, everything=everything)
    batches = any(query.batches for query in report.queries)
    report = clean_all(replace(report, queries=()))
    proof = proof_by_run(report)

    def screens(chosen: list[Selection]) -> Iterator[tuple[Selection, list[str]]]:
        """Return each with what was proved of it; a query is made whole, and its text safe, when it is shown."""
        for one in chosen:
            query = clean_all(whole(one.query))
            yield selection(query, one.earlier, everything), proof.get(query.run_id, [])

    page.print(Text(wording.read(report), style="dim"))
    if not batches:  # lines about falling behind then show more than any query
        _without_progress(page, report.input)
    (_all_of_each if everything else _first_screens)(page, shown, screens)
    if batches:
        _without_progress(page, report.input)
    few = None if everything else _FEW
    _records(page, "Partial", report.input.partial, few)
    _records(page, "Not readable", report.input.broken, few)
    _session(page, report.session)
    return written(page)


def _first_screens(page: Console, shown: list[Selection], screens: Screens) -> None:
    """Print the first screens of the few most pressing queries, and a line for each of the others."""
    hidden = 0
    for chosen, proof in screens(shown[:FIRST_QUERIES]):
        page.print()
        hidden += print_screen(page, chosen, proof)
    if len(shown) > FIRST_QUERIES:
        heading(page, text.plural(len(shown) - FIRST_QUERIES, "more query", "more queries"))
        page.print()
        _ranking(page, shown[FIRST_QUERIES:][:_LINES])
    if (rest := len(shown) - FIRST_QUERIES - _LINES) > 0:
        page.print(Text(f"and {rest:,} more, less pressing: --all and --format json show all, --fleet ranks them"))
    if shown:
        steps = f", with {text.plural(hidden, 'more step')}" if hidden else ""
        page.print(Text(f"\nMore: --all{steps}", style="dim"))


def _all_of_each(page: Console, shown: list[Selection], screens: Screens) -> None:
    if len(shown) > 1:
        page.print()
        _ranking(page, shown)
    for chosen, proof in screens(shown):
        print_written(page, details("text", chosen, proof, everything=True))


def _ranking(page: Console, shown: list[Selection]) -> None:
    cut: dict[str, Any] = {"no_wrap": True, "overflow": "ellipsis"}
    plain, right = {"justify": "left"}, {"justify": "right"}
    looks = [cut, plain, plain, right, right, cut | {"max_width": max(24, page.width - 62)}]
    named = zip(("query", "state", "worst", "p50", "p99", "what to do"), looks, strict=True)
    lines = (_line(clean_all(chosen.query)) for chosen in shown)
    page.print(table(lines, *({"header": name} | look for name, look in named)))


def _line(query: QueryEntry) -> tuple[str | Text, ...]:
    state = query.stall.word if query.stall else "idle" if query.idle_since else query.state.replace("_", " ")
    return (
        wording.name(query),
        Text(state, STATE_STYLES.get(query.state, "")),
        Text(query.level, _LEVEL_STYLES[query.level]) if query.level else Text("nothing", "dim"),
        wording.percentile(query, "p50"),
        wording.percentile(query, "p99"),
        first_screen.in_a_line(query),
    )


def _without_progress(page: Console, read: Input) -> None:
    """Print what a log without progress shows, and how to get progress."""
    if read.falling_behind:
        heading(page, "Falling behind")
    for entry in read.falling_behind:
        indented(page, Text(entry.says))
    if read.progress_needs:
        heading(page, "No progress to judge")
        indented(page, Text(f"{read.progress_needs}."))


def _records(page: Console, title: str, records: Sequence[BrokenRecord], few: int | None) -> None:
    """Print where each record stands that is not whole, and what is to be said of it."""
    if records:
        heading(page, f"{title}: {text.plural(wording.records(records), 'record')}")
    for one in records[:few]:  # a path is long: its line is left to the terminal
        page.print(Text(f"  {wording.place(one)}", style="dim"), soft_wrap=True)
        indented(page, Text(wording.unread(one)), 4)
    if more := wording.records(records[few:]) if few else 0:
        page.print(Text(f"  {text.plural(more, 'more record')}: --all", style="dim"))


def _session(page: Console, session: Session | None) -> None:
    if session is None:
        return
    page.print()
    for words in wording.problems(session):
        indented(page, columns([("Problem", words)], {"style": "dim"}))
    for words in (wording.heard(session), _IN_A_SESSION):
        page.print(Text(words, style="dim"))
