"""`python -m local`: see `cli.py`."""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports prints no traceback

from local.cli import app  # noqa: E402

signal.signal(signal.SIGINT, signal.default_int_handler)
app()
