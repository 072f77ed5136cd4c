"""The files of an asset's versions as their table holds them, by access pattern.

The sort key `fileKey` is the file's path in the asset with a leading slash.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.errors import UnavailableError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import (
    MAX_TRANSACTION_ITEMS,
    Delete,
    Update,
    exists,
)
from backend.domains.assets.models import (
    AFTER_NUMBERS,
    FIRST_NUMBER,
    Asset,
    AssetVersion,
)
from backend.domains.files.models import FileSnapshot
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_FILE_METADATA_VERSIONS,
    ASSET_FILE_VERSIONS,
    ASSET_VERSION_ID,
    ASSET_VERSIONS,
    FILE_KEY,
)
from backend.spec.tables.model import Table

_KINDS = ("metadata", "attribute")
# Files that one transaction removes from a version, whose row it changes too.
_COUNTED_OUT = MAX_TRANSACTION_ITEMS - 1


class SnapshotFile(NamedTuple):
    """A file in the snapshot of a version of its asset."""

    snapshot_id: str
    path: str


@dataclass(eq=False, repr=False)
class FileRepository:
    tables: Tables

    def list_versions(self, asset: Asset, *, limit: int) -> list[AssetVersion]:
        """Return versions of the asset, at most `limit`."""
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        rows = self.tables.query(query, PageRequest(limit))
        return [AssetVersion.model_validate(item) for item in rows.items]

    def list_files(
        self, asset: Asset, snapshot_id: str, path_prefix: str, page: PageRequest
    ) -> Page[FileSnapshot]:
        """Return the files of a snapshot whose paths have a prefix, in the order of their paths."""
        query = Query(
            table=ASSET_FILE_VERSIONS,
            partition=_version_key(asset, snapshot_id),
            sort_prefix=path_prefix,
            consistent=True,
        )
        return self.tables.query(query, page).map(FileSnapshot.model_validate)

    def snapshots(
        self, asset: Asset, snapshot_ids: Iterable[str], paths: Sequence[str]
    ) -> dict[SnapshotFile, FileSnapshot]:
        """Return the rows of these files in the snapshots of versions."""
        partitions = {_version_key(asset, snapshot_id): snapshot_id for snapshot_id in snapshot_ids}
        wanted = [
            (ASSET_FILE_VERSIONS, {keys.ASSET_VERSION.name: partition, FILE_KEY.name: path})
            for partition in partitions
            for path in paths
        ]
        snapshots: dict[SnapshotFile, FileSnapshot] = {}
        for _, item in self.tables.get_many(wanted):
            snapshot = FileSnapshot.model_validate(item)
            held = SnapshotFile(partitions[item[keys.ASSET_VERSION.name]], snapshot.file_key)
            snapshots[held] = snapshot
        return snapshots

    def delete_files(self, asset: Asset, paths: Sequence[str]) -> None:
        """Remove the rows of these files, which are sorted, from the snapshots of all versions."""
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        for item in self.tables.query_all(query):
            self._delete_files_of(asset, AssetVersion.model_validate(item), paths)

    def _delete_files_of(self, asset: Asset, version: AssetVersion, paths: Sequence[str]) -> None:
        partition = _version_key(asset, version.snapshot)
        held = Query(
            table=ASSET_FILE_VERSIONS,
            partition=partition,
            sort_between=(paths[0], paths[-1]),
            consistent=True,
            attributes=ASSET_FILE_VERSIONS.key_names,
        )
        wanted = frozenset(paths)
        gone = [i for i in self.tables.query_all(held) if i[FILE_KEY.name] in wanted]
        for path in (item[FILE_KEY.name] for item in gone):
            for kind in _KINDS:
                query = Query(
                    table=ASSET_FILE_METADATA_VERSIONS,
                    partition=partition,
                    sort_prefix=keys.SNAPSHOT.prefix(kind, path),
                    consistent=True,
                    attributes=ASSET_FILE_METADATA_VERSIONS.key_names,
                )
                self._remove(query.table, self.tables.query_all(query))
        for start in range(0, len(gone), _COUNTED_OUT):
            self._count_out(asset, version, gone[start : start + _COUNTED_OUT])

    def _count_out(
        self, asset: Asset, version: AssetVersion, rows: Sequence[dict[str, Any]]
    ) -> None:
        """Remove files of a version, and decrease its count, once for each file.

        Raises:
            UnavailableError: another request is removing them, or the version.
        """
        refused = UnavailableError(
            f"The files of version {version.asset_version_id} are being removed; try again"
        )
        table = ASSET_FILE_VERSIONS
        key = {
            keys.ASSET.name: _asset_key(asset),
            ASSET_VERSION_ID.name: version.asset_version_id,
        }
        removed = [
            Delete(
                table=table,
                key={name: row[name] for name in table.key_names},
                conditions=(exists(FILE_KEY.name),),
                refused=refused,
            )
            for row in rows
        ]
        counted = Update(
            table=ASSET_VERSIONS,
            key=key,
            add={"fileCount": -len(removed)},
            conditions=(exists(ASSET_VERSION_ID.name),),
            refused=refused,
        )
        self.tables.transact([*removed, counted])

    def _remove(self, table: Table, items: Sequence[dict[str, Any]]) -> None:
        if items:
            names = table.key_names
            self.tables.delete_many(table, [{name: item[name] for name in names} for item in items])


def _asset_key(asset: Asset) -> str:
    return keys.ASSET.build(asset.database_id, asset.asset_id)


def _version_key(asset: Asset, snapshot_id: str) -> str:
    return keys.ASSET_VERSION.build(asset.database_id, asset.asset_id, snapshot_id)
