"""What a trial creates and removes again: its directory, and the Kafka topic that a run writes to."""

from __future__ import annotations

import logging
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from advisor.errors import UsageError
from advisor.redaction import redact
from advisor.trials.guard import End, is_own
from advisor.trials.setup import Setup

_KAFKA: Final = "kafka."
_SECONDS: Final = 60
_log = logging.getLogger(__name__)


@contextmanager
def throw_away(spark: Any, below: str | None) -> Iterator[str]:
    """Yield the URI of a new directory, below `below` or on this machine for a local master, and remove it afterwards.

    Raise UsageError where the executors are elsewhere and nobody said which storage they share.
    """
    if below is not None:
        with _on_storage(spark, f"{below.rstrip('/')}/latency-advisor-trial-{uuid.uuid4().hex[:12]}") as place:
            yield place
        return
    if not spark.sparkContext.master.startswith("local"):
        found = f"the executors of {spark.sparkContext.master} do not see this machine's directories"
        raise UsageError(
            "place", found, "give a directory that the whole cluster can write to; a new one is created in it"
        )
    directory = Path(tempfile.mkdtemp(prefix="latency-advisor-trial-"))
    try:
        yield directory.as_uri()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _on_storage(spark: Any, uri: str) -> Iterator[str]:
    path = spark._jvm.org.apache.hadoop.fs.Path(uri)
    try:
        system = path.getFileSystem(spark._jsc.hadoopConfiguration())
        system.mkdirs(path)
    except Exception as error:  # Py4J raises what Java raised
        raise UsageError(
            "place", f"{uri} could not be created: {str(error).splitlines()[0]}", "give another directory"
        ) from None
    try:
        yield uri
    finally:
        system.delete(path, True)


@contextmanager
def own_topic(setup: Setup, sink: End) -> Iterator[None]:
    """Create the run's own topic with the broker's defaults, and remove it afterwards; leave one that was there before.

    The sink's own `kafka.` settings reach the broker. Raise UsageError where the broker refuses.
    """
    made = is_own(sink, setup) and _made(setup, sink)
    try:
        yield
    finally:
        if made:
            _remove(setup, sink)


def _made(setup: Setup, sink: End) -> bool:
    """Whether the topic is new."""
    jvm, topic = setup.spark._jvm, sink.options["topic"]
    nothing = jvm.java.util.Optional.empty()
    try:
        with _admin(setup.spark, sink) as admin:
            new = jvm.org.apache.kafka.clients.admin.NewTopic(topic, nothing, nothing)
            _await(jvm, admin.createTopics([new]))
    except TypeError:  # Kafka's classes are not there: Spark will say so
        return False
    except Exception as error:  # Py4J raises what Java raised
        if "TopicExistsException" in str(error):
            return False
        raise UsageError(
            "trial",
            f"its topic could not be created: {_why(error)}",
            "check that the broker can be reached and that this user may create topics",
        ) from None
    return True


def _remove(setup: Setup, sink: End) -> None:
    topic = sink.options["topic"]
    try:
        with _admin(setup.spark, sink) as admin:
            _await(setup.spark._jvm, admin.deleteTopics([topic]))
    except Exception as error:  # what the run gave is not lost for that
        _log.warning("the topic %s was not removed: %s", topic, _why(error))


@contextmanager
def _admin(spark: Any, sink: End) -> Iterator[Any]:
    """Yield a client for topics; Kafka's classes may be among the jars that only the session knows."""
    jvm = spark._jvm
    thread = jvm.java.lang.Thread.currentThread()
    before = thread.getContextClassLoader()
    thread.setContextClassLoader(_loader(spark, before))
    settings = {key.removeprefix(_KAFKA): value for key, value in sink.options.items() if key.startswith(_KAFKA)}
    try:
        client = jvm.org.apache.kafka.clients.admin.AdminClient.create(settings)
        try:
            yield client
        finally:
            client.close()
    finally:
        thread.setContextClassLoader(before)


def _loader(spark: Any, otherwise: Any) -> Any:
    try:
        return spark._jsparkSession.artifactManager().classloader()
    except Exception:  # before 4.0 the thread knows what the session knows
        return otherwise


def _await(jvm: Any, result: Any) -> None:
    result.all().get(_SECONDS, jvm.java.util.concurrent.TimeUnit.SECONDS)


def _why(error: Exception) -> str:
    """Return the line of Java's error in which the broker gives its reason."""
    lines = [line.strip() for line in str(error).splitlines() if "Exception: " in line]
    return redact(lines[-1].rpartition("Exception: ")[2] if lines else str(error).partition("\n")[0])
