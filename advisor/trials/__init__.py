"""Try steps on real Spark: baseline and candidate in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.trials.setup import Setup
    from advisor.views.shown import Tried

__all__ = ["trial"]


def trial(
    build: Callable[[Setup], Any],
    steps: Iterable[str | Mapping[str, Any]],
    *,
    spark: Any = None,
    runs: int = 8,
    batches: int | None = None,
    seconds: float | None = None,
    place: str | None = None,
    safe_sink: bool = False,
    safe_source: bool = False,
    state_rows: int | None = None,
    most_runs: int | None = None,
    rules: Iterable[str | Path] = (),
    say: Callable[[str], None] | None = None,
) -> Tried:
    """What `steps` do to the query that `build` makes: baseline and candidate run in turns on throw-away checkpoints.

    `build(setup)` returns the writer of a stream that is not started; from `setup` it takes the session, the reader's
    options and places for what it writes. A step is an id of the catalogue or a change such as
    `{"writer_option": {...}, "conf": {...}}`; all of them make one candidate. `runs`: a multiple of 4, one more warms
    up. Where they cannot tell, as many more as should be enough, at most `most_runs` in all (three times `runs`); each
    ends after so many steady `batches`, at the latest after `seconds`: without them the pace of the warm-up decides,
    and `say` hears how long it will take. `place`: a directory that the whole
    cluster reaches, below which everything is written and then removed. `safe_sink`, `safe_source`: your word that
    a sink (foreach, foreachBatch) acts nowhere else, that reading takes nothing from others. `state_rows`: rows of
    state from which on batches count.
    Raises UsageError for what a trial must not touch and for what was asked wrongly.
    """
    from advisor.catalogue import rules_to_judge_by  # noqa: PLC0415
    from advisor.comparison import order  # noqa: PLC0415
    from advisor.trials.guard import check_unbuilt  # noqa: PLC0415
    from advisor.trials.length import USUAL_BATCHES, WARM_UP_SECONDS, Length  # noqa: PLC0415
    from advisor.trials.run import Bounds, Runner  # noqa: PLC0415 - the first import of PySpark
    from advisor.trials.setup import Permissions  # noqa: PLC0415
    from advisor.trials.turns import MOST_RUNS, Bench, session_of  # noqa: PLC0415

    most = MOST_RUNS * runs if most_runs is None else most_runs
    warm_up = Bounds(runs, batches or USUAL_BATCHES, seconds or WARM_UP_SECONDS, state_rows, most)
    permissions, length = Permissions(safe_sink, safe_source), Length(batches, seconds)
    order(runs)
    length.check()
    check_unbuilt(build, permissions)
    judges = rules_to_judge_by([Path(rule) for rule in rules])
    runner = Runner(session_of(spark), build, warm_up, permissions, judges)
    return Bench(runner, place, say or (lambda _: None), length).tried(list(steps))
