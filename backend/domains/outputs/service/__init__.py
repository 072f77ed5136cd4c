"""Stores the outputs of executions."""
