"""Assets, their files and download URLs: requests to the API only, no content of files."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from vitrine import api_models as api
from vitrine.api_models import AssetChange as AssetChange
from vitrine.api_models import AssetSnapshot as AssetSnapshot
from vitrine.api_models import View as View
from vitrine.api_models import Views as Views
from vitrine.models import (
    Asset,
    AssetCreated,
    Download,
    FileInfo,
    FileItem,
    Message,
    Operation,
)
from vitrine.resources.file_changes import FileChanges
from vitrine.resources.lifecycle import AssetLifecycle
from vitrine.resources.resource import Resource, if_match
from vitrine.transport import parse, path_of


def asset_path(database_id: str, asset_id: str, *more: str) -> str:
    return path_of("database", database_id, "assets", asset_id, *more)


class Assets(AssetLifecycle):
    def create(
        self,
        database_id: str,
        asset_name: str,
        *,
        description: str,
        is_distributable: bool = True,
        tags: Sequence[str] = (),
        asset_id: str | None = None,
        bucket_existing_key: str | None = None,
    ) -> AssetCreated:
        """Create an asset without files. Raises ConflictError if the id or the prefix is in use."""
        body = api.CreateAssetBody(
            database_id=database_id,
            asset_name=asset_name,
            description=description,
            is_distributable=is_distributable,
            tags=tags,
            asset_id=asset_id,
            bucket_existing_key=bucket_existing_key,
        )
        return self._transport.write(AssetCreated, "POST", path_of("assets"), body=body)

    def get(self, database_id: str, asset_id: str, *, show_archived: bool | None = None) -> Asset:
        """Return the asset with its revision. Raises NotFoundError if it is absent or hidden."""
        response = self._transport.send(
            "GET", asset_path(database_id, asset_id), query={"showArchived": show_archived}
        )
        asset = parse(Asset, response)
        return asset.model_copy(update={"revision": response.headers.get("ETag")})

    def list(
        self,
        database_id: str | None = None,
        *,
        show_archived: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[Asset]:
        """List the assets of one database, or of all."""
        path = (
            path_of("assets") if database_id is None else path_of("database", database_id, "assets")
        )
        return self._transport.pages(
            Asset, path, query={"showArchived": show_archived}, page_size=page_size
        )

    def history(
        self, database_id: str, asset_id: str, *, page_size: int | None = None
    ) -> Iterator[AssetChange]:
        """List the changes of an asset, and of deleted ones that had its id, newest first."""
        path = asset_path(database_id, asset_id, "assetHistory")
        return self._transport.pages(AssetChange, path, page_size=page_size)

    def update(
        self,
        database_id: str,
        asset_id: str,
        *,
        asset_name: str | None = None,
        description: str | None = None,
        is_distributable: bool | None = None,
        tags: Sequence[str] | None = None,
        revision: str | None = None,
    ) -> Operation:
        """Change the passed fields. Raises RevisionConflictError if `revision` is outdated."""
        body = api.UpdateAssetBody(
            asset_name=asset_name,
            description=description,
            is_distributable=is_distributable,
            tags=tags,
        )
        return self._transport.write(
            Operation,
            "PUT",
            asset_path(database_id, asset_id),
            body=body,
            headers=if_match(revision),
        )


class Files(FileChanges):
    def list(
        self,
        database_id: str,
        asset_id: str,
        *,
        prefix: str | None = None,
        include_archived: bool | None = None,
        basic: bool | None = None,
        page_size: int | None = None,
    ) -> Iterator[FileItem]:
        """List the files and folders of an asset; `basic` is faster and returns fewer fields."""
        return self._transport.pages(
            FileItem,
            asset_path(database_id, asset_id, "listFiles"),
            items="items",
            query={"prefix": prefix, "includeArchived": include_archived, "basic": basic},
            page_size=page_size,
        )

    def info(
        self,
        database_id: str,
        asset_id: str,
        file_path: str,
        *,
        include_versions: bool | None = None,
    ) -> FileInfo:
        return self._transport.read(
            FileInfo,
            asset_path(database_id, asset_id, "fileInfo"),
            query={"filePath": file_path, "includeVersions": include_versions},
        )

    def views(self, database_id: str, asset_id: str) -> Views:
        """Return the saved views of the models of an asset, newest first."""
        return self._transport.read(Views, asset_path(database_id, asset_id, "views"))

    def view(self, database_id: str, asset_id: str, view_id: str) -> View:
        return self._transport.read(View, asset_path(database_id, asset_id, "views", view_id))

    def save_view(
        self, database_id: str, asset_id: str, view_id: str, view: api.SaveViewBody
    ) -> Message:
        """Save a view under the id of its content."""
        path = asset_path(database_id, asset_id, "views", view_id)
        return self._transport.write(Message, "PUT", path, body=view)

    def delete_view(self, database_id: str, asset_id: str, view_id: str) -> Message:
        """Delete a view that the caller saved, or any view for callers who may change the files."""
        path = asset_path(database_id, asset_id, "views", view_id)
        return self._transport.write(Message, "DELETE", path)


class Downloads(Resource):
    def link(
        self, database_id: str, asset_id: str, key: str, *, version_id: str | None = None
    ) -> Download:
        """Return a presigned URL for one file, valid for a limited time."""
        body = api.DownloadBody(download_type="assetFile", key=key, version_id=version_id)
        path = asset_path(database_id, asset_id, "download")
        return self._transport.write(Download, "POST", path, body=body, repeatable=True)

    def links(
        self, database_id: str, asset_id: str, versions: Mapping[str, str | None]
    ) -> Download:
        """Return a presigned URL, or an error, for each of at most 1,500 files by key."""
        keys: list[JsonValue] = [
            {"key": key} if version is None else {"key": key, "versionId": version}
            for key, version in versions.items()
        ]
        body = api.DownloadBody(download_type="assetFile", keys=keys)
        path = asset_path(database_id, asset_id, "download")
        return self._transport.write(Download, "POST", path, body=body, repeatable=True)
