"""Moves events between the engines and the functions, as AWS does internally."""
