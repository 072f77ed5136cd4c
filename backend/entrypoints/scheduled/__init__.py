"""The functions that run by a schedule, one module each."""
