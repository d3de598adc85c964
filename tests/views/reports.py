"""Reports in the contract's form, written by hand, for the tests of the views."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from advisor import contract

ASYNC = {
    "id": "async-progress",
    "do": "Track progress asynchronously",
    "legal": "yes",
    "because": "the query keeps no state, the sink is Kafka, Spark is 4.0.0",
    "unknown": [],
    "change": {"writer_option": {"asyncProgressTrackingEnabled": "true"}},
    "takes": "restart",
    "semantics": "at_least_once",
    "saves_ms": {"low": 57.0, "expected": 79.0, "high": 88.0},
    "saves_latency_ms": {"low": 61.0, "expected": 84.0, "high": 97.0},
    "costs": "Records can be processed again with other offset ranges after a failure.",
    "undo": "Set asyncProgressTrackingCheckpointIntervalMs to 0 for two batches, stop, then switch it off.",
    "check": "walCommit and commitOffsets fall to 0 or 1 ms.",
}

STORAGE = {
    "id": "abortable-manager",
    "do": "Write checkpoint files without a rename",
    "legal": "if",
    "because": "checkpoint_scheme is not known: it must be s3a",
    "unknown": ["checkpoint_scheme"],
    "change": {
        "conf": {
            "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.internal.io.cloud."
            "AbortableStreamBasedCheckpointFileManager"
        },
        "package": "org.apache.spark:spark-hadoop-cloud_2.13:4.0.0",
    },
    "takes": "restart",
    "semantics": "unchanged",
    "saves_ms": {"low": 0.0, "expected": None, "high": 31.0},
    "saves_latency_ms": None,
    "costs": "It holds for every query of the session.",
    "undo": "Remove the setting and restart.",
    "check": "walCommit, commitOffsets.",
}

STATE = {
    "id": "async-state-checkpoint",
    "do": "Commit the state asynchronously",
    "legal": "no",
    "because": "It exists on Databricks only, and this is open-source Spark.",
    "change": {"conf": {"spark.databricks.streaming.statefulOperator.asyncCheckpoint.enabled": "true"}},
    "takes": "restart",
    "semantics": "unchanged",
    "saves_ms": None,
    "saves_latency_ms": None,
    "costs": "",
    "undo": "",
    "check": "",
}

OFF = {
    "id": "async-progress-off",
    "do": "Switch asynchronous progress tracking off safely",
    "legal": "yes",
    "because": "",
    "change": {},
    "stages": [
        {
            "do": None,
            "change": {
                "writer_option": {
                    "asyncProgressTrackingEnabled": "true",
                    "asyncProgressTrackingCheckpointIntervalMs": "0",
                }
            },
            "until": "two more batches have been written",
        },
        {
            "do": None,
            "change": {"writer_option": {"asyncProgressTrackingEnabled": "false"}},
            "until": "the query runs",
        },
    ],
    "takes": "stages",
    "semantics": "unchanged",
    "saves_ms": None,
    "saves_latency_ms": None,
    "costs": "Two restarts.",
    "undo": "Switch it on again.",
    "check": "The last two offset files of the checkpoint are consecutive.",
}


def advice(step: dict[str, Any]) -> contract.Advice:
    """One step of the contract."""
    return msgspec.convert({"unknown": [], "stages": [], "status": "stable"} | step, contract.Advice)


def finding(rule: str, slug: str, title: str, level: str, says: str, steps: list[Any], **others: Any) -> dict[str, Any]:
    """One finding of the contract."""
    return {
        "rule": rule,
        "slug": slug,
        "title": title,
        "level": level,
        "confidence": "high",
        "says": says,
        "why": "It is so.",
        "measure": {"metric": "offset_log_share", "stat": "typical", "value": 0.534},
        "evidence": [
            {"fact": "sink", "value": "kafka", "from": "progress"},
            {"fact": "stateful", "value": False, "from": "log"},
        ],
        "explained_by": None,
        "steps": [msgspec.to_builtins(advice(step)) for step in copy.deepcopy(steps)],
        "references": [],
        "felt_share": None,
    } | others


def slow() -> dict[str, Any]:
    """A stateless query whose logs take half of each batch, after a restart that made it slower."""
    return {
        "id": "5f1c9a52-8a5e-4b0e-9d3b-0a1f5f1f9c11",
        "run_id": "b7c5e2d4-06d3-4c5b-a4c4-3f6a2f5b8a10",
        "name": "orders-enricher",
        "spark_version": "4.0.0",
        "state": "running",
        "terminated": None,
        "batches": 1204,
        "first": "2026-03-01T09:12:03.120Z",
        "last": "2026-03-01T11:40:00.250Z",
        "window": {
            "first": "2026-03-01T10:58:09.000Z",
            "last": "2026-03-01T11:40:00.250Z",
            "batches": 1187,
            "because": "steady batches since the restart",
        },
        "facts": {
            "stateful": {"value": False, "from": "log"},
            "sink": {"value": "kafka", "from": "progress"},
            "task_slots": {"value": 2, "from": "inferred"},
            "checkpoint_scheme": {"value": None, "from": None},
        },
        "conflicts": [
            {
                "fact": "task_slots",
                "values": [{"value": 2, "from": "inferred"}, {"value": 4, "from": "event_log"}],
                "taken": 4,
            }
        ],
        "metrics": {
            "trigger_execution_ms": {"p50": 117.0, "p95": 160.0, "p99": 231.0, "typical": 118.4, "unit": "ms"},
            "record_latency_ms": {"p50": 133.0, "p99": 247.0, "unit": "ms"},
            "backlog_rows": {"p50": 240.0, "p95": 400.0, "p99": 900.0, "typical": 236.0, "unit": "rows"},
            "fixed_cost_ms": {"missing": "rows follow the length of the batch before (default trigger)"},
        },
        "budget": {
            "latestOffset": 3.1,
            "walCommit": 29.2,
            "getBatch": 0.1,
            "queryPlanning": 7.8,
            "addBatch": 41.0,
            "commitOffsets": 34.0,
            "unaccounted": 3.3,
        },
        "findings": [
            finding(
                "LG001",
                "offset-log-on-critical-path",
                "Every batch waits for the offset and commit logs",
                "high",
                "In a typical batch 63 ms of 118 ms (53 %) goes into the offset and commit logs.",
                [ASYNC, STORAGE],
            ),
            finding(
                "TR002",
                "fixed-cost-dominates",
                "The trigger interval is shorter than the fixed cost of a batch allows",
                "medium",
                "A batch costs 96 ms whatever its rows.",
                [],
                explained_by="LG001",
            ),
            finding(
                "ST001",
                "state-commit-on-critical-path",
                "Every batch waits for its state to be committed",
                "medium",
                "Committing state takes 20 ms of a batch of 118 ms (17 %).",
                [STATE],
                confidence="medium",
            ),
            finding("SK002", "sink-bound", "The sink takes most of a batch", "low", "addBatch takes 35 %.", []),
            finding(
                "LG005",
                "async-progress-switched-off-with-gap",
                "The query was stopped by a gap in its offset log",
                "low",
                "batch 41 doesn't exist.",
                [OFF, ASYNC],
            ),
        ],
        "suppressed": [
            {"rule": "DQ001", "reason": "the clock of this host steps, known", "until": "2026-12-31"},
        ],
        "skipped": [
            {"rule": "TR004", "reason": "latency_target_ms is not known"},
            {"rule": "TR005", "reason": "latency_target_ms is not known"},
            {"rule": "ST005", "reason": "the query keeps no state"},
        ],
        "runs": 3,
        "changed": {
            "at": "2026-03-01T10:58:03.000Z",
            "because": "restart",
            "says": "Since the restart at 2026-03-01 10:58:03 UTC the median batch takes 117 ms instead of 60 ms; most "
            "of the difference is in commitOffsets (+30 ms), at the same load (1,000 rows per batch).",
            "before": {
                "first": "2026-03-01T09:12:03.120Z",
                "last": "2026-03-01T10:57:00.000Z",
                "batches": 700,
                "metrics": {
                    "trigger_execution_ms": {"p50": 60.0},
                    "record_latency_ms": {"p50": 71.0, "p99": 130.0},
                },
            },
            "after": {
                "first": "2026-03-01T10:58:09.000Z",
                "last": "2026-03-01T11:40:00.250Z",
                "batches": 1187,
                "metrics": {
                    "trigger_execution_ms": {"p50": 117.0},
                    "record_latency_ms": {"p50": 133.0, "p99": 247.0},
                },
            },
        },
        "trend": {
            "record_latency_ms": {"direction": "rising", "per_hour": 12.0},
            "backlog_rows": {"direction": "steady", "per_hour": None},
        },
        "worst": [
            {
                "batch_id": 1100 + nth,
                "timestamp": f"2026-03-01T11:3{nth}:00.000Z",
                "trigger_execution_ms": 900 - 100 * nth,
                "input_rows": 1000,
                "phase": "walCommit",
                "phase_ms": 700 - 100 * nth,
            }
            for nth in range(5)
        ],
        "limits": ["Slots are an upper bound: two queries ran in this application."],
        "verdict": "63 ms of a 118 ms batch (53 %) goes into the offset and commit logs. "
        "Track progress asynchronously: about 84 ms less per record.",
        "best_step": {"rule": "LG001", "step": "async-progress"},
        "screen": {
            "loss": {
                "kind": "logs",
                "says": "63 ms of a 118 ms batch (53 %) goes into the offset and commit logs.",
                "ms": 63.2,
                "share": 0.534,
            },
            "goes_to": [
                {"kind": "logs", "ms": 63.2, "share": 0.534},
                {"kind": "add_batch", "ms": 41.0, "share": 0.346},
                {"kind": "planning", "ms": 7.8, "share": 0.066},
            ],
            "within_add_batch": [
                {"kind": "within_add_batch", "ms": 20.0, "share": 0.488, "name": "state commit", "rule": "ST001"}
            ],
            "after": {"p50": 49.0},
            "span_ms": 2_511_250.0,
            "troubles": ["The p99 of the record latency lies 47 ms over its target."],
            "do": {
                "risk": "Records can be processed again with other offset ranges after a failure",
                "undo": "Set asyncProgressTrackingCheckpointIntervalMs to 0 for two batches, stop, then switch it off",
                "check": "walCommit and commitOffsets fall to 0 or 1 ms",
            },
            "also": [{"rule": "LG001", "step": "abortable-manager"}],
            "refused": [
                {
                    "rule": "ST001",
                    "step": "async-state-checkpoint",
                    "do": "Commit the state asynchronously",
                    "because": "It exists on Databricks only",
                }
            ],
            "unsure": {
                "fact": "task_slots",
                "asks": "How many tasks can run at once?",
                "give": "task_slots=N",
                "rules": ["ST005", "ST006"],
                "steps": ["fewer-state-partitions"],
            },
        },
    }


def healthy() -> dict[str, Any]:
    """A query to which nothing should be done."""
    query = slow()
    query |= {
        "id": "0d4be0e6-9a2d-4f57-8a52-17b8b4b6f001",
        "name": None,
        "budget": {"addBatch": 22.0, "queryPlanning": 5.0, "unaccounted": 2.0},
        "findings": [],
        "suppressed": [],
        "skipped": [],
        "conflicts": [],
        "limits": [],
        "runs": 1,
        "changed": None,
        "trend": {
            "record_latency_ms": {"direction": "steady", "per_hour": 0.0},
            "backlog_rows": {"direction": "unknown", "per_hour": None},
        },
        "worst": [],
        "verdict": "22 ms of a 29 ms batch (76 %) is addBatch: reading, computing, writing. "
        "No rule knows a change that would help.",
        "best_step": None,
        "screen": {
            "loss": {
                "kind": "add_batch",
                "says": "22 ms of a 29 ms batch (76 %) is addBatch: reading, computing, writing.",
                "ms": 22.0,
                "share": 0.76,
            },
            "goes_to": [
                {"kind": "add_batch", "ms": 22.0, "share": 0.759},
                {"kind": "planning", "ms": 5.0, "share": 0.172},
                {"kind": "unaccounted", "ms": 2.0, "share": 0.069},
            ],
            "span_ms": 2_511_250.0,
        },
    }
    query["metrics"]["record_latency_ms"] = {"p50": 41.0, "p99": 93.0, "unit": "ms"}
    query["metrics"]["backlog_rows"] = {"missing": "the source reports no latest offset"}
    return query


def dead() -> dict[str, Any]:
    """A query that died before its first batch."""
    query = healthy()
    error = "java.lang.IllegalStateException: batch 41 doesn't exist"
    query |= {
        "id": "77e0a8ac-64b1-4d83-9f0a-52d4a8c1b002",
        "name": "dedup\x1b[31m|evil`\n\u202e",
        "state": "dead",
        "terminated": {"error": error},
        "batches": 0,
        "first": None,
        "last": None,
        "window": {"first": None, "last": None, "batches": 0, "because": "it died before its first batch"},
        "metrics": {"record_latency_ms": {"missing": "no batch ran"}},
        "budget": {},
        "findings": [slow()["findings"][4]],
        "verdict": f"The query stopped with an error: {error}. Switch asynchronous progress tracking off safely.",
        "best_step": {"rule": "LG005", "step": "async-progress-off"},
        "screen": {
            "do": {
                "risk": "Two restarts",
                "undo": "Switch it on again",
                "check": "The last two offset files of the checkpoint are consecutive",
            }
        },
    }
    return query


def report(*queries: dict[str, Any]) -> contract.Report:
    """A whole report of these queries."""
    return msgspec.convert(plain_report(*queries), contract.Report)


def plain_report(*queries: dict[str, Any]) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "schema_version": 1,
        "advisor_version": "0.1.0",
        "input": {
            "files": 2,
            "bytes": 12_400_000,
            "events": 1230,
            "idle": 26,
            "duplicates": 2,
            "broken": [
                {
                    "file": "driver.log",
                    "offset": 4711 + nth,
                    "line": 100 + nth,
                    "reason": "ends inside an event",
                }
                for nth in range(4)
            ],
        },
        "queries": [query | {"best_step": _whole(query)} for query in queries],
    }


def _whole(query: dict[str, Any]) -> dict[str, Any] | None:
    """The best step that a query names by its ids, as the contract has it."""
    named = query["best_step"]
    if named is None:
        return None
    (found,) = (one for one in query["findings"] if one["rule"] == named["rule"])
    (step,) = (one for one in found["steps"] if one["id"] == named["step"])
    return named | {"title": found["title"], "advice": step}
