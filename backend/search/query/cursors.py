"""Pages of a search by cursor, over the content of the indexes at the first page.

OpenSearch keeps that content as a point in time. The next page begins after the sort values of the
last hit. The fields of a document's id are the last of these, so no two hits have the same
position. Permissions are checked again for each page.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from backend.core.clock import Clock
from backend.core.errors import (
    FieldError,
    GoneError,
    InvalidInputError,
    TooLargeError,
)
from backend.core.identity import Identity
from backend.core.page_tokens import PageTokens
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject, PointInTimeGoneError, SearchEngine
from backend.search.query.answers import Answer
from backend.search.query.cursor_places import LONGEST, MAX_OPEN, PAUSE_SECONDS, CursorPlaces, close
from backend.search.query.hits import with_sources
from backend.search.query.models import MAX_CURSOR_CHARS, EntityType
from backend.search.query.plan import PageWindow, SearchPlan, to_opensearch
from backend.spec.search_indexes import SORT_FROM

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
