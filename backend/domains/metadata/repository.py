"""The tables of metadata and attributes, by access pattern."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from backend.core.errors import ConflictError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Delete,
    Item,
    Put,
    Write,
    exists,
    put_new,
)
from backend.domains.metadata.models import Entity, Record
from backend.spec import keys
from backend.spec.tables import metadata as tables_of_metadata
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS
from backend.spec.tables.model import Index, Table

T = TypeVar("T")

_TRANSACTION_BYTES = 3_500_000  # DynamoDB takes 4 MB a transaction
_ATTEMPTS = 5  # of a write whose keys others add or remove at the same time


class RecordsBusyError(ConflictError):
    """Others add and remove the same keys all the time."""

    code = "MetadataBusy"

    def __init__(self) -> None:
        super().__init__("Others change the same keys at the same time; try again")


class _KeyStateError(ConflictError):
    """A key was there that should not be, or the other way round."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The table of one kind of records and the names of its attributes."""

    table: Table
    by_entity: Index
    key: str
    value: str
    value_type: str


_PLACES = {
    "metadata": _Place(
        tables_of_metadata.ASSET_FILE_METADATA,
        tables_of_metadata.FILE_METADATA_BY_FILE,
        "metadataKey",
        "metadataValue",
        "metadataValueType",
    ),
    "attribute": _Place(
        tables_of_metadata.FILE_ATTRIBUTES,
        tables_of_metadata.ATTRIBUTES_BY_FILE,
        "attributeKey",
        "attributeValue",
        "attributeValueType",
    ),
}


@dataclass(frozen=True, slots=True)
class MetadataRepository:
    """Records of entities. Lists are read from an index, which lags behind writes."""

    tables: Tables

    def list_of(self, entity: Entity, page: PageRequest) -> Page[Record]:
        """Records in the order of their keys."""
        place = _PLACES[entity.kind]
        query = Query(table=place.table, partition=_sort_key(entity), index=place.by_entity)
        found = self.tables.query(query, page)
        return Page(tuple(_record(place, item) for item in found.items), found.after)

    def list_snapshot(
        self, entity: Entity, asset_version_id: str, page: PageRequest
    ) -> Page[Record]:
        """Records as a version of the asset keeps them, in the order of their keys."""
        query = Query(
            table=ASSET_FILE_METADATA_VERSIONS,
            partition=keys.ASSET_VERSION.build(
                entity.database_id, entity.asset_id, asset_version_id
            ),
            sort_prefix=keys.SNAPSHOT.prefix(entity.kind, entity.path),
            consistent=True,
        )
        found = self.tables.query(query, page)
        return Page(tuple(Record.model_validate(item) for item in found.items), found.after)

    def keys_of(self, entity: Entity) -> set[str]:
        """The keys that the index knows of."""
        place = _PLACES[entity.kind]
        query = Query(
            table=place.table,
            partition=_sort_key(entity),
            index=place.by_entity,
            attributes=(place.key,),
        )
        return {item[place.key] for item in self.tables.query_all(query)}

    def add(self, entity: Entity, records: Sequence[Record]) -> set[str]:
        """Put records whose keys are free; answers with the keys that were not.

        Up to 100 records go in one transaction: if a key in it is taken, the others go again.

        Raises:
            RecordsBusyError: keys come and go at the same time.
        """
        place = _PLACES[entity.kind]
        items = {record.metadata_key: item_of(entity, record) for record in records}
        taken = _KeyStateError("a key is taken")

        def attempt(wanted: Sequence[str]) -> Sequence[Write]:
            return [put_new(place.table, items[key], taken) for key in wanted]

        batches = _batches(list(items), lambda key: _size(items[key]))
        return self._apart(entity, batches, attempt, refuse=lambda key, there: key in there)

    def remove(self, entity: Entity, wanted: Sequence[str]) -> set[str]:
        """Remove records that are there; answers with the keys that were not.

        Raises:
            RecordsBusyError: keys come and go at the same time.
        """
        place = _PLACES[entity.kind]
        missing = _KeyStateError("a key is not there")

        def attempt(some: Sequence[str]) -> Sequence[Write]:
            return [
                Delete(
                    table=place.table,
                    key=_key(entity, key),
                    conditions=(exists(place.key),),
                    refused=missing,
                )
                for key in some
            ]

        batches = _batches(wanted, len)
        return self._apart(entity, batches, attempt, refuse=lambda key, there: key not in there)

    def replace(self, entity: Entity, records: Sequence[Record], gone: Iterable[str] = ()) -> None:
        """Put records whatever is there and remove others; atomic for each hundred."""
        place = _PLACES[entity.kind]
        writes: list[Write] = [
            Put(table=place.table, item=item_of(entity, record)) for record in records
        ]
        writes += [Delete(table=place.table, key=_key(entity, key)) for key in gone]
        for batch in _batches(writes, lambda w: _size(w.item) if isinstance(w, Put) else 0):
            self._carry_out(batch)

    def _apart(
        self,
        entity: Entity,
        batches: Iterable[list[str]],
        writes_for: Callable[[Sequence[str]], Sequence[Write]],
        *,
        refuse: Callable[[str, set[str]], bool],
    ) -> set[str]:
        """Write what can be written; answers with the keys that cannot."""
        refused: set[str] = set()
        for batch in batches:
            pending = batch
            for _ in range(_ATTEMPTS):
                if self._carried_out(writes_for(pending)):
                    break
                there = self._present(entity, pending)
                refused |= {key for key in pending if refuse(key, there)}
                pending = [key for key in pending if key not in refused]
            else:
                raise RecordsBusyError
        return refused

    def _carried_out(self, writes: Sequence[Write]) -> bool:
        try:
            self._carry_out(writes)
        except _KeyStateError:
            return False
        return True

    def _carry_out(self, writes: Sequence[Write]) -> None:
        if len(writes) == 1:  # half the price of a transaction
            self.tables.write(writes[0])
        elif writes:
            self.tables.transact(writes)

    def _present(self, entity: Entity, wanted: Sequence[str]) -> set[str]:
        place = _PLACES[entity.kind]
        found = self.tables.get_many([(place.table, _key(entity, key)) for key in wanted])
        return {item[place.key] for _, item in found}


def item_of(entity: Entity, record: Record) -> Item:
    """The item of a record; it repeats the asset's key for the index by asset."""
    place = _PLACES[entity.kind]
    return {
        **_key(entity, record.metadata_key),
        keys.ASSET.name: keys.ASSET.build(entity.database_id, entity.asset_id),
        place.value: record.metadata_value,
        place.value_type: record.metadata_value_type,
    }


def _key(entity: Entity, key: str) -> dict[str, str]:
    return {_PLACES[entity.kind].key: key, keys.FILE.name: _sort_key(entity)}


def _sort_key(entity: Entity) -> str:
    return keys.FILE.build(entity.database_id, entity.asset_id, entity.path)


def _record(place: _Place, item: Item) -> Record:
    return Record(
        metadata_key=item[place.key],
        metadata_value=item.get(place.value, ""),
        metadata_value_type=item.get(place.value_type, "string"),
    )


def _size(item: Item) -> int:
    return sum(len(name.encode()) + len(str(value).encode()) for name, value in item.items())


def _batches(values: Sequence[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """As many values at once as a transaction takes."""
    batch: list[T] = []
    size = 0
    for value in values:
        size += size_of(value)
        if batch and (len(batch) == MAX_TRANSACTION_ITEMS or size > _TRANSACTION_BYTES):
            yield batch
            batch, size = [], size_of(value)
        batch.append(value)
    if batch:
        yield batch
