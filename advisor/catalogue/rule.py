"""What a rule is: evidence, levels, conditions, sentences, steps, examples; the families of rules and retired ids."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from advisor.catalogue.condition import Condition, Model, Number, Stat, Text
from advisor.catalogue.example import Example
from advisor.catalogue.step import Step, WrittenSteps
from advisor.facts.names import FACTS
from advisor.metrics import METRICS
from advisor.vocabulary import LEVELS, Grave, Level, PhaseKind, Status

FAMILIES: Final = {
    "LG": "log",
    "ST": "state",
    "TR": "trigger",
    "SR": "source",
    "SK": "sink",
    "DR": "drift",
    "PL": "planning",
    "CL": "cluster",
    "CG": "code",
    "PY": "code",
    "SH": "shuffle",
    "BC": "join",
    "DV": "driver",
    "CF": "config",
    "ER": "error",
    "OB": "observer",
    "DQ": "quality",
}
"""First two letters of an id and the folder of its rules. Other letters are free for a team's own rules."""

RETIRED: Final = {
    "CF007": "limit-that-no-source-reads",
    "SK011": "state-computed-again",
    "SR006": "batch-computed-several-times",
    "SR007": "files-wait",
    "SR012": "batches-full-of-files",
    "TR012": "batches-as-full-as-the-limit",
}
"""Ids that were used once, and the slugs of their rules."""


class Measure(Model):
    """The metric that a rule stands on; `stat` is left out where a metric has one value per window."""

    metric: str
    stat: Stat | None = None


class Seen(Model):
    """Evidence that is a fact: the rule fires where the fact has a value other than "none" and false."""

    fact: str


class Choice(Model):
    """The wish that makes a rule's steps worth taking; whoever gives the fact has said what is wished."""

    fact: str
    wish: Text


def ordered(levels: dict[Level, Number]) -> dict[Level, Number]:
    """Return the levels from low to high; ValueError where none is there, or they neither rise nor fall."""
    values = [levels[level] for level in LEVELS if level in levels]
    if not values:
        raise ValueError("needs at least one of low, medium, high")
    if values not in (sorted(set(values)), sorted(set(values), reverse=True)):
        raise ValueError("must rise or fall from low to high, no two alike")
    return {level: levels[level] for level in LEVELS if level in levels}


LARGEST: Final = 1e15
"""Of a level: a larger one cannot be written as a percentage."""
Levels: TypeAlias = Annotated[dict[Level, Annotated[Number, Field(le=LARGEST)]], AfterValidator(ordered)]


class Instead(Model):
    """A sentence for queries for which its conditions hold: behind another one (`adds`: all that hold are said), or
    for a query that none of the rule's steps concerns (the first that holds).
    """

    when: tuple[Condition, ...] = ()
    says: Text


class RuleBody(Model):
    """Everything of a rule but its steps."""

    id: Annotated[str, Field(pattern=r"^[A-Z]{2}\d{3}$")]
    slug: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    title: Text
    status: Status
    batches: int = Field(1, ge=0)
    structural: bool = Field(
        False, description="how the query is laid out: cold batches tell it, too, but then no milliseconds are promised"
    )
    measure: Measure | None = None
    levels: Levels = Field(default_factory=dict)
    seen: Seen | None = None
    level: Level | None = None
    requires: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    explains: tuple[str, ...] = ()
    overlaps: tuple[str, ...] = Field(
        (), description="rules that tell of the same time in other words; beside this finding theirs are not said again"
    )
    loses: str | None = Field(
        None, description="the metric with the ms that this takes of a batch or record; default: the measured part"
    )
    grave: Grave | None = Field(
        None, description="what is lost beside milliseconds; from level medium on, such a finding is the headline"
    )
    headline_from: Level | None = Field(
        None, description="from this level on its sentence is the headline where a loss only names addBatch"
    )
    general: bool = Field(False, description="it names a phase only, so that a finding with a cause goes before it")
    choice: Choice | None = Field(
        None, description="the wish without which such a finding is no fault, and its steps are offered, not advised"
    )
    says: Text
    adds: tuple[Instead, ...] = ()
    without_steps: tuple[Instead, ...] = ()
    why: Text
    references: tuple[Text, ...] = Field(min_length=1)
    examples: tuple[Example, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _one_evidence(self) -> RuleBody:
        if (self.measure is None) == (self.seen is None):
            raise ValueError("needs 'measure' or 'seen'")
        if bool(self.levels) != (self.measure is not None):
            raise ValueError("'levels' go with 'measure'")
        if (self.level is None) != (self.seen is None):
            raise ValueError("'level' goes with 'seen'")
        return self

    @property
    def lost(self) -> str | None:
        """The metric in ms that the finding loses: `loses`, else the part of the share that it measures."""
        if self.loses or self.measure is None:
            return self.loses
        measured = METRICS.get(self.measure.metric)
        part = measured.part if measured and measured.basis == "wall" else None
        return part.name if part else None

    @property
    def is_asked_for(self) -> bool:
        """Whether it stands on a fact that only a person gives, who thereby asks what it says."""
        return self.seen is not None and self.seen.fact in FACTS and not FACTS[self.seen.fact].origins

    @property
    def falling(self) -> bool:
        """Whether a smaller measure is worse: the levels fall from low to high."""
        values = list(self.levels.values())
        return bool(values) and values[0] > values[-1]


class Phase(Model):
    """A part of the batch that Spark times, and what is said of it where no rule names a cause."""

    kind: PhaseKind
    name: Text
    columns: tuple[Text, ...] = Field(description="the columns of the table `batches` that make it up")
    general: bool = False
    says: Text = Field(description="with {part}, {whole} and {share}")
    adds: Text | None = Field(default=None, description="said behind it, with the fact {batch_does}, if that is known")


class Phases(Model):
    """The file phases.yaml: the phases of a batch, and from which share of one on a finding speaks for all of it."""

    claimed_from: Annotated[float, Field(gt=0, le=1)]
    without_rows: dict[Literal["moved", "stood"], Text] = Field(description="why such a batch ran, by its offsets")
    phases: tuple[Phase, ...]


class WrittenRule(RuleBody):
    """A rule as a file holds it: its steps may be borrowed."""

    steps: WrittenSteps = ()


class RuleWithoutExamples(WrittenRule):
    """A rule as it is judged by."""

    examples: tuple[Example, ...] = ()


class Rule(RuleBody):
    """A rule whose steps are resolved. `file` is where it stands."""

    steps: tuple[Step, ...] = ()
    file: str
