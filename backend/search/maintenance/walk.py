"""Walks the sources of all documents in the order of their ids, in windows of limited size.

The order is database, asset and object key, by bytes. Tables, buckets and the indexes have the same
order, so the two sides of a window can be compared. Tables that grow with assets are not scanned:
the databases are a registry, and the assets of each are read by its two partitions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from backend.core.file_kinds import is_file
from backend.core.objects import Objects, key_before
from backend.core.paging import PageRequest, all_items
from backend.core.parallel import WORKERS, in_parallel
from backend.core.references import AssetRef, FileKeyRef
from backend.core.tables import Query, Tables
from backend.core.transactions import Item
from backend.domains.buckets.service import BucketRegistry
from backend.search.indexing.references import Reference
from backend.search.indexing.sources import asset_rows, prefix_of
from backend.spec import keys
from backend.spec.tables.assets import ASSETS, DATABASES

# A text that sorts after every id and key: the highest code point.
LAST = "\U0010ffff"
# Each has a list request of its own, and a window ends at `FULL` files anyway.
PAGE_ASSETS = 100
# Files at which a window ends with the current asset, so that memory stays constant. A window that
# begins below it may add one page of files, of `PAGE_VERSIONS`.
FULL = 2000
# S3's maximum for one list request.
PAGE_VERSIONS = 1000


class Position(NamedTuple):
    """The position of a walk: everything up to here is done, including the asset's own document."""

    database_id: str = ""
    asset_id: str = ""
    key: str = LAST

    @property
    def is_within_asset(self) -> bool:
        """Return whether files of the asset are left."""
        return self.asset_id not in {"", LAST} and self.key != LAST


START = Position()


@dataclass(frozen=True, slots=True)
class Window:
    """The sources after `after`, up to and including `upto`, in one database.

    `unreadable` are assets whose rows name no location of files.
    """

    after: Position
    upto: Position
    references: tuple[AssetRef | FileKeyRef, ...] = ()
    unreadable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a walk: everything, one database, or one asset."""

    database_id: str | None = None
    asset_id: str | None = None

    @property
    def start(self) -> Position:
        if self.database_id is None:
            return START
        below = "" if self.asset_id is None else key_before(self.asset_id)
        return Position(self.database_id, below)

    @property
    def end(self) -> Position:
        """Return the last position of the scope."""
        return Position(self.database_id or LAST, self.asset_id or LAST)


EVERYTHING = Scope()
NextDatabase = Callable[[str], str | None]
"""Returns the first database id after the given one, from another source than the table."""


class _Files(NamedTuple):
    """One page of the files of an asset; `last` is the key that ends it if there are more."""

    keys: tuple[str, ...]
    last: str | None = None


@dataclass(eq=False, repr=False)
class SourceWalk:
    tables: Tables
    objects: Objects
    registry: BucketRegistry

    def window(self, after: Position, scope: Scope, *, named: NextDatabase) -> Window | None:
        """Return the window after a position; None if nothing is left in the scope."""
        if after >= scope.end:
            return None
        if after == START or after.asset_id == LAST:
            following = self._next_database(after.database_id, named)
            if following is None or scope.database_id is not None:
                return None
            after = Position(following)
        if after.is_within_asset:
            end = after._replace(key=LAST)
            asset = AssetRef(after.database_id, after.asset_id)
            row = asset_rows(self.tables, [asset]).get(asset)
            if row is None:
                return Window(after, end)
            files = self._files(row, after=after.key)
            if files is None:
                return Window(after, end, (), frozenset({asset.asset_id}))
            upto = after._replace(key=files.last or LAST)
            return Window(after, upto, _references(asset, files))
        return self._of_assets(after, scope.end.asset_id)

    def _next_database(self, after: str, named: NextDatabase) -> str | None:
        candidates = {name for name in self._databases() if name > after}
        further = named(after)
        if further is not None:
            candidates.add(further)
        return min(candidates, default=None)

    def _databases(self) -> Iterator[str]:
        """Return the ids of all databases, including deleted ones: documents may remain."""
        for item in all_items(partial(self.tables.scan, DATABASES), 1000):
            yield keys.active(str(item["databaseId"]))

    def _of_assets(self, after: Position, end: str) -> Window:
        rows, is_end = self._rows(after, end)
        upto, references, unreadable = after, list[AssetRef | FileKeyRef](), set[str]()
        for number, (row, files) in enumerate(self._list_files(rows)):
            asset = AssetRef(after.database_id, str(row["assetId"]))
            if files is None:
                unreadable.add(asset.asset_id)
            elif files.last is not None:  # a separate window, as large as the limit
                if number:
                    break
                references += (asset, *_references(asset, files))
                upto = Position(*asset.ids, files.last)
                break
            else:
                references += (asset, *_references(asset, files))
            upto = Position(*asset.ids, LAST)
            if len(references) >= FULL:
                break
        else:
            if is_end:
                upto = Position(after.database_id, end, LAST)
        return Window(after, upto, tuple(references), frozenset(unreadable))

    def _rows(self, after: Position, last: str) -> tuple[list[Item], bool]:
        """Return the next assets of both partitions, and whether these are all up to `last`."""
        rows: dict[str, Item] = {}
        ends: list[str] = []
        for partition in (after.database_id, keys.archived(after.database_id)):
            start = None
            if after.asset_id:
                start = {"databaseId": partition, "assetId": after.asset_id}
            query = Query(table=ASSETS, partition=partition, consistent=True)
            page = self.tables.query(query, PageRequest(PAGE_ASSETS, start))
            rows |= {str(item["assetId"]): item for item in page.items}
            if page.after is not None:
                ends.append(str(page.after["assetId"]))
        end = min(*ends, last, LAST)
        return [rows[name] for name in sorted(rows) if name <= end], end == last

    def _list_files(self, rows: list[Item]) -> Iterator[tuple[Item, _Files | None]]:
        """Return each asset with its first page of files; several are listed in parallel."""
        for start in range(0, len(rows), WORKERS):
            some = rows[start : start + WORKERS]
            self.registry.by_id(str(row.get("bucketId")) for row in some)
            yield from zip(some, in_parallel(self._files, some), strict=True)

    def _files(self, row: Item, after: str | None = None) -> _Files | None:
        """Return a page of the files of an asset; None if its row names no location."""
        bucket_id, prefix = str(row.get("bucketId")), prefix_of(row)
        bucket = self.registry.by_id([bucket_id]).get(bucket_id)
        if bucket is None or not prefix.endswith("/"):
            return None
        page = self.objects.list_versions(
            bucket.bucket_name, prefix, limit=PAGE_VERSIONS, after_key=after
        )
        # A page may end within the versions of a key. The latest comes first, so it was read.
        last = page.versions[-1].key if page.next_key is not None and page.versions else None
        files = (version for version in page.versions if version.is_latest)
        return _Files(tuple(file.key for file in files if is_file(file.key)), last)


def place_of(reference: Reference) -> tuple[str, str]:
    """Return the position of a document in a database: asset and key.

    The asset's own comes first.
    """
    match reference:
        case AssetRef(_, asset_id):
            return asset_id, ""
        case FileKeyRef(_, asset_id, key):
            return asset_id, key
        case _:
            raise TypeError(f"{reference!r} is not part of a walk")


def _references(asset: AssetRef, files: _Files) -> tuple[AssetRef | FileKeyRef, ...]:
    return tuple(FileKeyRef(asset.database_id, asset.asset_id, key) for key in files.keys)
