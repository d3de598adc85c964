"""Where a file may be written: not over what is read, and never in a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from advisor.config import NAME
from advisor.errors import UsageError
from advisor.sources.paths import STDIN, expand, in_zip, is_url, local


def check_new(
    option: str, output: str, paths: Iterable[str | os.PathLike[str]], checkpoint: str | os.PathLike[str] | None = None
) -> None:
    """Raise UsageError where no file of this name can be written, where it is one of the files that are read, as the
    configuration beside the logs is, and where it lies in a checkpoint.
    """
    if is_url(output):
        raise UsageError(f"{option} {output.partition(':')[0]}:...", "is an address", "name a file of this machine")
    check_place(option, Path(output))
    if Path(output).name == NAME:
        raise UsageError(f"{option} {output}", "has the name of a configuration", "name another file")
    if checkpoint and Path(output).resolve().is_relative_to(Path(local(os.fspath(checkpoint))).resolve()):
        raise UsageError(f"{option} {output}", "lies in the checkpoint, where nothing is ever written", "name another")
    if not Path(output).is_file():
        return
    given = [local(os.fspath(path)) for path in paths]
    files = [one.path for one in expand([path for path in given if path != STDIN and not is_url(path)])]
    for path in [*files, "/dev/stdin"] if STDIN in given else files:
        archive, _ = in_zip(path) or (path, "")
        if os.path.exists(archive) and Path(archive).samefile(output):  # noqa: PTH110 - false, where Path raises
            raise UsageError(f"{option} {output}", "is one of the files that are read", "name another file")


def check_place(option: str, path: Path) -> None:
    """Raise UsageError where no file of this name can be written."""
    if "\0" in str(path):
        raise UsageError(f"{option} {str(path)!r}", "holds a null byte", "name another file")
    if path.is_dir():
        raise UsageError(f"{option} {path}", "is a directory", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}", "there is no such directory", "create it, or name another file")
