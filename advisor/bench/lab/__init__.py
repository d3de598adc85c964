"""The laboratory: a Kafka broker, an S3 server, load at a constant rate, and the latency of records."""
