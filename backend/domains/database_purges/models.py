"""The progress of a purge."""

from backend.core.models import WireModel


class PurgeCursor(WireModel):
    """The position of a purge: sweep, part of the sweep, and position in that part.

    `found` counts what this sweep has removed.
    """

    sweep: int = 0
    part: int = 0
    after: dict[str, str] | None = None
    found: int = 0
