"""The best step and the findings of one run, as a reader sees them in a terminal."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.contract import Advice, Finding
from advisor.views import wording
from advisor.views.console import heading
from advisor.views.paste import Paste, fitted, parts
from advisor.views.selection import Selection, setting, unknown_facts

_LEVEL_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan"}
_LEGAL_STYLES = {"yes": "green", "if": "yellow", "no": "dim"}
_DETAIL = 7
_LABELS = 7


class AdvicePage:
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
