"""Reads metadata and attributes of an asset and its files, by their table indexes.

The records are keyed by metadata key, so the records of one file are listed only in an index, which
is eventually consistent.
"""

from collections.abc import Iterable, Mapping

from backend.core.names import valid_text
from backend.core.paging import PageRequest
from backend.core.references import AssetRef
from backend.core.tables import Query, Tables
from backend.core.transactions import Item
from backend.search.values import Record
from backend.spec import keys
from backend.spec.tables import metadata
from backend.spec.tables.model import Index, Table
from backend.values import frozen

Records = Mapping[str, tuple[Record, ...]]
"""Records by path, without the paths that have none."""

# Paths of one asset from which one query for all of them replaces a query each. It also reads
# records of other paths, so it stops after as many pages as there are paths.
_ONE_QUERY_FROM = 8
# A query returns at most 1 MB: pages of long values are shorter.
_PAGE = 1000


@frozen
class Kind:
    """Metadata or attributes: their tables, and the names of their attributes."""

    table: Table
    by_path: Index
    by_asset: Index
    name: str

    def record(self, item: Item) -> Record:
        """Return the record in a row."""
        name = self.name
        value = item.get(f"{name}Value")
        text = "" if value is None else str(value)
        return valid_record(str(item.get(f"{name}Key")), text, str(item.get(f"{name}ValueType")))


METADATA = Kind(
    metadata.ASSET_FILE_METADATA,
    metadata.FILE_METADATA_BY_FILE,
    metadata.FILE_METADATA_BY_ASSET,
    "metadata",
)
ATTRIBUTES = Kind(
    metadata.FILE_ATTRIBUTES,
    metadata.ATTRIBUTES_BY_FILE,
    metadata.ATTRIBUTES_BY_ASSET,
    "attribute",
)


def valid_record(key: str, value: str, value_type: str) -> Record:
    """Return a record of a source. Documents contain its texts without further changes."""
    return Record(valid_text(key), valid_text(value), value_type)


def records_at(tables: Tables, kind: Kind, asset: AssetRef, paths: Iterable[str]) -> Records:
    """Return the records of some paths of an asset."""
    wanted = set(paths)
    if len(wanted) >= _ONE_QUERY_FROM:
        items = _of_asset(tables, kind, asset, max_pages=len(wanted))
        if items is not None:
            return _by_path(kind, items, wanted)
    items = list[Item]()
    for path in sorted(wanted):
        partition = keys.FILE.build(asset.database_id, asset.asset_id, path)
        query = Query(table=kind.table, partition=partition, index=kind.by_path)
        items += tables.query_all(query)
    return _by_path(kind, items, wanted)


def _of_asset(tables: Tables, kind: Kind, asset: AssetRef, *, max_pages: int) -> list[Item] | None:
    """Return all records of an asset and its files; None if single queries cost less."""
    partition = keys.ASSET.build(asset.database_id, asset.asset_id)
    query = Query(table=kind.table, partition=partition, index=kind.by_asset)
    items: list[Item] = []
    after = None
    for _ in range(max_pages):
        page = tables.query(query, PageRequest(_PAGE, after))
        items += page.items
        after = page.after
        if after is None:
            return items
    return None


def _by_path(kind: Kind, items: Iterable[Item], wanted: set[str]) -> Records:
    by_path: dict[str, list[Record]] = {}
    for item in items:
        path = keys.FILE.parse(str(item[keys.FILE.name]))[2]
        if path in wanted:
            by_path.setdefault(path, []).append(kind.record(item))
    return {path: tuple(records) for path, records in by_path.items()}
