"""Every form of FORMATS in which progress is handed around, made from a few events."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.made import events
from tests.sources.variants import pretty

ODD_NAME = {"description": 'KafkaV2[Subscribe[a"b{c]]', "numInputRows": 5}
RUNS = ("22222222-2222-2222-2222-222222222222", "33333333-3333-3333-3333-333333333333")
QUERY = "11111111-1111-1111-1111-111111111111"


def made(count: int = 12) -> list[dict[str, Any]]:
    """Events of two runs, one of them without state, one idle at the end."""
    rows = [
        {
            "triggerExecution": 100 + nth, "walCommit": 20, "addBatch": 60, "commitOffsets": 15,
            "runId": RUNS[nth % 5 == 4], "sources": [ODD_NAME | {"endOffset": {"t": {"0": nth}}}],
        }
        for nth in range(count - 1)
    ]  # fmt: skip
    return events([*rows, {"triggerExecution": 3}])


def _start(run: str) -> str:
    return (
        f"26/03/01 02:00:00 INFO MicroBatchExecution: Starting made [id = {QUERY}, runId = {run}]. "
        "Use file:/tmp/c to store the query checkpoint.\n"
    )


def driver_log(header: str = "26/03/01 02:00:00 INFO MicroBatchExecution: ") -> bytes:
    """A driver's log with other lines between the events."""
    noise = "26/03/01 02:00:00 INFO DAGScheduler: made progress: [newProgress] {not json\n"
    parts = ["26/03/01 02:00:00 INFO SparkContext: Running Spark version 4.0.0\n", *map(_start, RUNS)]
    for event in made():
        parts += [noise, f"{header}Streaming query made progress: {pretty(event)}\n", noise * 3]
    name = f"[id = {QUERY}, runId = {RUNS[0]}]"
    parts += [f"26/03/01 02:00:09 ERROR MicroBatchExecution: Query made {name} terminated with error\n"]
    return "".join(parts).encode()


def cut_log() -> bytes:
    """A driver's log of which one event lost its end, and one its middle."""
    whole = driver_log().decode().split("Streaming query made progress: ")
    whole[3] = whole[3][:120] + "\n"
    whole[6] = whole[6].replace('"addBatch" : 60', '"addBatch" : ', 1)
    return "Streaming query made progress: ".join(whole).encode()


def structured() -> bytes:
    """Structured logs: one object per line, the event in it twice."""
    lines = []
    for event in made():
        text = pretty(event)
        told = {"ts": "2026-03-01T02:00:00.000Z", "level": "INFO", "msg": f"Streaming query made progress: {text}"}
        context = {"run_id": event["runId"], "query_id": QUERY, "streaming_query_progress": text}
        lines.append(json.dumps(told | {"context": context, "logger": "ProgressReporter"}))
    return ("plain line\n[Stage 1:>  (0 + 2) / 2]\r" + "\n".join(lines) + "\n").encode()


def json_lines() -> bytes:
    """One event a line."""
    return "".join(json.dumps(event) + "\n" for event in made()).encode()


def event_log() -> bytes:
    """Spark's event log."""
    listener = "org.apache.spark.sql.streaming.StreamingQueryListener$"
    plan = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
    lines: list[dict[str, Any]] = [
        {"Event": "SparkListenerLogStart", "Spark Version": "4.0.0"},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {"spark.sql.shuffle.partitions": "8"}},
        *({"Event": f"{listener}QueryStartedEvent", "id": QUERY, "runId": run, "name": "made"} for run in RUNS),
    ]
    for number, event in enumerate(made()):
        words = f"made\nid = {QUERY}\nrunId = {event['runId']}\nbatch = {number}"
        lines.append({"Event": plan, "executionId": number, "description": words, "physicalPlanDescription": "x" * 99})
        lines.append({"Event": f"{listener}QueryProgressEvent", "progress": event})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


def printed() -> bytes:
    """What a notebook prints: no marker, no line of its own for an event."""
    return ("In [3]: q.recentProgress\n" + str(made()) + "\n" + ",\n".join(map(pretty, made(5)))).encode()


def zstd(content: bytes) -> bytes:
    """Compressed in frames, as event logs are."""
    half = len(content) // 2
    return b"".join(bytes(pa.Codec("zstd").compress(part, asbytes=True)) for part in (content[:half], content[half:]))


def lz4(content: bytes) -> bytes:
    """One LZ4 frame."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


FORMATS: dict[str, Callable[[], bytes]] = {
    "driver.log": driver_log, "bitnami.log": lambda: driver_log("[26-03-01 02:00:00] {MicroBatchExecution} INFO: "),
    "windows.log": lambda: driver_log().replace(b"\n", b"\r\n"), "cut.log": cut_log, "structured.log": structured,
    "progress.jsonl": json_lines, "eventlog": event_log, "printed.txt": printed,
    "comment.log": lambda: b"".join(b"# " + line for line in printed().splitlines(keepends=True)),
    "piece.txt": lambda: b'some words\n  "runId" : "x",\n  "batchId" : 3,\n',
    "nothing.log": lambda: b"26/03/01 INFO nothing\n" * 50, "empty.log": lambda: b"",
    "driver.log.gz": lambda: gzip.compress(driver_log()), "progress.jsonl.gz": lambda: gzip.compress(json_lines()),
    "eventlog.zstd": lambda: zstd(event_log()), "eventlog.lz4": lambda: lz4(event_log()),
    "torn.gz": lambda: gzip.compress(driver_log())[:-60],
}  # fmt: skip
"""File name to what makes its content."""


def write_all(folder: Path) -> list[Path]:
    """Every form as a file."""
    for name, make in FORMATS.items():
        (folder / name).write_bytes(make())
    return [folder / name for name in FORMATS]
