"""What one text measured under several settings, side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import itemgetter

from rich.console import Console

from advisor.contract import Metric, QueryEntry, Report
from advisor.progress import AT_BYTE
from advisor.views import text, wording
from advisor.views.console import table

_COLUMNS = ("", "batch", "rows", "rows/s", "from")
_TOLD = ("trigger_execution_ms", "input_rows", "processed_rows_per_second")
_PLACE = re.compile(rf"{AT_BYTE}(\d[\d,]{{0,20}})$")
_MOST = 12
"""More that nothing names are no measurements which somebody sets side by side."""
_UNNAMED = "unnamed query ("
_NONE = Metric()


def print_side_by_side(page: Console, report: Report) -> None:
    """A table of what the text's headings tell apart, in its order; nothing of one measurement, or of several files."""
    judged = [query for query in report.queries if query.window.batches]
    told = [(int(found[1].replace(",", "")), query) for query in judged if (found := _PLACE.search(query.run_id))]
    if report.input.files == 1 and 1 < len(told) <= _MOST:
        ordered = (query for _, query in sorted(told, key=itemgetter(0)))
        table(page, "Side by side, as the text names them", _COLUMNS, _rows(ordered))


def _rows(queries: Iterable[QueryEntry]) -> Iterator[tuple[str, ...]]:
    for query in queries:
        batch, rows, pace = (
            query.metrics.get(name, _NONE).p50
            for name in ("trigger_execution_ms", "input_rows", "processed_rows_per_second")
        )
        yield (
            _called(query),
            "-" if batch is None else text.ms(batch),
            *("-" if count is None else text.count(count) for count in (rows, pace)),
            text.plural(query.window.batches, "batch", "batches"),
        )


def _called(query: QueryEntry) -> str:
    """The heading, without the name that stands for none."""
    name = wording.name(query)
    return name[len(_UNNAMED) : -1] if name.startswith(_UNNAMED) else name
