"""Run as a program by `test_clusters.py`: judges logs on the cluster at a master, prints JSON of what came out.

Arguments: the master, the file of the package to send along (or `-`), and the logs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from advisor import api
from advisor.sources.spark import session


def where(spark: Any) -> list[str]:
    """Where the workers have this package from."""

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import advisor

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"place": [advisor.__file__] * len(batch)})

    return sorted({row[0] for row in spark.range(4).mapInArrow(look, "place string").collect()})


def main(master: str, package: str, *logs: str) -> None:
    """Judge, and say where the package was found."""
    with session(master=master) as spark:
        if package != "-":
            spark.sparkContext.addPyFile(package)
        report = api.analyze(logs, spark=spark)
        print(json.dumps({"report": report.data, "package": where(spark)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
