"""A comparison or a trial as one HTML page that opens offline and asks nothing of a network."""

from __future__ import annotations

from markupsafe import Markup

from advisor.contract import Comparisons, Trial
from advisor.views.notebook.card import cell_style, comparisons_as_html, trial_as_html
from advisor.views.page.policy import policy
from advisor.views.templating import environment

_AROUND = "html { background: light-dark(#fbfbf9, #14171c); } body.sla { margin: 0 auto; }"
"""The card in the middle, its paper all around; a card's own style reaches nothing outside it."""


def comparisons_as_page(compared: Comparisons) -> str:
    """All comparisons: before, what was promised and after as bars, then the numbers."""
    return _page("Comparison", comparisons_as_html(compared), compared.advisor_version)


def trial_as_page(tried: Trial) -> str:
    """A trial: baseline, what was promised and candidate as bars, then the numbers."""
    return _page("Trial", trial_as_html(tried), tried.advisor_version)


def _page(title: str, card: str, version: str) -> str:
    """The card on a page that runs no script."""
    return environment(html=True).get_template("page/alone.html.j2").render(
        title=title, card=Markup(card), style=Markup(_AROUND), policy=policy("", _AROUND, cell_style()), version=version
    )  # fmt: skip
