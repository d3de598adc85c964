"""The table of batches as pandas frames; pandas is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pandas as pd


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """One row per batch, columns of COLUMNS.

    Times are tz-aware, numbers that may be missing are float64 with NaN. Columns of lists and maps stay Arrow columns:
    an element is a list of dicts, and nothing is converted before it is asked for.
    """
    import pandas as pd  # noqa: PLC0415 - half a second that --help does not pay

    def kept(kind: pa.DataType) -> Any:
        return pd.ArrowDtype(kind) if pa.types.is_nested(kind) else None

    frame: pd.DataFrame = table.to_pandas(types_mapper=kept, coerce_temporal_nanoseconds=False)
    return frame
