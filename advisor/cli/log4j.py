"""`latency-advisor log4j`: the settings with which a driver writes its progress to a file."""

from __future__ import annotations

from pathlib import Path

import click

_HELP = """Print the log4j2 settings with which a Spark driver writes its progress events to a file.

On Spark 4 PySpark's console shows nothing below WARN, whatever its level, so progress has to go to a file. Save what
this prints as log4j2.properties; its first lines say how the driver is started with it.

\b
Example:
  latency-advisor log4j --log /var/log/orders/driver.log > log4j2.properties
"""


@click.command(help=_HELP, short_help="Print settings for a driver log that shows progress.")
@click.option("--log", default="driver.log", show_default=True, metavar="FILE", help="Where the driver writes its log.")
@click.option("--output", metavar="FILE", help="Write the output to this file.")
def log4j(log: str, output: str | None) -> None:
    """Print the file."""
    from advisor.cli.output import put
    from advisor.driverlog import log4j_settings

    put(log4j_settings(Path(log).absolute()), {"output": output})
