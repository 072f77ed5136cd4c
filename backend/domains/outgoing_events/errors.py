"""The errors of outgoing events."""

from backend.core.errors import ConflictError


class EventNumbersDrawnError(ConflictError):
    """Another publisher drew numbers of the asset meanwhile."""

    code = "EventNumbersDrawn"

    def __init__(self) -> None:
        super().__init__("Another publisher drew numbers of the asset meanwhile")
