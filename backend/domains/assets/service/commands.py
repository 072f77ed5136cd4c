"""Creates, changes and removes assets."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from backend.core.authorization import Authorization, require
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_asset_id
from backend.core.objects import Objects
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.assets import rules
from backend.domains.assets.errors import AssetNotFoundError, AssetRevisionError, PrefixTakenError
from backend.domains.assets.models import (
    FIRST_VERSION,
    Asset,
    AssetVersion,
    CreateAssetBody,
    CurrentVersion,
    Location,
    NewAsset,
    UpdateAssetBody,
)
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.service.queries import AssetQueries, secured, secured_request
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.models import AssetBucket, BucketKey
from backend.domains.databases.errors import DatabaseNotFoundError
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
            source="createDirect",
        )
        return asset


# The first `inheritedRevision` of an asset that is created from a folder. Its files exist already,
# and are indexed as after a change of inherited attributes.
_WITH_FILES = 2


class PlannedAsset(NamedTuple):
    """An asset that may be created, and the prefixes between its bucket's base and its own."""

    asset: Asset
    ancestors: tuple[str, ...]


def new_asset(
    body: NewAsset,
    asset_id: str,
    *,
    by: str,
    at: str,
    bucket_id: str,
    prefix: str,
    with_files: bool,
    is_empty: bool = False,
) -> Asset:
    """Return a new asset that is not written yet.

    `with_files` is true if it is made of a folder, `is_empty` if there is no object of it.
    """
    version = CurrentVersion(
        version=FIRST_VERSION,
        date_modified=at,
        comment="The asset was created",
        description=body.description,
        created_by=by,
    )
    return Asset(
        database_id=body.database_id,
        asset_id=asset_id,
        asset_name=body.asset_name,
        description=body.description,
        is_distributable=body.is_distributable,
        tags=body.tags or [],
        bucket_id=bucket_id,
        asset_location=Location(key=prefix),
        current_version=version,
        created_at=at,
        created_by=by,
        updated_at=at,
        inherited_revision=_WITH_FILES if with_files else 1,
        typed_files=[] if is_empty else None,
    )


def first_version(asset: Asset) -> AssetVersion:
    """Return the row of the version that a new asset names as its current one."""
    version = asset.current_version
    return AssetVersion(
        asset_version_id=version.version,
        comment=version.comment,
        description=version.description,
        date_created=version.date_modified,
        created_at=version.date_modified,
        created_by=version.created_by,
    )


if TYPE_CHECKING:
    from backend.domains.tags.service import TagService
_ATTEMPTS = 20  # of an edit that conflicts with others of the asset


@dataclass(eq=False, repr=False)
class AssetService(AssetQueries):
    """The commands, and the queries: most slices that change assets read them too."""

    tags: "TagService"
    objects: Objects
    audit: AuditService
    new_id: NewId = new_asset_id

    def create_asset(self, caller: Identity, body: CreateAssetBody) -> Asset:
        """Create an asset without files and its first version, and reserve its id and prefix.

        Raises:
            AssetIdTakenError: the id is in use in the deployment.
            DatabaseNotFoundError: the database does not exist.
            InvalidInputError: a tag is missing, unknown or required, the id leaves no room for
                paths, or `bucketExistingKey` names no folder that may become an asset.
            PrefixTakenError: the prefix overlaps another asset's.
        """
        return self.create_planned(self.plan_asset(caller, body))

    def plan_asset(self, caller: Identity, body: CreateAssetBody) -> PlannedAsset:
        """Return the asset that `create_asset` would create; nothing is written.

        Raises:
            DatabaseNotFoundError: the database does not exist.
            InvalidInputError: as in `create_asset`.
            PermissionDeniedError: the caller may not create it, use a tag, or adopt the folder.
            PrefixTakenError: `bucketExistingKey` belongs to another asset and is empty.
        """
        require(self.authorization, caller, "PUT", secured_request(body))
        asset_id = body.asset_id or self.new_id()
        rules.check_asset_key_room(body.database_id, asset_id)
        database = self.databases.find_database(body.database_id)
        if database is None:
            raise DatabaseNotFoundError(body.database_id)
        self.tags.check_tags(caller, body.database_id, body.tags or [])
        bucket = self.databases.bucket_of(database)
        if body.bucket_existing_key:  # the folder may contain objects of other programs
            self.buckets.bucket_for(caller, "POST", bucket.bucket_id)
        prefix = self._prefix(bucket, asset_id, body.bucket_existing_key)
        asset = new_asset(
            body,
            asset_id,
            by=caller.user_id,
            at=iso(self.clock()),
            bucket_id=bucket.bucket_id,
            prefix=prefix,
            with_files=bool(body.bucket_existing_key),
            # Another program may have written to a folder whose name the caller has chosen.
            is_empty=not body.bucket_existing_key
            and (body.asset_id is None or self._is_empty(bucket, prefix)),
        )
        return PlannedAsset(asset, rules.ancestors(bucket.key_prefix, prefix))

    def create_planned(self, planned: PlannedAsset) -> Asset:
        """Write an asset that was planned.

        Raises:
            AssetIdTakenError: the id is in use in the deployment.
            DatabaseNotFoundError: the database does not exist.
            PrefixTakenError: the prefix overlaps another asset's.
        """
        asset = planned.asset
        self.assets.create(
            asset,
            first_version(asset),
            ancestors=planned.ancestors,
            counted=self.databases.count_assets(asset.database_id, asset.asset_id, 1),
        )
        return asset

    def update_asset(
        self,
        caller: Identity,
        database_id: str,
        asset_id: str,
        body: UpdateAssetBody,
        *,
        expected_revision: int | None = None,
    ) -> Asset:
        """Change the fields of the body; concurrent edits of other fields are kept.

        Raises:
            AssetNotFoundError: it does not exist, or the caller may not see it.
            AssetRevisionError: its revision is not the expected one, or it is changed concurrently
                at every attempt.
            InvalidInputError: a tag is unknown, or a required one is missing.
            PermissionDeniedError: the caller may not change it, not to these values, or not use a
                tag.
        """
        for _ in range(_ATTEMPTS):  # by hand: no attempt follows if a revision is expected
            asset = self.asset_for(caller, "PUT", database_id, asset_id)
            if body.tags is not None:
                self.tags.check_tags(caller, database_id, body.tags, carried=asset.tags)
            if expected_revision is not None and expected_revision != asset.revision:
                raise AssetRevisionError(asset_id)
            changes = rules.changed_attributes(asset, body)
            if not changes:
                return asset
            changed = asset.model_copy(update=body.model_dump(exclude_none=True))
            require(self.authorization, caller, "PUT", secured(changed))
            now = self.clock()
            name = audit_entity("asset", asset.database_id, asset.asset_id)
            old = asset.model_dump(by_alias=True)
            new = old | dict(changes)
            entry = self.audit.entry(caller, "update_asset", name, before=old, after=new, at=now)
            edit, counters = {**changes, "updatedAt": iso(now)}, rules.counters_of(changes)
            row = self.assets.edit_write(changed, by=caller.user_id, at=iso(now))
            try:
                return self.assets.change(asset, edit, entry, row, counters=counters)
            except AssetRevisionError:
                if expected_revision is not None:
                    raise
        raise AssetRevisionError(asset_id)

    def set_content(
        self, asset: Asset, *, asset_type: str | None = None, preview_key: str | None = None
    ) -> Asset:
        """Write attributes that follow from the asset's files.

        An empty `preview_key` clears the preview.

        No permission is checked: for the slices that write files.

        Raises:
            AssetNotFoundError: the asset is archived or deleted.
        """
        changes: dict[str, Any] = {}
        if asset_type is not None and asset_type != asset.asset_type:
            changes["assetType"] = asset_type
        if preview_key is not None:
            changes["previewLocation"] = {"Key": preview_key} if preview_key else None
        if not changes:
            return asset
        edit = {**changes, "updatedAt": iso(self.clock())}
        return self.assets.touch(asset, edit, counters=rules.counters_of(changes))

    def record_typed_file(self, asset: Asset, path: str) -> None:
        """Record that a file may have a primary type, before its object is written.

        No permission is checked, as in `set_content`.

        Raises:
            AssetNotFoundError: the asset is archived or deleted.
            AssetRevisionError: it is changed concurrently at every attempt.
        """
        for _ in range(_ATTEMPTS):  # by hand: the first attempt needs no read
            changes = rules.with_typed_file(asset, path)
            if changes is None:
                return
            try:
                self.assets.change(asset, changes)
            except AssetRevisionError:
                current = self.find_asset(asset.database_id, asset.asset_id)
                if current is None or current.is_archived:
                    raise AssetNotFoundError(asset.database_id, asset.asset_id) from None
                asset = current
                continue
            return
        raise AssetRevisionError(asset.asset_id)

    def sets_version(self, asset: Asset, current: CurrentVersion, *, at: datetime) -> Write:
        """Return the write of an asset's current version, refused with AssetRevisionError."""
        stored = current.model_dump(by_alias=True, exclude_none=True)
        return self.assets.sets_version(asset, {"currentVersion": stored, "updatedAt": iso(at)})

    def withdraw_preview(self, asset: Asset, entry: Write, *, at: str) -> None:
        """Remove the preview of the asset, with an audit entry; AssetRevisionError as `change`.

        No permission is checked, as in `set_content`.
        """
        self.assets.change(asset, {"previewLocation": None, "updatedAt": at}, entry)

    def move_writes(
        self, caller: Identity, asset: Asset, changed: Asset, *, reason: str | None = None
    ) -> list[Write]:
        """Return the writes that archive or restore an asset, refused with AssetRevisionError.

        They update the count of its database, refused with DatabaseNotFoundError. `reason` is that
        of a restoration.
        """
        by = -1 if changed.is_archived else 1
        counted = self.databases.count_assets(asset.database_id, asset.asset_id, by)
        row = self.assets.history_write(
            changed,
            "archive" if changed.is_archived else "unarchive",
            by=caller.user_id,
            at=changed.updated_at,
            unarchived_reason=reason,
        )
        return [*self.assets.move_writes(asset, changed), counted, row]

    def removal_writes(
        self, caller: Identity, asset: Asset, job_id: str, *, at: datetime
    ) -> list[Write]:
        """Return the writes that remove an asset's row, refused with AssetRevisionError.

        Its id and prefix remain reserved for this job until `release`.
        """
        after = asset.model_copy(update={"revision": asset.revision + 1})
        row = self.assets.history_write(after, "permanentDelete", by=caller.user_id, at=iso(at))
        writes = [*self.assets.removal_writes(asset, job_id), row]
        if not asset.is_archived:
            writes.append(self.databases.count_assets(asset.database_id, asset.asset_id, -1))
        return writes

    def release(self, asset: AssetRef, job_id: str, *, bucket_id: str, prefix: str) -> None:
        """Release id and prefix of a deleted asset; no effect if repeated."""
        self.assets.release(
            asset,
            bucket_id=bucket_id,
            prefix=prefix,
            ancestors=rules.ancestors(self.buckets.get_bucket(bucket_id).key_prefix, prefix),
            deleted_by=job_id,
        )

    def _prefix(self, bucket: AssetBucket, asset_id: str, existing: str | None) -> str:
        if not existing:
            return rules.asset_prefix(bucket.key_prefix, asset_id)
        prefix = rules.existing_prefix(bucket.key_prefix, existing)
        if self._is_empty(bucket, prefix):
            if self.assets.owners([BucketKey(bucket.bucket_id, prefix)]):
                raise PrefixTakenError(prefix)  # as for a folder with content: both look the same
            raise InvalidInputError.of("bucketExistingKey", f"the bucket is empty below {prefix}")
        return prefix

    def _is_empty(self, bucket: AssetBucket, prefix: str) -> bool:
        return not self.objects.list_objects(bucket.bucket_name, prefix, limit=1).objects
