"""The context of one step of a change of files, and the end of a change."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.rebuild_requests import RebuildRequests
from backend.core.transactions import Write
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.errors import ChangeEndedError
from backend.domains.files.models import (
    ChangeCursor,
    FileChange,
    FileChangeSource,
    FileOperation,
    VersionOrigin,
)
from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.asset_pictures import AssetPictures
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget
from backend.domains.jobs.models import Job, Progress
from backend.domains.jobs.service.commands import JobService
from backend.spec.jobs import MOVE_FOLDER

CHANGE, PINNED = "change", "pinned"
"""Parameters of the job: the requested change, and the S3 version that it applies to."""
# Changes after which another file may be the picture of the asset.
_RECHOOSING = frozenset({"archiveFile", "deleteFile", "moveFile", "moveFolder", "unarchiveFolder"})
# Changes after which this file may be the picture of the asset.
_OFFERING = frozenset({"copyFile", "unarchiveFile", "setPrimaryFile"})
# Of the operations that write versions or delete markers.
_SOURCES: dict[FileOperation, FileChangeSource] = {
    "moveFile": "fileMove",
    "copyFile": "fileCopy",
    "archiveFile": "fileArchive",
    "unarchiveFile": "fileUnarchive",
    "revertFileVersion": "fileRevert",
    "setPrimaryFile": "fileMetadataUpdate",
}


class Work(NamedTuple):
    """A job, its parameters and cursor, and the file or folder that it changes."""

    job: Job
    change: FileChange
    cursor: ChangeCursor
    target: FileTarget

    @property
    def asset(self) -> Asset:
        return self.target.asset

    @property
    def caller(self) -> Identity:
        return Identity(self.job.created_by)

    @property
    def version_id(self) -> str | None:
        """Return the version that is copied."""
        return self.cursor.version_id or self.job.parameters.get(PINNED)

    @property
    def origin(self) -> VersionOrigin:
        """Return the origin of versions that this change writes."""
        source = _SOURCES[self.change.operation]
        if source == "fileMove":
            folders = {
                path.rpartition("/")[0]
                for path in (self.change.path, self.change.target_path or "")
            }
            source = "fileRename" if len(folders) == 1 else source
        return VersionOrigin(change_source=source, change_user_id=self.job.created_by)

    def origin_of_copy(self, source: FileTarget, version_id: str) -> VersionOrigin:
        """As `origin`, with the version that is copied."""
        return self.origin.model_copy(
            update={
                "change_database_id_from": source.asset.database_id,
                "change_asset_id_from": source.asset.asset_id,
                "change_asset_file_path_from": source.path,
                "change_asset_file_version_from": version_id,
            }
        )

    @property
    def mark(self) -> str:
        """Return the metadata that marks the versions which this change writes."""
        return f"{self.job.job_id.rpartition('.')[2]}.{self.cursor.turn}"


def continue_at(
    cursor: ChangeCursor, *, items: int = 0, problems: tuple[str, ...] = ()
) -> Progress:
    """Return the progress of a step that is not the last one."""
    return Progress(_dump_cursor(cursor), items=items, problems=problems)


def _dump_cursor(cursor: ChangeCursor) -> dict[str, Any]:
    return cursor.model_dump(by_alias=True, exclude_none=True)


@dataclass(eq=False, repr=False)
class Endings:
    """Ends changes of files, so that others may start.

    A worker may be delayed past its lease, and another one may end the change meanwhile: before it
    overwrites what it has read, it checks that the change has not ended. While a folder moves,
    another worker may already have moved on to other files, so the lease itself is checked.
    """

    changes: FileChangeRepository
    jobs: JobService
    files: FileQueries
    assets: AssetService
    reindexing: RebuildRequests
    pictures: AssetPictures

    def finish(
        self,
        work: Work,
        paths: Iterable[str],
        *,
        items: int = 0,
        made: str | None = None,
        retyped: bool = True,
        problems: tuple[str, ...] = (),
    ) -> Progress:
        """Return the last step; `retyped` means that the asset's type may have changed."""
        self.request_documents(work, paths)
        if retyped:
            asset = work.asset
            with suppress(NotFoundError):  # archived or deleted meanwhile: the type does not matter
                # Uploads may end at the same time: the last one to write has read the files of all.
                while (asset_type := self.files.asset_type(asset)) != asset.asset_type:
                    asset = self.assets.set_content(asset, asset_type=asset_type)
        operation = work.change.operation
        if operation in _RECHOOSING:
            self.pictures.withdraw(
                work.target,
                work.mark,
                is_folder=work.change.is_prefix,
                delete_earlier=operation == "deleteFile",
            )
        elif operation in _OFFERING:
            for path in paths:
                target = self.files.target(work.asset, path, field="path")
                self.pictures.offer(target, work.mark)
        self.changes.release(work.asset.asset_id, work.job.job_id)
        cursor = work.cursor.model_copy(update={"made": made or work.cursor.made})
        return Progress(
            _dump_cursor(cursor),
            items=items,
            finished=True,
            problems=problems,
            undone=work.job.undo,
        )

    def require_unfinished(self, work: Work) -> None:
        """Require that the change has not ended.

        Raises:
            ChangeEndedError: another worker has ended it, or continues the move of a folder.
        """
        self.changes.check_unfinished(work.job.job_id, work.asset.asset_id)
        if work.job.kind == MOVE_FOLDER.name and not self.jobs.is_held(work.job):
            raise ChangeEndedError(work.job.job_id)

    def unfinished_condition(self, work: Work) -> Write:
        """Return the same condition for a transaction."""
        if work.job.kind == MOVE_FOLDER.name:
            return self.jobs.require_held(work.job, ChangeEndedError(work.job.job_id))
        return self.changes.unfinished_condition(work.job.job_id, work.asset.asset_id)

    def request_documents(self, work: Work, paths: Iterable[str]) -> None:
        """Request the documents."""
        # Object events request them too, but an event may be lost.
        wanted = sorted(set(paths))
        if wanted:
            self.reindexing.files(work.asset.database_id, work.asset.asset_id, wanted)
