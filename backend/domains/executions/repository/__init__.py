"""The tables of executions, by access pattern."""
