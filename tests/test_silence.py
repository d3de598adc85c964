"""Queries of which no batch ends: the word for each, from batches and what a live source shows; the clock is data."""

from __future__ import annotations

import socket
import struct
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from advisor import catalogue
from advisor.batches import Doing, Reading, table_of_sightings
from advisor.cli.watch import silent
from advisor.contract import Stall
from advisor.errors import UsageError
from advisor.facts import Sighting
from advisor.report.assemble import assemble
from advisor.report.runs import Asked
from advisor.report.silence import stalls
from advisor.session.health import MOST_AT_ONCE, Health
from advisor.views.markdown import report_as_markdown
from advisor.views.page import report_as_page
from advisor.views.terminal import report_as_text
from tests.made import START, events, table
from tests.views.reports import report, slow

RUN = "22222222-2222-2222-2222-222222222222"
BATCHES = [{"triggerExecution": 2_000, "addBatch": 1_500}] * 20
"""The last one begins at 40 s and ends at 42 s, and one comes every 2 s."""
LAST = START + timedelta(seconds=42)
FOREACH = (
    "java.base@17/java.net.SocketInputStream.read\npy4j.CallbackClient.sendCommand\n"
    "org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink.addBatch\n"
    "org.apache.spark.sql.execution.streaming.MicroBatchExecution.runBatch"
)
KAFKA = (
    "java.lang.Object.wait\norg.apache.spark.sql.kafka010.KafkaOffsetReaderAdmin.fetchLatestOffsets\n"
    "org.apache.spark.sql.kafka010.KafkaMicroBatchStream.latestOffset"
)
STORAGE = "java.io.FileOutputStream.write\norg.apache.spark.sql.execution.streaming.CommitLog.add"
TASKS = "java.util.concurrent.locks.LockSupport.park\norg.apache.spark.scheduler.DAGScheduler.runJob"
POLLING = (
    "java.base@17/java.lang.Thread.sleep(Native Method)\napp//org.apache.spark.MicroBatchExecution.executeOneBatch"
)
TRIGGER = (
    "java.lang.Thread.sleep\norg.apache.spark.util.SystemClock.waitTillTime\norg.apache.spark.ProcessingTimeExecutor"
)
JOB = "job 7 runs, 3 of 200 tasks done"


def stall(after: float, **doing: Any) -> Stall | None:
    """The word so many seconds after the last batch ended."""
    looked = Doing(LAST + timedelta(seconds=after), **doing)
    return stalls(replace(Reading.of(table(events(BATCHES))), doing={RUN: looked})).get(RUN)


@pytest.mark.parametrize(
    ("word", "says", "doing"),
    [
        ("silent", "asks its source", {"thread": KAFKA}),
        ("silent", "your foreachBatch", {"thread": FOREACH}),
        ("silent", "storage of its checkpoint", {"thread": STORAGE}),
        ("long", "3 of 200 tasks", {"thread": TASKS, "job": JOB}),
        ("long", "your foreachBatch, job 7", {"thread": FOREACH, "job": JOB}),
        ("unheard", "batch 31", {"thread": TASKS, "newest": 31}),
        ("unheard", "batch 31", {"thread": TRIGGER, "newest": 31, "idle": LAST + timedelta(seconds=60)}),
        ("idle", "new data", {"thread": POLLING}),
        ("idle", "next trigger", {"thread": TRIGGER}),
        ("idle", "new data", {"thread": "Waiting for data to arrive"}),
        ("silent", "asks its source", {"thread": "Getting offsets from KafkaV2[Subscribe[orders]]"}),
        ("silent", "no batch has ended; usually one ends every 2.0 s", {}),
    ],
)
def test_the_word_for_what_a_query_does(word: str, says: str, doing: dict[str, Any]) -> None:
    found = stall(60, **doing)
    assert found is not None and found.word == word and says in found.says


@pytest.mark.parametrize(
    ("word", "says", "doing"),
    [
        ("unheard", "batch 502", {"thread": TRIGGER, "oldest": 500, "newest": 502}),
        ("long", "it is in your foreachBatch, job 7 runs, 3 of 200 tasks done", {"thread": FOREACH, "job": JOB}),
        ("silent", "it is in your foreachBatch", {"thread": FOREACH, "oldest": 500, "newest": 500}),
        ("idle", "it waits for new data", {"thread": POLLING}),
        ("silent", "no batch has ended", {}),
    ],
)
def test_a_query_of_which_no_batch_has_ended_counts_from_the_first_look(word: str, says: str, doing: Any) -> None:
    nothing = Reading.of(table([]))
    looked = {at: Doing(LAST + timedelta(seconds=at), met=LAST, **doing) for at in (29, 31)}
    words = {at: stalls(replace(nothing, doing={RUN: one})).get(RUN) for at, one in looked.items()}
    assert words == {29: None, 31: Stall(word=word, since=LAST.isoformat(timespec="seconds"), says=words[31].says)}
    assert (words[31].says.startswith(says), "0 ms" in words[31].says) == (True, False)


@pytest.mark.parametrize(
    ("after", "doing", "word"),
    [
        (29, {}, None), (29, {"thread": KAFKA}, None), (29, {"thread": TASKS, "job": JOB}, None),
        # between two triggers it is not idle
        *((after, {"thread": TRIGGER, "idle": LAST + timedelta(seconds=after)}, word)
          for after, word in ((1, None), (5, None), (7, "idle"))),
    ],
)  # fmt: skip
def test_nothing_is_said_before_its_time(after: float, doing: dict[str, Any], word: str | None) -> None:
    found = stall(after, **doing)
    assert (found and found.word) == word


def test_a_slow_query_is_silent_after_three_times_its_usual() -> None:
    rows = [{"triggerExecution": 30_000, "addBatch": 20_000}] * 12
    reading, ended = Reading.of(table(events(rows))), START + timedelta(seconds=13 * 30)
    words = [stalls(replace(reading, doing={RUN: Doing(ended + timedelta(seconds=after))})) for after in (80, 95)]
    assert [list(found) for found in words] == [[], [RUN]]


def test_a_driver_whose_clock_is_ahead_is_silent_as_soon_as_another() -> None:
    seen = LAST - timedelta(minutes=5)  # by the clock here
    words = [stall(after - 300, met=seen) for after in (29, 31)]
    assert words[0] is None and words[1] is not None
    assert (words[1].word, words[1].since) == ("silent", seen.isoformat(timespec="seconds"))


def test_an_hour_without_data_raises_no_alarm() -> None:
    for second in range(10, 3_600, 10):
        said = LAST + timedelta(seconds=second - 8)
        for doing in ({"idle": said}, {"thread": POLLING}, {"thread": TRIGGER}):
            found = stall(second, **doing)
            assert found is None or found.word == "idle"


@pytest.mark.parametrize(
    ("fact", "value", "word"),
    [("stopped", "true", None), ("terminated_error", '"lost"', None), ("application", '"a"', "silent")],
)
def test_a_query_that_has_ended_in_a_followed_log_is_not_silent(fact: str, value: str, word: str | None) -> None:
    end = Sighting(None, RUN, "log", fact, value, "log", "driver.log", 0)
    reading = Reading.of(table(events(BATCHES)), table_of_sightings([end]))
    followed = replace(reading, doing={RUN: Doing(LAST + timedelta(minutes=5))})
    (found,) = (query.stall for query in assemble(followed, catalogue.load(None), Asked(live=True)).queries)
    assert (found and found.word) == word


def test_a_log_that_says_no_more_that_it_is_idle_is_silent_and_a_driver_that_does_not_answer_gone() -> None:
    found = stall(300, idle=LAST + timedelta(seconds=200))
    assert found is not None and found.word == "silent"
    assert datetime.fromisoformat(found.since) == LAST + timedelta(seconds=200)
    reading = Reading.of(table(events(BATCHES)))
    gone = replace(reading, doing={RUN: Doing(LAST)}, gone_since=LAST)
    assert stalls(gone)[RUN].word == "gone"


@pytest.mark.parametrize(
    ("word", "after", "ends"),
    [("silent", 301, True), ("long", 301, True), ("gone", 301, True), ("silent", 299, False), ("idle", 9_999, False)],
)
def test_watch_ends_for_what_is_silent_long_enough(word: Any, after: int, ends: bool) -> None:
    shown = report(slow() | {"stall": {"word": word, "since": LAST.isoformat(), "says": "it waits"}})
    said = silent(shown, timedelta(minutes=5), LAST + timedelta(seconds=after))
    assert bool(said) is ends and (f"{word} for 5.0 min" in said) is ends


@pytest.mark.parametrize(("live", "ms"), [(False, 180_000.0), (True, None)])
def test_one_look_says_for_how_long_and_a_screen_that_stays_since_when(live: bool, ms: float | None) -> None:
    reading = Reading.of(table(events(BATCHES)))
    asked = replace(reading, doing={RUN: Doing(LAST + timedelta(minutes=3), FOREACH)})
    made = assemble(Reading.merge([asked]) if not live else asked, catalogue.load(None), Asked(live=live))
    (found,) = (query.stall for query in made.queries)
    assert found is not None and (found.word, found.ms) == ("silent", ms)
    views = (report_as_text, lambda made: report_as_text(made, everything=True), report_as_page, report_as_markdown)
    for text in (view(made) for view in views):
        assert ("silent for 3.0 min, since" in text, "in your foreachBatch" in text) == (not live, True)


def test_the_address_bears_clients_that_hold_break_or_leave(capfd: pytest.CaptureFixture[str]) -> None:
    health = Health(0, lambda: (True, {"status": "running"}))
    address = ("127.0.0.1", health.port)
    held = [socket.create_connection(address) for _ in range(MOST_AT_ONCE)]
    for one in held:
        one.sendall(b"G")  # and a byte now and then
    with socket.create_connection(address) as probe, probe.makefile("rb") as answer:
        probe.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert answer.read().endswith(b'{"status":"running"}\n')
    with held[0] as oldest:
        assert oldest.recv(1) == b""  # it made room
    for one in held[1:]:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closed with a reset
        one.close()
    health.close()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("port", [-1, 65536, "spark", 1.5])
def test_what_is_no_port_is_refused(port: Any) -> None:
    with pytest.raises(UsageError):
        Health(port, lambda: (True, {}))
