"""What logs tell of the jobs, stages and tasks inside a batch."""
