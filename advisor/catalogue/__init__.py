"""Read and check the rules in rules/, and the types of what they hold."""

from advisor.catalogue.condition import Condition, Operator
from advisor.catalogue.example import Example
from advisor.catalogue.load import (
    Catalogue,
    clue_alone,
    clues,
    doing_of,
    late_batches,
    load,
    ranking,
    rules_directory,
    rules_to_judge_by,
    runs_of,
    silence,
    waits,
)
from advisor.catalogue.reference import reference, schema
from advisor.catalogue.rule import Measure, Rule, Seen
from advisor.catalogue.step import Change, Saves, Stage, Step, Trigger
from advisor.vocabulary import LEVELS, Level

__all__ = [
    "LEVELS", "Catalogue", "Change", "Condition", "Example", "Level", "Measure", "Operator", "Rule", "Saves", "Seen",
    "Stage", "Step", "Trigger", "clue_alone", "clues", "doing_of", "late_batches", "load", "ranking", "reference",
    "rules_directory", "rules_to_judge_by", "runs_of", "schema", "silence", "waits",
]  # fmt: skip
