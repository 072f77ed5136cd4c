"""Functions that the state machine of executions calls."""
