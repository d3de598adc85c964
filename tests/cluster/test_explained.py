"""What Spark says of a damaged saved table becomes one line that tells what to do; what workers are sent."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from advisor.catalogue import rules_directory
from advisor.cluster.session import archive, explained
from advisor.errors import InputError, UsageError

FILE = "file:///tables/batches/part-0.snappy.parquet"
CONFLICT = (
    "[CONFLICTING_PARTITION_COLUMN_NAMES] Conflicting partition column names detected:\n\n"
    "\tPartition column name list #0: added\n\tPartition column name list #1: added, day\n\n"
    "Please check the following directories for unexpected files or inconsistent partition column names:\n\n"
    "\tfile:/tables/batches/added=foreign\n\tfile:/tables/batches/added=1/day=2026-01-01 SQLSTATE: KD009"
)
DAMAGED = "{}: cannot be read as part of a saved table; remove it, or save into a new directory"
REFUSED = "save_table: {}; give a directory that can be written"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"[FAILED_READ_FILE] Encountered error while reading file {FILE}. SQLSTATE: KD001", DAMAGED.format(FILE)),
        (CONFLICT, DAMAGED.format("file:/tables/batches/added=foreign")),
        (
            "Caused by: java.lang.RuntimeException: file:/tables/batches is not a Parquet file (length is too low: 1)",
            DAMAGED.format("file:/tables/batches"),
        ),
        (
            "hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: file:/logs/driver.log",
            REFUSED.format("Parent path is not a directory: file:/logs/driver.log"),
        ),
        (
            "Caused by: java.io.IOException: Mkdirs failed to create file:/proc/x/batches/_temporary/0 (exists=false)",
            REFUSED.format("Mkdirs failed to create file:/proc/x/batches/_temporary/0"),
        ),
        (
            "java.lang.ClassNotFoundException: Class org.x.s3a.S3AFileSystem not found",
            REFUSED.format("Class org.x.s3a.S3AFileSystem not found"),
        ),
        (
            "java.net.ConnectException: Call From vm/10.0.0.2 to 127.0.0.1:1 failed on connection exception: x",
            REFUSED.format("Call From vm/10.0.0.2 to 127.0.0.1:1 failed on connection exception: x"),
        ),
    ],
)
def test_what_spark_says_of_a_table_becomes_one_line(said: str, told: str) -> None:
    with pytest.raises((InputError, UsageError)) as error, explained():
        raise RuntimeError(f"An error occurred while calling o281.parquet.\n: {said}\n\tat org.apache.x")
    assert str(error.value) == told


def test_workers_without_a_library() -> None:
    with pytest.raises(UsageError, match="no Python module 'msgspec'"), explained():
        raise RuntimeError("ModuleNotFoundError: No module named 'msgspec'")


def test_what_else_spark_raises_stays_as_it_is() -> None:
    with pytest.raises(RuntimeError, match="something else"), explained():
        raise RuntimeError("something else")


def test_what_is_sent_to_workers_has_the_rules(tmp_path: Path) -> None:
    with ZipFile(archive(tmp_path)) as sent:
        names = {f"advisor/_rules/{path.name}" for path in rules_directory().iterdir() if path.is_file()}
        assert names <= {*sent.namelist()}
