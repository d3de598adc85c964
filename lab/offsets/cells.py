"""What is measured: paths, checkpoints, rates and configurations, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from advisor.contract import OnTrial
from advisor.errors import UsageError
from advisor.facts.confs import ASYNC_ENABLED, ASYNC_INTERVAL, ASYNC_INTERVAL_MS, ASYNC_PURGE

Path = Literal["stat", "kafka"]
PATHS: Final[tuple[Path, ...]] = ("stat", "kafka")
RATES: Final = (1_000, 10_000, 50_000)
LOCAL, S3A, ABORTABLE = "local", "s3a", "s3a-abortable"
MANAGER: Final = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
_TRACKING: Final = {ASYNC_ENABLED: "true"}
BASELINE: Final = "inline"
CONFIGURATIONS: Final[Mapping[str, OnTrial]] = {
    BASELINE: OnTrial(conf={ASYNC_PURGE: "false"}),
    "async purge": OnTrial(conf={ASYNC_PURGE: "true"}),
    "async progress": OnTrial(conf={ASYNC_PURGE: "false"}, writer_option=_TRACKING),
    "both": OnTrial(conf={ASYNC_PURGE: "true"}, writer_option=_TRACKING),
}
PUBLISHED: Final[Mapping[Path, Mapping[str, tuple[float, float]]]] = {
    "stat": {"async purge": (-0.50, -0.50), "async progress": (-0.65, -0.65), "both": (-0.85, -0.85)},
    "kafka": {"both": (-0.75, -0.65)},
}
"""Change of latency against inline purge that was published, on a cluster with its checkpoint on object storage."""


class Checkpoint(NamedTuple):
    """Where a checkpoint lies, and how much later each request to the storage is answered (S3A only)."""

    kind: str
    delay_ms: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """From `local`, `s3a`, `s3a:20`, `s3a-abortable:50`; UsageError for anything else."""
        kind, _, delay = text.partition(":")
        try:
            found = cls(kind, float(delay or 0))
        except ValueError:
            found = cls("")
        if found.kind not in (LOCAL, S3A, ABORTABLE) or found.delay_ms < 0 or (kind == LOCAL and delay):
            raise UsageError(
                f"--checkpoint {text}", "is not a kind of checkpoint", "give local, s3a, s3a:20 or s3a-abortable:20"
            )
        return found

    @property
    def conf(self) -> dict[str, str]:
        """Settings of a session that writes its checkpoint there."""
        return {"spark.sql.streaming.checkpointFileManagerClass": MANAGER} if self.kind == ABORTABLE else {}

    def __str__(self) -> str:
        return self.kind if self.kind == LOCAL else f"{self.kind}, +{self.delay_ms:g} ms"


class Cell(NamedTuple):
    """What the configurations are compared on."""

    path: Path
    checkpoint: Checkpoint
    rate: int
    interval_ms: int = ASYNC_INTERVAL_MS


class Planned(NamedTuple):
    """One run to be made; `round` counts from 1."""

    cell: Cell
    configuration: str
    round: int


def plan(
    paths: Sequence[Path],
    checkpoints: Sequence[Checkpoint],
    rates: Sequence[int],
    rounds: int,
    configurations: Sequence[str] = tuple(CONFIGURATIONS),
    interval_ms: int = ASYNC_INTERVAL_MS,
) -> Iterator[Planned]:
    """Every run: within a cell the configurations take turns, each second round in reverse, so that drift evens out."""
    for checkpoint in checkpoints:
        for path in paths:
            for rate in rates:
                for number in range(1, rounds + 1):
                    for name in configurations if number % 2 else reversed(configurations):
                        yield Planned(Cell(path, checkpoint, rate, interval_ms), name, number)


def variant(planned: Planned) -> OnTrial:
    """The settings of a run."""
    chosen, cell = CONFIGURATIONS[planned.configuration], planned.cell
    option = dict(chosen.writer_option)
    if option and cell.interval_ms != ASYNC_INTERVAL_MS:
        option[ASYNC_INTERVAL] = str(cell.interval_ms)
    return OnTrial(conf={**chosen.conf, **cell.checkpoint.conf}, writer_option=option)
