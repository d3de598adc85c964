"""Streaming latency advisor: reads Spark's streaming progress and advises what is worth changing.

The way from a log to the first screen: `sources` reads files, `progress` decodes each event, `batches` and `stages`
hold the tables, `facts` settles what is known about a run, `window` chooses its steady batches, `engine` judges them by
the rules in rules/ (`catalogue`, `metrics`, `savings`), `report` ranks the findings, `contract` is their type, and
`views` print them. CONTRIBUTING.md follows it step by step.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from advisor.api import analyze, compare, read_checkpoint, read_progress, read_sightings, read_stages
    from advisor.session import attach, watch
    from advisor.trials import trial
    from advisor.views.shown import Compared, Report

__version__ = "0.1.0"

__all__ = [
    "Compared", "Report", "__version__", "analyze", "attach", "compare", "read_checkpoint", "read_progress",
    "read_sightings", "read_stages", "trial", "watch",
]  # fmt: skip

_HOMES = {
    "Compared": "advisor.views.shown", "Report": "advisor.views.shown", "attach": "advisor.session",
    "trial": "advisor.trials", "watch": "advisor.session",
}  # fmt: skip
"""Where the public names are defined that are not in the API's module."""


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first asked for, so that the command line starts fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("pyarrow")  # `attach` and `trial` would import it when they are called
        return getattr(import_module(_HOMES.get(name, "advisor.api")), name)
    except ImportError as error:
        from advisor.errors import misfit  # noqa: PLC0415

        raise misfit(error) or error from None


def __dir__() -> list[str]:
    return sorted(__all__)
