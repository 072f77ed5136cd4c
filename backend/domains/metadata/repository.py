"""The tables of metadata and attributes, by access pattern."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from backend.core.errors import ConflictError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Condition,
    Delete,
    Item,
    Put,
    Write,
    absent,
    equals,
    exists,
)
from backend.core.wired import wired
from backend.domains.metadata.models import Entity, Record
from backend.spec import keys
from backend.spec.tables import metadata as tables_of_metadata
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS
from backend.spec.tables.model import Index, Table

T = TypeVar("T")
Told = Mapping[str, Mapping[str, str]]
EntryOf = Callable[[Told, Told], Write]
"""Makes the audit entry of a transaction, from the records before and after it by key."""
Targets = Mapping[str, Record | None]
"""What shall be under each key; None is nothing."""
Allowed = Callable[[Item | None], bool]
"""Whether a key may be written under which this is found."""

_RECORDS_AT_ONCE = MAX_TRANSACTION_ITEMS - 1  # the last item is the entry of the write
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


@wired
class MetadataRepository:
    """Records of entities. Lists are read from an index, which lags behind writes."""

    tables: Tables

    def list_of(self, entity: Entity, page: PageRequest) -> Page[Record]:
        """Records in the order of their keys."""
        place = _PLACES[entity.kind]
        query = Query(table=place.table, partition=_sort_key(entity), index=place.by_entity)
        found = self.tables.query(query, page)
        return Page(tuple(_record(place, item) for item in found.items), found.after)

    def list_snapshot(self, entity: Entity, snapshot_id: str, page: PageRequest) -> Page[Record]:
        """Records as the snapshot of an asset's version keeps them, in the order of their keys."""
        query = Query(
            table=ASSET_FILE_METADATA_VERSIONS,
            partition=keys.ASSET_VERSION.build(entity.database_id, entity.asset_id, snapshot_id),
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

    def add(self, entity: Entity, records: Sequence[Record], entry_of: EntryOf) -> set[str]:
        """Put records whose keys are free; answers with the keys that were not.

        Up to 99 records and the entry of their write go in one transaction: if a key in it is
        taken, the others go again.

        Raises:
            RecordsBusyError: keys come and go at the same time.
        """
        targets = {record.metadata_key: record for record in records}
        refused: set[str] = set()
        for batch in _batches(list(targets), lambda key: _size(item_of(entity, targets[key]))):
            part = {key: targets[key] for key in batch}
            refused |= self._settle(entity, part, entry_of, found={}, allowed=lambda old: not old)
        return refused

    def remove(self, entity: Entity, wanted: Sequence[str], entry_of: EntryOf) -> set[str]:
        """Remove records that are there; answers with the keys that were not.

        Raises:
            RecordsBusyError: keys come and go at the same time.
        """
        return self._change(entity, dict.fromkeys(wanted), entry_of, allowed=bool)

    def replace(
        self,
        entity: Entity,
        records: Sequence[Record],
        entry_of: EntryOf,
        *,
        gone: Iterable[str] = (),
    ) -> None:
        """Put records whatever is there and remove others; atomic for each 99.

        A record that is there already as it shall be is not written.

        Raises:
            RecordsBusyError: others write the same keys all the time.
        """
        targets: Targets = {record.metadata_key: record for record in records}
        self._change(entity, {**targets, **dict.fromkeys(gone)}, entry_of, allowed=lambda _: True)

    def _change(
        self, entity: Entity, targets: Targets, entry_of: EntryOf, *, allowed: Allowed
    ) -> set[str]:
        """Write over what is there; answers with the keys that may not be written.

        What is there stands in conditions, so it counts for the size of a transaction.
        """
        refused: set[str] = set()
        for read in _batches(list(targets), lambda _: 0):
            found = self._present(entity, read)

            def size(key: str, found: Mapping[str, Item] = found) -> int:
                return _size(found.get(key, {})) + _size_of(entity, targets[key])

            for batch in _batches(read, size):
                part = {key: targets[key] for key in batch}
                refused |= self._settle(entity, part, entry_of, found=found, allowed=allowed)
        return refused

    def _settle(
        self,
        entity: Entity,
        targets: Targets,
        entry_of: EntryOf,
        *,
        found: Mapping[str, Item],
        allowed: Allowed,
    ) -> set[str]:
        """Write what may be written, in one transaction; answers with the keys that may not."""
        refused: set[str] = set()
        for _ in range(_ATTEMPTS):
            refused |= {key for key in targets if not allowed(found.get(key))}
            pending = {
                key: record
                for key, record in targets.items()
                if key not in refused and not _is_so(entity, found.get(key), record)
            }
            if not pending or self._carried_out(entity, pending, entry_of, found):
                return refused
            found = self._present(entity, list(targets))
        raise RecordsBusyError

    def _carried_out(
        self, entity: Entity, targets: Targets, entry_of: EntryOf, found: Mapping[str, Item]
    ) -> bool:
        writes = [_write(entity, key, record, found.get(key)) for key, record in targets.items()]
        place = _PLACES[entity.kind]
        before = {key: _told(_record(place, found[key])) for key in targets if key in found}
        after = {key: _told(record) for key, record in targets.items() if record is not None}
        try:
            self.tables.transact([*writes, entry_of(before, after)])
        except _KeyStateError:
            return False
        return True

    def _present(self, entity: Entity, wanted: Sequence[str]) -> dict[str, Item]:
        place = _PLACES[entity.kind]
        found = self.tables.get_many([(place.table, _key(entity, key)) for key in wanted])
        return {item[place.key]: item for _, item in found}


def _write(entity: Entity, key: str, record: Record | None, found: Item | None) -> Write:
    """The write of one record, or its removal, refused unless what is there was found so."""
    place = _PLACES[entity.kind]
    refused = _KeyStateError("a record is not as it was read")
    conditions: tuple[Condition, ...] = (absent(place.key),)
    if found is not None:
        values = (place.value, place.value_type)
        seen = (equals(name, found[name]) if name in found else absent(name) for name in values)
        conditions = (exists(place.key), *seen)
    if record is None:
        where = _key(entity, key)
        return Delete(table=place.table, key=where, conditions=conditions, refused=refused)
    item = item_of(entity, record)
    return Put(table=place.table, item=item, conditions=conditions, refused=refused)


def _is_so(entity: Entity, found: Item | None, record: Record | None) -> bool:
    if found is None or record is None:
        return found is record
    return _record(_PLACES[entity.kind], found) == record


def _told(record: Record) -> dict[str, str]:
    """A record as audit entries tell it."""
    return {"value": record.metadata_value, "valueType": record.metadata_value_type}


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


def _size_of(entity: Entity, record: Record | None) -> int:
    return 0 if record is None else _size(item_of(entity, record))


def _batches(values: Sequence[T], size_of: Callable[[T], int]) -> Iterator[list[T]]:
    """As many values at once as a transaction takes."""
    batch: list[T] = []
    size = 0
    for value in values:
        size += size_of(value)
        if batch and (len(batch) == _RECORDS_AT_ONCE or size > _TRANSACTION_BYTES):
            yield batch
            batch, size = [], size_of(value)
        batch.append(value)
    if batch:
        yield batch
