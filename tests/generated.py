"""Write what is generated from the rules and the types: rules/README.md and the JSON schemas.

python -m tests.generated
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec

from advisor.catalogue import load
from advisor.catalogue.rule import WrittenRule
from advisor.catalogue.step import SharedStep
from advisor.contract import Comparisons, Fleet, Report, Trial
from advisor.views.rules import reference

ROOT = Path(__file__).parents[1]


def generated() -> dict[str, str]:
    """Text of each generated file, by its path from the root."""
    catalogue = load()
    return {
        "rules/README.md": reference(catalogue.rules.values(), catalogue.steps.values(), whole=True),
        "rules/schema.json": json.dumps(of_rules(), indent=2) + "\n",
        "advisor/report.schema.json": json.dumps(of_reports(), indent=2) + "\n",
    }


def of_rules() -> dict[str, Any]:
    """JSON Schema of a rule file and of a file with a shared step."""
    rule = WrittenRule.model_json_schema(by_alias=True)
    step = SharedStep.model_json_schema(by_alias=True)
    definitions = rule.pop("$defs", {}) | step.pop("$defs", {}) | {"Rule": rule, "SharedStep": step}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A rule or a shared step of the streaming latency advisor",
        "oneOf": [{"$ref": "#/$defs/Rule"}, {"$ref": "#/$defs/SharedStep"}],
        "$defs": dict(sorted(definitions.items())),
    }


def of_reports() -> dict[str, Any]:
    """JSON Schema of what `analyze`, `analyze --fleet`, `compare` and `trial` print.

    Keys that it does not name may be there: new ones come without a new version.
    """
    types = (Report, Fleet, Comparisons, Trial)
    documents, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for definition in definitions.values():  # only some versions of Python take the indentation away
        definition["description"] = inspect.cleandoc(definition["description"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A report, a fleet's report, comparisons or a trial of the streaming latency advisor",
        "anyOf": list(documents),
        "$defs": dict(sorted(definitions.items())),
    }


if __name__ == "__main__":
    for path, text in generated().items():
        (ROOT / path).write_text(text, encoding="utf-8")
