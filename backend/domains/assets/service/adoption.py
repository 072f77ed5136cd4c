"""Creates assets from existing folders of a bucket, for the slices that find these folders."""

from dataclasses import dataclass

from backend.core.authorization import Authorization, require
from backend.core.clock import Clock, iso
from backend.core.identity import Identity
from backend.domains.assets import rules
from backend.domains.assets.models import Asset, NewAsset
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.new_rows import first_version, new_asset
from backend.domains.assets.service.permissions import secured_request
from backend.domains.buckets.models import AssetBucket
from backend.domains.databases.service import DatabaseService


@dataclass(eq=False, repr=False)
class FolderAdoption:
    """Unlike a request, a folder has no tags: required ones must be set with the next edit."""

    assets: AssetRepository
    databases: DatabaseService
    authorization: Authorization
    clock: Clock

    def adopt(
        self, caller: Identity, bucket: AssetBucket, asset_id: str, *, database_id: str, about: str
    ) -> Asset:
        """Create an asset from the folder of that name below the bucket's base prefix.

        The folder remains in its bucket, even if the database has another default bucket; `about`
        is the description of the asset. Its files are indexed once the asset is written.

        Raises:
            AssetIdTakenError: the id is in use in the deployment.
            DatabaseNotFoundError: the database does not exist.
            InvalidInputError: the folder's name is reserved or not a valid asset id, or leaves no
                room for paths.
            PrefixTakenError: the folder belongs to an asset, or contains assets.
        """
        prefix = rules.require_adoptable_prefix(bucket.key_prefix, asset_id)
        rules.check_asset_key_room(database_id, asset_id)
        body = NewAsset(
            database_id=database_id,
            asset_name=asset_id,
            description=about,
            is_distributable=True,
        )
        require(self.authorization, caller, "PUT", secured_request(body))
        asset = new_asset(
            body,
            asset_id,
            by=caller.user_id,
            at=iso(self.clock()),
            bucket_id=bucket.bucket_id,
            prefix=prefix,
            with_files=True,
        )
        self.assets.create(
            asset,
            first_version(asset),
            ancestors=rules.ancestors(bucket.key_prefix, prefix),
            counted=self.databases.count_assets(database_id, asset_id, 1),
        )
        return asset
