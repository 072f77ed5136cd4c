"""The cursor of a purge."""

from backend.core.models import WireModel


class PurgeCursor(WireModel):
    """In which sweep, at which of its parts, after which position of that part.

    `found` counts what this sweep has removed.
    """

    sweep: int = 0
    part: int = 0
    after: dict[str, str] | None = None
    found: int = 0
