"""The files of an asset's versions as their table holds them, by access pattern.

The sort key `fileKey` is the file's path in the asset with a leading slash.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
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
    ASSET_VERSIONS,
    FILE_KEY,
)

_KINDS = ("metadata", "attribute")


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

    def delete_records(self, asset: Asset, paths: Sequence[str]) -> None:
        """Remove the metadata of these files, which are sorted, from the snapshots of all versions.

        The rows of the files remain, so that versions go on naming files that were deleted.
        """
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        for item in self.tables.query_all(query):
            version = AssetVersion.model_validate(item)
            self._delete_records_of(_version_key(asset, version.snapshot), paths)

    def _delete_records_of(self, partition: str, paths: Sequence[str]) -> None:
        held = Query(
            table=ASSET_FILE_VERSIONS,
            partition=partition,
            sort_between=(paths[0], paths[-1]),
            consistent=True,
            attributes=ASSET_FILE_VERSIONS.key_names,
        )
        names = ASSET_FILE_METADATA_VERSIONS.key_names
        wanted = frozenset(paths)
        for path in (item[FILE_KEY.name] for item in self.tables.query_all(held)):
            for kind in _KINDS if path in wanted else ():
                query = Query(
                    table=ASSET_FILE_METADATA_VERSIONS,
                    partition=partition,
                    sort_prefix=keys.SNAPSHOT.prefix(kind, path),
                    consistent=True,
                    attributes=names,
                )
                rows = [
                    {name: item[name] for name in names} for item in self.tables.query_all(query)
                ]
                if rows:
                    self.tables.delete_many(query.table, rows)


def _asset_key(asset: Asset) -> str:
    return keys.ASSET.build(asset.database_id, asset.asset_id)


def _version_key(asset: Asset, snapshot_id: str) -> str:
    return keys.ASSET_VERSION.build(asset.database_id, asset.asset_id, snapshot_id)
