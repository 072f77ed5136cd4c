"""The files of an asset's versions as their table holds them, by access pattern.

The sort key `fileKey` is the file's path in the asset with a leading slash.
"""

from collections.abc import Iterable, Sequence

from backend.core.errors import NotFoundError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.wired import wired
from backend.domains.assets.models import (
    AFTER_NUMBERS,
    ALIAS_MARK,
    FIRST_NUMBER,
    Asset,
    AssetVersion,
)
from backend.domains.files.models import FileSnapshot
from backend.spec import keys
from backend.spec.tables.assets import (
    ASSET_FILE_VERSIONS,
    ASSET_VERSION_ID,
    ASSET_VERSIONS,
    FILE_KEY,
)


class FileNotFoundInAssetError(NotFoundError):
    code = "FileNotFound"

    def __init__(self, path: str, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} has no file {path}")


class AssetVersionNotFoundError(NotFoundError):
    code = "AssetVersionNotFound"

    def __init__(self, version: str, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} has no version {version}")


@wired
class FileRepository:
    tables: Tables

    def get_version(self, asset: Asset, version_id: str) -> AssetVersion | None:
        """The row of one of the asset's versions."""
        key = {keys.ASSET.name: _asset_key(asset), ASSET_VERSION_ID.name: version_id}
        item = self.tables.get(ASSET_VERSIONS, key)
        return None if item is None else AssetVersion.model_validate(item)

    def list_versions(self, asset: Asset, *, limit: int) -> list[AssetVersion]:
        """Versions of the asset, at most `limit`."""
        query = Query(
            table=ASSET_VERSIONS,
            partition=_asset_key(asset),
            sort_between=(FIRST_NUMBER, AFTER_NUMBERS),
            consistent=True,
        )
        found = self.tables.query(query, PageRequest(limit))
        return [AssetVersion.model_validate(item) for item in found.items]

    def version_with_alias(self, asset: Asset, alias: str) -> AssetVersion | None:
        """The version of that alias, which is unique in the asset."""
        key = {keys.ASSET.name: _asset_key(asset), ASSET_VERSION_ID.name: ALIAS_MARK + alias}
        reserved = self.tables.get(ASSET_VERSIONS, key)
        return None if reserved is None else self.get_version(asset, str(reserved["version"]))

    def list_files(
        self, asset: Asset, snapshot_id: str, path_prefix: str, page: PageRequest
    ) -> Page[FileSnapshot]:
        """The files of a snapshot whose path begins so, in the order of their paths."""
        query = Query(
            table=ASSET_FILE_VERSIONS,
            partition=_version_key(asset, snapshot_id),
            sort_prefix=path_prefix,
            consistent=True,
        )
        found = self.tables.query(query, page)
        return Page(tuple(FileSnapshot.model_validate(i) for i in found.items), found.after)

    def snapshots(
        self, asset: Asset, snapshot_ids: Iterable[str], paths: Sequence[str]
    ) -> dict[tuple[str, str], FileSnapshot]:
        """By snapshot and path what the snapshots of versions hold of these files."""
        partitions = {_version_key(asset, each): each for each in snapshot_ids}
        wanted = [
            (ASSET_FILE_VERSIONS, {keys.ASSET_VERSION.name: partition, FILE_KEY.name: path})
            for partition in partitions
            for path in paths
        ]
        found: dict[tuple[str, str], FileSnapshot] = {}
        for _, item in self.tables.get_many(wanted):
            snapshot = FileSnapshot.model_validate(item)
            found[partitions[item[keys.ASSET_VERSION.name]], snapshot.file_key] = snapshot
        return found


def _asset_key(asset: Asset) -> str:
    return keys.ASSET.build(asset.database_id, asset.asset_id)


def _version_key(asset: Asset, snapshot_id: str) -> str:
    return keys.ASSET_VERSION.build(asset.database_id, asset.asset_id, snapshot_id)
