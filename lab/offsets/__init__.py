"""The published benchmark of offset management, again: what asynchronous log purge and progress tracking save."""
