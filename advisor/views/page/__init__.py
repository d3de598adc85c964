"""The report as one HTML page that opens offline and asks nothing of a network."""

from advisor.views.page.render import report_as_page

__all__ = ["report_as_page"]
