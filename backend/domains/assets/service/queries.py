"""Reads assets and their versions. Writes nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from backend.core.authorization import Authorization, Secured, require
from backend.core.clock import Clock
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.objects import ObjectRef
from backend.core.paging import (
    MAX_BYTES_PER_PAGE,
    MAX_TIME_PER_PAGE,
    Page,
    PageRequest,
    Position,
    fill,
    json_bytes,
)
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.assets import rules
from backend.domains.assets.errors import AssetNotFoundError, AssetVersionNotFoundError
from backend.domains.assets.models import NO_FILES, Asset, AssetChange, AssetVersion, NewAsset
from backend.domains.assets.repository import AssetRepository, history_position
from backend.domains.buckets.models import AssetBucket, BucketKey
from backend.domains.buckets.service import BucketService
from backend.domains.databases.errors import DatabaseNotFoundError
from backend.domains.databases.service import DatabaseService
from backend.spec.keys import active
from backend.spec.routes import Action


def secured(asset: Asset) -> Secured:
    """Return an asset as permissions see it."""
    return Secured(
        "asset",
        {
            "databaseId": asset.database_id,
            "assetName": asset.asset_name,
            "assetType": asset.asset_type,
            "tags": tuple(asset.tags),
        },
    )


def secured_request(body: NewAsset) -> Secured:
    """Return an asset that does not exist yet, as permissions see it."""
    return Secured(
        "asset",
        {
            "databaseId": body.database_id,
            "assetName": body.asset_name,
            "assetType": NO_FILES,
            "tags": tuple(body.tags or ()),
        },
    )


# Rows that one request reads ahead; those of their assets are read only until the page is full.
_DATABASES_AT_ONCE = 100


@dataclass(eq=False, repr=False)
class AssetQueries:
    assets: AssetRepository
    databases: DatabaseService
    buckets: BucketService
    authorization: Authorization
    clock: Clock

    def get_asset(
        self, caller: Identity, database_id: str, asset_id: str, *, show_archived: bool = False
    ) -> Asset:
        """Return one asset. Archived assets are returned only with `show_archived`.

        Raises:
            AssetNotFoundError: it does not exist, or the caller may not see it.
        """
        asset = self.assets.get(database_id, asset_id, in_archive=show_archived)
        if asset is None or not self.authorization.may(caller, "GET", secured(asset)):
            raise AssetNotFoundError(database_id, asset_id)
        return asset

    def asset_for(self, caller: Identity, action: Action, database_id: str, asset_id: str) -> Asset:
        """Return an active asset on which the caller may perform the action.

        Raises:
            AssetNotFoundError: it does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may see it, but not perform the action.
        """
        asset = self.get_asset(caller, database_id, asset_id)
        require(self.authorization, caller, action, secured(asset))
        return asset

    def asset_by_id(
        self, caller: Identity, action: Action, asset_id: str, *, show_archived: bool = False
    ) -> Asset:
        """Return an asset by its id alone, which is unique in a deployment; as `asset_for`.

        Raises:
            AssetNotFoundError: as `get_asset`; the error names no database.
            PermissionDeniedError: the caller may see it, but not perform the action.
        """
        database_id = self.assets.database_of(asset_id)
        if database_id is None:
            raise AssetNotFoundError(None, asset_id)
        try:
            asset = self.get_asset(caller, database_id, asset_id, show_archived=show_archived)
        except NotFoundError:
            raise AssetNotFoundError(None, asset_id) from None
        require(self.authorization, caller, action, secured(asset))
        return asset

    def visible(self, caller: Identity, wanted: Iterable[AssetRef]) -> dict[str, Asset]:
        """Return those of the assets that are active and visible to the caller, by id."""
        may = self.authorization.may
        return {
            asset.asset_id: asset
            for asset in self.assets.get_many(wanted)
            if may(caller, "GET", secured(asset))
        }

    def database_of(self, asset_id: str) -> str | None:
        """Return the database in which the id is used, for other slices.

        No permission is checked.
        """
        return self.assets.database_of(asset_id)

    def get_bucket(self, bucket_id: str) -> AssetBucket:
        return self.buckets.get_bucket(bucket_id)

    def list_assets(
        self, caller: Identity, database_id: str, page: PageRequest, *, show_archived: bool = False
    ) -> Page[Asset]:
        """Return the assets of a database that the caller may see, by id; then the archived ones.

        Raises:
            DatabaseNotFoundError: the database does not exist, or the caller may not see it.
        """
        partitions = rules.partitions_of(database_id, show_archived=show_archived)
        if show_archived:  # archived assets outlive their database, until it is purged
            self.databases.check_known(caller, database_id)
            return self._visible(caller, partitions, page)
        if not self.databases.may_see(caller, database_id):
            raise DatabaseNotFoundError(database_id)
        assets = self._visible(caller, partitions, page)
        if not assets.items:  # no active asset is in a database that does not exist
            self.databases.get_database(caller, database_id)
        return assets

    def list_history(self, caller: Identity, ref: AssetRef, page: PageRequest) -> Page[AssetChange]:
        """Return the changes of an asset, newest first, and of deleted ones that had its id.

        A change is left out if the caller could not see the asset that it describes.

        Raises:
            AssetNotFoundError: no asset has the id, or the caller may not see it.
        """
        self.get_asset(caller, *ref.ids, show_archived=True)

        def is_visible(change: AssetChange) -> bool:
            snapshot = change.asset_snapshot
            fields = {
                "databaseId": change.database_id,
                "assetName": snapshot.asset_name,
                "assetType": snapshot.asset_type,
                "tags": tuple(snapshot.tags),
            }
            return self.authorization.may(caller, "GET", Secured("asset", fields))

        return fill(
            lambda request: self.assets.list_history(ref, request),
            page,
            visible=is_visible,
            position_of=history_position,
        )

    def list_all_assets(
        self, caller: Identity, page: PageRequest, *, show_archived: bool = False
    ) -> Page[Asset]:
        """Return assets of all databases that the caller may see, database by database.

        A position is a database and, if it is not read to its end, the key of its last asset. A
        page ends early after two seconds, two megabytes, or 5,000 rows of one database.
        """
        assets, room, stop = list[Asset](), MAX_BYTES_PER_PAGE, self.clock() + MAX_TIME_PER_PAGE
        read: Position | None = None
        for row, after in self._unread(caller, page.after or {}, show_archived):
            left = page.limit - len(assets) if room > 0 else 0
            if read is not None and (left == 0 or self.clock() >= stop):
                return Page(tuple(assets), read)
            partitions = rules.partitions_of(active(row), show_archived=show_archived)
            part = self._visible(caller, partitions, PageRequest(left, after))
            assets.extend(part.items)
            room -= sum(map(json_bytes, part.items))
            read = {"database": row}
            if part.after is not None:
                return Page(tuple(assets), {**read, "asset": part.after})
        return Page(tuple(assets))

    def find_asset(self, database_id: str, asset_id: str) -> Asset | None:
        """Return the asset, active or archived, for other slices: no permission is checked."""
        return self.assets.get(database_id, asset_id, in_archive=True)

    def find_active(self, database_id: str, asset_id: str) -> Asset | None:
        """As `find_asset`, of active assets only."""
        return self.assets.get(database_id, asset_id)

    def find_many_active(self, wanted: Iterable[AssetRef]) -> dict[AssetRef, Asset]:
        """As `find_active`, for several assets."""
        return {asset.ref: asset for asset in self.assets.get_many(set(wanted))}

    def is_deleted_by(self, asset_id: str, job_id: str) -> bool:
        """Return whether this job has not yet deleted all data of the asset."""
        return self.assets.is_deleted_by(asset_id, job_id)

    def require_active(self, asset: Asset) -> Write:
        """Return the condition that the asset still exists and is active.

        A transaction whose condition fails is refused with AssetNotFoundError.
        """
        return self.assets.require_active(asset)

    def get_version(self, asset: Asset, asset_version_id: str) -> AssetVersion:
        """Return the asset's version with that id.

        Raises:
            AssetVersionNotFoundError: the asset has no such version.
        """
        version = self.assets.get_version(asset, asset_version_id)
        if version is None:
            raise AssetVersionNotFoundError(asset.asset_id, asset_version_id)
        return version

    def version_with_alias(self, asset: Asset, alias: str) -> AssetVersion:
        """Return the asset's version with that alias.

        Raises:
            AssetVersionNotFoundError: the asset has no such version.
        """
        version = self.assets.version_with_alias(asset, alias)
        if version is None:
            raise AssetVersionNotFoundError(asset.asset_id, alias)
        return version

    def wanted_version(
        self, asset: Asset, asset_version_id: str | None, alias: str | None
    ) -> AssetVersion | None:
        """Return the version that is named by its id or by its alias; None if neither is set.

        Raises:
            AssetVersionNotFoundError: the asset has no such version.
        """
        if asset_version_id is not None:
            return self.get_version(asset, asset_version_id)
        return None if alias is None else self.version_with_alias(asset, alias)

    def location(self, asset: Asset) -> ObjectRef:
        """Return the bucket's name and the prefix of the asset's files in it."""
        return ObjectRef(self.get_bucket(asset.bucket_id).bucket_name, asset.asset_location.key)

    def bucket_names(self, assets: Iterable[Asset]) -> Mapping[str, str]:
        """Return the names of the assets' buckets by bucket id, each read once."""
        wanted = {asset.bucket_id for asset in assets}
        return {bucket_id: self.buckets.get_bucket(bucket_id).bucket_name for bucket_id in wanted}

    def owners(self, objects: Iterable[BucketKey]) -> dict[BucketKey, AssetRef]:
        """Return the asset of each object, for other slices.

        Objects that belong to no asset are left out; archived assets still own theirs.
        """
        return self.assets.owners(objects)

    def _visible(self, caller: Identity, parts: Sequence[str], page: PageRequest) -> Page[Asset]:
        return fill(
            lambda request: _list_in_partitions(self.assets, parts, request),
            page,
            visible=lambda asset: self.authorization.may(caller, "GET", secured(asset)),
            position_of=lambda asset: {"databaseId": asset.partition, "assetId": asset.asset_id},
        )

    def _unread(
        self, caller: Identity, position: Position, show_archived: bool
    ) -> Iterator[tuple[str, Position | None]]:
        """Return the rows of databases from a position on; the first may have an asset's key."""
        after = None
        if position:
            last: str = position["database"]
            if "asset" in position and self.databases.is_listed(caller, last):
                yield last, position["asset"]
            after = {"databaseId": last}
        list_page = self.databases.list_known if show_archived else self.databases.list_with_assets
        while True:
            page = list_page(caller, PageRequest(_DATABASES_AT_ONCE, after))
            yield from ((database.partition, None) for database in page.items)
            if page.after is None:
                return
            after = page.after


def _list_in_partitions(
    assets: AssetRepository, partitions: Sequence[str], page: PageRequest
) -> Page[Asset]:
    """Return a page of at most two partitions, the second one after the first.

    A position names the partition in which it is, and the last asset that was read of it, if any.
    """
    place = page.after or {"databaseId": partitions[0]}
    partition = place["databaseId"]
    after = place if "assetId" in place else None
    listed = assets.list_in_partition(partition, PageRequest(page.limit, after))
    if listed.after is None and partition != partitions[-1]:
        return Page(listed.items, {"databaseId": partitions[-1]})
    return listed
