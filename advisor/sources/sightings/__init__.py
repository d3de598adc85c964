"""Read facts from a log's other lines: how a query started, its settings, its plan, its errors, its task slots."""
