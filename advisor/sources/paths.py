"""Turn what the user names into files: directories, globs, standard input, object stores, rotated logs."""

from __future__ import annotations

import errno
import glob
import logging
import os
import re
import stat
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import count, islice
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from advisor.errors import InputError
from advisor.redaction import clean, redact
from advisor.sources.answering import within
from advisor.vocabulary import OF_KERNEL

STDIN = "-"
ZIP = ".zip"
SILENT_S, LONGEST_WAIT_S = 5.0, 20.0
"""Seconds after which a line says that an object store does not answer; after which nobody waits for it any more."""
LISTING_S, PIECE_S = 300.0, 120.0
"""The same for a listing, and for some megabytes of a file."""
SLOW_S, GIVEN_UP, _AGAIN_S = 1.0, 3, 60.0
"""A failure that takes so many seconds counts; after so many in a row a store is not asked for so many seconds."""
_FAILED: dict[str, tuple[int, float]] = {}
"""How often in a row each store was slow to fail, and when it last was."""
_BEFORE = "what stands before the archive in this file is not read: give it in a file of its own"
MOST_MEMBERS = 20_000
"""In a zip archive."""
MOST_FILES = 200_000
"""In one directory and below it; a whole machine has more."""
_URL = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]+://")
_PORT = re.compile(r"[\w.-]{1,253}:\d{1,5}(?:/.*)?")
"""A host and a port that somebody wrote without http."""
_KIND = re.compile(r"(?<=[?&])credential_kind=\w+")
"""Azure: which of the environment's credentials are used; no credential itself."""
_ROLLING = re.compile(r"(?:^|/)(eventlog_v2_[^/]+)/events_(\d{1,18})_[^/]*$")
_COMPACTED = ".compact"
_PACKED = re.compile(r"\.(?:gz|gzip|zst|zstd|lz4)$")
_ROTATED = re.compile(
    r"(?:[._-]\d{4}-?\d\d-?\d\d(?:[T_-]?\d\d)?(?:[_-]\d\d)?|\.\d{1,4}|-active|\.inprogress)(\.(?:log|txt|out|err))?$"
)
_EFFECTIVE = os.access in os.supports_effective_ids
_NOTHING = "no such file or directory"
_MISSING = {None: _NOTHING, errno.ENOENT: _NOTHING, errno.ENOTDIR: _NOTHING, errno.ENAMETOOLONG: "the name is too long"}
"""What is said of a path at which nothing can be, by the system's error."""
_PIPE = "a named pipe"
_SPECIAL = {stat.S_IFIFO: _PIPE, stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class Input(NamedTuple):
    """One file to read, the log that it belongs to, whether the user named it himself; and why it is not to be read.

    `name`: how it is called where that is not its path.
    """

    path: str
    log: str
    named: bool
    unfit: str = ""
    name: str = ""


def expand(paths: Sequence[str | os.PathLike[str]]) -> list[Input]:
    """The files behind paths, each once, those of one log in order; InputError for a path where there is nothing."""
    found: dict[str, Input] = {}
    for path in paths:
        for one in _expand(os.fspath(path)):
            found.setdefault(one.path, one)
    return list(found.values())


def refuse_missing(paths: Iterable[str]) -> None:
    """InputError for the first path of this machine where there is nothing."""
    for path in paths:
        if not is_url(path):
            _matches(path)


def is_url(path: str) -> bool:
    """Whether a path lies in an object store or another file system."""
    return bool(_URL.match(path))


def local(path: str) -> str:
    """Return the path of this machine that a `file:` address names; any other as it is."""
    return re.sub(r"^file:/+", "/", path, flags=re.IGNORECASE)


def is_address(path: str) -> bool:
    """Whether a path is the address of a web server: a driver's UI, or a History Server."""
    return path.lower().startswith(("http://", "https://"))


def holds_credential(url: str) -> bool:
    """Whether what looks like a credential stands in an address."""
    found = _KIND.sub("", url)
    return redact(found) != clean(found) and not url.startswith("gs://anonymous@")


def refuse_credential(url: str) -> None:
    """InputError, which does not show it, for an address with a credential."""
    if holds_credential(url):
        raise InputError(redact(url), "the address contains a credential", "remove it: the environment gives it")


def log_of(path: str) -> str:
    """The log that a file belongs to: its path without what rotation and compression put at its end."""
    rolling = _ROLLING.search(path)
    if rolling:
        return path[: rolling.end(1)]
    before = None
    while path != before:
        before, path = path, _ROTATED.sub(r"\1", _PACKED.sub("", path))
    return path


def _expand(path: str) -> list[Input]:
    if path == STDIN:
        return [Input(STDIN, STDIN, True)]
    if is_url(path):
        return _expand_url(path)
    matches = _matches(path)
    if matches != [path]:
        return [one for match in matches for one in _expand(match)]
    if os.path.isdir(path):  # noqa: PTH112 - false, where Path raises
        return _in_folder(str(Path(path)))
    if _is_archive(path):
        return _members(path)
    what = special(path)
    if what not in ("", _PIPE):
        raise InputError(path, f"{what}, which may never end", "give a log file, or - for standard input")
    return [Input(path, log_of(shown(path)), True)]


def _in_folder(place: str) -> list[Input]:
    """The files of a directory and those below it, and what may not be listed; InputError where their number shows that
    it is no directory of logs.
    """
    closed: list[OSError] = []
    files = [*islice(_walk(place, closed.append), MOST_FILES + 1)]
    _refuse_many(place, files)
    unlisted = [Input(str(one.filename), str(one.filename), False, why(one)) for one in closed]
    return [*unlisted, *_lost_parts(files), *(one for file in in_order(files) for one in _in_directory(file))]


def _lost_parts(files: Iterable[str]) -> Iterator[Input]:
    """What rolling event logs lack between their first file, or the one into which Spark compacted it, and the last."""
    numbers, first = defaultdict[str, set[int]](set), dict[str, int]()
    for file in files:
        if found := _ROLLING.search(file):
            numbers[log := file[: found.end(1)]].add(number := int(found[2]))
            first[log] = max(first.get(log, 1), number if file.endswith(_COMPACTED) else 1)
    for log, there in numbers.items():
        lost = next(number for number in count(first[log]) if number not in there)
        if lost < max(there):
            yield Input(log, log, False, f"its file events_{lost} is missing, and with it what it says")


def _in_directory(file: str) -> list[Input]:
    """The log in a file of a directory; who names one that is no plain file wants it read as a stream."""
    if _is_archive(file):
        return _members(file)
    what = special(file)
    unfit = f"{what}, which is not read as one of a directory's logs" if what else ""
    return [Input(file, log_of(shown(file)), False, unfit)]


def _is_archive(path: str) -> bool:
    return path.endswith(ZIP) and not special(path) and zipfile.is_zipfile(path)


def _members(path: str) -> list[Input]:
    """The files in a zip archive, such as a History Server gives of an application's event log."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = [one.filename for one in archive.infolist() if not one.is_dir() and not _hidden(one.filename)]
            begins = min((one.header_offset for one in archive.infolist()), default=0)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        return [Input(path, log_of(shown(path)), True, f"a damaged archive: {error}")]
    if len(found) > MOST_MEMBERS or len({*found}) < len(found):
        many = f"an archive of more than {MOST_MEMBERS:,} files, or with two of one name: give its files in a directory"
        return [Input(path, log_of(shown(path)), True, many)]
    members = [Input(f"{path}/{name}", log_of(shown(f"{path}/{name}")), False) for name in in_order(found)]
    return [*([Input(path, log_of(shown(path)), False, _BEFORE)] if begins else []), *members]


def in_zip(path: str) -> tuple[str, str] | None:
    """(archive, name in it) of a file in a zip archive; None for any other file."""
    ends = [found.end() for found in re.finditer(rf"\{ZIP}/", path)]  # a directory may be called so, too
    return next(((path[: end - 1], path[end:]) for end in ends if Path(path[: end - 1]).is_file()), None)


def shown(path: str) -> str:
    """A path as text; bytes that are no UTF-8 as marks."""
    return os.fsencode(path).decode("utf-8", "replace")


def special(path: str) -> str:
    """Return what a path is that is no file on a disk; nothing if it cannot be told: opening it shows why."""
    try:
        found = os.stat(path)  # noqa: PTH116 - of tens of thousands of files
    except OSError:
        return ""
    if not stat.S_ISREG(found.st_mode):
        return _SPECIAL.get(stat.S_IFMT(found.st_mode), "no plain file")
    of_kernel = not found.st_size and os.path.realpath(path).startswith(OF_KERNEL)
    return "a file that the kernel makes" if of_kernel else ""


def mounted(path: str) -> str:
    """Where Databricks shows a path of DBFS to programs."""
    return "/dbfs/" + path.removeprefix("dbfs:/").lstrip("/") if path.startswith("dbfs:/") else path


def _matches(path: str) -> list[str]:
    """The path, also where it may not be looked at, or what matches it as a pattern; InputError where nothing is."""
    path = mounted(local(path))
    try:
        os.stat(path)  # noqa: PTH116 - Path changes `./`
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
    else:
        return [path]
    found = {*glob.glob(path, recursive=True), *_closed(path)} if glob.has_magic(path) else {}  # noqa: PTH207
    matches = sorted(found) or [path] * (number not in _MISSING)
    if not matches:
        address = f"for a driver's UI give http://{path}, else " if _PORT.fullmatch(path) else ""
        ways = f"{address}give a log file, a directory of logs, a pattern, or -"
        raise InputError(path, _MISSING[number], ways)
    return matches


def _closed(pattern: str) -> Iterator[str]:
    """The folders in which a pattern may not look."""
    for place, name in zip(Path(pattern).parents, [pattern, *map(str, Path(pattern).parents)], strict=False):
        if not glob.has_magic(name):
            return
        right = os.X_OK | os.R_OK * glob.has_magic(Path(name).name)
        folders = [one for one in glob.glob(str(place), recursive=True) if os.path.isdir(one)]  # noqa: PTH112, PTH207
        yield from (one for one in folders if not os.access(one, right, effective_ids=_EFFECTIVE))


def _refuse_many(place: str, files: Sequence[str]) -> None:
    if len(files) > MOST_FILES:
        raise InputError(place, f"contains more than {MOST_FILES:,} files", "give the directory of the logs")


def _walk(place: str, closed: Callable[[OSError], None]) -> Iterator[str]:
    for folder, folders, files in os.walk(place, onerror=closed):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for link in filter(os.path.islink, (os.path.join(folder, name) for name in folders)):  # noqa: PTH118
            if not Path(os.path.realpath(link)).is_relative_to(os.path.realpath(place)):
                closed(OSError(errno.EXDEV, "a link to another folder, which is not followed: give it by itself", link))
        yield from (os.path.join(folder, name) for name in files if not _hidden(name))  # noqa: PTH118


def in_order(files: Iterable[str]) -> list[str]:
    """Files by name, numbers in names as numbers."""

    def key(file: str) -> list[tuple[int, str]]:
        parts = [part.lstrip("0") if part.isdecimal() else part for part in re.split(r"(\d+)", file)]
        return [(len(part) * (number % 2), part) for number, part in enumerate(parts)]

    return sorted(files, key=key)


def _expand_url(url: str) -> list[Input]:
    from pyarrow import fs  # noqa: PLC0415 - a tenth of a second that local files do not pay

    system, path, info = opened_address(url)
    if info.type != fs.FileType.Directory:
        return [Input(url, log_of(url.partition("?")[0]), True)]
    below = _answer(url, lambda: system.get_file_info(fs.FileSelector(path, recursive=True)), LISTING_S)
    files = in_order(one.path for one in below if one.type == fs.FileType.File and not _hidden(one.path))
    _refuse_many(url, files)
    return [_below(url, path, file) for file in files]


def from_store(url: str, ask: Callable[[], _T], seconds: float | None = None) -> _T:
    """Return what a store answers; TimeoutError where it takes too long.

    Asked on this thread, a store that does not answer would let no signal through. Nor may what is asked be closed
    before it has answered: that waits as well.
    """
    if not is_url(url):
        return ask()
    from pyarrow import ArrowException  # noqa: PLC0415

    def asked() -> _T:
        try:
            return ask()
        except ArrowException as error:  # Azure's client raises what is no OSError
            raise error if isinstance(error, OSError) else OSError(str(error)) from None

    seconds, store, began = seconds or PIECE_S, url.split("/")[2], monotonic()
    times, last = _FAILED.get(store, (0, began))
    if times >= GIVEN_UP and began - last < _AGAIN_S:
        raise TimeoutError(f"not asked: its store failed {times} times in a row, and slowly")
    try:
        found = within(asked, seconds, TimeoutError(f"no answer in {seconds:g} s"), SILENT_S, partial(_tell, url))
    except (OSError, InputError):
        slow = monotonic() - began >= SLOW_S
        _FAILED[store] = (times + 1 if slow else times, monotonic())
        raise
    _FAILED.pop(store, None)
    return found


@lru_cache(maxsize=1024)  # once for each
def _tell(url: str) -> None:
    _LOG.warning("latency-advisor: %s has not answered for %g s", url, SILENT_S)


def _answer(url: str, ask: Callable[[], _T], seconds: float) -> _T:
    try:  # stores try again by themselves, some of them for a quarter of an hour, and without a word
        return from_store(url, ask, seconds)
    except TimeoutError as error:
        raise InputError(url, first_line(error), "check the address, the network and its proxy") from None
    except OSError as error:
        raise InputError(url, first_line(error), "check the address and the credentials") from None


def opened_address(url: str):  # type: ignore[no-untyped-def]
    """Return (pyarrow file system, path in it, what is there); InputError where nothing is, or nobody answers."""
    refuse_credential(url)

    def ask() -> tuple[Any, str, Any]:
        system, path = file_system(url)
        return system, path, system.get_file_info(path)

    system, path, info = _answer(url, ask, LONGEST_WAIT_S)
    if info.type.name == "NotFound":
        patterns = "; patterns are for paths of this machine: give the folder" if "*" in url else ""
        raise InputError(url, "no such file or directory", f"check the address{patterns}")
    return system, path, info


def _below(url: str, path: str, file: str) -> Input:
    """A file of the directory at `url`, which is `path` to its file system, by an address that leads there, too.

    The file system's own names lack what else the address holds: the name node, the storage account, the endpoint.
    """
    place, mark, how = url.partition("?")
    name = f"{place.rstrip('/')}/{quote(file[file.index(path) + len(path) :].lstrip('/'))}"
    return Input(name + mark + how, log_of(name), False)


def _hidden(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name == "_SUCCESS" or name.startswith((".", "appstatus_")) or name.endswith(".crc")


_HADOOP = (
    "set JAVA_HOME, HADOOP_HOME and CLASSPATH=$(hadoop classpath --glob), or give --engine spark, or write "
    "hdfs dfs -cat FILE | latency-advisor analyze -"
)
"""What reading from HDFS needs: pyarrow reads it with Hadoop's own client."""


def file_system(url: str):  # type: ignore[no-untyped-def]
    """(pyarrow file system, path in it) of a URL, where `#` is part of a name; InputError when pyarrow knows none."""
    from pyarrow import ArrowInvalid, ArrowNotImplementedError, fs  # noqa: PLC0415

    scheme, mark, rest = quote(url, safe="%:/?&=@+,;~!$'()*").partition("://")
    try:
        return fs.FileSystem.from_uri(re.sub("^s3[an]$", "s3", scheme.lower()) + mark + rest)
    except (ArrowInvalid, ArrowNotImplementedError, OSError) as error:
        give = _HADOOP if url.startswith("hdfs:") else "file, s3, gs, abfs and hdfs addresses can be read"
        raise InputError(url, first_line(error), give) from None


def why(error: OSError) -> str:
    """Return why a file cannot be read."""
    words = error.strerror or first_line(error)
    return f"{words}: this user may not read it" if error.errno in (errno.EACCES, errno.EPERM) else words


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, of Java's the last cause, or its class."""
    return str(error).strip().rpartition("\nCaused by: ")[2].split("\n")[0][:200] or type(error).__name__
