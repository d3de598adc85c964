"""The functions that a notebook or a script calls."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

import advisor
from advisor import batches, catalogue, contract, fleet
from advisor.config import listed, refuse_no_count, user_wishes
from advisor.contract import Fleet, FleetQuery, QueryEntry
from advisor.errors import UsageError
from advisor.facts import parse_user_fact
from advisor.report import Asked, assemble
from advisor.report.absent import Span, names, no_query, queries, refuse_empty, refuse_unknown, span
from advisor.report.assemble import entries_of, input_of, judged_runs, report_on
from advisor.report.packed import Packed
from advisor.report.silence import stalls
from advisor.sources import files, saved
from advisor.sources.following import followed
from advisor.sources.outputs import check_new
from advisor.views.shown import Compared, Report

if TYPE_CHECKING:
    import pandas as pd

    from advisor.checkpoint import Checkpoint, Seen
    from advisor.window import Window

Paths = str | PathLike[str] | Iterable[str | PathLike[str]]
Engine = Literal["auto", "local", "spark"]


def analyze(
    paths: Paths,
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    last: str | timedelta | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    progress: Callable[[int], None] | None = None,
    engine: Engine = "auto",
    spark: Any = None,
    series: bool = False,
    stages: bool = True,
    query: str | None = None,
    checkpoint: str | PathLike[str] | None = None,
    save: str | Path | None = None,
    packed: bool = False,
    processes: int = 1,
) -> Report:
    """The report on what `paths` hold: files, directories, globs, `-` for stdin, object-store URLs, a driver's address.

    `set`: facts as `fact=value` or `QUERY:fact=value`. `config`: an advisor.yaml; without it, the one beside the logs.
    `rules`: directories with a team's own rules. `last` ("30m") counts back from each run's newest batch; `since` and
    `until` are timestamps, UTC where they name no zone. `progress` hears the bytes that have been read. With `series`
    each query in `typed` and `data` holds its single batches, at most 2,000 of them; without it the report reads them
    again from what it keeps, when it shows itself with charts; on a cluster it has none. Without `stages` jobs,
    stages and tasks are not read, and addBatch stays closed. `query`: the name or id of the only one to show.
    `checkpoint`: the folder of a query's checkpoint, whose facts are known then, too. `save`: a file for what was read,
    which every function reads as a log. `packed`: hold the queries compressed, for very many: `to_text` and `to_json`
    show all, `typed` and `data` lack numbers; so many `processes` judge them then, on Linux. With a session as `spark`
    all is read and judged on its cluster (`engine="spark"` starts one), with the same report.

    Raises InputError where nothing can be read, UsageError and CatalogueError for what was asked wrongly.
    """
    refuse_no_count("processes", processes, "processes")
    given = _Given.of(
        paths, series=series, set=set, config=config, rules=rules, last=last, since=since, until=until
    )  # fmt: skip
    if not on_cluster(engine, spark):
        place = None if save is None else listed("save", [save])[0]
        if place is not None:
            check_new("--save", place, given.paths if config is None else [*given.paths, config], checkpoint)
        reading = files.read(given.paths, stages=stages, progress=progress)
        if place is not None:
            saved.write(reading, place)
        report = _shown(_with_checkpoint(reading, checkpoint), given, Packed() if packed else None, processes)
        given.refuse_absent(report.typed.queries, span(reading.batches))
        return _only(report, query)
    if checkpoint is not None or save is not None:
        what = "save" if checkpoint is None else "checkpoint"
        raise UsageError(what, "works on this machine only", "use engine='local'")
    from advisor import cluster  # noqa: PLC0415 - only who has a cluster waits for it

    with _session(spark, given.paths) as session:
        judged = cluster.judge(
            session, given.paths, given.rules, given.asked, shape=cluster.WHOLE, progress=progress, stages=stages
        )
    given.refuse_absent(judged.entries, judged.span)
    return _only(Report(report_on(judged.reading, judged.entries, given.asked, judged.by_jvm)), query)


def _only(report: Report, query: str | None) -> Report:
    """The report on one query alone, by its name or id; UsageError where there is none."""
    if query is None:
        return report
    if not any(query in names(one) for one in report.typed.queries):
        raise no_query(query, (str(one.name or one.id) for one in report.typed.queries))

    again = report.again and partial(_limited, query, report.again)
    return replace(report, typed=_limited(query, lambda: report.typed), again=again)


def _limited(query: str, report: Callable[[], contract.Report]) -> contract.Report:
    whole = report()
    return msgspec.structs.replace(whole, queries=tuple(one for one in whole.queries if query in names(one)))


def _shown(reading: batches.Reading, given: _Given, packed: Packed | None = None, processes: int = 1) -> Report:
    """The report on what was read; its single batches are made of that when it is drawn."""
    report = Report(
        assemble(reading, given.rules, given.asked, packed, processes),
        partial(assemble, reading, given.rules, replace(given.asked, series=True)),
    )
    return replace(report, whole=packed.whole, written=packed.written) if packed else report


def follow(
    paths: Paths,
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    stages: bool = True,
) -> Iterator[Report | None]:
    """A look at logs that grow with each step: the report where there is something new, None where there is nothing.

    `paths`: files, directories or globs of this machine, through rotation and truncation, or the address of a driver,
    through its restarts; the rest as for `analyze`.
    What ran inside addBatch (`stages`) is read from the beginning, where that takes long not at each step.
    It never ends by itself. Raises InputError where there is no such file, UsageError and CatalogueError for what was
    asked wrongly: a query that facts are given for must be among the first that the logs show.
    """
    given = _Given.of(paths, set=set, config=config, rules=rules)
    given = replace(given, asked=replace(given.asked, live=True))
    following = followed(given.paths, stages=stages)
    known: list[tuple[str | None, ...]] = []
    words: Mapping[str, str] = {}
    try:
        while True:
            new = following.poll()
            reading = following.reading(stages=stages and new)
            now = {run: stall.word for run, stall in stalls(reading).items()}
            report = None
            if new or now != words:
                report = _shown(reading if new else following.reading(stages=stages), given)
            words = now
            if report and not known:
                known = [names(query) for query in report.typed.queries]
                refuse_unknown(given.meant, known)
            yield report
    finally:
        following.close()


def refuse(paths: Paths, save_table: str | None = None, **asked: Any) -> None:
    """Raise what `analyze`, on a cluster, raises of these before it reads anything; to be asked before one is started.

    `asked`: set, config, rules, last, since and until, as `analyze` takes them.
    """
    from advisor import cluster  # noqa: PLC0415

    cluster.refuse(_Given.of(paths, **asked).paths, save_table)


def analyze_fleet(
    paths: Paths,
    *,
    progress: Callable[[int], None] | None = None,
    engine: Engine = "auto",
    spark: Any = None,
    save_table: str | Path | None = None,
    incremental: bool = False,
    stages: bool = True,
    processes: int = 1,
    **asked: Any,
) -> Fleet:
    """The fleet's report (`advisor.fleet.report`): queries and changes ranked over all runs in `paths`.

    `advisor.contract.plain` makes plain data of it. The other parameters, and those in `asked`, as for `analyze`. On a
    cluster the driver gets a few kilobytes per run. `save_table` (on a cluster only) is a directory for batches and
    findings as Parquet by day; with `incremental` what stands there is extended, and only files and ends of files are
    read that are new since. With `stages` the tables `stages` and `batch_parts` are saved, too. Without a cluster
    `processes` judge very many runs.
    """
    refuse_no_count("processes", processes, "processes")
    given = _Given.of(paths, **asked)
    if not on_cluster(engine, spark):
        if save_table is not None or incremental:
            raise UsageError("save_table", "only Spark writes tables", "use engine='spark'")
        reading = files.read(given.paths, stages=stages, progress=progress)
        found = entries_of(reading, given.rules, given.asked, fleet.summary, brief=True, processes=processes)
        return _fleet(given, [*found], reading, span(reading.batches))
    from advisor import cluster  # noqa: PLC0415

    place = str(save_table or "")
    if incremental or save_table is not None:
        cluster.refuse_place(place)
    with _session(spark, given.paths) as session:
        judged = cluster.judge(
            session,
            given.paths,
            given.rules,
            given.asked,
            shape=cluster.Shape(fleet.summary, FleetQuery),
            brief=True,
            progress=progress,
            table=cluster.Table(place, incremental) if place else None,
            stages=stages,
        )
    return _fleet(given, judged.entries, judged.reading, judged.span, judged.by_jvm)


def _fleet(
    given: _Given, found: Sequence[FleetQuery], reading: batches.Reading, held: Span | None, by_jvm: int = 0
) -> Fleet:
    given.refuse_absent(found, held)
    read = input_of(reading, found, given.asked, by_jvm)
    return fleet.report(found, read, version=advisor.__version__)


def on_cluster(engine: Engine, spark: Any) -> bool:
    """Whether a cluster does it: one is asked for, or a session is given and nothing else; UsageError for neither."""
    if engine not in get_args(Engine):
        raise UsageError(f"engine={engine}", "is no engine", f"give one of {', '.join(get_args(Engine))}")
    if spark is not None and not hasattr(spark, "sql"):
        raise UsageError("spark", f"{type(spark).__name__} is no Spark session", "give a SparkSession")
    return engine == "spark" or (engine == "auto" and spark is not None)


def compare(
    before: Paths,
    after: Paths | None = None,
    *,
    set: Iterable[str] = (),
    config: str | Path | None = None,
    rules: Iterable[str | Path] = (),
    query: str | None = None,
    stages: bool = True,
) -> Compared:
    """How the queries in `after` differ from the same in `before`; without `after`, their newest run from the last.

    Paths, `set`, `config` and `rules` as for `analyze`; `query` is a name or id.
    With `stages` addBatch is also compared part by part, if both sides show jobs. Differences are milliseconds,
    AFTER less BEFORE, with 95 % intervals. Raises InputError where there is nothing to read or to pair, UsageError and
    CatalogueError for what was asked wrongly.
    """
    from advisor.report.comparing import compare_readings  # noqa: PLC0415 - takes as long as a small log

    old, new = _listed(before), None if after is None else _listed(after)
    given = _Given.of([*old, *(new or ())], set=set, config=config, rules=rules)
    readings = files.read(old, stages=stages), None if new is None else files.read(new, stages=stages)
    here = [called for reading in readings if reading is not None for called in queries(reading.batches)]
    refuse_unknown(given.meant, here)
    return Compared(*compare_readings(*readings, given.rules, given.asked, query))


def read_progress(paths: Paths, *, spark: Any = None) -> pd.DataFrame | Any:
    """The table of batches: one row per progress event, columns as `advisor.batches.COLUMNS` explains them.

    Duplicates are dropped, idle triggers are marked in `idle`. Raises InputError where nothing can be read. With a
    session as `spark` a Spark data frame with the same rows, read on the cluster when it is asked for.
    """
    if spark is not None:
        from advisor import cluster  # noqa: PLC0415

        return cluster.read(spark, _listed(paths))
    return batches.to_pandas(files.read(_listed(paths), sightings=False).batches)


def read_sightings(paths: Paths) -> pd.DataFrame:
    """The table of sightings: what the logs reveal besides progress (execution class, settings, versions, errors).

    One row per sighting: id and run_id (none where the line names no run), log, fact, value as JSON text, source, file,
    offset, timestamp. Credentials are not kept. Raises InputError where nothing can be read.
    """
    frame: pd.DataFrame = files.read(_listed(paths)).sightings.to_pandas()
    return frame


def read_stages(paths: Paths, *, parts: bool = False, spark: Any = None) -> pd.DataFrame | Any:
    """The table of stages: one row per stage attempt of a micro-batch, columns as `advisor.stages.STAGE_COLUMNS` say.

    With `parts` the table of batch parts: one row per micro-batch, with the wall-clock parts of its addBatch in ms,
    which add up to it (`advisor.stages.PART_COLUMNS`). Whatever a log lacks is missing; both are empty if no log
    shows jobs: event logs do, and driver logs at INFO. Raises InputError where nothing can be read. With a session
    as `spark` a Spark data frame with the same rows, read on the cluster, a log by a task, when it is asked for.
    """
    table = "batch_parts" if parts else "stages"
    if spark is not None:
        from advisor import cluster  # noqa: PLC0415

        return cluster.read(spark, _listed(paths), table)
    return batches.to_pandas(files.read(_listed(paths), sightings=False, stages=True).tables[table])


def read_checkpoint(
    path: str | PathLike[str], *, before: Iterable[str] = (), log: Paths | None = None, set: Iterable[str] = ()
) -> Checkpoint:
    """What a checkpoint's folder shows: whether a query starts from it, what is done again, what is pinned there.

    `path`: a folder of this machine or an address (s3, gs, abfs, hdfs); nothing in it is ever written. `before`: what
    is to be changed, such as `async-off` or `partitions=16`, each answered in `answers`. `log`: a log of its query,
    which shows what else decides, and how long a batch takes. `set`: facts as `fact=value`. Raises InputError where
    there is no checkpoint, UsageError for what was asked wrongly.
    """
    from advisor.checkpoint import describe, read  # noqa: PLC0415 - logs need no checkpoint
    from advisor.sources.folders import folder_at  # noqa: PLC0415

    seen = read(folder_at(path))
    before = listed("before", before)
    if log is not None:
        return describe(seen, before, _window_of(seen, _Given.of(log, set=set)))
    return describe(seen, before, user={name: value for _, name, value in map(parse_user_fact, listed("set", set))})


def _with_checkpoint(reading: batches.Reading, place: str | PathLike[str] | None) -> batches.Reading:
    """What was read, with the facts of a checkpoint; InputError where it belongs to no query that was read."""
    if place is None:
        return reading
    from advisor.checkpoint import read, with_checkpoint  # noqa: PLC0415
    from advisor.sources.folders import folder_at  # noqa: PLC0415

    return with_checkpoint(reading, read(folder_at(place)))


def _window_of(seen: Seen, given: _Given) -> Window:
    """The batches of the newest run of a checkpoint's query that a log shows."""
    from advisor.checkpoint import with_checkpoint  # noqa: PLC0415

    reading = with_checkpoint(files.read(given.paths), seen)
    runs = judged_runs(reading, given.rules, given.asked)
    return [one for one in runs if one.run.id == seen.query_id][-1].window


@contextmanager
def _session(spark: Any, given: list[str]) -> Iterator[Any]:
    """The session that is given, or one that is started once the paths are there."""
    from advisor import cluster  # noqa: PLC0415

    if spark is None:
        cluster.refuse(given)
    with cluster.session(spark) as session:
        yield session


@dataclass(frozen=True)
class _Given:
    """What a user gives, understood: the paths, the rules to judge by, and what is asked of the queries."""

    paths: list[str]
    rules: catalogue.Catalogue
    asked: Asked
    limits: Mapping[str, object]

    @classmethod
    def of(
        cls,
        paths: Paths,
        *,
        set: Iterable[str] = (),
        config: str | Path | None = None,
        rules: Iterable[str | Path] = (),
        last: str | timedelta | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        series: bool = False,
    ) -> _Given:
        """Understand it; UsageError and CatalogueError for what was asked wrongly."""
        given = _listed(paths)
        judges = catalogue.rules_to_judge_by([*map(Path, listed("rules", rules))])
        asked = Asked(
            wishes=user_wishes(set, config, given, judges),
            last=None if last is None else duration(str(last), "--last"),
            since=_instant("since", since),
            until=_instant("until", until),
            series=series,
        )
        return cls(given, judges, asked, {"last": last, "since": since, "until": until})

    @property
    def meant(self) -> list[tuple[str | None, str]]:
        """The queries that facts are given for, None for all, and the fact."""
        return [(query, fact) for query, fact, _ in self.asked.wishes.given] if self.asked.wishes else []

    def refuse_absent(self, entries: Sequence[QueryEntry | FleetQuery], held: Span | None) -> None:
        """UsageError where a query that facts are given for, or a batch in the time asked for, is not there."""
        refuse_unknown(self.meant, [names(entry) for entry in entries])
        refuse_empty(self.limits, sum(entry.batches for entry in entries), held)


def _listed(paths: Paths) -> list[str]:
    several = listed("paths", paths, "give a log file or a driver's address; with a session: advisor.attach(spark)")
    return [re.sub("^file:/(?!/)", "/", one) for one in several]  # as Spark prints a path


_LENGTH = re.compile(
    r"(?=\d)" + "".join(rf"(?:\d{{1,9}}(?:\.\d{{1,9}})?\s?{unit}\s?)?" for unit in ("d", "h", "m", "s", "ms"))
    + r"|(?:\d{1,9} days?,? )?\d{1,9}:\d\d:\d\d(?:\.\d{1,9})?|\d{1,20} [a-z]{4,12}", re.ASCII  # as Python's types print
)  # fmt: skip
_LENGTHS = "write 500ms, 30s, 30m, 2h, 1d or 1h30m"
_INSTANT = re.compile(r"(?ai)\d{4}-\d\d-\d\d(?:[T\s][\d:.,\s]*)?(?:[AP]M)?\s?(?:Z|UTC|GMT|[+-][\d:]+)?")  # no CET


def duration(text: str, option: str) -> pd.Timedelta:
    """A length of time as `30s`, `30m`, `2h`, `1d` or `1h30m`; UsageError, naming the option, for anything else."""
    import pandas as pd  # noqa: PLC0415 - a quarter of a second that only a length or a time is worth

    length = pd.to_timedelta(text if _LENGTH.fullmatch(text.strip()) else "", errors="coerce")
    if length > pd.Timedelta(0):
        return length
    wrong = "is not a length of time" if pd.isna(length) else "must be longer than 0"
    wrong = f"{text.strip()} has no unit" if re.fullmatch(r"[\d.,\s]+", text) else wrong
    raise UsageError(f"{option} {text}", wrong, _LENGTHS)


def _instant(option: str, text: str | datetime | None) -> pd.Timestamp | None:
    if text is None:
        return None
    import pandas as pd  # noqa: PLC0415

    instant = pd.to_datetime(text, errors="coerce") if _INSTANT.fullmatch(str(text).strip()) else None
    if pd.isna(instant):
        raise UsageError(f"--{option} {text}", "is not a time between 1678 and 2261", "write 2026-03-01T02:30:00Z")
    return instant.tz_localize("UTC") if instant.tzinfo is None else instant.tz_convert("UTC")
