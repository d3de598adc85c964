"""Records that are not whole, or not JSON: cut off, commented, elided, printed by Python or Scala.

What a fragment holds becomes an event if it can be judged, with the parts that it lacks, and words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeGuard, TypeVar

from advisor.progress.decoding import UNUSUAL, as_instant, decode_usual, from_object, in_latest_words, is_instant
from advisor.progress.shapes import Broken, Progress, with_totals

UNNAMED: Final = "unknown"
"""Stands for the id of a query whose record does not show it."""
PARTS: Final = {
    "id": "id",
    "timestamp": "timestamp",
    "numInputRows": "input rows",
    "durationMs": "durations",
    "eventTime": "event time",
    "stateOperators": "state operators",
    "sources": "sources",
    "sink": "sink",
}
"""The parts of an event that a record may lack, in Spark's order, and the words for them."""
FROM_UI: Final = "ui"
"""Stands among the parts that a batch lacks where it was read from a driver's pages."""
INPUT_RATE: Final = "inputRowsPerSecond"
"""Spark leaves it out of the first batch after a start, or writes 0: there is no batch before it."""
_ANY_TIME: Final = "1970-01-01T00:00:00.000Z"
_SHOWN: Final = 3
_LARGEST: Final = 1e18
_NAMES: Final = {"runId", "name"}
"""What Spark writes between the id and the timestamp."""
_JUDGED: Final = ("triggerExecution", "addBatch")
"""Phases without which a record that lacks some of its durations is not judged."""
_BEHIND_THE_ROWS: Final = {"commitTimeMs", "numShufflePartitions"}
"""Spark writes them behind the rows of an operator: where one stands, the operator was not cut before it."""
_OF_A_PART: Final = {
    "stateOperators": ("operatorName", "numRowsTotal", "numShufflePartitions", "numStateStoreInstances"),
    "sources": ("description",),
}
"""What is kept of a member that is not all there in a list that is not: nothing that is summed over members."""
_OF_PYTHON: Final = re.compile(r"'|,\s*[}\]]")
"""What a printed dict has, and JSON has not."""
LONGEST_PRINTED: Final = 1 << 20
"""Letters of a printed dict; to read one takes a hundred times as long as JSON."""
_TOKEN: Final = re.compile(
    r"""
    (?P<string>[ubr]?(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<elision>\.\.\.|…)
    |(?P<instant>\d{4}-\d\d-\d\dT[\d:.]+Z)
    |(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d][\w.$-]*(?:"(?=[ ]*:))?)
    |(?P<mark>[{}\[\]():,=])
    |(?P<other>["'][^\n]*|.|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
"""A quote that nothing closes takes the rest of its line; at the end of the text stands a token of no letters."""
_BETWEEN: Final = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*|<--?[ ][^\n]*|←[^\n]*)*", re.DOTALL)
"""Blanks and comments."""
_ELIDED: Final = re.compile(
    r"(?i)(?://|\#|/\*|<--?|←)[ \t*]{0,40}"
    r"(?:\.\.\.|…|.{0,300}?\b(?:omitted|elided|snip|skipped|left out|shortened|truncated|etc|other phases)\b)"
)
"""A comment that marks an omission."""
_CUT: Final = ("...", "…")
_CLOSING: Final = ("}", "]", ")")
_LITERALS: Final = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "None": None, "nan": None, "NaN": None, "inf": None,
}  # fmt: skip
_QUOTED_CALLS: Final = ("UUID", "Decimal", "Timestamp", "str")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_MEANT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ONLY_ONCE: Final = ("id", "runId")
_OFFSETS: Final = ("startOffset", "endOffset", "latestOffset")
UNREADABLE: Final = "not told"
"""Stands for an offset that is there and cannot be read: a name of a program's, or elided."""
_DEEPEST: Final = 40
_LONGEST_NUMBER: Final = 400
_LOST: Final = object()
_T = TypeVar("_T")


class Partial(NamedTuple):
    """What a partial record gives: its event if it can be judged, the parts that it lacks, its words, run and batch."""

    event: Progress | None
    lacks: tuple[str, ...]
    says: str
    batch: tuple[Any, Any] = (None, None)


def of_fragment(fragment: Fragment) -> Partial | None:
    """Return what a fragment gives; None when nothing in it belongs to a progress event.

    It is an event only where `durationMs` is whole, or has both triggerExecution and addBatch. What it lacks stays
    empty in the event: ask `lacks` before nothing is taken for none.
    """
    thing = in_latest_words(fragment.thing)
    if "durationMs" not in thing and "triggerExecution" in thing:
        thing = {"durationMs": thing}
    lacks = tuple(_lacking(thing, fragment))
    says = ", ".join(_said(thing))
    if not says:
        return None
    thing = _with_its_length(thing)
    durations = thing.get("durationMs")
    judged = isinstance(durations, dict) and all(isinstance(durations.get(phase), int) for phase in _JUDGED)
    event = _event(thing, lacks) if judged or "durationMs" not in lacks else None
    return Partial(event, lacks, says, (thing.get("runId"), thing.get("batchId")))


def _with_its_length(thing: dict[str, Any]) -> dict[str, Any]:
    """Return the record with a triggerExecution by its rows and rate, where durations were cut between addBatch and it.

    Spark computes processedRowsPerSecond as the rows over the length; a phase that is longer contradicts it.
    """
    durations, rows, rate = (thing.get(key) for key in ("durationMs", "numInputRows", "processedRowsPerSecond"))
    if not isinstance(durations, dict) or {"triggerExecution", "walCommit"} & durations.keys():
        return thing
    if not (isinstance(durations.get("addBatch"), int) and _above_zero(rows) and _above_zero(rate)):
        return thing
    took = 1000 * rows / rate
    fits = all(ms <= took < _LARGEST for ms in durations.values() if isinstance(ms, int))
    return {**thing, "durationMs": {**durations, "triggerExecution": round(took)}} if fits else thing


def _above_zero(number: object) -> TypeGuard[float]:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 < number < _LARGEST


def _lacking(thing: dict[str, Any], fragment: Fragment) -> Iterator[str]:
    for part in PARTS:
        cut = part in fragment.lacks and not (part == "sink" and "description" in (thing.get(part) or ()))
        if cut or not _is_there(part, thing, fragment):
            yield part
    if _without_the_rate(thing) and fragment.end and not fragment.elided:
        yield INPUT_RATE


def _is_there(part: str, thing: dict[str, Any], fragment: Fragment) -> bool:
    match part:
        case "id":
            return bool(thing.get("id") or thing.get("runId"))
        case "timestamp":
            return as_instant(thing.get(part)) is not None
        case "eventTime":
            return part in thing or _has_no_event_time(thing, fragment)
        case "durationMs":
            return isinstance(thing.get(part), dict) and _of_all_phases(thing)
        case "numInputRows":
            return thing.get(part) is not None or _counted(thing, fragment)
    return thing.get(part) is not None


def _of_all_phases(thing: dict[str, Any]) -> bool:
    """Return whether durations hold the whole trigger, and addBatch where rows show that a batch ran."""
    durations = thing["durationMs"].keys()
    return "triggerExecution" in durations and ("addBatch" in durations or not _above_zero(thing.get("numInputRows")))


def _has_no_event_time(thing: dict[str, Any], fragment: Fragment) -> bool:
    """Return whether a record without event time shows that its query has none.

    Spark writes it before the operators, so a record that was cut behind these shows it. One that was closed without
    its other parts, or has gaps between them, does not: somebody chose its members.
    """
    if "stateOperators" not in thing or fragment.elided:
        return False
    others = [part in thing or (part == "id" and bool(_NAMES & thing.keys())) for part in PARTS if part != "eventTime"]
    return all(others if fragment.whole else others[others.index(True) : len(others) - others[::-1].index(True)])


def _without_the_rate(thing: dict[str, Any]) -> bool:
    """Return whether INPUT_RATE is missing where Spark writes it, between the rows and the other rate."""
    keys = [*thing]
    at = keys.index("numInputRows") if "numInputRows" in thing else len(keys)
    known = INPUT_RATE in thing or thing.get("batchId") == 0  # batch 0 is the first in any case
    return not known and keys[at + 1 : at + 2] == ["processedRowsPerSecond"]


def _counted(thing: dict[str, Any], fragment: Fragment) -> bool:
    """Return whether the sources hold the rows that the event leaves out."""
    sources = _objects(thing.get("sources"))
    return bool(sources) and "sources" not in fragment.lacks and all("numInputRows" in each for each in sources)


def _event(thing: dict[str, Any], lacks: Iterable[str]) -> Progress | None:
    known = {key: value for key, value in thing.items() if key not in lacks or key == "durationMs"}
    known |= {part: _trimmed(part, _objects(thing.get(part))) for part in _OF_A_PART if part in lacks}
    known |= {"id": known.get("id") or known.get("runId") or thing.get("name") or UNNAMED}
    try:
        event = from_object({**known, "timestamp": known.get("timestamp", _ANY_TIME)})
    except Broken:
        return None
    if "timestamp" in lacks:
        event.timestamp = ""
    return event if "numInputRows" in lacks or event.num_input_rows is not None else with_totals(event)


def _trimmed(part: str, things: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the members of a list that is not all there; an operator with its times keeps them."""
    return [
        each if _BEHIND_THE_ROWS & each.keys() else {key: each[key] for key in _OF_A_PART[part] if key in each}
        for each in things
    ]


def _said(thing: dict[str, Any]) -> Iterator[str]:
    """Yield what a record holds, in words: `batch 0`, `7,440 rows`, `addBatch 12,713 ms`, `sink FileSink[…]`."""
    if isinstance(thing.get("batchId"), int):
        yield f"batch {thing['batchId']}"
    if isinstance(thing.get("numInputRows"), int):
        yield _rows(thing["numInputRows"])
    if isinstance(durations := thing.get("durationMs"), dict):
        phases = [f"{key} {ms:,} ms" for key, ms in durations.items() if isinstance(ms, int)]
        yield from [each for each in phases if each.startswith(_JUDGED)] or phases[:_SHOWN]
    for operator in _objects(thing.get("stateOperators"))[:_SHOWN]:
        held, name = operator.get("numRowsTotal"), operator.get("operatorName") or "without a name"
        yield f"state operator {name}" + (f" with {_rows(held)}" if isinstance(held, int) else "")
    yield from (f"source {each['description']}" for each in _objects(thing.get("sources")) if each.get("description"))
    if isinstance(sink := thing.get("sink"), dict) and sink.get("description"):
        yield f"sink {sink['description']}"


def _rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def _objects(things: Any) -> list[dict[str, Any]]:
    return [each for each in things if isinstance(each, dict)] if isinstance(things, list) else []


def decode(raw: bytes) -> Progress:
    """Return the event in `raw`: JSON, or a dict as Python prints it.

    Raise Broken when it is not one whole event, or not one whose meaning is clear.
    """
    try:
        event = decode_usual(raw)
    except UNUSUAL:
        return decode_patiently(raw)
    return event if is_instant(event.timestamp) else decode_patiently(raw)


def decode_patiently(raw: bytes) -> Progress:
    """Return the event in `raw`, whatever its shape; Broken when it is none."""
    text = raw.decode("utf-8", "replace")
    try:
        return from_object(json.loads(text))
    except RecursionError:
        raise Broken("nested too deeply") from None
    except ValueError as error:
        printed = len(text) <= LONGEST_PRINTED and _OF_PYTHON.search(text)
        fragment = Fragment(text.strip()) if printed else None
        if fragment and fragment.whole and fragment.end == len(text.strip()):
            return from_object(fragment.thing)
        raise Broken(_why(text, error)) from None


def _why(text: str, error: ValueError) -> str:
    if "…" in text or "..." in text:
        return "shortened by hand: it holds '...'"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at its line {error.lineno}, column {error.colno}"
    return "no JSON: a number of thousands of digits"


class Fragment:
    """The object with which a text begins, at its bracket or at a key, read as far as it goes in one pass over tokens.

    A member is kept only when its value is beyond doubt: a number that may be cut, a name that stands for something
    else and whatever `...` touches are left out. Comments and trailing commas are no loss.
    """

    def __init__(self, text: str) -> None:
        self.thing: dict[str, Any] = {}
        self.lacks: set[str] = set()
        """The outermost keys whose values were left out or read in part."""
        self.elided = False
        """Whether members of it were left out on the way: what stands nowhere is not known to be absent."""
        self._text = text
        self._stopped = self._unread = False
        self._depth = 0
        self._go(0)
        opened = self._now[0] == "{"
        if opened:
            self._take()
        whole = self._nested(self.thing, self._members) if opened else self._members(self.thing)
        self.whole = opened and whole and not self._unread
        """Whether the object was closed and nothing in it was left out."""

    def _go(self, at: int) -> None:
        self.end = at  # of the last token that was taken
        self._now = self._token(at)
        self._next = self._token(self._now.end())

    def _take(self) -> None:
        self.end, self._now = self._now.end(), self._next
        self._next = self._token(self._now.end())

    def _token(self, at: int) -> re.Match[str]:
        """Return the next token at or behind a place."""
        between = _BETWEEN.match(self._text, at)
        token = _TOKEN.match(self._text, between.end() if between else at)
        assert token is not None
        return token

    def _nested(self, held: _T, read: Callable[[_T], bool]) -> bool:
        """Read what stands inside a bracket into `held`; return whether nothing of it is missing."""
        self._depth += 1
        whole = self._depth < _DEEPEST and read(held)
        self._depth -= 1
        return whole

    def _members(self, thing: dict[str, Any]) -> bool:
        """Read members into `thing` up to its bracket; return whether there was one, and no loss before it."""
        whole = True
        while not self._stopped and (text := self._now[0]):
            noted = _ELIDED.search(self._text, self.end, self._now.start()) is not None
            whole &= not noted
            self.elided |= self._depth <= 1 and (noted or self._now.lastgroup == "elision")
            if text == "}":
                self._take()
                if self._depth:
                    return whole
                if "durationMs" in thing or self._now[0] not in (",", "}", "]"):
                    return False
                thing.clear()  # text that begins inside an object: what was read so far belongs further in
            elif text == ",":
                self._take()
            elif self._is_key():
                whole &= self._member(thing)
            elif self._now.lastgroup in ("string", "elision") or text in _LITERALS:
                self._take()  # a member without a value: something was left out
                whole = False
            else:
                whole = False
                self._skip_line()
        return False

    def _is_key(self) -> bool:
        return self._now.lastgroup in ("string", "word", "number") and self._next[0] in (":", "=")

    def _member(self, thing: dict[str, Any]) -> bool:
        key = _plain(self._now[0]) if self._now.lastgroup == "string" else self._now[0].rstrip('"')
        if key in thing and not self._depth and "durationMs" not in thing:
            for prose in [*thing][: [*thing].index(key) + 1]:  # it was about the record that begins behind it
                del thing[prose]
        if key in thing or (key in _ONLY_ONCE and self._depth > 1):
            opened = self._text.rfind("{", 0, self._now.start())
            self.end = self.end if self._text[opened + 1 : self._now.start()].strip() else opened
            self._stopped = True  # the next record has begun
            return False
        self._take()
        self._take()
        value, whole = self._value()
        goes_on = not self._stopped and self._now[0] in (",", "}")
        if key in _OFFSETS and not whole and goes_on:
            value, whole, self._unread = UNREADABLE, True, True
        offset = self._depth > 1 and isinstance(value, (dict, list))
        if value is not _LOST and (whole or not offset):  # partitions that are not all there would be miscounted
            thing[key] = value
        if not whole and self._depth <= 1:
            self.lacks.add(key)
        return whole

    def _value(self) -> tuple[Any, bool]:
        token = self._now
        if token[0] in (*_CLOSING, ",", ""):
            return _LOST, False
        self._take()
        if token[0] in ("{", "["):
            held: Any = {} if token[0] == "{" else []
            return held, self._nested(held, self._members if token[0] == "{" else self._items)
        value = self._plain_value(token)
        if value is _LOST:
            self._skip_value(token.end())
        return value, value is not _LOST

    def _plain_value(self, token: re.Match[str]) -> Any:
        text = token[0]
        if token.lastgroup in ("string", "instant"):
            read = _plain(text) if token.lastgroup == "string" else text
            return _LOST if read.endswith(_CUT) else read
        if token.lastgroup == "number":
            thousands = self._next.lastgroup == "number" and self._next.start() == self.end + 1  # as in `12,345`
            ends = self._now[0] in _CLOSING or (self._now[0] == "," and not thousands)
            return _number(text) if ends else _LOST
        if text in _QUOTED_CALLS and self._now[0] == "(" and self._next.lastgroup == "string":
            self._take()
            read = _plain(self._now[0])
            self._take()
            if self._now[0] == ")":
                self._take()
                return read
        return _LITERALS.get(text, _LOST)

    def _items(self, values: list[Any]) -> bool:
        whole = True
        while not self._stopped and (text := self._now[0]) and text not in ("}", ")"):
            if text in ("]", ",") or self._now.lastgroup == "elision":
                self._take()
                if text == "]":
                    return whole
                whole &= text == ","
                continue
            value, all_of_it = self._value()
            whole &= all_of_it
            if value is not _LOST:
                values.append(value)
        return False

    def _skip_value(self, at: int) -> None:
        """Go on behind an empty value: at the next comma or bracket, at the latest on the next line."""
        line_end, opened = self._text.find("\n", at), 0
        limit = len(self._text) if line_end < 0 else line_end
        while self._now[0] and self._now.start() < limit and (opened or self._now[0] not in (",", *_CLOSING)):
            opened += (self._now[0] == "(") - (self._now[0] == ")")
            self._take()

    def _skip_line(self) -> None:
        """Leave out a line that is none of the record, if the record goes on behind it; else end here."""
        was, line_end = self.end, self._text.find("\n", self._now.start())
        if line_end >= 0:
            self._go(line_end)
            if self._now[0] in ("}", "]") or (self._now.lastgroup == "string" and self._is_key()):
                return
        self.end, self._stopped = was, True


def _number(text: str) -> int | float | object:
    if len(text) > _LONGEST_NUMBER:
        return _LOST
    return float(text) if "." in text or "e" in text or "E" in text else int(text)


def _plain(quoted: str) -> str:
    """Return the text in a quoted token."""
    inner = quoted.lstrip("ubr")[1:-1]
    return _ESCAPE.sub(_meant, inner) if "\\" in inner else inner


def _meant(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _MEANT.get(match[3], match[3])
