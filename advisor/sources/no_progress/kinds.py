"""What a text without progress is instead: the one line that is said of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from advisor.metrics.words import milliseconds
from advisor.redaction import redact
from advisor.sources.formats.gauges import of_the_last_trigger
from advisor.sources.no_progress.behind import waiting
from advisor.sources.no_progress.figures import phases_alone, tables_alone
from advisor.sources.no_progress.lengths import batches_of
from advisor.sources.no_progress.paced import grown, overdue
from advisor.sources.no_progress.pieces import at_work
from advisor.sources.no_progress.rates import busy
from advisor.sources.no_progress.statefigures import state_figures
from advisor.sources.no_progress.unmeasured import behind_without_figures
from advisor.sources.sightings.quotes import named_error
from advisor.sources.sightings.status import what_status_says

CONTINUOUS: Final = (
    "continuous processing writes no progress: query.lastProgress and query.recentProgress stay empty, however long it "
    "runs, and a listener hears of its start and end only"
)
OF_CONTINUOUS: Final = (
    "query.exception() tells whether it died; how long records take shows in its sink alone: compare the time at which "
    "each was written there with that of its source"
)
_OF_CONTINUOUS: Final = re.compile(
    r"(?i)trigger\s?\(\s?continuous\s?=|Trigger\.Continuous\b|ContinuousTrigger"
    r"|continuous (?:processing|trigger|mode)\b"
)
_REAL_TIME: Final = re.compile(r"""["']?(e2eLatencyMs|processingLatencyMs)["']?\s*[:=]\s*\{([^{}]{1,400})\}""")
_PERCENTILE: Final = re.compile(r"""["']?[pP](50|99)["']?\s*[:=]\s*(\d{1,9}(?:\.\d{1,3})?)""")
_IDLE: Final = re.compile(r"Streaming query has been idle and waiting for new data more than (\d{1,15}) ms")
_DIED: Final = "terminated with error"
_FRAME: Final = re.compile(r"\n[ \t]+at org\.apache\.spark\.sql\.execution\.streaming\.\w{0,60}Execution\b")
_OF_A_TRACE: Final = re.compile(r"[ \t]*(?:at |\.\.\. )|[ \t]*$")
_ERROR: Final = re.compile(r"^(?:Caused by: )?(?:[\w$]+\.){1,12}[\w$]+(?:Exception|Error)\b")
_SHOWN: Final = 200
_FRAMES: Final = 16 << 10
"""Bytes of a trace above the frame of the query."""
_DSTREAMS: Final = (
    "this is of DStreams (Spark Streaming), which write no progress: the advisor reads Structured Streaming"
)
_OF_ANOTHER: Final = {
    r"org\.apache\.flink\b": "this is a log of Apache Flink, and the advisor reads Spark's Structured Streaming",
    r"org\.apache\.kafka\.streams\b": (
        "this is a log of Kafka Streams, and the advisor reads Spark's Structured Streaming"
    ),
    r"Total delay: [\d.]+ s for time \d+ ms|\b(?:StreamingContext|DStreams?|JobGenerator)\b"
    r"|\bspark\.streaming\.(?:receiver|driver)\.": _DSTREAMS,
    r"\bStreaming job from \[output operation \d+, batch time\b": (
        f"{_DSTREAMS}. A table of jobs tells how long each took: add up those of one batch time, and compare the sum "
        "with the batch interval"
    ),
}
_KINDS: Final = {
    r"(?m)^Batch: \d+\s*\n-{5}": "this is what the console sink prints, which tells no durations",
    r"== (?:Physical|Parsed Logical) Plan ==": "this is a plan, which tells no durations",
    r"\"batchWatermarkMs\"\s{0,9}:": (
        "this is a file of a checkpoint's offset log: it tells where a batch ended and its settings, and no durations"
    ),
    r"\b(?:HDFSBacked|RocksDB)StateStoreProvider(?::\d{1,5})?(?: -|:) |\bStateStore: ": (
        "these are lines of the state store, which tell its versions and files, and no durations of a batch: give the "
        "driver's log of the same time with its progress"
    ),
    r"\bexecutor\.Executor\b.{0,12} (?:Running|Finished) task ": (
        "these are lines of an executor, and Spark writes progress on the driver: give the driver's log"
    ),
    r"\b(?:read|write)Stream\b(?:\(\))?[ \t]*\\?(?:\s{0,200}\.\s{0,9}\w{1,40}\s?\(|[ \t]*\n)": (
        "this shows code of a query, in which the advisor finds no durations"
    ),
    r"(?i)\b(?:spark|streaming|kafka|latency)\b[^?]{0,1000}\?": (
        "this is a question in words, and the advisor judges what Spark wrote of the query"
    ),
}
"""By what stands in the text."""
_OF_STREAMS: Final = re.compile(r"(?i)\b(?:spark|streaming|streams?|kafka|micro-?batch(?:es)?|foreach_?batch)\b")
_OF_A_LOG: Final = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b")
_WORD: Final = re.compile(r"(?<![\w./])[^\W\d_]{2,20}(?=[ ,.;:?!)\n])")
_FEWEST_WORDS: Final = 25
_IN_WORDS: Final = "this is a text in words, in which the advisor finds no figures of a batch"


def kind(text: str) -> str | None:
    """What the text is, in one line; None where nothing shows it."""
    if "rogress" in text and _OF_CONTINUOUS.search(text):
        return CONTINUOUS
    return (
        busy(text)
        or at_work(text)
        or overdue(text)
        or grown(text)
        or _real_time(text)
        or waiting(text)
        or what_status_says(text)
        or _named(text)
        or _idle(text)
        or _trace(text)
        or of_the_last_trigger(text)
        or state_figures(text)
        or _marked(_OF_ANOTHER, text)
        or batches_of(text)
        or behind_without_figures(text)
        or phases_alone(text)
        or _marked(_KINDS, text)
        or tables_alone(text)
        or _in_words(text)
    )


def _marked(kinds: Mapping[str, str], text: str) -> str | None:
    return next((words for mark, words in kinds.items() if re.search(mark, text)), None)


def _named(text: str) -> str | None:
    """An error that the text names, and Spark's line about falling behind where that stands there, too."""
    error, behind = named_error(text), behind_without_figures(text)
    return f"{error}. Besides, {behind}" if error and behind else error


def _in_words(text: str) -> str | None:
    """That it is prose on a stream: no log, and words rather than code."""
    if _OF_A_LOG.search(text) or not _OF_STREAMS.search(text):
        return None
    words = _WORD.findall(text)
    enough = len(set(words)) >= _FEWEST_WORDS and sum(len(word) + 1 for word in words) > len(text) / 2
    return _IN_WORDS if enough else None


def _idle(text: str) -> str | None:
    """What Spark's own lines say of a query to which no data comes; they stand where progress would."""
    waits = [int(ms) for ms in _IDLE.findall(text)]
    if not waits or _DIED in text:
        return None
    lines = "1 line of Spark's says" if len(waits) == 1 else f"{len(waits):,} lines of Spark's say"
    return (
        f"{lines} that the query is idle: for more than {milliseconds(max(waits))} no new data came, and no batch ran; "
        "that is no slow query, and nothing is told of its batches"
    )


def _trace(text: str) -> str | None:
    """The error above the frames of a streaming query that stand in a trace by themselves."""
    frame = _FRAME.search(text)
    lines = text[max(0, frame.start() - _FRAMES) : frame.start()].splitlines() if frame else []
    error = next((line.strip() for line in reversed(lines) if not _OF_A_TRACE.match(line)), "")
    if not _ERROR.match(error):
        return None
    words = redact(error)[:_SHOWN].rstrip(": ")
    return f"this is an error that a streaming query met, none that the advisor knows: {words}"


def _real_time(text: str) -> str | None:
    """The record latencies of real-time mode that the text names, end to end first."""
    told = {name: dict(_PERCENTILE.findall(figures)) for name, figures in _REAL_TIME.findall(text)}
    words = {"e2eLatencyMs": "end to end", "processingLatencyMs": "from reading to writing"}
    said = [
        f"{meaning} {float(told[name]['50']):,.0f} ms (p50) and {float(told[name]['99']):,.0f} ms (p99)"
        for name, meaning in words.items()
        if told.get(name, {}).keys() >= {"50", "99"}
    ]
    return f"these are record latencies that real-time mode measured: {', '.join(said)}" if said else None
