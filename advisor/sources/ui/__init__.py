"""Read a running driver's web pages, and a History Server's logs, into the tables that a log fills.

`web` asks the server, `pages` reads Spark's HTML, `rest` its JSON; `driver` makes the tables of them.
"""
