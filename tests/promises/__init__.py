"""What the steps promise, beside what was measured."""
