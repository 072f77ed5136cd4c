"""The errors of engines, with messages for the person at the terminal."""


class EngineError(Exception):
    """An engine cannot be downloaded, installed or started.

    The message begins with a one-line summary.
    """
