"""What Spark says of a damaged saved table becomes one line that tells what to do."""

from __future__ import annotations

import pytest

from advisor.cluster.session import explained
from advisor.errors import InputError, UsageError

FILE = "file:///tables/batches/part-0.snappy.parquet"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"[FAILED_READ_FILE.NO_HINT] Encountered error while reading file {FILE}. SQLSTATE: KD001", "cannot be read"),
        (
            f"[FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH] Encountered error while reading file {FILE}. Data "
            "type mismatches when reading Parquet column [batch_id]. Expected Spark type bigint, actual Parquet type "
            "BINARY.",
            "with column batch_id as BINARY where bigint belongs",
        ),
    ],
)
def test_a_damaged_file_of_a_saved_table(said: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as error, explained():
        raise RuntimeError(f"An error occurred while calling o281.parquet.\n: org.apache.spark.SparkException: {said}")
    assert str(error.value).startswith(f"{FILE}: a file of a saved table, ")
    assert str(error.value).endswith("remove that file, or save into a new directory")


def test_a_folder_that_is_no_part_of_a_saved_table() -> None:
    said = (
        "[CONFLICTING_PARTITION_COLUMN_NAMES] Conflicting partition column names detected:\n\n"
        "\tPartition column name list #0: added\n\tPartition column name list #1: added, day\n\n"
        "For partitioned table directories, data files should only live in leaf directories.\n"
        "Please check the following directories for unexpected files or inconsistent partition column names:\n\n"
        "\tfile:/tables/batches/added=foreign\n\tfile:/tables/batches/added=1/day=2026-01-01 SQLSTATE: KD009"
    )
    with pytest.raises(InputError) as error, explained():
        raise RuntimeError(said)
    folders = "file:/tables/batches/added=foreign and file:/tables/batches/added=1/day=2026-01-01"
    told = f"{folders}: one of these is no part of a saved table; remove that one, or save into a new directory"
    assert str(error.value) == told


def test_a_file_that_stands_where_a_table_should() -> None:
    said = "Caused by: java.lang.RuntimeException: file:/tables/batches is not a Parquet file (length is too low: 1)"
    with pytest.raises(InputError, match="a saved table, which cannot be read") as error, explained():
        raise RuntimeError(said)
    assert str(error.value).startswith("file:/tables/batches: ")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            ": org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: file:/logs/driver.log",
            "Parent path is not a directory: file:/logs/driver.log",
        ),
        (
            "[TASK_WRITE_FAILED] Task failed while writing rows to file:/proc/x/batches. SQLSTATE: 58030\n"
            "Caused by: java.io.IOException: Mkdirs failed to create file:/proc/x/batches/_temporary/0 (exists=false)",
            "Mkdirs failed to create file:/proc/x/batches/_temporary/0",
        ),
        (
            ": java.lang.RuntimeException: java.lang.ClassNotFoundException: Class org.x.s3a.S3AFileSystem not found",
            "Class org.x.s3a.S3AFileSystem not found",
        ),
        (
            ": java.net.ConnectException: Call From vm/10.0.0.2 to 127.0.0.1:1 failed on connection exception: x",
            "Call From vm/10.0.0.2 to 127.0.0.1:1 failed on connection exception: x",
        ),
        ("Caused by: java.io.IOException: No space left on device\n\tat java.base/x", "No space left on device"),
    ],
)
def test_a_place_where_no_table_can_be_saved(said: str, why: str) -> None:
    with pytest.raises(UsageError) as error, explained():
        raise RuntimeError(f"An error occurred while calling o1.parquet.\n{said}\n\tat org.apache.x")
    assert str(error.value) == f"save_table: {why}; give a directory that can be written"


def test_workers_without_a_library() -> None:
    with pytest.raises(UsageError, match="no Python module 'msgspec'"), explained():
        raise RuntimeError("ModuleNotFoundError: No module named 'msgspec'")


def test_what_else_spark_raises_stays_as_it_is() -> None:
    with pytest.raises(RuntimeError, match="something else"), explained():
        raise RuntimeError("something else")
