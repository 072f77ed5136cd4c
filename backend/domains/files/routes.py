"""The routes of files. The services that change files are loaded by the first such request."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from backend.domains.assets.models import AssetPath
from backend.domains.files.models import FileQuery, FileReply, FilesQuery
from backend.domains.files.models.replies import (
    ArchiveFileBody,
    AuxiliaryDeletedReply,
    CopyFileBody,
    CreateFolderBody,
    DeleteFileBody,
    FileBody,
    FilesChangedReply,
    FilesReply,
    FolderReply,
    MoveFileBody,
    MoveFolderBody,
    PreviewDeletedReply,
    PrimaryFileReply,
    RevertedReply,
    SetPrimaryFileBody,
    UnarchiveFolderBody,
    VersionOfFilePath,
)
from backend.domains.files.models.views import SaveViewBody, ViewChangedReply, ViewPath
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.views import SavedViews
from backend.http.call import Call
from backend.http.router import Reply, Router
from backend.spec import routes

if TYPE_CHECKING:
    from backend.domains.files.service.commands import Changed, FileCommands
    from backend.domains.files.service.rewrites import FileRewrites


def build_router(
    service: FileQueries,
    changes: "Callable[[], FileCommands]",
    rewrites: "Callable[[], FileRewrites]",
    views: SavedViews,
) -> Router:
    """Bind the routes of files to the services."""
    router = Router()
    _bind_changes(router, changes)
    _bind_ends(router, changes)
    _bind_rewrites(router, rewrites)
    _bind_removals(router, rewrites)

    @router.bind(routes.LIST_FILES)
    def list_files(call: Call, path: AssetPath, query: FilesQuery) -> Reply[FilesReply]:
        page = service.list_files(call.caller, path.ref, query, call.page(query), with_origins=True)
        reply = FilesReply(items=list(page.items), next_token=call.next_token(page.after))
        return Reply(reply, compressible=True)

    @router.bind(routes.GET_FILE)
    def get_file(call: Call, path: AssetPath, query: FileQuery) -> FileReply:
        return service.get_file(call.caller, path.ref, query)

    @router.bind(routes.SAVE_VIEW)
    def save_view(call: Call, path: ViewPath, body: SaveViewBody) -> ViewChangedReply:
        views.save_view(call.caller, path.ref, path.view_id, body)
        return ViewChangedReply(message=f"The view {body.name} is saved")

    @router.bind(routes.DELETE_VIEW)
    def delete_view(call: Call, path: ViewPath) -> ViewChangedReply:
        views.delete_view(call.caller, path.ref, path.view_id)
        return ViewChangedReply(message="The view was deleted")

    return router


def _bind_changes(router: Router, changes: "Callable[[], FileCommands]") -> None:
    @router.bind(routes.CREATE_FOLDER)
    def create_folder(call: Call, path: AssetPath, body: CreateFolderBody) -> FolderReply:
        done = changes().create_folder(call.caller, path.ref, body.relative_key)
        return FolderReply(
            message=_message("The folder was created", done), relative_key=done.paths[0]
        )

    @router.bind(routes.MOVE_FILE)
    def move_file(call: Call, path: AssetPath, body: MoveFileBody) -> FilesChangedReply:
        sent = (body.source_path, body.destination_path)
        done = changes().move_file(call.caller, path.ref, *sent)
        source, target = done.paths
        moved = f"The file was moved to {target}. Its earlier versions remain archived at {source}"
        return FilesChangedReply(
            message=_message(moved, done),
            affected_files=list(done.paths),
            job_id=done.open_job_id,
        )

    @router.bind(routes.MOVE_FOLDER)
    def move_folder(call: Call, path: AssetPath, body: MoveFolderBody) -> FilesChangedReply:
        sent = (body.source_path, body.destination_path)
        done = changes().move_folder(call.caller, path.ref, *sent)
        source, target = done.paths
        job = done.job
        count, problems = (0, []) if job is None else (job.items_done, job.problems)
        moved = f"{count} files were moved from {source} to {target}"
        return FilesChangedReply(
            message=_message("; ".join((moved, *problems[-1:])), done),
            affected_files=list(done.paths),
            job_id=None if job is None else job.job_id,
        )

    @router.bind(routes.COPY_FILE)
    def copy_file(call: Call, path: AssetPath, body: CopyFileBody) -> FilesChangedReply:
        return _change_reply("copied", changes().copy_file(call.caller, path.ref, body))


def _bind_ends(router: Router, changes: "Callable[[], FileCommands]") -> None:
    @router.bind(routes.ARCHIVE_FILE)
    def archive_file(call: Call, path: AssetPath, body: ArchiveFileBody) -> FilesChangedReply:
        done = changes().archive_file(
            call.caller, path.ref, body.file_path, is_prefix=body.is_prefix
        )
        return _change_reply("archived", done)

    @router.bind(routes.UNARCHIVE_FILE)
    def unarchive_file(call: Call, path: AssetPath, body: FileBody) -> FilesChangedReply:
        done = changes().unarchive_file(call.caller, path.ref, body.file_path)
        return _change_reply("restored", done)

    @router.bind(routes.UNARCHIVE_FOLDER)
    def unarchive_folder(
        call: Call, path: AssetPath, body: UnarchiveFolderBody
    ) -> FilesChangedReply:
        sent = (body.folder_path, body.archived_since)
        done = changes().unarchive_folder(call.caller, path.ref, *sent)
        job = done.job
        count, problems = (0, []) if job is None else (job.items_done, job.problems)
        restored = f"{count} files were restored in {done.paths[0]}"
        return FilesChangedReply(
            message=_message("; ".join((restored, *problems[-1:])), done),
            affected_files=list(done.paths),
            job_id=None if job is None else job.job_id,
        )

    @router.bind(routes.DELETE_FILE)
    def delete_file(call: Call, path: AssetPath, body: DeleteFileBody) -> FilesChangedReply:
        done = changes().delete_file(
            call.caller, path.ref, body.file_path, is_prefix=body.is_prefix
        )
        return _change_reply("deleted", done)


def _bind_rewrites(router: Router, rewrites: "Callable[[], FileRewrites]") -> None:
    @router.bind(routes.REVERT_FILE_VERSION)
    def revert_file_version(call: Call, path: VersionOfFilePath, body: FileBody) -> RevertedReply:
        wanted = (body.file_path, path.version_id)
        done = rewrites().revert_file_version(call.caller, path.ref, *wanted)
        made = None if done.job is None else done.job.cursor.get("made")
        return RevertedReply(
            message=_message("The file was reverted", done),
            file_path=done.paths[0],
            reverted_from_version_id=path.version_id,
            new_version_id=made,
            job_id=done.open_job_id,
        )

    @router.bind(routes.SET_PRIMARY_FILE)
    def set_primary_file(call: Call, path: AssetPath, body: SetPrimaryFileBody) -> PrimaryFileReply:
        wanted = (body.file_path, body.stored_type)
        done = rewrites().set_primary_file(call.caller, path.ref, *wanted)
        return PrimaryFileReply(
            message=_message("The file's primary type was set", done),
            file_path=done.paths[0],
            primary_type=body.stored_type,
            job_id=done.open_job_id,
        )


def _bind_removals(router: Router, rewrites: "Callable[[], FileRewrites]") -> None:
    @router.bind(routes.DELETE_ASSET_PREVIEW)
    def delete_asset_preview(call: Call, path: AssetPath) -> PreviewDeletedReply:
        asset_id = rewrites().delete_asset_preview(call.caller, path.ref)
        return PreviewDeletedReply(message="The preview was deleted", asset_id=asset_id)

    @router.bind(routes.DELETE_AUXILIARY_FILES)
    def delete_auxiliary_files(
        call: Call, path: AssetPath, body: FileBody
    ) -> AuxiliaryDeletedReply:
        done = rewrites().delete_auxiliary_files(call.caller, path.ref, body.file_path)
        return AuxiliaryDeletedReply(
            message=_message("The auxiliary files were deleted", done),
            file_path=done.paths[0],
            deleted_count=0 if done.job is None else done.job.items_done,
            job_id=done.open_job_id,
        )


def _change_reply(verb: str, done: "Changed") -> FilesChangedReply:
    count = len(done.paths)
    names = done.paths[0] if count == 1 and not done.more else f"{count} files"
    more = " and more" if done.more else ""
    return FilesChangedReply(
        message=_message(f"Files were {verb}: {names}{more}", done),
        affected_files=list(done.paths),
        truncated=True if done.more else None,
        job_id=done.open_job_id,
    )


def _message(done: str, changed: "Changed") -> str:
    job_id = changed.open_job_id
    return done if job_id is None else f"{done}; job {job_id} completes the change"
