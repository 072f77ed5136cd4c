"""Reverts files, sets their primary type, and deletes auxiliary files and previews."""

from collections.abc import Callable
from dataclasses import dataclass

from backend.core.attempts import attempts
from backend.core.clock import Clock, iso
from backend.core.errors import InvalidInputError
from backend.core.file_kinds import is_preview
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects, ObjectVersion
from backend.core.references import AssetRef
from backend.domains.assets.errors import AssetRevisionError, PreviewNotFoundError
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.files.errors import FileVersionNotFoundError
from backend.domains.files.models import FileChange
from backend.domains.files.service.change_runner import ChangeRunner, Planned
from backend.domains.files.service.commands import Changed
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.queries import FileQueries
from backend.spec import routes
from backend.spec.buckets import PRIMARY_TYPE_METADATA
from backend.spec.key_layouts import auxiliary_folder

_ATTEMPTS = 8  # of an edit that conflicts with others of the asset


@dataclass(eq=False, repr=False)
class FileRewrites:
    """`auxiliary` names the bucket of what viewers and pipelines created."""

    lookup: FileLookup
    files: FileQueries
    assets: AssetService
    objects: Objects
    runner: ChangeRunner
    audit: AuditService
    auxiliary: Callable[[], str]
    clock: Clock

    def revert_file_version(
        self, caller: Identity, ref: AssetRef, sent: str, version_id: str
    ) -> Changed:
        """Restore an old version of a file as its newest one.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            FileNotFoundInAssetError: the file does not exist.
            FileQuarantinedError: a malware scan found a threat in the version.
            FileStateError: the file is archived.
            FileVersionNotFoundError: it has no such version.
            InvalidInputError: the version is a marker.
            PermissionDeniedError: the caller may see the asset, but not change its files.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.place(asset, sent)
        change = FileChange(operation="revertFileVersion", path=place.path, version_id=version_id)

        def plan() -> Planned:
            head = self.lookup.active(place)
            source = self.objects.head(place.bucket, place.key, version_id=version_id)
            if source is None:
                raise FileVersionNotFoundError(place.path, version_id)
            if isinstance(source, ObjectVersion):
                raise InvalidInputError.of(
                    "versionId",
                    "is the version that marks the file as archived, and has no content",
                )
            self.lookup.check_clean(place, version_id)
            before = {"versionId": head.version.version_id}
            after = {"revertedFromVersionId": version_id}
            return Planned(asset, change, routes.REVERT_FILE_VERSION, before, after, version_id)

        return Changed((place.path,), self.runner.run(caller, asset, change, plan))

    def set_primary_file(
        self, caller: Identity, ref: AssetRef, sent: str, primary_type: str
    ) -> Changed:
        """Set the primary type of a file, by a new version of it.

        A file that already has the type is unchanged.

        Raises:
            As `revert_file_version`.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.place(asset, sent)
        if is_preview(place.key):
            raise InvalidInputError.of(
                "filePath", "is a preview; previews are changed with their file"
            )
        now = self.lookup.active(place).metadata.get(PRIMARY_TYPE_METADATA, "")
        if now == primary_type:
            return Changed((place.path,))
        change = FileChange(operation="setPrimaryFile", path=place.path, primary_type=primary_type)

        def plan() -> Planned:
            head = self.lookup.active(place)
            self.lookup.check_clean(place, head.version.version_id)
            before = {"primaryType": head.metadata.get(PRIMARY_TYPE_METADATA, "")}
            after = {"primaryType": primary_type}
            return Planned(asset, change, routes.SET_PRIMARY_FILE, before, after)

        return Changed((place.path,), self.runner.run(caller, asset, change, plan))

    def delete_auxiliary_files(self, caller: Identity, ref: AssetRef, sent: str) -> Changed:
        """Delete the auxiliary files of a file, or of the files of a folder.

        The path `/` means all files of the asset. The file itself need not exist.

        Raises:
            As `revert_file_version`.
        """
        asset = self.lookup.asset(caller, ref)
        if sent == "/":
            path = sent
        else:
            path = self.lookup.place(asset, sent, is_prefix=sent.endswith("/")).path
        folder = auxiliary_folder(asset.asset_id, path)
        # Of the keys with a file's name as prefix, the name itself is the first.
        first = [
            item.key
            for beginning in (folder, folder[:-1])
            for item in self.objects.list_objects(self.auxiliary(), beginning, limit=1).objects
        ]
        if not any(key.startswith(folder) or key == folder[:-1] for key in first):
            return Changed((path,))
        change = FileChange(operation="deleteAuxiliaryPreviewAssetFiles", path=path)

        def plan() -> Planned:
            before = {"auxiliaryFiles": folder}
            return Planned(asset, change, routes.DELETE_AUXILIARY_FILES, before, {})

        return Changed((path,), self.runner.run(caller, asset, change, plan))

    @attempts(_ATTEMPTS, AssetRevisionError)
    def delete_asset_preview(self, caller: Identity, ref: AssetRef) -> str:
        """Delete the preview of the asset, and return the asset's id.

        A preview at the asset's root is a file, and is archived.

        Raises:
            AssetRevisionError: the asset is changed concurrently at every attempt.
            PreviewNotFoundError: it has no preview.
            Others as `revert_file_version`.
        """
        asset = self.lookup.asset(caller, ref)
        if asset.preview_location is None:
            _, key = self.files.preview_of(asset)
            if key is None:
                raise PreviewNotFoundError(asset.asset_id)
            place = self.lookup.place(asset, key)
            change = FileChange(operation="archiveFile", path=place.path)

            def plan() -> Planned:
                if not isinstance(self.objects.head(place.bucket, place.key), ObjectHead):
                    raise PreviewNotFoundError(asset.asset_id)
                before, after = {"status": "active"}, {"status": "archived"}
                return Planned(asset, change, routes.DELETE_ASSET_PREVIEW, before, after)

            self.runner.run(caller, asset, change, plan)
            return asset.asset_id
        now = self.clock()
        entry = self.audit.entry(
            caller,
            routes.DELETE_ASSET_PREVIEW.name,
            audit_entity("asset", asset.database_id, asset.asset_id),
            before={"previewLocation": asset.preview_location.model_dump(by_alias=True)},
            after={},
            at=now,
        )
        # The row first: a request that dies then leaves an object that nothing names, instead of a
        # name without an object.
        self.assets.withdraw_preview(asset, entry, at=iso(now))
        bucket, _ = self.assets.location(asset)
        self.objects.delete(bucket, asset.preview_location.key)
        return asset.asset_id
