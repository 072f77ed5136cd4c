"""`python -m local`: see `cli.py`."""

import os
import signal


def interrupt(*_: object) -> None:
    """End at Ctrl-C, unless a command handles it; some modules would replace an exception by one of
    their own while they are imported.
    """
    os.write(2, b"interrupted\n")
    os._exit(128 + signal.SIGINT)


signal.signal(signal.SIGINT, interrupt)

from local.cli import app  # noqa: E402

app()
