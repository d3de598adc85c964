"""Errors of Spark that are well known: what they mean, and what to do."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class KnownError(NamedTuple):
    """An error by its text: what it means, what to do, and the line that does it.

    `of_task`: it ends a task, which is tried again, so that by itself it does not show that a query ended.
    """

    text: str
    means: str
    cure: str
    change: str
    of_task: bool = False


_NO_ASYNC: Final = '# take .option("asyncProgressTrackingEnabled", "true") out of the writer'
_MICRO_BATCH: Final = '.trigger(processingTime="1 second")  # or no trigger at all'
_NEW_CHECKPOINT: Final = (
    '.option("checkpointLocation", "<a new directory>")  # the state and the offsets are left behind'
)

ERRORS: Final = (
    KnownError(
        r"Sink \S.{0,200}? does not support async progress tracking",
        "Spark refuses asynchronous progress tracking at start for this sink. It accepts Kafka, console, memory and "
        "noop, and foreach from Spark 4.3 on.",
        "Leave asynchronous progress tracking out: this sink cannot have it",
        _NO_ASYNC,
    ),
    KnownError(
        r"Stateful streaming queries does not support async progress tracking",
        "Asynchronous progress tracking works without state only: a query with state starts with it and ends in its "
        "first batch.",
        "Leave asynchronous progress tracking out: a query with state cannot have it",
        _NO_ASYNC,
    ),
    KnownError(
        r"Async progress tracking cannot be used with (?:Once|AvailableNow) trigger",
        "Asynchronous progress tracking needs a processing-time trigger or the default trigger.",
        "Leave asynchronous progress tracking out, or change the trigger",
        _NO_ASYNC,
    ),
    KnownError(
        r"ASYNC_PROGRESS_TRACKING_CHECKPOINTING_INTERVAL_NON_ZERO",
        "In real-time mode asynchronous progress tracking takes the interval 0 only.",
        "Set the interval of asynchronous progress tracking to 0",
        '.option("asyncProgressTrackingCheckpointIntervalMs", "0")',
    ),
    KnownError(
        r"STREAMING_REAL_TIME_MODE\.ASYNC_PROGRESS_TRACKING_NOT_SUPPORTED",
        "Before Spark 4.3 real-time mode and asynchronous progress tracking exclude each other.",
        "Leave asynchronous progress tracking out of the real-time query",
        _NO_ASYNC,
    ),
    KnownError(
        r"STREAMING_REAL_TIME_MODE\.INPUT_STREAM_NOT_SUPPORTED",
        "Real-time mode reads only sources that are made for it. Kafka is one; the rate source and files are none.",
        "Read from Kafka, or use a micro-batch trigger",
        _MICRO_BATCH,
    ),
    KnownError(
        r"STREAMING_REAL_TIME_MODE\.(?:OPERATOR_OR_SINK_NOT_IN_ALLOWLIST|SINK_NOT_SUPPORTED)",
        "Real-time mode takes few sinks (Kafka, console and foreach, not foreachBatch, files or Delta), and operators "
        "with state from Spark 4.3 on only.",
        "Use a micro-batch trigger for this query, or another sink or operator",
        _MICRO_BATCH,
    ),
    KnownError(
        r"STREAMING_REAL_TIME_MODE\.OUTPUT_MODE_NOT_SUPPORTED",
        "Real-time mode takes the output mode update only.",
        "Set the output mode to update",
        '.outputMode("update")',
    ),
    KnownError(
        r"STREAMING_REAL_TIME_MODE\.CHECKPOINT_FORMAT_V1_NOT_SUPPORTED",
        "Spark 4.3 takes no checkpoint of a micro-batch query into real-time mode.",
        "Start it in real-time mode with a new checkpoint, or stay with micro-batches",
        _NEW_CHECKPOINT,
    ),
    KnownError(
        r"STREAMING_REAL_TIME_MODE\.SQL_CONFIGURATION_NOT_SUPPORTED",
        "Some settings of the session do not go with real-time mode; the error names them.",
        "Take back the settings that the error names",
        "# spark.conf.unset(...) for each setting that the error names",
    ),
    KnownError(
        r"INVALID_STREAMING_REAL_TIME_MODE_TRIGGER_INTERVAL",
        "The interval of a real-time trigger is the time between checkpoints, not the latency, and 5 seconds at least.",
        "Set a longer interval, such as 5 minutes: the latency stays in milliseconds",
        '.trigger(realTime="5 minutes")',
    ),
    KnownError(
        r"trigger\(\) got an unexpected keyword argument ['\"]realTime",
        "Real-time mode needs Spark 4.2 in Python, and 4.1 in Scala and Java; and a sink that it takes: Kafka, console "
        "or foreach.",
        "Use a micro-batch trigger; or upgrade to Spark 4.2 or later, if it writes to Kafka, the console or foreach",
        _MICRO_BATCH,
    ),
    KnownError(
        r"Continuous processing does not support .{1,60}? operations",
        "Continuous processing takes operators that handle each row by itself: no aggregation, no other state.",
        "Use a micro-batch trigger for this query",
        _MICRO_BATCH,
    ),
    KnownError(
        r"'foreachBatch' is not supported with continuous trigger|Unknown type of trigger: ContinuousTrigger",
        "Continuous processing does not work with this sink: it takes Kafka, console, memory and noop, not "
        "foreachBatch or files.",
        "Use a micro-batch trigger for this query",
        _MICRO_BATCH,
    ),
    KnownError(
        r"watermarkTracker\(\)\"? is null",
        "A query that ran by continuous processing does not go on in micro-batches from the same checkpoint.",
        "Go back to continuous processing, or start with a new checkpoint",
        _NEW_CHECKPOINT,
    ),
    KnownError(
        r"Append output mode not supported when there are streaming aggregations"
        r"|output mode: append\. This output mode is not supported for streaming aggregations without watermark",
        "In append mode a group is given out once the watermark has passed it, so an aggregation needs a watermark.",
        "Set a watermark before the aggregation and group by event time, or use the output mode update",
        '.withWatermark("event_time", "10 minutes")  # before groupBy(window("event_time", "5 minutes"), ...)',
    ),
    KnownError(
        r"Complete output mode not supported when there are no streaming aggregations"
        r"|output mode: complete\. This output mode is not supported for no streaming aggregations",
        "The output mode complete gives out the whole result of an aggregation, and this query has none.",
        "Set the output mode to append",
        '.outputMode("append")',
    ),
    KnownError(
        r"Data source \S{1,80} does not support \w+ output mode|STREAMING_OUTPUT_MODE\.UNSUPPORTED_DATASOURCE",
        "The sink does not take this output mode; Spark's file sinks take append only.",
        "Set the output mode to append, or write in foreachBatch",
        '.outputMode("append")',
    ),
    KnownError(
        r"[Jj]oin between two streaming DataFrames/Datasets is not supported in \w+ output mode",
        "This join of two streams takes the output mode append only.",
        "Set the output mode to append",
        '.outputMode("append")',
    ),
    KnownError(
        r"is not supported without a watermark in the join keys",
        "An outer join of two streams gives out a row without a partner once the watermark has passed it.",
        "Set watermarks, and a range of event time in the join's condition",
        '.withWatermark("event_time", "10 minutes")  # on both streams',
    ),
    KnownError(
        r"Detected pattern of possible 'correctness' issue due to global watermark"
        r"|Multiple streaming aggregations are not supported",
        "Spark refuses an operator with state behind another where it could lose what that gives out late.",
        "Use one operator with state per query, or the output mode append with a watermark",
        '.outputMode("append")  # and .withWatermark(...) before the first of them',
    ),
    KnownError(
        r"Queries with streaming sources must be executed with writeStream",
        "A streaming DataFrame has no count(), show() or write: it runs as a query that is started. If the query ran "
        "already, its sink, or a function of its own, did so with the stream's DataFrame.",
        "Start it with writeStream, and work on the batch that foreachBatch gives",
        "query = df.writeStream.foreachBatch(lambda batch, number: ...).start()  # a batch is an ordinary DataFrame",
    ),
    KnownError(
        r"NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING|Non-time-based windows are not supported on streaming",
        "Functions over windows of rows, such as row_number or lag, do not work on streams; windows of time do.",
        "Call the function in foreachBatch, or group by a window of time",
        "# .writeStream.foreachBatch(lambda batch, number: ...)  # a batch is an ordinary DataFrame",
    ),
    KnownError(
        r"Sorting is not supported on streaming",
        "A stream is sorted only as the result of an aggregation in the output mode complete.",
        "Sort in foreachBatch, or where the result is read",
        "# .writeStream.foreachBatch(lambda batch, number: ...)  # a batch is an ordinary DataFrame",
    ),
    KnownError(
        r"checkpointLocation must be specified",
        "The sink needs a checkpoint, and none is named.",
        "Name a checkpoint location that no other query uses",
        '.option("checkpointLocation", "<a directory on shared storage>")',
    ),
    KnownError(
        r"sources in the checkpoint offsets and now there are \[\d+\] sources",
        "The query has another number of sources than its checkpoint, and Spark cannot tell which offsets are whose.",
        "Undo the change of sources, or start with a new checkpoint",
        _NEW_CHECKPOINT,
    ),
    KnownError(
        r"CONCURRENT_STREAM_LOG_UPDATE|Multiple streaming jobs detected for"
        r"|Multiple\s+streaming\s+queries\s+are\s+concurrently\s+using(?:\s+\S+)?"
        r"|as another query with same id is already active|\[CONCURRENT_QUERY\]",
        "Two queries use one checkpoint at the same time.",
        "Stop the other query, and give each query a checkpoint of its own",
        '.option("checkpointLocation", "<a directory of this query alone>")',
    ),
    KnownError(
        r"STATE_STORE_(?:KEY|VALUE)_SCHEMA_NOT_COMPATIBLE"
        r"|Provided schema doesn't match to the schema for existing state",
        "The keys or values of an operator with state were changed, and the checkpoint has state of the old ones.",
        "Undo the change, or start with a new checkpoint, which loses the state",
        _NEW_CHECKPOINT,
    ),
    KnownError(
        r"STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
        "Operators with state were added, removed or changed, and the checkpoint has state of the old ones.",
        "Undo the change, or start with a new checkpoint, which loses the state",
        _NEW_CHECKPOINT,
    ),
    KnownError(
        r"Error reading (?:delta|snapshot|streaming state) file .{1,600}? does not exist",
        "A file of the state is missing in the checkpoint.",
        "Restore the file, and find out what deleted it: a clean-up of the storage, or two queries on one checkpoint",
        "# without the file: a new checkpoint, which loses the state; a checkpoint of its own for each query",
    ),
    KnownError(
        r"BATCH_METADATA_NOT_FOUND|(?<!\S)\S{0,300}/sources/\d{1,9}/\d{1,18} doesn'?t exist",
        "A file of the sink's or source's own log of batches is missing: it was deleted, or its batch was used up by a "
        "state repartition.",
        "Restore the file that the error names, and find out what deleted it",
        "# the error names the file; without it: a new checkpoint and, for a file sink, a new directory",
    ),
    KnownError(
        r"[Ss]ome data may have been missed|offset was changed from \w{1,19} to \w{1,19}"
        r"|Some data may have been lost because they are not available in Kafka any\s?more|\[KAFKA_DATA_LOSS\b"
        r"|OffsetOutOfRangeException",
        "Offsets that the query goes on from are no longer in Kafka: the topic's retention was faster than the query, "
        "or the topic was made anew.",
        "Accept the loss with failOnDataLoss=false, and give the topic a longer retention",
        '.option("failOnDataLoss", "false")  # on the reader: what Kafka deleted is skipped',
    ),
    KnownError(
        r"Failed to find data source: kafka",
        "Spark's Kafka connector is not on the class path.",
        "Start Spark with the Kafka connector of its own version",
        "# spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_<Scala version>:<Spark version> ...",
    ),
    KnownError(
        r"ClassNotFoundException: com\.databricks\.sql\.streaming\.state\.RocksDBStateStoreProvider",
        "This state store exists on Databricks only.",
        "Use the RocksDB state store of Spark",
        'spark.conf.set("spark.sql.streaming.stateStore.providerClass", '
        '"org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")',
    ),
    KnownError(
        r"DELTA_SOURCE_TABLE_IGNORE_CHANGES|DELTA_SOURCE_IGNORE_DELETE|Detected a data update \(for example"
        r"|Detected deleted data \(for example",
        "Delta's source reads rows that are appended; rows of this table were changed or deleted.",
        "Skip such commits, or read the table's change data feed",
        '.option("skipChangeCommits", "true")  # on the reader: changed and deleted rows are not passed on',
    ),
    KnownError(
        r"DELTA_SCHEMA_CHANGED|Detected schema change(?: in version \d+)?:",
        "The schema of the Delta table that is read was changed.",
        "Start the query again: it then reads with the new schema",
        "# where the error comes again, the change does not fit the checkpoint: a new one is needed",
    ),
    KnownError(
        r"DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE|DELTA_MISSING_FILES_UNEXPECTED_VERSION",
        "The version of the Delta table from which the query goes on has been cleaned up.",
        "Start with a new checkpoint, and keep the table's log for longer than the query may lag behind",
        _NEW_CHECKPOINT,
    ),
    KnownError(
        r"DELTA_CONCURRENT_|\bConcurrent(?:Append|Transaction|Write|DeleteRead|DeleteDelete)Exception\b",
        "Another writer changed the Delta table at the same moment.",
        "Keep the writers apart, in time or by partition, and start the query again",
        "# DESCRIBE HISTORY <table>  -- who writes?  ConcurrentTransaction: two queries share one checkpoint",
    ),
    KnownError(
        r"UnknownTopicOrPartitionException",
        "Kafka has no such topic: it was not made yet, was deleted, or has another name.",
        "Make the topic before the query starts, and compare its name with the option subscribe",
        "# kafka-topics.sh --bootstrap-server <broker> --list",
    ),
    KnownError(
        r"A schema mismatch detected when writing to the Delta table",
        "The rows have other columns or types than the Delta table that is written.",
        "Write the columns of the table, in their types; or let the table take columns that are new",
        '.option("mergeSchema", "true")  # on the writer: takes new columns; another type stays refused',
    ),
    KnownError(
        r"cancelled because SparkContext was shut down",
        "The application was shut down while a batch ran: the query itself did not fail. Its next start runs that "
        "batch again.",
        "Stop the query before the application",
        "query.stop()  # and then spark.stop()",
    ),
    KnownError(
        r"NativeIO\$Windows",
        "Hadoop's native library for Windows is missing or is one of another version, so Spark cannot write a "
        "checkpoint there.",
        "Run it on Linux (a container, or WSL), or install winutils.exe and hadoop.dll of the version of Spark's "
        "Hadoop",
        "# HADOOP_HOME names their directory, and its bin stands in PATH",
    ),
    KnownError(
        r"(?:Reason|Py4JException): Error while (?:sending a command|obtaining a new communication channel)",
        "The Python program ended, or was ended, while a batch ran, so Spark could no longer call its function. The "
        "function itself did not fail. The next start runs that batch again.",
        "See why the Python program ended: its own output tells",
        "query.awaitTermination()  # keeps the program alive; to end it: query.stop(), and then spark.stop()",
    ),
    KnownError(
        r"FOREACH_BATCH_USER_FUNCTION_ERROR|An exception was raised by the Python Proxy",
        "The function that was given to foreachBatch raised an error; the error's reason is its own.",
        "Mend the function in foreachBatch",
        "# its own traceback stands in the error; after a restart the function gets the same batch again",
    ),
    KnownError(
        r"\bReceiverDisconnectedException\b|\bNew receiver .{0,80}?with higher epoch of '\d{1,19}' is created",
        "Of the readers of one partition in a consumer group of Event Hubs each new one disconnects the one before: "
        "another query or job, a second read of the batch, or a task that moved to another executor. Not run here.",
        "Give each query a consumer group that nothing else reads, and read a batch once in foreachBatch",
        '.setConsumerGroup("<one of its own>")  # of EventHubsConf; foreachBatch: batch.persist() before its actions',
        of_task=True,
    ),
)
"""More special ones first: the first whose text is there is taken."""

OF_ANY_JOB: Final = (
    KnownError(
        r"Timed out waiting for a node assignment|expired before the position for partition",
        "No Kafka broker answered in time.",
        "Check address, network and credentials of the brokers",
        "# kafka.bootstrap.servers, and the listeners that the brokers advertise, as driver and executors reach them",
    ),
    KnownError(
        r"java\.lang\.OutOfMemoryError",
        "The driver or an executor ran out of memory. A restart begins with the batch that it died in.",
        "First end the crash: more memory, or fewer rows per batch",
        "# which of the two died? spark.driver.memory, spark.executor.memory; "
        'Kafka: .option("maxOffsetsPerTrigger", ...)',
    ),
    KnownError(
        r"Container killed by YARN for exceeding|\bOOMKilled\b"
        r"|exited with code 137\b|[Ee]xit(?: code|Code| status):? 137\b",
        "A process was killed, most often because it used more memory than its container has.",
        "First end the crash: more memory beside the heap, or fewer rows per batch",
        "# spark.executor.memoryOverhead (spark.driver.memoryOverhead for the driver); "
        'Kafka: .option("maxOffsetsPerTrigger", ...)',
    ),
    KnownError(
        r"\bTask not serializable\b",
        "An object that a task needs cannot be sent to the executors; the error names its class.",
        "See whose class it is: an object of your own is made inside the function; one of Spark's own is a fault of "
        "this version",
        "# NotSerializableException: <the class>",
    ),
    KnownError(
        r"Python worker exited unexpectedly",
        "A Python worker died while it ran your function: killed for its memory, or by a crash in native code.",
        "First end the crash: see in the executor's log why the worker died",
        'spark.conf.set("spark.sql.execution.pyspark.udf.faulthandler.enabled", "true")  # Spark 4: prints where',
    ),
)
"""Errors that end other jobs than streams, too."""

_TEXTS: Final = {each: re.compile(each.text, re.DOTALL) for each in (*ERRORS, *OF_ANY_JOB)}


def known_error(text: str) -> KnownError | None:
    """What of ERRORS and OF_ANY_JOB the text of an error that ended a stream holds; None where it is another."""
    return next((each for each in _TEXTS if _TEXTS[each].search(text)), None)


def pattern_of(error: KnownError) -> re.Pattern[str]:
    """What the text of this error matches."""
    return _TEXTS[error]
