"""A bucket of a real S3 API on the loopback, with a stated delay per request, that Spark reaches through S3A."""

from __future__ import annotations

import contextlib
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from advisor.errors import UsageError
from lab import require
from lab.processes import last_words, running, scratch

SERVER: Final = Path(__file__).with_name("bucket_server.py")


@contextlib.contextmanager
def bucket(spark: Any, delay_ms: float = 0.0) -> Iterator[str]:
    """The URI of an empty bucket whose server answers each request so much later; gone afterwards.

    The session needs the jars of `jars.s3a`. Raises UsageError where moto is missing.
    """
    require("moto", "flask", "flask_cors")
    command = [sys.executable, str(SERVER), str(delay_ms)]
    with scratch() as place, running(command, log := place / "server.log") as server:
        port = server.stdout.readline().strip() if server.stdout else ""
        if not port:
            raise UsageError("S3 server", last_words(log), "check that the moto server starts on its own")
        name = f"lab-{uuid.uuid4().hex[:12]}"
        _make(f"http://127.0.0.1:{port}/{name}")
        _tell(spark, name, f"http://127.0.0.1:{port}")
        yield f"s3a://{name}"


def _make(url: str) -> None:
    with urllib.request.urlopen(
        urllib.request.Request(url, method="PUT")
    ):  # the server of this process, on the loopback
        return


def _tell(spark: Any, name: str, endpoint: str) -> None:
    """Settings of this bucket alone: what else the session has in S3 stays as it is."""
    conf = spark._jsc.hadoopConfiguration()
    settings = {
        "endpoint": endpoint,
        "endpoint.region": "us-east-1",
        "access.key": "lab",
        "secret.key": "lab",
        "path.style.access": "true",
        "connection.ssl.enabled": "false",
        "aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    }
    for key, value in settings.items():
        conf.set(f"fs.s3a.bucket.{name}.{key}", value)
