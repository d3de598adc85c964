"""Read the streaming settings of each Spark from its own jars, and write them into the package.

`python -m tests.legality.settings` asks the PySparks of the matrix one after the other, without starting a session:
Spark's registry of settings holds key, default and first version, also of internal ones; RocksDB's settings, which the
registry lacks, are read from the class that declares them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from advisor.facts.confs import PREFIXES
from tests.legality.outcomes import VERSIONS
from tests.record.sparks import CACHE

OPTIONS: Final = (
    "asyncProgressTrackingCheckpointIntervalMs", "asyncProgressTrackingEnabled", "cleanSource", "failOnDataLoss",
    "fileNameOnly", "latestFirst", "maxBytesPerTrigger", "maxFileAge", "maxFilesPerTrigger", "maxOffsetsPerTrigger",
    "maxRecordsPerPartition", "maxTriggerDelay", "minOffsetsPerTrigger", "minPartitions", "startingOffsets",
)  # fmt: skip
"""What sources and writers read from their own options, by the guides of Spark's Kafka and file sources."""
WRITTEN: Final = Path(__file__).parents[2] / "advisor/facts/settings.json"
_LOADED: Final = ("org.apache.spark.sql.internal.SQLConf$", "org.apache.spark.sql.internal.StaticSQLConf$")
_PREFIX: Final = "spark.sql.streaming.stateStore.rocksdb."
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBConf$"


def main() -> None:
    """Ask each version, then write what all of them said."""
    from tests.legality.__main__ import environment

    told = {}
    for version in VERSIONS:
        ask = [sys.executable, "-c", "from tests.legality.settings import tell; tell()"]
        done = subprocess.run(ask, env=environment(version), capture_output=True, text=True, check=True)
        told[version] = json.loads(done.stdout.splitlines()[-1])
        print(f"Spark {version}: {len(told[version])} settings", flush=True)
    spelt = {name.lower(): name for version in VERSIONS for name in _spelt(version)}
    respelt = {version: {spelt.get(key, key): value for key, value in of.items()} for version, of in told.items()}
    WRITTEN.write_text(text(respelt))


def _spelt(version: str) -> Iterator[str]:
    """RocksDB's settings as the class of this Spark spells them: it lowers their letters when it reads them."""
    [jar] = (CACHE / "pyspark" / version / "pyspark/jars").glob("spark-sql_2.*.jar")
    with ZipFile(jar) as opened:
        held = opened.read(f"{_ROCKSDB.replace('.', '/')}.class")
    return (f"{_PREFIX}{name.decode()}" for name in re.findall(rb"[A-Za-z.]{5,}", held))


def text(told: dict[str, dict[str, list[str]]]) -> str:
    """The file: key -> since when, and each version's default where they differ; null where a version lacks it."""
    keys = sorted({key for settings in told.values() for key in settings})
    lines = []
    for key in keys:
        defaults = [settings[key][1] if key in settings else None for settings in told.values()]
        since = next(settings[key][0] for settings in told.values() if key in settings)
        lines.append(f"{json.dumps(key)}: {json.dumps([since, *_short(defaults)])}")
    return '{{"versions": {},\n"options": {},\n"settings": {{\n{}\n}}}}\n'.format(
        json.dumps(list(told)), json.dumps(OPTIONS), ",\n".join(lines)
    )


def _short(defaults: list[str | None]) -> list[str | None]:
    return defaults[:1] if len(set(defaults)) == 1 else defaults


def tell() -> None:
    """Print the settings of the PySpark in this process as JSON: key -> [since, default]."""
    from pyspark.java_gateway import launch_gateway

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    jvm = launch_gateway().jvm
    print(json.dumps({**_rocksdb(jvm), **_registered(jvm)}))


def _registered(jvm: Any) -> dict[str, list[str]]:
    for name in _LOADED:
        jvm.java.lang.Class.forName(name)
    held = getattr(getattr(jvm.org.apache.spark.sql.internal, "SQLConf$"), "MODULE$")
    found = {}
    for entry in held.getConfigEntries().toArray():
        if entry.key().startswith(PREFIXES):
            default = entry.defaultValueString()
            found[entry.key()] = [entry.version(), "" if default == "<undefined>" else default]
    return found


def _rocksdb(jvm: Any) -> dict[str, list[str]]:
    kind = jvm.java.lang.Class.forName(_ROCKSDB)
    one, found = kind.getField("MODULE$").get(None), {}
    for declared in kind.getDeclaredFields():
        declared.setAccessible(True)
        entry = declared.get(one)
        if declared.getType().getSimpleName() in ("SQLConfEntry", "ConfEntry"):
            found[str(entry.fullName())] = ["", str(entry.default())]
    return found


if __name__ == "__main__":
    main()
