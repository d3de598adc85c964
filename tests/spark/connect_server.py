"""A Spark Connect server: `python connect_server.py PORT PLACE`; says `ready`, ends with its standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.spark.conftest import settings

if __name__ == "__main__":
    builder = SparkSession.builder
    own = {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": sys.argv[1],
    }
    for key, value in (settings(Path(sys.argv[2])) | own).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    print("ready", flush=True)
    sys.stdin.read()
    spark.stop()
