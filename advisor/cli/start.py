"""What a command does before it imports what reads logs: refuse paths where nothing is, and keep pandas out."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def start(paths: Iterable[str], *, local: bool = True) -> None:
    """Raise InputError for a path where there is nothing, before anything slow; else prepare to read, without Spark."""
    from advisor.sources.paths import STDIN, refuse_missing

    refuse_missing(path for path in paths if path != STDIN)
    if local:
        _without_pandas()


def _without_pandas() -> None:
    """Let pyarrow find no pandas: it imports it with the first array that it makes, and again for a data frame."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(_NoPandas)


class _NoPandas:
    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise ImportError for pandas; leave all else to others."""
        if name == "pandas":
            raise ImportError(name)
