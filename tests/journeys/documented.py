"""Commands of the README and the guides that journeys run anyway.

A journey takes its command from here, so that `docs/test_commands.py` runs only the others.
"""

LOCAL = ".venv/bin/python -m local "
UP = f"{LOCAL}up --detach"
DOWN = f"{LOCAL}down"
RUN_BY_JOURNEYS = {UP, DOWN}
