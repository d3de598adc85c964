"""Read facts from a log's other lines: how a query started, its settings, its plan, its errors, its task slots."""

from advisor.facts import Sighting
from advisor.sources.sightings.events import sight_event_log
from advisor.sources.sightings.region import Repeats, sight

__all__ = ["Repeats", "Sighting", "sight", "sight_event_log"]
