"""What a notebook or a script imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from advisor import batches, catalogue, fleet
from advisor.errors import UsageError
from advisor.report import Asked, Compared, Wanted, assemble, compare_readings
from advisor.report.assemble import report_on
from advisor.sources import files
from advisor.wishes import user_wishes

if TYPE_CHECKING:
    from advisor.views.notebook import Shown


def analyze(
    paths: str | Path | Iterable[str | Path],
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    last: str | None = None,
    since: str | None = None,
    until: str | None = None,
    progress: Callable[[int], None] | None = None,
    engine: Engine = "auto",
    spark: Any = None,
) -> Shown:
    """The report on everything that `paths` hold: files, directories, globs, `-` for stdin, object-store URLs.

    `set`: facts as `fact=value` or `QUERY:fact=value`. `config`: an advisor.yaml; without it, the one beside the logs.
    `rules`: directories with a team's own rules. `last` ("30m") counts back from each run's newest batch; `since` and
    `until` are timestamps, UTC where they name no zone. `progress` hears the bytes that have been read. With a session
    as `spark` all is read and judged on its cluster (`engine="spark"` starts one), with the same report. Raises
    InputError where nothing can be read, UsageError and CatalogueError for what was asked wrongly.
    """
    given, judges, asked = _understood(paths, set, config, rules, last, since, until)
    from advisor.views.notebook import Shown  # noqa: PLC0415 - what shows a report is not needed before there is one

    if not on_cluster(engine, spark):
        return Shown(assemble(files.read(given, progress=progress), judges, asked).data)
    from advisor.sources import spark as cluster  # noqa: PLC0415 - only who has a cluster waits for it

    with _session(spark, given) as session:
        judged = cluster.judge(session, given, judges, asked, progress=progress)
    return Shown(_with_jvm(report_on(judged.reading, judged.entries).data, judged.by_jvm))


def refuse(paths: str | Path | Iterable[str | Path], **asked: Any) -> None:
    """Raise what `analyze`, on a cluster, raises of these before it reads anything; to be asked before one is started.

    `asked`: set, config, rules, last, since and until, all of them, as `analyze` takes them.
    """
    from advisor.sources import spark as cluster  # noqa: PLC0415

    given, *_ = _understood(paths, **asked)
    cluster.refuse(given)


def analyze_fleet(
    paths: str | Path | Iterable[str | Path],
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    last: str | None = None,
    since: str | None = None,
    until: str | None = None,
    progress: Callable[[int], None] | None = None,
    engine: Engine = "auto",
    spark: Any = None,
    save_table: str | Path | None = None,
    incremental: bool = False,
) -> dict[str, Any]:
    """The fleet's report as plain data (`advisor.fleet.report`): queries and changes ranked over all runs in `paths`.

    Parameters as for `analyze`. On a cluster the driver gets a few kilobytes per run. `save_table` (on a cluster only)
    is a directory for batches and findings as Parquet by day; with `incremental` what stands there is extended, and
    only files and ends of files are read that are new since.
    """
    given, judges, asked = _understood(paths, set, config, rules, last, since, until)
    if not on_cluster(engine, spark):
        if save_table is not None or incremental:
            raise UsageError("save_table", "tables are written by a cluster", "use engine='spark'")
        data = assemble(files.read(given, progress=progress), judges, asked, metrics=fleet.METRICS).data
        return fleet.report(map(fleet.summary, data["queries"]), data["input"], version=data["advisor_version"])
    from advisor.sources import spark as cluster  # noqa: PLC0415

    place = None if save_table is None else cluster.Table(str(save_table), incremental)
    with _session(spark, given) as session:
        judged = cluster.judge(
            session, given, judges, asked, shape=fleet.summary, metrics=fleet.METRICS, progress=progress, table=place
        )
    read = _with_jvm(report_on(judged.reading, []).data, judged.by_jvm)
    return fleet.report(judged.entries, read["input"], version=read["advisor_version"])


def _with_jvm(data: dict[str, Any], files: int) -> dict[str, Any]:
    """The report's data, which says how many files only the JVM could reach, if any."""
    if files:
        data["input"]["read_by_jvm"] = files
    return data


Engine = Literal["auto", "local", "spark"]


def on_cluster(engine: Engine, spark: Any) -> bool:
    """Whether a cluster does it: where one is asked for, or a session is given and nothing else is asked for."""
    return engine == "spark" or (engine == "auto" and spark is not None)


def compare(
    before: str | Path | Iterable[str | Path],
    after: str | Path | Iterable[str | Path] | None = None,
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    query: str | None = None,
    before_run: str | None = None,
    after_run: str | None = None,
) -> Compared:
    """How the queries in `after` differ from the same in `before`; without `after`, their newest run from the last.

    Paths, `set`, `config` and `rules` as for `analyze`; `query` is a name or id, the runs are beginnings of run ids.
    Differences are milliseconds, AFTER less BEFORE, with 95 % intervals. Raises InputError where there is nothing to
    read or to pair, UsageError and CatalogueError for what was asked wrongly.
    """
    old, new = _listed(before), None if after is None else _listed(after)
    judges = catalogue.load([Path(place) for place in rules] or None)
    asked = Asked(wishes=user_wishes(set, config, [*old, *(new or ())], judges))
    wanted = Wanted(query, before_run, after_run)
    return compare_readings(files.read(old), None if new is None else files.read(new), judges, asked, wanted)


def read_progress(paths: str | Path | Iterable[str | Path], *, spark: Any = None) -> pd.DataFrame | Any:
    """The table of batches: one row per progress event, columns as `advisor.batches.COLUMNS` explains them.

    Duplicates are dropped, idle triggers are marked in `idle`. Raises InputError where nothing can be read. With a
    session as `spark` a Spark data frame with the same rows, read on the cluster when it is asked for.
    """
    if spark is not None:
        from advisor.sources import spark as cluster  # noqa: PLC0415

        return cluster.read(spark, _listed(paths))
    frame: pd.DataFrame = batches.to_pandas(files.read(_listed(paths), sightings=False).batches)
    return frame


def read_sightings(paths: str | Path | Iterable[str | Path]) -> pd.DataFrame:
    """The table of sightings: what the logs reveal besides progress (execution class, settings, versions, errors).

    One row per sighting: id and run_id (none where the line names no run), log, fact, value as JSON text, source, file,
    offset, timestamp. Credentials are not kept. Raises InputError where nothing can be read.
    """
    frame: pd.DataFrame = files.read(_listed(paths)).sightings.to_pandas()
    return frame


@contextmanager
def _session(spark: Any, given: list[str]) -> Iterator[Any]:
    """The session that is given, or one that is started once the paths are there."""
    from advisor.sources import spark as cluster  # noqa: PLC0415

    if spark is None:
        cluster.refuse(given)
    with cluster.session(spark) as session:
        yield session


def _understood(
    paths: str | Path | Iterable[str | Path],
    set: Iterable[str],
    config: str | Path | None,
    rules: Iterable[str | Path],
    last: str | None,
    since: str | None,
    until: str | None,
) -> tuple[list[str], catalogue.Catalogue, Asked]:
    """(the paths, the rules, what is asked of them); UsageError and CatalogueError for what was asked wrongly."""
    given = _listed(paths)
    judges = catalogue.load([Path(place) for place in rules] or None)
    wishes = user_wishes(set, config, given, judges)
    asked = Asked(wishes=wishes, last=_duration(last), since=_instant("since", since), until=_instant("until", until))
    return given, judges, asked


def _listed(paths: str | Path | Iterable[str | Path]) -> list[str]:
    return [str(paths)] if isinstance(paths, str | Path) else [str(path) for path in paths]


def _duration(text: str | None) -> pd.Timedelta | None:
    if text is None:
        return None
    try:
        length = pd.Timedelta(text)
    except ValueError:
        raise UsageError(f"--last {text}", "is no length of time", "write 30m, 2h or 1d") from None
    if not length > pd.Timedelta(0):
        raise UsageError(f"--last {text}", "is not longer than nothing", "write 30m, 2h or 1d")
    return length


def _instant(option: str, text: str | None) -> pd.Timestamp | None:
    if text is None:
        return None
    instant = pd.to_datetime(text, errors="coerce")
    if pd.isna(instant):
        raise UsageError(f"--{option} {text}", "is no point in time", "write 2026-03-01T02:30:00Z")
    return instant.tz_localize("UTC") if instant.tzinfo is None else instant.tz_convert("UTC")
