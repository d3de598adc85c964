"""The description of a column of a table."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import pyarrow as pa

Basis = Literal["key", "wall", "task", "count", "rate", "bytes", "time", "text", "nested", "place"]

TIME = pa.timestamp("ms", "UTC")


class Column(NamedTuple):
    """One column of a table. `basis`: what kind of quantity it is (wall: the driver's clock; task: summed over tasks).

    Of a phase, `spark` is Spark's own name of it, and `does` what Spark does in it, in the few words of a view; of a
    part of addBatch `does` is what a view calls it.
    """

    name: str
    type: pa.DataType
    unit: str
    meaning: str
    basis: Basis
    spark: str = ""
    does: str = ""


_LONGER, _LONGER_MS = 1.05, 50.0


def longest(whole: Any) -> Any:
    """Milliseconds that what lies inside `whole` (ms, a number or an array) may take; more is a mistake."""
    return whole * _LONGER + _LONGER_MS
