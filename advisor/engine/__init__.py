"""Judge a window by the catalogue: findings, their steps, and what could not be judged."""

from advisor.engine.findings import Advice, Finding, Judgement, Silenced, Skipped
from advisor.engine.judge import judge, judge_rule

__all__ = ["Advice", "Finding", "Judgement", "Silenced", "Skipped", "judge", "judge_rule"]
