"""Which session is meant: classic or Connect, the one that is given or the active one."""

from __future__ import annotations

from typing import Any

from advisor.errors import UsageError
from advisor.facts import version_at_least
from advisor.sources.listener.session import Classic, Connect, Session, is_connect


def session_of(spark: Any) -> Session:
    """The session behind one face; UsageError for what is none, or where a listener hears nothing."""
    if not hasattr(spark, "streams"):
        raise UsageError(
            "attach", f"{type(spark).__name__} is not a Spark session", "give the session that runs the queries"
        )
    if not is_connect(spark):
        return Classic(spark)
    if not version_at_least(_client(), "4.0"):
        found = f"Spark Connect {_client()} runs listeners on the server, where nothing comes back"
        raise UsageError("attach", found, "use PySpark 4.0 or later, or analyze the driver's log")
    return Connect(spark)


def active() -> Any:
    """The active Spark session; UsageError where there is none."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    found = SparkSession.getActiveSession()
    if found is None:
        raise UsageError("watch", "there is no active Spark session", "give the session that runs the queries")
    return found


def _client() -> str:
    import pyspark  # noqa: PLC0415

    return str(pyspark.__version__)
