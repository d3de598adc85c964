"""Whole events in every form in which Spark, its users and their tools hand them around."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pprint import pformat
from typing import Any

from tests.made import events

Event = dict[str, Any]

KAFKA = {
    "description": "KafkaV2[Subscribe[orders]]", "startOffset": {"orders": {"0": 10, "1": 20}},
    "endOffset": {"orders": {"0": 15, "1": 25}}, "latestOffset": {"orders": {"0": 16, "1": 25}}, "numInputRows": 10,
    "inputRowsPerSecond": 10.5, "processedRowsPerSecond": 33.0,
    "metrics": {"avgOffsetsBehindLatest": "0.5", "maxOffsetsBehindLatest": "1", "minOffsetsBehindLatest": "0"},
}  # fmt: skip
STATE = {
    "operatorName": "stateStoreSave", "numRowsTotal": 7, "numRowsUpdated": 3, "allUpdatesTimeMs": 40,
    "numRowsRemoved": 0, "allRemovalsTimeMs": 0, "commitTimeMs": 90, "memoryUsedBytes": 1000,
    "numRowsDroppedByWatermark": 0, "numShufflePartitions": 2, "numStateStoreInstances": 2,
    "customMetrics": {"loadedMapCacheHitCount": 5, "rocksdbCommitFlushLatency": 12},
}  # fmt: skip


def made(count: int = 3) -> list[Event]:
    """Some events one after another, with a state operator and a Kafka source."""
    row = {
        "triggerExecution": 300, "latestOffset": 4, "getBatch": 0, "queryPlanning": 9, "walCommit": 30, "addBatch": 220,
        "commitOffsets": 31, "numInputRows": 10, "sources": [KAFKA], "operators": [STATE], "sink": "ForeachBatchSink",
        "eventTime": {"watermark": "2026-03-01T01:59:00.000Z"},
    }  # fmt: skip
    return events([row] * count)


def pretty(event: Event) -> str:
    """As the driver's log has it."""
    return json.dumps(event, indent=2, separators=(",", " : "))


def compact(event: Event) -> str:
    """On one line."""
    return json.dumps(event, separators=(",", ":"))


def zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip archive of these files."""
    with zipfile.ZipFile(made := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in members.items():
            archive.writestr(name, raw)
    return made.getvalue()


def log(header: str = "26/03/01 02:00:01 INFO MicroBatchExecution: ", words: str = "Streaming query made progress: ",
        form: Callable[[Event], str] = pretty) -> bytes:  # fmt: skip
    """A log with other lines around the events."""
    other = f"{header}Committed offsets for batch 7. Metadata OffsetSeqMetadata(0,1767225600000,Map(a -> b))\n"
    return "".join(f"{other}{header}{words}{form(event)}\n{other}" for event in made()).encode()


def each_line(prefix: Callable[[int], str], text: bytes | None = None) -> bytes:
    """A log of which a collector put something before each line."""
    lines = (text or log()).decode().splitlines()
    return "".join(f"{prefix(number)}{line}\n" for number, line in enumerate(lines)).encode()


def structured(event: Event, upper: bool = False) -> str:
    """Spark 4's structured log: the event stands there twice."""
    run, query = ("RUN_ID", "QUERY_ID") if upper else ("run_id", "query_id")
    text = pretty(event)
    told = {"ts": "2026-03-01T02:00:01.123Z", "level": "INFO", "msg": f"Streaming query made progress: {text}"}
    context = {run: event["runId"], query: event["id"], "streaming_query_progress": text}
    return json.dumps(told | {"context": context, "logger": "ProgressReporter"})


def of_event_log(event: Event) -> Event:
    """The progress as Jackson writes it: offsets as strings, no totals, empty maps."""
    source = {key: json.dumps(value) if key.endswith("Offset") else value for key, value in KAFKA.items()}
    left_out = ("numInputRows", "inputRowsPerSecond", "processedRowsPerSecond")
    kept = {key: value for key, value in event.items() if key not in left_out}
    return kept | {"sources": [source], "batchDuration": 301, "observedMetrics": {}}


def event_log() -> bytes:
    """An event log from Spark 2.1 on."""
    start, task = (
        '{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}',
        '{"Event":"SparkListenerTaskEnd","Stage ID":1}',
    )
    lines = [start, task, *map(in_event_log, made()), task]
    return ("\n".join(lines) + "\n").encode()


def in_event_log(event: Event) -> str:
    """An event's line there."""
    name = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"
    return compact({"Event": name, "progress": of_event_log(event)})


def notebook() -> bytes:
    """An exported notebook of Databricks, with events in its outputs, one of them as lists of lines."""
    first, second, third = made()
    dump = json.dumps({"progressJson": pretty(first)})
    cells = [
        {"cell_type": "code", "source": ["q.lastProgress"], "outputs": [{"data": {"text/plain": dump}}]},
        {"cell_type": "code", "outputs": [{"data": {"application/x": {"progressJson": pretty(second)}}}]},
        {"cell_type": "code", "outputs": [{"name": "stdout", "text": pretty(third).splitlines(keepends=True)}]},
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}, indent=1).encode()


def old_python(event: Event) -> str:
    """A dict as Python 2 prints it."""
    return repr(event).replace("{'", "{u'").replace(", '", ", u'").replace(": '", ": u'")


def glued(parts: Iterable[str], between: str = "\n") -> bytes:
    """Parts as one text."""
    return (between.join(parts) + "\n").encode()


def commented(mark: str, text: str) -> str:
    """Text as somebody put it into a program's comment."""
    return "\n".join(mark + line for line in text.splitlines())


def in_program(text: str) -> str:
    """Text as a string of a program, line by line."""
    return "val s =\n" + " +\n".join(f"  {json.dumps(line + chr(10))}" for line in text.splitlines()) + "\n"


def dataproc(event: Event) -> Event:
    """The API of Dataproc: other names, numbers as strings."""
    texts = {key: str(value) if isinstance(value, (int, float)) else value for key, value in event.items()}
    texts["durationMillis"] = {key: str(value) for key, value in texts.pop("durationMs").items()}
    texts["streamingQueryProgressId"] = texts.pop("id")
    return texts


_GLUE = (
    "2026-03-01 02:00:01,123 INFO  [stream execution thread for [id = 11111111-1111-1111-1111-111111111111, runId = "
    "22222222-2222-2222-2222-222222222222]] streaming.MicroBatchExecution (Logging.scala:logInfo(54)) - "
)
_MADE = "Streaming query made progress: "
_OF_DATABRICKS = [
    f"26/03/01 02:00:01 INFO ProgressReporter$: {_MADE}{compact(event)}\n"
    f"26/03/01 02:00:01 INFO MicroBatchExecution: {_MADE}{pretty(event)}"
    for event in made()
]
_BAR = "[Stage 1:>                                                          (0 + 2) / 2]\r"
_DOCKER = [
    {"log": line + "\n", "stream": "stdout", "time": "2026-03-01T02:00:01.1Z"} for line in log().decode().splitlines()
]


def table(form: Callable[[Event], str]) -> bytes:
    """A CSV export: quotes inside a cell are doubled."""
    text = io.StringIO()
    csv.writer(text).writerows([["at", "message"], *([number, form(event)] for number, event in enumerate(made()))])
    return text.getvalue().encode()


VARIANTS: dict[str, bytes] = {
    "1 Spark 2.1": log("26/03/01 02:00:01 INFO StreamExecution: "),
    "2 Spark 3": log(),
    "3 Spark 4": log("26/03/01 02:00:01 INFO ProgressReporter: "),
    "3 Spark 4, milliseconds": log("26/03/01 02:00:01.123 INFO ProgressReporter: "),
    "4 docker log4j1": log("2026-03-01 02:00:01 INFO  MicroBatchExecution:54 - "),
    "5 CDH": log("26/03/01 02:00:01 INFO streaming.StreamExecution: "),
    "6 Bitnami": log("[26-03-01 02:00:01] {MicroBatchExecution} INFO: "),
    "7 Glue": log(_GLUE),
    "7 Glue, on the next line": log(_GLUE, "Streaming query made progress: \n"),
    "8 logback, no marker": log("02:00:01.123 [stream execution thread] INFO  c.e.Listener - ", words=""),
    "9 words of a listener": log("", words=">>> Progress: "),
    "9 other words": log("", words="Total number of input rows: "),
    "9 query made progress": log("", words="Query made progress: "),
    "10 Databricks driver, both loggers": glued(_OF_DATABRICKS),
    "10 compact only": log(form=compact),
    "11 structured log": glued(map(structured, made())),
    "11 structured log of 4.1": glued(structured(event, upper=True) for event in made()),
    "12 progress bar before the header": log(f"{_BAR}26/03/01 02:00:01 INFO ProgressReporter: "),
    "12 progress bar before structured": glued(_BAR + structured(event) for event in made()),
    "13 event log": event_log(),
    "16 notebook": notebook(),
    "17 Python print": glued(f">>> {event!r}" for event in made()),
    "17 Python pprint": glued(pformat(event) for event in made()),
    "18 Python 2 print": glued(map(old_python, made())),
    "19 Spark 4 print": glued(f">>> q.lastProgress\n{pretty(event)}" for event in made()),
    "21 Scala array": ("res37: Array[Progress] =\nArray(" + ", ".join(map(pretty, made())) + ")\n").encode(),
    "22 hash comment": glued(commented("# ", pretty(event)) for event in made()),
    "22 slash comment": glued(commented("//    // ", pretty(event)) for event in made()),
    "22 star comment": glued(commented(" * ", pretty(event)) for event in made()),
    "22 margin": glued(commented("\t\t  |", pretty(event)) for event in made()),
    "22 blanks": glued(commented(" " * 9, pretty(event)) for event in made()),
    "22 commented log": glued(commented("// ", log().decode()).splitlines()),
    "22 strings of a program": glued(map(in_program, map(pretty, made()))),
    "26 Dataproc": glued(compact(dataproc(event)) for event in made()),
    "27 real-time mode": glued(
        pretty(event | {"rtmMetrics": {"latencies": {"processingLatencyMs": {"P50": 4}}}}) for event in made()
    ),
    "JSON lines": glued(map(compact, made())),
    "JSON array": ("[" + ",".join(map(compact, made())) + "]").encode(),
    "pretty JSON array": json.dumps(made(), indent=4).encode(),
    "JSON lines of an own shape": glued(json.dumps({"at": 1, "progress": event}) for event in made()),
    "JSON lines that hold text": glued(json.dumps({"at": 1, "body": compact(event)}) for event in made()),
    "CSV": table(compact),
    "CSV of pretty events": table(pretty),
    "CSV of a log": table(lambda event: f"26/03/01 02:00:01 INFO X: Streaming query made progress: {pretty(event)}"),
    "Python repr of its JSON": glued(repr(pretty(event)) for event in made()),
    "Kubernetes CRI": each_line(lambda n: f"2026-03-01T02:00:{n % 60:02d}.{n:09d}Z stdout F "),
    "kubectl --timestamps": each_line(lambda n: f"2026-03-01T02:00:{n % 60:02d}.{n * 7}Z "),
    "docker json-file": glued(map(json.dumps, _DOCKER)),
    "docker compose": each_line(lambda n: "spark-driver-1  | "),
    "CloudWatch, tabs": each_line(lambda n: f"2026-03-01T02:00:{n % 60:02d}.{n:03d}Z\t"),
    "CloudWatch tail": each_line(lambda n: f"2026-03-01T02:00:{n % 60:02d} driver/1a2b3c "),
    "syslog": each_line(lambda n: f"Mar  1 02:00:{n % 60:02d} host spark[{1000 + n}]: "),
    "CRI around structured": each_line(lambda n: f"2026-03-01T02:00:{n % 60:02d}.{n:09d}Z stdout F ",
                                       glued(map(structured, made()))),
    "docker around structured": glued(json.dumps({"log": structured(event) + "\n"}) for event in made()),
    "CRLF": log().replace(b"\n", b"\r\n"),
    "colours": log("\x1b[32m26/03/01 02:00:01\x1b[0m INFO ProgressReporter: ").replace(b" : ", b"\x1b[0m : "),
    "byte order mark": b"\xef\xbb\xbf" + log(),
    "trailing commas": log().replace(b'"numOutputRows" : 10', b'"numOutputRows" : 10,'),
}  # fmt: skip
"""Text with three whole events each, by its number in the list of forms."""
