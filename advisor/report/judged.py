"""One run with everything that was found out about it."""

from __future__ import annotations

from dataclasses import dataclass, field

from advisor.batches import Batches
from advisor.catalogue import Catalogue
from advisor.engine import Judgement
from advisor.facts.evidence import Run
from advisor.vocabulary import Since, State
from advisor.window import Window


@dataclass(frozen=True)
class Judged:
    """One run with everything that was found out about it; `before`: what the window is compared with.

    `idle`: its triggers that ran no batch, where none was steady. `fault`: what went wrong inside the
    advisor, so that the run could not be judged; its window is empty then. `died`: how many runs of its query ended
    with an error, counted where there are several.
    """

    run: Run
    runs: int
    window: Window
    before: Window | None
    since: Since
    state: State
    catalogue: Catalogue
    judgement: Judgement = field(default_factory=Judgement)
    notes: tuple[str, ...] = ()
    idle: Batches | None = None
    fault: str | None = None
    died: int = 0
