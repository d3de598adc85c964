"""What shows itself in a notebook: one output for each thing, in the page's look, with nothing that is markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from advisor.api import analyze
from advisor.views.notebook import COLUMNS
from advisor.views.shown import Report
from tests.views.reports import finding, report, slow

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_progress" / "LG001" / "kafka-to-kafka-4.0.0"


@pytest.fixture(scope="module")
def shown() -> Report:
    return analyze(SAMPLE)


def test_a_card_has_the_verdict_the_waterfall_the_step_to_copy_and_charts(shown: Report) -> None:
    card = shown._repr_html_()
    assert escape(shown.typed.queries[0].verdict) in card and '<p class="verdict">' in card
    assert '<table class="fall">' in card and card.count('class="saved"') == 2
    assert card.count('<svg role="img"') >= 2
    assert re.search(r'<button type="button" class="copy" onclick="getSelection[^"]*">Copy</button>', card)
    unlinked = re.sub(r'<a href="https://[^"]*" rel="noopener noreferrer">[^<]*</a>', "", card)
    assert "<script" not in card and "http" not in unlinked.replace("http://www.w3.org", "")


def test_the_style_of_a_card_reaches_nothing_outside_it(shown: Report) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", shown._repr_html_(), re.S)
    depth, outside = 0, ""
    for character in style:
        depth += (character == "{") - (character == "}")
        outside += character if depth == 0 else ""
    selectors = [words for words in re.split(r"[{}]", outside) if words.strip()]
    assert selectors and all(set(words.strip().split()[-1].split(".")) == {"", "sla"} for words in selectors)


def test_where_nothing_can_draw_a_card_says_so(shown: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    card = shown._repr_html_()
    assert "<svg role" not in card and "streaming-latency-advisor[page]" in card and "<table class=" in card


def test_findings_begin_with_what_a_reader_wants() -> None:
    said = "A sentence that is far longer than what a data frame shows of a cell, and it ends here."
    query = slow()
    query["best_step"] = None
    query["findings"] = [finding("LG001", "x", "Logs", "high", said, [])]
    frame = Report(report(query)).findings
    assert list(frame.columns) == list(COLUMNS) and list(frame.columns[:4]) == ["query", "step", "gain", "level"]
    assert frame.columns[-1] == "run_id"
    assert said in frame._repr_html_() and said in frame[["says"]]._repr_html_()
    assert frame.loc[0, "step"] == "no setting is known that helps"


def test_the_report_reads_single_batches_again_at_most_once(shown: Report) -> None:
    asked: list[int] = []
    whole = shown._drawn

    def again() -> Any:
        asked.append(1)
        return whole

    one = Report(shown.typed, again)
    one._repr_html_(), one.to_html()
    assert asked == [1]
    assert "series" not in str(shown.data["queries"][0].keys())


def test_a_width_may_be_a_text(shown: Report) -> None:
    assert shown.to_text(width="80") == shown.to_text(width=80)


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("advisor.analyze('nothing')", "InputError: nothing: no such file or directory; give a log file"),
        ("advisor.analyze(3)", "UsageError: paths: int is neither a text nor a path; give a log file"),
        ("advisor.attach('spark')", "UsageError: attach: str is not a Spark session; give the session"),
    ],
)
def test_a_mistake_in_a_cell_is_one_line(cell: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shell.run_cell(f"import advisor; {cell}")
    said = capsys.readouterr()
    assert (said.out.startswith(line), said.out.count("\n"), said.err) == (True, 1, "")
