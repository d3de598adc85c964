"""What must hold for any input: nothing is raised but one clear error, and an odd event costs itself alone."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import hypothesis.strategies as st

import advisor
from advisor import batches, config
from advisor.api import analyze_fleet
from advisor.catalogue import load as load_rules
from advisor.errors import AdvisorError
from advisor.sources import files
from advisor.views.cards import comparison_as_html
from advisor.views.clean import ascii_json
from advisor.views.comparison import comparison_as_markdown, comparison_as_text
from advisor.views.fleet import fleet_as_markdown, fleet_as_text
from advisor.views.markdown import report_as_markdown
from advisor.views.page import report_as_page
from advisor.views.terminal import report_as_text
from tests.fuzz.inputs import Input, broken_files, odd_events, odd_numbers, odd_runs, odd_yaml


class Property(NamedTuple):
    """Inputs, and what must hold for each."""

    inputs: st.SearchStrategy[Input]
    holds: Callable[[Input], None]


def every_view(given: Input) -> None:
    """Read, judged, and shown in every form, or refused with an error for the user."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "driver.log"
        path.write_bytes(given.raw)
        try:
            reading = files.read([path])
        except AdvisorError as error:
            assert str(error)
            assert not given.whole
            return
        assert given.whole <= set(reading.batches["batch_id"].to_pylist())
        _shown(path)
        frame, members = batches.to_pandas(reading.batches), batches.Batches.of(reading.batches)
        for column, exploded in (("operators", members.operators), ("sources", members.sources)):
            assert len(exploded) == sum(map(len, frame[column].dropna()))


_OBEYED = re.compile(r"(?m)^[^\S\n]*::|##\w*\[")
"""What a build server obeys."""
_CALLS = re.compile(r"@octocat|#1\b|:smile:|https://evil")
"""What a forge makes a call, a picture or a link."""


def _shown(path: Path) -> None:
    report = advisor.analyze(path)
    said = report.to_json()
    json.loads(said, parse_constant=_refused)
    assert "a fault in the advisor" not in said
    fleet = analyze_fleet(path)
    texts = [repr(report), report_as_text(report.typed, everything=True), fleet_as_text(fleet), ascii_json(said)]
    markdown = [report_as_markdown(report.typed, everything=True), fleet_as_markdown(fleet)]
    html = [report._repr_html_(), report_as_page(report.typed)]
    with suppress(AdvisorError):  # nothing to compare
        compared = advisor.compare(path, path).typed
        texts.append(comparison_as_text(compared))
        markdown.append(comparison_as_markdown(compared))
        html.append(comparison_as_html(compared))
    for page in texts + markdown + html:
        assert page
        assert not {"\x1b", "\u202e", "\0", "\u2028"} & set(page)
    for page in texts + markdown:
        assert not _OBEYED.search(page)
    for page in markdown + html:
        assert "<script>alert" not in page and "314379181489" not in page
    assert not _CALLS.search("".join(markdown))


def _refused(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def read_or_refused(given: Input) -> None:
    """A configuration that is taken, or refused with an error for the user."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "advisor.yaml"
        path.write_bytes(given.raw)
        for load in (lambda: config.load(path, load_rules().rules), lambda: load_rules([path])):
            try:
                load()
            except AdvisorError as error:
                assert str(error)


PROPERTIES = {
    "odd-event": Property(odd_events(), every_view),
    "odd-run": Property(odd_runs(), every_view),
    "broken-file": Property(broken_files(), every_view),
    "odd-number": Property(odd_numbers(), every_view),
    "odd-yaml": Property(odd_yaml(), read_or_refused),
}
