"""Judge a window by the catalogue: findings, their steps, and what could not be judged."""

from advisor.contract import Advice, Finding, Silenced, Skipped
from advisor.engine.judge import Judgement, judge, judge_rule
