"""What is said of batches of which only the length is known: whether they keep up, and what would tell more."""

from __future__ import annotations

from advisor.metrics import Estimate, measure
from advisor.metrics.numbers import fact_number
from advisor.metrics.words import milliseconds
from advisor.window import Window

_AT_ONCE = 0.9
"""Of the time since the batch before: a batch that takes more leaves no pause to speak of."""
NOT_TOLD = "Where their time goes is not told: these records name no phase of durationMs."


def undivided(window: Window) -> bool:
    """Whether no batch tells a phase."""
    return bool(len(window) and window.batches["undivided"].all())


def pace(window: Window) -> str:
    """How long a batch takes, and of what time; that its phases are not known."""
    batch, interval = measure(window, "trigger_execution_ms"), fact_number(window, "trigger_interval_ms")
    busy = measure(window, "utilisation")
    if not isinstance(batch, Estimate):
        return NOT_TOLD
    took = f"A batch takes {milliseconds(batch.safe)}"
    if interval and batch.safe < interval:
        return f"{took} of the {milliseconds(interval)} between two triggers: {_keep_up(window)}. {NOT_TOLD}"
    if not isinstance(busy, Estimate):
        return f"{took}; when the next one begins is not told. {NOT_TOLD}"
    apart = milliseconds(batch.safe / busy.safe)
    if busy.safe < _AT_ONCE:
        return f"{took}, and one begins every {apart}: {_keep_up(window)}. {NOT_TOLD}"
    if busy.safe < 1:
        return f"{took}, and one begins every {apart}: hardly a pause is left between them. {NOT_TOLD}"
    return f"{took}, and its rows came in {apart}. {NOT_TOLD}"


def _keep_up(window: Window) -> str:
    """That batches keep up, and with what: a batch that a limit binds takes fewer rows than wait in the source."""
    if isinstance(measure(window, "backlog_rows"), Estimate):
        return "these batches keep up"
    return "these batches keep up with the rows that they took, and whether more wait in the source is not told"
