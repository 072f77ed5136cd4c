"""Stores objects of another bucket as files of an asset, under the rules of uploads.

For files that a workflow wrote. S3 requests for a file: one HEAD of its place, the first bytes, one
copy; a preview takes two more, a repetition one more and one for each version. A large file is
copied part by part, over as many calls as that takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from backend.core.errors import NotFoundError
from backend.core.file_kinds import content_type_of, executable_kind, preview_base
from backend.core.names import check_new_path
from backend.core.objects import (
    ObjectHead,
    ObjectRef,
    ObjectRefusedError,
    Objects,
    ObjectVersion,
    VersionRef,
)
from backend.core.part_copies import PartCopies, PartCopy
from backend.core.references import AssetRef
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.service import DatabaseService
from backend.domains.files.models import VersionOrigin
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.uploads import rules
from backend.domains.uploads.models import UploadType
from backend.domains.uploads.service.completion import (
    find_version,
    refusal_reason,
    replace_previews,
)
from backend.domains.uploads.service.temporary import START_BYTES
from backend.spec.buckets import CHANGE_METADATA
from backend.values import frozen

GONE = "the object no longer exists"


@frozen
class DepositPlace:
    """The place of the files of an asset, and the extensions that its database allows."""

    bucket: str
    layout: rules.Layout
    allowed: str

    def key_of(self, path: str) -> str:
        return self.layout.final_key(path)


@frozen
class Deposit:
    """An object to store as a file, under `path` as it was found.

    `change` identifies the cause, so that a repetition finds its own versions. `repeated`: an
    earlier attempt may have stored it. `copy_id` is a copy in parts that an earlier call started.
    """

    source: ObjectRef
    size: int
    path: str
    change: str
    metadata: Mapping[str, str]
    origin: VersionOrigin
    repeated: bool = False
    copy_id: str | None = None


@frozen
class Deposited:
    """The stored version, or `refused` with a reason, or unfinished if `copy_id` is set."""

    version_id: str | None = None
    refused: str | None = None
    copy_id: str | None = None


@dataclass(eq=False, repr=False)
class Deposits:
    """Stores files. No permission is checked: the calling slice has done so."""

    assets: AssetService
    databases: DatabaseService
    objects: Objects
    parts: PartCopies
    origins: OriginRecords

    def place(self, asset: Asset, upload_type: UploadType = "assetFile") -> DepositPlace:
        """Return where files of the asset are stored.

        Raises:
            NotFoundError: the asset's database does not exist.
        """
        bucket = self.assets.get_bucket(asset.bucket_id)
        database = self.databases.find_database(asset.database_id)
        if database is None:
            raise NotFoundError(f"Database {asset.database_id} does not exist")
        layout = rules.Layout(
            base=bucket.key_prefix,
            prefix=asset.asset_location.key,
            database_id=asset.database_id,
            asset_id=asset.asset_id,
            upload_id="",
            upload_type=upload_type,
        )
        return DepositPlace(
            bucket.bucket_name, layout, database.restrict_file_uploads_to_extensions
        )

    def store(self, place: DepositPlace, deposit: Deposit) -> Deposited:
        """Store an object as a file, or return the reason why it is not allowed.

        Raises:
            UnavailableError: S3 does not respond; call it again.
        """
        try:
            path = check_new_path(deposit.path)
        except ValueError as error:
            return Deposited(refused=str(error))
        problem = rules.path_problem(path, place.layout, place.allowed)
        problem = problem or rules.size_problem(deposit.size, place.layout.upload_type, path)
        if problem is not None:
            return Deposited(refused=problem)
        key = place.key_of(path)
        stored = self._stored_version(place.bucket, key, deposit)
        if stored is None:
            problem = self._base_problem(place, path) or self._content_problem(deposit)
            if problem is not None:
                return Deposited(refused=problem)
            done = self._copy_deposit(place, key, deposit)
        else:
            done = Deposited(stored)
        if done.version_id is not None and place.layout.upload_type == "assetFile":
            ref = AssetRef(place.layout.database_id, place.layout.asset_id)
            version = VersionRef(path, done.version_id)
            self.origins.record_versions(ref, {version: deposit.origin})
        return done

    def _copy_deposit(self, place: DepositPlace, key: str, deposit: Deposit) -> Deposited:
        try:
            if deposit.size > self.parts.large_bytes:
                return self._copied_by_parts(ObjectRef(place.bucket, key), deposit)
            written = self.objects.copy(
                deposit.source,
                ObjectRef(place.bucket, key),
                content_type=content_type_of(key),
                metadata=_metadata(deposit),
            )
        except ObjectRefusedError as error:
            return Deposited(refused=refusal_reason(error))
        except NotFoundError:
            return Deposited(refused=GONE)
        if place.layout.upload_type == "assetFile":
            replace_previews(self.objects, place.bucket, key)
        return Deposited(written.version_id)

    def _copied_by_parts(self, target: ObjectRef, deposit: Deposit) -> Deposited:
        if deposit.copy_id is None:
            copy_id = self.objects.create_multipart(
                *target, content_type=content_type_of(target.key), metadata=_metadata(deposit)
            )
            return Deposited(copy_id=copy_id)
        copy = PartCopy(
            source=deposit.source,
            version_id=None,
            size=deposit.size,
            target=target,
            copy_id=deposit.copy_id,
        )
        try:
            written = self.parts.copy_parts(copy)
        except ObjectRefusedError:
            self.parts.abort(copy)
            raise
        except NotFoundError:
            # Another attempt completed the copy, or the source was deleted.
            head = self.objects.head(*target)
            if self._is_ours(head, deposit.change):
                return Deposited(head.version.version_id)
            self.parts.abort(copy)
            raise
        return Deposited(written.version_id) if written else Deposited(copy_id=deposit.copy_id)

    def _stored_version(self, bucket: str, key: str, deposit: Deposit) -> str | None:
        """Return the version that an earlier attempt stored, even if it was replaced since."""
        head = self.objects.head(bucket, key)
        if self._is_ours(head, deposit.change):
            return head.version.version_id
        if head is None or not deposit.repeated:
            return None
        return find_version(
            self.objects, ObjectRef(bucket, key), lambda head: self._is_ours(head, deposit.change)
        )

    def _is_ours(
        self, head: ObjectHead | ObjectVersion | None, change: str
    ) -> TypeGuard[ObjectHead]:
        return isinstance(head, ObjectHead) and head.metadata.get(CHANGE_METADATA) == change

    def _base_problem(self, place: DepositPlace, path: str) -> str | None:
        base = preview_base(path)
        if base is None or place.layout.upload_type == "assetPreview":
            return None
        head = self.objects.head(place.bucket, place.key_of(base))
        return (
            None
            if isinstance(head, ObjectHead)
            else f"there is no file {base} that this preview could belong to"
        )

    def _content_problem(self, deposit: Deposit) -> str | None:
        if not deposit.size:
            return None
        try:
            start = self.objects.read_start(*deposit.source, length=START_BYTES)
        except NotFoundError:
            return GONE
        kind = executable_kind(start)
        return None if kind is None else f"the content is {kind}, which is not accepted"


def _metadata(deposit: Deposit) -> dict[str, str]:
    return {**deposit.metadata, CHANGE_METADATA: deposit.change}
