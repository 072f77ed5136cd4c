"""Checks and repairs of the indexes, rebuilding them, and replays of abandoned batches."""
