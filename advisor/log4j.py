"""The log4j2 settings with which a Spark driver writes its progress events to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LARGEST_MB: Final = 100
KEPT: Final = 10
"""Older files of that size that are kept beside the one that is written."""

_SETTINGS: Final = """\
# Progress events of Spark's structured streaming, and what the advisor reads beside them, go to a file at INFO.
# Its clock has milliseconds: they tell when in a batch the driver worked alone.
# The console keeps what it had: PySpark's shows nothing below WARN, whatever its level.
{used}
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
rootLogger.appenderRef.console.ref = console
rootLogger.appenderRef.console.level = warn

appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {log}
appender.file.filePattern = {log}.%i
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = {largest}MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = {kept}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{yy/MM/dd HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex

appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""
_USED: Final = """\
#
# Save it as log4j2.properties, and start the driver with the Java option
#   OPTION=-Dlog4j2.configurationFile=file:/path/to/log4j2.properties
# in one of these ways:
#   spark-submit --driver-java-options "$OPTION" app.py
#   PYSPARK_SUBMIT_ARGS="--driver-java-options $OPTION pyspark-shell" python app.py
#   SparkSession.builder.config("spark.driver.extraJavaOptions", OPTION)
# Then: latency-advisor analyze {log}
"""


def log4j_settings(log: str | Path) -> str:
    """A log4j2 properties file that writes the driver's log to the file `log`, 100 MB at a time, the last ten kept.

    Its comments say how it is used.
    """
    used = _USED.format(log=log)
    return _SETTINGS.format(log=log, used=used, largest=LARGEST_MB, kept=KEPT)
