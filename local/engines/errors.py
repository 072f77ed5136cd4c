"""What can go wrong with an engine, in words for the person at the terminal."""


class EngineError(Exception):
    """An engine cannot be fetched, laid out or started; the message is one clear line first."""
