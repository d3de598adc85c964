"""Spark's REST interface about an application: its version, its settings, its executors."""

from __future__ import annotations

import msgspec

from advisor.facts import from_confs
from advisor.redaction import redact
from advisor.sources.sightings.line import Told


class Attempt(msgspec.Struct, rename="camel"):
    """One start of an application."""

    app_spark_version: str = ""
    last_updated_epoch: int = 0


class Application(msgspec.Struct):
    """An application as a driver or a History Server lists it."""

    id: str
    name: str = ""
    attempts: list[Attempt] = []

    def told(self) -> list[Told]:
        """Return its name and its version of Spark."""
        found = [Told("application", self.name)] if self.name else []
        version = self.attempts[0].app_spark_version if self.attempts else ""
        return [*found, Told("spark_version", version)] if version else found


class Environment(msgspec.Struct, rename="camel"):
    """The settings with which the application started."""

    spark_properties: list[tuple[str, str]] = []

    def told(self) -> list[Told]:
        """Return the facts that they settle: what is not among them was not set."""
        found = from_confs(dict(self.spark_properties), "ui")
        return [Told(fact, value, origin) for fact, (value, origin) in found.items()]


class Executor(msgspec.Struct, rename="camel"):
    """An executor; in local mode the driver is one."""

    id: str
    is_active: bool = True
    max_tasks: int = 0


class Job(msgspec.Struct, rename="camel"):
    """A job that runs; in a micro-batch `job_group` is the run's id."""

    job_id: int = 0
    name: str = ""
    description: str = ""
    job_group: str = ""
    num_tasks: int = 0
    num_completed_tasks: int = 0

    @property
    def words(self) -> str:
        """Its description, or where its program calls it, on one line."""
        return redact(" ".join((self.description or self.name).split())[:80])


class Frames(msgspec.Struct):
    """The frames of a thread, the innermost first."""

    elems: list[str] = []


class Thread(msgspec.Struct, rename="camel"):
    """A thread of the driver."""

    thread_name: str = ""
    stack_trace: Frames = msgspec.field(default_factory=Frames)
