"""What was asked of `attach`, read and checked before anything is attached."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor import catalogue
from advisor.batches import Reading
from advisor.catalogue import Catalogue
from advisor.contract import Report
from advisor.errors import UsageError
from advisor.facts import version_at_least
from advisor.report import Asked, assemble
from advisor.report.comparing import compare_readings
from advisor.report.runs import Wishes
from advisor.sources.listener.history import History
from advisor.sources.listener.session import Classic, Connect, Session, is_connect
from advisor.views.shown import Compared
from advisor.wishes import UserWishes, user_wishes

if TYPE_CHECKING:
    from advisor.session.notices import Notice


@dataclass(frozen=True)
class Options:
    """What was asked of `attach`."""

    catalogue: Catalogue
    wishes: UserWishes
    history: Path | None
    on_finding: Callable[[Notice], None] | None
    keep: int
    capacity: int

    @classmethod
    def of(
        cls,
        *,
        set: Iterable[str],
        config: str | Path | None,
        rules: Iterable[str | Path],
        history: str | Path | None,
        on_finding: Callable[[Notice], None] | None,
        keep: int,
        capacity: int,
    ) -> Options:
        """The options with rules and configuration read; UsageError and CatalogueError for what is wrong."""
        for name, number in (("keep", keep), ("capacity", capacity)):
            if number < 1:
                raise UsageError(f"{name}={number}", "is not a number of events", "give at least 1")
        judges = catalogue.rules_to_judge_by([Path(place) for place in rules])
        place = Path(history) if history is not None else None
        return cls(judges, user_wishes(set, config, [], judges), place, on_finding, keep, capacity)


def written_to(directory: Path) -> History:
    """The history that is kept in this directory; UsageError where there can be none."""
    try:
        return History(directory)
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        raise UsageError(f"history={directory}", str(error), "give a directory that can be written") from None


class Judging:
    """Judges what was read by a catalogue. A rule that fails is listed under "not judged", as everywhere."""

    def __init__(self, catalogue: Catalogue, wishes: Wishes) -> None:
        self._catalogue, self._asked = catalogue, Asked(wishes=wishes, live=True)

    def report(self, reading: Reading, *, series: bool = False) -> Report:
        """The report, with `series` also the single batches; what fails without any rule is raised."""
        return assemble(reading, self._catalogue, replace(self._asked, series=series))

    def compare(self, reading: Reading) -> Compared:
        """Each query's newest window against the one before it; InputError where none has two."""
        return Compared(*compare_readings(reading, None, self._catalogue, self._asked))


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
