"""The laboratory: one virtual environment per Spark, the jars that Spark fetches, all below one directory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "latency-advisor-lab"
"""Where Sparks, jars and lists of them are kept."""
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_{scala}:{connector}"
KAFKA_JARS = (
    CONNECTOR,
    "org.apache.spark:spark-token-provider-kafka-0-10_{scala}:{token}",
    "org.apache.kafka:kafka-clients:{clients}",
    "org.apache.commons:commons-pool2:{pool}",
)
# The connectors that were tried with these Sparks; Spark 4.3.0 runs with the connector of 4.2.0.
KAFKA_VERSIONS = {
    "3.5": {"scala": "2.12", "connector": "3.5.0", "token": "3.5.0", "clients": "3.4.1", "pool": "2.11.1"},
    "4.0": {"scala": "2.13", "connector": "4.0.0", "token": "4.0.0", "clients": "3.9.0", "pool": "2.12.0"},
    "4.1": {"scala": "2.13", "connector": "4.1.0", "token": "4.0.0", "clients": "3.9.1", "pool": "2.12.1"},
    "4.2": {"scala": "2.13", "connector": "4.2.0", "token": "4.0.0", "clients": "3.9.2", "pool": "2.13.1"},
    "4.3": {"scala": "2.13", "connector": "4.2.0", "token": "4.0.0", "clients": "3.9.2", "pool": "2.13.1"},
}
DELTA_JARS = ("io.delta:delta-spark_2.13:4.0.0", "io.delta:delta-storage:4.0.0", "org.antlr:antlr4-runtime:4.13.1")
ICEBERG_JARS = ("org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.0",)
HUDI_JARS = ("org.apache.hudi:hudi-spark3.5-bundle_2.12:0.15.0",)
PAIMON_JARS = ("org.apache.paimon:paimon-spark-3.5:0.9.0",)
TABLE_JARS = {"delta": DELTA_JARS, "iceberg": ICEBERG_JARS, "hudi": HUDI_JARS, "paimon": PAIMON_JARS}
AWS = "software.amazon.awssdk"
S3A_JARS = ("org.apache.hadoop:hadoop-aws:3.4.1", "org.apache.spark:spark-hadoop-cloud_2.13:4.0.0")
S3A_JARS_WITH_ALL = tuple(f"{AWS}:{module}:2.25.53" for module in ("s3", "s3-transfer-manager", "sts", "kms"))
BROKER_JARS_WITH_ALL = ("org.apache.kafka:kafka_2.13:4.1.0",)
OWN = ("org.slf4j", "io.netty")
BROKER_SPARK = "4.0.0"
TOOLS = ["moto[server]"]

FETCH = """
import json, sys
from pyspark.sql import SparkSession
settings = {"spark.jars.ivy": sys.argv[1], "spark.ui.enabled": "false"}
spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
for coordinate in json.loads(sys.argv[2]):
    spark.sql(f"ADD JAR 'ivy://{coordinate}'")
"""


class Lab:
    """Environments and jars below `root`; each is made when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.root.mkdir(parents=True, exist_ok=True)

    def spark_python(self, version: str) -> Path:
        """The interpreter of an environment that holds this PySpark."""
        old = ["numpy<2", "setuptools"] if version.startswith("3.") else []
        packages = [
            f"pyspark=={version}",
            "pandas<3",
            "pyarrow",
            "confluent-kafka",
            "pyyaml",
            "zstandard",
            "protobuf",
            *old,
        ]
        return self._environment(f"spark-{version}", packages)

    def tools_python(self) -> Path:
        """The interpreter of an environment that holds moto's S3 server."""
        return self._environment("moto", TOOLS)

    def jars(self, kind: str, version: str) -> list[Path]:
        """The jar files of `kind` (kafka, delta, iceberg, hudi, paimon, s3a) for this Spark."""
        if kind == "kafka":
            numbers = KAFKA_VERSIONS[version[:3]]
            return self._fetch(f"kafka-{version}", [jar.format(**numbers) for jar in KAFKA_JARS], [], version)
        if kind in TABLE_JARS:
            return self._fetch(kind, TABLE_JARS[kind], [], version)
        return self._fetch("s3a", S3A_JARS, S3A_JARS_WITH_ALL, version)

    def broker_class_path(self) -> str:
        """The class path of a Kafka broker; Spark's resolver leaves Scala out, so PySpark's own is taken."""
        jars = self._fetch("broker", [], BROKER_JARS_WITH_ALL, BROKER_SPARK)[0].parent
        scala = next(self.spark_python(BROKER_SPARK).parent.parent.rglob("pyspark/jars/scala-library-2.13*.jar"))
        return f"{jars}/*:{scala}"

    def _environment(self, name: str, packages: list[str]) -> Path:
        home = self.root / "venvs" / name
        python = home / "bin" / "python"
        if not (home / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "-q", *packages], check=True)
            (home / "ready").touch()
        return python

    def _fetch(
        self, name: str, alone: list[str] | tuple[str, ...], with_all: list[str] | tuple[str, ...], version: str
    ) -> list[Path]:
        """Spark's resolver fetches them; what Spark has itself stays away: a second SLF4J would silence its log."""
        target = self.root / "jars" / name
        if not (target / "ready").exists():
            shutil.rmtree(target, ignore_errors=True)
            coordinates = [f"{jar}?transitive=false" for jar in alone] + list(with_all)
            command = [str(self.spark_python(version)), "-c", FETCH, str(target), json.dumps(coordinates)]
            subprocess.run(
                command, check=True, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}, stdout=subprocess.DEVNULL
            )
            (target / "ready").touch()
        return sorted(jar for jar in (target / "jars").glob("*.jar") if not jar.name.startswith(OWN))
