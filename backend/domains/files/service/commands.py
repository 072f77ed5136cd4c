"""Creates folders, and moves, copies, archives, restores and deletes files of assets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.authorization import require
from backend.core.errors import InvalidInputError
from backend.core.file_kinds import is_preview
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects, ObjectVersion
from backend.core.references import AssetRef
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.assets.service.queries import secured
from backend.domains.files import rules
from backend.domains.files.errors import FileExistsInAssetError, FileStateError
from backend.domains.files.models import FileChange
from backend.domains.files.models.replies import CopyFileBody
from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.change_runner import ChangeRunner, Planned
from backend.domains.files.service.lookup import FileLookup, Named, owner_of
from backend.domains.jobs.models import Job
from backend.spec import routes


class Changed(NamedTuple):
    """The result of a change: its paths, and its job in the current state.

    There is no job if nothing had to be done; `more` files of a folder may be affected.
    """

    paths: tuple[str, ...]
    job: Job | None = None
    more: bool = False

    @property
    def open_job_id(self) -> str | None:
        """Return the id of the job that continues after the reply."""
        return None if self.job is None or self.job.is_finished else self.job.job_id


@dataclass(eq=False, repr=False)
class FileCommands:
    """Changes files. Every method requires the permission to POST on the asset of the files."""

    lookup: FileLookup
    assets: AssetService
    objects: Objects
    changes: FileChangeRepository
    runner: ChangeRunner

    def create_folder(self, caller: Identity, ref: AssetRef, sent: str) -> Changed:
        """Create an empty folder.

        Raises:
            AssetNotFoundError: the asset does not exist, or the caller may not see it.
            FileExistsInAssetError: the folder, or a file of that name, exists.
            InvalidInputError: the path is invalid.
            PermissionDeniedError: the caller may see the asset, but not change its files.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.folder(asset, sent, field="relativeKey")
        rules.check_visible_path(place.path, field="relativeKey")
        rules.require_short_keys(owner_of(place), place.path, field="relativeKey")
        change = FileChange(operation="createFolder", path=place.path)

        def plan() -> Planned:
            if self.objects.list_objects(place.bucket, place.key, limit=1).objects:
                raise FileExistsInAssetError(place.path, asset.asset_id)
            if isinstance(self.objects.head(place.bucket, place.key[:-1]), ObjectHead):
                raise FileExistsInAssetError(place.path[:-1], asset.asset_id)
            after = {"path": place.path}
            return Planned(asset, change, routes.CREATE_FOLDER, {}, after)

        return self._run(caller, asset, change, plan, (place.path,))

    def move_file(self, caller: Identity, ref: AssetRef, source: str, destination: str) -> Changed:
        """Move a file within its asset, with metadata, attributes, previews and viewer data.

        The source remains as archived versions, which asset versions may contain. An archived file
        at the destination gets the content as its newest version.

        Raises:
            FileExistsInAssetError: the destination exists, or is an archived file with data that
                has no versions.
            FileNotFoundInAssetError: the file does not exist.
            FileQuarantinedError: a malware scan found a threat in it.
            InvalidInputError: the source is archived or a preview, or the destination is not
                allowed in this database.
            Others as `create_folder`.
        """
        asset = self.lookup.asset(caller, ref)
        source_place = self.lookup.source(asset, source)
        target = self.lookup.destination(asset, destination)
        if source_place.key == target.key:
            raise InvalidInputError.of("destinationPath", "is the file's current path")
        change = FileChange(operation="moveFile", path=source_place.path, target_path=target.path)

        def plan() -> Planned:
            head = self.lookup.readable(source_place)
            self.lookup.require_unused_name(target)
            before, after = {"path": source_place.path}, {"path": target.path}
            version = head.version.version_id
            return Planned(asset, change, routes.MOVE_FILE, before, after, version)

        return self._run(caller, asset, change, plan, (source_place.path, target.path))

    def move_folder(
        self, caller: Identity, ref: AssetRef, source: str, destination: str
    ) -> Changed:
        """Move the files of a folder, each as `move_file` does, and its empty folders.

        The job names the files that it cannot move.

        Raises:
            FileExistsInAssetError: a file has the name of the destination.
            FileNotFoundInAssetError: the folder does not exist.
            InvalidInputError: one of the folders is the other one, or contains it.
            Others as `create_folder`.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.folder(asset, source, field="sourcePath")
        target = self.lookup.folder(asset, destination, field="destinationPath")
        rules.check_visible_path(target.path, field="destinationPath")
        rules.require_short_keys(owner_of(target), target.path, field="destinationPath")
        rules.check_apart(place.path, target.path, field="destinationPath")
        change = FileChange(
            operation="moveFolder", path=place.path, is_prefix=True, target_path=target.path
        )

        def plan() -> Planned:
            count = self.lookup.count_files(place)
            if isinstance(self.objects.head(target.bucket, target.key[:-1]), ObjectHead):
                raise FileExistsInAssetError(target.path[:-1], asset.asset_id)
            before, after = {"path": place.path}, {"path": target.path}
            return Planned(asset, change, routes.MOVE_FOLDER, before, after, files=count)

        return self._run(caller, asset, change, plan, (place.path, target.path))

    def copy_file(self, caller: Identity, ref: AssetRef, body: CopyFileBody) -> Changed:
        """Copy a file, also to another asset, with metadata, attributes, previews, viewer data.

        Raises:
            AssetNotFoundError: one of the assets does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may not change the target, or copy files of the
                source.
            Others as `move_file`.
        """
        database_id = body.destination_database_id or ref.database_id
        asset_id = body.destination_asset_id or ref.asset_id
        asset = self.lookup.asset(caller, AssetRef(database_id, asset_id))
        # A source that is not distributable requires the permission to change it: others could
        # download the copy.
        source_asset = self.assets.asset_for(caller, "GET", *ref.ids)
        is_same = source_asset.asset_id == asset.asset_id  # which is unique in the deployment
        if not is_same and not source_asset.is_distributable:
            require(self.assets.authorization, caller, "PUT", secured(source_asset))
        source = self.lookup.source(source_asset, body.source_path)
        target = self.lookup.destination(asset, body.destination_path)
        same = source_asset.asset_id == asset.asset_id
        if same and source.key == target.key:
            raise InvalidInputError.of("destinationPath", "is the file's current path")
        change = FileChange(
            operation="copyFile",
            path=source.path,
            target_path=target.path,
            source_database_id=None if same else source_asset.database_id,
            source_asset_id=None if same else source_asset.asset_id,
        )
        demands: tuple[Write, ...] = () if same else (self.changes.require_active(source_asset),)

        def plan() -> Planned:
            head = self.lookup.readable(source)
            self.lookup.require_unused_name(target)
            version = head.version.version_id
            copied = f"{source_asset.database_id}/{source_asset.asset_id}{source.path}"
            after = {"path": target.path, "copiedFrom": copied, "copiedVersionId": version}
            return Planned(asset, change, routes.COPY_FILE, {}, after, version, demands)

        return self._run(caller, asset, change, plan, (target.path,))

    def archive_file(
        self, caller: Identity, ref: AssetRef, sent: str, *, is_prefix: bool = False
    ) -> Changed:
        """Archive a file with its previews, or all files of a folder.

        Raises:
            FileNotFoundInAssetError: the file does not exist, or the folder has no files.
            FileStateError: the file is archived.
            Others as `create_folder`.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.place(asset, sent, is_prefix=is_prefix)
        change = FileChange(operation="archiveFile", path=place.path, is_prefix=is_prefix)
        # A request that joins the job of an earlier one does not list the folder again.
        named = Named((place.path,))

        def plan() -> Planned:
            nonlocal named
            if is_prefix:
                named = self.lookup.files_in(place)
            elif isinstance(self.lookup.find_existing(place), ObjectVersion):
                raise FileStateError(place.path, "is already archived")
            before, after = {"status": "active"}, {"status": "archived"}
            return Planned(asset, change, routes.ARCHIVE_FILE, before, after)

        job = self.runner.run(caller, asset, change, plan)
        return Changed(named.paths, job, named.more)

    def unarchive_file(self, caller: Identity, ref: AssetRef, sent: str) -> Changed:
        """Restore an archived file and its preview, as new versions.

        Raises:
            FileNotFoundInAssetError: the file does not exist.
            FileQuarantinedError: a malware scan found a threat in its last version.
            FileStateError: the file is not archived.
            Others as `create_folder`.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.place(asset, sent)
        change = FileChange(operation="unarchiveFile", path=place.path)

        def plan() -> Planned:
            if not isinstance(self.lookup.find_existing(place), ObjectVersion):
                raise FileStateError(place.path, "is not archived")
            version = self.lookup.last_version(place)
            self.lookup.check_clean(place, version)
            before, after = {"status": "archived"}, {"status": "active"}
            return Planned(asset, change, routes.UNARCHIVE_FILE, before, after, version)

        return self._run(caller, asset, change, plan, (place.path,))

    def unarchive_folder(
        self, caller: Identity, ref: AssetRef, sent: str, since: str | None
    ) -> Changed:
        """Restore the archived files of a folder, with their previews, as they were.

        The job names the files that it cannot restore, because they are quarantined.

        Raises:
            FileNotFoundInAssetError: the folder does not exist.
            FileStateError: no file of it is archived.
            Others as `create_folder`.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.folder(asset, sent, field="folderPath")
        change = FileChange(
            operation="unarchiveFolder",
            path=place.path,
            is_prefix=True,
            archived_since=since,
        )

        def plan() -> Planned:
            if not self.lookup.has_archived_files(place):
                raise FileStateError(place.path, "has no archived files")
            before, after = {"status": "archived"}, {"status": "active"}
            return Planned(asset, change, routes.UNARCHIVE_FOLDER, before, after)

        return self._run(caller, asset, change, plan, (place.path,))

    def delete_file(
        self, caller: Identity, ref: AssetRef, sent: str, *, is_prefix: bool = False
    ) -> Changed:
        """Permanently delete a file, or all files of a folder, including archived ones.

        Raises:
            FileNotFoundInAssetError: the file or folder does not exist.
            InvalidInputError: it is a preview, or the asset itself.
            Others as `create_folder`.
        """
        asset = self.lookup.asset(caller, ref)
        place = self.lookup.place(asset, sent, is_prefix=is_prefix)
        if is_preview(place.key):
            raise InvalidInputError.of(
                "filePath", "is a preview; previews are changed with their file"
            )
        change = FileChange(operation="deleteFile", path=place.path, is_prefix=is_prefix)
        # A request that joins the job of an earlier one does not list the folder again.
        named = Named((place.path,))

        def plan() -> Planned:
            nonlocal named
            if is_prefix:
                named = self.lookup.all_files_in(place)
            else:
                self.lookup.find_existing(place)
            before = {"path": place.path}
            return Planned(asset, change, routes.DELETE_FILE, before, {})

        job = self.runner.run(caller, asset, change, plan)
        return Changed(named.paths, job, named.more)

    def _run(
        self,
        caller: Identity,
        asset: Asset,
        change: FileChange,
        plan: Callable[[], Planned],
        paths: Sequence[str],
    ) -> Changed:
        job = self.runner.run(caller, asset, change, plan)
        return Changed(tuple(paths), job)
