"""A comparison that shows itself in a notebook's cell."""

from __future__ import annotations

from advisor.report.comparing import Compared
from advisor.views.comparison import comparisons_as_text
from advisor.views.notebook.card import comparisons_as_html


class ShownComparison(Compared):
    """A comparison that shows itself: in a notebook before, promise and after as bars, elsewhere as text."""

    def __repr__(self) -> str:
        return comparisons_as_text(self.typed)

    def _repr_html_(self) -> str:
        return comparisons_as_html(self.typed)

    def to_html(self) -> str:
        """One HTML page that opens offline, with the same bars."""
        from advisor.views.page.alone import comparisons_as_page  # noqa: PLC0415

        return comparisons_as_page(self.typed)
