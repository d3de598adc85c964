"""The first screen of a query: the loss, one step and what else there is, in at most 25 lines of a usual width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.contract import Advice, QueryEntry
from advisor.views import in_short, wording
from advisor.views.paste import fitted, parts
from advisor.views.selection import Selection, unknown_facts

LINES = 23
"""That a query takes; two more say how to see the rest."""
_HARMLESS = "Nothing"
"""What a step costs that only looks: there is nothing to undo."""
_STATE_STYLES = {"dead": "bold red", "restarting": "bold yellow", "running": "green"}
_BAR = 20
_NUMBERS = 11
"""Columns before the words of a number."""
_CODE = 5
"""Columns before a line to paste."""


class _Room(NamedTuple):
    """How many entries of each list are shown."""

    also: int
    refused: int
    troubles: int
    proof: int
    together: bool = True
    unsure: bool = True
    dense: bool = False  # without empty lines, addBatch's parts in one line


_ROOMS = (
    _Room(3, 2, 3, 3),
    _Room(2, 2, 2, 2),
    _Room(2, 1, 1, 1),
    _Room(1, 1, 1, 1),
    _Room(1, 1, 1, 1, together=False),
    _Room(1, 0, 1, 1, together=False),
    _Room(1, 0, 1, 0, together=False),
    _Room(1, 0, 1, 0, together=False, unsure=False),
    _Room(0, 0, 1, 0, together=False),
    _Room(0, 0, 1, 0, together=False, unsure=False),
    _Room(0, 0, 1, 0, together=False, unsure=False, dense=True),
    _Room(0, 0, 0, 0, together=False, unsure=False, dense=True),
)
"""From much to little; the first that fits is taken."""


def print_screen(console: Console, chosen: Selection, proof: Sequence[str]) -> None:
    """Print the first screen of this query; `proof`: what was measured of a change, in lines."""
    for room in _ROOMS:
        with console.capture() as written:
            _Screen(console, chosen, proof, room).print()
        if written.get().count("\n") <= LINES:
            break
    console.file.write(written.get())


class _Screen:
    """One query on its way to a console."""

    def __init__(self, console: Console, chosen: Selection, proof: Sequence[str], room: _Room) -> None:
        self.console = console
        self.chosen = chosen
        self.query = chosen.query
        self.proof = proof[: room.proof]
        self.room = room

    def print(self) -> None:
        query = self.query
        title = Text.assemble((wording.name(query), "bold"), "   ", (in_short.kind_of_query(query), "dim"))
        self.console.print(title)
        if words := in_short.state_if_news(query):
            self.console.print(Text(words, style=_STATE_STYLES.get(query.state, "")))
        headline = _headline(query)
        self.console.print(headline)
        others = [words for words in query.screen.troubles if words not in headline.plain]
        for words in others[: self.room.troubles]:
            self.console.print(Text(words, style="yellow"))
        self._gap()
        self._rows(_numbers(self.chosen, self.proof, self.console.width, self.room.dense))
        self._gap()
        self._do()
        self._others()

    def _gap(self) -> None:
        if not self.room.dense:
            self.console.print()

    def _do(self) -> None:
        if self.chosen.best is None:
            self._advised(Text(in_short.no_step(self.query)), style="bold")
            return
        step = self.chosen.best.advice
        title = Text.assemble(
            (step.do, "bold green"), (f"   ({in_short.takes_in_short(step)} · {self.chosen.best.rule})", "dim")
        )
        self._advised(title, style="bold green")
        if step.stages:
            self.console.print(Padding(Text(in_short.stages(step), "dim"), (0, 0, 0, 5)))
        for line in _code(step, self.console.width - _CODE):
            # Not wrapped: a line broken in the middle could not be pasted.
            self.console.print(line, soft_wrap=True)
        self._rows(_brief(self.query, step, why=self.room.troubles > 0), indent=5)

    def _others(self) -> None:
        screen = self.query.screen
        rows = [("ALSO", in_short.also(step)) for step in self.chosen.also[: self.room.also]]
        if self.room.together and (words := in_short.together(self.query)):
            rows.append(("TOGETHER", words))
        rows += [("NOT FOR THIS QUERY", in_short.refused(one)) for one in screen.refused[: self.room.refused]]
        if screen.unsure and self.room.unsure:
            rows.append(("UNSURE", in_short.question(screen.unsure)))
        if rows:
            self.console.print()
            self._rows(_once(rows), indent=0)

    def _advised(self, words: Text, style: str) -> None:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=4, style=style)
        grid.add_column(overflow="fold")
        grid.add_row("DO", words)
        self.console.print(grid)

    def _rows(self, rows: Iterator[tuple[str, Text]] | Sequence[tuple[str, str]], indent: int = 1) -> None:
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="dim", no_wrap=True, min_width=5)
        grid.add_column(overflow="fold")
        for label, words in rows:
            grid.add_row(label, words if isinstance(words, Text) else Text(words))
        self.console.print(Padding(grid, (0, 0, 0, indent)))


def _headline(query: QueryEntry) -> Text:
    loss, calm = query.screen.loss, query.screen.calm
    if calm is not None:
        return Text.assemble((f"{in_short.headline_name(query).upper()}: ", "bold green"), (calm.says, "bold"))
    if loss is None:
        return Text(query.verdict, style="bold")
    error = query.terminated.error if query.terminated else None
    died = f"The query stopped with an error: {error.rstrip('.')}. " if error else ""
    color = "bold red" if query.findings or query.screen.troubles else "bold"
    name = in_short.headline_name(query)
    return Text.assemble((died, "bold red"), (f"{name.upper()}: " if name else "", color), (loss.says, "bold"))


def _numbers(chosen: Selection, proof: Sequence[str], width: int, dense: bool) -> Iterator[tuple[str, Text]]:
    query = chosen.query
    if not query.window.batches:
        yield "Based on", Text(in_short.based_on(chosen))
        return
    yield "Latency", Text(in_short.latency_now_and_then(query))
    yield "Batch", Text(in_short.batch_headroom_lag(query))
    if query.screen.goes_to:
        yield "Goes to", _bars(query, width)
    if words := in_short.within_add_batch(query, width - _NUMBERS if dense else None):
        yield "", Text(words, style="dim")
    if words := in_short.slowest(query):
        yield "Slowest", Text(words)
    for nth, words in enumerate(in_short.closest(query)):
        yield "" if nth else "Closest", Text(words)
    for nth, words in enumerate(proof):
        yield "" if nth else "Proof", Text(words)
    yield "Based on", Text(in_short.based_on(chosen))


def _bars(query: QueryEntry, width: int) -> Text:
    """The parts of all batch time with their bars, as many as stand in a line."""
    line = Text()
    for part in query.screen.goes_to:
        words = f"{in_short.loss_name(part)} {100 * part.share:.0f} % "
        bar = "█" * max(1, round(_BAR * part.share))
        if line and len(line) + len(words) + len(bar) > width - _NUMBERS - 3:
            break
        line.append(("  " if line else "") + words)
        line.append(bar, "red" if not line or part is query.screen.goes_to[0] else "blue")
    return line


def _code(step: Advice, width: int) -> Iterator[Text]:
    """Return the lines to paste, each group under the place where it belongs; stages are printed only with --all."""
    for _, paste in [] if step.stages else parts(step):
        if paste:
            yield Text(f"{' ' * _CODE}{paste.where}:", "dim")
            yield from (Text(f"{' ' * _CODE}{line}", "bold cyan") for line in fitted(paste.lines, width))


def _brief(query: QueryEntry, step: Advice, *, why: bool) -> Iterator[tuple[str, Text]]:
    brief = query.screen.do
    if why and (words := in_short.why(query)):
        yield "why", Text(words)
    yield "gain", Text(in_short.gain(query, step))
    if words := in_short.beside_the_loss(query):
        yield "but", Text(words)
    asked = query.screen.unsure.fact if query.screen.unsure else None
    if waits_for := [name for name in unknown_facts(step) if name != asked]:
        yield "if", Text(in_short.once_known(waits_for))
    if brief is None:
        return
    if brief.risk != _HARMLESS:
        yield "risk", Text(brief.risk or wording.semantics(step) or "none that is known")
        yield "undo", Text(brief.undo)
    yield "check", Text(brief.check)


def _once(rows: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Rows of which a label stands only where it begins."""
    return [("" if nth and rows[nth - 1][0] == label else label, words) for nth, (label, words) in enumerate(rows)]
