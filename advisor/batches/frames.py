"""The table of batches as pandas frames; pandas is imported only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from advisor.batches.columns import SCHEMA

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


def operators(batches: pd.DataFrame | pa.Table) -> pd.DataFrame:
    """One row per batch and state operator; the index is the batch's.

    Columns: the operator's own (times are sums over tasks), and `custom:NAME` for each metric of its state store.
    """
    return _exploded(batches, "operators")


def sources(batches: pd.DataFrame | pa.Table) -> pd.DataFrame:
    """One row per batch and source; the index is the batch's. `metrics:NAME` are the source's own metrics, as text."""
    return _exploded(batches, "sources")


def _exploded(batches: pd.DataFrame | pa.Table, column: str) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    lists = _lists(batches, column)
    members = lists.flatten()
    columns: dict[str, Any] = {}
    for field in members.type:
        values = pc.struct_field(members, field.name)
        if pa.types.is_map(field.type):
            columns |= {f"{field.name}:{key}": column for key, column in spread(values).items()}
        else:
            columns[field.name] = values.to_pandas()
    parents = np.asarray(pc.list_parent_indices(lists))
    index = pd.RangeIndex(len(batches)) if isinstance(batches, pa.Table) else batches.index
    frame = pd.DataFrame(columns)
    frame.index = index.take(parents)
    return frame


def _lists(batches: pd.DataFrame | pa.Table, column: str) -> pa.ListArray:
    kind = SCHEMA.field(column).type
    if isinstance(batches, pa.Table):
        chunks = batches[column]
    else:
        chunks = (
            pa.chunked_array([pa.array(batches[column], type=kind)]) if len(batches) else pa.chunked_array([], kind)
        )
    return pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], kind)


def spread(maps: pa.MapArray) -> dict[str, np.ndarray]:
    """A column per key that occurs in the maps: numbers as float64 with NaN, text as objects with None."""
    keys, items = maps.keys, maps.items
    codes = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
    rows = np.repeat(np.arange(len(maps)), np.diff(np.asarray(maps.offsets)))
    number = np.asarray(codes.indices)
    values = items.to_numpy(zero_copy_only=False)
    missing = np.nan if pa.types.is_floating(items.type) else None
    return {
        key: _placed(rows[number == n], values[number == n], len(maps), missing)
        for n, key in enumerate(codes.dictionary.to_pylist())
    }


def _placed(rows: np.ndarray, values: np.ndarray, length: int, missing: Any) -> np.ndarray:
    column = np.full(length, missing, dtype=values.dtype if missing is not None else object)
    column[rows] = values
    return column
