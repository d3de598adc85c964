"""The fleet's report as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from advisor.contract import Fleet, FleetQuery, Input, Wins
from advisor.views import text, wording
from advisor.views.clean import clean, escape, no_commands

_QUERIES, _MOST, _BROKEN = 20, 10, 5
_WIDEST = 60


class _Part(NamedTuple):
    """A heading, a sentence and a table with its columns; each may be missing."""

    heading: str
    words: str
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()


def fleet_as_text(report: Fleet, *, everything: bool = False) -> str:
    """The report as plain text; lists are cut after some entries unless `everything` is wanted."""
    return no_commands("\n\n".join(map(_plain, _parts(report, everything))) + "\n")


def fleet_as_markdown(report: Fleet, *, everything: bool = False) -> str:
    """The report as Markdown; what comes from logs can add no markup."""
    return "# Fleet latency report\n\n" + "\n\n".join(map(_marked, _parts(report, everything))) + "\n"


def per_hour(wins: Wins | None) -> str:
    """Return `41.0 min an hour`, marked if it is an upper bound; `not known` without a saving."""
    if not wins or not wins.at_most:
        return "not known"
    if not wins.expected:
        return f"up to about {text.ms(wins.at_most)} an hour"
    return f"{text.ms(wins.expected)} an hour"


def wins(query: FleetQuery) -> str:
    """Return what the best step of a query saves; or that none is known or sure enough for it, or no number."""
    if query.best_step is not None:
        return per_hour(query.recoverable)
    offered = [step for finding in query.findings for step in finding.steps if step.legal != "no"]
    if any(step.recoverable for step in offered):
        return "no sure step"
    return "not known" if offered or query.trigger_execution_ms is None else "no step"


def by_jvm(read: Input) -> str:
    """A sentence about files that only the JVM could reach; nothing without any."""
    files = read.read_by_jvm
    return f" {text.plural(files, 'file')} only the JVM could reach, which reads slower." if files else ""


def _parts(report: Fleet, everything: bool) -> Iterator[_Part]:
    """Yield what is shown, made safe: of very many queries the others need not be."""
    yield _Part("", clean(_opening(report)))
    for most, part in _tables(report):
        shown = part.rows if everything else part.rows[:most]
        more = f"{len(part.rows) - len(shown)} more: --all" if len(shown) < len(part.rows) else ""
        if shown:
            yield part._replace(rows=[[clean(cell) for cell in row] for row in shown], words=part.words or more)


def _tables(report: Fleet) -> Iterator[tuple[int, _Part]]:
    """Yield each list of the report, and how many of its rows are shown at first."""
    changes = []
    for one in report.changes:
        legal = ", ".join(f"{count} {legal}" for legal, count in sorted(one.legal.items(), reverse=True))
        takes, most_for = one.takes.replace("_", " "), ", ".join(one.most_for)
        changes.append((one.do, str(one.queries), per_hour(one.recoverable), legal, takes, most_for))
    columns = ("change", "queries", "wins", "legal", "takes", "most for")
    yield _MOST, _Part("Changes, by what they win over all queries", "", columns, changes)
    queries = [
        (
            query.label,
            query.stall or query.state.replace("_", " "),
            text.ms(query.trigger_execution_ms),
            text.UNKNOWN if query.batches_per_hour is None else f"{query.batches_per_hour:,.0f}",
            text.UNKNOWN if query.backlog_rows is None else text.count(query.backlog_rows),
            "yes" if query.behind else "",
            wins(query),
            _what_to_do(query),
            query.application or "",
            _end(query.file or ""),
        )
        for query in report.queries
    ]
    of_query = (
        "query", "state", "batch", "batches/h", "lag", "behind", "wins", "what to do", "application", "file",
    )  # fmt: skip
    yield _QUERIES, _Part("Queries: those behind first, then by what their best step wins", "", of_query, queries)
    not_judged = [(each.reason, str(each.queries), ", ".join(each.examples)) for each in report.not_judged]
    yield _MOST, _Part("Queries not judged", "", ("reason", "queries", "for example"), not_judged)
    broken = [(each.file, str(each.line or ""), wording.unread(each)) for each in report.input.broken]
    yield _BROKEN, _Part("Not readable", "", ("file", "line", "reason"), broken)


def _opening(report: Fleet) -> str:
    read = report.input
    seen = f"{_count(len(report.queries))} in {text.plural(report.runs, 'run')}"
    held = text.plural(read.events, "event")  # with --incremental also of files that an earlier run read
    held = f"{held}; read: {text.plural(read.files, 'file')} ({text.size(read.bytes)})"
    pages = wording.from_pages(read)
    held = ", ".join(filter(None, (held if read.events or not pages else "", pages)))
    said = f"{seen}, {held}{wording.unmatched(read)}.{by_jvm(read)}"
    if not report.changes:
        return said + " No change is known that would help."
    best, wins = report.changes[0], report.recoverable
    total = f" The step of each query that saves most, together: {per_hour(wins)} of waiting." if wins.at_most else ""
    return f"{said}{total} {best.do}: helps {_count(best.queries)}, {per_hour(best.recoverable)}."


def _count(queries: int) -> str:
    return text.plural(queries, "query", "queries")


def _what_to_do(query: FleetQuery) -> str:
    """The step to take first; the verdict where there is none."""
    steps = (step for finding in query.findings for step in finding.steps)
    best = query.best_step.step if query.best_step else None
    return next((step.do for step in steps if step.step == best), query.verdict)


def _plain(part: _Part) -> str:
    lines = [part.heading] if part.heading else []
    cells = [[_short(cell) for cell in row] for row in (part.columns, *part.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    if widths:
        lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    return "\n".join([*lines, *([f"  {part.words}" if part.heading else part.words] if part.words else [])])


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def _end(path: str) -> str:
    return path if len(path) < _WIDEST else f"…{path[1 - _WIDEST :]}"


def _marked(part: _Part) -> str:
    lines = [f"## {part.heading}\n"] if part.heading else []
    cells = [part.columns, ["---"] * len(part.columns), *(map(escape, row) for row in part.rows)] if part.rows else []
    lines += [f"| {' | '.join(row)} |" for row in cells]
    if part.words:
        lines.append(("\n" if part.rows else "") + escape(part.words))
    return "\n".join(lines)
