"""`python -m local`: see `cli.py`."""

from local.cli import app

app()
