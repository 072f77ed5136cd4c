"""The functions that start and do long work."""
