"""What the engine finds in one window: findings, and rules that could not be judged."""

from __future__ import annotations

from dataclasses import dataclass

from advisor.contract import Advice, Finding, Passed, Silenced, Skipped

__all__ = ["Advice", "Finding", "Judgement", "Silenced", "Skipped"]


@dataclass(frozen=True)
class Judgement:
    """The verdicts of the catalogue on one window; findings with the most important first."""

    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    suppressed: tuple[Silenced, ...] = ()
    passed: tuple[Passed, ...] = ()
    not_applicable: tuple[Skipped, ...] = ()
