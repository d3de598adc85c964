"""Find events in text of any form, and read those that are cut off, commented or quoted as far as they go.

For that the text around a key is cleared of colours, foreign lines, comment marks and quotes; each byte stays in its
place.
"""

from __future__ import annotations

import json
import re
from bisect import bisect, bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby, islice, takewhile
from typing import Any, NamedTuple

from advisor.progress import Broken, Partial, Progress, decode, from_object
from advisor.progress.decoding import is_event
from advisor.progress.partial import Fragment, of_fragment
from advisor.sources.envelopes import unwrapped
from advisor.sources.harvest import Buffer, Harvest, find

LONGEST_EVENT = 32 << 20
"""Bytes of one event; a thousand Kafka partitions make a tenth of a megabyte."""
LONGEST_PIECE = 1 << 20
CUT_OFF = "cut off: its braces do not close"
_REACH = 256 << 10
"""Bytes before and behind its key in which a record that is not whole is read."""
_ANCHORS_INSIDE = 8
_DEEPEST = 4
_BRACES_BACK = 8
_SHORTEST = 64
"""Bytes of the shortest text that is an event."""
_LONGEST_HEAD = 16 << 10
"""Bytes of an event before its durations, which may stand at the end of what is read."""

_WORD = b"durationM"
_RUN_KEY = b'"runId"'
_OF_STATE = b"stateOperators"
_ANCHOR = re.compile(rb"durationM(?:s|illis)(?=\\*[\"'](?!\s{0,9}[\])])|\s?[:=]\s?\{)")
"""What asks for the key, as `lastProgress["durationMs"]`, is code."""
_HEAD = re.compile(rb"""\{[\s#/*|]*["']id["']\s*:""")
_BEGINS = re.compile(rb"""made progress:|["']id\\{0,9}["']\s{0,9}:""")
_KEY = re.compile(rb"""\w+\\*["']?""")
# No repetition inside a repetition of the same bytes: a quote that never closes would take exponential time.
_TOKEN = re.compile(rb"""[{}]|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|(?<=[{\[,:( u])'[^'\\\n]*(?:\\.[^'\\\n]*)*'""", re.DOTALL)
_OF_A_TAIL = re.compile(rb"stateOperators|num(?:Input|Output)Rows|RowsPerSecond|triggerExecution")
_PIECE = re.compile(
    rb"(?<!\\)\\*[\"'](?:(stateOperators|numInputRows|runId|triggerExecution)\\*[\"']\s*:|(batchId)\\*[\"']\s*:\s*\d)"
)
"""Offsets of Kinesis have a batchId, too, which is text."""
_KEYS_OF_A_PIECE = 100
_IN_METRICS = re.compile(rb"[\"']metrics\\*[\"']\s{0,9}:\s{0,9}\{[^{}]{0,400}\Z")
"""A name of Spark's among what a source measured by itself."""
_FOREIGN = re.compile(
    rb"\x1b\[[0-9;?]*[A-Za-z]|\xc2\xa0|\xef\xbb\xbf"  # colours, blanks of a web page, a mark at a file's beginning
    rb"|\r?\[Stage \d{1,9}:[^\[\]\r\n]{0,300}\][^\r\n]{0,300}\r *\r?|\r +\r"  # progress bars
    rb"|(?m:^)(?:\d\d/\d\d/\d\d|\[?\d{4}-\d\d-\d\d[T ]|\d\d:\d\d:\d\d[.,]\d+ )"
    # A log line without a record: behind its last level. With the reference no earlier level is tried.
    rb"(?=(?P<head>[^\n]*\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b))(?P=head)"
    rb"[^\n{]*(?:\{[^\n{}\"']*\}[^\n{]*)*(?=\n)"
)
_TAG = rb"\[[\w./-]{1,80}\]"
"""A name in brackets before each line, as of a pod."""
_MARKS = re.compile(rb"""(?:[^"'{}\[\]]|""" + _TAG + rb""")*?(?=u?["'{}\]]|\[(?!""" + _TAG[2:] + rb""")|$)""")
_BARE_KEY = re.compile(rb"\w+")
_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_NAME = re.compile(rb"[A-Za-z]{2}")
_TWO_LINES = 4096
_QUOTED = re.compile(
    rb"""^(?:[^"\n]{0,80}?"(?P<double>(?:[^"\\]|\\.)*)"|[^'"\n]{0,80}?'(?P<single>(?:[^'\\]|\\.)*)')[\s+;,)\\#]*$"""
)
_ESCAPE = re.compile(rb"\\([nrt])")
_CLOSES = rb"(?P<closes>(?=\s*(?:[:,}\])]|$)))?"
_ESCAPED_QUOTE = re.compile(rb"""(?m:(?<!\\)\\+(?:"|(?P<single>'))""" + _CLOSES + rb")")
_DOUBLED_QUOTE = re.compile(rb'(?m:\\?""(?P<single>(?!))?' + _CLOSES + rb")")
_OUTER_QUOTE = re.compile(rb'"(?=[^"\n]*\{\s*"")|(?<=\})"(?=\s*(?:[,;\t\r\n]|$))')
_STRING = re.compile(rb"""\"{3}|'{3}|"(?:[^"\\\n]|\\.)*"?|(?<=[{\[,:( u])'(?:[^'\\\n]|\\.)*'?""")
_OF_A_RECORD = re.compile(
    rb"""\s*(?:u?["'][^"'\n]*["']?\s{0,20}[:,]|\w+\s*:|[{}\[\]]|\.\.\.|\xe2\x80\xa6|//|\#|/\*|$)"""
    rb"""|[^\n]*(?:\{\s*["']\w+["']\s*:|[{\[]\s*$)"""
)


class Found(NamedTuple):
    """An event, or why there is none, at [start, end); `partial` where a part of one can be read.

    `again`: where to begin once more of the text is there.
    """

    start: int
    end: int
    event: Progress | None
    reason: str = ""
    partial: Partial | None = None
    again: int = 0

    @property
    def open(self) -> bool:
        """Whether it may become whole with more of the text."""
        return self.reason == CUT_OFF


def read(buffer: Buffer, begin: int, final: bool, harvest: Harvest) -> int:
    """Harvest the events in `buffer` from `begin` on; return where to go on once more of the file is there."""
    end = len(buffer)
    last = begin
    for found in find_events(buffer, begin, end):
        if found.event is None and not final and found.open and end - found.start < LONGEST_EVENT:
            note_torn(buffer, last, found.again, harvest)
            return found.again
        if found.event is not None:
            note_torn(buffer, last, found.start, harvest)
        keep(found, harvest)
        last = found.end
    resume = end if final else max(last, end - LONGEST_PIECE)
    note_torn(buffer, last, resume, harvest)
    return resume


def read_among(
    own: Callable[[Buffer, int, bool, Harvest], int], buffer: Buffer, begin: int, final: bool, harvest: Harvest
) -> int:
    """Harvest what `own` finds, and between that events of any other form; return where to go on."""
    harvest.spans, harvest.torn = [], []
    resume = own(buffer, begin, final, harvest)
    spans, torn, harvest.spans, harvest.torn = harvest.spans, harvest.torn, None, None
    gaps = list(zip([begin, *(end for _, end in spans)], [*(start for start, _ in spans), resume], strict=True))
    cut = sorted(start for start, *_ in torn)
    last = max([begin, *(end for _, end in spans), *(start + 1 for start in cut)])
    others: list[tuple[int, int]] = []
    for low, high in gaps:
        if high - low < _SHORTEST or find(buffer, _WORD, low, high) < 0:
            continue
        for line, found in _once(buffer, low, high):
            if high == resume and not final and found.open and high - found.start < LONGEST_EVENT:
                resume, final = found.again, True
                break
            if found.event or (found.partial and found.partial.event):
                others.append((line, found.end))
            elif not found.partial or not found.open or bisect_left(cut, line) < bisect_left(cut, found.end):
                continue  # it is no event, or named as torn
            keep(found, harvest)
            last = max(last, found.end)
    if not final:
        last = buffer.find(b"\n", last, resume) + 1 or last
        resume = line_of(buffer, max(last, resume - _LONGEST_HEAD), last)
    starts, ends = [start for start, _ in others], [0, *(end for _, end in others)]
    for start, reason, lacks in torn:
        if start < resume and (lacks is not None or start >= ends[bisect(starts, start)]):
            harvest.add_broken(start, reason, lacks)
    return resume


def _once(buffer: Buffer, begin: int, end: int) -> Iterator[tuple[int, Found]]:
    """Find the same by line, but no part of a batch that a line holds whole: structured logs have each event twice."""
    several = find_in_lines(buffer, begin, end)
    for line, together in groupby(several, lambda one: line_of(buffer, one.start, begin)):
        found = list(together)
        whole = {str((run, one.event.batch_id)) for one in found if one.event for run in (one.event.run_id, None)}
        yield from ((line, one) for one in found if one.event or not one.partial or str(one.partial.batch) not in whole)


def line_of(buffer: Buffer, position: int, begin: int) -> int:
    """Where the line begins that holds the position, in the last megabyte before it and from `begin` on."""
    start = max(begin, position - (1 << 20))
    return max(start, buffer.rfind(b"\n", start, position) + 1)


def keep(found: Found, harvest: Harvest) -> None:
    """Keep an event, or what there is of one."""
    if found.event is not None:
        harvest.add(found.event, found.start, found.end)
    elif found.partial is not None:
        harvest.add_partial(found.partial, found.start, found.end)
    else:
        harvest.add_broken(found.start, found.reason)


def note_torn(buffer: Buffer, begin: int, end: int, harvest: Harvest) -> bool:
    """Note events in [begin, end) that end before the key by which others are found; return whether there was one."""
    at, noted = buffer.find(_RUN_KEY, begin, end), False
    while at >= 0:
        following = buffer.find(_RUN_KEY, at + 1, end)
        limit = end if following < 0 else following
        start, stop = innermost(buffer, max(begin, at - LONGEST_PIECE), at, min(limit, at + LONGEST_EVENT))
        if stop < 0:
            keep_early(buffer, start, limit, start, CUT_OFF, harvest)
            noted = True
        begin, at = limit, following
    return noted


def find_events(buffer: Buffer, begin: int, end: int, depth: int = 0) -> Iterator[Found]:
    """Find every event that stands in [begin, end) of `buffer`, and every one that is broken, in order."""
    found_at = list(event_keys(buffer, begin, end))
    position = begin
    while (at := bisect_left(found_at, position)) < len(found_at):
        anchor, following, *_ = (*found_at[at : at + 2], end)
        reach = min(anchor + LONGEST_EVENT, *found_at[at + _ANCHORS_INSIDE : at + _ANCHORS_INSIDE + 1], end)
        position = max(position, anchor - LONGEST_PIECE)
        last = anchor + 1
        for found in _around(buffer, position, anchor, reach, following, depth):
            yield found
            last = max(last, found.end if found.partial is None else _behind(buffer, anchor))
        position = last


def find_in_lines(buffer: Buffer, begin: int, end: int) -> Iterator[Found]:
    """Find the same, also in lines that a collector wrapped: of one record each in an envelope of its own."""
    anchor = next(event_keys(buffer, begin, end), end)
    lines = None if anchor == end else unwrapped(buffer, begin, end, line_of(buffer, anchor, begin))
    if lines is None:
        yield from find_events(buffer, begin, end)
        return
    for found in find_events(lines.text, 0, len(lines.text)):
        start, last, again = map(lines.origin, (found.start, found.end - 1, found.again))
        stop = buffer.find(b"\n", last, end)
        yield found._replace(start=start, end=end if stop < 0 else stop, again=again)


def event_keys(buffer: Buffer, begin: int, end: int) -> Iterator[int]:
    """Yield where keys stand that only events have."""
    at = buffer.find(_WORD, begin, end)
    while at >= 0:
        if _ANCHOR.match(buffer[at : at + 40]):
            yield at
        at = buffer.find(_WORD, at + 1, end)


def keep_tail(buffer: Buffer, harvest: Harvest) -> None:
    """Keep what stands at a file's beginning of an event whose durations are lost: it closes more than it opens."""
    head = buffer[:LONGEST_PIECE]
    following = _BEGINS.search(head)
    text = head[: head.rfind(b"\n", 0, following.start()) + 1].rstrip().rstrip(b"[{") if following else b""
    if text.count(b"}") > text.count(b"{") and _WORD not in text and _RUN_KEY not in text:
        keep_piece(buffer, len(text), harvest, _OF_A_TAIL)


def keep_piece(buffer: Buffer, end: int, harvest: Harvest, shown: re.Pattern[bytes] = _PIECE) -> None:
    """Keep what the text up to `end` holds of an event without durations, if this pattern shows that it is one's."""
    if found := shown.search(buffer[: min(end, LONGEST_PIECE)]):
        keep_early(buffer, 0, end, found.start(), "a piece of an event: it holds no durations", harvest)


def keep_early(buffer: Buffer, begin: int, end: int, start: int, reason: str, harvest: Harvest) -> None:
    """Keep what [begin, end) holds of an event without durations, as one at `start`; `reason`: why it is none."""
    raw = bytes(buffer[begin : min(end, begin + LONGEST_PIECE)])
    keys = list(islice(_PIECE.finditer(raw), _KEYS_OF_A_PIECE))
    key = next((each for each in keys if not _IN_METRICS.search(raw, max(0, each.start() - 400), each.start())), None)
    found = None if key is None else _Cleared(buffer, begin, begin + key.start(key.lastindex or 0), end).partial(reason)
    keep(Found(start, end, None, reason, found and found.partial), harvest)


def _around(buffer: Buffer, begin: int, anchor: int, reach: int, following: int, depth: int) -> Iterator[Found]:
    """Yield what stands around an anchor: an event as it is, events in its strings, one in cleared text, a part.

    An object around it ends before `reach`, a few anchors on, since an event has one; `following` is the next anchor.
    """
    start, stop, found = _plain(buffer, begin, anchor, reach)
    if found.event is not None and tells_of_state(buffer[start:stop]):
        yield found
        return
    inside = _in_strings(bytes(buffer[start:stop]), depth) if stop >= 0 and found.event is None else []
    if any(each.event is not None for each in inside):
        yield from (each._replace(start=start, end=stop) for each in inside)
        return
    region = _Cleared(buffer, begin, anchor, following)
    if found.event is None and (event := region.event()) is not None:
        found = event
        if tells_of_state(buffer[found.start : found.end]):
            yield found
            return
    part = region.partial(found.reason)
    if part is not None and (found.event is None or (part.partial and part.partial.event is not None)):
        yield part._replace(again=min(start, part.start))
    else:
        yield found._replace(again=start)


def _plain(buffer: Buffer, begin: int, anchor: int, end: int) -> tuple[int, int, Found]:
    """Return where the object around an anchor begins and ends (-1: it does not), and the event that it is, if any.

    It is the object that begins like an event, else the innermost one that holds the anchor.
    """
    head = _head(buffer, begin, anchor)
    if head >= 0:
        start, stop = innermost(buffer, head, anchor, end)
        with suppress(Broken):
            return start, stop, Found(start, stop, decode(bytes(buffer[start : max(stop, start)])))
    start, stop = innermost(buffer, begin, anchor, end)
    if stop < 0:
        return start, stop, Found(start, _behind(buffer, anchor), None, CUT_OFF)
    try:
        return start, stop, Found(start, stop, decode(bytes(buffer[start:stop])))
    except Broken as broken:  # whatever spoiled it may have moved its end: go on right behind the anchor
        return start, stop, Found(start, _behind(buffer, anchor), None, broken.reason)


class _Cleared:
    """The text around a key without what was put around and into it; each byte stays in its place."""

    def __init__(self, buffer: Buffer, begin: int, anchor: int, end: int) -> None:
        self._low = max(begin, anchor - _REACH)
        self._anchor = anchor - self._low
        self._raw = bytes(buffer[self._low : min(end, anchor + _REACH)])
        self._text = cleared(self._raw, self._anchor)

    def event(self) -> Found | None:
        """Return the whole event around the key, if there is one now."""
        head = _head(self._text, 0, self._anchor)
        start, stop = innermost(self._text, max(head, 0), self._anchor, len(self._text))
        if stop >= 0:
            with suppress(Broken):
                return Found(self._low + start, self._low + stop, decode(self._text[start:stop]))
        return None

    def partial(self, reason: str) -> Found | None:
        """Return the record around the key as far as it goes; None when nothing there can be read."""
        begin = opens_at(self._text, self._anchor)
        text = self._text[begin:].decode("utf-8", "replace")
        fragment = Fragment(text)
        partial = of_fragment(fragment)
        if partial is None:
            return None
        end = max(begin + len(text[: fragment.end].encode()), self._anchor + 1)
        line = self._text.rfind(b"\n", 0, begin) + 1  # what was cleared before it is needed to read it again
        start = begin if self._raw[line:begin] == self._text[line:begin] else line
        return Found(self._low + start, self._low + end, None, reason, partial)


def tells_of_state(event: bytes) -> bool:
    """Return whether an event has the list of its state operators, which Spark writes even where it is empty.

    A listener of one's own may leave it out: then nobody knows whether the query keeps state.
    """
    return _OF_STATE in event


def _head(buffer: Buffer, begin: int, anchor: int) -> int:
    """Return where the object opens that begins like an event, or -1; odd quotes before it do not matter."""
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
    """Return [start, end) of the innermost object around the anchor; the end is -1 when it does not close."""
    opened: list[int] = []
    for token in _TOKEN.finditer(buffer, begin, end):  # type: ignore[arg-type]
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


def _in_strings(raw: bytes, depth: int) -> list[Found]:
    """Return the events in the strings of a JSON object, or in objects inside it."""
    if depth >= _DEEPEST:
        return []
    try:
        return list(_walk(json.loads(raw), depth))
    except ValueError:
        return []
    except RecursionError:
        return [Found(0, 0, None, "nested too deeply")]


def _walk(thing: Any, depth: int) -> Iterator[Found]:
    if isinstance(thing, list) and thing and all(isinstance(item, str) for item in thing):
        thing = "".join(thing)
    if isinstance(thing, str):
        if _WORD.decode() in thing:
            raw = thing.encode("utf-8", "replace")
            yield from find_events(raw, 0, len(raw), depth + 1)
    elif is_event(thing):
        try:
            yield Found(0, 0, from_object(thing))
        except Broken as broken:
            yield Found(0, 0, None, broken.reason)
    elif isinstance(thing, (dict, list)):
        for item in thing.values() if isinstance(thing, dict) else thing:
            yield from _walk(item, depth)


def cleared(raw: bytes, anchor: int) -> bytes:
    """Return the text with blanks in place of all that is foreign to the record with a key at `anchor`."""
    line, end = raw.rfind(b"\n", 0, anchor) + 1, raw.find(b"\n", anchor)
    text = _FOREIGN.sub(_blank, _without(raw, _repeated(raw, line)))
    if _QUOTED.match(text[line : len(text) if end < 0 else end]):
        return _unquoted(text, line)
    marks = _MARKS.match(text[line:anchor])  # of comments, of a collector
    text = _without(text, marks[0].strip() if marks else b"")
    key = _BARE_KEY.match(text, anchor)
    behind = text[key.end() : key.end() + 2] if key else b""
    if behind[:1] == b"\\" or b"\\n" in text[max(line, anchor - 40) : anchor]:
        return _unescaped(text)
    return _DOUBLED_QUOTE.sub(_quote, _OUTER_QUOTE.sub(b" ", text)) if behind == b'""' else text


def _without(text: bytes, prefix: bytes) -> bytes:
    """Return the text with blanks for a prefix of its lines, whose digits may differ: they are those of a time."""
    if not prefix:
        return text
    return re.sub(rb"(?m)^[ \t]*" + re.sub(rb"\d+", rb"\\d+", re.escape(prefix)), _blank, text)


def _repeated(text: bytes, line: int) -> bytes:
    """Return what this line and the next begin with, but for digits, before JSON: a scheduler's or a logger's words."""
    first, _, rest = text[line : line + _TWO_LINES].partition(b"\n")
    second = rest.partition(b"\n")[0]
    pairs = zip(first.translate(_ZEROS), second.translate(_ZEROS), strict=False)
    common = bytes(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)).partition(b'"')[0].rstrip()
    follows = second[len(common) :].lstrip()[:1]
    return first[: len(common)] if follows in (b'"', b"}", b"]") and _NAME.search(common) else b""


def _unquoted(text: bytes, line: int) -> bytes:
    """Return the text with the quoted lines around one unquoted, as they stand in a program."""
    before, after = text[:line].split(b"\n")[:-1], text[line:].split(b"\n")
    first, last = len(before), 0
    while first and _QUOTED.match(before[first - 1]):
        first -= 1
    while last < len(after) and _QUOTED.match(after[last]):
        last += 1
    return b"\n".join([*before[:first], *map(_inner, [*before[first:], *after[:last]]), *after[last:]])


def _inner(line: bytes) -> bytes:
    """Return what stands between the quotes of a line, as its program means it."""
    match = _QUOTED.match(line)
    assert match is not None
    start, end = match.span("double" if match["double"] is not None else "single")
    return b" " * start + _unescaped(line[start:end]) + b" " * (len(line) - end)


def _unescaped(text: bytes) -> bytes:
    return _ESCAPED_QUOTE.sub(_quote, _ESCAPE.sub(lambda found: b"\n " if found[1] == b"n" else b"  ", text))


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _quote(match: re.Match[bytes]) -> bytes:
    """Return a plain quote, with blanks outside of what it opens or closes."""
    quote, blanks = b"'" if match["single"] else b'"', b" " * (len(match[0]) - 1)
    return quote + blanks if match["closes"] is not None else blanks + quote


def opens_at(text: bytes, anchor: int) -> int:
    """Return where the record opens that has a key at `anchor`: at its bracket, else at its first key."""
    line = first = text.rfind(b"\n", 0, anchor) + 1
    while first and _OF_A_RECORD.match(text[text.rfind(b"\n", 0, first - 1) + 1 : first - 1]):
        first = text.rfind(b"\n", 0, first - 1) + 1
    opened: list[int] = []
    above = _STRING.sub(_blank, text[first:anchor])
    for at, mark in enumerate(above, first):
        if mark in b"{[":
            opened.append(at)
        elif mark in b"}]" and opened:
            opened.pop()
    if opened or first < line:
        return opened[-1] if opened else first
    return min((at for at in (text.find(b'"', line, anchor), text.find(b"'", line, anchor)) if at >= 0), default=line)
