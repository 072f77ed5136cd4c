"""Pages of a search by cursor, over the content of the indexes at the first page.

OpenSearch keeps that content as a point in time. The next page begins after the sort values of the
last hit. The fields of a document's id are the last of these, so no two hits have the same
position. Permissions are checked again for each page.

One user's cursors leave room for those of others. OpenSearch keeps at most 300 contexts per node,
and a point in time uses one for each index. OpenSearch lists the open ones, but not their users.
These are stored in one item per user, which is written when a cursor is opened. Further pages do
not access it.
"""

import hashlib
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, cast

from backend.core.clock import Clock, epoch_seconds
from backend.core.errors import (
    ConflictError,
    FieldError,
    GoneError,
    InvalidInputError,
    RateLimitedError,
    TooLargeError,
    UnavailableError,
)
from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens
from backend.core.quoting import quoted
from backend.core.search_engine import (
    JsonObject,
    PointInTimeGoneError,
    SearchEngine,
    TooManyPointsInTimeError,
)
from backend.core.tables import Tables
from backend.core.transactions import Item, Put, absent, equals
from backend.search.query.answers import Answer
from backend.search.query.hits import with_sources
from backend.search.query.models import MAX_CURSOR_CHARS, EntityType
from backend.search.query.plan import PageWindow, SearchPlan, to_opensearch
from backend.spec.keys import open_cursors
from backend.spec.search_indexes import SORT_FROM
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


_FOREIGN = "is not a cursor that a reply to this search has returned as after"


class CursorExpiredError(GoneError):
    """The search cursor has expired."""

    code = "CursorExpired"

    def __init__(self) -> None:
        fact = (
            f"has expired: a cursor is valid for {PAUSE_SECONDS} seconds after its last "
            f"page, and for {LONGEST.seconds} seconds in total; start again with an empty "
            "one"
        )
        super().__init__(f"after: {fact}", fields=(FieldError("after", fact),))


class CursorClosedError(GoneError):
    """The search cursor was closed because the same user opened others."""

    code = "CursorClosed"

    def __init__(self) -> None:
        fact = (
            f"was closed because the same user opened other cursors: at most {MAX_OPEN} "
            "can be open, and fewer while many users have some; start again with an empty "
            "one"
        )
        super().__init__(f"after: {fact}", fields=(FieldError("after", fact),))


class SearchedIndexes(NamedTuple):
    """The indexes to search, with the entity type of their documents."""

    engine: SearchEngine
    kinds: Mapping[str, EntityType]
    mapping_version: int


class _Cursor(NamedTuple):
    """The position: point in time, its indexes, when it was opened, and the last sort values."""

    point_in_time: str
    kinds: Mapping[str, EntityType]
    opened_at: str
    place: list[Any] | None = None
    mapping_version: int = SORT_FROM - 1
    """Cursors of earlier releases have none; these indexes all sort in the same way."""


@dataclass(eq=False, repr=False)
class Cursors:
    """Serves pages by cursor; a token is sealed for the caller and the query."""

    tokens: PageTokens
    clock: Clock
    places: CursorPlaces

    def read_page(self, caller: Identity, plan: SearchPlan, indexes: SearchedIndexes) -> Answer:
        """Return the page after `plan.cursor`, or the first one of a new point in time.

        If further hits follow, its notes have the cursor of the next page.

        Raises:
            InvalidInputError: the cursor was not issued to this caller for this query.
            CursorExpiredError: the point in time no longer exists, or a reindex has changed the
                order of texts.
            CursorClosedError: it was closed to open a later cursor of the caller.
            TooManyCursorsError: the limit of open cursors is reached.
            TooLargeError: the next cursor would be longer than the limit.
        """
        scope = _scope(caller, plan)
        engine = indexes.engine
        cursor = self._read(plan.cursor or "", scope)
        if cursor is None:
            point = self.places.open(caller.user_id, indexes.kinds, engine=engine)
            opened_at, version = self.clock().isoformat(), indexes.mapping_version
            cursor = _Cursor(point, indexes.kinds, opened_at, mapping_version=version)
        is_sorted = cursor.mapping_version >= SORT_FROM
        is_old = self.clock() - datetime.fromisoformat(cursor.opened_at) > LONGEST
        if is_old or is_sorted != (indexes.mapping_version >= SORT_FROM):
            close(engine, cursor.point_in_time)
            raise CursorExpiredError
        try:
            return self._read_page(cursor, plan, engine=engine, scope=scope)
        except PointInTimeGoneError:
            if self.places.was_replaced_by_later_cursor(caller.user_id, cursor.point_in_time):
                raise CursorClosedError from None
            raise CursorExpiredError from None
        except InvalidInputError:
            close(engine, cursor.point_in_time)
            raise
        except TooLargeError:
            if cursor.place is None:  # the caller has no cursor to continue with a smaller page
                close(engine, cursor.point_in_time)
            raise

    def _read_page(
        self, cursor: _Cursor, plan: SearchPlan, *, engine: SearchEngine, scope: str
    ) -> Answer:
        search = partial(engine.search_at, cursor.point_in_time, seconds=PAUSE_SECONDS)
        size = plan.window.size
        # One more hit shows whether a page follows.
        request = to_opensearch(replace(plan, window=PageWindow(size + 1, after=cursor.place)))
        response = search(request)
        hits: list[JsonObject] = response["hits"]["hits"]
        page = with_sources(hits[:size], request, search, plan.highlight)
        if len(hits) <= size:
            close(engine, cursor.point_in_time)
            return Answer(response, page, cursor.kinds)
        last = hits[size - 1]
        token = self.tokens.issue({**cursor._asdict(), "place": last["sort"]}, scope=scope)
        if len(token) > MAX_CURSOR_CHARS:
            close(engine, cursor.point_in_time)
            fact = (
                f"the values of {quoted(last['_id'], 200)} are too long for a cursor, which would "
                f"have {len(token)} characters; at most {MAX_CURSOR_CHARS} are allowed"
            )
            raise TooLargeError.of("sort", fact)
        return Answer(response, page, cursor.kinds, {"after": token})

    def close_unused(
        self, caller: Identity, plan: SearchPlan, token: str, *, engine: SearchEngine
    ) -> None:
        """Close a cursor whose page is not used."""
        cursor = self._read(token, _scope(caller, plan))
        if cursor is not None:
            close(engine, cursor.point_in_time)

    def _read(self, token: str, scope: str) -> _Cursor | None:
        if not token:
            return None
        return _Cursor(**self.tokens.read(token, scope=scope, field="after", fact=_FOREIGN))


def _scope(caller: Identity, plan: SearchPlan) -> str:
    """Return the scope of a cursor: caller and query."""
    return json.dumps(["search", caller.user_id, plan.digest])
