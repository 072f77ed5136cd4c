"""Executions of workflows on assets."""
