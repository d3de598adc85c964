"""What a step is: the change, when it is meant, when Spark takes it, what it saves, costs and how it is undone."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from advisor.catalogue.condition import Condition, Model, Stat, Text
from advisor.facts.names import FACTS
from advisor.vocabulary import Semantics, Status, Takes

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_:.]*)\}")
"""A metric or a fact that stands in a text of a rule."""
StepId = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]

Share: TypeAlias = tuple[float, float | None, float]


def _check_share(share: Share) -> Share:
    if [end for end in share if end is not None] != sorted(end for end in share if end is not None) or share[0] < 0:
        raise ValueError("must be [low, expected, high], none below 0 or below the one before")
    return share


class Saves(Model):
    """A promise: share [low, expected, high] of one metric; expected is null until somebody has measured it.

    `calibrated` names the trials that the promise is taken from; then `share` holds what is physically certain, null,
    and the most that there can be.
    """

    metric: str
    stat: Stat | None = None
    share: Share
    calibrated: StepId | None = None
    per_batches: int = Field(1, ge=1)

    _ordered = field_validator("share")(_check_share)


class Trigger(Model):
    """The trigger that a step sets; exactly one kind. Intervals are milliseconds or Spark's words ("5 seconds")."""

    processing_time: str | None = None
    continuous: str | None = None
    real_time: str | None = None
    available_now: bool | None = None

    @model_validator(mode="after")
    def _one(self) -> Trigger:
        if len(self.model_fields_set) != 1:
            raise ValueError("needs exactly one of processing_time, continuous, real_time, available_now")
        return self


class Change(Model):
    """What a step sets. A text may hold the {name} of a metric or a fact."""

    writer_option: dict[str, str] = Field(default_factory=dict)
    reader_option: dict[str, str] = Field(default_factory=dict)
    conf: dict[str, str] = Field(default_factory=dict)
    trigger: Trigger | None = None
    package: Text | None = None
    code: Text | None = None
    value: str | None = None

    @cached_property  # asked for every run that the step is meant for
    def kinds(self) -> dict[str, Any]:
        """What it sets, by kind; kinds that it does not use are left out."""
        return self.model_dump(exclude_none=True, exclude_defaults=True)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that stand in braces in its texts."""
        return tuple(dict.fromkeys(PLACEHOLDER.findall(repr(self.kinds))))

    @model_validator(mode="after")
    def _something(self) -> Change:
        if not self.model_fields_set:
            raise ValueError("must change something: give writer_option, reader_option, conf, trigger, package or code")
        return self


class Stage(Model):
    """One part of a step that is done in order: what to do or set, and until when."""

    do: Text | None = None
    change: Change | None = None
    until: Text

    @model_validator(mode="after")
    def _something(self) -> Stage:
        if self.do is None and self.change is None:
            raise ValueError("needs 'do', 'change' or both")
        return self


class Use(Model):
    """A step that another file holds, by its id."""

    use: str


class Borrowed(Use):
    """A shared step of a rule. Its conditions here are asked together with those of the step itself."""

    unless: tuple[Condition, ...] = ()
    when: tuple[Condition, ...] = ()
    legal: tuple[Condition, ...] = ()


class StepBody(Model):
    """Everything of a step but its undo, which is a text in a file and may be a step once it is resolved.

    `looks`: it changes nothing of the query, and shows more of it.
    """

    id: StepId
    do: Text
    status: Status = "stable"
    unless: tuple[Condition, ...] = ()
    when: tuple[Condition, ...] = ()
    legal: tuple[Condition, ...] = ()
    change: Change | None = None
    stages: tuple[Stage, ...] = ()
    looks: bool = False
    takes: Takes
    semantics: Semantics = "unchanged"
    saves: Saves | None = None
    costs: Text
    check: Text

    @property
    def does(self) -> str:
        """What to do, where no run fills in what stands in braces: a fact then by its meaning."""
        said = PLACEHOLDER.sub(lambda name: FACTS[name[1]].meaning if name[1] in FACTS else name[0], self.do)
        return said[:1].upper() + said[1:]

    @model_validator(mode="after")
    def _stages_in_order(self) -> StepBody:
        if (self.takes == "stages") != bool(self.stages):
            raise ValueError("'stages' and 'takes: stages' go together")
        if self.takes not in ("nothing", "stages") and self.change is None:
            raise ValueError("needs a 'change'")
        return self


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "use" if isinstance(value, Use) or (isinstance(value, dict) and "use" in value) else "step"


Undo: TypeAlias = Annotated[Annotated[str, Tag("text")] | Annotated[Use, Tag("use")], Discriminator(_kind)]


class WrittenStep(StepBody):
    """A step as a file holds it."""

    undo: Undo


class SharedStep(WrittenStep):
    """A step in a file of its own, rules/steps/ID.yaml."""

    id: Annotated[StepId, Field(alias="step")]


class Step(StepBody):
    """A step whose `use` is resolved. `home` is the id of the rule that holds it, or "steps"."""

    undo: str | Step
    home: str


WrittenSteps: TypeAlias = tuple[
    Annotated[Annotated[WrittenStep, Tag("step")] | Annotated[Borrowed, Tag("use")], Discriminator(_kind)], ...
]
