"""The listener without Spark: the queue, the thread, the bounded tables, the history."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.compute as pc
import pytest

import advisor
from advisor.catalogue import load
from advisor.redaction import REDACTED
from advisor.report import assemble
from advisor.sources import files
from advisor.sources.listener import recorder as recorder_module
from advisor.sources.listener import session as listened
from advisor.sources.listener import session as session_module
from advisor.sources.listener import worker as worker_module
from advisor.sources.listener.callbacks import JavaListener
from advisor.sources.listener.execution import of_start, separated, trigger
from advisor.sources.listener.session import _Connect
from advisor.sources.listener.store import CHUNK, RUNS_KEPT, History
from advisor.sources.listener.worker import Worker
from advisor.writing import whole_file
from tests.sources.sessions import QUERY, RUN, Made, batch, ended, idle, recorder, started, tell

SECONDS = 120


def facts(reading: Any, run_id: str = RUN) -> dict[str, Any]:
    rows = reading.sightings.to_pylist()
    return {row["fact"]: json.loads(row["value"]) for row in rows if row["run_id"] == run_id}


def begun(session: Made | None = None) -> tuple[Any, threading.Thread]:
    """A listener that has heard of a run and its first batch, and its thread."""
    listening = recorder(session)
    tell(listening, ("started", started()), ("progress", batch(0)))
    assert len(listening.reading().batches) == 1
    thread = listening.worker.thread
    assert thread is not None and thread.daemon
    return listening, thread


def ends(thread: threading.Thread) -> None:
    thread.join(SECONDS)
    assert not thread.is_alive()


def test_events_become_the_table_of_batches_and_facts_become_sightings() -> None:
    listening = recorder(Made(facts=[("task_slots", 8, "session"), ("sink", "noop", "session")]))
    tell(listening, ("started", started()), ("progress", batch(0)), ("progress", batch(1)))
    reading = listening.reading()
    assert reading.batches["batch_id"].to_pylist() == [0, 1]
    assert set(reading.batches["log"].to_pylist()) == {"app-made"}
    assert facts(reading) == {
        "task_slots": 8, "sink": "noop", "query_name": "made", "start_time": "2026-03-01T02:00:00.000Z",
    }  # fmt: skip
    assert {row["origin"] for row in reading.sightings.to_pylist()} == {"session"}


def test_a_late_listener_picks_up_what_runs_without_idle_entries_and_counts_no_batch_twice() -> None:
    waiting = batch(9, triggerExecution=3).progress | {"durationMs": {"latestOffset": 2, "triggerExecution": 3}}
    recent = [batch(7).progress, batch(8).progress, waiting]
    listening = recorder(Made(facts=[("task_slots", 8, "session")], running={RUN: recent}))
    listening.pick_up()
    tell(listening, ("progress", batch(8)), ("progress", batch(9)))
    reading = listening.reading()
    assert reading.batches["batch_id"].to_pylist() == [7, 8, 9]
    assert reading.duplicates == 1
    assert facts(reading)["task_slots"] == 8  # although the run's start was not heard


def test_of_idle_triggers_in_a_row_the_first_is_kept() -> None:
    listening = recorder()
    waits = [("idle", idle(second)) for second in range(6)]
    tell(listening, ("progress", batch(0)), *waits[:5], ("progress", batch(1)), waits[5])
    reading = listening.reading()
    assert reading.batches["idle"].to_pylist() == [False, False, True, True]


def test_a_query_keeps_its_newest_batches_only() -> None:
    listening = recorder(keep=100)
    tell(listening, *[("progress", batch(number)) for number in range(2 * CHUNK + 7)])
    kept = listening.reading().batches["batch_id"].to_pylist()
    assert kept == list(range(2 * CHUNK + 7 - 100, 2 * CHUNK + 7))
    assert listening.reading(QUERY, newest=3).batches["batch_id"].to_pylist() == kept[-3:]


def test_memory_does_not_grow_with_time() -> None:
    listening = recorder(keep=CHUNK, capacity=20 * CHUNK)
    sizes = []
    for stretch in range(4):
        events = [("progress", batch(stretch * 4 * CHUNK + number)) for number in range(4 * CHUNK)]
        tell(listening, *events)
        listening.reading()
        sizes.append(listening.store.memory_bytes())
    assert sizes[1] == pytest.approx(sizes[3], rel=0.1)


def test_a_query_that_restarts_for_ever_keeps_the_facts_of_its_last_runs() -> None:
    listening = recorder(Made(facts=[("task_slots", 8, "session")]))
    for number in range(RUNS_KEPT + 5):
        run = f"{number:08}-0000-0000-0000-000000000000"
        tell(listening, ("started", started(run)), ("ended", ended("boom", run)))
    runs = {row["run_id"] for row in listening.reading().sightings.to_pylist()}
    assert len(runs) == RUNS_KEPT
    assert run in runs


def test_of_runs_that_never_end_as_many_are_known_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "_RUNS_KNOWN", 3)
    listening = recorder()
    tell(listening, *(("progress", batch(0, f"{number:08}-0000-0000-0000-000000000000")) for number in range(9)))
    listening.reading()
    assert len(listening.newest) == len(listening._once) == 3


def test_a_full_queue_drops_events_and_counts_them_and_nobody_waits() -> None:
    busy, go_on = threading.Event(), threading.Event()

    def handle(item: str) -> None:
        busy.set()
        assert go_on.wait(SECONDS)

    worker = Worker(handle, lambda: False, pytest.fail, capacity=2)
    worker.offer("taken")
    assert busy.wait(SECONDS)
    assert [worker.offer("a"), worker.offer("b"), worker.offer("c")] == [True, True, False]
    assert worker.dropped == 1
    go_on.set()
    assert worker.flush(SECONDS)


def test_the_thread_ends_although_the_end_of_the_run_was_dropped() -> None:
    busy, go_on = threading.Event(), threading.Event()

    class Slow(Made):
        def facts_at_start(self, run_id: str) -> list[tuple[str, Any, str]]:
            busy.set()
            assert go_on.wait(SECONDS)
            return []

    listening = recorder(Slow(), capacity=1)
    tell(listening, ("started", started()))
    assert busy.wait(SECONDS)
    tell(listening, ("progress", batch(0)), ("ended", ended()))
    assert listening.worker.dropped == 1
    thread = listening.worker.thread
    assert thread is not None
    go_on.set()
    ends(thread)
    assert list(listening.problems) == [
        "events come faster than they are read: what finds 1 waiting is dropped",
        f"run {RUN} is no longer seen, its end was not heard",
    ]


def test_a_run_whose_end_spark_did_not_tell_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "TICK_SECONDS", 0.01)
    over: list[tuple[str, bool]] = []
    session = Made(running={RUN: []})
    listening, thread = begun(session)
    listening.changed = lambda id, run_id, ended: over.append((run_id, ended))
    tell(listening, ("progress", batch(1)))
    listening.reading()
    session.running.clear()
    ends(thread)
    assert over == [(RUN, False), (RUN, True)]
    assert not listening.newest
    assert list(listening.problems) == [f"run {RUN} is no longer seen, its end was not heard"]


def test_a_run_of_another_session_is_not_taken_for_one_that_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "TICK_SECONDS", 0.001)
    monkeypatch.setattr(recorder_module, "SILENT_TICKS", 1)
    looked = threading.Event()
    looks = iter(range(1000))

    class Other(Made):
        def active(self) -> list[tuple[str, str, str | None]]:
            if next(looks) == 9:
                looked.set()
            return []

    listening = recorder(Other())
    tell(listening, ("started", started()))
    assert looked.wait(SECONDS)
    assert RUN in listening.store.live()
    assert not listening.problems
    tell(listening, ("ended", ended()))
    listening.stop(SECONDS)


def test_an_event_waits_where_no_thread_can_begin() -> None:
    done = threading.Event()
    worker = Worker(lambda item: done.set(), lambda: False, pytest.fail)
    before = threading.stack_size(1 << 45)
    try:
        assert worker.offer("first")
        assert not worker.flush(SECONDS)
    finally:
        threading.stack_size(before)
    assert worker.offer("second")
    assert done.wait(SECONDS)


def test_neither_what_ends_a_program_nor_a_failure_of_who_hears_of_it_ends_the_thread() -> None:
    failed: list[type[BaseException]] = []
    done = threading.Event()

    def handle(item: Any) -> None:
        if isinstance(item, BaseException):
            raise item
        done.set()

    def told(error: BaseException) -> None:
        failed.append(type(error))
        raise SystemExit

    worker = Worker(handle, lambda: False, told)
    for item in (SystemExit(3), KeyboardInterrupt(), ValueError(), "next"):
        worker.offer(item)
    assert worker.flush(SECONDS) and done.is_set()
    assert failed == [SystemExit, KeyboardInterrupt, ValueError]


def test_the_thread_is_there_only_while_a_query_and_its_session_run() -> None:
    listening, thread = begun()
    tell(listening, ("ended", ended()))
    ends(thread)
    assert listening.worker.thread is None
    tell(listening, ("progress", batch(1)))
    assert len(listening.reading().batches) == 2
    _, thread = begun(session := Made())
    session.over = True
    ends(thread)


def test_nothing_that_goes_wrong_gets_out_and_all_of_it_is_told() -> None:
    class Moody(Made):
        def facts_at_start(self, run_id: str) -> list[tuple[str, Any, str]]:
            raise RuntimeError("no answer from password=hunter2")

    listening, odd = recorder(Moody()), [SimpleNamespace(progress=each) for each in (7, {"id": "x"})]
    tell(listening, ("started", started()), ("progress", batch(0)), *[("progress", each) for each in odd])
    reading = listening.reading()
    assert (len(reading.batches), len(reading.broken)) == (1, 1)
    assert listening.problems == {
        f"RuntimeError: no answer from password={REDACTED}": 1,
        "AttributeError: 'int' object has no attribute 'json'": 1,
    }


ODD_EVENTS: dict[str, tuple[dict[str, Any] | str, int]] = {
    "none": ('{"id": "x"}', 0),
    "more rows than a number holds": ({"numInputRows": 2**70}, 0),
    "a time that is none": ({"timestamp": "x"}, 0),
    "no JSON": ('{"durationMs": }\n', 0),
    "lists in lists": ({"sources": [{"description": "x", "startOffset": json.loads("[" * 500 + "]" * 500)}]}, 1),
    "more lists in lists than a decoder takes": ('{"durationMs": ' + "[" * 5000, 0),
}


@pytest.mark.parametrize(("odd", "whole"), ODD_EVENTS.values(), ids=ODD_EVENTS)
def test_an_event_that_cannot_be_read_is_a_broken_record_and_a_line_of_the_history(
    odd: dict[str, Any] | str, whole: int, tmp_path: Path
) -> None:
    listening = recorder(history=History(tmp_path))
    secret = {"password": "hunter2abcX9"}
    made = odd + json.dumps(secret) if isinstance(odd, str) else json.dumps(batch(1).progress | odd | secret)
    tell(listening, ("progress", SimpleNamespace(progress=SimpleNamespace(json=made))), ("progress", batch(0)))
    reading, (history,) = listening.reading(), tmp_path.iterdir()
    assert (len(reading.batches), len(reading.broken), dict(listening.problems)) == (1 + whole, 1 - whole, {})
    assert history.read_text().count("\n") == 3 and "hunter2" not in history.read_text()


@pytest.mark.parametrize("odd", [None, 7, {}, "yesterday", ["x"], float("nan"), 10**30])
def test_an_odd_start_or_wait_costs_no_batch(odd: Any) -> None:
    listening = recorder()
    start, wait = started(), idle()
    start.timestamp = start.name = wait.timestamp = odd
    tell(listening, ("started", start), ("progress", batch(0)), ("idle", wait), ("progress", batch(1)))
    reading = listening.reading()
    assert reading.batches.filter(pc.invert(reading.batches["idle"]))["batch_id"].to_pylist() == [0, 1]
    assert assemble(reading, load()).queries[0].batches == 2
    assert not listening.problems


FAILED = "org.apache.spark.sql.streaming.StreamingQueryException: batch 12 doesn't exist, token=abc123secret\n"
RAISED = (
    "py4j.Py4JException: An exception was raised by the Python Proxy. Return Message: "
    'Traceback (most recent call last):\n  File "a.py", line 1, in fail\n    raise x\nValueError: no such table\n\n'
)
MARK = "=== Streaming Query ==="


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (FAILED + MARK, {"terminated_error": f"batch 12 doesn't exist, token={REDACTED}", "missing_batch": 12}),
        (RAISED + MARK, {"terminated_error": "ValueError: no such table"}),
        (ValueError("no such table"), {"terminated_error": "no such table"}),
        (None, {"stopped": True}),
    ],
    ids=["a credential in it", "an error in Python", "an error that is no text", "stopped"],
)
def test_how_a_run_ended_is_a_fact_without_credentials(error: Any, told: dict[str, Any]) -> None:
    listening = recorder()
    tell(listening, ("started", started()), ("progress", batch(0)), ("ended", ended(error)))
    assert told.items() <= facts(listening.reading()).items()
    assert not listening.store.live()


def test_what_a_killed_process_left_half_made_is_removed_an_hour_later(tmp_path: Path) -> None:
    with whole_file(tmp_path / "whole"):
        (left,) = tmp_path.glob(".*.part")
    kept = [tmp_path / "whole", tmp_path / f".{'0' * 16}.part", tmp_path / ".download.part"]
    for file in (left, *kept):
        file.write_bytes(b"half")
    for file in (left, kept[2]):
        os.utime(file, (0, 0))
    History(tmp_path)
    assert set(tmp_path.iterdir()) == set(kept)


def test_history_is_readable_while_it_is_written_and_after_rotation(tmp_path: Path) -> None:
    history = History(tmp_path, rotate_bytes=20_000)
    listening = recorder(history=history)
    tell(listening, *[("progress", batch(number)) for number in range(100)])
    live = listening.reading()
    packed = list(tmp_path.glob("*.jsonl.gz"))
    assert packed
    assert gzip.decompress(packed[0].read_bytes()).count(b"\n") > 10
    read = files.read([str(tmp_path)])
    assert not read.broken
    assert read.batches["batch_id"].to_pylist() == live.batches["batch_id"].to_pylist()


def test_a_history_keeps_the_facts_in_each_of_its_files_and_gives_the_findings_of_the_session(tmp_path: Path) -> None:
    told = [("spark_version", "4.3.0", "session"), ("task_slots", 2, "session"), ("trigger", "unspecified", "session")]
    listening = recorder(Made(told), history=History(tmp_path, rotate_bytes=20_000))
    tell(
        listening,
        ("started", started()),
        *[("progress", batch(number)) for number in range(1, 100)],
        ("ended", ended()),
    )
    live = assemble(listening.reading(), load()).queries[0]
    listening.stop(10)
    kept = advisor.analyze(tmp_path).typed.queries[0]
    assert kept.facts == live.facts
    assert [one.rule for one in kept.findings] == [one.rule for one in live.findings] != []
    (packed, *_) = sorted(tmp_path.glob("*.gz"))
    packed.unlink()
    assert advisor.analyze(tmp_path).typed.queries[0].value("task_slots") == 2


def test_of_a_crash_at_most_the_last_line_is_lost(tmp_path: Path) -> None:
    history = History(tmp_path)
    tell(listening := recorder(history=history), *[("progress", batch(number)) for number in range(5)])
    listening.reading()
    whole = history.path.read_bytes()
    history.path.write_bytes(whole[:-40])
    assert files.read([str(tmp_path)]).batches["batch_id"].to_pylist() == [0, 1, 2, 3]
    for left in (40, 300):  # with its durations, and before them
        lines = whole.split(b"\n")  # the second one holds a fact
        history.path.write_bytes(b"\n".join(lines[:5]) + b"\n" + lines[5][:-left])
        reading = files.read([str(tmp_path)])
        assert reading.batches["batch_id"].to_pylist()[:4] == [0, 1, 2, 3]
        assert [one.line for one in reading.broken] == [6], "what is lost is told"


def test_a_history_that_cannot_be_written_disturbs_nothing(tmp_path: Path) -> None:
    history = History(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    (tmp_path / "gone").write_text("in the way")
    listening = recorder(history=history)
    tell(listening, ("progress", batch(0)), ("progress", batch(1)))
    assert len(listening.reading().batches) == 2
    assert listening.problems == {f"history: File exists in {tmp_path}/gone; what cannot be written is left out": 2}


def test_a_pipe_in_the_place_of_a_history_is_not_waited_for(tmp_path: Path) -> None:
    history = History(tmp_path)
    os.mkfifo(history.path)
    listening = recorder(history=history)
    tell(listening, ("progress", batch(0)))
    assert len(listening.reading().batches) == 1
    assert [words.partition(":")[0] for words in listening.problems] == ["history"]


FULL_DISK = """if True:
    import os, resource, signal, sys
    from advisor.sources.listener.store import History

    place, rotate_bytes, room = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    history = History(place, rotate_bytes)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    for number in range(4):
        try:
            history.write(b"%d" % number + os.urandom(999).replace(b"\\n", b"x"))
        except OSError as error:
            print(number, error.strerror)
"""


@pytest.mark.parametrize(
    ("rotate_bytes", "room", "lost", "kept"),
    [(5000, 2500, "23", ["01"]), (900, 1010, "", ["0", "1", "2", "3"])],
    ids=["no room for a line", "no room to pack a full file"],
)
def test_of_a_disk_that_fills_up_no_part_of_a_line_or_file_stays_and_it_is_told(
    rotate_bytes: int, room: int, lost: str, kept: list[str], tmp_path: Path
) -> None:
    program = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(rotate_bytes), str(room)]
    told = subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "".join(line[0] for line in told) == lost
    lines = [path.read_bytes().removesuffix(b"\n").split(b"\n") for path in sorted(tmp_path.iterdir())]
    assert ["".join(chr(line[0]) for line in of_one) for of_one in lines] == kept
    assert {len(line) for of_one in lines for line in of_one} == {1000}


def test_a_history_whose_directory_is_removed_is_begun_anew(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    listening = recorder(history=History(place))
    tell(listening, ("progress", batch(0)))
    listening.reading()
    shutil.rmtree(place)
    tell(listening, ("progress", batch(1)))
    listening.reading()
    assert files.read([place]).batches["batch_id"].to_pylist() == [1]
    assert not listening.problems


def test_two_histories_in_one_directory_are_two_files_that_only_their_owner_reads(tmp_path: Path) -> None:
    one, other = (History(tmp_path, rotate_bytes=100) for _ in range(2))
    for history in (one, other):
        history.write(b"first" * 30)
        history.write(b"second")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".gz", ".gz", ".jsonl", ".jsonl"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_after_the_end_java_reaches_nobody() -> None:
    heard: list[str] = []
    listener = JavaListener(lambda kind, _: heard.append(kind))
    listener.onQueryStarted(None)
    listener.onQueryProgress(None)
    listener.onQueryIdle(None)
    listener.onQueryTerminated(None)
    listener.release()
    listener.onQueryProgress(None)
    assert heard == ["started", "progress", "idle", "ended"]


class Java:
    """An object of Java: every word is a call."""

    def __init__(self, **answers: Any) -> None:
        self.__dict__ |= {name: (lambda answer=answer: answer) for name, answer in answers.items()}

    def __str__(self) -> str:
        text: str = self.__dict__["toString"]()
        return text


def test_events_and_maps_of_java_are_read_in_few_words() -> None:
    assert listened.as_json({"id": "x"}) == b'{"id": "x"}'  # recent progress before 4.0
    assert listened.as_json(SimpleNamespace(json='{"id":"y"}')) == b'{"id":"y"}'
    scala = SimpleNamespace(mkString=lambda between: between.join(["a -> 1", "b -> x -> y", "c -> "]))
    assert separated(scala) == {"a": "1", "b": "x -> y", "c": ""}
    assert separated(SimpleNamespace(mkString=lambda between: "")) == {}
    ids = {"id": Java(toString=QUERY), "runId": Java(toString=RUN)}
    assert listened.started_of(Java(**ids, name=None, timestamp="T")) == (QUERY, RUN, None, "T")
    assert listened.progress_of(Java(progress=Java(json="{}"))) == b"{}"
    assert listened.idle_of(Java(**ids, timestamp="T")) == (QUERY, RUN, "T")
    assert listened.ended_of(Java(**ids, exception=Java(isDefined=False))) == (QUERY, RUN, None)
    assert listened.ended_of(Java(**ids, exception=Java(isDefined=True, get="boom"))) == (QUERY, RUN, "boom")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ProcessingTimeTrigger(700)", {"trigger": "processing_time", "trigger_interval_ms": 700}),
        ("ProcessingTimeTrigger(0)", {"trigger": "unspecified"}), ("OneTimeTrigger", {"trigger": "once"}),
        ("AvailableNowTrigger", {"trigger": "available_now"}), ("ContinuousTrigger(1000)", {"trigger": "continuous"}),
        ("RealTimeTrigger(5000)", {"trigger": "real_time"}), ("SomethingElse", {}),
    ],
)  # fmt: skip
def test_triggers_as_spark_prints_them(text: str, told: dict[str, Any]) -> None:
    assert dict(trigger(text)) == told


def execution(plan: str) -> Any:
    """An execution that knows its plan and nothing else."""
    return SimpleNamespace(analyzedPlan=lambda: SimpleNamespace(treeString=lambda: plan))


KAFKA = "kafka, org.example.Table@2, [kafka.ssl.key.password=hunter2, subscribe=t"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (f"{KAFKA}, maxOffsetsPerTrigger=500]", [500]), (f"{KAFKA}]", [None]),
        # of another source, of options that are not whole, and of one that is no number nothing is told
        ("rate-micro-batch, org.example.Table@2, [subscribe=t, maxOffsetsPerTrigger=500]", []),
        (f"{KAFKA}, minPartitions=4, ... 3 more fields]", []), (f"{KAFKA}, MaxOffsetsPerTrigger=five]", []),
    ],
)  # fmt: skip
def test_the_limit_of_kafkas_source_is_read_from_the_plan_and_nothing_else_of_its_options(
    source: str, told: list[Any]
) -> None:
    limits = [("max_offsets_per_trigger", value, "session") for value in told]
    found = of_start(execution(f"~StreamingRelationV2 org.example.Provider@1, {source}"))
    assert found == [("stateful", False, "session"), ("watermarked", False, "session"), *limits]


def test_a_connect_server_that_does_not_answer_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(session_module, "ADD_SECONDS", 0.01)
    comes, lock, asked = threading.Event(), threading.Lock(), []

    class Streams:
        _sqlb = SimpleNamespace(_lock=lock, _listener_bus=[], _execution_thread=None)

        @property
        def active(self) -> list[Any]:
            asked.append(threading.current_thread())
            assert comes.wait(SECONDS)
            return []

    session = _Connect(SimpleNamespace(session_id="made", streams=Streams()))
    questions: tuple[Callable[[], Any], ...] = (
        session.active, lambda: session.remove(object()), lambda: session.recent(RUN),
        lambda: session.facts_at_start(RUN), lambda: session.doing(RUN), lambda: session.add(object()),
    )  # fmt: skip
    for ask in questions:
        with pytest.raises(TimeoutError, match="does not answer"):
            ask()
    comes.set()
    asked[0].join(SECONDS)
    assert len(asked) == 1
    monkeypatch.setattr(session_module, "ANSWER_SECONDS", SECONDS)
    assert session.active() == []


def test_a_connect_server_that_is_gone_is_waited_for_a_moment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "ANSWER_SECONDS", 0.01)
    monkeypatch.setattr(session_module, "AGAIN_SECONDS", 0.01)
    ends: list[threading.Event] = []
    asked: list[threading.Thread] = []

    class Streams:
        @property
        def active(self) -> list[Any]:
            asked.append(threading.current_thread())
            assert len(ends) > 2 or ends[-1].wait(SECONDS)
            if len(ends) < 3:
                raise ConnectionError
            return []

    session = _Connect(SimpleNamespace(session_id="made", streams=Streams()))
    for _ in range(2):
        ends.append(threading.Event())
        with pytest.raises(TimeoutError, match="does not answer"):
            session.active()
        monkeypatch.setattr(session_module, "ANSWER_SECONDS", 1e6)
        ends[-1].set()
        asked[-1].join(SECONDS)
    monkeypatch.setattr(session_module, "AGAIN_SECONDS", SECONDS)
    ends.append(threading.Event())
    assert session.active() == []
    assert not session._silent
    broken = _Connect(SimpleNamespace(session_id="made", streams=None))
    for _ in range(2):  # what goes wrong while it is asked reaches who asks
        with pytest.raises(AttributeError):
            broken.active()


def test_a_damaged_id_of_a_run_is_no_run_that_goes_on() -> None:
    listening = recorder(Made(running={RUN: []}))
    other = "33333333-2222-2222-2222-222222222222"
    tell(listening, ("started", started()), ("progress", batch(0)), ("progress", batch(1, other)))
    assert len(listening.reading().batches) == 2
    assert set(listening.store.live()) == {RUN}
    tell(listening, ("progress", batch(2, other)))
    listening.reading()
    assert set(listening.store.live()) == {RUN, other}, "a run of another session, whose start was not heard"
    for run_id in (RUN, other):
        tell(listening, ("ended", ended(run_id=run_id)))
    listening.stop(SECONDS)
    assert not listening.store.live()
