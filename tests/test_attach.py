"""The advisor of a session without Spark: the same judge, the watch over findings, and what shows itself."""

from __future__ import annotations

import importlib
import json
import logging
import pickle
import threading
import urllib.error
import urllib.request
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from advisor.batches import Doing, Reading
from advisor.catalogue import Catalogue, load
from advisor.contract import QueryEntry, plain
from advisor.errors import UsageError
from advisor.report import Asked, assemble
from advisor.session import attach, onscreen, watch
from advisor.session.notices import THRICE, TWICE, Watch
from tests.made import events, table
from tests.sources.sessions import QUERY, RUN, batch, ended, idle, started
from tests.test_report import Wanted
from tests.views import reports

pytest.importorskip("pyspark")
live = importlib.import_module("advisor.session.live")
SECONDS = 300
"""The longest wait for what comes: a machine under load is slow."""


@pytest.fixture(autouse=True)
def _no_rest_for_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge whenever enough batches are new, whatever the time; what comes in the end is waited for."""
    monkeypatch.setattr(live, "CPU_SHARE", 1e9)
    monkeypatch.setattr(live, "STOP_SECONDS", SECONDS)
    monkeypatch.setattr("advisor.sources.listener.recorder.FLUSH_SECONDS", SECONDS)


SLOW = {"triggerExecution": 100, "walCommit": 25, "commitOffsets": 25, "addBatch": 40, "queryPlanning": 10}


class Streams:
    """The part of a session that knows its listeners."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.active: list[Any] = []

    def addListener(self, listener: Any) -> None:  # noqa: N802
        self.listeners.append(listener)

    def removeListener(self, listener: Any) -> None:  # noqa: N802
        self.listeners.remove(listener)


def session(key: str = "made") -> Any:
    """A session as far as attaching asks; what only a JVM could tell is missing, and stays unknown."""
    context = SimpleNamespace(applicationId="app-made", _jsc=object())
    java = SimpleNamespace(sessionUUID=lambda: key)
    return SimpleNamespace(streams=Streams(), version="4.3.0", sparkContext=context, _jsparkSession=java)


def run(advisor: Any, batches: int, first: int = 0) -> None:
    if not first:
        advisor.onQueryStarted(started())
    for number in range(first, batches):
        advisor.onQueryProgress(batch(number))


def test_the_report_is_what_the_same_judge_says_of_the_same_events() -> None:
    with attach(session(), set=["stateful=false"]) as advisor:
        run(advisor, 60)
        report = advisor.report()
    entry = report.queries[0]
    kept = pickle.loads(pickle.dumps(report))
    assert kept.data == report.data and kept._drawn == report._drawn and kept._drawn.queries[0].series
    assert [finding["rule"] for finding in entry["findings"]][:1] == ["LG001"]
    assert entry["facts"]["spark_version"] == {"value": "4.3.0", "from": "session"}
    assert entry["facts"]["stateful"] == {"value": False, "from": "user"}
    judged = plain(assemble(advisor.recorder.store.reading(), load(), advisor._options.asked))["queries"][0]
    assert judged | {"idle_since": None} == entry
    assert report.typed.queries[0].metric("trigger_execution_ms").p50 == 100.0
    assert "LG001" in set(report.findings["rule"])


def test_attached_twice_is_attached_once_and_the_later_wishes_count() -> None:
    spark = session()
    with attach(spark) as advisor:
        assert attach(spark, set=["latency_target_ms=50"]) is advisor
        assert spark.streams.listeners == [advisor]
        run(advisor, 30)
        assert advisor.report().queries[0]["facts"]["latency_target_ms"]["value"] == 50
        with attach(session("other")) as other:  # a session has an advisor of its own
            assert (len(advisor.progress()), len(other.progress())) == (30, 0)


def test_attached_again_what_stays_is_named_where_another_is_wished(recwarn: pytest.WarningsRecorder) -> None:
    spark = session()
    with attach(spark, keep=50) as advisor:
        attach(spark, keep=50, capacity=10_000, health=0)
        attach(spark)
        assert [str(one.message) for one in recwarn] == []
        with pytest.warns(UserWarning, match="already has an advisor") as warned:
            assert attach(spark, keep=10_000, capacity=7, health=8099) is advisor
        said = "keep=50, not keep=10000; capacity=10000, not capacity=7; health=0, not health=8099. Detach it first"
        assert said in str(warned[0].message) and warned[0].filename == __file__
        assert advisor.overhead()["kept_per_query"] == 50


def test_attached_again_with_a_history_events_are_written_from_then_on(tmp_path: Path) -> None:
    from advisor import read_progress

    spark = session()
    with attach(spark) as advisor:
        run(advisor, 10)
        attach(spark, history=tmp_path / "one")
        run(advisor, 15, first=10)
        attach(spark, history=tmp_path / "other")
        attach(spark)
        run(advisor, 17, first=15)
    kept = [list(read_progress(tmp_path / name)["batch_id"]) for name in ("one", "other")]
    assert kept == [[10, 11, 12, 13, 14], [15, 16]]


def test_a_history_stays_where_it_was_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with attach(session(), history="kept") as advisor:
        run(advisor, 10)
        assert advisor.recorder.worker.flush(SECONDS)
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path / "other")
        run(advisor, 15, first=10)
        assert advisor.overhead()["history"].startswith(str(tmp_path / "kept"))
    (file,) = (tmp_path / "kept").iterdir()
    assert file.read_bytes().count(b'"batchId"') == 15


def test_after_detaching_nothing_is_left_and_what_was_heard_can_still_be_asked_for() -> None:
    spark = session()
    advisor = attach(spark)
    run(advisor, 30)
    advisor.detach()
    advisor.detach()
    assert spark.streams.listeners == []
    assert advisor.recorder.worker.thread is None
    assert len(advisor.progress()) == 30
    assert not advisor.overhead()["attached"]
    again = attach(spark)
    assert again is not advisor
    again.detach()


def test_the_advisor_of_a_stopped_session_gives_its_address_and_its_threads_back() -> None:
    spark = session("stopped")
    advisor = attach(spark, health=0)
    spark.sparkContext._jsc = None
    attach(session("next"), health=advisor._health.port).detach()
    assert "classic:stopped" not in live._ATTACHED
    assert advisor.recorder.worker.thread is None


def test_a_session_that_is_gone_is_no_hindrance() -> None:
    spark = session("gone")
    advisor = attach(spark)
    spark.streams = None
    advisor.detach()
    assert advisor.recorder.worker.thread is None


def test_where_the_lean_way_is_refused_the_public_one_is_taken_and_told() -> None:
    spark = session()
    refusals = iter([RuntimeError("method is not whitelisted, token=abc")])

    def add(listener: Any) -> None:
        for refusal in refusals:
            raise refusal
        spark.streams.listeners.append(listener)

    spark.streams.addListener = add
    with attach(spark) as advisor:
        found = advisor.overhead()
        assert found["way"] == "public"
        assert "not whitelisted" in found["because"]
        assert "abc" not in found["because"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"keep": 0}, "keep=0"),
        ({"capacity": -1}, "capacity=-1"),
        ({"set": ["statefull=1"]}, "did you mean"),
        ({"keep": 1.5}, "keep=1.5"),
        ({"on_finding": "print"}, "on_finding: str"),
        ({"rules": 5}, "rules: int"),
        ({"set": "statefull=1"}, "did you mean"),
        ({"config": 5}, "config: int"),
        ({"history": 5}, "history: int"),
        *(({"history": place}, "is an address") for place in ("s3://b/x", "hdfs://n/x", "file:///x")),
        ({"history": "http://user:secret@h/"}, "^history=http:...: is an address"),
    ],
)
def test_what_is_asked_wrongly_is_told_before_anything_is_attached(wrong: dict[str, Any], words: str) -> None:
    spark = session()
    with pytest.raises(UsageError, match=words):
        attach(spark, **wrong)
    assert spark.streams.listeners == []


def test_a_history_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="history"):
        attach(session(), history=tmp_path / "file")
    with pytest.raises(UsageError, match="history"):
        attach(session(), history="a\0b")


def stopped() -> Any:
    spark = session()
    spark.sparkContext._jsc = None
    return spark


@pytest.mark.parametrize(
    ("spark", "why"),
    [("spark", "not a Spark session"), (stopped(), "the session is stopped"), (str, "str is a class; give a session")],
)
def test_what_is_no_running_session_is_refused(spark: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        attach(spark)


def test_on_finding_hears_of_a_finding_once_and_may_ask_for_the_report() -> None:
    heard: list[Any] = []
    asked: set[int] = set()

    def hear(notice: Any) -> None:
        heard.append(notice)
        asked.add(len(advisor.report().queries))

    with attach(session(), on_finding=hear) as advisor:
        run(advisor, 200)
        advisor.report()
    assert asked == {1}
    assert [(notice.change, notice.finding["rule"]) for notice in heard].count(("appeared", "LG001")) == 1
    assert "made" in str(heard[0])


def test_a_slow_query_is_judged_before_it_has_ten_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "JUDGED_AFTER_SECONDS", 0.0)
    heard: list[Any] = []
    with attach(session(), on_finding=heard.append) as advisor:
        run(advisor, 8)
        advisor.report()
    assert "LG001" in [notice.finding["rule"] for notice in heard]


def test_without_on_finding_a_line_goes_through_logging_and_what_goes_wrong_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with attach(session()) as advisor, caplog.at_level(logging.INFO, logger="advisor"):
        run(advisor, 100)
        advisor.report()
        for _ in range(3):
            advisor.recorder.trouble("history: token=abc: no space left")
    assert any("LG001" in words for words in caplog.messages)
    assert caplog.messages.count("history: token=*********(redacted) no space left") == 1 and "abc" not in caplog.text


def test_a_callback_that_raises_is_told_in_the_report_and_disturbs_nothing() -> None:
    def fail(notice: Any) -> None:
        raise ValueError("my own mistake")

    with attach(session(), on_finding=fail) as advisor:
        run(advisor, 100)
    report = advisor.report()
    problems = [entry["problem"] for entry in report.data["session"]["problems"]]
    assert "on_finding: ValueError: my own mistake" in problems
    for shown in (repr(report), report._repr_html_()):
        assert "on_finding: ValueError: my own mistake" in shown
        assert "events heard (lean way), 0 dropped" in shown
    assert report.queries[0]["batches"] == 100


class NoWordsError(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise NoWordsError


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), NoWordsError()])
def test_a_callback_that_wants_to_end_the_program_does_not_end_the_watch(error: BaseException) -> None:
    heard: list[str] = []

    def leave(notice: Any) -> None:
        heard.append(notice.finding["rule"])
        raise error

    with attach(session(), on_finding=leave) as advisor:
        run(advisor, 100)
        advisor.report()
        advisor.onQueryTerminated(ended("no such table"))
    report = advisor.report()
    assert heard and (report.queries[0]["batches"], report.queries[0]["state"]) == (100, "dead")
    problems = [entry["problem"] for entry in report.data["session"]["problems"]]
    assert any(problem.startswith(f"on_finding: {type(error).__name__}") for problem in problems)


def test_a_callback_that_does_not_return_holds_up_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "STOP_SECONDS", 5.0)
    monkeypatch.setattr(live, "UNTOLD", 1)
    called, go_on = threading.Event(), threading.Event()
    heard: list[Any] = []

    def hang(notice: Any) -> None:
        heard.append(notice)
        called.set()
        go_on.wait()

    advisor = attach(session(), on_finding=hang)
    try:
        run(advisor, 100)
        assert called.wait(SECONDS)
        run(advisor, 300, first=100)
        advisor.onQueryTerminated(ended("no such table"))
        assert advisor.report().queries[0]["batches"] == 300
        advisor._tell(heard * 3)
        advisor.detach()
    finally:
        go_on.set()
    advisor.recorder.worker.join(SECONDS)
    assert advisor.recorder.worker.thread is None
    assert "on_finding is slow: a finding was not delivered" in advisor.recorder.problems
    assert "on_finding did not return in time: findings were not delivered" in advisor.recorder.problems
    advisor._teller.join(SECONDS)


def test_a_callback_may_detach() -> None:
    spark = session()
    gone = threading.Event()

    def leave(notice: Any) -> None:
        advisor.detach()
        gone.set()

    advisor = attach(spark, on_finding=leave)
    run(advisor, 100)
    assert gone.wait(SECONDS)
    assert spark.streams.listeners == []
    assert not advisor.overhead()["attached"]


def test_watching_a_session_that_does_not_answer_ends_and_tells_why(monkeypatch: pytest.MonkeyPatch) -> None:
    spark = session()
    seen = Kept()
    monkeypatch.setattr(onscreen, "show", seen)
    with attach(spark) as advisor:
        run(advisor, 30)
        advisor.report()
        spark.streams = SimpleNamespace(removeListener=lambda listener: None)
        advisor.watch()
    assert len(seen.shown) == 1
    assert any(words.startswith("AttributeError") for words in advisor.recorder.problems)


def test_a_rule_that_fails_is_told_and_the_others_are_judged() -> None:
    class Failing:
        id = "XX001"

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("a rule with a fault")

    good = load()
    rules = Catalogue({"XX001": Failing(), **good.rules}, good.steps)  # type: ignore[dict-item]
    (query,) = assemble(Reading.of(table(events([SLOW] * 60))), rules, Asked(wishes=Wanted(), live=True)).queries
    assert query.findings
    (told,) = (skipped for skipped in query.skipped if skipped.rule == "XX001")
    assert "RuntimeError: a rule with a fault" in told.reason


def seen(level: str | None, explained_by: str | None = None) -> QueryEntry:
    made = [reports.finding("LG001", "t", "T", level, "S", [], explained_by=explained_by)] if level else []
    return reports.report(reports.healthy() | {"findings": made}).queries[0]


def told(levels: list[str | None], **others: Any) -> list[str]:
    watch = Watch()
    return [notice.change for level in levels for notice in watch.see(seen(level, **others))]


@pytest.mark.parametrize(
    ("levels", "changes"),
    [
        # a finding counts when judgements agree, and is not told of while it comes and goes
        (["high"] * (TWICE - 1), []), (["high"] * TWICE, ["appeared"]), (["high"] * 20, ["appeared"]),
        (["high", None] * 10, []),
        # it is gone after several judgements without it
        (["low"] * TWICE + [None] * (THRICE - 1) + ["low"] * 5, ["appeared"]),
        (["low"] * TWICE + [None] * THRICE, ["appeared", "gone"]),
        # it worsens, and a lower level is taken without a word
        (["low"] * TWICE + ["high"] * TWICE, ["appeared", "worse"]),
        (["high"] * TWICE + ["low", "high"] * 10, ["appeared"]),
        (["high"] * TWICE + ["low"] * THRICE + ["high"] * TWICE, ["appeared", "worse"]),
    ],
)  # fmt: skip
def test_what_is_told_of_a_finding(levels: list[str | None], changes: list[str]) -> None:
    assert told(levels) == changes


def test_what_another_finding_explains_is_not_told_of_and_one_judgement_is_enough_of_a_dead_run() -> None:
    assert told(["high"] * 5, explained_by="LG002") == []
    assert [notice.change for notice in Watch().see(seen("high"), final=True)] == ["appeared"]


def test_while_the_watch_rests_the_end_of_a_run_is_judged_only_where_it_died(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CPU_AHEAD", 1e-9)
    monkeypatch.setattr(live, "CPU_SHARE", 1e-9)
    judged: list[str] = []
    runs = [f"{number:08}-0000-0000-0000-000000000000" for number in range(3)]
    with attach(session(), on_finding=lambda notice: None) as advisor:
        monkeypatch.setattr(advisor, "_watch", lambda id, run_id, ended: judged.append(run_id))
        for run_id, error in zip(runs, [None, None, "no such table"], strict=True):
            advisor.onQueryStarted(started(run_id))
            advisor.onQueryProgress(batch(0, run_id))
            advisor.onQueryTerminated(ended(error, run_id))
        advisor.report()
    assert judged == [runs[0], runs[2]]


def test_a_query_without_any_event_has_no_data_and_a_waiting_one_is_idle() -> None:
    other = "33333333-3333-3333-3333-333333333333"
    with attach(session()) as advisor:
        advisor.onQueryStarted(started())
        advisor.onQueryStarted(started(other, "44444444-4444-4444-4444-444444444444"))
        advisor.onQueryIdle(idle(run_id=other, id="44444444-4444-4444-4444-444444444444"))
        verdicts = {entry["run_id"]: entry["verdict"] for entry in advisor.report().queries}
    assert verdicts[RUN].startswith("Nothing to judge: no progress event. Spark reports a batch once it has ended")
    assert "idle" in verdicts[other]


def test_a_query_that_had_batches_and_waits_now_is_idle_until_the_next_one_and_may_die() -> None:
    with attach(session()) as advisor:
        run(advisor, 40)
        advisor.onQueryIdle(idle(7))
        advisor.onQueryIdle(idle(8))
        waits = advisor.report()
        run(advisor, 41, first=40)
        works = advisor.report()
        advisor.onQueryTerminated(ended("no such table"))
        entry = advisor.report().queries[0]
    assert waits.queries[0]["idle_since"] == "2026-03-01T03:00:07.000Z"
    for shown in (repr(waits), waits._repr_html_()):
        assert "running, idle since 2026-03-01 03:00:07 UTC" in shown
    assert works.queries[0]["idle_since"] is None
    assert entry["state"] == "dead"  # and its error comes first
    assert entry["verdict"].startswith("The query stopped with an error: no such table. ")
    assert entry["screen"]["loss"]["rule"] == "LG001"


def test_a_restart_is_compared_with_the_run_before() -> None:
    after = "33333333-3333-3333-3333-333333333333"
    with attach(session()) as advisor:
        run(advisor, 60)
        advisor.onQueryTerminated(ended())
        advisor.onQueryStarted(started(after))
        for number in range(60, 130):
            quick = {"triggerExecution": 50, "walCommit": 0, "commitOffsets": 0}
            advisor.onQueryProgress(batch(number, after, **quick))
        report = advisor.report()
        html, text, compared = advisor._repr_html_(), repr(advisor), repr(advisor.compare())
        entries = {entry["run_id"]: entry for entry in report.queries}
    assert [entry["after"]["run_id"] for entry in report.data["comparisons"]] == [after]
    for shown in (html, text):
        assert "Measured: A typical batch is 50 ms faster" in shown
    assert compared.startswith("made\nA typical batch is 50 ms faster")
    assert entries[RUN]["state"] == "stopped"
    assert entries[after]["runs"] == 2
    changed = entries[after]["changed"]
    assert changed["because"] == "restart"
    assert "the median batch takes 50 ms instead of 100 ms" in changed["says"]


def test_in_real_time_mode_the_length_of_a_batch_is_no_latency() -> None:
    with attach(session(), set=["trigger=real_time", "stateful=false"]) as advisor:
        advisor.onQueryStarted(started())
        for number in range(60):
            long = {"triggerExecution": 90, "addBatch": 60, "walCommit": 2, "commitOffsets": 0}
            advisor.onQueryProgress(batch(number, **long))
        entry = advisor.report().queries[0]
    assert entry["findings"] == []
    assert entry["verdict"].startswith(
        "No rule found anything to change. In real-time mode a batch lasts as long as its trigger"
    )
    assert "real-time mode" in entry["metrics"]["record_latency_ms"]["missing"]


def test_it_shows_itself_as_text_and_as_html_in_which_nothing_is_markup() -> None:
    evil = "<script>alert(1)</script>&\x1b[31m"
    with attach(session()) as advisor:
        advisor.onQueryStarted(SimpleNamespace(id=QUERY, runId=RUN, name=evil, timestamp="2026-03-01T02:00:00.000Z"))
        for number in range(60):
            named = batch(number)
            named.progress["name"] = evil
            advisor.onQueryProgress(named)
        html, text = advisor._repr_html_(), repr(advisor)
    assert "<script" not in html and "&lt;script&gt;" in html and "\x1b" not in html + text
    assert "asyncProgressTrackingEnabled" in html and "Do this first" in html
    assert text.startswith("a session, ") and "walCommit" in text


def test_what_listening_costs_is_told() -> None:
    with attach(session(), history=None) as advisor:
        assert "No query has been seen yet" in advisor._repr_html_() and repr(advisor)
        run(advisor, 10)
        advisor.report()
        found = advisor.overhead()
    assert found["way"] == "lean"
    assert found["events"] == {"started": 1, "progress": 10}
    assert found["dropped"] == found["waiting"] == 0
    assert found["cpu_ms_per_event"] > 0
    assert found["kept_per_query"] == 10_000


class Kept:
    """A screen that keeps what it was shown."""

    def __init__(self, then: Any = None) -> None:
        self.shown: list[Any] = []
        self._then = then

    def __call__(self, reports: Any) -> None:
        for what in reports:
            self.shown.append(what)
            if self._then:
                self._then(len(self.shown))


def test_watching_shows_the_report_again_after_news_and_ends_when_the_last_query_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(onscreen, "REST_SECONDS", 0.0)
    with attach(session()) as advisor:

        def goes_on(times: int) -> None:
            """What happens while somebody looks at what was drawn."""
            run(advisor, 30 * times, first=30 * (times - 1) or 1) if times <= 3 else advisor.onQueryTerminated(ended())

        run(advisor, 1)
        seen = Kept(goes_on)
        monkeypatch.setattr(onscreen, "show", seen)
        advisor.watch()
    batches = [shown.typed.queries[0].batches for shown in seen.shown]
    assert batches == sorted(batches) and len(batches) >= 2
    last = seen.shown[-1].typed.queries[0]
    assert (last.state, last.batches) == ("stopped", 90)


def test_watching_a_session_keeps_what_was_wished_when_it_was_attached_to(monkeypatch: pytest.MonkeyPatch) -> None:
    spark, seen = session(), Kept()
    monkeypatch.setattr(onscreen, "show", seen)
    with attach(spark, set=["stateful=false"]) as advisor:
        run(advisor, 30)
        advisor.onQueryTerminated(ended())
        watch(spark)
    (shown,) = seen.shown  # nothing runs: once
    assert shown.typed.queries[0].facts["stateful"].origin == "user"


def test_interrupting_ends_the_watching_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(news: Any) -> bool:
        raise KeyboardInterrupt

    with attach(session()) as advisor:
        run(advisor, 30)
        monkeypatch.setattr(onscreen.News, "wait", interrupted)
        advisor.watch()
        run(advisor, 40, first=30)
        assert advisor.report().typed.queries[0].batches == 40
    assert "30 progress events" in capsys.readouterr().out


def test_watching_a_session_that_is_gone_ends_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onscreen, "LOOK_SECONDS", 0.01)
    running = iter([True, True, False])
    assert list(onscreen.reports(lambda: "report", lambda: next(running), onscreen.News())) == ["report"]


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_queries_of_a_session_that_is_gone_do_not_run(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(run_id: str) -> Any:
        raise ConnectionRefusedError("nobody listens")

    spark = session(how)
    with attach(spark) as advisor:
        run(advisor, 30)
        monkeypatch.setattr(advisor._session, "doing", lambda run_id: None)
        assert advisor.report().typed.queries[0].stall is None
        if how == "stopped":
            monkeypatch.setattr(spark.sparkContext, "_jsc", None)
        else:
            monkeypatch.setattr(advisor._session, "doing", refuses)
        report = advisor.report()
        stall = report.typed.queries[0].stall
        assert stall and (stall.word, stall.says) == ("gone", "its driver does not answer, or its session is stopped")
        assert advisor.report().typed.queries[0].stall.since == stall.since
        assert [entry.problem for entry in report.typed.session.problems] == (
            [] if how == "stopped" else ["ConnectionRefusedError: nobody listens"]
        )
        well, said = advisor.health()
        assert (well, [one["status"] for one in said["queries"]]) == (False, ["gone"])
        if how == "stopped":
            with pytest.raises(UsageError, match="the session is stopped"):
                advisor.stages()
        monkeypatch.undo()
        assert advisor.report().typed.queries[0].stall is None


def test_outside_a_notebook_watching_prints_the_last_report(capsys: pytest.CaptureFixture[str]) -> None:
    with attach(session()) as advisor:
        run(advisor, 30)
        advisor.onQueryTerminated(ended())
        watch(advisor)
    assert capsys.readouterr().out.startswith("a session, ")


def test_a_probe_hears_whether_queries_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(advisor: Any) -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{advisor._health.port}/", timeout=SECONDS) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    with attach(session("probed"), health=0) as advisor:
        assert asked(advisor) == (200, {"status": "no query runs", "queries": []})
        run(advisor, 30)
        assert advisor.recorder.worker.flush(SECONDS)
        code, said = asked(advisor)
        assert (code, said["status"], [one["status"] for one in said["queries"]]) == (200, "running", ["running"])
        looked = Doing(datetime(2026, 3, 2, tzinfo=timezone.utc), thread="KafkaOffsetReader.fetchLatestOffsets")
        monkeypatch.setattr(advisor._session, "doing", lambda run_id: looked)
        code, said = asked(advisor)
        assert (code, said["status"]) == (503, "silent") and "asks its source" in said["queries"][0]["says"]
        advisor.onQueryTerminated(ended("no such table"))
        assert advisor.recorder.worker.flush(SECONDS)
        assert asked(advisor)[0] == 503
        monkeypatch.setattr(advisor._session, "active", lambda: 1 / 0)
        assert asked(advisor) == (503, {"status": "unknown", "error": "ZeroDivisionError"})
