"""Names are data: what a log calls a query, a source or a file is text in every view, and nothing obeys it."""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from click.testing import CliRunner
from markdown_it import MarkdownIt

from advisor import contract, fleet
from advisor.cli import main
from advisor.session.notices import Notice
from advisor.views.cards import comparison_as_html, report_as_html
from advisor.views.comparison import comparison_as_markdown, comparison_as_text
from advisor.views.fleet import fleet_as_markdown, fleet_as_text
from advisor.views.markdown import report_as_markdown
from advisor.views.notebook import findings
from advisor.views.page import report_as_page
from advisor.views.terminal import report_as_text
from tests.made import event
from tests.views.reports import Seen, dead, plain_report, report, said, slow
from tests.views.test_comparison import compared, faster
from tests.views.test_trial import tried

KINDS: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("names.yaml").read_text(encoding="utf-8"))
LONG = [f"{'x' * length}::error::owned ##[error]owned" for length in (4000, *range(60, 130))]
"""Wrapped at some width, a line of one of these begins with the command."""
NAMES = [*(name for names in KINDS.values() for name in names), LONG[0], "\ud800"]
AT_ONCE = 15
"""Queries of one page: more are packed."""
OBEYED = re.compile(r"^\s*::|##\w*\[")
LINKED = re.compile(
    r"@\w|#\d|(?i:\bGH-\d)|!\d|:[+\w-]*[a-z_+-][+\w-]*:|:100:|(?i:\b(?:https?|ftp)://\w|\bwww\.\w|\bmailto:\w)"
    r"|(?<![\w-])(?=\d*[a-f])(?:[0-9a-f]{7}|[0-9a-f]{40})\b"
)
"""What a forge makes a link, a mention or a picture of."""
FENCES = re.compile(r"(?ms)^(`{3,})$.*?^\1$")
COLOURS = re.compile(r"\x1b\[[\d;]*m")


def reports(names: Sequence[str]) -> list[contract.Report]:
    """Reports in which each text of a query and of what was read is one of these names, `AT_ONCE` in one."""
    return [_report(names[start : start + AT_ONCE], start) for start in range(0, len(names), AT_ONCE)]


def _report(names: Sequence[str], first: int) -> contract.Report:
    queries = []
    for nth, name in enumerate(names, first):
        query = said((slow, dead)[nth % 2]() | {"id": str(nth), "run_id": str(nth)}, lambda _, name=name: name)
        query["facts"] |= {name: {"value": name, "from": "progress"}}
        queries.append(query | {"budget": query["budget"] | ({name: 5.0} if query["budget"] else {})})
    whole = plain_report(*queries)
    return msgspec.convert(whole | {"input": said(whole["input"], lambda _: names[0])}, contract.Report)


def pairs() -> list[tuple[contract.Report, contract.Report]]:
    """The reports, each with one of the same shape in which the names are harmless words."""
    words = [f"word{nth:03}" if name.split() else name for nth, name in enumerate(NAMES)]
    return list(zip(reports(NAMES), reports(words), strict=True))


def assert_shows_no_mark(page: str) -> None:
    """Nothing that a terminal obeys, and nothing that hides or turns letters."""
    odd = {char for char in page if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")} - {"\n"}
    assert not odd


def assert_is_text(page: str) -> None:
    """Lines of which no build server obeys one."""
    plain = COLOURS.sub("", page)
    assert_shows_no_mark(plain)
    assert [line for line in page.splitlines() + plain.splitlines() if OBEYED.search(line)] == []


@cache
def seen(page: str) -> Seen:
    return Seen(page)


@cache
def rendered(markdown: str) -> Seen:
    return Seen(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown))


def assert_is_markdown(page: str, like: str) -> None:
    """Rendered, the same elements as with harmless words; nothing to link; no line that a build server obeys."""
    assert_is_text(page)
    shown = rendered(page)
    assert [tag for tag, _ in shown.elements] == [tag for tag, _ in rendered(like).elements]
    assert [text for text in shown.texts if LINKED.search(text)] == []
    assert not re.search(r"(?m)^/\w", FENCES.sub("", page))


def assert_is_html(page: str, like: str) -> None:
    """The same elements, attributes and kinds of addresses as with harmless words, and no template that was run."""
    assert_shows_no_mark(page)
    shown, meant = seen(page), seen(like)
    assert [tag for tag, _ in shown.elements if tag != "a"] == [tag for tag, _ in meant.elements if tag != "a"]
    assert shown.attributes <= meant.attributes | {("href", "rel")}
    assert {address for address in shown.addresses - meant.addresses if address != "https"} == set()
    assert "314379181489" not in page


def test_there_are_enough_of_each_kind() -> None:
    assert len(set(NAMES)) >= 115 and min(map(len, KINDS.values())) >= 5


@pytest.mark.parametrize(("everything", "color"), [(False, True), (True, False)])
def test_as_text(everything: bool, color: bool) -> None:
    for one in reports(NAMES):
        assert_is_text(report_as_text(one, everything=everything, color=color))


def test_as_text_where_a_line_is_broken_before_a_command() -> None:
    pages = [report_as_text(report(dead() | {"name": name, "verdict": name}), width=80) for name in LONG]
    assert any("\n\\x3a:error::owned" in page for page in pages)
    for page in pages:
        assert_is_text(page)


def test_as_markdown() -> None:
    for shown, like in pairs():
        pages = [report_as_markdown(one, everything=True) for one in (shown, like)]
        assert_is_markdown(*pages)


@pytest.mark.parametrize("name", NAMES)
def test_as_a_line_that_is_logged(name: str) -> None:
    CliRunner().invoke(main, ["--version"])
    assert logging.lastResort
    assert_is_text(logging.lastResort.format(logging.makeLogRecord({"msg": "%s is silent", "args": (name,)})))


def test_as_a_page() -> None:
    for shown, like in pairs():
        pages = [report_as_page(one) for one in (shown, like)]
        assert_is_html(*pages)
        assert "##" not in pages[0]


def test_as_a_card_in_a_notebook() -> None:
    for shown, like in pairs():
        assert_is_html(report_as_html(shown), report_as_html(like))
        frames = [findings(one)._repr_html_() for one in (shown, like)]
        assert [tag for tag, _ in Seen(frames[0]).elements] == [tag for tag, _ in Seen(frames[1]).elements]
        assert 'class="dataframe tex2jax_ignore"' in frames[0]


def test_as_a_fleet() -> None:
    for shown, like in pairs():
        whole, plain = (fleet.report(map(fleet.summary, one.queries), one.input, version="1") for one in (shown, like))
        for everything in (False, True):
            assert_is_text(fleet_as_text(whole, everything=everything))
            assert_is_markdown(
                fleet_as_markdown(whole, everything=everything), fleet_as_markdown(plain, everything=everything)
            )


def comparisons(names: Sequence[str]) -> contract.Comparisons:
    return compared(*map(comparison, names))


def comparison(name: str) -> dict[str, Any]:
    entry = said(faster(), lambda _: name)
    known = {"value": name, "from": "log"}
    return entry | {"limits": [name], "changed": [{"fact": name, "before": known, "after": None, "sure": True}]}


def trial(name: str) -> contract.Trial:
    entry = said(faster(), lambda _: name)
    change = {"writer_option": {name: name}, "code": [name]}
    return tried(says=name, steps=[name], change=change, effects=entry["effects"], limits=[name])


def test_as_a_comparison() -> None:
    names = [name for name in NAMES if name.split()]
    shown, meant = comparisons(names), comparisons(["words"] * len(names))
    assert_is_text(comparison_as_text(shown))
    assert_is_markdown(comparison_as_markdown(shown), comparison_as_markdown(meant))
    assert_is_html(comparison_as_html(shown), comparison_as_html(meant))


def test_as_a_trial() -> None:
    words = trial("words")
    markdown, page = comparison_as_markdown(words), comparison_as_html(words)
    for name in filter(str.split, NAMES):
        shown = trial(name)
        assert_is_text(comparison_as_text(shown))
        assert_is_markdown(comparison_as_markdown(shown), markdown)
        assert_is_html(comparison_as_html(shown), page)


@pytest.mark.parametrize("change", ["appeared", "worse", "gone"])
def test_as_a_notice(change: Any) -> None:
    (found, *_) = report(slow()).queries[0].findings
    for name in NAMES:
        notice = str(Notice(change, name, "0", msgspec.structs.replace(found, says=name)))
        assert_is_text(notice)
        assert "\n" not in notice


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of as many queries as there are names."""
    path = tmp_path_factory.mktemp("names") / "progress.jsonl"
    batch = {"triggerExecution": 500, "addBatch": 200, "walCommit": 150, "commitOffsets": 100, "numInputRows": 100}
    with path.open("w", encoding="utf-8") as file:
        for nth, name in enumerate(name for kind in ("lines", "servers", "forges") for name in KINDS[kind]):
            ids = {
                "name": name,
                "id": f"{nth:08}-1111-1111-1111-111111111111",
                "runId": f"{nth:08}-{'2222-' * 3}222222222222",
            }
            source = {"description": name, "numInputRows": 100}
            for number in range(2):
                one = event(number, number * 1000, 1000, batch | ids | {"sources": [source], "sink": name})
                file.write(json.dumps(one) + "\n")
    return path


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_from_a_log(log: Path, form: str) -> None:
    """What the command prints, and what it says of a file that is not there."""
    result = CliRunner().invoke(main, ["analyze", str(log), "--format", form, "--all"])
    assert result.exit_code == 0, result.stderr
    assert_is_text(result.stdout)
    assert "owned" in result.stdout
    if form == "json":
        assert result.stdout.isascii()
        assert any(str(query["name"]).startswith("##[error]") for query in json.loads(result.stdout)["queries"])


def test_the_json_of_a_fleet_is_plain(log: Path, tmp_path: Path) -> None:
    named = tmp_path / "a\x9b31m\u202e.jsonl"
    named.write_bytes(log.read_bytes())
    result = CliRunner().invoke(main, ["analyze", str(named), "--fleet", "--format", "json"])
    assert (result.exit_code, result.stdout.isascii()) == (0, True)


def test_in_an_error() -> None:
    for name in NAMES:
        if "\0" not in name and name.isprintable():
            result = CliRunner().invoke(main, ["analyze", f"nowhere {name}"])
            assert result.exit_code == 2
            assert_is_text(result.stderr)
