"""What can go wrong in the local runtime, in words for the person at the terminal."""


class LocalError(Exception):
    """The runtime cannot do what it was asked; the message is one clear line first."""


class AssemblyError(LocalError):
    """The synthesized assembly holds something that the runtime does not know or cannot resolve."""

    def __init__(self, *, stack: str, logical_id: str, kind: str, fact: str) -> None:
        """Name the place in the template and the fact."""
        super().__init__(f"{stack}/{logical_id} ({kind}): {fact}")


class AlreadyRunningError(LocalError):
    """Another runtime holds the data folder."""
