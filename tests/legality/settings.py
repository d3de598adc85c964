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
_STREAMING: Final = (
    "asyncLogPurge.enabled", "checkpoint.fileChecksum.enabled", "fileSink.log.compactInterval",
    "fileSource.cleaner.numThreads", "fileSource.log.compactInterval", "kafka.useDeprecatedOffsetFetching",
    "maxBatchesToRetainInMemory", "metadataCache.enabled", "minBatchesToRetain", "noDataMicroBatches.enabled",
    "pollingDelay", "stateStore.compression.codec", "stateStore.maintenanceInterval",
    "stateStore.minDeltasForSnapshot", "stateStore.numStateStoreMaintenanceThreads",
    "stateStore.rocksdb.blockCacheSizeMB", "stateStore.rocksdb.blockSizeKB", "stateStore.rocksdb.boundedMemoryUsage",
    "stateStore.rocksdb.compactOnCommit", "stateStore.rocksdb.compression", "stateStore.rocksdb.maxMemoryUsageMB",
    "stateStore.rocksdb.maxOpenFiles", "stateStore.rocksdb.maxWriteBufferNumber",
    "stateStore.rocksdb.writeBufferSizeMB", "stateStore.rowChecksum.enabled", "stateStore.unloadOnCommit",
    "statefulOperator.incrementalCleanupFactor",
)  # fmt: skip
_OTHERS: Final = (
    "broadcast.blockSize", "broadcast.compress", "eventLog.logBlockUpdates.enabled", "io.compression.codec",
    "io.encryption.enabled", "locality.wait", "memory.fraction", "memory.offHeap.enabled", "memory.storageFraction",
    "network.crypto.enabled", "python.worker.reuse", "reducer.maxSizeInFlight", "scheduler.mode", "shuffle.compress",
    "shuffle.file.buffer", "shuffle.sort.bypassMergeThreshold", "shuffle.spill.compress", "speculation",
    "sql.adaptive.coalescePartitions.enabled", "sql.autoBroadcastJoinThreshold",
    "sql.codegen.factoryMode", "sql.codegen.fallback", "sql.codegen.hugeMethodLimit", "sql.codegen.maxFields",
    "sql.codegen.wholeStage", "sql.debug.maxToStringFields", "sql.execution.arrow.maxRecordsPerBatch",
    "sql.execution.pythonUDF.arrow.enabled", "sql.files.maxPartitionBytes", "sql.files.maxRecordsPerFile",
    "sql.files.openCostInBytes", "sql.inMemoryColumnarStorage.batchSize", "sql.join.preferSortMergeJoin",
    "sql.maxPlanStringLength", "sql.optimizer.excludedRules", "sql.optimizer.maxIterations",
    "sql.parquet.enableVectorizedReader", "sql.parquet.filterPushdown",
    "sql.planChangeLog.level", "sql.pyspark.udf.profiler", "sql.sources.parallelPartitionDiscovery.threshold",
    "sql.windowExec.buffer.in.memory.threshold",
)  # fmt: skip
KAFKA: Final = {
    "spark.kafka.consumer.cache.capacity": "64", "spark.kafka.consumer.cache.timeout": "300s",
    "spark.kafka.consumer.fetchedData.cache.timeout": "300s", "spark.kafka.producer.cache.timeout": "600s",
}  # fmt: skip
"""Settings of Spark's Kafka connector, which is no part of PySpark: as its guide has them, since 3.0."""
SPEED: Final = (*(PREFIXES[0] + key for key in _STREAMING), *(f"spark.{key}" for key in _OTHERS), *KAFKA)
"""Settings that bear on how long a batch takes."""
_LOADED: Final = (
    "org.apache.spark.sql.internal.SQLConf$", "org.apache.spark.sql.internal.StaticSQLConf$",
    "org.apache.spark.internal.config.package$", "org.apache.spark.internal.config.Python$",
)  # fmt: skip
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
    return '{{"versions": {},\n"options": {},\n"speed": {},\n"settings": {{\n{}\n}}}}\n'.format(
        json.dumps(list(told)), json.dumps(OPTIONS), json.dumps(SPEED), ",\n".join(lines)
    )


def _short(defaults: list[str | None]) -> list[str | None]:
    return defaults[:1] if len(set(defaults)) == 1 else defaults


def tell() -> None:
    """Print the settings of the PySpark in this process as JSON: key -> [since, default]."""
    from pyspark.java_gateway import launch_gateway

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    jvm = launch_gateway().jvm
    of_kafka = {key: ["3.0.0", default] for key, default in KAFKA.items()}
    print(json.dumps({**_rocksdb(jvm), **_registered(jvm), **of_kafka}))


def _registered(jvm: Any) -> dict[str, list[str]]:
    for name in _LOADED:
        jvm.java.lang.Class.forName(name)
    registry = jvm.java.lang.Class.forName("org.apache.spark.internal.config.ConfigEntry$")
    known = registry.getDeclaredField("knownConfigs")
    known.setAccessible(True)
    found = {}
    for entry in known.get(registry.getField("MODULE$").get(None)).values():
        if entry.key().startswith(PREFIXES) or entry.key() in SPEED:
            default = entry.defaultValueString()
            found[entry.key()] = [entry.version(), "" if default.startswith("<") else default]
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
