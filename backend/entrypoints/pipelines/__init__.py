"""The functions that the state machine of executions calls."""
