"""What looking rows up in RocksDB costs a batch: custom metrics of state operators in, one value per batch out."""

from __future__ import annotations

import numpy as np

from advisor.metrics.phases import share_of
from advisor.metrics.registry import Batchwise, Missing, batch_metric
from advisor.metrics.state_commits import in_waves
from advisor.window import Window

GET_MS, GETS, PUTS = "custom:rocksdbGetLatency", "custom:rocksdbGetCount", "custom:rocksdbPutCount"
UNTOLD = Missing("no operator reports the time of RocksDB's lookups")


@batch_metric("ms", phases=("add_batch_ms",), label="counting the state's rows")
def row_count_wall_ms(window: Window) -> Batchwise:
    """Wall time of the extra lookup that RocksDB makes for each written row to keep its row count.

    A store that does not count reports 0 rows. Lookups of removed rows are left out.
    """
    operators = window.operators
    found = [operators[name] for name in (GET_MS, GETS, PUTS) if name in operators]
    if len(found) < 3 or np.isnan(found).all(axis=1).any():
        return UNTOLD
    took, gets, puts = found
    counting = np.where(operators["rows_total"] > 0, np.fmin(puts, gets), 0.0)
    part = np.divide(counting, gets, out=np.zeros(len(gets)), where=gets > 0)
    return in_waves(window, took * part)


row_count_share = share_of(row_count_wall_ms)
