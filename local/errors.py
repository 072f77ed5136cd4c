"""The errors of the local runtime, with messages for the person at the terminal."""


class LocalError(Exception):
    """The runtime cannot do what was requested.

    The first line of the message is a clear summary.
    """


class AssemblyError(LocalError):
    """The synthesized assembly contains a part that the runtime does not support."""

    def __init__(self, *, stack: str, logical_id: str, kind: str, fact: str) -> None:
        """Name the place in the template and the problem."""
        super().__init__(f"{stack}/{logical_id} ({kind}): {fact}")


class AlreadyRunningError(LocalError):
    """Another runtime uses the state folder."""
