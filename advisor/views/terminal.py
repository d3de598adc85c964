"""The report as text: the first screen for a reader in a hurry, or everything; plain or coloured, in any width."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table
from rich.text import Text

from advisor.contract import Advice, BrokenRecord, Finding, Input, QueryEntry, Report, Session
from advisor.views import addbatch, first_screen, text, wording
from advisor.views.clean import clean_all
from advisor.views.comparison import proof_by_run
from advisor.views.console import WIDTH, columns, console, heading, indented, written
from advisor.views.paste import fitted, parts
from advisor.views.screen import STATE_STYLES, print_screen
from advisor.views.selection import FIRST_QUERIES, Selection, by_reason, selection, selections, setting, unknown_facts
from advisor.vocabulary import TAKES_IN_WORDS

Rows = list[tuple[str, str]]
Screens = Callable[[list[Selection]], Iterator[tuple[Selection, list[str]]]]

_LEVEL_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan"}
_LEGAL_STYLES = {"yes": "green", "if": "yellow", "no": "dim"}
_LABEL = {"style": "dim", "max_width": 28}  # more rules than stand in these columns go on below
_STEP_LABEL = {"style": "dim", "no_wrap": True, "width": 7}
_DETAIL = 7
_CODE = 9  # columns after a step's label begins
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
        name, do = {"no_wrap": True, "overflow": "ellipsis"}, {"max_width": max(24, page.width - 62)}
        _ranking(page, shown[FIRST_QUERIES:][:_LINES], first_screen.in_a_line, name, name | do)
    if (rest := len(shown) - FIRST_QUERIES - _LINES) > 0:
        page.print(Text(f"and {rest:,} more, less pressing: --all and --format json show all, --fleet ranks them"))
    if shown:
        steps = f", with {text.plural(hidden, 'more step')}" if hidden else ""
        page.print(Text(f"\nMore: --all{steps}", style="dim"))


def _all_of_each(page: Console, shown: list[Selection], screens: Screens) -> None:
    if len(shown) > 1:
        _ranking(page, shown, lambda query: query.verdict, {"overflow": "fold"}, {"ratio": 1})
    for chosen, proof in screens(shown):
        _query(page, chosen, proof)


def _ranking(
    page: Console, shown: list[Selection], do: Callable[[QueryEntry], str], name: dict[str, Any], last: dict[str, Any]
) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("query", **name)
    for title in ("state", "worst", "p50", "p99"):
        table.add_column(title, justify="right" if title.startswith("p") else "left", overflow="fold")
    table.add_column("what to do", **last)
    for query in (clean_all(chosen.query) for chosen in shown):
        latencies = (wording.percentile(query, "p50"), wording.percentile(query, "p99"))
        level = Text(query.level, _LEVEL_STYLES[query.level]) if query.level else Text("nothing", "dim")
        table.add_row(Text(wording.name(query)), _state(query, short=True), level, *latencies, Text(do(query)))
    page.print()
    page.print(table)


def _state(query: QueryEntry, short: bool = False) -> Text:
    state = query.stall.word if query.stall else "idle" if query.idle_since else query.state.replace("_", " ")
    return Text(state if short else wording.state(query), style=STATE_STYLES.get(query.state, ""))


def _query(page: Console, chosen: Selection, proof: list[str]) -> None:
    """Print everything that is known of one run."""
    query = chosen.query
    page.print()
    page.print(Text("─" * page.width, style="dim"))
    page.print(Text.assemble((wording.name(query), "bold"), "  ", _state(query), "  ", (wording.version(query), "dim")))
    page.print(Text(query.verdict, style="bold"))
    indented(page, columns(_summary(chosen, proof), _LABEL))
    _budget(page, query)
    _findings(page, chosen)
    not_judged = [(", ".join(rules), reason) for reason, rules in by_reason(query.skipped)]
    _section(page, f"Not judged: {text.plural(len(query.skipped), 'rule')}", not_judged)
    _section(page, "Silenced", [(entry.rule, wording.suppression(entry)) for entry in query.suppressed])
    if query.worst:
        heading(page, "Slowest batches")
        sides = ({"justify": side, "overflow": "fold"} for side in ("left", "left", "right", "right"))
        indented(page, columns(map(wording.batch, query.worst), *sides))
    heading(page, "Rules")
    passed = [(entry.rule, f"passed: {entry.margin}") for entry in query.passed]
    indented(page, columns([("", first_screen.looked_at(query)), *passed], _LABEL))
    others = [(entry.rule, f"not applicable: {entry.reason}") for entry in query.not_applicable]
    indented(page, columns(others, _LABEL))
    known = [(name, wording.fact(fact)) for name, fact in sorted(query.facts.items()) if fact.value is not None]
    _section(page, "What is known of this query", known)


def _section(page: Console, title: str, rows: Rows) -> None:
    if rows:
        heading(page, title)
        indented(page, columns(rows, _LABEL))


def _summary(chosen: Selection, proof: list[str]) -> Rows:
    query = chosen.query
    rows = [("" if nth else "Target", words) for nth, words in enumerate(first_screen.target(query))]
    rows += [("Latency", first_screen.latency(query)), ("Lag", wording.lag(query))]
    rows += [("Capacity", words)] if (words := first_screen.capacity(query) or wording.no_capacity(query)) else []
    rows += [("Changed", query.changed.says)] if query.changed else []
    rows += [("" if nth else "Proof", line) for nth, line in enumerate(proof)]
    rows += [("Judged", wording.window(query))]
    if chosen.earlier:
        rows += [("Before", f"{text.plural(chosen.earlier, 'earlier run')} of this query")]
    rows += [("Note", limit) for limit in query.limits]
    return rows + [("Conflict", wording.conflict(entry)) for entry in query.conflicts]


def _budget(page: Console, query: QueryEntry) -> None:
    budget = wording.budget(query)
    if not budget:
        return
    heading(page, f"Where a typical batch spends its {wording.typical_batch(query)}")
    longest = max(8, min(30, page.width - 70))
    rows = []
    for key, ms, share in budget:
        bar = "█" * round(longest * share / budget[0][2]) or "▏"
        rows.append((Text(text.phase(key)), text.ms(ms), text.share(share), Text(bar, "blue"), text.phase_meaning(key)))
        for part, part_ms, of_batch, meaning in addbatch.rows(query) if key == "addBatch" else ():
            bar = "▒" * round(longest * min(1.0, of_batch / budget[0][2])) or "▏"
            cells = (Text(f"  {part}", "dim"), text.ms(part_ms), text.share(of_batch), Text(bar, "blue"))
            rows.append((*cells, meaning))
    look = ({"justify": side, "no_wrap": True} for side in ("left", "right", "right", "left"))
    made = columns(rows, *look)
    made.columns[-1].style = "dim"
    indented(page, made)


def _findings(page: Console, chosen: Selection) -> None:
    """Print the best step, then each finding; a step is spelled out once."""
    shown: dict[str, str] = {}
    if chosen.best:
        step = chosen.best.advice
        heading(page, "Best step")
        indented(page, Text(first_screen.offer(chosen.query) or step.do, style="bold green"))
        unsure = [("unsure", step.because)] if step.legal == "if" and step.because else []
        shown[step.id] = "the best step, above"
        _detail(page, step, 2, unsure)
    if chosen.findings:
        heading(page, "Findings")
    for number, finding in enumerate(chosen.findings, 1):
        level = (finding.level, _LEVEL_STYLES[finding.level])
        confidence = (f", confidence {finding.confidence}  {finding.rule}", "dim")
        page.print(Text.assemble(f"{number}. ", (finding.title, "bold"), "  ", level, confidence))
        indented(page, Text(finding.says), 3)
        for other in chosen.folded.get(finding.rule, []):
            indented(page, Text(f"This also explains {other.rule}: {other.title}", style="dim"), 3)
        if not finding.steps:
            indented(page, Text("No setting is known that helps."), 3)
        for step in finding.steps:
            _step(page, finding, step, shown)
        if finding.evidence:
            indented(page, Text(f"Known: {wording.evidence(finding)}", style="dim"), 3)


def _step(page: Console, finding: Finding, step: Advice, shown: dict[str, str]) -> None:
    where = shown.get(step.id)
    why_not = f": {step.because}" if step.legal != "yes" and step.because else ""
    words = Text(f"{step.do} ({where})" if where else step.do + why_not, "dim" if step.legal == "no" else "")
    indented(page, columns([(Text(step.legal, _LEGAL_STYLES[step.legal]), words)], {"width": 3}, gap=1), 3)
    if not where and step.legal != "no":
        shown[step.id] = f"see {finding.rule}"
        _detail(page, step, _DETAIL)


def _detail(page: Console, step: Advice, indent: int, before: Sequence[tuple[str, str]] = ()) -> None:
    tell = [("tell it", setting(name)) for name in unknown_facts(step)]
    saves = [("saves", words) for words in wording.savings(step)]
    indented(page, columns([*before, *tell, *saves, ("takes", TAKES_IN_WORDS[step.takes])], _STEP_LABEL), indent)
    for part, paste in parts(step):
        if part:
            indented(page, Text(part, style="dim"), indent)
        if paste:
            indented(page, columns([("paste", f"{paste.where}:")], _STEP_LABEL), indent)
            for line in fitted(paste.lines, page.width - indent - _CODE):
                # Not wrapped: a line broken in the middle could not be pasted.
                page.print(Text(" " * (indent + _CODE) + line, style="bold cyan"), soft_wrap=True)
    after = (("safety", wording.semantics(step)), ("costs", step.costs), ("undo", step.undo), ("watch", step.check),
             ("run on", wording.run_on(step)))  # fmt: skip
    if rows := [row for row in after if row[1]]:
        indented(page, columns(rows, _STEP_LABEL), indent)


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
    if problems := [("Problem", words) for words in wording.problems(session)]:
        indented(page, columns(problems, _LABEL))
    for words in (wording.heard(session), _IN_A_SESSION):
        page.print(Text(words, style="dim"))
