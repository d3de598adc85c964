"""Read a running session: its events, and what only a session knows, become the two tables.

Nothing here is imported before `attach` is called; only `callbacks` needs PySpark.
"""
