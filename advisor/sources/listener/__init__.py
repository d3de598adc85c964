"""A running session as a source: its events, and what it alone can tell, become the two tables.

Nothing here is imported before `attach` is called; only `callbacks` needs PySpark.
"""
