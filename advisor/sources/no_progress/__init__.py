"""What is said of a text without progress: what it is, which figures it tells all the same, and what to bring."""
