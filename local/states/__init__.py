"""Step Functions: moto's interpreter in a process of its own, and the runner's side of it.

`engine.py` is the process, `corrections.py` corrects what differs from AWS. `tasks.py` answers the
calls that state machines make, `executions.py` follows which executions run, `machines.py` creates
the state machines of the templates.
"""
