"""Texts as people bring them: what the report answers stands in questions.yaml (`pytest --write-golden`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import advisor
from advisor.sources import files
from advisor.views.selection import selections
from advisor.views.terminal import report_as_text
from tests.cluster.apart import read_apart
from tests.made import event
from tests.sources.variants import KAFKA, STATE, compact, pretty

GOLDEN = Path(__file__).with_name("questions.yaml")
FACTS = ("source", "sink", "stateful", "watermarked", "trigger", "trigger_interval_ms",
         "spark_version_at_least", "spark_version_below")  # fmt: skip
METRICS = ("record_latency_ms", "backlog_rows", "state_partitions", "advised_interval_ms")
OLD_STATE = {"numRowsTotal": 60, "numRowsUpdated": 60, "memoryUsedBytes": 1000}
PINNED = (
    "26/03/01 02:00:02 INFO MicroBatchExecution: Committed offsets for batch 1. Metadata OffsetSeqMetadata(0,1,"
    "Map(spark.sql.shuffle.partitions -> 200))"
)
MARK = "26/03/01 02:00:01 INFO MicroBatchExecution: Streaming query made progress: "
BEHIND = "WARN ProcessingTimeExecutor: Current batch is falling behind. The trigger interval is {}, but spent {}"
FIRST = {"triggerExecution": 16878, "addBatch": 12713, "getOffset": 3308, "queryPlanning": 531, "numInputRows": 7440}
SHORTLY = {"timestamp": "2026-03-01T02:07:03.217Z", "queryPlanning": 20,
           "sources": [{"description": "KafkaSource[Subscribe[in]]", "numInputRows": 1832}]}  # fmt: skip
APART = {"inputRowsPerSecond": 1832 / 9.734}
SHORT = {"triggerExecution": 900, "addBatch": 500, "getBatch": 0, "getOffset": 1, "queryPlanning": 80, "walCommit": 209}
ROW_BY_ROW = {
    "triggerExecution": 372_000, "addBatch": 371_800, "latestOffset": 1, "walCommit": 40, "commitOffsets": 40,
    "numInputRows": 191, "sink": "ForeachWriterTable(org.apache.spark.sql.execution.python.PythonForeachWriter@1)",
}  # fmt: skip


def batch(number: int, **row: Any) -> dict[str, Any]:
    """One event of a Kafka query of an old Spark."""
    usual = {
        "triggerExecution": 9906, "addBatch": 9291, "getBatch": 3, "getOffset": 1, "queryPlanning": 391,
        "walCommit": 173, "numInputRows": 1832, "sources": [KAFKA], "sink": "ConsoleSink",
    }  # fmt: skip
    return event(number, 60_000 * number, 10_000, usual | row)


def until(key: str, record: dict[str, Any]) -> str:
    """A record that is cut off before this key."""
    text = pretty(record)
    return text[: text.index(f'"{key}"')]


def keeping_up(**source: Any) -> str:
    """One event of a trigger of five seconds, at one of its multiples."""
    row = {
        "triggerExecution": 3700, "addBatch": 3500, "latestOffset": 20, "queryPlanning": 4, "walCommit": 67,
        "commitOffsets": 80, "numInputRows": 500, "sink": "ForeachBatchSink",
        "sources": [{"description": "KafkaV2[Subscribe[a]]", "numInputRows": 500} | source],
    }  # fmt: skip
    return pretty(event(12, 0, 5000, row))


def offsets(behind: int, partitions: int = 6) -> dict[str, Any]:
    """Offsets of a batch of 500 rows that leaves so many behind in its last partition."""
    start = {str(number): 1000 for number in range(partitions)}
    end = start | {"0": 1500}
    newest = end | {str(partitions - 1): 1000 + behind}
    return {"startOffset": {"a": start}, "endOffset": {"a": end}, "latestOffset": {"a": newest}}


def delta_source(first: int, taken: int, waiting: int) -> dict[str, Any]:
    """A Delta source that reads a version of its table from one file to another."""
    ends = ({"reservoirId": "r", "reservoirVersion": 7, "index": at} for at in (first, first + taken))
    found = dict(zip(("startOffset", "endOffset"), ends, strict=True))
    metrics = {"numFilesOutstanding": str(waiting)}
    return {"description": "DeltaSource[s3://a/b]", "numInputRows": 900, "metrics": metrics, **found}


def kafka_behind(**metrics: str) -> str:
    """A batch whose offsets were left out, but not Kafka's metrics of what waits."""
    source = {"description": "KafkaV2[Subscribe[in]]", "numInputRows": 90, "metrics": metrics}
    return compact(batch(7, numInputRows=90, sources=[source]))


def backlog(number: int, waits: int) -> str:
    """A batch of 10,000 rows of Kafka after which so many wait."""
    ends = [{"orders": {"0": 10_000 * at}} for at in (number, number + 1)]
    newest = {"orders": {"0": 10_000 * (number + 1) + waits}}
    source = KAFKA | {"startOffset": ends[0], "endOffset": ends[1], "latestOffset": newest, "numInputRows": 10_000}
    usual = {"triggerExecution": 2000, "addBatch": 1900, "latestOffset": 3, "commitOffsets": 30}
    return MARK + pretty(event(number, 2000 * number, 2000, usual | {"numInputRows": 10_000, "sources": [source]}))


def misses(hits: int, missed: int) -> dict[str, Any]:
    """What an operator counts of its caches."""
    return {"customMetrics": {"loadedMapCacheHitCount": hits, "loadedMapCacheMissCount": missed}}


def cached(number: int, *hits: int) -> str:
    """A batch whose state's caches were hit so many times, by operator."""
    return pretty(batch(number, operators=[OLD_STATE | misses(count, 0) for count in hits]))


def idle(number: int, **row: Any) -> dict[str, Any]:
    return batch(number, numInputRows=0, **row) | {"durationMs": {"latestOffset": 7, "triggerExecution": 7}}


def spaced(starts: str, rate: float) -> str:
    """A short batch of nine rows that began then, at a rate that tells how long after the one before."""
    short = batch(6, addBatch=140, queryPlanning=10, triggerExecution=213, walCommit=42, numInputRows=9, sources=[])
    return pretty(short | {"timestamp": starts, "inputRowsPerSecond": rate})


def logged(logger: str, rate: float, processed: float) -> str:
    """A record behind the logger that writes it, with its rates."""
    span = {"batchDuration": 905} if logger == "ProgressReporter" else {}
    rates = {"inputRowsPerSecond": rate, "processedRowsPerSecond": processed}
    shown = batch(7, commitOffsets=20, latestOffset=3, getOffset=0) | rates | span
    head = f"26/03/01 02:00:01 INFO {logger}: Streaming query made progress: "
    return head + pretty({"id": shown["id"], "runId": shown["runId"], **shown})


def late(*batches: tuple[str, int], interval: int = 10_000) -> list[str]:
    return [f"26/03/04 {at} " + BEHIND.format(f"{interval} ms", f"{spent} ms") for at, spent in batches]


def real_time(groups: Any, key: str = "rtmMetrics") -> str:
    kafka = KAFKA | {"latestOffset": None}
    long = {"triggerExecution": 300_140, "addBatch": 300_020, "walCommit": 40, "commitOffsets": 35, "latestOffset": 0}
    return pretty(batch(12, sources=[kafka], sink="KafkaTable", **long) | {key: groups})


def without(*keys: str) -> str:
    """An idle event of an old Spark from which somebody left keys out."""
    whole = {
        "id": "1" * 8, "runId": "2" * 8, "name": None, "timestamp": "2024-01-01T00:00:00.000Z", "batchId": 42,
        "numInputRows": 0, "inputRowsPerSecond": 0.0, "processedRowsPerSecond": 0.0,
        "durationMs": {"latestOffset": 4, "triggerExecution": 5},
        "stateOperators": [{"numRowsTotal": 5000, "numRowsUpdated": 100}],
        "sources": [{"description": "KafkaV2[Subscribe[events]]", "startOffset": None, "endOffset": None}],
        "sink": {"description": "MemorySink"},
    }  # fmt: skip
    return json.dumps({key: part for key, part in whole.items() if key not in keys})


def asked_for_latest(latest: Any) -> list[str]:
    source = KAFKA | {"latestOffset": latest}
    row = {"triggerExecution": 300_000, "addBatch": 299_000, "commitOffsets": 40, "sources": [source]}
    return [MARK + pretty(event(n, 300_200 * n, 300_200, row)) for n in range(5, 12)]


_ONCE, _TWICE = BEHIND.format("1000 ms", "5000 ms"), BEHIND.format("5000 ms", "5098 ms")
_CUT = until("sources", batch(0, operators=[OLD_STATE], **FIRST))
_LOGS = batch(17, triggerExecution=29400, addBatch=28700, walCommit=300, commitOffsets=200, queryPlanning=50)
_HITS = [{"_source": {"message": MARK + compact(batch(number))}} for number in range(5, 9)]
_DELTA = {"description": "DeltaSource[s3://lake/raw]", "numInputRows": 0}
_FILES = {"description": "CloudFilesSource[s3://a/b]", "metrics": {"numFilesOutstanding": "1287"}}
_PIECE = (
    '"numInputRows" : 99,%s "processedRowsPerSecond" : 9.9, '
    '"durationMs" : {"addBatch" : 9000, "triggerExecution" : 10000}'
)
_ENDS = {
    key: {"orders": {"0": 900 * at, "1": 50 * at, "2": 50 * at}}
    for key, at in (("startOffset", 7), ("endOffset", 8), ("latestOffset", 8))
}
_RATES = '"inputRowsPerSecond" : 11.667250029168125,\n"processedRowsPerSecond" : 24.786218862312552,\n'
_SLOW = {"walCommit": 4000, "addBatch": 5000}
_MANY = {"numInputRows": 1035}
_WHOLE, _FOREACH = pretty(batch(7, sources=[])), pretty(batch(7, sink="ForeachBatchSink"))
_RESTARTED = batch(13, operators=[OLD_STATE | misses(200, 200)], **FIRST)
_SILENT = {"operatorName": "stateStoreSave", "commitTimeMs": 3_186_626, "numShufflePartitions": 200}

CASES: dict[str, list[str]] = {
    "a first batch that is cut off": [MARK + _CUT],
    "a cut first batch of three rows": [MARK + _CUT.replace('"numInputRows" : 7440', '"numInputRows" : 3')],
    "a batch cut before its operators": ["He saw:", until("stateOperators", batch(7)), "```"],
    "a whole batch without operators": [pretty(batch(7))],
    "forty partial records": [pretty(batch(number, **_SLOW))[:-2] for number in range(5, 45)],
    "one partial record among whole ones": [
        *(MARK + pretty(batch(number)) for number in range(5, 25)),
        MARK + pretty(batch(25))[:-2], MARK + pretty(batch(26)),
    ],
    "late: milliseconds": ["#26/03/01 02:00:01 " + BEHIND.format("1000 milliseconds", "10581 milliseconds")],
    "late: two braces": ["26/03/01 02:00:01 " + BEHIND.format("{500} milliseconds", "{2200} milliseconds")],
    "late: seconds and a range": ["26/03/01 02:00:01 " + BEHIND.format("2 s", "8000–18000 ms")],
    "late: wrapped in a comment": [
        "#26/03/01 02:00:01 " + BEHIND.format("\n# 10000 milliseconds", "26676\n# milliseconds"),
    ],
    "late: three lines": [
        f"26/03/01 02:00:{at} {BEHIND.format('1000 ms', f'{n}000 ms')}" for n, at in enumerate(("01", "12", "23"), 5)
    ],
    "late: partitions are named": [_ONCE, "// spark.sql.shuffle.partitions was 200"],
    "late: JDBC is named": [_ONCE, "every batch reads the table by JDBC"],
    "late: a structured line": [
        '{"ts":"2026-03-01T02:00:01.000Z","level":"WARN","msg":"Current batch is falling behind. The trigger interval '
        'is 500} milliseconds, but spent 2200 milliseconds","context":{"elapsed_time":"2200","trigger_interval":"500"}}'
    ],
    "late: hardly": [_TWICE],
    "late: one line, a limit is not named": late(("09:00:14", 14000)),
    "late: two intervals": [
        *late(("09:00:31", 31000), ("09:01:02", 31200)), *late(("09:00:32", 62000), interval=60_000),
    ],
    "an idle event with stale state timings": [MARK + pretty(idle(1, operators=[STATE | {"commitTimeMs": 1163}]))],
    "a first batch, 200 partitions pinned": [
        MARK + pretty(batch(0, operators=[OLD_STATE, OLD_STATE], **FIRST)), PINNED,
    ],
    "caches: twice 200": [cached(1, 400)],
    "caches: of a late batch": [cached(100, 400)],
    "caches: no multiple": [cached(1, 402)],
    "caches: of batch 0": [cached(0, 400)],
    "caches: of two operators": [cached(4, 6000, 800)],
    "a sink that is cut behind its description": [_FOREACH[: _FOREACH.rindex("}") - 3]],
    "a sink that is cut inside its description": [_FOREACH[: _FOREACH.rindex("Sink")]],
    "caches: of a first batch count from its start": [
        pretty({key: part for key, part in _RESTARTED.items() if key != "inputRowsPerSecond"})
    ],
    "caches: of an idle trigger": [
        pretty(idle(5, operators=[OLD_STATE | {"numRowsTotal": 8} | misses(1600, 0)]))
    ],
    "durations with a logged batch": ['# {"triggerExecution": 3200, "latestOffset": 50, "walCommit": 17}'],
    "durations with a planned batch": ['# {"triggerExecution": 3200, "latestOffset": 50, "queryPlanning": 40}'],
    "durations of an idle trigger": ['# {"triggerExecution": 3200, "latestOffset": 50}'],
    "idle on the full minute": [pretty(idle(3) | {"timestamp": "2026-03-01T08:33:00.001Z"})],
    "idle beside the full minute": [pretty(idle(3) | {"timestamp": "2026-03-01T08:33:07.001Z"})],
    "a record without durations": [
        "```jsonc", "{", '  "batchId": 1,', '  "numInputRows": 0,     // rows of this batch',
        '  "stateOperators": [ { "operatorName": "dedupe", "numRowsTotal": 342, ... } ],',
        '  "sink": { "description": "DeltaSink[s3a://lake/gold]" }', "}",
    ],
    "a whole event before Spark 4": [pretty(_LOGS)],
    "an event without its head": [pretty(_LOGS)[pretty(_LOGS).index('"numInputRows"') :]],
    "batches 9.7 s apart": [pretty(batch(7, triggerExecution=900, addBatch=800, walCommit=30, **SHORTLY) | APART)],
    "the second batch 9.7 s behind a cold one": [
        pretty(batch(1, triggerExecution=900, addBatch=800, walCommit=30, **SHORTLY) | APART)
    ],
    "a commit log that no phase times": [
        pretty(batch(7, triggerExecution=500, addBatch=200, walCommit=120, **SHORTLY) | APART)
    ],
    "durations with an elision": [
        "Look:", _WHOLE[: _WHOLE.index('    "getBatch"')] + "    ...\n" + _WHOLE[_WHOLE.index('    "addBatch"') :],
    ],
    "durations without the whole trigger": [until("getBatch", batch(7)) + "    ...\n"],
    "prose about the keys before a record": [
        "batchId is the number:", '"batchId" : 2,', "and the rows", '  "numInputRows" : 10,', "",
        _WHOLE[_WHOLE.index("\n") + 1 :],
    ],
    "a key without its first quote": [
        pretty(batch(7)).replace('"startOffset" : {', '"startOffset" : {\n      others" : 5,', 1)
    ],
    "Python that prints progress": [MARK + pretty(batch(7)), 'print(f"Query made progress: {event.progress}")'],
    "an operator without its rows": [pretty(batch(7, operators=[_SILENT]))],
    "a foreach writer": [pretty(event(7, 0, 17_000, ROW_BY_ROW))],
    "keeps up": [keeping_up(**offsets(0))],
    "rows wait": [keeping_up(**offsets(300))],
    "rows may wait": [keeping_up()],
    "files wait for Auto Loader": [keeping_up(**_FILES)],
    "files wait for Delta": [
        pretty((row := batch(7, triggerExecution=9000, addBatch=8600, sources=[delta_source(3000, 1000, 40_000)]))
               | {"inputRowsPerSecond": row["numInputRows"] / 10})
    ],
    "more and more files wait": [
        pretty(batch(number, sources=[delta_source(number, 0, 500 + 70 * number)])) for number in range(7, 30)
    ],
    "rows without addBatch": [
        pretty(event(7, 0, 5000, {"triggerExecution": 4200, "walCommit": 30, "numInputRows": 900})),
    ],
    "Kafka's metrics: nothing waits": [kafka_behind(maxOffsetsBehindLatest="0")],
    "Kafka's metrics: 17 rows in one partition": [kafka_behind(maxOffsetsBehindLatest="17")],
    "batch 0 and batch 303": [
        pretty(event(0, 0, 0, FIRST)),
        pretty(event(303, 141_000, 109, {"triggerExecution": 101, "addBatch": 51, "walCommit": 24} | _MANY)),
    ],
    "rows that only the rate gives": [f'{_RATES}"durationMs" : {{"addBatch" : 7964, "triggerExecution" : 8069}}'],
    "a first batch, then one without rows": [
        compact(event(0, 0, 0, FIRST | {"getBatch": 60, "walCommit": 40, "operators": [OLD_STATE]})),
        compact(event(1, 17_000, 17_000, SHORT) | {"numInputRows": 0}),
    ],
    "a first batch of which much is in no phase": [
        pretty(event(0, 0, 0, FIRST | {"addBatch": 11000, "getBatch": 60, "walCommit": 60}))
    ],
    "a first batch whose phases are nearly all": [
        pretty(event(0, 0, 0, FIRST | {"addBatch": 11000, "getBatch": 60, "walCommit": 1800}))
    ],
    "a backlog that shrinks": [backlog(n, 100_000 - 4000 * n) for n in range(5, 20)],
    "a backlog that grows": [backlog(n, 20_000 + 4000 * n) for n in range(5, 20)],
    "Kafka is not asked for its latest offset": asked_for_latest(None),
    "Kafka is asked for its latest offset": asked_for_latest({"a": {"0": 1}}),
    "an idle event of an old Spark": [without()],
    "without timestamp": [without("timestamp")],
    "without timestamp and sink": [without("timestamp", "sink")],
    "without timestamp, sources and sink": [without("timestamp", "sources", "sink")],
    "a cold batch of an old Spark": [MARK + pretty(batch(0, **FIRST))],
    "a cold batch with commitOffsets": [MARK + pretty(batch(0, commitOffsets=20, **FIRST))],
    "a large partition of Kafka": [
        MARK + pretty(batch(7, sources=[KAFKA | _ENDS]))
    ],
    "what a collector wrapped": [json.dumps({"hits": {"hits": _HITS}}, indent=1)],
    "a length that the rate gives": [
        "# {'batchId': 12, 'numInputRows': 300, 'processedRowsPerSecond': 150.0,\n"
        "#  'durationMs': {'addBatch': 900, 'getBatch': 4, ...}}\n"
    ],
    "a length that the rate contradicts": [
        "# {'batchId': 12, 'numInputRows': 300, 'processedRowsPerSecond': 150.0,\n"
        "#  'durationMs': {'addBatch': 2600, 'getBatch': 4, ...}}\n"
    ],
    "a piece of a later batch": [
        '"batchId" : 12,\n"numInputRows" : 20,\n"durationMs" : {"addBatch" : 400, "triggerExecution" : 540}\n'
    ],
    "a batch without rows": [compact(batch(7, numInputRows=0, operators=[STATE], sources=[]))],
    "a trigger of ten seconds": [spaced("2026-03-01T13:52:50.001Z", 9 / 9.4)],
    "a trigger of ten minutes": [spaced("2026-03-01T20:30:00.004Z", 9 / 432.3)],
    "no trigger: too close": [spaced("2026-03-01T13:52:50.001Z", 9 / 0.2)],
    "no trigger: not on time": [spaced("2026-03-01T13:52:51.001Z", 9 / 9.4)],
    "no metrics of real-time mode": [f"PROGRESS = {batch(7) | {'rtmMetrics': None}!r}"],
    "4.0: equal rates": [logged("ProgressReporter", 953.206239168111, 953.206239168111)],
    "4.0: cut rates": [logged("ProgressReporter", 953.2, 1000.0)],
    "4.1: unequal rates": [logged("ProgressReporter", 953.2, 2028.4)],
    "3.4: the logger": [logged("MicroBatchExecution", 953.2, 2028.4)],
    "real time: latency": [
        real_time({"e2eLatencyMs": {"P0": 0, "P50": 4, "P99": 44}, "processingLatencyMs": {"P50": 2}}),
    ],
    "real time: another key": [real_time({"e2eLatencyMs": {"p50": 7.5, "p99": 44}}, "latencies")],
    "real time: no latency": [real_time({"processingLatencyMs": {"P50": 2, "P99": 31}})],
    "real time: a text": [real_time({"e2eLatencyMs": "4 ms"})],
    "real time: nested": [real_time({"latencies": {"e2eLatencyMs": {"P50": 5, "P99": 9}}})],
    "a piece that may be a first batch": ["Before:", "```", _PIECE % "", "```"],
    "a piece with the rate of a later batch": ["Before:", "```", _PIECE % ' "inputRowsPerSecond" : 9.8,', "```"],
    "a piece with an elision": ["Before:", "```", _PIECE % " ...,", "```"],
    **{
        f"an interval for {took} ms": [
            pretty(batch(7, triggerExecution=took, addBatch=took - 20, queryPlanning=5, walCommit=5))
        ]
        for took in (143, 500, 501, 1500)
    },
    "a cut record behind one that names its source": [
        MARK + pretty(batch(7)), MARK + until("sources", batch(8)) + '"sources" : [ {',
    ],
    "a first batch with a long state commit": [pretty(batch(0, operators=[STATE | {"commitTimeMs": 6000}], **FIRST))],
    "a batch of Delta without rows, long discovery": [
        compact(batch(7, numInputRows=0, sources=[_DELTA], latestOffset=900_000, getBatch=450_000, addBatch=60_000,
                      triggerExecution=1_500_000))
    ],
    "a batch of Delta without rows, short discovery": [
        compact(batch(7, numInputRows=0, sources=[_DELTA], latestOffset=1400, getBatch=700, addBatch=60_000,
                      triggerExecution=1_500_000))
    ],
    **{
        f"long for one row, to {sink}": [
            compact(batch(7, triggerExecution=8460, addBatch=8123, numInputRows=1, sink=sink, sources=[],
                          operators=[{"numRowsTotal": 5, "numRowsUpdated": 1, "memoryUsedBytes": 80_000}]))
        ]
        for sink in ("ConsoleTable$@5d", "ForeachBatchSink")
    },
}  # fmt: skip


def report(folder: Path, lines: list[str], **wishes: Any) -> advisor.report.Report:
    path = folder / "asked.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return advisor.analyze(path, **wishes)


def only(data: dict[str, Any]) -> dict[str, Any]:
    (query,) = data["queries"]
    found: dict[str, Any] = query
    return found


def value(query: dict[str, Any], fact: str) -> Any:
    return query["facts"][fact]["value"]


def answer(data: dict[str, Any]) -> dict[str, Any]:
    """What somebody takes from a report: what was read, and of each query the facts, the findings and the sentences."""
    read = data["input"]
    whole = {
        "events": read["events"],
        "broken": len(read.get("broken", ())),
        "partial": [{"says": one["reason"], "lacks": one["lacks"]} for one in read.get("partial", ())],
        "late": [one["says"] for one in read.get("falling_behind", ())],
        "queries": [_of_query(query) for query in data["queries"]],
    }
    return {key: part for key, part in whole.items() if part}


def _of_query(query: dict[str, Any]) -> dict[str, Any]:
    screen, found = query["screen"], {name: query["metrics"].get(name) or {} for name in METRICS}
    numbers = {name: one.get("p50", one.get("value")) for name, one in found.items()}
    best = query.get("best_step")
    whole = {
        "verdict": query["verdict"],
        "loss": (screen.get("loss") or {}).get("kind"),
        "troubles": screen.get("troubles"),
        "batches": query["window"]["batches"],
        "facts": {name: value(query, name) for name in FACTS if value(query, name) is not None},
        "findings": [f"{one['rule']} {one['level']} {one['confidence']}" for one in query["findings"]],
        "best_step": best and f"{best['rule']} {best['advice']['id']} {best['advice']['legal']}",
        "metrics": {name: float(f"{number:.6g}") for name, number in numbers.items() if number},
    }
    return {key: part for key, part in whole.items() if part not in (None, [], {})}


@pytest.mark.parametrize("name", CASES)
def test_a_text_gets_the_same_answer(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    found = answer(report(tmp_path, CASES[name]).data)
    stored = yaml.load(GOLDEN.read_text(encoding="utf-8"), yaml.CSafeLoader) if GOLDEN.exists() else {}
    if request.config.getoption("--write-golden"):
        kept = {key: one for key, one in stored.items() if key in CASES} | {name: found}
        written = yaml.dump(kept, Dumper=yaml.CSafeDumper, width=120, allow_unicode=True, default_flow_style=None)
        GOLDEN.write_text(written, encoding="utf-8")
    else:
        assert found == stored[name]


@pytest.mark.parametrize("split", [61, 1 << 20])
def test_ranges_find_falling_behind_as_the_file_does(tmp_path: Path, split: int) -> None:
    line = f"26/03/01 02:00:01 {_ONCE}"
    for name, lines in {"warn": [line] * 4, "marked": [line, MARK + compact(batch(7)), line]}.items():
        (tmp_path / f"{name}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")
    paths = [str(tmp_path / f"{name}.log") for name in ("marked", "warn")]
    both = read_apart(paths, split), files.read(paths)
    apart, whole = ([(one.file, one.offset, one.spent_ms) for one in found.overruns] for found in both)
    assert apart == whole
    assert [file for file, *_ in apart] == [paths[1]] * 4


def test_the_answer_of_a_person_makes_an_interval_one_of_processing_time(tmp_path: Path) -> None:
    query = only(report(tmp_path, [pretty(batch(7))], set=["trigger_interval_ms=60000"]).data)
    assert query["facts"]["trigger"] == {"value": "processing_time", "from": "user"}


def test_what_is_told_beside_the_answers(tmp_path: Path) -> None:
    cut, foreach, behind = (
        only(report(tmp_path, CASES[name]).data)
        for name in ("a batch cut before its operators", "a foreach writer", "rows wait")
    )
    assert cut["metrics"]["state_commit_wall_ms"]["missing"] == "partial record: state operators missing"
    code = foreach["best_step"]["advice"]["change"]["code"]
    assert ("process(row)" in code, "foreachBatch" in code) == (True, False)
    (found,) = [finding for finding in behind["findings"] if finding["rule"] == "TR010"]
    assert found["steps"][0]["change"]["reader_option"] == {"maxOffsetsPerTrigger": "1000"}  # twice what it took


def test_a_lag_of_one_partition_is_the_least_of_all(tmp_path: Path) -> None:
    page = report_as_text(report(tmp_path, CASES["Kafka's metrics: 17 rows in one partition"]).typed)
    assert "Lag at least 17 rows" in page


@pytest.mark.parametrize(("mean", "rows"), [("4.5", 18), ("3.3333333333333335", 13.333), ("1.2345678E7", 49_382_712)])
def test_the_mean_of_kafkas_partitions_counts_all_that_waits(tmp_path: Path, mean: str, rows: int) -> None:
    source = {"numInputRows": 90, "endOffset": {"in": {"0": 5, "1": 6, "2": 7}, "other": {"0": 9}},
              "metrics": {"maxOffsetsBehindLatest": "17", "avgOffsetsBehindLatest": mean}}  # fmt: skip
    query = only(report(tmp_path, [compact(batch(7, numInputRows=90, sources=[source]))]).data)
    assert query["metrics"]["backlog_rows"]["p50"] == pytest.approx(rows, rel=1e-4)
    assert value(query, "source") == "kafka"  # no other source has such metrics


def test_an_idle_record_without_a_run_is_no_earlier_run(tmp_path: Path) -> None:
    short = {key: part for key, part in batch(6, triggerExecution=2).items() if key != "runId"}
    del short["durationMs"]["addBatch"]
    found = report(tmp_path, [pretty(short | {"numInputRows": 0}), pretty(batch(7))])
    assert [chosen.earlier for chosen in selections(found.typed) if chosen.query.batches] == [0]


def test_a_step_that_the_first_batch_cannot_settle_is_named_with_that_doubt(tmp_path: Path) -> None:
    state = {"operatorName": "stateStoreSave", "numShufflePartitions": 64, "numRowsUpdated": 0, "commitTimeMs": 9973}
    first = event(0, 0, 0, {"addBatch": 15923, "triggerExecution": 18645, "numInputRows": 0, "operators": [state],
                            "sink": "ForeachBatchSink"})  # fmt: skip
    known = ["spark_version=4.3.0", "state_store=rocksdb", "platform=open_source", "task_slots=2"]
    query = only(report(tmp_path, [compact(first)], set=known).data)
    assert query["verdict"].endswith("; whether it fits is not known: there are no steady batches.")
