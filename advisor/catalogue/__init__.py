"""Read and check the rules in rules/, and the types of what they hold."""

from advisor.catalogue.condition import Condition
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
from advisor.catalogue.rule import Rule
from advisor.catalogue.step import Change, Saves, Stage, Step
