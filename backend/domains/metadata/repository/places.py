"""The tables of the records of each kind of entity, and their items. Pure."""

from collections.abc import Mapping

from backend.core.transactions import Item
from backend.domains.metadata.models import AnyEntity, DatabaseEntity, Entity, LinkEntity, Record
from backend.spec import keys
from backend.spec.tables import metadata as tables_of_metadata
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_LINK_ID,
    ASSET_LINKS_METADATA,
)
from backend.spec.tables.metadata import DATABASE_ID, RECORDS_OF, RECORDS_OWNER
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
