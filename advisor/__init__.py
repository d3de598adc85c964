"""Streaming latency advisor: reads Spark's streaming progress and says what is worth changing."""

__version__ = "0.1.0"
