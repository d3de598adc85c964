"""The first screen of a query: the loss, one step and what else there is, in at most 25 lines of a usual width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from advisor.contract import Advice, QueryEntry
from advisor.views import first_screen, wording
from advisor.views.console import columns
from advisor.views.paste import fitted, parts
from advisor.views.selection import Selection, unknown_facts

LINES = 23
"""That a query takes; two more say how to see the rest."""
STATE_STYLES = {"dead": "bold red", "restarting": "bold yellow", "running": "green"}
_BAR = 20
_NUMBERS = 11
"""Columns before the words of a number."""
_CODE = 5
"""Columns before a line to paste."""
_MUST, _WHY, _BRIEF, _TROUBLE, _ALSO, _INSIDE, _PROOF, _REFUSED = range(8)
"""What stays longest where lines are short; further entries of a list go before the first of any."""
_FURTHER = 8
_UNSURE, _TOGETHER, _GAP = 2 * _FURTHER, 90, 99


class _Part(NamedTuple):
    """A part of the screen; `rank`: of those left out first the highest. `steps`: other steps that it names."""

    rank: int
    what: RenderableType
    steps: frozenset[str] = frozenset()


def print_screen(console: Console, chosen: Selection, proof: Sequence[str]) -> int:
    """Print the first screen of this query, and return how many steps it has no room for.

    `proof`: what was measured of a change, in lines.
    """
    shown = [(part, _written(console, part.what)) for part in _everything(chosen, proof, console.width)]
    others = _steps(shown) | {named.step for named in chosen.query.screen.also}
    while sum(words.count("\n") for _, words in shown) > LINES and any(part.rank for part, _ in shown):
        del shown[max(range(len(shown)), key=lambda at: (shown[at][0].rank, at))]
    console.file.write("".join(words for _, words in shown))
    return len(others - _steps(shown))


def _steps(shown: Sequence[tuple[_Part, str]]) -> set[str]:
    return {step for part, _ in shown for step in part.steps}


def _written(console: Console, what: RenderableType) -> str:
    code = isinstance(what, Text) and what.style == "bold cyan"  # not wrapped: it could not be pasted else
    with console.capture() as captured:
        console.print(what, soft_wrap=code)
    return captured.get()


def _everything(chosen: Selection, proof: Sequence[str], width: int) -> Iterator[_Part]:
    """Yield the parts of the screen from top to bottom."""
    query = chosen.query
    named = Text.assemble((wording.name(query), "bold"), "   ", (first_screen.kind_of_query(query), "dim"))
    yield _Part(_MUST, named)
    if words := first_screen.state_if_news(query):
        yield _Part(_MUST, Text(words, style=STATE_STYLES.get(query.state, "")))
    for nth, words in enumerate(target := first_screen.target(query)):
        left = nth > 1 and nth == len(target) - 1 and query.screen.target and query.screen.target.left_ms
        rank = _INSIDE if nth == 1 else _BRIEF if left else _MUST  # today's latency has its own line
        row = _row("" if nth else "TARGET", Text(words, "" if nth else "bold"), indent=0, label_width=6)
        yield _Part(rank, row, _on_the_way(query))
    headline = _headline(query)
    yield _Part(_MUST, headline)
    troubles = [words for words in query.screen.troubles if words not in headline.plain]
    why = {one.says for one in query.findings if chosen.best and one.rule == chosen.best.rule}
    for nth, words in enumerate(troubles[:3]):
        yield _Part(_WHY if words in why else _ranked(_TROUBLE, nth), Text(words, style="yellow"))
    yield _Part(_GAP, Text())
    for rank, label, number in _numbers(chosen, proof, width):
        yield _Part(rank, _row(label, number, indent=1, label_width=8))
    yield _Part(_GAP, Text())
    yield from (_Part(_MUST, what) for what in _do(chosen, width))
    if chosen.best is not None and (brief := query.screen.do):
        afterwards = (("undo", "" if chosen.best.advice.is_harmless else brief.undo), ("check", brief.check))
        rank = _PROOF if _only_looks(chosen) else _BRIEF
        yield from (_Part(rank, _detail(label, words)) for label, words in afterwards if words)
    others = list(_others(chosen))
    if others:
        yield _Part(_GAP, Text())
    for rank, label, words, steps in others:
        yield _Part(rank, _row(label, Text(words), indent=0, label_width=8), frozenset(steps))


def _ranked(rank: int, nth: int) -> int:
    return rank + nth * _FURTHER


def _headline(query: QueryEntry) -> Text:
    loss, calm, name = query.screen.loss, query.screen.calm, first_screen.headline_name(query)
    if calm is not None:
        return Text.assemble((f"{name.upper()}: ", "bold green"), (calm.says, "bold"))
    if loss is None:
        return Text(query.verdict, style="bold")
    error = query.terminated.error if query.terminated else None
    died = f"The query stopped with an error: {error.rstrip('.')}. " if error else ""
    color = "bold red" if query.findings else "bold"
    return Text.assemble((died, "bold red"), (f"{name.upper()}: " if name else "", color), (loss.says, "bold"))


def _only_looks(chosen: Selection) -> bool:
    """Whether the best step promises nothing; then the parts of addBatch say where to look."""
    return chosen.best is not None and not (chosen.best.advice.saves_ms or chosen.best.advice.saves_latency_ms)


def _numbers(chosen: Selection, proof: Sequence[str], width: int) -> Iterator[tuple[int, str, Text]]:
    query = chosen.query
    if query.window.batches:
        yield _MUST, "Latency", Text(first_screen.latency(query))
        yield _MUST, "Batch", Text(first_screen.batch_headroom_lag(query))
        if words := first_screen.capacity(query):
            asked = query.value("load_factor") or query.value("outage_minutes")
            yield _MUST if asked else _PROOF, "Capacity", Text(words)
        if query.screen.goes_to:
            yield _MUST, "Goes to", _bars(query, width)
        if words := first_screen.within_add_batch(query, 2 * (width - _NUMBERS)):
            yield _BRIEF if _only_looks(chosen) else _INSIDE, "", Text(words, style="dim")
        if words := first_screen.slowest(query):
            yield _ALSO, "Slowest", Text(words)
        if query.changed:
            yield _PROOF, "Changed", Text(query.changed.says.partition(";")[0].rstrip("."))
        if words := "; ".join(first_screen.closest(query)):
            yield _TOGETHER, "Closest", Text(f"to firing: {words}")
        for nth, words in enumerate(proof[:3]):
            yield _ranked(_PROOF, nth), "" if nth else "Proof", Text(words)
    yield _MUST, "Based on", Text(first_screen.based_on(chosen))


def _bars(query: QueryEntry, width: int) -> Text:
    """Return the parts of all batch time with their bars, as many as stand in a line."""
    line = Text()
    for part in query.screen.goes_to:
        words = f"{first_screen.loss_name(part)} {100 * part.share:.0f} % "
        bar = "█" * max(1, round(_BAR * part.share))
        if line and len(line) + len(words) + len(bar) > width - _NUMBERS - 3:
            break
        line.append(("  " if line else "") + words)
        line.append(bar, "red" if part is query.screen.goes_to[0] else "blue")
    return line


def _do(chosen: Selection, width: int) -> Iterator[RenderableType]:
    """Yield what to do first: the step, its code, what it gains and risks."""
    query = chosen.query
    if chosen.best is None:
        yield _row("DO", Text(first_screen.no_step(query), style="bold"), indent=0, label_width=4, gap=1)
        return
    step = chosen.best.advice
    takes = f"   ({first_screen.effort(step)} · {chosen.best.rule})"
    if _CODE + len(step.do) + len(takes) > width:  # no line is spent on the count of lines
        takes = f"   ({first_screen.effort(step, counted=False)} · {chosen.best.rule})"
    offer = first_screen.offer(query).removeprefix("if ")
    words = Text.assemble((offer or step.do, "bold green"), (takes, "dim"))
    yield _row("IF" if offer else "DO", words, indent=0, label_width=4, gap=1)
    if step.stages:
        yield Padding(Text(first_screen.stages(step), "dim"), (0, 0, 0, _CODE))
    yield from _code(step, width - _CODE)
    yield from (_detail(label, words) for label, words in _brief(query, step))


def _detail(label: str, words: str) -> Padding:
    return _row(label, Text(words), indent=_CODE, label_width=5)


def _code(step: Advice, width: int) -> Iterator[Text]:
    """Yield the lines to paste, each group under the place where it belongs; those of stages stand in --all."""
    for _, paste in [] if step.stages else parts(step):
        if paste:
            yield Text(f"{' ' * _CODE}{paste.where}:", "dim")
            yield from (Text(f"{' ' * _CODE}{line}", "bold cyan") for line in fitted(paste.lines, width))


def _brief(query: QueryEntry, step: Advice) -> Iterator[tuple[str, str]]:
    brief, asked = query.screen.do, query.screen.unsure.fact if query.screen.unsure else None
    if words := first_screen.why(query):
        yield "why", words
    yield "gain", first_screen.gain(query, step)
    if words := first_screen.beside_the_loss(query):
        yield "but", words
    if waits_for := [name for name in unknown_facts(step) if name != asked]:
        yield "if", first_screen.once_known(waits_for)
    if brief is not None and not step.is_harmless:
        yield "risk", brief.risk or wording.semantics(step) or "none that is known"


def _others(chosen: Selection) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield other steps, those that are not for this query, and what to ask: rank, label, words, steps."""
    query, screen = chosen.query, chosen.query.screen
    for each in query.conflicts:
        if any(value.origin == "user" for value in each.values):
            yield _MUST, "CONFLICT", wording.conflict(each), []
    also = [one for one in zip(screen.also, chosen.also, strict=False) if one[0].step not in _on_the_way(query)]
    for nth, (named, step) in enumerate(also):
        rank = _MUST if named.cheap and not nth and not screen.target else _ranked(_ALSO, nth)
        yield rank, "" if nth else "ALSO", first_screen.also(query, step), [step.id]
    if query.together:
        best = {chosen.best.step} if chosen.best else set()
        steps = [named.step for named in query.together.steps if named.step not in best]
        yield _TOGETHER, "TOGETHER", first_screen.together(query), steps
    for nth, one in enumerate(screen.refused[:2]):
        yield _ranked(_REFUSED, nth), "" if nth else "NOT HERE", f"{one.do.partition(';')[0]}: {one.because}", []
    if screen.unsure:
        yield _UNSURE, "UNSURE", first_screen.question(screen.unsure), []


def _on_the_way(query: QueryEntry) -> frozenset[str]:
    """Return the steps that the target names."""
    target = query.screen.target
    return frozenset(step.step for step in target.steps) if target else frozenset()


def _row(label: str, words: Text, *, indent: int, label_width: int, gap: int = 2) -> Padding:
    look = {"style": "bold" if label == "DO" else "dim", "no_wrap": True, "width": label_width}
    return Padding(columns([(label, words)], look, gap=gap), (0, 0, 0, indent))
