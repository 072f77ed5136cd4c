"""The port to DynamoDB tables. `backend/aws/tables.py` implements it; declarations name tables."""

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Protocol

from backend.core.paging import Page, PageRequest
from backend.core.transactions import Item, Key, Write
from backend.spec.tables.model import Index, Table
from backend.values import frozen


@frozen
class Query:
    """A query for items of one partition of a table or index, in the order of the sort key.

    `sort_prefix` selects items by the beginning of the sort key, `sort_equals` one item, and
    `sort_between` those from the first to the second value, inclusive; at most one of them may be
    set. `consistent` is not allowed for a global index, which is eventually consistent.
    """

    _: KW_ONLY
    table: Table
    partition: str
    index: Index | None = None
    sort_prefix: str | None = None
    sort_equals: str | None = None
    sort_between: tuple[str, str] | None = None
    newest_first: bool = False
    consistent: bool = False
    attributes: tuple[str, ...] = ()


class Tables(Protocol):
    """Reads and writes items. All may raise UnavailableError.

    Writes raise the `refused` error of the failing write (ConflictError by default),
    InvalidInputError for keys that DynamoDB does not accept and numbers beyond 38 digits, and
    TooLargeError for an item over 400 KB; nothing is written then.

    A write whose reply is lost may be sent again by the SDK. It is carried out once and does not
    conflict with itself, unless another single write changed the item between both attempts.
    """

    def get(self, table: Table, key: Key, *, consistent: bool = True) -> Item | None: ...

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        """Return items of any tables in no order, read in batches of 100, without missing ones."""
        ...

    def query(self, query: Query, page: PageRequest) -> Page[Item]: ...

    def query_all(self, query: Query) -> list[Item]:
        """Return the whole partition, read with as many requests as necessary."""
        ...

    def scan(self, table: Table, page: PageRequest, *, consistent: bool = True) -> Page[Item]:
        """Return a page of a registry table. Not for tables that grow with assets or files."""
        ...

    def write(self, write: Write) -> Item | None:
        """Carry out one write; an update returns the new item."""
        ...

    def increment(self, table: Table, key: Key, attribute: str, *, initial: int) -> Item:
        """Add one to a number in one atomic step; return the whole new item.

        A missing number counts as `initial`, so the first result is `initial + 1`. If a reply is
        lost, a number is skipped; no number is returned twice.
        """
        ...

    def transact(self, writes: Sequence[Write]) -> None:
        """Carry out all of the writes (at most 100) or none."""
        ...

    def put_many(self, table: Table, items: Sequence[Item]) -> None:
        """Put items without conditions, in batches; not atomic as a whole."""
        ...

    def delete_many(self, table: Table, keys: Sequence[Key]) -> None:
        """Delete items without conditions, in batches; not atomic as a whole."""
        ...
