"""The fleet's report as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from advisor.contract import BrokenRecord, Counted, Fleet, FleetChange, FleetQuery, Input, NotJudged, SkippedRule, Wins
from advisor.views import text, wording
from advisor.views.clean import clean_all, no_commands
from advisor.views.markdown import escape

Table = tuple[Sequence[str], Sequence[Sequence[str]]]

_QUERIES, _CHANGES, _REASONS, _BROKEN = 20, 10, 10, 5
_WIDEST = 60


def fleet_as_text(report: Fleet, *, everything: bool = False) -> str:
    """The report as plain text; lists are cut after some entries unless `everything` is wanted."""
    parts = list(_parts(clean_all(report), everything))
    return no_commands("\n\n".join(_plain(part) for part in parts) + "\n")


def fleet_as_markdown(report: Fleet, *, everything: bool = False) -> str:
    """The report as Markdown; what comes from logs can add no markup."""
    parts = [_marked(part) for part in _parts(clean_all(report), everything)]
    return "# Fleet latency report\n\n" + "\n\n".join(parts) + "\n"


class _Part(tuple[str, str, Table | None]):
    """A heading, a sentence and a table; each may be missing."""


def _parts(report: Fleet, everything: bool) -> Iterator[_Part]:
    yield _Part(("", _opening(report), None))
    yield from _table("Changes, by what they win over all queries", _changes(report.changes), _CHANGES, everything)
    yield from _table("Queries, by what their best step wins", _queries(report.queries), _QUERIES, everything)
    yield _Part(("Seen", _seen(report), None))
    yield from _table("Queries not judged", _not_judged(report.not_judged), _REASONS, everything)
    yield from _table("Rules not judged", _skipped(report.skipped), _REASONS, everything)
    yield from _table("Not readable", _broken(report.input.broken), _BROKEN, everything)


def per_hour(wins: Wins | None) -> str:
    """Return `41.0 min an hour`, marked if it is an upper bound; `not known` without a saving."""
    if not wins or not wins.at_most:
        return "not known"
    if not wins.expected:
        return f"at most {text.ms(wins.at_most)} an hour"
    return f"{text.ms(wins.expected)} an hour"


def wins(query: FleetQuery) -> str:
    """Return what the best step of a query saves; or that there is none, or that none can be known."""
    if query.best_step is not None:
        return per_hour(query.recoverable)
    return "not known" if query.trigger_execution_ms is None else "no step"


def _opening(report: Fleet) -> str:
    read = report.input
    seen = f"{_count(len(report.queries))} in {text.plural(report.runs, 'run')}"
    held = text.plural(read.events, "event")  # with --incremental also of files that an earlier run read
    said = f"{seen}, {held}; read: {text.plural(read.files, 'file')} ({text.size(read.bytes)}).{by_jvm(read)}"
    if not report.changes:
        return said + " No change is known that would help."
    best = report.changes[0]
    wins = report.recoverable
    total = f" The best step of each query together: {per_hour(wins)} of waiting." if wins.at_most else ""
    return f"{said}{total} {best.do}: helps {_count(best.queries)}, {per_hour(best.recoverable)}."


def by_jvm(read: Input) -> str:
    """A sentence about files that only the JVM could reach; nothing without any."""
    files = read.read_by_jvm
    return f" {text.plural(files, 'file')} only the JVM could reach, which reads slower." if files else ""


def _count(queries: int) -> str:
    return text.plural(queries, "query", "queries")


def _changes(changes: Iterable[FleetChange]) -> Table:
    rows = [
        (
            change.do,
            str(change.queries),
            per_hour(change.recoverable),
            ", ".join(f"{count} {legal}" for legal, count in sorted(change.legal.items(), reverse=True)),
            change.takes.replace("_", " "),
            ", ".join(change.most_for),
        )
        for change in changes
    ]
    return ("change", "queries", "wins", "legal", "takes", "most for"), rows


def _queries(queries: Iterable[FleetQuery]) -> Table:
    rows = [
        (
            query.label,
            query.state.replace("_", " "),
            text.ms(query.trigger_execution_ms),
            text.UNKNOWN if query.batches_per_hour is None else f"{query.batches_per_hour:,.0f}",
            wins(query),
            _what_to_do(query),
        )
        for query in queries
    ]
    return ("query", "state", "batch", "batches/h", "wins", "what to do"), rows


def _what_to_do(query: FleetQuery) -> str:
    """The step to take first; the verdict where there is none."""
    steps = (step for finding in query.findings for step in finding.steps)
    best = query.best_step.step if query.best_step else None
    return next((step.do for step in steps if step.step == best), query.verdict)


def _seen(report: Fleet) -> str:
    lists = (("Spark", report.versions), ("platforms", report.platforms), ("states", report.states))
    return "; ".join(f"{words}: {_counts(values)}" for words, values in lists) + "."


def _counts(values: Iterable[Counted]) -> str:
    return ", ".join(f"{each.value} ({each.queries})" for each in values) or text.UNKNOWN


def _not_judged(reasons: Iterable[NotJudged]) -> Table:
    rows = [(each.reason, str(each.queries), ", ".join(each.examples)) for each in reasons]
    return ("reason", "queries", "for example"), rows


def _skipped(reasons: Iterable[SkippedRule]) -> Table:
    return ("rule", "reason", "queries"), [(each.rule, each.reason, str(each.queries)) for each in reasons]


def _broken(broken: Iterable[BrokenRecord]) -> Table:
    return ("file", "line", "reason"), [(each.file, str(each.line or ""), wording.unread(each)) for each in broken]


def _table(heading: str, table: Table, most: int, everything: bool) -> Iterator[_Part]:
    columns, rows = table
    if not rows:
        return
    shown = rows if everything else rows[:most]
    more = f"{len(rows) - len(shown)} more: --all" if len(shown) < len(rows) else ""
    yield _Part((heading, more, (columns, shown)))


def _plain(part: _Part) -> str:
    heading, words, table = part
    lines = [heading] if heading else []
    if table is not None:
        lines += _aligned(table)
    return "\n".join([*lines, *([f"  {words}" if table or heading else words] if words else [])])


def _aligned(table: Table) -> list[str]:
    columns, rows = table
    cells = [[_short(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[nth]) for row in cells) for nth in range(len(columns))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    ]


def _short(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"


def _marked(part: _Part) -> str:
    heading, words, table = part
    lines = [f"## {heading}\n"] if heading else []
    if table is not None:
        columns, rows = table
        lines += [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        lines += [f"| {' | '.join(map(escape, row))} |" for row in rows]
    if words:
        lines.append(("\n" if table else "") + escape(words))
    return "\n".join(lines)
