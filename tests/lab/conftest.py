"""The Spark of the other tests, for trials."""

from tests.spark.conftest import spark

__all__ = ["spark"]
