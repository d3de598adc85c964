"""JSON Schema of what the program prints as JSON, made from the types of this package."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import msgspec

from advisor.contract.comparison import Comparisons
from advisor.contract.fleet import Fleet
from advisor.contract.report import Report
from advisor.contract.trial import Trial

PLACE = Path(__file__).parents[1] / "report.schema.json"
DOCUMENTS = (Report, Fleet, Comparisons, Trial)
"""What `analyze`, `analyze --fleet`, `compare` and `trial` print."""


def schema() -> str:
    """The schema as JSON text. Keys that it does not name may be there: new ones come without a new version."""
    documents, definitions = msgspec.json.schema_components(DOCUMENTS, ref_template="#/$defs/{name}")
    whole = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A report, a fleet's report, comparisons or a trial of the streaming latency advisor",
        "anyOf": list(documents),
        "$defs": {name: _described(one) for name, one in sorted(definitions.items())},
    }
    return json.dumps(whole, indent=2) + "\n"


def _described(definition: dict[str, Any]) -> dict[str, Any]:
    """The docstring without its indentation, which only some versions of Python take away."""
    return definition | {"description": inspect.cleandoc(definition["description"])}
