"""`latency-advisor compare`: two logs or runs, by how much they differ, and whether a promise was kept."""

from __future__ import annotations

from typing import Any

import click

from advisor.cli.exits import FAILED_ON
from advisor.cli.options import PERCENT, output_options, stages_option, wish_options
from advisor.cli.output import check_output, put, rendered
from advisor.cli.start import start
from advisor.errors import UsageError

_HELP = """Compare the run in AFTER with that in BEFORE: phases, record latency, settings, and whether what was promised
from BEFORE was kept. Without AFTER: each query's newest run in BEFORE is compared with the run before it.

BEFORE and AFTER are what `analyze` takes. Queries are matched by id, then by name; where each holds one query, these
are compared. Of several runs of a query the newest counts.

\b
Examples:
  latency-advisor compare yesterday.log today.log
  latency-advisor compare driver.log --query orders-enricher
  latency-advisor compare main.log branch.log --fail-if-slower 5
  latency-advisor compare old/ new/ --set trigger=processing_time --format markdown
"""


@click.command(help=_HELP, short_help="Compare two runs, and check what was promised.")
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="[AFTER]", required=False)
@output_options("text", "json", "markdown")
@click.option(
    "--fail-if-slower",
    type=PERCENT,
    metavar="PERCENT",
    help="Exit with 1 if a typical batch is certainly slower by more than this, with 2 if the runs cannot be compared.",
)
@wish_options
@click.option("--query", metavar="NAME", help="Compare only the query with this name or id.")
@stages_option
def compare(before: str, after: str | None, **options: Any) -> int:
    """Compare what the paths hold and print it."""
    paths = [before, *([after] if after else [])]
    check_output(options, paths)
    start(paths)
    from advisor.api import compare as compared

    chosen = {name: options[name] for name in ("config", "rules", "query", "stages")}
    found = compared(before, after, set=options["given"], **chosen)
    put(rendered(found, options), options)
    if (percent := options["fail_if_slower"]) is None:
        return 0
    if found.slower_by_more_than(percent) and not found.mixed:
        return FAILED_ON
    if found.undecided:  # the limit cannot be judged
        raise UsageError("--fail-if-slower", found.undecided[0].rstrip("."), "compare longer runs at the same load")
    return 0
