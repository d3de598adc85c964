"""Figures that tell no batch: phases without the whole trigger, tables that somebody made of other measurements."""

from __future__ import annotations

import re
from typing import Final

_PHASE: Final = re.compile(
    r"\b(triggerExecution|addBatch|walCommit|commitOffsets|latestOffset|getBatch|queryPlanning)\b"
    r"(?:[ \t]?\([^()|\n]{1,60}\))?[\"'`*)\]]{0,4}[ \t]{0,20}[:=|][ \t*~≈`]{0,9}\d"
)
_OF_STREAMS: Final = re.compile(r"(?i)\b(?:spark|streaming|kafka|micro-?batch(?:es)?|batch(?:es)?|foreach_?batch)\b")
_MEASURED: Final = re.compile(
    r"(?i)\b(?:throughput|latenc\w{1,3}|latenz|lag|processing time|duration|durchsatz"
    r"|(?:rows|records|events|evt)/s)\b"
)
_FEWEST_ROWS: Final = 2
_FEWEST_BARS: Final = 2


def phases_alone(text: str) -> str | None:
    """Which phases a text gives numbers for, where they make no batch that can be judged; None where it names none."""
    named = [*dict.fromkeys(_PHASE.findall(text))]
    if not named:
        return None
    return (
        f"this tells of phases of a batch ({', '.join(named)}), and not triggerExecution and addBatch, each as one "
        "number of a known unit: bring the whole of durationMs"
    )


def tables_alone(text: str) -> str | None:
    """That a text about a stream holds tables of measurements in other terms than a batch's; None where it does not."""
    if not _OF_STREAMS.search(text) or not _MEASURED.search(text):
        return None
    rows = [line for line in text.splitlines() if line.count("|") >= _FEWEST_BARS and any(map(str.isdigit, line))]
    if len(rows) < _FEWEST_ROWS and text.lower().count("<td") < _FEWEST_ROWS * _FEWEST_BARS:
        return None
    return (
        "these are tables of measurements, in which the advisor finds no batch with its rows and its length: bring the "
        "records that they were made from"
    )
