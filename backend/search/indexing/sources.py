"""Reads the sources of the documents of a batch, with as few requests as possible.

Texts are made valid Unicode here, once: projections take them as they are.

Called after a ticket was taken, so nothing is read from an older cache (`owners` explains the one
exception).

Metadata and attributes are keyed by metadata key, so the records of one file are listed only in an
index, which is eventually consistent.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

from backend.core.file_kinds import is_asset_preview, is_file, preview_base
from backend.core.names import valid_text
from backend.core.objects import ObjectHead, ObjectRef, Objects
from backend.core.paging import PageRequest
from backend.core.previews import ShownPreview, asset_preview_key, asset_preview_version
from backend.core.quoting import quoted
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.core.tables import Query, Tables
from backend.core.transactions import Item
from backend.domains.buckets.models import AssetBucket
from backend.domains.buckets.service import BucketRegistry
from backend.search.indexing.object_states import ObjectState, states
from backend.search.indexing.owners import ObjectOwners, Owners
from backend.search.indexing.projections import (
    AssetGone,
    AssetSource,
    FileGone,
    FileSource,
    Source,
    is_archived,
    named_preview,
    own_preview,
)
from backend.search.indexing.references import ROOT_PATH, Reference
from backend.search.values import Record
from backend.spec import keys
from backend.spec.key_layouts import uploaded_previews_folder
from backend.spec.tables import metadata
from backend.spec.tables.assets import ASSETS
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
        # All records of the asset and its files, unless single queries cost less.
        partition = keys.ASSET.build(asset.database_id, asset.asset_id)
        query = Query(table=kind.table, partition=partition, index=kind.by_asset)
        read, after = list[Item](), None
        for _ in range(len(wanted)):
            page = tables.query(query, PageRequest(_PAGE, after))
            read += page.items
            after = page.after
            if after is None:
                return _by_path(kind, read, wanted)
    items = list[Item]()
    for path in sorted(wanted):
        partition = keys.FILE.build(asset.database_id, asset.asset_id, path)
        query = Query(table=kind.table, partition=partition, index=kind.by_path)
        items += tables.query_all(query)
    return _by_path(kind, items, wanted)


def _by_path(kind: Kind, items: Iterable[Item], wanted: set[str]) -> Records:
    by_path: dict[str, list[Record]] = {}
    for item in items:
        path = keys.FILE.parse(str(item[keys.FILE.name]))[2]
        if path in wanted:
            by_path.setdefault(path, []).append(kind.record(item))
    return {path: tuple(records) for path, records in by_path.items()}


T = TypeVar("T")


@frozen
class Unreadable:
    """An asset with contradictory sources, and the reason; waiting does not correct it.

    `references` are the documents that were requested.
    """

    asset: AssetRef
    reason: str
    references: tuple[Reference, ...]


@dataclass(slots=True)
class Reading:
    """The sources that were read.

    `lagging` names those read through an eventually consistent index.
    """

    sources: list[Source] = field(default_factory=list[Source])
    lagging: set[Reference] = field(default_factory=set[Reference])
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])


@dataclass(slots=True)
class _Wanted:
    """The requested documents of one asset: itself, and files by path or, from objects, by key."""

    itself: bool = False
    paths: set[str] = field(default_factory=set[str])
    keys: set[str] = field(default_factory=set[str])

    def add_changed_path(self, path: str) -> None:
        """Request a file that has changed; for the asset's preview, also the asset."""
        self.paths.add(path)
        self.itself |= is_asset_preview("/", path)

    def add_changed_key(self, key: str) -> None:
        """As `add_changed_path`; the asset's prefix is not known yet, so any folder is possible."""
        self.keys.add(key)
        self.itself |= is_asset_preview(key[: key.rfind("/") + 1], key)


@frozen
class _Live:
    """An asset that has a row, and its requested files: path by key.

    `strangers` are requested keys outside the asset's prefix.
    """

    asset: AssetRef
    row: Item
    bucket: AssetBucket
    itself: bool
    files: Mapping[str, str]
    strangers: tuple[str, ...] = ()


@frozen
class _AssetPreview:
    """The key of the preview at the root of an asset, and the versions of the one that is shown."""

    at_root: str | None = None
    shown: ShownPreview = ShownPreview()


class Sources:
    """Reads from tables and buckets, with up to `workers` requests at the same time.

    With `lists_only`, files are only listed: for functions that may not read them.
    """

    def __init__(
        self,
        tables: Tables,
        objects: Objects,
        owners: Owners,
        *,
        workers: int = 8,
        lists_only: bool = False,
    ) -> None:
        self._tables = tables
        self._objects = objects
        self._registry = BucketRegistry(tables)
        self._owners = ObjectOwners(self._registry, owners)
        self._workers = workers
        self._lists_only = lists_only

    def read(self, references: Iterable[Reference]) -> Reading:
        """Read all sources of the documents of the references."""
        reading = Reading()
        wanted = self._by_asset(references)
        rows = asset_rows(self._tables, wanted)
        buckets = self._registry.by_id({_bucket_id(row) for row in rows.values()})
        live: list[_Live] = []
        for asset, want in wanted.items():
            row = rows.get(asset)
            if row is None:
                if want.itself:
                    reading.sources.append(AssetGone(*asset.ids))
                # A path without the asset's row identifies no document.
                gone = (valid_text(key) for key in sorted(want.keys) if is_file(key))
                reading.sources += (FileGone(*asset.ids, key) for key in gone)
                continue
            bucket = buckets.get(_bucket_id(row))
            live_asset = _live(asset, want, row, bucket)
            if isinstance(live_asset, Unreadable):
                reading.unreadable.append(live_asset)
            else:
                live.append(live_asset)
        self._read_live(live, reading)
        return reading

    def _by_asset(self, references: Iterable[Reference]) -> dict[AssetRef, _Wanted]:
        wanted: dict[AssetRef, _Wanted] = {}
        objects: set[ObjectRef] = set()
        for reference in references:
            if isinstance(reference, AssetRef):
                wanted.setdefault(reference, _Wanted()).itself = True
            elif isinstance(reference, FileRef):
                path = preview_base(reference.path) or reference.path
                wanted.setdefault(reference.asset, _Wanted()).add_changed_path(path)
            elif isinstance(reference, FileKeyRef):
                key = preview_base(reference.key) or reference.key
                wanted.setdefault(reference.asset, _Wanted()).keys.add(key)
            else:
                # A preview has no document; that of its file names it.
                base = preview_base(reference.key)
                objects.add(ObjectRef(reference.bucket, base) if base else reference)
        for reference, asset in self._owners.of(objects).items():
            wanted.setdefault(asset, _Wanted()).add_changed_key(reference.key)
        return wanted

    def _read_live(self, live: list[_Live], reading: Reading) -> None:
        tasks: list[Callable[[], Any]] = []
        for entry in live:
            paths = set(entry.files.values())
            described = paths | ({ROOT_PATH} if entry.itself else set[str]())
            tasks += [
                partial(records_at, self._tables, METADATA, entry.asset, described),
                partial(records_at, self._tables, ATTRIBUTES, entry.asset, paths),
                partial(
                    states,
                    self._objects,
                    entry.bucket.bucket_name,
                    entry.files,
                    lists_only=self._lists_only,
                ),
                partial(self._asset_preview, entry),
            ]
        # Requests of all assets together: one after the other, they would add up their latencies.
        results = iter(self._together(tasks))
        for entry in live:
            metadata, attributes, files = next(results), next(results), next(results)
            reading.sources += _sources(entry, metadata, attributes, files, next(results))
            reading.lagging |= {
                FileRef(entry.asset.database_id, entry.asset.asset_id, path)
                for path in entry.files.values()
            }
            if entry.itself:
                reading.lagging.add(entry.asset)

    def _asset_preview(self, entry: _Live) -> _AssetPreview:
        """Return the preview of an asset: one at its root if the row names no uploaded one."""
        if not entry.itself:
            return _AssetPreview()
        prefix, bucket = prefix_of(entry.row), entry.bucket.bucket_name
        own, at_root = own_preview(entry.row), None
        if own is None and prefix.endswith("/"):
            at_root = asset_preview_key(self._objects, bucket, prefix)
        named = own or named_preview(entry.row)
        folder = uploaded_previews_folder(entry.bucket.key_prefix, entry.asset.asset_id)
        # A row of another program may name any object; only previews are shown by searches.
        shown = at_root or (named if named is not None and named.startswith(folder) else None)
        if shown is None:
            return _AssetPreview(at_root)
        if at_root is None and shown.endswith(".png"):
            return _AssetPreview(at_root, asset_preview_version(self._objects, bucket, shown))
        head = self._objects.head(bucket, shown)
        return _AssetPreview(
            at_root, ShownPreview(head.version if isinstance(head, ObjectHead) else None)
        )

    def _together(self, tasks: list[Callable[[], T]]) -> list[T]:
        if self._workers < 2 or len(tasks) < 2:
            return [task() for task in tasks]
        with ThreadPoolExecutor(min(self._workers, len(tasks))) as pool:
            running = [pool.submit(task) for task in tasks]
            return [task.result() for task in running]


def asset_rows(tables: Tables, assets: Iterable[AssetRef]) -> dict[AssetRef, Item]:
    """Return the rows of the assets, from either of their two partitions.

    The partitions are read at different times: if an asset moves meanwhile, both rows or none may
    be found. The later revision counts, and the event of the move causes another read.
    """
    wanted = [
        (ASSETS, {"databaseId": partition, "assetId": asset.asset_id})
        for asset in assets
        # Archiving moves the row, so either partition may have it.
        for partition in (asset.database_id, keys.archived(asset.database_id))
    ]
    rows: dict[AssetRef, Item] = {}
    for _, row in tables.get_many(wanted):
        asset = AssetRef(keys.active(row["databaseId"]), row["assetId"])
        # Found twice while it moves: the later revision counts.
        if asset not in rows or _order(row) > _order(rows[asset]):
            rows[asset] = row
    return rows


def prefix_of(row: Item) -> str:
    """Return the prefix of an asset's files; empty for a row without one."""
    location = row.get("assetLocation")
    key = cast("Item", location).get("Key") if isinstance(location, dict) else None
    return str(key or "")


def _live(
    asset: AssetRef, want: _Wanted, row: Item, bucket: AssetBucket | None
) -> _Live | Unreadable:
    if bucket is None:
        reason = f"no bucket is registered as {quoted(_bucket_id(row))}"
        return Unreadable(asset, reason, _references(asset, want))
    prefix = prefix_of(row)
    if (want.paths or want.keys) and not prefix.endswith("/"):
        reason = f"its assetLocation.Key {quoted(prefix)} is no prefix"
        return Unreadable(asset, reason, _references(asset, want))
    paths_by_key = {prefix + path.removeprefix("/"): path for path in want.paths}
    for key in want.keys:
        if key.startswith(prefix):
            paths_by_key[key] = "/" + key.removeprefix(prefix)
    files = {key: path for key, path in paths_by_key.items() if is_file(key)}
    strangers = tuple(sorted(k for k in want.keys if is_file(k) and not k.startswith(prefix)))
    return _Live(asset, _with_valid_texts(row), bucket, want.itself, files, strangers)


def _with_valid_texts(value: Any) -> Any:
    """Return a value of a row with valid texts. Documents contain them without further changes."""
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, dict):
        fields = cast("Item", value)
        return {name: _with_valid_texts(part) for name, part in fields.items()}
    if isinstance(value, list | tuple | set | frozenset):
        parts = cast("list[Any]", value)
        return type(parts)(_with_valid_texts(part) for part in parts)
    return value


def _references(asset: AssetRef, want: _Wanted) -> tuple[Reference, ...]:
    """Return the references of the requested documents of an asset."""
    ids = (asset.database_id, asset.asset_id)
    itself: tuple[Reference, ...] = (asset,) if want.itself else ()
    paths = (FileRef(*ids, path) for path in sorted(want.paths))
    return (*itself, *paths, *(FileKeyRef(*ids, key) for key in sorted(want.keys)))


def _sources(
    entry: _Live,
    metadata: Records,
    attributes: Records,
    states_by_key: Mapping[str, ObjectState],
    preview: _AssetPreview,
) -> list[Source]:
    sources: list[Source] = []
    if entry.itself:
        described = metadata.get(ROOT_PATH, ())
        sources.append(
            AssetSource(entry.row, entry.bucket, described, preview.at_root, *preview.shown)
        )
    ids = (entry.asset.database_id, entry.asset.asset_id)
    sources += (FileGone(*ids, valid_text(key)) for key in entry.strangers)
    for key, path in entry.files.items():
        state = states_by_key.get(key)
        if state is None:
            sources.append(FileGone(*ids, valid_text(key)))
            continue
        sources.append(
            FileSource(
                asset=entry.row,
                bucket=entry.bucket,
                version=state.version,
                content=state.content,
                preview=state.preview,
                small=state.small,
                metadata=metadata.get(path, ()),
                attributes=attributes.get(path, ()),
                is_asset_preview=is_asset_preview("/", path),
            )
        )
    return sources


def _order(row: Item) -> tuple[int, bool]:
    revision = row.get("revision")
    return (revision if isinstance(revision, int) else 0, not is_archived(row))


def _bucket_id(row: Item) -> str:
    return str(row.get("bucketId"))
