"""What Spark raises becomes one line that tells what to do."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.cluster.session import explained
from advisor.errors import UsageError

CALL = "An error occurred while calling o281.parquet."


def of_spark(said: str) -> Exception:
    kind: Any = type("AnalysisException", (Exception,), {"__module__": "pyspark.errors.exceptions.captured"})
    error: Exception = kind(said)
    return error


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:/tables/x.parquet.\nJVM stacktrace:", 0),
        (f"{CALL}\n: java.io.IOException: No space left on device\n\tat java.base/x", 1),
    ],
)
def test_what_spark_says_of_a_saved_table(said: str, told: int) -> None:
    with pytest.raises(UsageError) as error, explained():
        raise of_spark(said)
    words = said.split("\n")[told].removeprefix(": ")
    assert str(error.value).startswith(f"Spark: {words}; ")


def test_workers_without_a_library() -> None:
    with pytest.raises(UsageError, match="no Python module 'msgspec'"), explained():
        raise RuntimeError("ModuleNotFoundError: No module named 'msgspec'")


@pytest.mark.parametrize("error", [RuntimeError("something else"), of_spark("PythonException: in our own code")])
def test_a_fault_of_our_own_stays_as_it_is(error: Exception) -> None:
    with pytest.raises(type(error), match=str(error)), explained():
        raise error
