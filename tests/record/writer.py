"""Another application that commits to a case's table, again and again until it is ended: `python writer.py WORK`."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import time
from pathlib import Path

from pyspark.errors import PySparkException
from stream import session

PAUSE = 1.0
"""Seconds between two commits."""


def main() -> None:
    """Commit; while the table is not there, or another commit came first, try the next one."""
    work = Path(sys.argv[1])
    case = json.loads((work / "case.json").read_text())
    own = {
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.driver.extraClassPath": ":".join(case["jars"]),
        "spark.local.dir": f"{work}/tmp",
        "spark.driver.extraJavaOptions": f"-Duser.home={work}",
    }
    spark = session({**own, **{key: str(value).replace("{work}", str(work)) for key, value in case["conf"].items()}})
    for turn in itertools.count():
        with contextlib.suppress(PySparkException):
            spark.sql(case["other_writer"].format(work=work, turn=turn))
        time.sleep(PAUSE)


if __name__ == "__main__":
    main()
