"""The report as one HTML page that opens offline and asks nothing of a network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from itertools import islice

from markupsafe import Markup

from advisor import fleet
from advisor.contract import Report
from advisor.views.cards import article, drawings
from advisor.views.charts.chart import style
from advisor.views.clean import clean_all, no_commands_in_html
from advisor.views.fleet import per_hour, wins
from advisor.views.selection import Selection, selections
from advisor.views.templating import environment

OPEN = 20
"""Queries whose HTML stands in the page as it is; where there are more, all are packed."""
TOGETHER = 25
"""Queries that are packed together: they share most of their bytes, and opening one unpacks so many."""
DRAWN = 50
"""The most pressing queries, which get charts of their batches: each takes some tenths of a second and 100 kB."""
POINTS = (800, 160)
"""Batches that a chart shows at most: on the page of one query, and of several."""


def report_as_page(report: Report) -> str:
    """The whole report as one HTML file that needs no network; nothing that comes from a log is obeyed.

    Raises UsageError where the library that draws the charts is missing.
    """
    report = clean_all(report)
    shown = selections(report)
    articles = (_article(report, chosen, number, len(shown)) for number, chosen in enumerate(shown, 1))
    whole = fleet.report([fleet.summary(one.query) for one in shown], report.input, version=report.advisor_version)
    look = f":root {{ {style('colours.css')} }}\n{style('parts.css')}{_text('page.css')}"
    script = _text("page.js")
    page = environment("html").get_template("page/page.html.j2").render(
        report=report,
        shown=shown,
        fleet=whole,
        per_hour=per_hour,
        wins=wins,
        in_fleet={query.run_id: query for query in whole.queries},
        articles=[*articles] if len(shown) <= OPEN else [],
        packs=packed(articles),
        style=Markup(look),
        script=Markup(script),
        policy=_policy(script, look),
    )  # fmt: skip
    return no_commands_in_html(page)


def _article(report: Report, chosen: Selection, number: int, among: int) -> Markup:
    drawn_too, name = number <= DRAWN, f"q{number}"
    found = drawings(chosen.query, POINTS[among > 1], name) if drawn_too else []
    return article(report, chosen, name, found, among=among, drawn_first=0 if drawn_too else DRAWN)


def packed(articles: Iterator[str]) -> list[str]:
    """Lists of so many articles, each as JSON, compressed with gzip and written in base64.

    Many queries then take little room; the page takes them out when one is opened.
    """
    parts = iter(lambda: [*islice(articles, TOGETHER)], [])
    return [base64.b64encode(gzip.compress(json.dumps(part).encode(), mtime=0)).decode() for part in parts]


def _policy(script: str, look: str) -> str:
    """The Content-Security-Policy that lets a browser run this script, use this style, and request nothing."""
    allowed = f"style-src {_hash(look)}; script-src {_hash(script)}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(name: str) -> str:
    return (files("advisor.views") / "templates" / "page" / name).read_text(encoding="utf-8")
