"""Files that can be no logs: what is said of them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import advisor
from advisor.cli import main
from advisor.errors import InputError
from advisor.sources import codecs, files
from advisor.sources.following import Following
from tests.sources.formats_made import event_log
from tests.sources.variants import log, zipped

NOISE = random.Random(7).randbytes(3000)


def tarred(raw: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        member = tarfile.TarInfo("driver.log.gz")
        member.size = len(raw)
        archive.addfile(member, io.BytesIO(raw))
    return made.getvalue()


UNPACK = "not read: it is packed; unpack it, and give the log in it"
KINDS = {
    "zip": (zipped({"driver.log": log()}), UNPACK), "tar": (tarred(gzip.compress(log())), UNPACK),
    "tgz": (gzip.compress(tarred(gzip.compress(log()))), UNPACK), "7z": (b"7z\xbc\xaf\x27\x1c" + NOISE, UNPACK),
    "xz": (lzma.compress(log()), UNPACK), "bzip2": (bz2.compress(log()), UNPACK),
    "snappy": (b"\x82SNAPPY\0" + NOISE, "write event logs with spark.eventLog.compression.codec=zstd"),
    "parquet": (b"PAR1" + NOISE, "give a driver log, an event log, or lines of progress JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_what_can_be_no_log_is_told_with_what_to_do(name: str, tmp_path: Path) -> None:
    raw, says = KINDS[name]
    (tmp_path / "made").write_bytes(raw)
    for sightings in (True, False):
        with pytest.raises(InputError) as said:
            files.read([tmp_path / "made"], sightings=sightings)
        assert says in str(said.value)


def test_a_log_that_lies_as_it_is_in_an_archive_is_read(tmp_path: Path) -> None:
    (tmp_path / "logs.tar").write_bytes(tarred(log()))
    found = files.read([tmp_path / "logs.tar"])
    assert (found.events, found.broken) == (3, ())


@pytest.mark.parametrize("begins", [b"ORC reader begins\n", b"MZ: ", b"GIF89\n", b"%PDF-is no mark here\n"])
def test_a_log_may_begin_with_any_letters(begins: bytes, tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_bytes(begins + log())
    assert files.read([path]).events == 3
    following = Following([str(path)])
    assert following.poll()
    following.close()


@pytest.mark.parametrize("command", ["analyze", "compare", "watch"])
def test_each_command_says_it_in_a_line(command: str, tmp_path: Path) -> None:
    path = tmp_path / "logs.7z"
    path.write_bytes(KINDS["zip"][0])
    result = CliRunner().invoke(main, [command, str(path)])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert UNPACK in result.stderr


def test_an_archive_among_logs_that_are_watched_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "logs.zip").write_bytes(KINDS["zip"][0])
    (tmp_path / "driver.log").write_bytes(log())
    following = Following([str(tmp_path)])
    assert following.poll()
    assert following.reading().events == 3
    following.close()
    assert advisor.analyze(tmp_path).typed.input.events == 3


class TestZip:
    """A zip archive is read as the logs in it."""

    @pytest.fixture
    def archive(self, tmp_path: Path) -> Path:
        """The pieces of a rolled event log, each packed for itself, as a History Server gives them."""
        whole = event_log().splitlines(keepends=True)
        pieces = {"2": whole[-5:], "1": whole[:-5]}
        packed = {f"eventlog_v2_app-1/events_{n}_app-1.gz": gzip.compress(b"".join(of)) for n, of in pieces.items()}
        place = tmp_path / "app-1.zip"
        place.write_bytes(zipped({"eventlog_v2_app-1/appstatus_app-1": b""} | packed))
        return place

    def test_its_files_are_read_in_order_as_one_log(self, archive: Path) -> None:
        found = files.read([archive])
        assert (found.events, found.files, found.broken) == (12, 2, ())
        assert len(set(found.batches["log"].to_pylist())) == 1
        place = archive.with_name("logs.zip")  # a directory that is called like one
        place.mkdir()
        archive.rename(place / archive.name)
        assert files.read([place]).events == 12

    def test_a_bomb_is_not_unpacked(self, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(codecs, "_GENEROUS", 0)
        monkeypatch.setattr(codecs, "_HIGHEST_RATIO", 0.1)
        (reason,) = {one.reason for one in files.read([archive]).broken}
        assert reason == "unpacks to more than 0.1 times its size: not read further"

    def test_a_damaged_file_in_it_is_named(self, archive: Path) -> None:
        raw = bytearray(archive.read_bytes())
        at = raw.find(b"events_1_app-1.gz") + 60
        raw[at : at + 40] = bytes(40)
        archive.write_bytes(raw)
        found = files.read([archive])
        (broken,) = found.broken
        assert (found.events, Path(broken.file).name) == (3, "events_1_app-1.gz")
        assert broken.reason.startswith("damaged or locked:")

    def test_a_damaged_one_does_not_take_the_others_along(self, tmp_path: Path) -> None:
        (tmp_path / "driver.log").write_bytes(log())
        place = tmp_path / "b.zip"
        with zipfile.ZipFile(place, "w", zipfile.ZIP_LZMA) as packed:
            packed.writestr("driver.log", log())
        raw = bytearray(place.read_bytes())
        raw[100] ^= 8
        place.write_bytes(raw)
        found = files.read([tmp_path])
        assert (found.events, [Path(one.file).name for one in found.broken]) == (3, ["driver.log"])

    def test_what_stands_before_it_in_one_file_is_named(self, archive: Path) -> None:
        archive.write_bytes(log() + archive.read_bytes())
        found = files.read([archive])
        assert (found.events, [one.file for one in found.broken]) == (12, [str(archive)])

    def test_it_is_not_watched(self, archive: Path) -> None:
        result = CliRunner().invoke(main, ["watch", str(archive)])
        assert (result.exit_code, "does not grow" in result.stderr) == (2, True)
