"""How a report is shown."""
