"""The report as text: the first screen for a reader in a hurry, plain or coloured, in any width."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.contract import Advice, BrokenRecord, Finding, Input, PartialRecord, QueryEntry, Report, Session
from advisor.views import in_short, inside, text, wording
from advisor.views.clean import clean_all
from advisor.views.comparison import proof_by_run
from advisor.views.console import WIDTH, console, heading, written
from advisor.views.paste import Paste, fitted, parts
from advisor.views.screen import print_screen
from advisor.views.selection import FIRST_QUERIES, Selection, by_reason, selections, setting, unknown_facts

_Record = TypeVar("_Record", BrokenRecord, PartialRecord)

_LEVEL_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan"}
_LEGAL_STYLES = {"yes": "green", "if": "yellow", "no": "dim"}
_DETAIL = 7
_LABELS = 7
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
        _Advice(self.console, chosen, self.everything).print()
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


class _Advice:
    """The advice for one run on its way to a console; a step is spelled out once."""

    def __init__(self, console: Console, chosen: Selection, everything: bool) -> None:
        self.console = console
        self.chosen = chosen
        self.everything = everything
        self.shown: dict[str, str] = {}

    def print(self) -> None:
        """Print the best step, then the findings that are shown first."""
        if self.chosen.best:
            self._best(self.chosen.best.advice)
        if self.chosen.findings:
            heading(self.console, f"Findings{self._kept_back()}")
        for number, finding in enumerate(self.chosen.findings, 1):
            self._finding(number, finding)

    def _best(self, step: Advice) -> None:
        heading(self.console, "Best step")
        self._indented(Text(step.do, style="bold green"), 2)
        if step.legal == "if" and step.because:
            self._rows([("unsure", step.because)], 2)
        self.shown[step.id] = "the best step, above"
        self._detail(step, indent=2)

    def _finding(self, number: int, finding: Finding) -> None:
        words = Text.assemble(
            f"{number}. ",
            (finding.title, "bold"),
            "  ",
            (finding.level, _LEVEL_STYLES[finding.level]),
            (f", confidence {finding.confidence}  {finding.rule}", "dim"),
        )
        self.console.print(words)
        self._indented(Text(finding.says), 3)
        for other in self.chosen.folded.get(finding.rule, []):
            self._indented(Text(f"This also explains {other.rule}: {other.title}", style="dim"), 3)
        if not finding.steps:
            self._indented(Text("No setting is known that helps."), 3)
        for step in finding.steps:
            self._step(finding, step)
        if self.everything and finding.evidence:
            self._indented(Text(f"Known: {wording.evidence(finding)}", style="dim"), 3)

    def _step(self, finding: Finding, step: Advice) -> None:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=3)
        grid.add_column(overflow="fold")
        shown = self.shown.get(step.id)
        style = "dim" if step.legal == "no" else ""
        grid.add_row(Text(step.legal, _LEGAL_STYLES[step.legal]), Text(_words(step, shown), style))
        self._indented(grid, 3)
        if not shown and step.legal != "no":
            self.shown[step.id] = f"see {finding.rule}"
            self._detail(step, indent=_DETAIL)

    def _detail(self, step: Advice, indent: int) -> None:
        self._rows(_before_code(step), indent)
        for part, paste in parts(step):
            if part:
                self._indented(Text(part, style="dim"), indent)
            if paste:
                self._paste(paste, indent)
        self._rows(_after_code(step), indent)

    def _paste(self, paste: Paste, indent: int) -> None:
        self._rows([("paste", f"{paste.where}:")], indent)
        before = indent + _LABELS + 2
        for line in fitted(paste.lines, self.console.width - before):
            # Not wrapped: a line broken in the middle could not be pasted.
            self.console.print(Text(" " * before + line, style="bold cyan"), soft_wrap=True)

    def _rows(self, rows: list[tuple[str, str]], indent: int) -> None:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="dim", no_wrap=True, width=_LABELS)
        grid.add_column(overflow="fold")
        for label, words in rows:
            grid.add_row(label, Text(words))
        if rows:
            self._indented(grid, indent)

    def _indented(self, what: RenderableType, indent: int) -> None:
        self.console.print(Padding(what, (0, 0, 0, indent)))

    def _kept_back(self) -> str:
        return f" ({len(self.chosen.findings)} shown, {self.chosen.hidden} more: --all)" if self.chosen.hidden else ""


def _words(step: Advice, shown: str | None) -> str:
    if shown:
        return f"{step.do} ({shown})"
    return f"{step.do}: {step.because}" if step.legal != "yes" and step.because else step.do


def _before_code(step: Advice) -> list[tuple[str, str]]:
    tell = [("tell it", setting(name)) for name in unknown_facts(step)]
    return [*tell, *[("saves", words) for words in wording.savings(step)], ("takes", wording.takes(step))]


def _after_code(step: Advice) -> list[tuple[str, str]]:
    rows = [
        (label, words) for label, words in (("costs", step.costs), ("undo", step.undo), ("watch", step.check)) if words
    ]
    promise = wording.semantics(step)
    return [("safety", promise), *rows] if promise else rows
