"""The report as text: the first screen for a reader in a hurry, plain or coloured, in any width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.views import lines, text
from advisor.views.advice import Advice
from advisor.views.clean import clean_all
from advisor.views.page import console, heading, written
from advisor.views.promises import by_run
from advisor.views.screen import FIRST_QUERIES, Screen, by_reason, level, screens

Data = Mapping[str, Any]

WIDTH = 100
_LEVEL_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan"}
_STATE_STYLES = {"dead": "bold red", "restarting": "bold yellow", "running": "green"}
_FEW = 3
_IN_A_SESSION = 'Here --set FACT=VALUE is attach(spark, set=["FACT=VALUE"]), and --all is report.queries.'


def render(report: Data, *, everything: bool = False, width: int = WIDTH, color: bool = False) -> str:
    """The whole report as text that ends in a line break; `everything` shows what the first screen keeps back."""
    page = console(width, color=color)
    _Page(page, clean_all(report), everything).print()
    return written(page)


class _Page:
    """One report on its way to a console."""

    def __init__(self, console: Console, report: Data, everything: bool) -> None:
        self.console = console
        self.report = report
        self.everything = everything
        self.proof = by_run(report)

    def print(self) -> None:
        shown = screens(self.report, everything=self.everything)
        self.console.print(Text(lines.read(self.report), style="dim"))
        if len(shown) > 1:
            self._ranking(shown)
        for screen in shown if self.everything else shown[:FIRST_QUERIES]:
            self._query(screen)
        if len(shown) > FIRST_QUERIES and not self.everything:
            rest = text.plural(len(shown) - FIRST_QUERIES, "more query", "more queries")
            self.console.print(Text(f"\n{rest} in the table above; --all shows each.", style="dim"))
        self._broken(self.report["input"]["broken"])
        self._session(self.report.get("session"))

    def _ranking(self, shown: list[Screen]) -> None:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
        for title in ("query", "state", "worst", "p50", "p99"):
            table.add_column(title, justify="right" if title.startswith("p") else "left", overflow="fold")
        table.add_column("what to do", ratio=1)
        for screen in shown:
            query = screen.query
            latencies = [lines.percentile(query, stat) for stat in ("p50", "p99")]
            cells = (Text(lines.name(query)), _state(query, short=True), _level(level(query)))
            table.add_row(*cells, *latencies, Text(query["verdict"]))
        self.console.print()
        self.console.print(table)

    def _query(self, screen: Screen) -> None:
        query = screen.query
        self.console.print()
        self.console.rule(style="dim", characters="─")
        self.console.print(
            Text.assemble((lines.name(query), "bold"), "  ", _state(query), "  ", (lines.version(query), "dim"))
        )
        self.console.print(Text(query["verdict"], style="bold"))
        self._rows(_summary(screen, self.proof.get(query["run_id"], [])))
        self._budget(query)
        Advice(self.console, screen, self.everything).print()
        self._unjudged(query)
        self._silenced(query)
        self._worst(query)
        if self.everything:
            self._facts(query)

    def _rows(self, rows: Iterable[tuple[str, str]]) -> None:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="dim", no_wrap=True)
        grid.add_column(overflow="fold")
        for label, words in rows:
            grid.add_row(label, Text(words))
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _budget(self, query: Data) -> None:
        budget = lines.budget(query)
        if not budget:
            return
        heading(self.console, f"Where a typical batch spends its {lines.typical_batch(query)}")
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
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _unjudged(self, query: Data) -> None:
        groups = by_reason(query["skipped"])
        shown = groups if self.everything else groups[:_FEW]
        if groups:
            heading(self.console, f"Not judged: {text.plural(len(query['skipped']), 'rule')}")
            self._rows((self._rules(rules), reason) for reason, rules in shown)
            self._kept_back(len(groups) - len(shown), "more reason")

    def _rules(self, rules: list[str]) -> str:
        return ", ".join(rules) if self.everything or len(rules) <= _FEW else f"{len(rules)} rules"

    def _silenced(self, query: Data) -> None:
        if query["suppressed"]:
            heading(self.console, "Silenced")
            self._rows((entry["rule"], lines.suppression(entry)) for entry in query["suppressed"])

    def _kept_back(self, number: int, words: str) -> None:
        if number > 0:
            self.console.print(Text(f"  {text.plural(number, words)}: --all", style="dim"))

    def _worst(self, query: Data) -> None:
        if not query.get("worst"):
            return
        heading(self.console, "Slowest batches")
        grid = Table.grid(padding=(0, 2, 0, 0))
        for justify in ("left", "left", "right", "right", "left"):
            grid.add_column(justify=justify, overflow="fold")
        for batch in query["worst"]:
            grid.add_row(*lines.batch(batch))
        self.console.print(Padding(grid, (0, 0, 0, 2)))

    def _facts(self, query: Data) -> None:
        known = [(name, fact) for name, fact in sorted(query["facts"].items()) if fact.get("value") is not None]
        if known:
            heading(self.console, "What is known of this query")
            self._rows((name, lines.fact(fact)) for name, fact in known)

    def _broken(self, broken: list[Data]) -> None:
        if not broken:
            return
        heading(self.console, f"Not readable: {text.plural(len(broken), 'record')}")
        shown = broken if self.everything else broken[:_FEW]
        for entry in shown:  # a path is long: its line is left to the terminal
            self.console.print(Text(f"  {lines.place(entry)}", style="dim"), soft_wrap=True)
            self.console.print(Padding(Text(entry["reason"]), (0, 0, 0, 4)))
        self._kept_back(len(broken) - len(shown), "more record")

    def _session(self, session: Data | None) -> None:
        if session is None:
            return
        self.console.print()
        if session["problems"]:
            self._rows(("Problem", words) for words in lines.problems(session))
        for words in (lines.heard(session), _IN_A_SESSION):
            self.console.print(Text(words, style="dim"))


def _summary(screen: Screen, proof: list[str]) -> list[tuple[str, str]]:
    query = screen.query
    rows = [("Latency", lines.latency(query)), ("Lag", lines.lag(query))]
    rows += [("Changed" if not nth else "", line) for nth, line in enumerate(lines.change(query))]
    rows += [("Proof" if not nth else "", line) for nth, line in enumerate(proof)]
    rows += [("Judged", lines.window(query))]
    if screen.earlier:
        rows += [("Before", f"{text.plural(screen.earlier, 'earlier run')} of this query: --all")]
    rows += [("Note", limit) for limit in query.get("limits") or ()]
    return rows + [("Conflict", lines.conflict(entry)) for entry in query.get("conflicts") or ()]


def _state(query: Data, short: bool = False) -> Text:
    state = "idle" if query.get("idle_since") else str(query.get("state") or text.UNKNOWN).replace("_", " ")
    words = state if short else lines.state(query)
    return Text(words, style=_STATE_STYLES.get(str(query.get("state")), ""))


def _level(value: str) -> Text:
    return Text(value or "nothing", style=_LEVEL_STYLES.get(value, "dim"))
