"""What a line of a rule may ask: one fact or metric, one operator."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Scalar: TypeAlias = bool | int | float | str
Number: TypeAlias = int | float
Stat = Literal["typical", "total", "mean", "p50", "p95", "p99", "max"]
Platform = Literal["open_source", "databricks", "other"]
Operator = Literal["is", "in", "at_least", "below", "known"]
Text = Annotated[str, Field(min_length=1)]

OPERATORS = ("is_", "in_", "at_least", "below", "known")


class Model(BaseModel):
    """Frozen, and closed to keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False, defer_build=True)


class Condition(Model):
    """One question about a fact or a metric, with one operator.

    `spark` (">=4.1", "<4.3", ">=4.1,<4.3") and `platform` limit the line: other versions and platforms are not asked.
    `else`: why the line fails and what would mend it.
    """

    fact: str | None = None
    metric: str | None = None
    stat: Stat | None = None
    is_: Scalar | None = Field(None, alias="is")
    in_: tuple[Scalar, ...] | None = Field(None, alias="in", min_length=1)
    at_least: Number | str | None = None
    below: Number | str | None = None
    known: bool | None = None
    spark: str | None = Field(None, pattern=r"^(>=|<)\d{1,9}(\.\d{1,9})*(,(>=|<)\d{1,9}(\.\d{1,9})*)*$")
    platform: tuple[Platform, ...] | None = Field(None, min_length=1)
    else_: Text | None = Field(None, alias="else")

    __hash__ = object.__hash__  # a line of a rule is itself: what it asked is remembered by it

    @field_validator("platform", mode="before")
    @classmethod
    def _one_platform(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_question(self) -> Condition:
        if (self.fact is None) == (self.metric is None):
            raise ValueError("needs one fact or one metric: give 'fact' or 'metric'")
        if len(self._given()) != 1:
            raise ValueError("needs exactly one of is, in, at_least, below, known")
        if self.operator == "in" and self.in_ is None:
            raise ValueError("'in' needs a list of values")
        if self.stat is not None and self.metric is None:
            raise ValueError("'stat' goes with 'metric'")
        return self

    def _given(self) -> list[str]:
        # `is: null` is a question too ("seen, and there is none"), hence the set and not the value
        return [name for name in OPERATORS if name in self.model_fields_set]

    @cached_property  # asked of every run, a hundred times
    def operator(self) -> Operator:
        """The one operator of this line."""
        return self._given()[0].rstrip("_")  # type: ignore[return-value]

    @cached_property
    def operand(self) -> Any:
        """What the operator compares with."""
        return getattr(self, self._given()[0])

    @cached_property
    def limited(self) -> bool:
        """Whether only some versions or platforms are asked."""
        return bool(self.spark or self.platform)

    @cached_property
    def subject(self) -> str:
        """Name of the fact or metric."""
        return self.fact or self.metric or ""
