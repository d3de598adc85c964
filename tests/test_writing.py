"""A user's file is written whole, or stays as it was."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.writing import whole_file, write_whole

COMMAND = [sys.executable, "-m", "advisor", "rules", "list", "--format", "json", "--output"]


def only_small_files() -> None:
    """As on a disk with room for one more kilobyte."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))


@pytest.mark.parametrize("old", [None, "the old report"])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, old: str | None) -> None:
    place = tmp_path / "report.json"
    if old is not None:
        place.write_text(old)
    done = subprocess.run(
        [*COMMAND, str(place)], capture_output=True, text=True, preexec_fn=only_small_files, check=False
    )
    assert (done.returncode, done.stderr) == (2, f"latency-advisor: {place}: File too large\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_file_that_was_not_written_to_its_end_is_none(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    write_whole(place, "old")
    with pytest.raises(KeyboardInterrupt), whole_file(place) as file:
        file.write(b"half of a p")
        raise KeyboardInterrupt
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.html", "old")]


def test_a_pipe_is_written_only_where_somebody_reads_it(tmp_path: Path) -> None:
    place = tmp_path / "pipe"
    os.mkfifo(place)
    with pytest.raises(OSError, match="nobody reads this pipe"):
        write_whole(place, "text")
    reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(place, "text")
    assert os.read(reader, 9) == b"text"
    os.close(reader)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_what_is_open_already_goes_on(tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to("/dev/stdout")
    for flags in ("wb", "ab"):
        with (tmp_path / "all").open(flags) as out:
            for words in (["echo", "one"], [*COMMAND, str(tmp_path / name)], ["echo", "two"]):
                assert subprocess.run(words, stdout=out, check=False).returncode == 0
    said = (tmp_path / "all").read_bytes()
    assert said.startswith(b"one\n") and said.endswith(b"two\n") and said.count(b"one\n") == 2
    assert {path.name for path in tmp_path.iterdir()} == {"all", "link"}


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    place, link = tmp_path / "report", tmp_path / "link"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place)
    write_whole(link, "new")
    assert (place.read_text(), place.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)


def test_a_new_file_gets_the_usual_permissions_and_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    with pytest.raises(FileNotFoundError) as error:
        write_whole(tmp_path / "no" / "report", "text")
    assert error.value.filename == str(tmp_path / "no" / "report")
