"""Logs that grow are read on: the same in the end as the whole read at once."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from advisor import api
from advisor.batches import Reading
from advisor.errors import InputError, UsageError
from advisor.sources import files, saved
from advisor.sources.following import MOST_OPEN, Following

SAMPLES = Path(__file__).parents[2] / "sample_progress"
LOG = gzip.decompress((SAMPLES / "LG001/rate-to-noop-4.3.0/driver.log.gz").read_bytes())
STRUCTURED = gzip.decompress((SAMPLES / "LG001/structured-log-4.0.0/structured.log.gz").read_bytes())
Follow = Callable[[Path], Following]
LINES = (SAMPLES / "LG001/progress-lines-4.3.0/progress.jsonl").read_bytes()


@pytest.fixture
def follow() -> Iterator[Callable[[Path], Following]]:
    made: list[Following] = []

    def following(path: Path) -> Following:
        made.append(Following([str(path)]))
        return made[-1]

    yield following
    for one in made:
        one.close()


def begun(follow: Follow, path: Path, text: bytes) -> Following:
    """A file with this text, followed and read once."""
    path.write_bytes(text)
    following = follow(path)
    following.poll()
    return following


def batches(reading: Reading) -> list[tuple[str, int]]:
    return list(zip(*(reading.batches[name].to_pylist() for name in ("run_id", "batch_id")), strict=True))


def facts(reading: Reading) -> set[tuple[str, str]]:
    return set(zip(*(reading.sightings[name].to_pylist() for name in ("fact", "value")), strict=True))


def append(path: Path, text: bytes) -> None:
    with path.open("ab") as file:
        file.write(text)


def in_octets(every: int) -> bytes:
    lines = [line.decode() for line in LOG.splitlines()]
    wrapped = ({"MESSAGE": line if at % every else list(line.encode())} for at, line in enumerate(lines))
    return "".join(json.dumps(one) + "\n" for one in wrapped).encode()


def of_containers(log: bytes) -> bytes:
    """The log's lines as two containers write them at once, the second one with ids of its own."""
    other = re.sub(rb'((?:runI|i)d" : ")....', rb"\1beef", log)
    pairs = zip(log.splitlines(keepends=True), other.splitlines(keepends=True), strict=True)
    return b"".join(b"a-1  | " + one + b"b-1  | " + two for one, two in pairs)


GROWING = {
    "driver log": LOG,
    "structured log": STRUCTURED,
    "JSON lines": LINES,
    "octets": in_octets(1),
    "octets now and then": in_octets(7),
    "two containers": of_containers(LOG),
}


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_a_file_that_grows_gives_what_the_whole_gives(tmp_path: Path, follow: Follow, text: bytes) -> None:
    path = tmp_path / "driver.log"
    path.touch()
    following = follow(path)
    assert not following.poll()
    seen = []
    for start in range(0, len(text), 20_011):  # ends in the middle of records
        append(path, text[start : start + 20_011])
        assert following.poll()
        seen.append(following.reading().events)
    assert not following.poll()
    whole, followed = files.read([path]), following.reading()
    assert seen == sorted(seen) and seen[0] < seen[-1]
    assert sorted(batches(followed)) == sorted(batches(whole)) != []
    assert facts(followed) >= {told for told in facts(whole) if told[0] in ("stopped", "spark_version", "sink")}
    assert followed.broken == ()


def test_half_a_record_that_is_still_written_is_not_called_broken(tmp_path: Path, follow: Follow) -> None:
    path = tmp_path / "progress.jsonl"
    first, second = LINES.splitlines(keepends=True)[:2]
    following = begun(follow, path, first + second[: len(second) // 2])
    for whole, more in ((1, second[len(second) // 2 :]), (2, b"")):
        reading = following.reading()
        assert (len(batches(reading)), list(reading.broken)) == (whole, [])
        append(path, more)
        following.poll()


@pytest.mark.parametrize("more", [0, 3000], ids=["as long as before", "longer"])
def test_a_file_that_is_cut_off_and_grows_again_between_two_looks_loses_nothing(
    tmp_path: Path, follow: Follow, more: int
) -> None:
    path = tmp_path / "driver.log"
    half = len(LINES) // 2
    following = begun(follow, path, LINES[: LINES.index(b"\n", half) + 1])
    read = path.stat().st_size
    path.write_bytes(LINES[read:][: read + more].ljust(read + more, b" "))
    assert following.poll()
    assert len(following.reading().batches) == len(files.read([str(path)]).batches) + LINES.count(b"\n", 0, read)


@pytest.mark.parametrize("before", [b"", LOG], ids=["first", "restarted"])
def test_a_run_of_which_no_batch_has_ended_is_looked_at(before: bytes, tmp_path: Path, follow: Follow) -> None:
    query = re.findall(rb'"id" : "([^"]+)"', LOG)[0].decode()
    run = "22222222-2222-2222-2222-222222222222"
    starting = f"Starting q [id = {query}, runId = {run}]. Use file:/c to store the query checkpoint."
    line = f"26/11/29 01:00:10 INFO MicroBatchExecution: {starting}\n"
    following = begun(follow, tmp_path / "driver.log", before + line.encode())
    looks = [following.reading().doing for _ in range(2)]
    assert [[*look] for look in looks] == [[run]] * 2
    assert looks[0][run].met == looks[1][run].met == looks[0][run].at


def test_a_query_that_was_refused_is_not_looked_at(tmp_path: Path, follow: Follow) -> None:
    query = "3f6f0a3e-0000-4000-8000-0000000000aa"
    refused = f"ERROR StreamMetadata: Error writing stream metadata StreamMetadata({query}) to"
    why = "org.apache.hadoop.security.AccessControlException: Permission denied: user=a, access=WRITE"
    following = begun(follow, tmp_path / "driver.log", LOG + f"26/11/29 01:00:10 {refused} /c\n{why}\n".encode())
    assert "unknown" in following.reading().sightings["run_id"].to_pylist()
    assert "unknown" not in following.reading().doing


def test_a_run_is_met_again_with_each_batch(tmp_path: Path, follow: Follow) -> None:
    first = LOG.index(b"\n}\n") + 3
    following = begun(follow, tmp_path / "driver.log", LOG[:first])
    met = [one for _ in range(2) for one in following.reading().doing.values()]
    assert met[0].met == met[1].met == met[0].at
    (tmp_path / "driver.log").write_bytes(LOG)
    assert following.poll()
    (again,) = following.reading().doing.values()
    assert again.met == again.at > met[1].at


@pytest.mark.parametrize("grown", [-5, 0, 40], ids=["empty", "shorter", "longer"])
def test_a_file_that_was_emptied_is_read_anew_and_what_may_be_missing_is_said(
    grown: int, tmp_path: Path, follow: Follow
) -> None:
    path, lines = tmp_path / "driver.log", LINES.splitlines(keepends=True)
    following = begun(follow, path, b"".join(lines[:20]) + lines[20][: len(lines[20]) // 2])
    path.write_bytes(b"".join(lines[30 : 35 + grown]))
    assert following.poll()
    assert not following.poll()
    found = following.reading()
    assert (found.files, found.events - grown) == (1, 25)
    assert ["emptied" in one.reason for one in found.broken] == [True, False]


def test_a_file_that_is_cut_off_again_and_again_keeps_no_more_than_the_newest(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.sources.following.KEPT", 10)
    path, lines = tmp_path / "driver.log", LINES.splitlines(keepends=True)
    broken = b'{"id" : "3f6f0a3e-0000-4000-8000-000000000000", "batchId" : 1, "durationMs" : {"addBatch" : }}\n'
    following = begun(follow, path, b"")
    for at in range(0, 60, 6):
        path.write_bytes(b"".join(lines[at : at + 6]) + 3 * broken)
        assert following.poll()
    found = following.reading()
    assert (found.files, len(found.batches), len(found.broken)) == (1, 16, 14)
    assert batches(found)[-6:] == batches(files.read([path]))


def test_a_renamed_file_is_read_to_its_end_and_the_next_one_from_its_beginning(tmp_path: Path, follow: Follow) -> None:
    path, lines = tmp_path / "driver.log", LINES.splitlines(keepends=True)
    following = begun(follow, path, b"".join(lines[:40]))
    append(path, b"".join(lines[40:50]))
    path.rename(tmp_path / "driver.log.1")
    assert following.poll()  # no file of that name is there
    os.mkfifo(path)
    assert not following.poll()
    path.unlink()
    path.write_bytes(b"".join(lines[50:70]))
    assert following.poll()
    assert following.reading().events == 70


def test_rotations_between_two_looks_lose_nothing(tmp_path: Path, follow: Follow) -> None:
    path, lines = tmp_path / "driver.log", LINES.splitlines(keepends=True)
    following = begun(follow, path, b"".join(lines[:30]))
    for rotated in (3, 2, 1):
        path.rename(tmp_path / f"driver.log.{rotated}")
        path.write_bytes(b"".join(lines[60 - 10 * rotated : 70 - 10 * rotated]))
    (tmp_path / "other.log").write_bytes(b"".join(lines[60:70]))
    assert following.poll()
    assert following.reading().events == 60


def test_new_files_are_read_and_one_that_was_compressed_counts_once(tmp_path: Path, follow: Follow) -> None:
    lines = LINES.splitlines(keepends=True)
    first = tmp_path / "progress-00000.jsonl"
    first.write_bytes(b"".join(lines[:30]))
    following = follow(tmp_path)
    following.poll()
    (tmp_path / "progress-00000.jsonl.gz").write_bytes(gzip.compress(first.read_bytes()))
    first.unlink()
    (tmp_path / "progress-00001.jsonl").write_bytes(b"".join(lines[30:45]))
    assert following.poll()
    assert following.reading().events == 45
    assert not following.poll()


def test_a_packed_log_that_is_renamed_keeps_its_batches(tmp_path: Path, follow: Follow) -> None:
    lines = LINES.splitlines(keepends=True)
    for at in (1, 2, 3):
        (tmp_path / f"driver.log.{at}.gz").write_bytes(gzip.compress(b"".join(lines[10 * at : 10 * at + 10])))
    following = follow(tmp_path)
    following.poll()
    for at in (3, 2, 1):
        (tmp_path / f"driver.log.{at}.gz").rename(tmp_path / f"driver.log.{at + 1}.gz")
    (tmp_path / "driver.log.1.gz").write_bytes(gzip.compress(b"".join(lines[:10])))
    assert following.poll()
    assert following.reading().events == 40
    (tmp_path / "driver.log.4.gz").unlink()
    following.poll()
    assert following.reading().events == 40
    again = tmp_path / "driver.log.3.gz"
    again.write_bytes(gzip.compress(b"".join(lines[40:50])))  # as a new file that gets the inode of one that went
    os.utime(again, (1, 1))
    assert following.poll()
    assert following.reading().events == 50


def test_a_saved_file_is_read_beside_a_log(tmp_path: Path, follow: Follow) -> None:
    lines = LINES.splitlines(keepends=True)
    saved.write(files.read([written(tmp_path, lines[:30])]), tmp_path / "before.batches")
    (tmp_path / "whole.jsonl").write_bytes(b"".join(lines[30:40]))
    following = follow(tmp_path)
    assert following.poll()
    assert following.reading().events == 40


def test_few_files_stay_open_and_each_is_read_on(tmp_path: Path, follow: Follow) -> None:
    lines = LINES.splitlines(keepends=True)
    paths = [tmp_path / f"{at}.jsonl" for at in range(MOST_OPEN + 5)]
    for path, line in zip(paths, lines, strict=False):
        path.write_bytes(line)
    following = follow(tmp_path)
    following.poll()
    assert sum(one._file is not None for one in following._growing.values()) <= MOST_OPEN  # type: ignore[union-attr]
    for path, line in zip(paths, lines[len(paths) :], strict=False):
        append(path, line)
        os.utime(path, (1, 1))
    assert following.poll()
    assert following.reading().events == min(len(lines), 2 * len(paths))
    assert not following.poll()


def test_of_files_that_are_gone_the_newest_events_are_kept(
    tmp_path: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("advisor.sources.following.KEPT", 15)
    path, lines = tmp_path / "driver.log", LINES.splitlines(keepends=True)
    path.touch()
    following = follow(path)
    for at in range(0, 40, 10):
        path.write_bytes(b"".join(lines[at : at + 10]))
        following.poll()
        path.rename(tmp_path / "gone")
        following.poll()
    kept = batches(following.reading())
    assert kept == batches(files.read([written(tmp_path, lines[:40])]))[-15:]


def written(folder: Path, lines: list[bytes]) -> str:
    (folder / "whole.jsonl").write_bytes(b"".join(lines))
    return str(folder / "whole.jsonl")


@pytest.mark.parametrize("watched", ["driver.log", "."])
@pytest.mark.parametrize("rotation", ["renamed", "removed", "emptied"])
def test_a_record_that_a_rotation_cuts_is_told_as_in_a_whole_reading(
    watched: str, rotation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log, cut = Path("driver.log"), LOG.rindex(b'"batchId"')
    log.write_bytes(LOG[:cut])
    following = Following([watched])
    following.poll()
    kept = tmp_path.parent / "kept.log"
    if rotation == "emptied":
        log.write_bytes(LOG[cut:])
    else:
        log.rename("driver.log.1" if rotation == "renamed" else kept)
        log.write_bytes(LOG[cut:])
    os.utime(log, ns=(1 << 62, 1 << 62))
    following.poll()
    following.poll()
    whole = files.read([*Path().iterdir(), *([kept] if rotation == "removed" else [])])
    found = following.reading()
    if rotation != "emptied":
        assert sorted(one.reason for one in found.broken) == sorted(one.reason for one in whole.broken)
    assert found.broken and len(found.batches) == LOG.count(b"made progress")
    following.close()


def test_what_cannot_be_followed_is_refused() -> None:
    with pytest.raises(UsageError, match="only local files"):
        Following(["-"])
    with pytest.raises(InputError, match="no such file"):
        Following(["nowhere.log"])


def test_each_step_of_the_api_is_a_report_or_nothing_new(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    half = LOG.index(b"\n", len(LOG) // 2) + 1
    path.write_bytes(LOG[:half])
    steps = api.follow(path)
    first = next(steps)
    assert first is not None and first.typed.queries[0].state == "running"
    assert next(steps) is None
    append(path, LOG[half:])
    second = next(steps)
    assert second is not None and second.typed.queries[0].state == "stopped"
    assert second.typed.queries[0].batches > first.typed.queries[0].batches
    steps.close()
