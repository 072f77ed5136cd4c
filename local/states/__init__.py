"""Step Functions: moto's interpreter in a process of its own, and the runner's side of it.

`engine.py` is the process, `corrections.py` corrects differences from AWS. `tasks.py` serves the
calls of state machines, and `executions.py` follows running executions.
"""
