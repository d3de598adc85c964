"""The advisor of a running session: `attach(spark)`, and `watch()` over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    keep: int = 10_000,
    capacity: int = 10_000,
) -> LiveAdvisor:
    """An advisor that listens to the queries of this session, classic or Connect; queries that run are picked up.

    `set`, `config`, `rules`: as for `analyze`. `history`: a directory to which every event is appended as JSON lines,
    for `analyze`. `on_finding(notice)` hears of a finding that appears, worsens or is gone; without it, a line goes
    through `logging` (logger "advisor"). `keep`: batches kept of each query. `capacity`: events that may wait.
    A session has one advisor: attached again, the same one comes back, with the wishes of the new call. Raises
    UsageError where no listener can run, CatalogueError for rules that cannot be read.
    """
    from advisor.session.live import LiveAdvisor  # noqa: PLC0415 - the first import of PySpark
    from advisor.session.options import Options  # noqa: PLC0415

    options = Options.of(
        set=set, config=config, rules=rules, history=history, on_finding=on_finding, keep=keep, capacity=capacity
    )
    return LiveAdvisor.of(spark, options)


def watch(session: Any = None) -> None:
    """Show in this cell what a session's queries do, again after new batches, until none of them runs any more.

    `session`: a Spark session, which is attached to where it is not yet, or what `attach` gave; without it the active
    session. What was wished when it was attached to stays. Interrupting the cell ends it, and leaves the queries alone.
    Outside a notebook the last report is printed. Raises UsageError where there is no session.
    """
    from advisor.session.live import LiveAdvisor  # noqa: PLC0415 - the first import of PySpark
    from advisor.session.options import active  # noqa: PLC0415

    if isinstance(session, LiveAdvisor):
        session.watch()
    else:
        spark = active() if session is None else session
        (LiveAdvisor.attached(spark) or attach(spark)).watch()
