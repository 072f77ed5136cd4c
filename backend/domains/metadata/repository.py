"""Rows of metadata and attributes, and the count of each entity's records."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from threading import Event
from typing import NamedTuple

from backend.core.errors import ConflictError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    Condition,
    Delete,
    Item,
    Put,
    Update,
    Write,
    absent,
    equals,
    exists,
)
from backend.domains.metadata.errors import NoRoomError, RecordsBusyError
from backend.domains.metadata.models import (
    MAX_RECORDS,
    AnyEntity,
    DatabaseEntity,
    Entity,
    LinkEntity,
    Record,
    is_reserved,
)
from backend.spec import keys
from backend.spec.tables import metadata as tables_of_metadata
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_LINK_ID,
    ASSET_LINKS_METADATA,
)
from backend.spec.tables.metadata import DATABASE_ID, RECORD_SETS, RECORDS_OF, RECORDS_OWNER
from backend.spec.tables.model import Index, Table
from backend.values import frozen

AuditedRecords = Mapping[str, Mapping[str, str]]
"""Records by key, in the form of audit entries."""


@frozen
class Place:
    """The table of one kind of records and the names of its attributes.

    `owner` is the attribute that names the entity, by which the index, or else the table, is
    queried.
    """

    table: Table
    by_entity: Index | None
    owner: str
    key: str = "metadataKey"
    value: str = "metadataValue"
    value_type: str = "metadataValueType"
    by_asset: Index | None = None


_METADATA = Place(
    tables_of_metadata.ASSET_FILE_METADATA,
    tables_of_metadata.FILE_METADATA_BY_FILE,
    keys.FILE.name,
    by_asset=tables_of_metadata.FILE_METADATA_BY_ASSET,
)
_ATTRIBUTES = Place(
    tables_of_metadata.FILE_ATTRIBUTES,
    tables_of_metadata.ATTRIBUTES_BY_FILE,
    keys.FILE.name,
    "attributeKey",
    "attributeValue",
    "attributeValueType",
    by_asset=tables_of_metadata.ATTRIBUTES_BY_ASSET,
)
_DATABASES = Place(
    tables_of_metadata.DATABASE_METADATA,
    tables_of_metadata.DATABASE_METADATA_BY_DATABASE,
    DATABASE_ID.name,
)
_LINKS = Place(ASSET_LINKS_METADATA, None, ASSET_LINK_ID.name)


def place_of(entity: AnyEntity) -> Place:
    match entity:
        case DatabaseEntity():
            return _DATABASES
        case LinkEntity():
            return _LINKS
        case Entity(kind=kind):
            return _ATTRIBUTES if kind == "attribute" else _METADATA


def owner_of(entity: AnyEntity) -> str:
    """Return the name of the entity in the items of its records."""
    match entity:
        case DatabaseEntity():
            return entity.database_id
        case LinkEntity():
            return entity.asset_link_id
        case Entity():
            return keys.FILE.build(entity.database_id, entity.asset_id, entity.path)


def key_of(entity: AnyEntity, key: str) -> dict[str, str]:
    place = place_of(entity)
    return {place.key: key, place.owner: owner_of(entity)}


def item_of(entity: AnyEntity, record: Record) -> Item:
    """Return the item of a record; for an asset or file, it repeats the asset for the index."""
    place = place_of(entity)
    asset = (
        {keys.ASSET.name: keys.ASSET.build(entity.database_id, entity.asset_id)}
        if isinstance(entity, Entity)
        else {}
    )
    return {
        **key_of(entity, record.metadata_key),
        **asset,
        place.value: record.metadata_value,
        place.value_type: record.metadata_value_type,
    }


def record_of(place: Place, item: Item) -> Record:
    return Record(
        metadata_key=item[place.key],
        metadata_value=item.get(place.value, ""),
        metadata_value_type=item.get(place.value_type, "string"),
    )


def set_key(entity: AnyEntity) -> dict[str, str]:
    """Return the key of the item that counts the records of an entity."""
    match entity:
        case DatabaseEntity():
            owner, part = entity.database_id, "database"
        case LinkEntity():
            owner, part = entity.asset_link_id, "assetLink"
        case Entity():
            # One partition for an asset and its files, so that a purge finds them by one query. A
            # path may fill most of a sort key, so the kind is one letter.
            owner = keys.ASSET.build(entity.database_id, entity.asset_id)
            part = entity.kind[0] + entity.path
    return {RECORDS_OWNER.name: owner, RECORDS_OF.name: part}


def audit_fields(record: Record) -> dict[str, str]:
    """Return a record as audit entries contain it."""
    return {"value": record.metadata_value, "valueType": record.metadata_value_type}


def largest_row(entity: AnyEntity, record: Record) -> int:
    """Return the bytes of the largest row that any operation may derive from a record.

    A moved file may get the longest path, a copy belongs to another asset, and a version of the
    asset stores the record under a key of its own. So each key of such a row counts with the most
    bytes that it may have, apart from the record's own key. Audit entries are no such rows: they
    refer to large values.
    """
    item = item_of(entity, record)
    if not isinstance(entity, Entity):  # the rows of databases and links never change their keys
        return size_of(item)
    place = place_of(entity)
    live = {name: item[name] for name in (place.key, place.value, place.value_type)}
    kept = record.model_dump(by_alias=True)
    return max(_longest(place.table, live), _longest(ASSET_FILE_METADATA_VERSIONS, kept))


def _longest(table: Table, own: Item) -> int:
    """Return the size of a row of these attributes with the longest keys that the table allows."""
    keys_of_row = {name: most for name, most in table.key_bytes.items() if name not in own}
    return size_of(own) + sum(len(name) + most for name, most in keys_of_row.items())


def size_of(item: Item) -> int:
    return sum(len(name.encode()) + len(str(value).encode()) for name, value in item.items())


EntryOf = Callable[[AuditedRecords, AuditedRecords], Write]
"""Creates the audit entry of a transaction from the records before and after it, by key."""
_COUNT, _REVISION, _FACTS = "count", "revision", "facts"
_LISTED = 1000  # records of a page: DynamoDB ends it after a megabyte
_LOOKS = 8  # while an index does not contain a write yet
_FIRST_PAUSE = 0.05  # seconds; each one is twice as long as the one before: 6 s in all


class _KeyStateError(ConflictError):
    """A record, or the set of them, was changed after it was read."""


class RecordSet(NamedTuple):
    """The number of an entity's records without facts.

    The keys are unchanged while `revision` is.
    """

    size: int = 0
    revision: int = 0
    facts: int = 0

    @property
    def total(self) -> int:
        """Return the number of all records, including facts, that a current index contains."""
        return self.size + self.facts

    def after(self, part: "Part") -> "RecordSet":
        """Return the set after a part is written."""
        return RecordSet(self.size + part.growth, self.revision + 1, self.facts + part.fact_growth)


class Found(NamedTuple):
    """An existing record, and its item."""

    record: Record
    item: Item


@frozen
class Part:
    """The writes of one transaction for an entity: the current and the new record of each key.

    With `expected`, the set must be unchanged, and gets the next revision. `guards` are further
    writes or checks of the transaction.
    """

    _: KW_ONLY
    entity: AnyEntity
    stored: Mapping[str, Found]
    targets: Mapping[str, Record | None]
    expected: RecordSet | None = None
    guards: tuple[Write, ...] = ()

    @property
    def growth(self) -> int:
        """Return by how many records, without facts, the entity grows."""
        return self._growth(of_facts=False)

    @property
    def fact_growth(self) -> int:
        return self._growth(of_facts=True)

    def _growth(self, *, of_facts: bool) -> int:
        return sum(
            (record is not None) - (key in self.stored)
            for key, record in self.targets.items()
            if is_reserved(self.entity, key) is of_facts
        )


@dataclass(eq=False, repr=False)
class MetadataRepository:
    """Records of entities. Lists are eventually consistent, except for links."""

    tables: Tables
    pause: Callable[[float], object] = Event().wait

    def list_of(self, entity: AnyEntity, page: PageRequest) -> Page[Record]:
        """List records in key order."""
        place = place_of(entity)
        return self.tables.query(_query(entity), page).map(lambda item: record_of(place, item))

    def list_in_asset(self, of: Entity, most_pages: int) -> dict[str, list[Record]] | None:
        """Return the records of an asset and all its files by path, of the kind of an entity.

        None if they are more than so many pages of the index.
        """
        place = place_of(of)
        partition = keys.ASSET.build(of.database_id, of.asset_id)
        query = Query(table=place.table, partition=partition, index=place.by_asset)
        records_of: dict[str, list[Record]] = {}
        after = None
        for _ in range(most_pages):
            page = self.tables.query(query, PageRequest(_LISTED, after))
            for item in page.items:
                path = keys.FILE.parse(str(item[place.owner]))[2]
                records_of.setdefault(path, []).append(record_of(place, item))
            after = page.after
            if after is None:
                return records_of
        return None

    def list_snapshot(self, entity: Entity, snapshot_id: str, page: PageRequest) -> Page[Record]:
        """List records of an asset version's snapshot, in key order."""
        query = Query(
            table=ASSET_FILE_METADATA_VERSIONS,
            partition=keys.ASSET_VERSION.build(entity.database_id, entity.asset_id, snapshot_id),
            sort_prefix=keys.SNAPSHOT.prefix(entity.kind, entity.path),
            consistent=True,
        )
        return self.tables.query(query, page).map(Record.model_validate)

    def keys_of(self, entity: AnyEntity) -> set[str]:
        """Return the keys in the index."""
        place = place_of(entity)
        return {item[place.key] for item in self.tables.query_all(_query(entity, place.key))}

    def found(self, entity: AnyEntity, wanted: Iterable[str]) -> dict[str, Found]:
        """Return the existing records with these keys, read consistently."""
        place = place_of(entity)
        items = self.tables.get_many([(place.table, key_of(entity, key)) for key in wanted])
        return {item[place.key]: Found(record_of(place, item), item) for _, item in items}

    def set_of(self, entity: AnyEntity) -> RecordSet:
        """Return the count of an entity's records, read consistently."""
        item = self.tables.get(RECORD_SETS, set_key(entity))
        if item is None:
            return RecordSet()
        return RecordSet(item[_COUNT], item[_REVISION], int(item.get(_FACTS, 0)))

    def count_in_asset(self, database_id: str, asset_id: str) -> int:
        """Return the number of records of an asset and all its files, including attributes."""
        owner = keys.ASSET.build(database_id, asset_id)
        query = Query(table=RECORD_SETS, partition=owner, consistent=True)
        items = self.tables.query_all(query)
        return sum(int(item.get(name, 0)) for item in items for name in (_COUNT, _FACTS))

    def whole(self, entity: AnyEntity) -> tuple[RecordSet, dict[str, Found]]:
        """Return all records of an entity, after waiting until the index contains all of them.

        Raises:
            RecordsBusyError: they are changed concurrently at every attempt, or the index lags by
                seconds.
        """
        for look in range(_LOOKS):
            if look:
                self.pause(_FIRST_PAUSE * 2 ** (look - 1))
            before = self.set_of(entity)
            records = self.found(entity, sorted(self.keys_of(entity))) if before.total else {}
            if len(records) == before.total and self.set_of(entity) == before:
                return before, records
        raise RecordsBusyError

    def write(self, part: Part, entry_of: EntryOf | None) -> bool:
        """Write in one transaction with its audit entry; return False if records were changed.

        Raises:
            NoRoomError: the entity would have more than 500 records.
        """
        place = place_of(part.entity)
        writes = [
            _write(place, part.entity, key, record, part.stored.get(key))
            for key, record in part.targets.items()
        ]
        # Facts are not in the audit entry: they follow from the content of the file.
        shown = [key for key in part.targets if not is_reserved(part.entity, key)]
        before = {key: audit_fields(part.stored[key].record) for key in shown if key in part.stored}
        after = {
            key: audit_fields(record) for key in shown if (record := part.targets[key]) is not None
        }
        entries = [entry_of(before, after)] if entry_of is not None and (before or after) else []
        try:
            # The count comes after the writes of records: a key that was added meanwhile is
            # reported first.
            self.tables.transact([*part.guards, *writes, *_count_writes(part), *entries])
        except _KeyStateError:
            return False
        return True

    def count_removal(self, entity: AnyEntity) -> Write:
        """Return the write that removes the count, for the transaction that removes the entity."""
        return Delete(table=RECORD_SETS, key=set_key(entity))


def _query(entity: AnyEntity, *attributes: str) -> Query:
    place = place_of(entity)
    return Query(
        table=place.table,
        partition=owner_of(entity),
        index=place.by_entity,
        consistent=place.by_entity is None,
        attributes=attributes,
    )


def _count_writes(part: Part) -> list[Update]:
    """Return the write that updates the count, if number or revision change.

    It comes after the writes of records, so that a key that was added meanwhile is reported first.
    """
    growth, expected = part.growth, part.expected
    if growth == 0 and part.fact_growth == 0 and expected is None:
        return []
    no_room = NoRoomError(f"At most {MAX_RECORDS} keys are allowed")
    if expected is None:
        conditions: tuple[Condition, ...] = ()
        if growth > 0:
            conditions = (Condition(_COUNT, "not >", MAX_RECORDS - growth),)
        refused: ConflictError = no_room
    elif growth > 0 and expected.size + growth > MAX_RECORDS:
        raise no_room
    else:
        same = equals(_REVISION, expected.revision) if expected.revision else absent(_REVISION)
        conditions, refused = (
            (same,),
            _KeyStateError("the records were changed after they were read"),
        )
    facts = {_FACTS: part.fact_growth} if part.fact_growth else {}
    return [
        Update(
            table=RECORD_SETS,
            key=set_key(part.entity),
            add={_COUNT: growth, _REVISION: 1, **facts},
            conditions=conditions,
            refused=refused,
        )
    ]


def _write(
    place: Place, entity: AnyEntity, key: str, record: Record | None, stored: Found | None
) -> Write:
    """Return the write of one record, or its removal, on the condition that it is unchanged."""
    refused = _KeyStateError("a record was changed after it was read")
    conditions: tuple[Condition, ...] = (absent(place.key),)
    if stored is not None:
        seen = (
            equals(name, stored.item[name]) if name in stored.item else absent(name)
            for name in (place.value, place.value_type)
        )
        conditions = (exists(place.key), *seen)
    if record is None:
        where = key_of(entity, key)
        return Delete(table=place.table, key=where, conditions=conditions, refused=refused)
    item = item_of(entity, record)
    return Put(table=place.table, item=item, conditions=conditions, refused=refused)
