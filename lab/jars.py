"""The jars of the laboratory: Spark's own Ivy fetches them into its usual folder, a session takes them in."""

from __future__ import annotations

import contextlib
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from advisor.errors import UsageError

BROKER: Final = ("org.apache.kafka:kafka_2.13:4.1.0",)
_KAFKA: Final = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:{connector}?transitive=false",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:{token}?transitive=false",
    "org.apache.kafka:kafka-clients:{clients}?transitive=false",
    "org.apache.commons:commons-pool2:{pool}?transitive=false",
)
# Sets that were run with these Sparks; 4.3.0 ran with the connector of 4.2.0.
_CONNECTORS: Final = {
    "4.0": {"connector": "4.0.0", "token": "4.0.0", "clients": "3.9.0", "pool": "2.12.0"},
    "4.2": {"connector": "4.2.0", "token": "4.0.0", "clients": "3.9.2", "pool": "2.13.1"},
    "4.3": {"connector": "4.2.0", "token": "4.0.0", "clients": "3.9.2", "pool": "2.13.1"},
}
_SDK_OF_HADOOP: Final = {"3.4.1": "2.25.53"}
_SDK: Final = ("s3", "s3-transfer-manager", "sts", "kms")
_SPARK_HAS: Final = ("org.slf4j_", "org.apache.logging.log4j_", "io.netty_")  # a second one would silence Spark's log


def connector(spark_version: str) -> tuple[str, ...]:
    """Coordinates of Spark's Kafka connector: a set that was run, else this Spark's own with what it asks for."""
    versions = _CONNECTORS.get(".".join(spark_version.split(".")[:2]))
    if versions is None:
        return (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark_version}",)
    return tuple(jar.format(**versions) for jar in _KAFKA)


def s3a(hadoop_version: str) -> tuple[str, ...]:
    """Coordinates of S3A for this Hadoop; UsageError where no set of jars was run."""
    sdk = _SDK_OF_HADOOP.get(hadoop_version)
    if sdk is None:
        known = ", ".join(_SDK_OF_HADOOP)
        raise UsageError(
            "S3A",
            f"no S3A jars were tested with Hadoop {hadoop_version}",
            f"use a Spark with Hadoop {known}, such as 4.0.0",
        )
    modules = tuple(f"software.amazon.awssdk:{module}:{sdk}" for module in _SDK)
    return (f"org.apache.hadoop:hadoop-aws:{hadoop_version}?transitive=false", *modules)


def abortable(spark_version: str) -> tuple[str, ...]:
    """Coordinates of the checkpoint manager that aborts uploads instead of renaming files."""
    return (f"org.apache.spark:spark-hadoop-cloud_2.13:{spark_version}?transitive=false",)


def fetched(spark: Any, coordinates: Iterable[str]) -> list[Path]:
    """The jar files of these coordinates `group:name:version`, from Ivy's cache or fetched into it.

    Raises UsageError, one line, where one cannot be had.
    """
    _check(spark)
    found: dict[Path, None] = {}
    with _quiet(spark):
        for coordinate in coordinates:
            found.update(dict.fromkeys(_resolved(spark, coordinate)))
    return list(found)


def added(spark: Any, jars: Sequence[Path]) -> None:
    """Take the jars into a running session, on all its machines; what Spark itself has stays away."""
    for jar in _without_sparks(jars):
        spark.sql(f"ADD JAR '{jar.as_uri()}'")


def added_to_driver(spark: Any, jars: Sequence[Path]) -> None:
    """Take in jars of a file system: Hadoop looks for it where `--jars` would put it, not in a session's own jars.

    Only the driver gets them, which alone writes the logs of a checkpoint.
    """
    loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in _without_sparks(jars):
        loader.addURL(spark._jvm.java.net.URI(jar.as_uri()).toURL())


def _without_sparks(jars: Sequence[Path]) -> list[Path]:
    return [jar for jar in jars if not jar.name.startswith(_SPARK_HAS)]


def scala_library(spark: Any) -> Path:
    """The Scala library that Spark runs with: Ivy leaves it out, and a broker needs it."""
    place = spark._jvm.java.lang.Class.forName("scala.Option").getProtectionDomain().getCodeSource().getLocation()
    return Path(urllib.parse.unquote(urllib.parse.urlparse(place.toString()).path))


def hadoop_version(spark: Any) -> str:
    """The version of Hadoop that Spark runs with."""
    return str(spark._jvm.org.apache.hadoop.util.VersionInfo.getVersion())


def _check(spark: Any) -> None:
    if int(spark.version.split(".")[0]) < 4:
        raise UsageError("laboratory", f"Spark {spark.version} uses another Scala version", "use Spark 4.0 or newer")


def _resolved(spark: Any, coordinate: str) -> Iterator[Path]:
    java = spark._jvm
    try:
        jars = java.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(
            java.java.net.URI(f"ivy://{coordinate}")
        )
    except Exception as error:  # Py4J raises what Java raised
        said = next((line for line in str(error).splitlines() if "RuntimeException" in line), "it cannot be fetched")
        found = f"{said.partition('RuntimeException: ')[2] or said}"
        raise UsageError(
            coordinate.partition("?")[0], found, "check that this machine can reach the package repository"
        ) from None
    for number in range(jars.size()):
        yield Path(urllib.parse.urlparse(jars.apply(number)).path)


@contextlib.contextmanager
def _quiet(spark: Any) -> Iterator[None]:
    """Ivy's report of several pages goes nowhere."""
    java = spark._jvm
    ivy = getattr(getattr(java.org.apache.spark.deploy, "SparkSubmit$"), "MODULE$")
    before = ivy.printStream()
    getattr(ivy, "printStream_$eq")(java.java.io.PrintStream(java.java.io.OutputStream.nullOutputStream()))
    try:
        yield
    finally:
        getattr(ivy, "printStream_$eq")(before)
