"""What `analyze`, `compare` and `trial` give back: it shows itself, in a notebook's cell as cards, elsewhere as text.

What draws is imported when something is drawn: the command line and scripts need none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from advisor import contract
from advisor.contract import as_json, in_pieces, plain
from advisor.vocabulary import Level, worst

if TYPE_CHECKING:
    from advisor.views.notebook import Findings


class Shown:
    """A report, a comparison or a trial: `typed` is the whole, `data` the same as plain data, as its JSON has it."""

    typed: Any

    @cached_property
    def data(self) -> dict[str, Any]:
        """The whole as plain data (docs/json.md)."""
        whole: dict[str, Any] = plain(self.typed)
        return whole

    def to_json(self) -> str:
        """The whole as JSON text."""
        return as_json(self.typed)

    def to_text(self, *, everything: bool = False, **look: Any) -> str:  # noqa: ARG002 - nothing is left out
        """The whole as text for a terminal, in this `width`, and in `color` if that is True."""
        from advisor.views.comparison import comparison_as_text  # noqa: PLC0415

        return comparison_as_text(self.typed, **look)

    def to_markdown(self, *, everything: bool = False) -> str:  # noqa: ARG002
        """The whole as Markdown."""
        from advisor.views.comparison import comparison_as_markdown  # noqa: PLC0415

        return comparison_as_markdown(self.typed)

    def _repr_html_(self) -> str:
        from advisor.views.cards import comparison_as_html  # noqa: PLC0415

        return comparison_as_html(self.typed)

    def __repr__(self) -> str:
        return self.to_text()


@dataclass(frozen=True, repr=False)
class Tried(Shown):
    """What a trial gives."""

    typed: contract.Trial

    @property
    def verdict(self) -> contract.TrialVerdict:
        """faster, slower, no difference (of 5 % or more), refused (by Spark), cannot say."""
        return self.typed.verdict


@dataclass(frozen=True, repr=False)
class Compared(Shown):
    """What `compare` gives; `mixed`: why sides do not belong together."""

    typed: contract.Comparisons
    mixed: tuple[str, ...] = ()

    def slower_by_more_than(self, percent: float) -> bool:
        """Whether a typical batch of any query is slower by more than so many percent, sure to 97.5 %."""
        return any(one.slower_by_more_than(percent) for one in self.typed.comparisons)

    @property
    def undecided(self) -> list[str]:
        """Why queries could not be compared, a sentence each; empty when all could."""
        failed = [one.says for one in self.typed.comparisons if one.verdict in ("not comparable", "too few batches")]
        gone = [f"only BEFORE holds {name}" for name in self.typed.only_before]
        return [*self.mixed, *failed, *gone]


def _itself(entry: contract.QueryEntry) -> contract.QueryEntry:
    return entry


@dataclass(frozen=True, repr=False)
class Report(Shown):
    """What `analyze` gives.

    `again`: the same report with the single batches of each query, which charts are drawn from; asked for at most once.
    `whole`: gives the whole entry of a query, where `typed` holds less of it; `written`: the same as JSON. All can be
    pickled.
    """

    typed: contract.Report
    again: Callable[[], contract.Report] | None = field(default=None, repr=False, compare=False)
    whole: Callable[[contract.QueryEntry], contract.QueryEntry] = field(default=_itself, repr=False, compare=False)
    written: Callable[[contract.QueryEntry], str] = field(default=as_json, repr=False, compare=False)

    @property
    def queries(self) -> list[dict[str, Any]]:
        """One entry per run as plain data, the most pressing first."""
        found: list[dict[str, Any]] = self.data["queries"]
        return found

    def worst_level(self) -> Level | None:
        """The highest level of any finding."""
        return worst(finding.level for query in self.typed.queries for finding in query.findings)

    def to_text(self, *, everything: bool = False, **look: Any) -> str:
        """The first screen of the most pressing queries, or `everything`, as text for a terminal."""
        from advisor.views.terminal import report_as_text  # noqa: PLC0415

        return report_as_text(self.typed, everything=everything, whole=self.whole, **look)

    def json_in_pieces(self) -> Iterator[str]:
        """The whole as JSON text, a query at a time."""
        return in_pieces(self.typed, self.written)

    def to_json(self) -> str:
        """The whole as JSON text."""
        return "".join(self.json_in_pieces())

    def to_markdown(self, *, everything: bool = False) -> str:
        """The report as Markdown."""
        from advisor.views.markdown import report_as_markdown  # noqa: PLC0415

        whole = msgspec.structs.replace(self.typed, queries=tuple(map(self.whole, self.typed.queries)))
        return report_as_markdown(whole, everything=everything)

    def to_html(self) -> str:
        """One HTML page that opens offline; its charts need the extra `[page]`."""
        from advisor.views.page import report_as_page  # noqa: PLC0415

        return report_as_page(self._drawn)

    def _repr_html_(self) -> str:
        from advisor.views.cards import report_as_html  # noqa: PLC0415

        return report_as_html(self._drawn)

    @property
    def findings(self) -> Findings:
        """One row per finding: query, step and gain first, then level, what it stands on, rule; ids last."""
        from advisor.views.notebook import findings  # noqa: PLC0415

        return findings(self.typed)

    @cached_property
    def _drawn(self) -> contract.Report:
        """The report with its single batches."""
        if self.again is None or any(query.series for query in self.typed.queries):
            return self.typed
        return self.again()
