"""The forms in which progress is handed around besides the driver's own log."""
