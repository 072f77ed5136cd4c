"""Pages of lists: requests, results, and how a page that is filtered by permissions is filled."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel

T = TypeVar("T")
U = TypeVar("U")

Position = Mapping[str, Any]
"""The position where a page ended, as plain JSON values. The page token contains it, sealed."""

# Rows that one request reads to fill a page, if permissions hide some of them. With the time below
# it bounds a request whose caller sees little; the next page continues there (the contract).
MAX_ROWS_PER_PAGE = 5000
# Time after which a page reads no further rows; reads in progress are completed. A request has 24
# seconds (decision 39).
MAX_TIME_PER_PAGE = timedelta(seconds=2)
# Size of items, as `bytes_in_reply` counts them, at which a page ends. A Lambda function may return
# 6 MB, some lists appear twice in a reply (`LegacyEnvelope`), and the last item may be large.
MAX_BYTES_PER_PAGE = 2 * 1024 * 1024
# Rows read at once while few are visible: DynamoDB returns at most 1 MB anyway.
_MAX_ROWS_AT_ONCE = 500


class PageRequest(NamedTuple):
    """At most `limit` items, after the position where the last page ended."""

    limit: int
    after: Position | None = None


class Page(NamedTuple, Generic[T]):
    """Items in order; `after` is absent on the last page, which may be empty."""

    items: tuple[T, ...]
    after: Position | None = None

    def map(self, convert: Callable[[T], U]) -> "Page[U]":
        """Return the page with each item converted."""
        return Page(tuple(map(convert, self.items)), self.after)


def all_items(fetch: Callable[[PageRequest], Page[T]], size: int) -> Iterator[T]:
    """Yield the items of all pages of a list; each page is read when it is reached."""
    request = PageRequest(size)
    while True:
        page = fetch(request)
        yield from page.items
        if page.after is None:
            return
        request = PageRequest(size, page.after)


def bytes_in_reply(text: str) -> int:
    """Return the size of a body in a function's response: as a text within JSON."""
    return len(text.encode()) + text.count('"') + text.count("\\")


def text_bytes(text: str) -> int:
    """Return the size of a text in a reply: a quote needs four bytes, a control character seven."""
    return bytes_in_reply(json.dumps(text, ensure_ascii=False))


def json_bytes(item: object) -> int:
    """Return the size of a model in a reply; other values count as small."""
    return bytes_in_reply(item.model_dump_json()) if isinstance(item, BaseModel) else 0


def fill(
    fetch: Callable[[PageRequest], Page[T]],
    request: PageRequest,
    *,
    visible: Callable[[T], bool],
    position_of: Callable[[T], Position],
    size_of: Callable[[T], int] = json_bytes,
    seconds: Callable[[], float] = monotonic,
) -> Page[T]:
    """Return a page with `limit` visible items, read with as many requests as necessary.

    `position_of` returns the position after an item. A full page always has one, so the last page
    may be empty. A page is shorter only at the end of the list, after `MAX_ROWS_PER_PAGE` rows,
    after `MAX_TIME_PER_PAGE`, or when its items reach `MAX_BYTES_PER_PAGE` by `size_of`. If few
    items are visible, the number of items read at once increases.
    """
    items: list[T] = []
    room = MAX_BYTES_PER_PAGE
    until, size = seconds() + MAX_TIME_PER_PAGE.total_seconds(), request.limit
    after, rows = request.after, 0
    while True:
        page = fetch(PageRequest(size, after))
        rows += len(page.items)
        for item in page.items:
            if not visible(item):
                continue
            items.append(item)
            room -= size_of(item)
            if len(items) == request.limit or room <= 0:
                # Also at the end of the list: a caller must not learn whether hidden rows follow.
                return Page(tuple(items), position_of(item))
        after = page.after
        if after is None or rows >= MAX_ROWS_PER_PAGE or seconds() >= until:
            return Page(tuple(items), after)
        size = max(size, min(2 * size, _MAX_ROWS_AT_ONCE))
