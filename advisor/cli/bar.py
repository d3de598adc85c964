"""A progress bar on standard error while files are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def bar(paths: tuple[str, ...]) -> Iterator[Callable[[int], None]]:
    """A callback that takes the bytes read so far; the bar is gone afterwards."""
    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=_size(paths))
        yield lambda so_far: progress.update(task, completed=so_far)


def _size(paths: tuple[str, ...]) -> int | None:
    """Bytes on disk; None where they cannot be told, as for a glob, standard input or a compressed file."""
    if not all(Path(path).exists() for path in paths):
        return None
    files = [file for path in paths for file in _files(Path(path))]
    if any(file.suffix in (".gz", ".zst", ".zstd", ".lz4", ".bz2", ".xz", ".snappy") for file in files):
        return None
    return sum(file.stat().st_size for file in files)


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
