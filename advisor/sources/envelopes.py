"""Take lines out of the envelopes of collectors: JSON of docker and others, and the Kubernetes CRI format."""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from advisor.progress import UNUSUAL
from advisor.sources.harvest import Buffer

_KEYS = (
    "log", "message", "MESSAGE", "line", "textPayload", "@message", "_raw", "LogEntry", "LogMessage", "Log", "_msg",
)  # fmt: skip
_AROUND = ("attributes", "result", "_source", "jsonPayload", "properties")
"""Objects in which some collectors put the line."""
_OCTET = 256
_LOGGERS = ("logger_name", "loggerName", "log.logger", "logger")
_TIMES = ("@timestamp", "timestamp", "time")
_CUT_BY_DOCKER = 16_000
"""Letters of a piece of a longer line: docker cuts at 16 kB, of which some letters take more bytes than one."""
_LONGEST = 64 << 10
"""Bytes of a first line."""
_JSON = re.compile(rb"[^{\"]{0,200}\{[ \t]*\"")
_MARKED = b"made progress:"
_OF_STAGES = b"DAGScheduler: "
_ID = re.compile(rb'"id\\?"\s*:')
_OPENED = "made progress: {"
_OCTETS = re.compile(rb'"MESSAGE"\s*:\s*\[')
_NAMED = re.compile(rb"[^\s\d\"{}][^\n\"{}]{0,160}?[|\] ][ \t]*(?=\[?\d\d(?:\d\d-|/)\d\d[-/]\d\d[T ]\d\d:)")
"""A container's name at the beginning of a line, before the time."""
_CONTAINERS = 50
_DEEPEST = 20
_DOCUMENT = re.compile(rb'[\[{]\s*["{\[\]}]')  # and no `[2026-01-24 ...`
_BLANK = b"\xef\xbb\xbf \t\r\n"
IN_PART = (
    "an export, which only analyze reads as a whole, up to 16 MB: batches may be missing; split it, or export lines"
)
"""What is said of a document of which a part comes first."""
_CRI = re.compile(rb"\S{19,40} std(?:out|err) ([FP]) ")


class Unwrapped(NamedTuple):
    """The lines as they were before; `starts` and `places` say where each begins in `text` and in the file's window."""

    text: bytes
    starts: list[int]
    places: list[int]

    def origin(self, position: int) -> int:
        """Where in the window the line stands that holds a position of the text."""
        return self.places[max(0, bisect_right(self.starts, position) - 1)]


def in_json(buffer: Buffer, begin: int) -> bool:
    """Whether the first line at `begin` is in an envelope of JSON."""
    head = buffer[begin : begin + _LONGEST]
    return bool(_JSON.match(head)) and _of_json(head.split(b"\n", 1)[0]) is not None


def unwrapped(buffer: Buffer, begin: int, end: int) -> Unwrapped | None:
    """The lines in [begin, end) out of their envelopes; None when the first line is in none."""
    if not (_CRI.match(buffer[begin : begin + 80]) or in_json(buffer, begin)):
        return None
    lines = bytes(buffer[begin:end]).splitlines(keepends=True)
    texts = [_text(line) for line in lines]
    starts = list(accumulate(map(len, texts[:-1]), initial=0))
    places = list(accumulate(map(len, lines[:-1]), initial=begin))
    return Unwrapped(b"".join(texts), starts, places)


def _text(line: bytes) -> bytes:
    """What one line held; a line of another form stays as it is."""
    cri = _CRI.match(line)
    if cri:
        return line[cri.end() :] if cri[1] == b"F" else line[cri.end() :].rstrip(b"\r\n")
    found = _of_json(line)
    return line if found is None else found


def _of_json(line: bytes) -> bytes | None:
    """The line in a JSON envelope, with its end even where the collector left that out; docker cuts long lines."""
    if line[:1] != b"{":
        if not _JSON.match(line):
            return None
        line = line[line.index(b"{") :].rstrip(b", \t\r\n")
    try:
        envelope = msgspec.json.decode(line)
    except UNUSUAL:
        return None
    text = _message(envelope) if isinstance(envelope, dict) else None
    if text is None:
        return None
    cut = text.endswith("\n") or len(text) >= _CUT_BY_DOCKER
    return (text if cut else text + "\n").encode("utf-8", "replace")


def _message(envelope: dict[str, Any]) -> str | None:
    """What was logged, behind time and logger where these have keys of their own."""
    text = next(map(envelope.get, filter(envelope.__contains__, _KEYS)), None)
    if isinstance(text, list):  # journald's way to write a line with colours
        octets = [each for each in text if isinstance(each, int) and 0 <= each < _OCTET]
        text = bytes(octets).decode("utf-8", "replace")
    if not isinstance(text, str):
        inside = (envelope[key] for key in _AROUND if isinstance(envelope.get(key), dict))
        return next((found for each in inside if (found := _message(each)) is not None), None)
    logger = next(filter(None, map(envelope.get, _LOGGERS)), None)
    if not isinstance(logger, str):
        return text
    time = next((envelope[key] for key in _TIMES if isinstance(envelope.get(key), str)), "")
    return f"{time} {envelope.get('level', '')!s:5} {logger.rpartition('.')[2]}: {text}"


def is_document(raw: Buffer) -> bool:
    """Whether a text, long enough to tell, begins as such a document, in which the first line is no whole record."""
    head = raw[:_LONGEST].lstrip(_BLANK)
    if _OCTETS.search(head):
        return True
    if len(raw) < _LONGEST or not _DOCUMENT.match(head) or raw.find(_MARKED) < 0:
        return False
    with suppress(*UNUSUAL):
        return not isinstance(msgspec.json.decode(head.partition(b"\n")[0]), dict)
    return True


def exported(raw: bytes) -> bytes | None:
    """The log in a document of its lines, as a search in a log service or journald writes it; None in any other text.

    Documents: JSON that holds a list of lines, CSV with a column of lines, JSON lines of octets, and any log whose
    newest line stands first.
    """
    head = raw[:_LONGEST].lstrip(_BLANK)
    if _OCTETS.search(head):
        lines = _of_lines(raw)
    elif _MARKED not in raw:
        return None
    else:
        lines = _of_document(raw) if head[:1] in (b"[", b"{") else _of_cells(raw, head.partition(b"\n")[0])
        lines = lines or (_of_lines(raw) if _newest_first(raw) else _by_container(raw))
    ordered = _oldest_first([line.rstrip("\r\n") for line in lines])
    text = "\n".join(ordered).encode("utf-8", "replace")
    return text + b"\n" if _MARKED in text else None


def _of_lines(raw: bytes) -> list[str]:
    return [_text(line).decode("utf-8", "replace") for line in raw.splitlines(keepends=True)]


def _by_container(raw: bytes) -> list[str]:
    """Return the lines with those of each container together, where several wrote events of many lines; else none.

    A collector put the container's name before each line, before the time of a driver's log.
    """
    opened = (raw.rfind(b"\n", 0, at.start()) + 1 for at in re.finditer(_OPENED.encode() + rb"\r?\n", raw))
    names = {head[0] for at in opened if (head := _NAMED.match(raw, at))}
    followed = (re.search(rb"(?m)^%b *\"id\"" % re.escape(name), raw) for name in names)
    if not 1 < len(names) <= _CONTAINERS or not all(followed):
        return []
    longest_first = tuple(sorted(names, key=len, reverse=True))
    lines = raw.splitlines(keepends=True)
    lines.sort(key=lambda line: next(filter(line.startswith, longest_first), b""))
    return [line.decode("utf-8", "replace") for line in lines]


def _newest_first(raw: bytes) -> bool:
    """Whether what follows the head of an event stands in the line before it."""
    at = raw.find(_OPENED.encode())
    start, end = raw.rfind(b"\n", 0, max(at, 0)), raw.find(b"\n", max(at, 0))
    if at < 0 or start < 0 or end < 0 or _ID.search(raw, at, end):
        return False
    following = raw.find(b"\n", end + 1)
    before = _ID.search(raw, raw.rfind(b"\n", 0, start) + 1, start)
    return before is not None and not _ID.search(raw, end, following if following >= 0 else len(raw))


def _of_document(raw: bytes) -> list[str]:
    try:
        entries = _entries(json.loads(raw, object_pairs_hook=_each), 0)
    except (ValueError, RecursionError):
        return []
    return [text for entry in entries for text in _texts(entry)]


def _each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that stands in it twice is two names."""
    last = dict(pairs)
    return {name if last[name] is value else f"{name} {at}": value for at, (name, value) in enumerate(pairs)}


def _entries(thing: Any, depth: int) -> list[Any]:
    """The lists in a document one after the other, as far in as services put them."""
    if isinstance(thing, list):
        return thing
    if not isinstance(thing, dict) or depth > _DEEPEST:
        return []
    return [entry for value in thing.values() for entry in _entries(value, depth + 1)]


def _texts(entry: Any) -> list[str]:
    """What was logged, and every other event that the entry holds as a text or is."""
    if isinstance(entry, dict) and "durationMs" in entry:
        return [f"{_MARKED.decode()} {msgspec.json.encode(entry).decode()}"]
    message = _message(_fields(entry))
    found = [] if message is None else [message]
    return found + [one for one in _events(entry, 0) if message is None or one not in message]


def _events(thing: Any, depth: int) -> list[str]:
    if isinstance(thing, str):
        return [thing] if _OPENED in thing and "durationMs" in thing else []
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ()
    return [] if depth > _DEEPEST else [found for one in inside for found in _events(one, depth + 1)]


def _fields(entry: Any) -> dict[str, Any]:
    """An entry as an object; some services write a list of names and values."""
    if isinstance(entry, list):
        return {each["field"]: each.get("value") for each in entry if isinstance(each, dict) and "field" in each}
    return entry if isinstance(entry, dict) else {}


def _of_cells(raw: bytes, head: bytes) -> list[str]:
    for delimiter in ",\t;":
        names = head.decode("utf-8", "replace").strip().replace('"', "").split(delimiter)
        column = next((names.index(key) for key in _KEYS if key in names), None)
        if column is not None and len(names) > 1:
            lines = raw.decode("utf-8-sig", "replace").replace("\0", "").splitlines(keepends=True)
            with suppress(csv.Error):
                cells = list(_cells(lines[1:], delimiter, column, len(names)))
                in_lines = any(cell.endswith(_OPENED) for cell in cells)
                return cells if in_lines or _OF_STAGES in raw else []  # a whole event is read in its cell
    return []


def _cells(lines: list[str], delimiter: str, column: int, columns: int) -> Iterator[str]:
    """The cells of a column; lines that are no rows of the table as they stand."""
    rows, begun = csv.reader(lines, delimiter=delimiter), 0
    for row in rows:
        begun, ended = rows.line_num, begun
        if len(row) == columns:
            yield row[column]
            yield from (event for event in _events(row, 0) if event not in row[column])
        else:
            yield from lines[ended:begun]


def _oldest_first(lines: list[str]) -> list[str]:
    """The lines turned round where those of an event stand before the one that announces it."""
    at = next((n for n, line in enumerate(lines) if line.endswith(_OPENED)), None)
    if at is None or (at + 1 < len(lines) and '"id"' in lines[at + 1]):
        return lines
    return lines[::-1] if at and '"id"' in lines[at - 1] else lines
