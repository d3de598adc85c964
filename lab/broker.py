"""A Kafka broker of one node, in KRaft mode, on free ports of the loopback."""

from __future__ import annotations

import base64
import contextlib
import subprocess
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from advisor.cluster.session import java
from advisor.errors import UsageError
from lab import jars, require
from lab.processes import READY_SECONDS, free_port, last_words, running, scratch

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

PARTITIONS: Final = 2
_ASK_SECONDS: Final = 1.0
_SETTINGS: Final = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
auto.create.topics.enable=false
"""


@contextlib.contextmanager
def broker(spark: Any) -> Iterator[str]:
    """A broker that answers; its bootstrap address. Process and data are gone afterwards.

    `spark`: a session whose Ivy fetches the broker's jars, the first time from the network. Raises UsageError where
    Java, a package or the network is missing.
    """
    with broker_of([*jars.fetched(spark, jars.BROKER), jars.scala_library(spark)]) as address:
        yield address


@contextlib.contextmanager
def broker_of(class_path: Sequence[Path]) -> Iterator[str]:
    """The same from jars that are there already."""
    with scratch() as place, _started(class_path, place) as address:
        yield address


@contextlib.contextmanager
def _started(class_path: Sequence[Path], place: Path) -> Iterator[str]:
    port, settings, log = free_port(), place / "server.properties", place / "broker.log"
    settings.write_text(_SETTINGS.format(port=port, controller=free_port(), data=place / "data"))
    run = [java(), "-Xms256m", "-Xmx512m", "-cp", ":".join(str(jar) for jar in class_path)]
    _format(run, settings)
    with running([*run, "kafka.Kafka", str(settings)], log) as process:
        _await(f"127.0.0.1:{port}", process, log)
        yield f"127.0.0.1:{port}"


def _format(run: Sequence[str], settings: Path) -> None:
    identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    if identity.startswith("-"):  # the tool would take it for an option
        identity = "A" + identity[1:]
    command = [*run, "kafka.tools.StorageTool", "format", "-t", identity, "-c", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise UsageError(
            "Kafka broker",
            said[-1] if said else "its storage directory could not be created",
            "check that Java 17 or newer is installed",
        )


def _await(address: str, process: subprocess.Popen[str], log: Path) -> None:
    """Return when the broker answers an admin call."""
    from confluent_kafka import KafkaException  # noqa: PLC0415 - of the group lab

    client, until = admin(address), time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise UsageError("Kafka broker", last_words(log), "check that Java 17 or newer is installed")
        with contextlib.suppress(KafkaException):
            client.list_topics(timeout=_ASK_SECONDS)
            return
    raise UsageError("Kafka broker", f"it did not answer within {READY_SECONDS:.0f} s", "is the machine too busy?")


def admin(address: str) -> AdminClient:
    """A client for topics; says nothing by itself."""
    require("confluent_kafka")
    from confluent_kafka.admin import AdminClient  # noqa: PLC0415 - of the group lab

    return AdminClient({"bootstrap.servers": address, "log_level": 0, "error_cb": lambda _: None})


@contextlib.contextmanager
def topics(address: str, *names: str, partitions: int = PARTITIONS) -> Iterator[None]:
    """New topics whose records bear the time of their arrival; they are gone afterwards."""
    from confluent_kafka.admin import NewTopic  # noqa: PLC0415

    client, config = admin(address), {"message.timestamp.type": "LogAppendTime"}
    wanted = [NewTopic(name, partitions, 1, config=config) for name in names]
    for made in client.create_topics(wanted).values():
        made.result(READY_SECONDS)
    try:
        yield
    finally:
        for gone in client.delete_topics(list(names)).values():
            gone.result(READY_SECONDS)
