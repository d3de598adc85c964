"""A throw-away directory, on this machine or on the cluster's storage."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor.errors import UsageError


@contextlib.contextmanager
def throw_away(spark: Any, below: str | None) -> Iterator[str]:
    """The URI of a new directory that is gone afterwards: below `below`, or on this machine for a local master.

    Raises UsageError where the executors are elsewhere and nobody said which storage they share.
    """
    if below is not None:
        with _on_storage(spark, f"{below.rstrip('/')}/latency-advisor-trial-{uuid.uuid4().hex[:12]}") as place:
            yield place
        return
    if not spark.sparkContext.master.startswith("local"):
        found = f"the executors of {spark.sparkContext.master} do not see this machine's directories"
        raise UsageError(
            "place", found, "give a directory that the whole cluster can write to; a new one is created in it"
        )
    directory = Path(tempfile.mkdtemp(prefix="latency-advisor-trial-"))
    try:
        yield directory.as_uri()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextlib.contextmanager
def _on_storage(spark: Any, uri: str) -> Iterator[str]:
    path = spark._jvm.org.apache.hadoop.fs.Path(uri)
    try:
        system = path.getFileSystem(spark._jsc.hadoopConfiguration())
        system.mkdirs(path)
    except Exception as error:  # Py4J raises what Java raised
        raise UsageError(
            "place", f"{uri} could not be created: {str(error).splitlines()[0]}", "give another directory"
        ) from None
    try:
        yield uri
    finally:
        system.delete(path, True)
