"""A driver that is asked again and again, through its restarts, as logs are followed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from advisor.batches import Reading
from advisor.errors import InputError
from advisor.sources.ui.driver import Driver
from advisor.sources.ui.web import Server, parted


class Watched:
    """The pages of one driver; what was read of them stays when it is gone, and one that comes back goes on."""

    def __init__(self, address: str, *, stages: bool) -> None:
        """Raises InputError where no query can be read now."""
        self._driver = Driver(Server(parted(address)[0]), stages=stages)
        self._gone: datetime | None = None
        self._driver.look()
        self._told = False

    def poll(self) -> bool:
        """Ask again; whether there is a new batch, the driver is gone, or it is back. The first look counts as new."""
        if not self._told:
            self._told = True
            return True
        was_gone = self._gone
        try:
            new = self._driver.look()
            self._gone = None
        except InputError:
            new, self._gone = False, was_gone or datetime.now(timezone.utc)
        return new or (was_gone is None) != (self._gone is None)

    def reading(self, *, stages: bool = False) -> Reading:  # noqa: ARG002 - decided when it began
        """Return all that was read so far."""
        return replace(self._driver.reading(), gone_since=self._gone)

    def close(self) -> None:
        """Nothing is open."""
