"""The report as Markdown, for an issue, a wiki page or a review."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from advisor.contract import Advice, Report
from advisor.views.clean import clean_all
from advisor.views.selection import selections
from advisor.views.templating import environment

if TYPE_CHECKING:
    from jinja2 import Environment

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def report_as_markdown(report: Report, *, everything: bool = False) -> str:
    """The whole report as Markdown; what comes from logs can neither add markup nor HTML."""
    report = clean_all(report)
    page = _environment().get_template("report.md.j2")
    shown = selections(report, everything=everything)
    written = page.render(report=report, shown=shown, everything=everything, detail=_detail)
    return re.sub(r"\n{3,}", "\n\n", written).strip() + "\n"


def _detail(step: Advice) -> str:
    return _environment().get_template("step.md.j2").render(step=step).strip()


def _environment() -> Environment:
    made = environment(html=False)
    made.filters |= {"md": escape, "fenced": fenced}
    return made


def escape(value: str) -> str:
    """Text in which nothing is markup: special characters escaped, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(str(value).split()))


def table(headings: Sequence[str], align: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; `align` holds what stands under each heading, `---` or `---:`. No rows, no lines."""
    found = [f"| {' | '.join(map(escape, row))} |" for row in rows]
    return [f"| {' | '.join(headings)} |", f"|{'|'.join(align)}|", *found] if found else []


def section(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A heading and a list of `label: words`, as one text; nothing where there are no rows."""
    found = [f"- {escape(label)}{': ' if label else ''}{escape(words)}" for label, words in rows]
    if found:
        yield "\n".join([f"\n### {title}\n", *found])


def fenced(code: Sequence[str]) -> str:
    """Lines in a fence that none of them can close."""
    longest = max((len(run) for line in code for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, *code, fence])
