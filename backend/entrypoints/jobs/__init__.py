"""The functions that start and run jobs."""
