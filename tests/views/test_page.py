"""The report as one HTML page: data in, text out."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import sys
from pathlib import Path

import msgspec
import pytest
from markupsafe import escape

from advisor import contract
from advisor.api import analyze
from advisor.contract import QueryEntry, Series
from advisor.errors import UsageError
from advisor.report.series import fewer
from advisor.views.addbatch import waterfall
from advisor.views.charts import Chart, can_draw, charts, drawn, library
from advisor.views.page import OPEN, TOGETHER, packed, report_as_page
from tests.made import events
from tests.views.reports import Seen, dead, healthy, report, slow

SAMPLES = Path(__file__).parents[2] / "sample_progress"
BATCH = {"triggerExecution": 100, "addBatch": 30, "walCommit": 30, "commitOffsets": 30, "numInputRows": 100}


@pytest.fixture(scope="module")
def sample() -> contract.Report:
    return analyze(SAMPLES / "LG001" / "kafka-to-kafka-4.0.0", series=True).typed


@pytest.fixture(scope="module")
def page(sample: contract.Report) -> str:
    return report_as_page(sample)


def test_the_page_holds_verdict_code_phases_and_charts(page: str, sample: contract.Report) -> None:
    query = sample.queries[0]
    assert query.verdict in page
    assert ".option(&#34;asyncProgressTrackingEnabled&#34;, &#34;true&#34;)" in page
    assert page.count('<svg role="img"') == len(charts(query, query.series)) == 3
    assert all(f'<th scope="row">{phase}</th>' in page for phase in query.budget)
    assert query.passed and query.not_applicable
    for entry in query.passed:
        assert f'<tr><th scope="row">{entry.rule}</th><td>{escape(entry.margin)}</td></tr>' in page
    for entry in query.not_applicable:
        assert entry.rule in page and escape(entry.reason) in page


def test_it_says_what_the_latency_becomes_with_the_step() -> None:
    page = report_as_page(analyze(SAMPLES / "SK001" / "delta-in-foreachbatch-4.0.0").typed)
    assert "with fewer slow batches" in page and "saves per batch, on average" in page


def test_a_trouble_that_the_verdict_names_stands_there_once() -> None:
    said, other = "The slowest batches take 147 ms, the median one 46 ms.", "The watermark stands still."
    query = slow() | {"verdict": f"36 ms is addBatch. {said}"}
    query["screen"] = query["screen"] | {"troubles": [said, other]}
    page = report_as_page(report(query))
    assert page.count(said) == 1 and page.count(other) == 1


def test_nothing_is_fetched_and_only_the_named_script_and_style_run(page: str) -> None:
    style, script = (re.search(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL) for tag in ("style", "script"))
    policy = next(e[1]["content"] for e in Seen(page).elements if e[1].get("http-equiv") == "Content-Security-Policy")
    assert style and script and policy
    for text in (style[1], script[1]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    assert not [tag for tag, _ in Seen(page).elements if tag in ("link", "img", "iframe", "object", "embed", "base")]
    assert not [name for _, attrs in Seen(page).elements for name in attrs if name in ("src", "style", "srcset")]
    assert "@import" not in page and "url(" not in page.replace("url(#", "")
    addresses = [str(attrs["href"]) for _, attrs in Seen(page).elements if "href" in attrs]
    assert {address.split(":")[0] for address in addresses if not address.startswith("#")} == {"https"}


def test_a_target_above_all_batches_is_said_and_not_drawn_outside_the_chart(tmp_path: Path) -> None:
    query = made(tmp_path, [BATCH] * 30)
    drawn_one = named(query, query.series)["latency"]
    far = query.facts | {"latency_target_ms": contract.FactEntry(value=60_000, origin="user")}
    far_one = named(msgspec.structs.replace(query, facts=far), query.series)["latency"]
    assert "The target is 60.0 s, above all that is drawn." in far_one.words
    assert len(far_one.spec["layer"]) == len(drawn_one.spec["layer"]) - 1


def test_several_queries_are_a_table_that_opens_each() -> None:
    text = report_as_page(report(slow(), healthy(), dead()))
    rows = Seen(text).elements
    assert [attrs["href"] for tag, attrs in rows if tag == "a" and str(attrs.get("href")).startswith("#q")][:3] == [
        "#q1", "#q2", "#q3",
    ]  # fmt: skip
    assert [attrs["id"] for tag, attrs in rows if tag == "article"] == ["q1", "q2", "q3"]


def test_many_queries_are_packed() -> None:
    queries = [slow() | {"id": f"{n:036}", "run_id": f"{n:036}", "name": f"query-{n}"} for n in range(OPEN + 10)]
    text = report_as_page(report(*queries))
    assert "<article" not in text and text.count('class="pack"') == 2
    packs = re.findall(r'class="pack">([^<]*)<', text)
    held = [one for pack in packs for one in json.loads(gzip.decompress(base64.b64decode(pack)))]
    assert len(held) == OPEN + 10
    assert [f'id="q{n}"' in one and f"query-{n - 1}<" in one for n, one in enumerate(held, 1)] == [True] * len(held)


def test_packs_are_the_same_each_time_and_of_one_size() -> None:
    articles = [f"<p>{n}</p>" for n in range(TOGETHER + 1)]
    assert packed(iter(articles)) == packed(iter(articles))
    assert [len(json.loads(gzip.decompress(base64.b64decode(one)))) for one in packed(iter(articles))] == [TOGETHER, 1]


def test_what_is_not_there_is_said() -> None:
    assert "What was read holds no query." in report_as_page(report())
    assert "advisor.analyze(…, series=True)" in report_as_page(report(slow()))  # for charts


def test_the_waterfall_is_as_wide_as_the_batch_and_shows_what_the_step_saves(sample: contract.Report) -> None:
    query = sample.queries[0]
    bars = list(waterfall(query))
    assert sum(bar.width for bar in bars) == pytest.approx(100)
    assert [bar.start for bar in bars] == sorted(bar.start for bar in bars)
    assert {bar.label for bar in bars if bar.saved_ms} == {"walCommit", "commitOffsets"}
    assert all(0 <= bar.saved_ms <= bar.ms and bar.start <= bar.start + bar.width - bar.saved_width for bar in bars)
    assert query.best_step is not None and query.best_step.advice.saves_ms is not None
    logs = query.budget["walCommit"] + query.budget["commitOffsets"]
    assert sum(query.saved.values()) == pytest.approx(min(logs, query.best_step.advice.saves_ms.likely), abs=0.2)


def made(tmp_path: Path, rows: list[dict[str, object]]) -> QueryEntry:
    (tmp_path / "progress.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events(rows, first=0)))
    return analyze(tmp_path / "progress.jsonl", series=True, set=["latency_target_ms=50"]).typed.queries[0]


def named(query: QueryEntry, series: Series | None) -> dict[str, Chart]:
    return {chart.name: chart for chart in charts(query, series)}


def test_a_chart_tells_in_words_what_it_shows(tmp_path: Path) -> None:
    query = made(tmp_path, [BATCH] * 30 + [BATCH | {"triggerExecution": 900, "addBatch": 830}] + [BATCH] * 9)
    found = named(query, query.series)
    assert "40 batches" in found["phases"].words and "the longest takes 900 ms" in found["phases"].words
    assert "1 batch takes at least twice the usual time" in found["phases"].words
    assert "The target is 50 ms." in found["latency"].words
    assert "backlog" not in found and "state-rows" not in found


def test_a_warm_up_does_not_flatten_what_comes_after_it(tmp_path: Path) -> None:
    first = BATCH | {"triggerExecution": 60_000, "addBatch": 59_000}
    query = made(tmp_path, [first] + [BATCH] * 40)
    chart = named(query, query.series)["phases"]
    stacked = next(layer for layer in chart.spec["layer"] if "y" in layer["encoding"])
    assert stacked["encoding"]["y"]["scale"]["domainMax"] == pytest.approx(105)
    assert "The warm-up is cut off" in chart.words and "the longest takes 60.0 s; none takes twice" in chart.words


def test_one_batch_is_no_chart(tmp_path: Path) -> None:
    query = made(tmp_path, [BATCH])
    assert charts(query, query.series) == [] == charts(query, None)


def test_fewer_points_keep_the_peak_and_one_length(tmp_path: Path) -> None:
    query = made(tmp_path, [BATCH] * 500 + [BATCH | {"triggerExecution": 5000}] + [BATCH] * 500)
    assert query.series is not None
    short = fewer(query.series, 100)
    assert len(short.timestamp) <= 100 and max(one or 0 for one in short.trigger_execution_ms) == 5000
    assert short.batches == query.series.batches
    lengths = {len(getattr(short, name)) for name in ("timestamp", "batch_id", "cold", "judged", "spike", "state_rows")}
    assert {len(values) for values in short.phases_ms.values()} == lengths == {len(short.timestamp)}


def test_a_drawn_chart_is_an_image_with_words_and_without_script(sample: contract.Report) -> None:
    query = sample.queries[0]
    drawings = list(charts(query, query.series))
    assert drawings
    for chart in drawings:
        svg = drawn(chart, "q1")
        assert svg == drawn(chart, "q1")
        assert svg.startswith('<svg role="img" aria-label="') and escape(chart.caption) in svg
        assert "<script" not in svg and "http" not in svg and " on" not in svg
        assert "var(--" in svg


def test_where_the_library_is_missing_or_would_end_the_process_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (4 << 30, 4 << 30))
    with pytest.raises(UsageError, match="address space"):
        library()
    assert not can_draw()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(UsageError, match=r"streaming-latency-advisor\[page\]"):
        library()


def test_a_process_that_was_forked_from_one_that_drew_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """In it what draws would wait for ever."""
    monkeypatch.setattr("advisor.views.charts.chart._DREW", {os.getpid() + 1})
    with pytest.raises(UsageError, match="forked"):
        library()
    assert not can_draw()
