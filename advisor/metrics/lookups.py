"""What looking rows up in RocksDB costs a batch: custom metrics of state operators in, one value per batch out."""

from __future__ import annotations

import numpy as np

from advisor.metrics.phases import share_of
from advisor.metrics.registry import Batchwise, Missing, batch_metric
from advisor.metrics.state import in_waves
from advisor.window import Window

GET_MS, GETS, PUTS = "custom:rocksdbGetLatency", "custom:rocksdbGetCount", "custom:rocksdbPutCount"
UNTOLD = Missing("no operator tells what looking up in RocksDB took")


@batch_metric("ms", phases=("add_batch_ms",))
def row_count_wall_ms(window: Window) -> Batchwise:
    """Look-ups by which RocksDB counts its rows, as wall time: one for each row written, of all that it looks up.

    A store that does not count says that it holds no rows. Rows that are removed are looked up, too, and left out here.
    """
    operators = window.operators
    if not len(operators) or any(name not in operators for name in (GET_MS, GETS, PUTS)):
        return UNTOLD
    gets = operators[GETS]
    counting = np.where(operators["rows_total"] > 0, np.fmin(operators[PUTS], gets), 0.0)
    part = np.divide(counting, gets, out=np.zeros(len(gets)), where=gets > 0)
    return in_waves(window, operators[GET_MS] * part)


row_count_share = share_of(row_count_wall_ms, "row_count_share", "counting the state's rows / triggerExecution")
