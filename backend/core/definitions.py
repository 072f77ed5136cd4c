"""Stored pipelines and workflows: active ones by database, and the last deleted one of each id."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from pydantic import field_validator

from backend.core.errors import RevisionConflictError
from backend.core.models import WireModel
from backend.core.paging import Page, PageRequest, fill
from backend.core.tables import Query, Tables
from backend.core.transactions import Condition, Delete, Item, Key, Put, Write, absent, equals
from backend.spec.keys import active, archived
from backend.spec.tables.model import Table

REVISION = "revision"


class DefinitionRef(NamedTuple):
    """A pipeline or workflow."""

    database_id: str
    definition_id: str


class Deletable(WireModel):
    """A row that is kept after its deletion, under its database's id with a suffix.

    `revision` is an addition to the data model: how often the row was stored.
    """

    database_id: str
    revision: int = 1
    deleted_at: str | None = None
    deleted_by: str | None = None

    @field_validator("database_id")
    @classmethod
    def without_suffix(cls, value: str) -> str:
        return active(value)

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def partition(self) -> str:
        """Return the partition of the row: the database's id, with the suffix of deleted items."""
        return archived(self.database_id) if self.is_deleted else self.database_id


class StoredDefinition(Deletable):
    """A definition as stored.

    `shipped` is ours: whether it is unchanged since the product created it.
    """

    shipped: bool = False


D = TypeVar("D", bound=StoredDefinition)


@dataclass(eq=False, repr=False)
class Definitions(Generic[D]):
    """A table of definitions; `changed` is the refusal of a write to a row that was changed."""

    tables: Tables
    table: Table
    model: type[D]
    changed: Callable[[str], RevisionConflictError]

    def get(self, database_id: str, one_id: str, *, deleted: bool = False) -> D | None:
        """Return the active definition, or else the last deleted one with that id."""
        partition = archived(database_id) if deleted else database_id
        item = self.tables.get(self.table, self._key(partition, one_id))
        return None if item is None else self.model.model_validate(item)

    def get_many(self, wanted: Sequence[DefinitionRef]) -> dict[DefinitionRef, D]:
        """Return the active definitions by database and id, in no order, without missing ones."""
        places = {reference: self._key(*reference) for reference in wanted}
        rows = self.tables.get_many([(self.table, key) for key in places.values()])
        definitions = [self.model.model_validate(item) for _, item in rows]
        return {
            DefinitionRef(definition.database_id, self.id_of(definition)): definition
            for definition in definitions
        }

    def list_visible(
        self,
        page: PageRequest,
        may_see: Callable[[D], bool],
        *,
        database_id: str | None,
        deleted: bool,
    ) -> Page[D]:
        """List active or deleted definitions.

        Those of a database are in the order of their ids, those of all databases in no order.
        """

        def fetch(request: PageRequest) -> Page[D]:
            if database_id is None:
                rows = self.tables.scan(self.table, request)
            else:
                partition = archived(database_id) if deleted else database_id
                query = Query(table=self.table, partition=partition, consistent=True)
                rows = self.tables.query(query, request)
            return rows.map(self.model.model_validate)

        def visible(definition: D) -> bool:
            return definition.is_deleted == deleted and may_see(definition)

        return fill(fetch, page, visible=visible, position_of=self.key_of)

    def create_write(self, definition: D) -> Put:
        """Return the write of a new definition; refused with `changed` if its id is in use."""
        return self._put(definition, absent(self.table.partition_key.name))

    def change_write(self, stored: D, changed: D) -> Put:
        """Return the write that replaces a row; refused with `changed` if the row was changed."""
        now = changed.model_copy(update={REVISION: stored.revision + 1})
        return self._put(now, equals(REVISION, stored.revision))

    def deletion_writes(self, stored: D, deleted: D) -> list[Write]:
        """Return the writes that replace the row by that of a deleted definition."""
        gone = Delete(
            table=self.table,
            key=self.key_of(stored),
            conditions=(equals(REVISION, stored.revision),),
            refused=self.changed(self.id_of(stored)),
        )
        return [gone, Put(table=self.table, item=self._row(deleted))]

    def commit(self, writes: Sequence[Write]) -> None:
        """Carry out writes of several services, all or nothing."""
        self.tables.transact(writes)

    def id_of(self, definition: D) -> str:
        return self.key_of(definition)[self.table.key_names[1]]

    def key_of(self, definition: D) -> dict[str, str]:
        """Return the key of the row, which is also the position of a list after it."""
        row = self._row(definition)
        return {name: row[name] for name in self.table.key_names}

    def _put(self, definition: D, condition: Condition) -> Put:
        return Put(
            table=self.table,
            item=self._row(definition),
            conditions=(condition,),
            refused=self.changed(self.id_of(definition)),
        )

    def _row(self, definition: D) -> Item:
        row = definition.model_dump(by_alias=True, exclude_none=True)
        return row | {self.table.partition_key.name: definition.partition}

    def _key(self, partition: str, one_id: str) -> Key:
        return dict(zip(self.table.key_names, (partition, one_id), strict=True))
