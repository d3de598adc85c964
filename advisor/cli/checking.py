"""`latency-advisor rules check`: are the rule files in order, and do they answer their own examples?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from advisor.catalogue import load
from advisor.cli.listing import Row, put_table
from advisor.cli.output import put
from advisor.errors import CatalogueError, UsageError, did_you_mean
from advisor.examples import failures, run


def check_rules(directory: str | None, options: Mapping[str, Any]) -> None:
    """Say how many rules are in order; CatalogueError with everything that is wrong, a line each."""
    catalogue = load([directory] if directory else ())
    wrong = [line for rule in catalogue.rules.values() for line in run(rule)]
    if wrong:
        raise CatalogueError("", "\n".join(wrong))
    examples = sum(len(rule.examples) for rule in catalogue.rules.values())
    counts = {"rules": len(catalogue.rules), "examples": examples, "steps": len(catalogue.steps)}
    if options["form"] == "text":
        put("{rules} rules with {examples} examples and {steps} steps are in order.\n".format(**counts), options)
    else:
        put_table([{name: str(count) for name, count in counts.items()}], options)


def test_rule(name: str, directories: Iterable[str], options: Mapping[str, Any]) -> None:
    """Say of each example of a rule whether it is answered as it expects; CatalogueError where one is not."""
    catalogue = load([*directories])
    rule = catalogue.rules.get(name)
    if rule is None:
        would_do = did_you_mean(name, catalogue.rules, "`latency-advisor rules list` names them")
        raise UsageError("rules test", f"no rule {name!r}", would_do)
    found = [(example, failures(rule, example)) for example in rule.examples]
    rows = [
        {
            "example": example.name,
            "expects": example.expect.verdict,
            "result": "FAILED" if lines else "ok",
            "why": "\n".join(lines),
        }
        for example, lines in found
    ]
    if options["form"] == "text":
        put(_as_text(rows), options)
    else:
        put_table(rows, options)
    wrong = sum(bool(lines) for _, lines in found)
    if wrong:
        raise CatalogueError(rule.file, f"{wrong} of {len(rule.examples)} examples fail")


def _as_text(rows: Sequence[Row]) -> str:
    """A line for each example, and below it why it fails."""
    lines = []
    for row in rows:
        lines.append(f"{row['result']:<8}{row['example']}: {row['expects']}")
        lines += [f"        {line}" for line in row["why"].splitlines()]
    return "".join(f"{line}\n" for line in lines)
