"""Counts of what a user does in a minute, in one table: the limits hold for all processes."""

from backend.core.tables import Tables
from backend.core.transactions import Update
from backend.spec.tables.operations import RESERVATIONS

# Time for which a count is stored; only its minute reads it.
_KEPT_SECONDS = 3600


def count_in_minute(tables: Tables, kind: str, user_id: str, added: int, *, minute: int) -> int:
    """Add to the count of a user in this minute (of all since 1970); return the sum."""
    item = tables.write(
        Update(
            table=RESERVATIONS,
            key={RESERVATIONS.partition_key.name: f"{kind}#{user_id}#{minute}"},
            add={"count": added},
            set={"expiresAt": minute * 60 + _KEPT_SECONDS},
        )
    )
    return int((item or {})["count"])
