"""A trial: its settings, the runs of both sides, the effects and the promises."""

from __future__ import annotations

from typing import Literal

from advisor.contract.advice import Settings
from advisor.contract.base import Entry
from advisor.contract.comparison import Effect, KeptPromise

TrialVerdict = Literal["faster", "slower", "no difference", "refused", "cannot say"]


class OnTrial(Settings, frozen=True):
    """The settings of the candidate. `code`: ids of steps that the building function itself makes."""

    code: tuple[str, ...] = ()


class TrialRun(Entry, frozen=True):
    """One run of a side. `refused`: Spark's message if it refused the settings."""

    side: Literal["baseline", "candidate"]
    run_id: str | None
    batches: int
    because: str
    first: str | None
    last: str | None
    typical_ms: float | None
    state_rows: float
    latency_ms: dict[str, float]
    refused: str | None


class Trial(Entry, frozen=True):
    """Candidate against baseline. `drift_ms`: how far both moved from the first run to the last."""

    schema_version: int
    advisor_version: str
    verdict: TrialVerdict
    says: str
    steps: tuple[str, ...]
    change: OnTrial
    spark_version: str | None
    task_slots: int | None
    effects: tuple[Effect, ...]
    drift_ms: float | None
    promises: tuple[KeptPromise, ...]
    runs: tuple[TrialRun, ...]
    limits: tuple[str, ...]
