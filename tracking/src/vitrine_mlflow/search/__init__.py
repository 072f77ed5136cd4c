"""Searches over experiments and runs."""
