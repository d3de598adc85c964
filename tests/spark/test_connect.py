"""Attached to queries of a real Spark Connect server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.session import attach
from tests.spark.queries import SECONDS, Heard, entry, known, rows, writer

pytestmark = [
    pytest.mark.connect,
    # gRPC's and Spark's own generated modules and channels.
    pytest.mark.filterwarnings("ignore::DeprecationWarning:google"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a Spark Connect server of its own process listens."""
    pytest.importorskip("grpc")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.spark.connect_server", str(port), str(tmp_path_factory.mktemp("server"))]
    environment = {key: value for key, value in os.environ.items() if key != "SPARK_HOME"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        assert any(line.strip() == "ready" for line in server.stdout), "the server did not start"
        yield f"sc://127.0.0.1:{port}"
        server.communicate()


@pytest.fixture(scope="module")
def remote(url: str) -> Iterator[Any]:
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.builder.remote(url).create()
    yield session
    session.stop()


def test_the_same_report_from_a_client(remote: Any, tmp_path: Path) -> None:
    with attach(remote) as advisor:
        assert attach(remote) is advisor
        heard = Heard(advisor)
        query = writer(rows(remote), "remote", tmp_path).start()
        heard.batches(query, 5)
        found, told = entry(advisor, query), advisor.overhead()
        query.stop()
        heard.end(query)
        assert entry(advisor, query)["state"] == "stopped"
    assert advisor.recorder.worker.thread is None
    assert (found["name"], found["state"]) == ("remote", "running")
    assert found["facts"]["spark_version"] == {"value": remote.version, "from": "session"}
    assert known(found, "sink", "source", "stateful") == {
        "sink": "noop", "source": "rate_micro_batch", "stateful": False,
    }  # fmt: skip
    assert found["facts"]["async_progress"]["value"] is None, "a client cannot know the writer's options"
    assert advisor.progress()["trigger_execution_ms"].gt(0).all()
    assert (told["way"], told["dropped"], told["problems"]) == ("connect", 0, [])


def test_attached_late(remote: Any, tmp_path: Path) -> None:
    query = writer(rows(remote), "late", tmp_path).start()
    with attach(remote) as first:
        Heard(first).batches(query, 5)
    with attach(remote) as advisor:
        Heard(advisor).batches(query, 1)
        assert entry(advisor, query)["batches"] >= 6
        query.stop()


def test_a_listener_that_a_broken_stream_of_events_lost_comes_back(remote: Any, tmp_path: Path) -> None:
    with attach(remote) as advisor:
        heard = Heard(advisor)
        query = writer(rows(remote), "broken", tmp_path).start()
        heard.batches(query, 2)
        back = threading.Event()
        look_after = advisor.recorder.tick

        def tick() -> None:
            look_after()
            if advisor.recorder.problems:
                back.set()

        advisor.recorder.tick = tick
        advisor._session.remove(advisor)  # the advisor itself does not know
        assert back.wait(SECONDS)
        problems = advisor.overhead()["problems"]
        query.stop()
    assert [each["problem"] for each in problems] == ["the stream of events broke, the listener was added again"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_another_listener_that_exits_costs_this_one_no_events(remote: Any, tmp_path: Path) -> None:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Exits(StreamingQueryListener):
        def __init__(self) -> None:
            self.heard = threading.Event()
            self.tired = True

        def onQueryProgress(self, event: Any) -> None:  # noqa: N802
            if self.tired:
                self.tired = False
                raise SystemExit(2)
            self.heard.set()

        def onQueryStarted(self, event: Any) -> None: ...  # noqa: N802
        def onQueryIdle(self, event: Any) -> None: ...  # noqa: N802
        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802

    exits = Exits()
    with attach(remote) as advisor:
        query = writer(rows(remote), "exits", tmp_path).start()
        heard = Heard(advisor)
        heard.batches(query, 1)
        remote.streams.addListener(exits)
        assert exits.heard.wait(SECONDS), "the other one, too, is there again"
        heard.batches(query, len(advisor.progress()) + 1)
        problems = [each["problem"] for each in advisor.overhead()["problems"]]
        query.stop()
        remote.streams.removeListener(exits)
    assert problems == ["the stream of events broke, the listener was added again"]
