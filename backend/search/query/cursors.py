"""Pages of a search by cursor, over the content of the indexes at the first page.

OpenSearch keeps that content as a point in time. The next page begins after the sort values of the
last hit. The fields of a document's id are the last of these, so no two hits have the same
position. Permissions are checked again for each page.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
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
from backend.search.query.cursor_places import LONGEST, MAX_OPEN, PAUSE_SECONDS, CursorPlaces, close
from backend.search.query.hits import with_document_sizes, with_sources
from backend.search.query.models import MAX_CURSOR_CHARS, EntityType, SearchBody
from backend.search.query.queries import page_of

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


class FoundPage(NamedTuple):
    """OpenSearch's response, the kind of each index, and the cursor of the next page."""

    answer: JsonObject
    kinds: Mapping[str, EntityType]
    after: str | None


class _Cursor(NamedTuple):
    """The position: point in time, its indexes, when it was opened, and the last sort values."""

    point_in_time: str
    kinds: Mapping[str, EntityType]
    opened_at: str
    place: list[Any] | None = None


@dataclass(eq=False, repr=False)
class Cursors:
    """Serves pages by cursor; a token is sealed for the caller and the query."""

    tokens: PageTokens
    clock: Clock
    places: CursorPlaces

    def page(
        self,
        caller: Identity,
        body: SearchBody,
        request: JsonObject,
        *,
        engine: SearchEngine,
        kinds: Mapping[str, EntityType],
    ) -> FoundPage:
        """Return the page after `body.after`, or the first one of a new point in time.

        Raises:
            InvalidInputError: the cursor was not issued to this caller for this query.
            CursorExpiredError: the point in time no longer exists.
            CursorClosedError: it was closed to open a later cursor of the caller.
            TooManyCursorsError: the limit of open cursors is reached.
            TooLargeError: the next cursor would be longer than the limit.
        """
        scope = _scope(caller, body)
        cursor = self._read(body.after or "", scope) or self._opened(caller, engine, kinds)
        if self.clock() - datetime.fromisoformat(cursor.opened_at) > LONGEST:
            close(engine, cursor.point_in_time)
            raise CursorExpiredError
        try:
            return self._page(cursor, body, request, engine=engine, scope=scope)
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

    def _page(
        self,
        cursor: _Cursor,
        body: SearchBody,
        request: JsonObject,
        *,
        engine: SearchEngine,
        scope: str,
    ) -> FoundPage:
        search = partial(engine.search_at, cursor.point_in_time, seconds=PAUSE_SECONDS)
        page = page_of(request, size=body.size, after=cursor.place)
        answer = search(with_document_sizes(page))
        found: JsonObject = answer["hits"]
        hits: list[JsonObject] = found["hits"][: body.size]
        last = hits[-1] if len(found["hits"]) > body.size else None
        found["hits"] = with_sources(hits, page, search)
        if last is None:
            close(engine, cursor.point_in_time)
            return FoundPage(answer, cursor.kinds, None)
        token = self.tokens.issue({**cursor._asdict(), "place": last["sort"]}, scope=scope)
        if len(token) > MAX_CURSOR_CHARS:
            close(engine, cursor.point_in_time)
            raise _too_long_error(last, len(token))
        return FoundPage(answer, cursor.kinds, token)

    def close_unused(
        self, caller: Identity, body: SearchBody, token: str, *, engine: SearchEngine
    ) -> None:
        """Close a cursor whose page is not used."""
        cursor = self._read(token, _scope(caller, body))
        if cursor is not None:
            close(engine, cursor.point_in_time)

    def _opened(
        self, caller: Identity, engine: SearchEngine, kinds: Mapping[str, EntityType]
    ) -> _Cursor:
        opened = self.places.open(caller.user_id, kinds, engine=engine)
        return _Cursor(opened, kinds, self.clock().isoformat())

    def _read(self, token: str, scope: str) -> _Cursor | None:
        if not token:
            return None
        return _Cursor(**self.tokens.read(token, scope=scope, field="after", fact=_FOREIGN))


def _too_long_error(last: JsonObject, size: int) -> TooLargeError:
    """Return the error for a cursor that is too long for a request, due to long sort values."""
    fact = (
        f"the values of {quoted(last['_id'], 200)} are too long for a cursor, which would have "
        f"{size} characters; at most {MAX_CURSOR_CHARS} are allowed"
    )
    return TooLargeError.of("sort", fact)


def _scope(caller: Identity, body: SearchBody) -> str:
    """Return the scope of a cursor: caller and query. The page size may change."""
    query = body.model_dump_json(by_alias=True, exclude={"after", "size", "tokens", "operation"})
    return json.dumps(["search", caller.user_id, hashlib.sha256(query.encode()).hexdigest()])
