"""The report as text: the first screen for a reader in a hurry, plain or coloured, in any width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.contract import BrokenRecord, Input, PartialRecord, QueryEntry, Report, Session
from advisor.views import in_short, inside, text, wording
from advisor.views.advice import AdvicePage
from advisor.views.clean import clean_all
from advisor.views.console import console, heading, written
from advisor.views.proof import proof_by_run
from advisor.views.screen import print_screen
from advisor.views.selection import FIRST_QUERIES, Selection, by_reason, selections

_Record = TypeVar("_Record", BrokenRecord, PartialRecord)

WIDTH = 100
_LEVEL_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan"}
_STATE_STYLES = {"dead": "bold red", "restarting": "bold yellow", "running": "green"}
_LABEL = 28  # columns: more rules than stand in them go on below
_FEW = 3
_IN_A_SESSION = 'Here --set FACT=VALUE is attach(spark, set=["FACT=VALUE"]), and --all is report.queries.'


def report_as_text(report: Report, *, everything: bool = False, width: int = WIDTH, color: bool = False) -> str:
    """The whole report as text that ends in a line break; `everything` shows what the first screen keeps back."""
    page = console(width, color=color)
    _Page(page, clean_all(report), everything).print()
    return written(page)


class _Page:
    """One report on its way to a console."""

    def __init__(self, console: Console, report: Report, everything: bool) -> None:
        self.console = console
        self.report = report
        self.everything = everything
        self.proof = proof_by_run(report)

    def print(self) -> None:
        shown = selections(self.report, everything=self.everything)
        self.console.print(Text(wording.read(self.report), style="dim"))
        if self.everything:
            self._everything(shown)
        else:
            self._first(shown)
        self._falling_behind(self.report.input)
        self._records("Partial", self.report.input.partial, wording.partial)
        self._records("Not readable", self.report.input.broken, wording.unread)
        self._session(self.report.session)

    def _first(self, shown: list[Selection]) -> None:
        """The first screens of the few most pressing queries, and a line for each of the others."""
        for chosen in shown[:FIRST_QUERIES]:
            self.console.print()
            print_screen(self.console, chosen, self.proof.get(chosen.query.run_id, []))
        if len(shown) > FIRST_QUERIES:
            heading(self.console, text.plural(len(shown) - FIRST_QUERIES, "more query", "more queries"))
            self._ranking(shown[FIRST_QUERIES:], in_a_line=True)
        if shown:
            self.console.print(Text("\nMore: --all", style="dim"))

    def _everything(self, shown: list[Selection]) -> None:
        if len(shown) > 1:
            self._ranking(shown)
        for chosen in shown:
            self._query(chosen)

    def _ranking(self, shown: list[Selection], in_a_line: bool = False) -> None:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        table.add_column("query", no_wrap=in_a_line, overflow="ellipsis" if in_a_line else "fold")
        for title in ("state", "worst", "p50", "p99"):
            table.add_column(title, justify="right" if title.startswith("p") else "left", overflow="fold")
        if in_a_line:
            table.add_column(
                "what to do", no_wrap=True, overflow="ellipsis", max_width=max(24, self.console.width - 62)
            )
        else:
            table.add_column("what to do", ratio=1)
        for query in (chosen.query for chosen in shown):
            latencies = (wording.percentile(query, "p50"), wording.percentile(query, "p99"))
            cells = (Text(wording.name(query)), _state(query, short=True), _level(query))
            table.add_row(*cells, *latencies, Text(in_short.in_a_line(query) if in_a_line else query.verdict))
        self.console.print()
        self.console.print(table)

    def _query(self, chosen: Selection) -> None:
        query = chosen.query
        self.console.print()
        self.console.rule(style="dim", characters="─")
        self.console.print(
            Text.assemble((wording.name(query), "bold"), "  ", _state(query), "  ", (wording.version(query), "dim"))
        )
        self.console.print(Text(query.verdict, style="bold"))
        self._rows(_summary(chosen, self.proof.get(query.run_id, [])))
        self._budget(query)
        AdvicePage(self.console, chosen, self.everything).print()
        self._unjudged(query)
        self._silenced(query)
        self._worst(query)
        if self.everything:
            self._quiet(query)
            self._facts(query)

    def _rows(self, rows: Iterable[tuple[str, str]]) -> None:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="dim", max_width=_LABEL)
        grid.add_column(overflow="fold")
        for label, words in rows:
            grid.add_row(label, Text(words))
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _budget(self, query: QueryEntry) -> None:
        budget = wording.budget(query)
        if not budget:
            return
        heading(self.console, f"Where a typical batch spends its {wording.typical_batch(query)}")
        grid = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "right", "right"):
            grid.add_column(justify=justify, no_wrap=True)
        grid.add_column(no_wrap=True)
        grid.add_column(style="dim", overflow="fold")
        longest = max(8, min(30, self.console.width - 70))
        for key, ms, share in budget:
            bar = "█" * round(longest * share / budget[0][2]) or "▏"
            cells = (Text(text.phase(key)), text.ms(ms), text.share(share), Text(bar, "blue"))
            grid.add_row(*cells, text.phase_meaning(key))
            for part, part_ms, of_batch, meaning in inside.rows(query) if key == "addBatch" else ():
                bar = "▒" * round(longest * min(1.0, of_batch / budget[0][2])) or "▏"
                cells = (Text(f"  {part}", "dim"), text.ms(part_ms), text.share(of_batch), Text(bar, "blue"))
                grid.add_row(*cells, meaning)
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _unjudged(self, query: QueryEntry) -> None:
        groups = by_reason(query.skipped)
        shown = groups if self.everything else groups[:_FEW]
        if groups:
            heading(self.console, f"Not judged: {text.plural(len(query.skipped), 'rule')}")
            self._rows((self._rules(rules), reason) for reason, rules in shown)
            self._kept_back(len(groups) - len(shown), "more reason")

    def _rules(self, rules: list[str]) -> str:
        return ", ".join(rules) if self.everything or len(rules) <= _FEW else f"{len(rules)} rules"

    def _quiet(self, query: QueryEntry) -> None:
        heading(self.console, "Rules")
        self._rows([("", wording.judged(query)), *((entry.rule, f"passed: {entry.margin}") for entry in query.passed)])
        self._rows((entry.rule, f"not applicable: {entry.reason}") for entry in query.not_applicable)

    def _silenced(self, query: QueryEntry) -> None:
        if query.suppressed:
            heading(self.console, "Silenced")
            self._rows((entry.rule, wording.suppression(entry)) for entry in query.suppressed)

    def _kept_back(self, number: int, words: str) -> None:
        if number > 0:
            self.console.print(Text(f"  {text.plural(number, words)}: --all", style="dim"))

    def _worst(self, query: QueryEntry) -> None:
        if not query.worst:
            return
        heading(self.console, "Slowest batches")
        grid = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "left", "right", "right", "left"):
            grid.add_column(justify=justify, overflow="fold")
        for batch in query.worst:
            grid.add_row(*wording.batch(batch))
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _facts(self, query: QueryEntry) -> None:
        known = [(name, fact) for name, fact in sorted(query.facts.items()) if fact.value is not None]
        if known:
            heading(self.console, "What is known of this query")
            self._rows((name, wording.fact(fact)) for name, fact in known)

    def _falling_behind(self, read: Input) -> None:
        """Print what a log without progress shows, and how to get progress."""
        if read.falling_behind:
            heading(self.console, "Falling behind")
        for entry in read.falling_behind:
            self.console.print(Padding(Text(entry.says), (0, 0, 0, 2)))
        if read.progress_needs:
            heading(self.console, "No progress to judge")
            self.console.print(Padding(Text(f"{read.progress_needs}."), (0, 0, 0, 2)))

    def _records(self, title: str, records: Sequence[_Record], words: Callable[[_Record], str]) -> None:
        """Records that are not whole: where each stands, and what is to be said of it."""
        if not records:
            return
        heading(self.console, f"{title}: {text.plural(wording.records(records), 'record')}")
        shown = records if self.everything else records[:_FEW]
        for one in shown:  # a path is long: its line is left to the terminal
            self.console.print(Text(f"  {wording.place(one)}", style="dim"), soft_wrap=True)
            self.console.print(Padding(Text(words(one)), (0, 0, 0, 4)))
        self._kept_back(wording.records(records[len(shown) :]), "more record")

    def _session(self, session: Session | None) -> None:
        if session is None:
            return
        self.console.print()
        if session.problems:
            self._rows(("Problem", words) for words in wording.problems(session))
        for words in (wording.heard(session), _IN_A_SESSION):
            self.console.print(Text(words, style="dim"))


def _summary(chosen: Selection, proof: list[str]) -> list[tuple[str, str]]:
    query = chosen.query
    rows = [("Latency", wording.latency(query)), ("Lag", wording.lag(query))]
    rows += [("Changed" if not nth else "", line) for nth, line in enumerate(wording.change(query))]
    rows += [("Proof" if not nth else "", line) for nth, line in enumerate(proof)]
    rows += [("Judged", wording.window(query))]
    if chosen.earlier:
        rows += [("Before", f"{text.plural(chosen.earlier, 'earlier run')} of this query")]
    rows += [("Note", limit) for limit in query.limits]
    return rows + [("Conflict", wording.conflict(entry)) for entry in query.conflicts]


def _state(query: QueryEntry, short: bool = False) -> Text:
    state = "idle" if query.idle_since else query.state.replace("_", " ")
    words = state if short else wording.state(query)
    return Text(words, style=_STATE_STYLES.get(query.state, ""))


def _level(query: QueryEntry) -> Text:
    return Text(query.level, _LEVEL_STYLES[query.level]) if query.level else Text("nothing", "dim")
