"""The rows that a deleted database leaves, by access pattern.

The rows of other slices are only removed here, by their keys.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.core.paging import Page, PageRequest, Position
from backend.core.tables import Query, Tables
from backend.core.transactions import Item, Write
from backend.domains.database_purges.rules import RemainingRows, scope_keys
from backend.spec.tables.metadata import SCHEMA_SCOPES

ROWS = 250
"""Rows that one step deletes."""


@dataclass(eq=False, repr=False)
class PurgeRepository:
    tables: Tables

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out writes of several services, all or nothing."""
        self.tables.transact(writes)

    def remove(
        self, remains: RemainingRows, after: Position | None, check_held: Callable[[], None]
    ) -> Page[Item]:
        """Remove a page of rows; returns their keys and where the next page begins.

        `check_held` is called between the query and the removal, and raises if the id may belong
        to another database now.
        """
        query = Query(
            table=remains.table,
            partition=remains.partition,
            index=remains.index,
            consistent=remains.index is None,
            attributes=remains.table.key_names,
        )
        page = self.tables.query(query, PageRequest(ROWS, after))
        if page.items:
            check_held()
            names = remains.table.key_names
            removed = [{name: item[name] for name in names} for item in page.items]
            self.tables.delete_many(remains.table, removed)
        return page

    def remove_scopes(self, database_id: str) -> None:
        """Remove the items that list the schemas of a database, if they exist."""
        self.tables.delete_many(SCHEMA_SCOPES, scope_keys(database_id))
