"""What a reader sees first of a query: the largest loss, what is left after the step, and what else may be asked."""

from __future__ import annotations

from typing import Literal

from advisor.contract.advice import Passed, StepName
from advisor.contract.base import Entry
from advisor.vocabulary import Grave, PhaseKind

LossKind = Literal[Grave, PhaseKind, "batches", "waiting"]
"""What is lost: what milliseconds do not count, or time, by the phase that it lies in.

`batches`: some batches take longer than the others. `waiting`: records wait outside of their batch.
"""


class Loss(Entry, frozen=True):
    """What is lost first, in one sentence. `ms`: per batch or record; `share`: of the time from batch to batch.

    `rule`: the rule that found it; None where no rule speaks for a phase. `name`: what it is called where it is a part
    of addBatch.
    """

    kind: LossKind
    says: str
    ms: float | None = None
    share: float | None = None
    name: str | None = None
    rule: str | None = None


class Part(Entry, frozen=True):
    """Milliseconds that one batch spends there on average, and their share of the whole.

    `name`: what it is called, and `rule`: the rule that found it, where it is a part of addBatch.
    `share_at_most`: where only an interval is known; `ms` and `share` are then its low end.
    """

    kind: LossKind
    ms: float
    share: float
    share_at_most: float | None = None
    name: str | None = None
    rule: str | None = None


class After(Entry, frozen=True):
    """Record latency (ms) that is expected after the best step, or at best where nothing is expected yet (`at_best`).

    `without_spikes`: it is that with as few batches slow in a rhythm as the step leaves at best; p99 then lies between
    `p99` and `p99_high`.
    """

    p50: float
    p99: float | None = None
    p99_high: float | None = None
    at_best: bool = False
    without_spikes: bool = False


class Refused(Entry, frozen=True):
    """A step that is not for this query, and why not, in few words."""

    rule: str
    step: str
    do: str
    because: str


class Question(Entry, frozen=True):
    """The fact that would settle most: how to ask for it, how to give it, which rules and steps then are judged."""

    fact: str
    asks: str
    give: str
    rules: tuple[str, ...]
    steps: tuple[str, ...]


class Brief(Entry, frozen=True):
    """The best step's risk, way back and proof, each in one sentence."""

    risk: str
    undo: str
    check: str


class Calm(Entry, frozen=True):
    """That the query keeps up and no rule found anything: the numbers, and the rules that came closest to firing."""

    says: str
    closest: tuple[Passed, ...]


class Screen(Entry, frozen=True):
    """What is shown first. The step to take is the query's `best_step`.

    `goes_to`: all batch time, the largest part first; `within_add_batch`: what of a typical addBatch is a loss, which
    may overlap. `headroom`: what a typical batch leaves of the trigger interval. `span_ms`: from the first judged batch
    to the last. `troubles`: what is not well besides the loss. `also`: other steps that help.
    `calm`: only where the query keeps up and nothing is wrong. `backlog_untold`: rows wait for an unknown time:
    the record latency is longer than shown. `unopened`: most of a long batch is addBatch, and nothing that was read
    shows what it does.
    `loss_stays`: the best step shortens nothing of the loss, or leaves batches longer than their interval.
    """

    loss: Loss | None = None
    calm: Calm | None = None
    goes_to: tuple[Part, ...] = ()
    within_add_batch: tuple[Part, ...] = ()
    after: After | None = None
    headroom: float | None = None
    span_ms: int | None = None
    backlog_untold: bool = False
    unopened: bool = False
    troubles: tuple[str, ...] = ()
    loss_stays: bool = False
    do: Brief | None = None
    also: tuple[StepName, ...] = ()
    refused: tuple[Refused, ...] = ()
    unsure: Question | None = None
