"""A stateful processor in Python: a running count by key."""

from __future__ import annotations

from typing import Any

OUT = "key bigint, seen bigint"


def counter() -> Any:
    """The processor; its class is made here so that it travels to Python workers by value."""
    import pandas as pd
    from pyspark.sql.streaming import StatefulProcessor

    class Counter(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.seen = handle.getValueState("seen", "seen bigint")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803
            seen = (self.seen.get()[0] if self.seen.exists() else 0) + sum(len(part) for part in rows)
            self.seen.update((seen,))
            yield pd.DataFrame({"key": [key[0]], "seen": [seen]})

        def close(self) -> None:
            pass

    return Counter()
