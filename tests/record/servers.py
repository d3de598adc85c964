"""What a case may need beside its query: a Kafka broker, an S3 server, both on the loopback; another application."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

BROKER = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller}
advertised.listeners=PLAINTEXT://localhost:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""


@contextlib.contextmanager
def kafka(class_path: str, work: Path) -> Iterator[str]:
    """A broker of one node; yields its bootstrap address."""
    work.mkdir(parents=True)
    port, settings = free_port(), work / "server.properties"
    settings.write_text(BROKER.format(port=port, controller=free_port(), data=work / "data"))
    java = ["java", "-Xmx512m", "-cp", class_path]
    log = (work / "broker.log").open("w")
    made = subprocess.run([*java, "kafka.tools.StorageTool", "random-uuid"], check=True, capture_output=True, text=True)
    identity = made.stdout.split()[-1]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", identity, "-c", str(settings)],
        check=True,
        stdout=log,
        stderr=log,
    )
    with running([*java, "kafka.Kafka", str(settings)], port, log):
        yield f"localhost:{port}"


@contextlib.contextmanager
def s3(python: Path, work: Path) -> Iterator[str]:
    """moto's S3 server with the bucket `bucket`; yields its address."""
    work.mkdir(parents=True)
    port = free_port()
    log = (work / "s3.log").open("w")
    with running([str(python), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port, log):
        address = f"http://127.0.0.1:{port}"
        urllib.request.urlopen(urllib.request.Request(f"{address}/bucket", method="PUT")).close()
        yield address


@contextlib.contextmanager
def application(python: Path, script: Path, work: Path) -> Iterator[None]:
    """Run a script on the case in `work` until the block ends."""
    with (work / f"{script.stem}.txt").open("w") as log:
        command = [str(python), str(script), str(work)]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=work, start_new_session=True)
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


@contextlib.contextmanager
def running(command: list[str], port: int, log) -> Iterator[None]:
    """Run `command` until the block ends; the block starts when `port` answers."""
    process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(port, process)
        yield
    finally:
        process.terminate()
        process.wait(30)


def wait_for(port: int, process: subprocess.Popen) -> None:
    """Return when the port accepts connections; TimeoutError after a minute."""
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        time.sleep(0.2)
    raise TimeoutError(f"nothing listens on port {port}")


def free_port() -> int:
    """A port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
