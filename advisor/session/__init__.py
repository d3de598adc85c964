"""The advisor of a running session: `attach(spark)`, and `watch()` over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.errors import UsageError

if TYPE_CHECKING:
    from advisor.session.live import LiveAdvisor
    from advisor.session.notices import Notice

__all__ = ["attach", "watch"]


def attach(
    spark: Any,
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    history: str | Path | None = None,
    on_finding: Callable[[Notice], None] | None = None,
    keep: int | None = None,
    capacity: int | None = None,
    health: int | None = None,
) -> LiveAdvisor:
    """An advisor that listens to the queries of this session, classic or Connect; queries that run are picked up.

    `set`, `config`, `rules`: as for `analyze`. `history`: a directory to which every event is appended as JSON lines,
    for `analyze`. `on_finding(notice)` hears of a finding that appears, worsens or is gone; without it, a line goes
    through `logging` (logger "advisor"). `keep`: batches kept of each query. `capacity`: events that may wait; of both
    10,000 where nothing is given.
    `health`: a port that answers 200 or 503 and a JSON line: whether a query has gone silent or died.
    A session has one advisor: attached again, the same one comes back, with the wishes of the new call. Only `keep`,
    `capacity` and `health` stay as they are, and a warning names those that the new call wants otherwise. Raises
    UsageError where no listener can run, CatalogueError for rules that cannot be read.
    """
    from advisor import catalogue  # noqa: PLC0415
    from advisor.config import listed, refuse_no_count, user_wishes  # noqa: PLC0415
    from advisor.report import Asked  # noqa: PLC0415
    from advisor.session.live import LiveAdvisor, Options  # noqa: PLC0415 - the first import of PySpark

    if isinstance(spark, type):
        raise UsageError("spark", f"{spark.__name__} is a class", "give a session: SparkSession.builder.getOrCreate()")
    for name, number in (("keep", keep), ("capacity", capacity)):
        if number is not None:
            refuse_no_count(name, number, "events")
    if not (on_finding is None or callable(on_finding)):
        raise UsageError("on_finding", f"{type(on_finding).__name__} is no function", "give one that takes a notice")
    judges = catalogue.rules_to_judge_by([*map(Path, listed("rules", rules))])
    asked = Asked(wishes=user_wishes(set, config, [], judges), live=True)
    place = None if history is None else Path(*listed("history", [history], "give a directory"))
    return LiveAdvisor.of(spark, Options(judges, asked, place, on_finding, keep, capacity, health))


def watch(session: Any = None) -> None:
    """Show in this cell what a session's queries do, again after new batches, until none of them runs any more.

    `session`: a Spark session, which is attached to where it is not yet, or what `attach` gave; without it the active
    session. What was wished when it was attached to stays. Interrupting the cell ends it, and leaves the queries alone.
    Outside a notebook the last report is printed. Raises UsageError where there is no session.
    """
    from advisor.session.live import LiveAdvisor  # noqa: PLC0415 - the first import of PySpark

    if session is None:
        from pyspark.sql import SparkSession  # noqa: PLC0415

        session = SparkSession.getActiveSession()
        if session is None:
            raise UsageError("watch", "there is no active Spark session", "give the session that runs the queries")
    advisor = session if isinstance(session, LiveAdvisor) else LiveAdvisor.attached(session) or attach(session)
    advisor.watch()
