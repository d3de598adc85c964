"""Numbers and words as the views print them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from advisor.batches import PHASES
from advisor.contract import Change, Promise
from advisor.metrics.units import interval
from advisor.views import text
from advisor.views.clean import ascii_json, clean, clean_all
from advisor.views.paste import parts, pastes
from advisor.views.wording import fact_value
from tests.views.reports import OFF, STORAGE, advice


@pytest.mark.parametrize(
    ("words", "value", "said"),
    [
        *((text.ms, value, said) for value, said in (
            (0, "0 ms"), (3.24, "3.2 ms"), (3.0, "3 ms"), (118.4, "118 ms"), (1234, "1.2 s"), (12_340, "12.3 s"),
            (547_730, "9.1 min"), (7_200_000, "2.0 h"), (-58.2, "-58 ms"), (None, "unknown"), (float("nan"), "unknown"),
        )),
        (text.share, 0.0909, "9.1 %"), (text.share, 0.534, "53.4 %"), (text.share, None, "unknown"),
        *((interval, value, said) for value, said in (  # as Spark takes them
            (500, "500 milliseconds"), ("2000", "2 seconds"), (1000.0, "1 second"), (1500, "1500 milliseconds"),
            (60_000, "1 minute"), (0, "0 milliseconds"), ("5 minutes", "5 minutes"),
        )),
        (text.saving, Promise(57, 79, 88), "57 ms to 88 ms, 79 ms expected"), (text.saving, None, ""),
        (text.saving, Promise(0, None, 31), "up to about 31 ms; not measured yet"),
        (text.saving, Promise(0, 9, 31), "0 ms to 31 ms, 9 ms expected; it may save nothing"),
        (fact_value, ["unspecified", "processing_time"], "unspecified or processing_time"),
        (text.moment, "yesterday", "yesterday"), (clean, "a\x1b[31m\tb\nc\u202e", "a\\x1b[31m b c\\u202e"),
        (clean, "é→字", "é→字"),
    ],
)  # fmt: skip
def test_words_for_a_value(words: Callable[[Any], str], value: Any, said: str) -> None:
    assert words(value) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (12_400_000, "bytes", "12.4 MB"), (512, "bytes", "512 B"), (1234.0, "rows", "1,234 rows"), (64, "count", "64"),
        (12.5, "per_second", "12.5 per second"), (None, "rows", "unknown"),
    ],
)  # fmt: skip
def test_amounts(value: float | None, unit: str, said: str) -> None:
    assert text.amount(value, unit) == said


def test_times() -> None:
    assert text.span("2026-03-01T09:12:03.120Z", "2026-03-01T11:40:00Z") == "2026-03-01 09:12:03 to 11:40:00 UTC"
    assert text.span("2026-03-01T09:12:03Z", "2026-03-02T00:00:00Z").endswith("to 2026-03-02 00:00:00 UTC")
    assert text.span(None, None) == "unknown"


def test_phases_have_the_names_that_spark_prints() -> None:
    assert text.phase("commit_offsets_ms") == text.phase("commitOffsets") == "commitOffsets"
    assert text.phase_meaning("wal_commit_ms") == "writes the offset log"
    assert text.phase_meaning("brandNewPhase") == ""
    assert [column.spark for column in PHASES if not column.does] == ["triggerExecution"]


def test_clean_text_is_one_line_without_anything_that_a_terminal_obeys() -> None:
    kept = clean_all({"code": "a\n\tb\x00", "says": "a\nb", "n": [1, None, "x\x07"]})
    assert kept == {"code": "a\n b\\x00", "says": "a b", "n": [1, None, "x\\x07"]}


@pytest.mark.parametrize(
    ("change", "where", "lines"),
    [
        ({"writer_option": {"a": "true"}}, "on writeStream", ['.option("a", "true")']),
        ({"reader_option": {"maxOffsetsPerTrigger": "9"}}, "on readStream", ['.option("maxOffsetsPerTrigger", "9")']),
        ({"writer_option": {"x": 'a")\nimport os'}}, "on writeStream", [r'.option("x", "a\")\nimport os")']),
        ({"conf": {"spark.sql.x": "true"}}, "before start()", ['spark.conf.set("spark.sql.x", "true")']),
        ({"conf": {"spark.executor.cores": "4"}}, "with spark-submit", ["--conf spark.executor.cores=4"]),
        ({"conf": {"spark.x": "a b'c"}}, "with spark-submit", ["""--conf spark.x='a b'"'"'c'"""]),
        ({"trigger": {"processing_time": "2000"}}, "on writeStream", ['.trigger(processingTime="2 seconds")']),
        ({"trigger": {"real_time": "5 minutes"}}, "on writeStream", ['.trigger(realTime="5 minutes")']),
        ({"trigger": {"continuous": "1 second"}}, "on writeStream", ['.trigger(continuous="1 second")']),
        ({"trigger": {"available_now": True}}, "on writeStream", [".trigger(availableNow=True)"]),
        ({"package": "g:a:1"}, "with spark-submit", ["--packages g:a:1"]),
        ({"code": "a = 1\nb = 2"}, "in your code", ["a = 1", "b = 2"]),
    ],
)
def test_code_to_paste(change: dict[str, object], where: str, lines: list[str]) -> None:
    assert pastes(msgspec.convert(change, Change)) == [(where, lines)]


def test_long_settings_break_where_python_may_break() -> None:
    lines = pastes(advice(STORAGE).change)[0].lines
    assert lines[0] == "spark.conf.set("
    compile("\n".join(lines), "paste", "exec")
    assert pastes(Change()) == []


def test_stages_have_their_headings() -> None:
    assert [heading for heading, _ in parts(advice(OFF))] == [
        "Stage 1: Done when two more batches have been written.",
        "Stage 2: Done when the query runs.",
    ]
    by_hand = advice(OFF | {"stages": [{"do": "Stop the query", "change": {}, "until": "it is gone"}]})
    assert parts(by_hand) == [("Stage 1: Stop the query. Done when it is gone.", None)]


def test_json_is_the_same_in_ascii() -> None:
    data = {"name": "é字\x7f\x9b\u202e\ud800😀\x1b\n"}
    words = ascii_json(json.dumps(data, ensure_ascii=False, indent=2))
    assert words.isascii() and "\x7f" not in words
    assert json.loads(words) == data
