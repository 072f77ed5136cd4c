"""The steps of the jobs that change files, by operation.

A job works only while the item of its asset names it; a step that is repeated after its job has
ended has no effect.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from backend.core.errors import UnavailableError, VitrineError
from backend.core.objects import ObjectHead, ObjectRef, Objects, Written
from backend.domains.assets.errors import AssetNotFoundError
from backend.domains.assets.service.commands import AssetService
from backend.domains.files import rules
from backend.domains.files.errors import ChangeEndedError
from backend.domains.files.models import ChangeCursor, FileChange, FileOperation
from backend.domains.files.repository import FileChangeRepository
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.copies import Copies, FileCopy, Unfinished
from backend.domains.files.service.folder_moves import FOLDER_TYPE, FolderMoves
from backend.domains.files.service.removal import FileArchival, FileDeletion
from backend.domains.files.service.restoration import FileRestoration
from backend.domains.files.service.rows import FileTarget
from backend.domains.files.service.transfers import Transfers
from backend.domains.files.service.work import CHANGE, Endings, Work, continue_at
from backend.domains.jobs.models import Job, Progress
from backend.spec.buckets import PRIMARY_TYPE_METADATA

# Files that one step archives, as many as for a whole asset.
FILES = 100
_Step = Callable[[Work], Progress]


@dataclass(eq=False, repr=False)
class FileChangeSteps:
    changes: FileChangeRepository
    assets: AssetService
    objects: Objects
    copies: Copies
    companions: Companions
    archival: FileArchival
    transfers: Transfers
    folder_moves: FolderMoves
    deletion: FileDeletion
    restoration: FileRestoration
    endings: Endings
    files: int = FILES

    def step(self, job: Job) -> Progress:
        """Run the next step of a change.

        Raises:
            ConflictError: it cannot be carried out, and was undone.
            NotFoundError: the asset, or the source, does not exist.
        """
        asset_id = job.asset_id or ""
        if self.changes.state(asset_id).job_id != job.job_id:
            return Progress(job.cursor, finished=True, undone=job.undo)
        asset = self.assets.find_asset(job.database_id or "", asset_id)
        if asset is None:
            self.changes.release(asset_id, job.job_id)
            raise AssetNotFoundError(job.database_id, asset_id)
        change = FileChange.model_validate(job.parameters[CHANGE])
        bucket, prefix = self.assets.location(asset)
        place = FileTarget(asset, bucket, prefix, prefix + change.path.removeprefix("/"))
        work = Work(job, change, ChangeCursor.model_validate(job.cursor), place)
        try:
            deletion, transfers, is_folder = self.deletion, self.transfers, change.is_prefix
            steps: dict[FileOperation, _Step] = {
                "createFolder": self._create_folder,
                "moveFile": transfers.move,
                "moveFolder": self.folder_moves.move,
                "copyFile": transfers.copy,
                "archiveFile": self._archive_folder if is_folder else self._archive_file,
                "unarchiveFile": self._unarchive,
                "unarchiveFolder": self.restoration.restore_folder,
                "deleteFile": deletion.delete_folder if is_folder else deletion.delete_file,
                "revertFileVersion": self._rewrite,
                "setPrimaryFile": self._rewrite,
                "deleteAuxiliaryPreviewAssetFiles": deletion.delete_auxiliary,
            }
            return steps[change.operation](work)
        except UnavailableError:
            raise
        except VitrineError as error:
            if self.changes.state(asset_id).job_id != job.job_id:
                return Progress(job.cursor, finished=True)  # the result of another worker is kept
            if isinstance(error, ChangeEndedError):  # only for this worker: another has the job
                raise
            if not work.cursor.withdrawing:
                self._undo(work)
            self.changes.release(asset_id, job.job_id)
            raise

    def _undo(self, work: Work) -> None:
        if work.change.operation in {"copyFile", "moveFile"}:
            self.transfers.remove_incomplete(work)
        elif work.cursor.copy_id is not None:
            place = work.target
            self.objects.abort_multipart(place.bucket, place.key, work.cursor.copy_id)

    def _create_folder(self, work: Work) -> Progress:
        place = work.target
        if not isinstance(self.objects.head(place.bucket, place.key), ObjectHead):
            self.objects.put(
                place.bucket,
                place.key,
                b"",
                content_type=FOLDER_TYPE,
                metadata=rules.metadata_of_copy({}, work.mark),
            )
        return self.endings.finish(work, [], items=1, retyped=False)

    def _archive_file(self, work: Work) -> Progress:
        self.archival.archive(work, self.companions.keys(work.target))
        return self.endings.finish(work, [work.target.path], items=1)

    def _archive_folder(self, work: Work) -> Progress:
        place = work.target
        page = self.objects.list_objects(
            place.bucket, place.key, limit=self.files, after=work.cursor.after
        )
        keys = [item.key for item in page.objects if not item.key.endswith("/")]
        self.archival.archive(work, keys)
        paths = [rules.relative_path(place.prefix, key) for key in keys]
        if page.next_key is None:
            return self.endings.finish(work, paths, items=len(keys))
        self.endings.request_documents(work, paths)
        return continue_at(work.cursor.model_copy(update={"after": page.next_key}), items=len(keys))

    def _unarchive(self, work: Work) -> Progress:
        """Restore a file, and its newest preview."""
        written = self._rewrite_file(work)
        if isinstance(written, ChangeCursor):
            return continue_at(written)
        preview = self.restoration.hidden_preview(work.target)
        if preview is not None:
            place = replace(work.target, key=preview.key)
            head = self.copies.copied_attributes(place.bucket, place.key, preview.version_id)
            metadata = rules.metadata_of_copy(head.metadata, work.mark)
            self._copy_over(work, place, head, metadata, None)
        return self.endings.finish(work, [work.target.path], items=1, made=written.version_id)

    def _rewrite(self, work: Work) -> Progress:
        """Make an old version the newest one, or write the newest one with another type."""
        written = self._rewrite_file(work)
        if isinstance(written, ChangeCursor):
            return continue_at(written)
        return self.endings.finish(
            work, [work.target.path], items=1, made=written.version_id, retyped=False
        )

    def _rewrite_file(self, work: Work) -> Written | ChangeCursor:
        """Copy the version over the file.

        Return the state to continue with if it is not complete.
        """
        place = work.target
        head = self.copies.copied_attributes(place.bucket, place.key, work.version_id)
        metadata = rules.metadata_of_copy(
            head.metadata, work.mark, primary_type=work.change.primary_type
        )
        if PRIMARY_TYPE_METADATA in metadata:
            self.assets.record_typed_file(work.asset, work.target.path)
        written = self._copy_over(work, place, head, metadata, work.cursor.copy_id)
        if isinstance(written, Written):
            return written
        same = {"copy_id": written.copy_id, "version_id": head.version.version_id}
        return work.cursor.model_copy(update=same)

    def _copy_over(
        self,
        work: Work,
        place: FileTarget,
        head: ObjectHead,
        metadata: Mapping[str, str],
        copy_id: str | None,
    ) -> Written | Unfinished:
        file_copy = FileCopy(
            source=ObjectRef(place.bucket, place.key),
            head=head,
            place=place,
            content_type=head.content_type,
            metadata=metadata,
            still=partial(self.endings.require_unfinished, work),
        )
        origin = work.origin_of_copy(place, head.version.version_id)
        return self.copies.copy(file_copy, copy_id, origin)
