"""Changes of an asset's files: folders, moves, copies, archiving, versions, previews."""

from vitrine import api_models as api
from vitrine.api_models import AuxiliaryDeleted as AuxiliaryDeleted
from vitrine.api_models import FileReverted as FileReverted
from vitrine.api_models import FilesChanged as FilesChanged
from vitrine.api_models import FolderMade as FolderMade
from vitrine.api_models import PrimaryFileSet as PrimaryFileSet
from vitrine.models import AssetIds, Wire
from vitrine.resources.resource import Resource
from vitrine.transport import Model, path_of
from vitrine.wire import Body


class PreviewDeleted(Wire):
    asset_id: str
    message: str | None = None


class FileChanges(Resource):
    """Changes files. Paths begin with `/`. Large changes continue in a job that the reply names.

    Requests are not repeated after a broken connection, because the first one may have been carried
    out.
    """

    def create_folder(self, ids: AssetIds, path: str) -> FolderMade:
        folder = path if path.endswith("/") else path + "/"
        return self._sent(
            FolderMade, "POST", ids, ("createFolder",), api.CreateFolderBody(relative_key=folder)
        )

    def move(self, ids: AssetIds, source: str, destination: str) -> FilesChanged:
        """Move a file within its asset, with metadata, attributes, previews and viewer data.

        Raises:
            ConflictError: the destination exists, possibly as an archived file.
        """
        body = api.MoveFileBody(source_path=source, destination_path=destination)
        return self._sent(FilesChanged, "POST", ids, ("moveFile",), body)

    def move_folder(self, ids: AssetIds, source: str, destination: str) -> FilesChanged:
        """Move a folder within its asset: each file as by `move`, and empty folders.

        The problems of the job, which the reply names, are the files that could not be moved.

        Raises:
            ConflictError: a file has the name of the destination.
        """
        body = api.MoveFolderBody(source_path=source, destination_path=destination)
        return self._sent(FilesChanged, "POST", ids, ("moveFolder",), body)

    def copy(
        self,
        ids: AssetIds,
        source: str,
        destination: str,
        *,
        to_database: str | None = None,
        to_asset: str | None = None,
    ) -> FilesChanged:
        """Copy a file, also to another asset or database, with all its data.

        Raises:
            ConflictError: the destination exists, possibly as an archived file.
        """
        body = api.CopyFileBody(
            source_path=source,
            destination_path=destination,
            destination_asset_id=to_asset,
            destination_database_id=to_database,
        )
        return self._sent(FilesChanged, "POST", ids, ("copyFile",), body)

    def archive(self, ids: AssetIds, path: str, *, folder: bool = False) -> FilesChanged:
        """Archive a file, or with `folder` all files of a folder."""
        body = api.ArchiveFileBody(file_path=path, is_prefix=folder)
        return self._sent(FilesChanged, "DELETE", ids, ("archiveFile",), body)

    def unarchive(self, ids: AssetIds, path: str) -> FilesChanged:
        """Restore an archived file. Raises ConflictError if it is not archived."""
        return self._sent(
            FilesChanged, "POST", ids, ("unarchiveFile",), api.FileBody(file_path=path)
        )

    def unarchive_folder(
        self, ids: AssetIds, folder: str, since: str | None = None
    ) -> FilesChanged:
        """Restore the files of a folder that were archived, or moved out of it, since a time.

        The problems of the job, which the reply names, are the files that could not be restored.

        Raises:
            ConflictError: no file of it is archived.
        """
        body = api.UnarchiveFolderBody(folder_path=folder, archived_since=since)
        return self._sent(FilesChanged, "POST", ids, ("unarchiveFolder",), body)

    def delete(self, ids: AssetIds, path: str, *, folder: bool = False) -> FilesChanged:
        """Permanently delete a file, or with `folder` a folder, with all versions."""
        body = api.DeleteFileBody(file_path=path, is_prefix=folder, confirm_permanent_delete=True)
        return self._sent(FilesChanged, "DELETE", ids, ("deleteFile",), body)

    def revert(self, ids: AssetIds, path: str, version_id: str) -> FileReverted:
        """Restore an old version of a file as its newest version."""
        verb = ("revertFileVersion", version_id)
        return self._sent(FileReverted, "POST", ids, verb, api.FileBody(file_path=path))

    def set_primary(
        self, ids: AssetIds, path: str, primary_type: str, *, other: str | None = None
    ) -> PrimaryFileSet:
        """Set the primary type of a file: primary, lod1 to lod5, other (named), or none."""
        body = api.SetPrimaryFileBody(
            file_path=path, primary_type=primary_type, primary_type_other=other
        )
        return self._sent(PrimaryFileSet, "PUT", ids, ("setPrimaryFile",), body)

    def delete_asset_preview(self, ids: AssetIds) -> PreviewDeleted:
        return self._sent(PreviewDeleted, "DELETE", ids, ("deleteAssetPreview",), None)

    def delete_auxiliary(self, ids: AssetIds, path: str) -> AuxiliaryDeleted:
        """Delete the auxiliary files of a file, or of a folder that ends in `/`."""
        verb = ("deleteAuxiliaryPreviewAssetFiles",)
        return self._sent(AuxiliaryDeleted, "DELETE", ids, verb, api.FileBody(file_path=path))

    def _sent(
        self,
        model: type[Model],
        method: str,
        ids: AssetIds,
        verb: tuple[str, ...],
        body: Body | None,
    ) -> Model:
        path = path_of("database", ids[0], "assets", ids[1], *verb)
        return self._transport.write(model, method, path, body=body, repeatable=False)
