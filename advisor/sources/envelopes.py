"""Take lines out of the envelopes of collectors: JSON of docker and others, the Kubernetes CRI format, exports."""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from advisor.errors import InputError
from advisor.progress import UNUSUAL
from advisor.sources.codecs import NOT_READ
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
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"]{1,40})')
_OPENED = b"made progress: {"
_ALONE = re.compile(rb'made progress: \{"\s{0,9}[,\]}]')
_OCTETS = re.compile(rb'"MESSAGE"\s*:\s*\[')
_NAMED = re.compile(rb"[^\s\d\"{}][^\n\"{}]{0,160}?[|\] ][ \t]*(?=\[?\d\d(?:\d\d-|/)\d\d[-/]\d\d[T ]\d\d:)")
"""A container's name at the beginning of a line, before the time."""
_CONTAINERS = 50
_DEEPEST = 20
_GAP = re.compile(r"[\s,:]*")
_DOCUMENT = re.compile(rb'(?!\{\s{0,9}"id"[^}]{0,99}"runId")[\[{]\s*["{\[\]}]')  # neither `[2026-...` nor an event
_BLANK = b"\xef\xbb\xbf \t\r\n"
LARGEST = 256 << 20
"""Bytes of an export that are read, where all of it has to be there before any of it can be read."""
TOO_LARGE = f"an export of more than {LARGEST >> 20} MB: what follows is not read; split it, or export lines"
IN_PART = "an export, which only analyze reads as a whole: batches may be missing; give it to analyze, or export lines"
"""What is said of a document that is watched."""
_LONGEST_LINE = 32 << 20
_MOST_HELD = 10_000
"""Lines of a container that may stand behind the beginning of an event without its end."""
_CRI = re.compile(rb"\S{19,40} (std(?:out|err)) ([FP]) ")
"""Before a line: its stream, and whether it is whole or ends there, or goes on in the next one of its stream."""


class Unwrapped(NamedTuple):
    """The lines as they were before; `starts` and `places` say where each begins in `text` and in the file's window."""

    text: bytes
    starts: list[int]
    places: list[int]

    def origin(self, position: int) -> int:
        """Where in the window the line stands that holds a position of the text."""
        return self.places[max(0, bisect_right(self.starts, position) - 1)]


def unwrapped(buffer: Buffer, begin: int, end: int, at: int = -1, cri: bool = True) -> Unwrapped | None:
    """The lines in [begin, end) out of their envelopes; None when neither the line at `at`, else the first, nor the
    last is in one.
    """
    last = max(begin, buffer.rfind(b"\n", begin, end - 1) + 1)
    for head in (buffer[one : one + _LONGEST] for one in (begin if at < 0 else at, last)):
        if (cri and _CRI.match(head)) or (_JSON.match(head) and _of_json(head.split(b"\n", 1)[0])):
            break
    else:
        return None
    lines = bytes(buffer[begin:end]).splitlines(keepends=True)
    texts, places = zip(*_in_whole(lines, begin), strict=True)
    starts = list(accumulate(map(len, texts[:-1]), initial=0))
    return Unwrapped(b"".join(texts), starts, list(places))


def _in_whole(lines: Iterable[bytes], begin: int) -> Iterator[tuple[bytes, int]]:
    """Yield what each line held, and where in the window it stands; pieces of a line together, by their stream."""
    held = defaultdict[bytes, list[tuple[bytes, int]]](list)
    for line in lines:
        cri = _CRI.match(line)
        stream = cri[1] if cri else b""
        held[stream].append((_text(line), begin))
        begin += len(line)
        if not cri or cri[2] == b"F":
            yield from held.pop(stream)
    for rest in held.values():
        yield from rest


def _text(line: bytes) -> bytes:
    """What one line held; a line of another form stays as it is."""
    cri = _CRI.match(line)
    if cri:
        return line[cri.end() :] if cri[2] == b"F" else line[cri.end() :].rstrip(b"\r\n")
    found = _of_json(line)
    return line if found is None else found


def _of_json(line: bytes) -> bytes | None:
    """The line in a JSON envelope, with its end even where the collector left that out; docker cuts long lines."""
    if line[:1] != b"{":
        if not _JSON.match(line):
            return None
        line = line[line.index(b"{") :].rstrip(b", \t\r\n")
    try:
        envelope = msgspec.json.decode(line.decode("utf-8", "replace"))
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


class Octets:
    """JSON lines of octets, which are read one by one."""

    cut = 0
    """Where in the file its reading ended, if not at its end."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, raw: bytes, final: bool) -> bytes:
        """Return the text of the lines that are whole now."""
        raw = self._rest + raw
        end = len(raw) if final else raw.rfind(b"\n") + 1
        end = end or (len(raw) if len(raw) > _LONGEST_LINE else 0)
        self._rest = raw[end:]
        return b"".join(self._given(raw[:end].splitlines(keepends=True), final))

    def _given(self, lines: list[bytes], final: bool) -> Iterator[bytes]:  # noqa: ARG002 - others need the end
        return map(_text, lines)


class Containers(Octets):
    """Lines of several containers: those of each event together, as soon as all of them are there."""

    def __init__(self, names: set[bytes]) -> None:
        super().__init__()
        self._names = names
        self._held: defaultdict[bytes, list[bytes]] = defaultdict(list)

    def _given(self, lines: list[bytes], final: bool) -> Iterator[bytes]:
        self._names |= _containers(b"".join(lines))
        longest_first = sorted(self._names, key=len, reverse=True)
        for line in lines:
            self._held[next(filter(line.startswith, longest_first), b"")].append(line)
        for name in sorted(self._held):
            held = self._held[name]
            opened = (at for at in reversed(range(len(held))) if held[at].rstrip().endswith(_OPENED))
            end = len(held) if final or not name else next(opened, len(held))
            if len(held) - end > _MOST_HELD or any(line[len(name) :].rstrip() == b"}" for line in held[end:]):
                end = len(held)
            yield from held[:end]
            self._held[name] = held[end:]


class Whole:
    """An export of which nothing can be read before all of it is there."""

    cut = 0

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def take(self, raw: bytes, final: bool) -> bytes:
        """Return the log in it once it is whole, or as long as any that is read."""
        if self.cut:
            return b""
        self._pieces.append(raw)
        self._size += len(raw)
        if not final and self._size <= LARGEST:
            return b""
        self.cut = 0 if final else self._size
        whole, self._pieces = b"".join(self._pieces), []
        return exported(whole) or whole


def export_in(raw: bytes, grows: bool) -> Octets | Whole | None:
    """What reads an export that begins like this, or that holds this if it grows; None for any other text."""
    if _has_octets(raw):
        return Octets()
    head = raw[:_LONGEST].lstrip(_BLANK)
    if _MARKED not in raw:
        return None
    if grows:
        return Containers(names) if len(names := _containers(raw)) > 1 else None
    if head[:1] in (b"[", b"{"):
        return Whole() if len(raw) >= _LONGEST and _is_document(head) else None
    lines = _newest_first(raw) or len(_containers(raw)) > 1 or _of_cells(raw, head.partition(b"\n")[0])
    return Whole() if lines else None


def is_export(raw: bytes) -> bool:
    """Whether a text that begins like this has to be there as a whole before any of it can be read."""
    return isinstance(export_in(raw, True) or export_in(raw, False), Whole)


def refuse_unknown(raw: Buffer) -> None:
    """Raise InputError for JSON of another form than those that are read, in which each line of a log stands alone."""
    at = raw.find(_MARKED) if raw[:_LONGEST].lstrip(_BLANK)[:1] in (b"[", b"{") else -1
    alone = _ALONE.match(raw[at : at + 64]) if at >= 0 else None
    if alone and unwrapped(raw, raw.rfind(b"\n", 0, at) + 1, at + alone.end()) is None:
        raise InputError("", f"{NOT_READ}an export of a form that is not known; export its lines as text")


def _has_octets(raw: bytes) -> bool:
    """Whether lines of journald's are in octets."""
    found = _OCTETS.search(raw) if b'"MESSAGE"' in raw else None
    start = raw.rfind(b"\n", 0, found.start()) + 1 if found else 0
    return found is not None and raw[start : found.start()].lstrip(_BLANK)[:1] == b"{"


def _is_document(head: bytes) -> bool:
    """Whether a text begins as such a document, in which the first line is no whole record."""
    with suppress(*UNUSUAL):
        return bool(_DOCUMENT.match(head)) and not isinstance(msgspec.json.decode(head.partition(b"\n")[0]), dict)
    return True


def exported(raw: bytes) -> bytes | None:
    """The log in a document of its lines, as a search in a log service or journald writes it; None in any other text.

    Documents: JSON that holds a list of lines, CSV with a column of lines, JSON lines of octets, and any log whose
    newest line stands first.
    """
    head = raw[:_LONGEST].lstrip(_BLANK)
    in_octets, is_json = _has_octets(raw), head[:1] in (b"[", b"{")
    if not in_octets and _MARKED not in raw:
        return None
    lines = [] if in_octets else _of_document(raw) if is_json else _of_cells(raw, head.partition(b"\n")[0])
    if in_octets or (not lines and _newest_first(raw)):
        lines = list(map(_text, raw.splitlines(keepends=True)))
    elif not lines and len(names := _containers(raw)) > 1:
        lines = Containers(names).take(raw, final=True).splitlines()
    text = b"\n".join(_oldest_first([line.rstrip(b"\r\n") for line in lines]))
    return text + b"\n" if _MARKED in text else None


def _containers(raw: bytes) -> set[bytes]:
    """Return the names of containers that wrote events of many lines; none for very many.

    A collector put the name before each line, before the time of a driver's log.
    """
    opened = (raw.rfind(b"\n", 0, at.start()) + 1 for at in re.finditer(_OPENED + rb"\r?\n", raw))
    names = {head[0] for at in opened if (head := _NAMED.match(raw, at))}
    followed = (re.search(rb"(?m)^%b *\"id\"" % re.escape(name), raw) for name in names)
    return names if len(names) <= _CONTAINERS and all(followed) else set()


def _newest_first(raw: bytes) -> bool:
    """Whether what follows the head of an event stands in the line before it."""
    at = raw.find(_OPENED)
    start, end = raw.rfind(b"\n", 0, max(at, 0)), raw.find(b"\n", max(at, 0))
    if at < 0 or start < 0 or end < 0 or _ID.search(raw, at, end):
        return False
    following = raw.find(b"\n", end + 1)
    before = _ID.search(raw, raw.rfind(b"\n", 0, start) + 1, start)
    return before is not None and not _ID.search(raw, end, following if following >= 0 else len(raw))


def _each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that stands in it twice is two names."""
    last = dict(pairs)
    return {name if last[name] is value else f"{name} {at}": value for at, (name, value) in enumerate(pairs)}


_decoded = json.JSONDecoder(object_pairs_hook=_each).raw_decode


def _of_document(raw: bytes) -> list[bytes]:
    """The texts of the lists in a document, one list after the other, as far in as services put them.

    Where it is cut off or damaged the rest of it follows as it stands.
    """
    text, found = raw.decode("utf-8-sig", "replace"), list[bytes]()
    at, depth, in_list, ended = 0, 0, False, False
    try:
        while (at := _GAP.match(text, at).end()) < len(text) and not ended:  # type: ignore[union-attr]
            if in_list and text[at] != "]":
                entry, at = _decoded(text, at)
                found += [one.encode("utf-8", "replace") for one in _texts(entry)]
            elif text[at] in "[]{}":
                in_list, depth = text[at] == "[", depth + (1 if text[at] in "[{" else -1)
                at, ended = at + 1, not depth
            else:
                _, at = _decoded(text, at)
    except (ValueError, RecursionError):
        return found and [*found, text[at:].encode("utf-8", "replace")]
    return found if at >= len(text) else []


def _texts(entry: Any) -> list[str]:
    """What was logged, and every other event that the entry holds as a text or is."""
    if isinstance(entry, dict) and "durationMs" in entry:
        return [f"{_MARKED.decode()} {msgspec.json.encode(entry).decode()}"]
    if printed := _printed(entry):
        return printed
    message = _message(_fields(entry))
    found = [] if message is None else [message]
    return found + [one for one in _events(entry, 0) if message is None or one not in message]


def _printed(cell: Any) -> list[str]:
    """The lines that a notebook's cell has printed, if an event of several lines stands in them."""
    outputs = cell.get("outputs") if isinstance(cell, dict) else None
    each = filter(lambda one: isinstance(one, dict), outputs if isinstance(outputs, list) else ())
    texts = filter(lambda text: isinstance(text, list), (one.get("text") for one in each))
    lines = [line.rstrip("\r\n") for text in texts for line in text if isinstance(line, str)]
    return lines if any(line.endswith(_OPENED.decode()) for line in lines) else []


def _events(thing: Any, depth: int) -> list[str]:
    if isinstance(thing, str):
        return [thing] if _OPENED.decode() in thing and "durationMs" in thing else []
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ()
    return [] if depth > _DEEPEST else [found for one in inside for found in _events(one, depth + 1)]


def _fields(entry: Any) -> dict[str, Any]:
    """An entry as an object; some services write a list of names and values."""
    if isinstance(entry, list):
        return {each["field"]: each.get("value") for each in entry if isinstance(each, dict) and "field" in each}
    return entry if isinstance(entry, dict) else {}


def _of_cells(raw: bytes, head: bytes) -> list[bytes]:
    for delimiter in ",\t;":
        names = head.decode("utf-8", "replace").strip().replace('"', "").split(delimiter)
        column = next((names.index(key) for key in _KEYS if key in names), None)
        if column is not None and len(names) > 1:
            lines = raw.decode("utf-8-sig", "replace").replace("\0", "").splitlines(keepends=True)
            with suppress(csv.Error):
                rows = _cells(lines[1:], delimiter, column, len(names))
                cells = [cell.rstrip("\r\n").encode("utf-8", "replace") for cell in rows]
                in_lines = any(cell.endswith(_OPENED) for cell in cells)
                # a whole event is read in its cell, as long as what it stands on is above it
                return cells if in_lines or _OF_STAGES in raw or _is_newest_first(cells) else []
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


def _oldest_first(lines: list[bytes]) -> list[bytes]:
    """The lines turned round where those of an event stand before the one that announces it, or later events do."""
    at = next((n for n, line in enumerate(lines) if line.endswith(_OPENED)), None)
    if at is None:  # events stand whole in their lines
        return lines[::-1] if _is_newest_first(lines) else lines
    newest_first = at and b'"id"' in lines[at - 1] and not (at + 1 < len(lines) and b'"id"' in lines[at + 1])
    return lines[::-1] if newest_first else lines


def _is_newest_first(lines: list[bytes]) -> bool:
    return _first_time(lines) > _first_time(reversed(lines))


def _first_time(lines: Iterable[bytes]) -> bytes:
    return next((found[1] for line in lines if (found := _TIME.search(line))), b"")
