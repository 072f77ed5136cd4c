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
    """Items of one partition of a table or index, in the order of the sort key.

    `sort_prefix` keeps those whose sort key begins so; `sort_equals` just that one; `sort_between`
    those from the first to the second, both included. At most one of them is given. `consistent` is
    refused for a global index, which lags.
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

    Writes raise what `refused` of the failing write holds (ConflictError where it holds nothing),
    InvalidInputError for keys that DynamoDB does not take and numbers beyond 38 digits, and
    TooLargeError for an item over 400 KB; nothing is written then.

    A write whose reply is lost may be sent again by the SDK. It is carried out once and does not
    conflict with itself, unless another single write changed the item between both attempts.
    """

    def get(self, table: Table, key: Key, *, consistent: bool = True) -> Item | None: ...

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        """Items of any tables in batches of 100; absent ones are left out, order is not kept."""
        ...

    def query(self, query: Query, page: PageRequest) -> Page[Item]: ...

    def query_all(self, query: Query) -> list[Item]:
        """The whole partition, over as many requests as that takes."""
        ...

    def scan(self, table: Table, page: PageRequest) -> Page[Item]:
        """A page of a registry table; never of one that grows with assets or files."""
        ...

    def write(self, write: Write) -> Item | None:
        """Carry out one write; an update answers with the new item."""
        ...

    def increment(self, table: Table, key: Key, attribute: str, *, initial: int) -> Item:
        """Add one to a number in one atomic step; answers with the whole new item.

        An absent number counts as `initial`, so that the first answer is `initial + 1`. Where the
        reply is lost, a number is left out; none is returned twice.
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
