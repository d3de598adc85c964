"""Finds events in text of any form: by a key that each event has, and the braces around it."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from advisor.progress import Broken, Partial, Progress, from_object, is_event
from advisor.sources.formats.fragments import piece_around
from advisor.sources.formats.quoted import unquoted
from advisor.sources.formats.repair import read_whole
from advisor.sources.harvest import Buffer, Harvest

LONGEST_EVENT = 32 << 20
"""Bytes of one event; a thousand Kafka partitions make a tenth of a megabyte."""
CUT_OFF = "cut off: its braces do not close"
_LOOK_BACK = 1 << 20
LONGEST_PIECE = _LOOK_BACK
_ANCHORS_INSIDE = 8
_DEEPEST = 4

_WORDS = (b"durationM", b"triggerDetails")
_RUN_KEY = b'"runId"'
_OF_STATE = b"stateOperators"
_ANCHOR = re.compile(
    rb"(?:durationM(?:s|illis)|triggerDetails)(?=\\*[\"'](?!\s{0,9}[\])])|&quot;|&#34;|\xe2\x80\x9d|\s?[:=]\s?\{|\s?=\s?(?:Row|dict|SimpleNamespace)\()"
)
"""What asks for the key, as `lastProgress["durationMs"]`, is code."""
_HEAD = re.compile(rb"""\{[\s#/*|]*["']id["']\s*:""")
_KEY = re.compile(rb"""\w+\\*["']?""")
_BRACES_BACK = 8
# No repetition inside a repetition of the same bytes: a quote that never closes would take exponential time.
_TOKEN = re.compile(rb"""[{}]|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|(?<=[{\[,:( u])'[^'\\\n]*(?:\\.[^'\\\n]*)*'""", re.DOTALL)
_PIECE = re.compile(
    rb"(?<!\\)\\*[\"'](?:(stateOperators|numInputRows|runId|triggerExecution)\\*[\"']\s*:|(batchId)\\*[\"']\s*:\s*\d)"
)
"""Offsets of Kinesis have a batchId, too, which is text."""
_KEYS_OF_A_PIECE = 100
_IN_METRICS = re.compile(rb"[\"']metrics\\*[\"']\s{0,9}:\s{0,9}\{[^{}]{0,400}\Z")
"""A name of Spark's among what a source measured by itself."""


class Found(NamedTuple):
    """An event, or why there is none, at [start, end); `partial` where a part of one can be read."""

    start: int
    end: int
    event: Progress | None
    reason: str = ""
    partial: Partial | None = None

    @property
    def open(self) -> bool:
        """Whether it may become whole with more of the text."""
        return self.reason == CUT_OFF


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the events in `buffer` from `begin` on; where to go on once more of the file is there."""
    end = len(buffer)
    last = begin
    for found in find_events(buffer, begin, end):
        if found.event is not None:
            note_torn(buffer, last, found.start, harvest)
            harvest.add(found.event, found.start, found.end)
        elif not final and found.open and end - found.start < LONGEST_EVENT:
            return found.start
        else:
            keep_broken(found, harvest)
        last = found.end
    if not final:
        return max(last, end - _LOOK_BACK)
    note_torn(buffer, last, end, harvest)
    return end


def keep(found: Found, harvest: Harvest) -> None:
    """Keep an event, or what there is of one."""
    if found.event is None:
        keep_broken(found, harvest)
    else:
        harvest.add(found.event, found.start, found.end)


def keep_broken(found: Found, harvest: Harvest) -> None:
    """Keep what there is of an event that is not whole."""
    if found.partial is None:
        harvest.add_broken(found.start, found.reason)
    else:
        harvest.add_partial(found.partial, found.start, found.end)


def note_torn(buffer: Buffer, begin: int, end: int, harvest: Harvest) -> None:
    """Note events in [begin, end) that end before the key by which others are found."""
    at = buffer.find(_RUN_KEY, begin, end)
    while at >= 0:
        following = buffer.find(_RUN_KEY, at + 1, end)
        limit = end if following < 0 else following
        start, stop = innermost(buffer, max(begin, at - _LOOK_BACK), at, min(limit, at + LONGEST_EVENT))
        if stop < 0:
            keep_broken(early_piece(buffer, start, limit, CUT_OFF), harvest)
        begin, at = limit, following


def find_events(buffer: Buffer, begin: int, end: int, depth: int = 0) -> Iterator[Found]:
    """Every event that stands in [begin, end) of `buffer`, and every one that is broken, in order."""
    anchors = _Anchors(buffer, begin, end)
    position = begin
    while (anchor := anchors.after(position)) is not None:
        position = max(position, anchor - _LOOK_BACK)
        last = anchor + 1
        for found in _around(buffer, position, anchor, anchors.limit(end), depth):
            yield _as_far_as_it_goes(buffer, position, anchor, anchors.next(end), found)
            last = max(last, found.end)  # of a partial record, too: nothing that follows is lost to it
        position = last


class _Anchors:
    """Where keys stand that only events have, in order; each byte is looked at once."""

    def __init__(self, buffer: Buffer, begin: int, end: int) -> None:
        self._coming = merge(*(_anchors(buffer, word, begin, end) for word in _WORDS))
        self._ahead: deque[int] = deque()

    def after(self, position: int) -> int | None:
        """The first anchor at or after a position; None when there is none."""
        while self._ahead and self._ahead[0] < position:
            self._ahead.popleft()
        while not self._ahead and (anchor := next(self._coming, None)) is not None:
            if anchor >= position:
                self._ahead.append(anchor)
        return self._ahead[0] if self._ahead else None

    def next(self, end: int) -> int:
        """Where the next anchor stands, of another event; `end` without one. To be asked after `limit`."""
        return self._ahead[1] if len(self._ahead) > 1 else end

    def limit(self, end: int) -> int:
        """How far the object around the current anchor may reach: a few anchors on, since an event has one."""
        self._ahead.extend(islice(self._coming, max(0, 1 + _ANCHORS_INSIDE - len(self._ahead))))
        reach = min(end, self._ahead[0] + LONGEST_EVENT)
        return min(reach, self._ahead[_ANCHORS_INSIDE]) if len(self._ahead) > _ANCHORS_INSIDE else reach


def _anchors(buffer: Buffer, word: bytes, begin: int, end: int) -> Iterator[int]:
    at = buffer.find(word, begin, end)
    while at >= 0:
        if _ANCHOR.match(buffer[at : at + 40]):
            yield at
        at = buffer.find(word, at + 1, end)


def has_anchor(buffer: Buffer, begin: int, end: int) -> bool:
    """Whether a key that only events have stands in [begin, end)."""
    return _Anchors(buffer, begin, end).after(begin) is not None


def piece(buffer: Buffer) -> int:
    """Where text begins that can only be a piece of an event, or -1."""
    found = _PIECE.search(buffer[:_LOOK_BACK])
    return found.start() if found else -1


def early_piece(buffer: Buffer, begin: int, end: int, reason: str) -> Found:
    """Return what [begin, end) holds of an event without durations; `reason`: why it is none."""
    raw = bytes(buffer[begin : min(end, begin + _LOOK_BACK)])
    keys = list(islice(_PIECE.finditer(raw), _KEYS_OF_A_PIECE))
    key = next((each for each in keys if not _IN_METRICS.search(raw, max(0, each.start() - 400), each.start())), None)
    found = piece_around(buffer, begin, begin + key.start(key.lastindex or 0), end) if key else None
    return Found(begin, end, None, reason, found and found.partial)


def _around(buffer: Buffer, begin: int, anchor: int, end: int, depth: int) -> Iterator[Found]:
    """What stands around an anchor: the object that begins like an event, else the innermost that holds the anchor."""
    head = _head(buffer, begin, anchor)
    if head >= 0:
        start, stop = innermost(buffer, head, anchor, end)
        with suppress(Broken):
            yield Found(start, stop, read_whole(bytes(buffer[start : max(stop, start)])))
            return
    start, stop = innermost(buffer, begin, anchor, end)
    if stop < 0:
        yield from _in_quoted_lines(buffer, begin, anchor, end, start, depth)
        return
    raw = bytes(buffer[start:stop])
    try:
        yield Found(start, stop, read_whole(raw))
    except Broken as broken:
        inside = _in_strings(raw, depth) if depth < _DEEPEST else []
        yield from (found._replace(start=start, end=stop) for found in inside)
        if not inside:  # whatever spoiled it may have moved its end: go on right behind the anchor
            yield Found(start, _behind(buffer, anchor), None, broken.reason)


def _as_far_as_it_goes(buffer: Buffer, begin: int, anchor: int, end: int, found: Found) -> Found:
    """The same again, with what can be read of an event that is not whole."""
    if found.partial is not None or (found.event is not None and tells_of_state(buffer[found.start : found.end])):
        return found
    piece = piece_around(buffer, begin, anchor, end)
    if piece is None or (found.event is not None and piece.partial.event is None):
        return found
    return Found(piece.start, piece.end, None, found.reason, piece.partial)


def tells_of_state(event: bytes) -> bool:
    """Whether an event has the list of its state operators, which Spark writes even where it is empty.

    A listener of one's own may leave it out: then nobody knows whether the query keeps state.
    """
    return _OF_STATE in event


def _head(buffer: Buffer, begin: int, anchor: int) -> int:
    """Where the object opens that begins like an event, or -1; no matter what odd quotes stand before it."""
    at = anchor
    for _ in range(_BRACES_BACK):
        at = buffer.rfind(b"{", begin, at)
        if at < 0 or _HEAD.match(buffer[at : at + 200]):
            return at
    return -1


def _behind(buffer: Buffer, anchor: int) -> int:
    """Return where the key ends that begins at an anchor, with its quote: strings are recognised from there."""
    key = _KEY.match(buffer[anchor : anchor + 40])
    return anchor + key.end() if key else anchor + 1


def innermost(buffer: Buffer, begin: int, anchor: int, end: int) -> tuple[int, int]:
    """[start, end) of the innermost object around the anchor; end is -1 when it does not close."""
    opened: list[int] = []
    for token in _TOKEN.finditer(buffer, begin, end):  # type: ignore[call-overload]
        at = token.start()
        kind = buffer[at : at + 1]
        if kind == b"{":
            opened.append(at)
        elif kind == b"}" and opened:
            start = opened.pop()
            if start < anchor < at:
                return start, at + 1
    before = [at for at in opened if at < anchor]
    return before[-1] if before else anchor, -1


def _in_quoted_lines(buffer: Buffer, begin: int, anchor: int, end: int, start: int, depth: int) -> Iterator[Found]:
    """An event whose lines stand in quotes, as in program text; else what is left of a torn one."""
    lines = unquoted(buffer, begin, anchor, end) if depth < _DEEPEST else None
    found = list(find_events(lines.text, 0, len(lines.text), depth + 1)) if lines else []
    if lines and any(each.event for each in found):
        yield from (each._replace(start=lines.start, end=lines.end) for each in found)
    else:
        yield Found(lines.start if lines else start, _behind(buffer, anchor), None, CUT_OFF)


def _in_strings(raw: bytes, depth: int) -> list[Found]:
    """Events in the strings of a JSON object, or in objects inside it."""
    try:
        thing = json.loads(raw)
    except (ValueError, RecursionError):
        return []
    try:
        return list(_walk(thing, depth))
    except RecursionError:
        return [Found(0, 0, None, "nested too deeply")]


def _walk(thing: Any, depth: int) -> Iterator[Found]:
    if isinstance(thing, str):
        yield from _in_text(thing, depth)
    elif isinstance(thing, list) and thing and all(isinstance(item, str) for item in thing):
        yield from _in_text("".join(thing), depth)
    elif is_event(thing):
        yield _event_of(thing)
    elif isinstance(thing, (dict, list)):
        for item in thing.values() if isinstance(thing, dict) else thing:
            yield from _walk(item, depth)


def _event_of(thing: Any) -> Found:
    try:
        return Found(0, 0, from_object(thing))
    except Broken as broken:
        return Found(0, 0, None, broken.reason)


def _in_text(text: str, depth: int) -> Iterator[Found]:
    if "durationM" in text or "triggerDetails" in text:
        raw = text.encode("utf-8", "replace")
        yield from find_events(raw, 0, len(raw), depth + 1)
