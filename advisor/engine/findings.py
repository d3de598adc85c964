"""What the engine says: findings, their steps, and rules that could not be judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from advisor.savings import Promise


@dataclass(frozen=True)
class Advice:
    """One step for one query: whether Spark takes it, what it changes, saves and costs, and how it is undone."""

    id: str
    do: str
    legal: str
    because: str
    unknown: tuple[str, ...]
    change: dict[str, Any]
    stages: tuple[dict[str, Any], ...]
    takes: str
    semantics: str
    status: str
    saves: Promise | None
    saves_latency: Promise | None
    costs: str
    undo: str
    check: str

    @property
    def experimental(self) -> bool:
        """Whether nothing measured stands behind the step, or Spark gives no guarantee for it."""
        return self.status == "experimental"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, by the report's contract."""
        return {
            "id": self.id,
            "do": self.do,
            "legal": self.legal,
            "because": self.because or None,
            "unknown": list(self.unknown),
            "change": self.change,
            "stages": list(self.stages),
            "takes": self.takes,
            "semantics": self.semantics,
            "status": self.status,
            "saves_ms": self.saves.to_dict() if self.saves else None,
            "saves_latency_ms": self.saves_latency.to_dict() if self.saves_latency else None,
            "costs": self.costs,
            "undo": self.undo,
            "check": self.check,
        }


@dataclass(frozen=True)
class Finding:
    """A rule that fired. `felt` is the part of a record's wait that it takes, for ranking; None where nothing tells."""

    rule: str
    slug: str
    title: str
    level: str
    confidence: str
    says: str
    why: str
    measure: dict[str, Any] | None
    evidence: tuple[dict[str, Any], ...]
    explains: tuple[str, ...]
    steps: tuple[Advice, ...]
    references: tuple[str, ...]
    felt: float | None
    explained_by: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, by the report's contract."""
        return {
            "rule": self.rule,
            "slug": self.slug,
            "title": self.title,
            "level": self.level,
            "confidence": self.confidence,
            "says": self.says,
            "why": self.why,
            "measure": self.measure,
            "evidence": list(self.evidence),
            "explained_by": self.explained_by,
            "steps": [step.to_dict() for step in self.steps],
            "references": list(self.references),
        }


@dataclass(frozen=True)
class Skipped:
    """A rule that could not be judged, and why."""

    rule: str
    reason: str


@dataclass(frozen=True)
class Silenced:
    """A rule that a team does not want to hear of, and why."""

    rule: str
    reason: str
    until: str | None


@dataclass(frozen=True)
class Judgement:
    """All that the catalogue says of one window; findings with the most important first."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    suppressed: tuple[Silenced, ...] = field(default=())
