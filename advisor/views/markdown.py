"""The report as Markdown, for an issue, a wiki page or a review."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from advisor.contract import Report
from advisor.views.clean import clean_all, no_commands
from advisor.views.selection import selections
from advisor.views.templating import environment

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~$&]|^(?:[-+](?=\s)|[-=](?=[-=]*$)|/(?=\w))")
_LINKED = re.compile(
    r"@|#(?=\d)|!(?=\d)|(?i:\bGH-)(?=\d)|(?i:\b(?:https?|ftp|mailto|xmpp):|\bwww)(?=[\w/.])|^\d{1,9}(?=[.)](?:\s|$))"
    r"|:(?=:|100:|1234:|\d{0,20}[A-Za-z_+-][\w+-]{0,80}:)"
    r"|(?<![\w-])(?=\d{0,39}[a-f])(?=(?:[0-9a-f]{7}|[0-9a-f]{9,40})\b)[0-9a-f]"
)
"""What a forge reads, with what follows, as a call of a person, an issue, an address, an emoji, a commit, a list."""
_BREAK = "\u200b"
"""Keeps a forge from reading what stands on both sides as one; cleaned text holds none."""


def report_as_markdown(report: Report, *, everything: bool = False) -> str:
    """The whole report as Markdown; what comes from logs can neither add markup nor HTML."""
    report = clean_all(report)
    shown = selections(report, everything=everything)
    return from_template("report.md.j2", report=report, shown=shown, everything=everything)


def from_template(name: str, **shown: object) -> str:
    """The template filled in, with one blank line where several follow each other."""
    made = environment(html=False)
    made.filters |= {"md": escape, "fenced": fenced}
    written = made.get_template(name).render(shown)
    return re.sub(r"\n{3,}", "\n\n", written).strip() + "\n"


def escape(value: str) -> str:
    """Text in which nothing is markup or calls anybody (@name, #1): special characters escaped, in one line."""
    broken = _LINKED.sub(rf"\g<0>{_BREAK}", " ".join(str(value).split()))
    return _SPECIAL.sub(r"\\\g<0>", broken).replace(_BREAK, "&#8203;")


def table(headings: Sequence[str], align: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; `align` holds what stands under each heading, `---` or `---:`. No rows, no lines."""
    found = [f"| {' | '.join(map(escape, row))} |" for row in rows]
    return [f"| {' | '.join(headings)} |", f"|{'|'.join(align)}|", *found] if found else []


def fenced(code: Sequence[str]) -> str:
    """Lines in a fence that none of them can close."""
    longest = max((len(run) for line in code for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return no_commands("\n".join([fence, *code, fence]))
