"""Logs in a bucket, read through pyarrow from a real S3 API on the loopback: no Spark."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from pyarrow import fs

from advisor.api import read_checkpoint
from advisor.sources import files
from lab.bucket import SERVER
from lab.processes import running
from tests.sources.variants import event_log, log

pytest.importorskip("moto")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What follows `?` in the address of a bucket `logs`."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "lab")
    command = [sys.executable, str(SERVER), "0"]
    with running(command, tmp_path / "server.log") as server:
        assert server.stdout
        where = f"endpoint_override=127.0.0.1:{int(server.stdout.readline())}&scheme=http&region=us-east-1"
        system, _ = fs.FileSystem.from_uri(f"s3://logs?{where}&allow_bucket_creation=true")
        system.create_dir("logs")
        written = {"day/driver.log": log(), "day/app 1.gz": gzip.compress(event_log()), "day/.hidden": log()}
        for name, raw in written.items():
            with system.open_output_stream(f"logs/{name}", compression=None) as stream:
                stream.write(raw)
        yield where


def test_a_bucket_is_read_like_a_directory(place: str) -> None:
    found = files.read([f"s3a://logs/day?{place}"])
    assert (found.events, found.duplicates, found.files, found.broken) == (3, 3, 2, ())
    assert set(found.batches["log"].to_pylist()) <= {"s3a://logs/day/driver.log", "s3a://logs/day/app%201"}


def test_an_object_is_read_like_a_file(place: str) -> None:
    assert files.read([f"s3://logs/day/driver.log?{place}"]).events == 3


def test_a_checkpoint_in_a_bucket_is_read_like_a_folder(place: str, tmp_path: Path) -> None:
    with ZipFile(Path(__file__).parents[1] / "checkpoint/samples/4.3-ids.zip") as archive:
        archive.extractall(tmp_path / "orders")
    system, _ = fs.FileSystem.from_uri(f"s3://logs?{place}")
    fs.copy_files(str(tmp_path / "orders"), "logs/orders", destination_filesystem=system)
    here, there = read_checkpoint(tmp_path / "orders"), read_checkpoint(f"s3a://logs/orders?{place}")
    assert (there.start, there.again, there.stores) == (here.start, here.again, here.stores)
    assert (there.files, there.bytes, there.query_id) == (here.files, here.bytes, here.query_id)
