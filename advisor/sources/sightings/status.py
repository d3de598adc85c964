"""What `query.status` says, and what `query.exception()` and an empty `query.lastProgress` beside it do.

The messages are those that Spark 4.3.0 gave when it was asked in quick succession from a start to an end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from advisor.sources.sightings.marked import Words, marked
from advisor.sources.sightings.query import Told, error

_STATUS: Final = marked(
    ("istriggeractive", "streamingquerystatus("),
    r"""(?x) ["']message["']\s{0,9}:\s{0,9}(?P<quote>["'])(?P<message>(?:\\.|(?!(?P=quote)).){1,4000})(?P=quote)
    (?=[^{}]{0,200}isTriggerActive)
    | StreamingQueryStatus\(message\s{0,3}=\s{0,3}(?P<printed>[^\n]{1,4000}?),\s{0,3}isDataAvailable""",
)
_TERMINATED: Final = "Terminated with exception: "
_MEANS: Final = {
    "Stopped": (
        "the query has ended: query.exception() tells whether by an error, and query.recentProgress still holds its "
        "last batches"
    ),
    "Waiting for data to arrive": "the query runs, and waits for data: it found no new row when it last looked",
    "Waiting for next trigger": "the query runs, and waits for its next trigger",
    "Processing new data": "the query runs, and works on a batch",
    "Writing offsets to log": "the query runs, and writes the offset log of its next batch",
    "Getting offsets from": "the query runs, and asks a source for what is new",
    "Initializing": "the query starts: before its first batch has ended there is no progress",
}
"""By how the message begins."""
_EMPTY: Final = re.compile(
    r"(?:lastProgress|recentProgress)\b[^\n]{0,80}(?:\n[ \t]{0,9}\w{1,20}: [^\n=]{1,120}=)?"
    r"\s{1,9}(?:None|null|\[\s{0,9}\]|Array\(\))"
)
_NO_ERROR: Final = re.compile(
    r"(?<=\.)exception\b[^\n]{0,60}(?:\n[ \t]{0,9}\w{1,20}: [^\n=]{1,120}=)?\s{1,9}(?:None|null)\b"
)
_NO_PROGRESS: Final = (
    "query.lastProgress is empty until the first trigger is complete, and stays so with continuous processing"
)


def read_status(text: str) -> Iterator[Told]:
    """How the query ended, where the last status in a text tells it."""
    message = _last(text)
    if message is not None and message.startswith(_TERMINATED):
        yield from (told for told in error(_unescaped(message[len(_TERMINATED) :])) if told.value is not None)
    elif message == "Stopped":
        yield Told("stopped", value=True)


def what_status_says(text: str) -> str | None:
    """What the last status, an empty lastProgress and an exception of None tell, in one line; None without them."""
    message, empty = _last(text), _EMPTY.search(text) is not None
    if message is None and not empty:
        return None
    meaning = next((words for start, words in _MEANS.items() if message and message.startswith(start)), "")
    status = f"this is query.status, which tells no durations{f': {meaning}' if meaning else ''}" if message else ""
    died = "query.exception() is None: it did not end with an error" if _NO_ERROR.search(text) else ""
    look = "" if message or died else "look at query.exception() and query.status, and "
    nothing = f"{_NO_PROGRESS}: {look}come back after some batches" if empty else ""
    return "; ".join(filter(None, (status, nothing, died)))


def _last(text: str) -> str | None:
    messages = [quoted or printed for _, quoted, printed in _STATUS.findall(Words(text))]
    return messages[-1] if messages else None


def _unescaped(message: str) -> str:
    return message.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
