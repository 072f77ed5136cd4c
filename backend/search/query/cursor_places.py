"""The points in time of each user, so that one user's cursors leave room for those of others.

OpenSearch keeps at most 300 contexts per node, and a point in time uses one for each index.
OpenSearch lists the open ones, but not their users. These are stored in one item per user, which is
written when a cursor is opened. Further pages do not access it.
"""

import hashlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple, cast

from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import ConflictError, RateLimitedError, UnavailableError
from backend.core.search_engine import SearchEngine, TooManyPointsInTimeError
from backend.core.tables import Tables
from backend.core.transactions import Item, Put, absent, equals
from backend.spec.keys import open_cursors
from backend.spec.tables.operations import RESERVATIONS

# Open cursors of one user; the next one closes the oldest. Ten users at their limit leave the last
# 40 places (`FOR_OTHERS`).
MAX_OPEN = 10
# Maximum number of open cursors over both indexes. A node allows 300 search contexts, and each
# cursor uses two. Users who open cursors at the same moment are counted only afterwards.
PLACES = 140
# Of these last places, each is for a user without a cursor; others must close their oldest one.
FOR_OTHERS = 40
# Time for which OpenSearch keeps a point in time without requests, and so the time that a client
# has between two pages. An abandoned cursor takes a place no longer than this.
PAUSE_SECONDS = 60
# Maximum lifetime of a cursor. A point in time uses resources of the domain, and its results become
# outdated.
LONGEST = timedelta(hours=1)

# Digests that distinguish closed cursors from expired ones; ten times the open ones.
_KEPT_CLOSED = 100
_ATTEMPTS = 10
# 96 bits in base 16.
_DIGEST_CHARS = 24


class TooManyCursorsError(RateLimitedError):
    """The limit of open search cursors is reached."""

    code = "TooManyCursors"

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            "The limit of open search cursors is reached; try again later",
            retry_after=retry_after,
        )


class _UserCursors(NamedTuple):
    """The cursors of a user: open points in time, oldest first, and digests of closed ones."""

    opened: list[str]
    closed: list[str]
    revision: int = 0


@dataclass(eq=False, repr=False)
class CursorPlaces:
    """Opens points in time for cursors, within the limit of each user."""

    tables: Tables
    clock: Clock

    def open(self, user_id: str, indexes: Collection[str], *, engine: SearchEngine) -> str:
        """Open a point in time over indexes, and close the user's oldest ones beyond the limit.

        Raises:
            TooManyCursorsError: the limit is reached.
        """
        held, open_now = self._held(user_id), engine.points_in_time()
        # A user with an open cursor closes its oldest one instead.
        if len(open_now) >= PLACES and not open_now.intersection(held.opened):
            raise TooManyCursorsError(PAUSE_SECONDS)
        try:
            opened = engine.open_point_in_time(tuple(indexes), seconds=PAUSE_SECONDS)
        except TooManyPointsInTimeError as error:
            raise TooManyCursorsError(PAUSE_SECONDS) from error
        for _ in range(_ATTEMPTS):  # by hand: all attempts add the same point in time
            mine = [place for place in held.opened if place in open_now]
            surplus = max(0, len(mine) + 1 - MAX_OPEN)
            if len(open_now) >= PLACES - FOR_OTHERS:  # few are free in the cluster
                surplus = max(surplus, min(len(mine), 1))
            beyond = mine[:surplus]
            kept = [*mine[len(beyond) :], opened]
            closed = [*held.closed, *map(_digest, beyond)][-_KEPT_CLOSED:]
            if self._replace_cursors(user_id, held, _UserCursors(kept, closed, held.revision + 1)):
                for place in beyond:
                    close(engine, place)
                return opened
            # In this order: points in time in the item were open before OpenSearch lists the open
            # ones.
            held, open_now = self._held(user_id), engine.points_in_time()
        close(engine, opened)
        raise TooManyCursorsError(1)

    def was_replaced_by_later_cursor(self, user_id: str, point_in_time: str) -> bool:
        """Return whether the cursor was closed to open a later one of the same user."""
        return _digest(point_in_time) in self._held(user_id).closed

    def _held(self, user_id: str) -> _UserCursors:
        item = self.tables.get(RESERVATIONS, _key(user_id)) or {}
        opened = cast("list[str]", item.get("opened", []))
        closed = cast("list[str]", item.get("closed", []))
        return _UserCursors(list(opened), list(closed), int(item.get("revision", 0)))

    def _replace_cursors(self, user_id: str, held: _UserCursors, new: _UserCursors) -> bool:
        """Write the cursors of a user; return False if another request of the user was faster."""
        ends = epoch_seconds(self.clock() + LONGEST)
        item: Item = {**_key(user_id), **new._asdict(), "expiresAt": ends}
        unchanged = equals("revision", held.revision) if held.revision else absent("revision")
        refused = _ChangedError(
            "The cursors of this user were changed by another request; try again"
        )
        try:
            self.tables.write(
                Put(table=RESERVATIONS, item=item, conditions=(unchanged,), refused=refused)
            )
        except _ChangedError:
            return False
        return True


class _ChangedError(ConflictError):
    """Another request of the user has opened a cursor."""


def close(engine: SearchEngine, point_in_time: str) -> None:
    """Close a point in time."""
    # A point in time that stays open expires by itself.
    with suppress(UnavailableError):
        engine.close_point_in_time(point_in_time)


def _key(user_id: str) -> dict[str, Any]:
    return {RESERVATIONS.partition_key.name: open_cursors(user_id)}


def _digest(point_in_time: str) -> str:
    return hashlib.sha256(point_in_time.encode()).hexdigest()[:_DIGEST_CHARS]
