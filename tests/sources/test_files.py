from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import advisor
from advisor import api
from advisor.batches import SCHEMA, SIGHTINGS, Reading, rows
from advisor.errors import InputError
from advisor.sources import codecs, files, harvest, opening, paths, random_access
from advisor.sources.codecs import Source, Torn, blocks
from advisor.sources.following import Following
from advisor.sources.formats import driverlog
from advisor.sources.harvest import Harvest, Stretch
from advisor.sources.paths import log_of
from advisor.views.terminal import report_as_text
from tests.sources import variants
from tests.sources.reading import unprivileged
from tests.sources.variants import VARIANTS, compact, event_log, glued, log, made, pretty, zipped

SAMPLES = Path(__file__).resolve().parents[2] / "sample_progress"

LOGGER = "26/03/01 02:00:00 INFO MicroBatchExecution: "
QUERY, RUN = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"


START = f"{LOGGER}Starting made [id = {QUERY}, runId = {RUN}]. Use file:/data/c to store the query checkpoint.\n"


def written(folder: Path, raw: bytes, name: str = "driver.log") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def reading(folder: Path, raw: bytes, name: str = "driver.log", *, sightings: bool = True) -> Reading:
    return files.read([written(folder, raw, name)], sightings=sightings)


# Every form.


@pytest.mark.parametrize("name", VARIANTS)
def test_every_form_is_read(tmp_path: Path, name: str) -> None:
    found = reading(tmp_path, VARIANTS[name])
    assert (found.events, found.broken, found.idle) == (3, (), 0)
    assert found.batches["trigger_execution_ms"].to_pylist() == [300] * 3
    assert found.batches["wal_commit_ms"].to_pylist() == [30] * 3
    assert found.batches["input_rows"].to_pylist() == [10] * 3
    offsets = found.batches["offset"].to_pylist()
    assert offsets == sorted(offsets) and max(offsets) < len(VARIANTS[name])
    assert set(found.batches["file"].to_pylist()) == {str(tmp_path / "driver.log")}
    assert found.duplicates == (3 if "both loggers" in name else 0)
    if not name.startswith("14"):
        assert found.batches["batch_id"].to_pylist() == [10, 11, 12]
        assert found.batches["add_batch_ms"].to_pylist() == [220] * 3
        assert set(found.batches["run_id"].to_pylist()) == {RUN}
        (source,) = found.batches["sources"][0].as_py()
        assert (source["offset_rows"], source["backlog_rows"]) == (10, 1)
        (operator,) = found.batches["operators"][0].as_py()
        assert dict(operator["custom"]) == {"loadedMapCacheHitCount": 5, "rocksdbCommitFlushLatency": 12}


def test_the_order_in_the_file_does_not_matter(tmp_path: Path) -> None:
    turned = glued(f"INFO Streaming query made progress: {pretty(event)}" for event in reversed(made()))
    assert reading(tmp_path, turned).batches["batch_id"].to_pylist() == [10, 11, 12]


def test_lines_of_progress_with_an_event_of_their_end_are_no_event_log(tmp_path: Path) -> None:
    end = compact({"Event": "org.apache.spark.sql.streaming.StreamingQueryListener$QueryTerminatedEvent", "id": QUERY})
    found = reading(tmp_path, glued([*map(compact, made()), end]))
    assert (found.events, found.broken) == (3, ())


@pytest.mark.parametrize("lines", [b"\n" * 9, b" \n\t\n", b"\r\n" * 9, b"a line\n" + b"\n" * 20_000 + b"  "])
def test_blank_lines_before_an_event_log_hide_none_of_it(tmp_path: Path, lines: bytes) -> None:
    """Of tens of thousands each was the beginning of another search: four seconds of a processor."""
    found = reading(tmp_path, lines + event_log())
    assert (found.events, found.broken) == (3, ())


# Compression.


def checked(raw: bytes) -> bytes:
    """As Java's LZ4BlockOutputStream sums it up; nothing without the extra, with which nobody looks."""
    summed = codecs._XXHASH.xxh32_intdigest(raw, 0x9747B28C) if codecs._XXHASH else 0
    return int(summed & 0xFFFFFFF).to_bytes(4, "little")


def lz4_blocks(raw: bytes, size: int = 500) -> bytes:
    """As Java's LZ4BlockOutputStream writes it."""
    parts = []
    codec = pa.Codec("lz4_raw")
    for at in range(0, len(raw), size):
        plain = raw[at : at + size]
        packed = codec.compress(plain, asbytes=True)
        header = len(packed).to_bytes(4, "little") + len(plain).to_bytes(4, "little") + checked(plain)
        parts.append(b"LZ4Block\x26" + header + packed)
    return b"".join(parts) + b"LZ4Block\x16" + bytes(12)


def frames(raw: bytes, codec: str) -> bytes:
    """Several frames one after another, as Spark flushes its event logs."""
    parts = [raw[at : at + 700] for at in range(0, len(raw), 700)]
    return b"".join(pa.compress(part, codec=codec, asbytes=True) for part in parts)


PACKED = {
    "gz": gzip.compress,
    "gz in members": lambda raw: b"".join(gzip.compress(raw[at : at + 900]) for at in range(0, len(raw), 900)),
    "gz, padded": lambda raw: gzip.compress(raw) + bytes(100),
    "zstd": lambda raw: pa.compress(raw, codec="zstd", asbytes=True),
    "zstd in frames": lambda raw: frames(raw, "zstd"),
    "lz4 frame": lambda raw: pa.compress(raw, codec="lz4", asbytes=True),
    "lz4 of Spark": lz4_blocks,
    "lz4 of Spark, stored": lambda raw: b"LZ4Block\x16" + len(raw).to_bytes(4, "little") * 2 + checked(raw) + raw,
    "UTF-16, as PowerShell redirects": lambda raw: raw.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda raw: raw.decode().encode("utf-16-le"),
    "UTF-16 without a mark, big-endian": lambda raw: raw.decode().encode("utf-16-be"),
    "UTF-16, big-endian": lambda raw: b"\xfe\xff" + raw.decode().encode("utf-16-be"),
    "gz of UTF-16": lambda raw: gzip.compress(raw.decode().encode("utf-16")),
    "zstd of UTF-16 in frames": lambda raw: frames(raw.decode().encode("utf-16-be"), "zstd"),
    "lz4 of UTF-16": lambda raw: pa.compress(raw.decode().encode("utf-16"), codec="lz4", asbytes=True),
}


@pytest.mark.parametrize("pack", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("raw", [log(), event_log()], ids=["driver log", "event log"])
def test_compressed_files(tmp_path: Path, pack: object, raw: bytes) -> None:
    plain = reading(tmp_path, raw, "driver.log")
    found = reading(tmp_path, pack(raw), "driver.log.packed")  # type: ignore[operator]
    assert found.batches.drop_columns(["file", "log"]).equals(plain.batches.drop_columns(["file", "log"]))
    assert found.bytes == len(raw)
    assert not found.broken


@pytest.mark.parametrize("pack", ["gz", "zstd", "lz4 frame", "lz4 of Spark", "zip"])
def test_a_damaged_compressed_file_gives_what_stands_before(tmp_path: Path, pack: str) -> None:
    chance = random.Random(7)
    raw = b"".join(log() + chance.randbytes(3000).hex().encode() + b"\n" for _ in range(250))
    packed = zipped({"driver.log": raw}) if pack == "zip" else PACKED[pack](raw)
    at = len(packed) * 3 // 4
    behind = b"\xff" * 500 + packed[at + 500 :] if pack == "zip" else b""  # the list of its files
    found = reading(tmp_path, packed[:at] + behind, f"driver.log.{pack}")
    assert any("cut off" in broken.reason or "damaged" in broken.reason for broken in found.broken)
    assert 0.55 * 750 < found.events + found.duplicates < 750


def test_a_changed_byte_in_a_block_of_lz4_is_told(tmp_path: Path) -> None:
    pytest.importorskip("xxhash")
    packed = PACKED["lz4 of Spark, stored"](log())
    found = reading(tmp_path, packed.replace(b"numInputRows", b"numInputRaws"), "events.lz4")
    assert [one.reason for one in found.broken] == ["damaged: the check sum of an LZ4 block is another one"]


OTHER_ENDS = {
    "text behind gzip": (gzip.compress(log()) + VARIANTS["17 Python print"], "damaged or cut off: Not a gzipped file"),
    "UTF-16 behind UTF-8": (log() + log().decode().encode("utf-16-le"), "UTF-16 among UTF-8: not read"),
    "UTF-8 behind UTF-16": (log().decode().encode("utf-16") + log(), "UTF-8 behind UTF-16: not read"),
}


@pytest.mark.parametrize(("raw", "why"), OTHER_ENDS.values(), ids=OTHER_ENDS)
def test_what_stands_behind_in_another_form_is_told(tmp_path: Path, raw: bytes, why: str) -> None:
    found = reading(tmp_path, raw, "driver.log.packed")
    assert found.events == 3 and {one.reason[: len(why)] for one in found.broken} == {why}


def test_a_member_of_gzip_may_begin_at_the_last_byte_of_a_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = [gzip.compress(part) for part in (log()[:900], log()[900:])]
    for more in (0, 1, 2):
        monkeypatch.setattr(codecs, "BLOCK", len(halves[0]) + more)
        found = reading(tmp_path, b"".join(halves), "driver.log.gz")
        assert (found.events, found.broken) == (3, ())


@pytest.mark.parametrize("flip", [30, 200, 400])
def test_a_damaged_gzip_is_a_broken_entry(tmp_path: Path, flip: int) -> None:
    packed = bytearray(gzip.compress(log()))
    packed[flip] ^= 0xFF
    assert reading(tmp_path, bytes(packed), "driver.log.gz").broken


def test_a_bomb_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codecs, "_GENEROUS", 20 << 20)
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(100)) + packer.flush()
    given = 0
    with pytest.raises(Torn, match="times its size"):
        for block in blocks(Source(io.BytesIO(bomb))):
            given += len(block)
            assert len(block) <= 4 << 20
    assert given < 60 << 20
    written(tmp_path, bomb, "bomb.gz")
    written(tmp_path, log())
    found = files.read([tmp_path])  # beside a log it costs only itself
    assert found.events == 3 and "times its size" in found.broken[0].reason


@pytest.mark.parametrize("sightings", [True, False])
def test_broken_records_of_a_compressed_event_log_tell_their_lines(tmp_path: Path, sightings: bool) -> None:
    other = json.dumps({"Event": "SparkListenerTaskEnd", "Task Info": "x" * 1000}).encode() + b"\n"
    events = event_log().splitlines(keepends=True)
    whole = [line for line in events if b"QueryProgress" in line]
    torn = whole[0][:-200] + b"\n"
    lines = [*events, *[other] * 6000, torn, *whole, *[other] * 7000, torn, *[other] * 20]
    found = reading(tmp_path, gzip.compress(b"".join(lines), 1), "app.gz", sightings=sightings)
    assert sum(map(len, lines)) > 3 * codecs.BLOCK
    assert [broken.line for broken in found.broken] == [at for at, line in enumerate(lines, 1) if line is torn]
    assert found.events == 3 and found.duplicates == 5  # what is torn is read as far as it goes


# Paths.


def test_directories_patterns_and_names(tmp_path: Path) -> None:
    first, second, third = made()
    for name, event in (("a/driver.log", first), ("a/b/more.json", second), ("c.txt", third)):
        written(tmp_path, glued([compact(event)]), name)
    written(tmp_path, b"\x00\x01binary", "a/picture.png")
    written(tmp_path, b"crc", "a/.driver.log.crc")
    written(tmp_path, b"", "a/appstatus_app-1")
    assert files.read([tmp_path]).events == 3
    assert files.read([str(tmp_path / "a" / "*.log"), str(tmp_path / "*.txt")]).events == 2
    assert files.read([str(tmp_path / "**" / "*.json")]).events == 1
    assert files.read([tmp_path / "c.txt", str(tmp_path / "c.txt")]).events == 1


@pytest.mark.parametrize(
    "ordered",
    [["a2.log", f"a{'1' * 5000}.log", f"a{'2' * 5000}.log", "b1.log"], ["log1²", "log2", "log٣", "log10"]],
    ids=["thousands of digits", "odd digits"],
)
def test_files_are_in_the_order_of_their_numbers(ordered: list[str]) -> None:
    assert paths.in_order(ordered[::-1]) == ordered


def test_a_rolling_event_log_is_one_log_in_order(tmp_path: Path) -> None:
    lines = event_log().splitlines(keepends=True)
    for number in range(len(lines)):
        packed = pa.compress(lines[number], codec="zstd", asbytes=True)
        written(tmp_path, packed, f"eventlog_v2_app-1/events_{number + 1}_app-1.zstd")
    written(tmp_path, b"", "eventlog_v2_app-1/appstatus_app-1")
    inputs = files.expand([tmp_path])
    assert [int(one.path.split("events_")[1].split("_")[0]) for one in inputs] == list(range(1, len(lines) + 1))
    found = files.read([tmp_path])
    assert found.events == 3
    assert set(found.batches["log"].to_pylist()) == {str(tmp_path / "eventlog_v2_app-1")}
    assert not found.broken
    (tmp_path / "eventlog_v2_app-1/events_1_app-1.zstd").unlink()
    assert [one.reason[:30] for one in files.read([tmp_path]).broken] == ["its file events_1 is missing, "]
    written(tmp_path, b"", "eventlog_v2_app-1/events_1_app-1.zstd.compact")
    assert not files.read([tmp_path]).broken


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/logs/driver.log", "/logs/driver.log"), ("/logs/driver.log.3", "/logs/driver.log"),
        ("/logs/driver.log.12.gz", "/logs/driver.log"), ("/logs/log4j-2026-11-21-08.log.gz", "/logs/log4j.log"),
        ("/logs/log4j-active.log", "/logs/log4j.log"),
        ("/logs/app-20261121080000-0001.zstd", "/logs/app-20261121080000-0001"),
        ("/logs/app-20261121080000-0002.inprogress", "/logs/app-20261121080000-0002"),
        ("/e/eventlog_v2_app-1/events_12_app-1.zstd", "/e/eventlog_v2_app-1"), ("-", "-"),
    ],
)  # fmt: skip
def test_the_log_that_a_file_belongs_to(path: str, name: str) -> None:
    assert log_of(path) == name


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for raw in (log(), gzip.compress(log()), VARIANTS["17 Python print"]):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
        found = files.read(["-"])
        assert found.events == 3
        assert set(found.batches["file"].to_pylist()) == {"-"}


def test_a_pipe(tmp_path: Path) -> None:
    path = written(tmp_path, log())
    program = "from advisor.sources import files; print(files.read(['-']).events)"
    with path.open("rb") as stdin:
        done = subprocess.run([sys.executable, "-c", program], stdin=stdin, capture_output=True, check=True, text=True)
    assert done.stdout == "3\n"


@pytest.mark.parametrize(
    "url",
    [
        "s3://AKIAIOSFODNN7EXAMPLE:s3cr3t-k3y@bucket/logs",
        "hdfs://me:s3cr3t-k3y@host/a",
        "abfss://c@a.x/logs?sig=s3cr3t-k3y",
    ],
)
def test_an_address_with_a_credential_is_refused_without_printing_it(url: str) -> None:
    with pytest.raises(InputError, match="credential") as error:
        files.read([url])
    assert "k3y" not in str(error.value)
    assert "AKIA" not in str(error.value)


def test_which_credentials_azure_takes_is_no_credential() -> None:
    address = "abfs://box@account.dfs.core.windows.net/logs?credential_kind=managed_identity"
    assert not paths.holds_credential(address)
    with pytest.raises(InputError, match="contains a credential"):
        paths.expand([f"{address}&account_key=c2VjcmV0"])


def test_urls(tmp_path: Path) -> None:
    path = written(tmp_path, log())
    written(tmp_path, gzip.compress(event_log()), "more/app-1.gz")
    assert files.read([f"file://{path}"]).events == len(api.read_progress(f"file:{path}")) == 3
    paths.refuse_missing([f"file:{path}"])
    found = files.read([f"file://{tmp_path}"])
    assert (found.events, found.duplicates, found.files) == (3, 3, 2)
    assert all(name.startswith("file://") for name in found.batches["file"].to_pylist())


@pytest.mark.parametrize(
    ("url", "path", "file", "address"),
    [
        ("s3://logs", "logs", "logs/day/a.log.gz", "s3://logs/day/a.log.gz"),
        ("s3a://logs/day/?region=eu-west-1", "logs/day", "logs/day/a.log", "s3a://logs/day/a.log?region=eu-west-1"),
        ("hdfs://node:8020/logs", "/logs", "/logs/a b.log", "hdfs://node:8020/logs/a%20b.log"),
        ("hdfs://node:8020/", "/", "/logs/a.log", "hdfs://node:8020/logs/a.log"),
        ("abfs://box@account.dfs.core.windows.net/l", "box/l", "box/l/a.log",
         "abfs://box@account.dfs.core.windows.net/l/a.log"),
    ],
)  # fmt: skip
def test_a_file_below_an_address_keeps_the_whole_address(url: str, path: str, file: str, address: str) -> None:
    found = paths._below(url, path, file)
    assert found.path == address
    assert found.log == paths.log_of(address.partition("?")[0])


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    told: list[int] = []
    first, second = written(tmp_path, log(), "a.log"), written(tmp_path, gzip.compress(log()), "b.log.gz")
    files.read([first, second], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 2 * len(log())


# Bad input.


@pytest.mark.parametrize("path", ["missing.log", "no*such", "nosuch://bucket/logs", "file:///no/such/file"])
def test_where_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        files.read([path])
    assert caught.value.place == path
    assert caught.value.would_do
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"\n\n", b"just text\n" * 1000, random.Random(7).randbytes(100_000), bytes(100_000), b"{}", b"[]",
        b'{"Event":"SparkListenerLogStart"}',
    ],
    ids=["newlines", "text", "random", "zeros", "object", "array", "event log"],
)  # fmt: skip
def test_files_without_progress(tmp_path: Path, raw: bytes) -> None:
    for sightings in (True, False):
        with pytest.raises(InputError, match="no streaming progress in 1 file"):
            reading(tmp_path, raw, sightings=sightings)


def test_a_directory_without_progress(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no log; give a log with progress"):
        files.read([tmp_path])
    (tmp_path / "empty.log").touch()
    with pytest.raises(InputError, match="is empty; give a log with progress"):
        files.read([tmp_path])


def test_what_this_user_may_not_read_is_named_and_all_else_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there/another").symlink_to(tmp_path / "open")
    (tmp_path / "there/same").symlink_to(tmp_path / "there")
    for name in ("logs/a.log", "logs/shut.log", "logs/closed/a.log", "open/a.log", "there/a.log"):
        written(tmp_path, log(), name)
    refused = {
        "logs": ["logs/closed", "logs/shut.log"], "logs/shut.log": ["logs/shut.log"], "logs/closed": ["logs/closed"],
        "logs/closed/a.log": ["logs/closed/a.log"], "logs/closed/*.log": ["logs/closed"],
        "logs/*/a.log": ["logs/closed"], "**/shut.log": ["logs/closed", "logs/shut.log"],
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    for path, mode in ((tmp_path, 0o755), (Path("logs/shut.log"), 0), (Path("logs/closed"), 0)):
        path.chmod(mode)
    with unprivileged():
        for given, expected in refused.items():
            found = files.read([given, "open/a.log", "logs/a.log"])
            assert (found.events, sorted(one.file for one in found.broken)) == (3, expected)
            assert {one.reason for one in found.broken} == {"Permission denied: this user may not read it"}
        followed = Following(["logs"])
        assert followed.poll()
        followed.close()
        assert [one.file for one in followed.reading().broken] == ["logs/closed", "logs/shut.log"]
    Path("logs/closed").chmod(0o755)
    (link,) = files.read(["there"]).broken
    assert (link.file, link.reason[:45]) == ("there/another", "a link to another folder, which is not follow")
    for name, target in (("loop.log", "loop.log"), ("gone.log", "nowhere")):
        Path("open", name).symlink_to(target)
    found = files.read(["open"])
    said = {"open/loop.log": "Too many levels of symbolic links", "open/gone.log": "No such file or directory"}
    assert (found.events, {one.file: one.reason for one in found.broken}) == (3, said)
    with pytest.raises(InputError, match="the name is too long; give a log"):
        files.read(["x" * 300])


def test_a_run_that_died_before_any_batch_is_something(tmp_path: Path) -> None:
    end = f"{LOGGER}Query made [id = {QUERY}, runId = {RUN}] terminated with error\njava.lang.X: no\n"
    raw = START.encode() + end.encode()
    found = reading(tmp_path, raw)
    assert found.events == 0
    assert RUN in found.sightings["run_id"].to_pylist()
    with pytest.raises(InputError):
        reading(tmp_path, raw, sightings=False)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, pa.Codec("zstd").compress])
def test_packed_data_behind_text_is_told(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    found = reading(tmp_path, log() + b"\n" + bytes(pack(log())))
    assert found.events == 3
    assert "packed data behind text: not read; unpack it first" in [one.reason for one in found.broken]


# Sightings.


VERSION = b"26/03/01 02:00:00 INFO SparkContext: Running Spark version 4.0.0\n"


def with_start(raw: bytes) -> bytes:
    return VERSION + START.encode() + raw


def facts_of(found: Reading) -> dict[str, object]:
    rows = found.sightings.to_pylist()
    return {row["fact"]: json.loads(row["value"]) for row in rows}


def test_what_a_log_reveals_besides(tmp_path: Path) -> None:
    found = reading(tmp_path, with_start(log()))
    assert (found.files, found.bytes) == (1, len(with_start(log())))
    assert (found.batches.schema, found.sightings.schema) == (SCHEMA, SIGHTINGS)
    found.batches.validate(full=True)
    assert facts_of(found)["spark_version"] == "4.0.0"
    assert set(found.sightings["file"].to_pylist()) == {str(tmp_path / "driver.log")}
    assert not len(reading(tmp_path, with_start(log()), sightings=False).sightings)


@pytest.mark.parametrize("pack", [bytes, lambda raw: gzip.compress(raw, 1)], ids=["plain", "gz"])
def test_a_version_far_before_a_start_far_before_the_first_event(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    filler = b"26/03/01 02:00:00 INFO DAGScheduler: nothing of interest here\n" * (harvest.BEFORE_A_RUN // 50)
    found = reading(tmp_path, pack(VERSION + filler + START.encode() + filler + log()))
    assert RUN in found.sightings["run_id"].to_pylist()
    assert (facts_of(found)["async_progress"], facts_of(found)["spark_version"]) == (False, "4.0.0")


def test_a_whole_batch_is_looked_at(tmp_path: Path) -> None:
    """The stage that shows the task slots stands far before the batch's event, here behind the batch's other lines."""
    recorded = gzip.decompress((SAMPLES / "SK003" / "delta-sink-4.0.0" / "driver.log.gz").read_bytes())
    started = recorded[: recorded.rindex(b"made progress: ")]
    found = reading(tmp_path, started[: started.rindex(b"\n}\n") + 3])
    assert facts_of(found)["task_slots"] == 2


def test_what_a_log_of_containers_reveals(tmp_path: Path) -> None:
    lines = with_start(log()).decode().splitlines()
    docker = glued(json.dumps({"log": line + "\n", "stream": "stdout", "time": "t"}) for line in lines)
    plain, wrapped = reading(tmp_path, with_start(log())), reading(tmp_path, docker)
    assert facts_of(wrapped) == facts_of(plain)
    offsets = [row["offset"] for row in wrapped.sightings.to_pylist()]
    assert all(docker[offset : offset + 7] == b'{"log":' for offset in offsets if offset)


def test_a_second_file_of_a_log_repeats_nothing(tmp_path: Path) -> None:
    first, second = with_start(log()), log().replace(b'"batchId" : 1', b'"batchId" : 2')
    written(tmp_path, second, "driver.log")
    written(tmp_path, first, "driver.log.1")
    found = files.read([tmp_path])
    assert found.events == 6
    assert set(found.batches["log"].to_pylist()) == {str(tmp_path / "driver.log")}
    assert found.sightings["fact"].to_pylist().count("spark_version") == 1


# Odd files.


def test_a_log_that_is_cut_off_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As logrotate's copytruncate does; who reads a mapped file is ended by it."""
    monkeypatch.setattr(random_access, "STEP", 4_000)
    path = written(tmp_path, START.encode() + log() + b"INFO nothing\n" * 5_000)
    size, beside = path.stat().st_size, written(tmp_path, log(pretty), "other.log")

    def cut(_: int) -> None:
        if path.stat().st_size == size:
            os.truncate(path, 9_000)

    found = files.read([path, beside], progress=cut)
    assert found.events == 3
    assert len(found.broken) == 1, found.broken
    (broken,) = found.broken
    assert broken.reason == f"cut off while it was read: of {size:,} bytes 9,000 were there"
    assert broken.file == str(path)


@pytest.mark.parametrize("forms", [(compact, pretty, pretty), (compact, pretty, compact), (pretty, compact, pretty)])
def test_events_of_one_line_and_of_many_stand_in_one_file(
    tmp_path: Path, forms: tuple[Callable[[Any], str], ...]
) -> None:
    text = "\n".join(form(event) for form, event in zip(forms, made(), strict=True))
    found = files.read([written(tmp_path, text.encode())])
    assert (found.events, len(found.broken)) == (3, 0)


def test_a_torn_record_swallows_no_whole_one_without_a_marker(tmp_path: Path) -> None:
    first, second, torn = made()
    for cut in range(1, len(whole := compact(torn)) - 1, 79):
        lines = [f"{LOGGER}Streaming query made progress: {text}" for text in (compact(first), whole[:cut])]
        found = files.read([written(tmp_path, "\n".join([*lines, compact(second), *lines[:1]]).encode())])
        assert (found.events, len(found.broken)) == (2, 1), whole[:cut]
        found = files.read([written(tmp_path, "\n".join([compact(first), whole[:cut], compact(second)]).encode())])
        assert (found.events, len(found.broken)) == (2, int(cut > 1)), whole[:cut]


@pytest.mark.parametrize("step", [700, 1_500, 4_000])
@pytest.mark.parametrize("name", VARIANTS)
def test_a_plain_file_in_windows_gives_what_it_gives_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: int
) -> None:
    path = written(tmp_path, START.encode() + VARIANTS[name])
    whole = files.read([path])
    monkeypatch.setattr(random_access, "STEP", step)
    found = files.read([path])
    assert (found.events, found.duplicates, found.broken) == (whole.events, whole.duplicates, whole.broken)
    assert found.sightings.equals(whole.sightings) and found.batches.to_pylist() == whole.batches.to_pylist()


def docker(text: str) -> str:
    return "\n".join(json.dumps({"log": line + "\n", "stream": "stdout"}) for line in text.splitlines())


FORMS: dict[str, Callable[[Any], str]] = {
    "driver log": lambda event: f"{LOGGER}Streaming query made progress: {pretty(event)}",
    "structured log": variants.structured,
    "event log": variants.in_event_log,
    "JSON lines": compact,
    "listener": lambda event: f"{LOGGER}onQueryProgress {pretty(event)}",
    "Python": repr,
    "docker": lambda event: json.dumps({"log": compact(event) + "\n", "stream": "stdout"}),
    "docker lines": lambda event: docker(f"{LOGGER}Streaming query made progress: {pretty(event)}"),
}


@pytest.mark.parametrize("forms", list(permutations(FORMS, 2)), ids=", then ".join)
@pytest.mark.parametrize("way", ["in turns", "one behind the other", "watched"])
def test_what_is_read_depends_on_no_other_form_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forms: tuple[str, str], way: str
) -> None:
    monkeypatch.setattr(random_access, "STEP", 4_000)
    monkeypatch.setattr(opening, "IN_CACHE", 4_000)
    events = made(20)
    given = [forms[at % 2 if way == "in turns" else at // 10] for at in range(20)]
    other = f"{LOGGER}nothing\n" * (200 if way == "watched" else 20)
    pieces = [f"{other}{FORMS[form](event)}\n" for form, event in zip(given, events, strict=True)]
    if way != "watched":
        found = reading(tmp_path, "".join(pieces).encode())
    else:
        path = Path(written(tmp_path, pieces[0].encode()))
        following = Following([str(path)])
        for piece in pieces[1:]:
            following.poll()
            with path.open("a") as log:
                log.write(piece)
        following.poll()
        found = following.reading()
        following.close()
    assert (found.batches["batch_id"].to_pylist(), found.broken) == ([event["batchId"] for event in events], ())


@pytest.mark.parametrize(("torn", "cut"), [(1, 30), (2, 150), (2, -300)])
@pytest.mark.parametrize("behind", ["event", "task"])
def test_of_two_lines_torn_into_one_the_whole_one_is_read_and_the_other_named(
    tmp_path: Path, torn: int, cut: int, behind: str
) -> None:
    lines = event_log().decode().splitlines()
    between = [lines[1]] if behind == "task" and torn > 1 else []
    lines[torn : torn + 2] = [lines[torn][:cut] + "\n".join([*between, lines[torn + 1]])]
    found = reading(tmp_path, "\n".join(lines).encode())
    batches = [event["batchId"] for event in made()]
    assert found.batches.filter(pc.is_null(found.batches["partial"]))["batch_id"].to_pylist() == batches[torn - 1 :]
    assert len(found.broken) == 1


@pytest.mark.parametrize("copy", [0, 2], ids=["message", "context"])
@pytest.mark.parametrize(
    ("text", "torn", "rows"),
    [
        ('"sources\\"', '"sources\\\r', 3), (',\\n  \\"runId', ',\rn  \\"runId', 3),
        ('11,\\n  \\"num', '99,\rn  \\"num', 4), ('2222\\",\\n', '3333\\",\rn', 4),
    ],
    ids=["no sources", "no run", "another batch", "another run"],
)  # fmt: skip
def test_a_torn_copy_beside_the_whole_one_is_no_record(
    tmp_path: Path, text: str, torn: str, rows: int, copy: int
) -> None:
    lines = list(map(variants.structured, made()))
    texts = list(lines[1].partition('"context"'))
    texts[copy] = texts[copy].replace(text, torn)
    found = reading(tmp_path, "\n".join([lines[0], "".join(texts), lines[2]]).encode())
    assert (found.events, len(found.broken), len(found.batches)) == (3, rows - 3, rows)


def test_a_compressed_log_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "WINDOW", 2_000)
    monkeypatch.setattr(codecs, "BLOCK", 500)
    found = reading(tmp_path, gzip.compress(START.encode() + log()), "driver.log.gz")
    assert (found.events, found.duplicates) == (3, 0)


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"driver-\xff.log")
    written(tmp_path, log(), name)
    found = files.read([tmp_path])
    assert found.events == 3
    assert found.batches["file"][0].as_py().endswith("driver-�.log")


def test_a_named_pipe_is_read_where_it_is_given_and_somebody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    written(tmp_path, log())
    found = files.read([tmp_path])
    (broken,) = found.broken
    assert (found.events, broken.file, broken.reason) == (
        3, str(pipe), "a named pipe, which is not read as one of a directory's logs",
    )  # fmt: skip
    monkeypatch.setattr(opening, "WRITER_COMES_WITHIN", 0)
    assert [one.reason for one in files.read([pipe]).broken] == ["a named pipe into which nobody writes"]
    monkeypatch.setattr(opening, "WRITER_COMES_WITHIN", 600)
    with subprocess.Popen(["cp", str(tmp_path / "driver.log"), str(pipe)]) as writer:
        assert files.read([pipe]).events == 3
    assert writer.returncode == 0


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="a kernel without this file")
def test_a_device_or_a_file_of_the_kernel_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a device, which may never end"):
        files.read([os.devnull])
    with pytest.raises(InputError, match="/proc/kmsg: a file that the kernel makes, which may never end; give a log"):
        files.read(["/proc/kmsg"])
    (tmp_path / "link.log").symlink_to("/proc/kmsg")
    written(tmp_path, log())
    (broken,) = files.read([tmp_path]).broken
    assert broken.reason == "a file that the kernel makes, which is not read as one of a directory's logs"


def test_an_address_may_hold_any_letter() -> None:
    """What stands behind `#` is part of a name: without it another file would be read."""
    assert paths.file_system("file:///lake/a b#1/[ü]{x}%20.log")[1] == "/lake/a b#1/[ü]{x} .log"
    assert paths.file_system("FILE:///lake/x")[1] == "/lake/x"


def test_a_pattern_in_an_address_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="patterns are for paths of this machine"):
        files.read([f"file://{tmp_path}/*.gz"])


def test_a_store_that_is_silent_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(paths, "SILENT_S", 0.01)
    monkeypatch.setattr(paths, "LONGEST_WAIT_S", 0.02)
    ended = threading.Event()
    monkeypatch.setattr(paths, "file_system", lambda url: ended.wait())
    with pytest.raises(InputError) as error:
        files.read(["gs://bucket/logs"])
    assert str(error.value) == "gs://bucket/logs: no answer in 0.02 s; check the address, the network and its proxy"
    assert caplog.messages == ["latency-advisor: gs://bucket/logs has not answered for 0.01 s"]
    ended.set()


def test_a_store_that_is_gone_is_not_asked_for_each_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask() -> None:
        asked.append("")
        raise OSError("AWS Error NETWORK_CONNECTION")

    def told(store: str) -> str:
        with pytest.raises(OSError) as error:
            paths.from_store(f"s3://{store}/x.log", ask)
        return str(error.value)

    for slow_from, store in ((0.0, "slow"), (60.0, "quick")):
        monkeypatch.setattr(paths, "SLOW_S", slow_from)
        said = [told(store) for _ in range(9)]
        assert [text.startswith("not asked: its store failed 3 times") for text in said] == [
            store == "slow" and at >= 3 for at in range(9)
        ]
    assert len(asked) == 3 + 9


def test_a_store_that_falls_silent_in_the_middle_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(size: int) -> bytes:
        return text.pop() if text else (ended.wait(), b"")[1]

    monkeypatch.setattr(paths, "PIECE_S", 0.2)
    ended, text = threading.Event(), [log()]
    stream = SimpleNamespace(read=read)
    system = SimpleNamespace(
        open_input_stream=lambda place, **_: stream,
        get_file_info=lambda place: SimpleNamespace(type=SimpleNamespace(name="File")),
    )
    for module in (paths, opening):
        monkeypatch.setattr(module, "file_system", lambda url: (system, "driver.log"))
    found = files.read(["gs://bucket/driver.log"])
    ended.set()
    assert (found.events, [one.reason for one in found.broken]) == (3, ["damaged or cut off: no answer in 0.2 s"])


class _Counted(bytes):
    """Counts how far searches go."""

    searched = 0

    def find(self, sub: bytes, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = super().find(sub, start, end)
        _Counted.searched += (found if found >= 0 else min(len(self), len(self) if end is None else end)) - start
        return found


def test_markers_without_events_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As grep prints them."""
    for module in (driverlog, harvest):
        monkeypatch.setattr(module, "find", lambda buffer, *where: buffer.find(*where))
    for lines in (500, 1_000):
        raw = _Counted(f"{LOGGER}Streaming query made progress: {{\n".encode() * lines)
        _Counted.searched = 0
        found = Harvest("some.log", "some.log")
        found.move(Stretch(raw, 0, 0, final=True))
        driverlog.read(raw, 0, True, found)
        assert len(found.broken) == lines
        assert len(raw) <= _Counted.searched < 20 * len(raw)


def test_tables_of_small_files_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for nth, raw in enumerate((log(), VARIANTS["17 Python print"], b"nothing", log(), log(compact))):
        written(tmp_path, raw.replace(RUN.encode(), b"%08d" % nth + RUN[8:].encode()), f"driver-{nth}.log")
    together = files.read([tmp_path])
    monkeypatch.setattr(rows, "FRESH_EVENTS", 1)
    monkeypatch.setattr(rows, "EVENTS_PER_CHUNK", 1)
    apart = files.read([tmp_path])
    assert together.batches.to_pylist() == apart.batches.to_pylist()
    assert together.batches["run_id"].num_chunks == 1 < apart.batches["run_id"].num_chunks


def test_a_record_that_does_not_end_is_read_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def counted(file: Any) -> random_access.Place:
        place = random_access.on_disk(file)

        def read(start: int, end: int) -> bytes:
            taken.append(len(found := place.read(start, end)))
            return found

        return random_access.Place(read, place.size)

    monkeypatch.setattr(opening, "on_disk", counted)
    monkeypatch.setattr(random_access, "STEP", 4_000)
    path = written(tmp_path, b'INFO made progress: {\n  "id" : "x",\n' + b"INFO goes on and on\n" * 20_000)
    found = files.read([path], sightings=False)
    assert (found.events, len(found.broken)) == (0, 1)
    assert sum(taken) < 5 * path.stat().st_size


def test_a_directory_with_more_files_than_logs_have_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "MOST_FILES", 2)
    for name in ("a", "b"):
        (tmp_path / name).touch()
    assert len(paths.expand([tmp_path])) == 2
    (tmp_path / "c").touch()
    for place in (tmp_path, tmp_path.as_uri()):
        with pytest.raises(InputError, match="contains more than 2 files; give the directory of the logs"):
            paths.expand([place])


def test_of_very_many_broken_records_the_first_are_listed_and_all_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harvest, "MOST_BROKEN", 4)
    torn = '26/03/01 02:00:00 INFO MicroBatchExecution: Streaming query made progress: {"id" : oops'
    log = tmp_path / "driver.log"
    log.write_text("\n".join([torn] * 12))
    found = files.read([log]).broken
    assert [one.times for one in found] == [1, 1, 1, 1, 8]
    assert [one.line for one in found] == [1, 2, 3, 4, 5]
    read = advisor.analyze(log)
    assert "12 not readable" in repr(read)
    assert "Not readable: 12 records" in repr(read)
    assert "; 7 more are not listed" in report_as_text(read.typed, everything=True)
