"""What can be downloaded, and the URL of it."""

from backend.core.errors import GoneError, InvalidInputError, NotFoundError
from backend.core.file_kinds import can_run_script, content_type_of
from backend.core.identity import Identity
from backend.core.objects import ObjectHead, Objects, ObjectVersion
from backend.core.wired import wired
from backend.domains.assets.models import Asset, AssetVersion
from backend.domains.assets.service import AssetService
from backend.domains.downloads.models import DownloadBody, DownloadReply
from backend.domains.files.service import FileService


class NotDistributableError(InvalidInputError):
    code = "AssetNotDistributable"

    def __init__(self) -> None:
        super().__init__("Asset not distributable")


class FileArchivedError(GoneError):
    code = "FileArchived"

    def __init__(self, key: str) -> None:
        super().__init__(f"{key} is archived")


class AssetVersionArchivedError(GoneError):
    code = "AssetVersionArchived"

    def __init__(self, version_id: str) -> None:
        super().__init__(f"Version {version_id} of the asset is archived")


class NothingToDownloadError(NotFoundError):
    code = "FileNotFound"

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no {what}")


@wired
class DownloadService:
    assets: AssetService
    files: FileService
    objects: Objects
    url_seconds: int

    def get_download_url(
        self, caller: Identity, asset_id: tuple[str, str], body: DownloadBody
    ) -> DownloadReply:
        """A URL to GET one file or the preview of an asset (database id, asset id).

        S3 requests: one HEAD.

        Raises:
            AssetNotFoundError: the asset does not exist, or not for the caller.
            AssetVersionArchivedError: so is the asset's version that is asked for.
            FileArchivedError: the file, or the version of it, is archived.
            NotDistributableError: the asset is not for download.
            NotFoundError: there is no such file, version or preview.
        """
        asset = self.assets.asset_for(caller, "GET", *asset_id)
        if not asset.is_distributable:
            raise NotDistributableError
        bucket, key, wanted = self._found(asset, body)
        head = self.objects.head(bucket, key, version_id=wanted)
        if head is None:
            raise NothingToDownloadError(f"such file or version: {key}")
        if isinstance(head, ObjectVersion):
            raise FileArchivedError(key)
        return self._reply(bucket, head, body)

    def _reply(self, bucket: str, head: ObjectHead, body: DownloadBody) -> DownloadReply:
        key, version_id = head.version.key, head.version.version_id
        name = key.rsplit("/", 1)[-1]
        content_type = content_type_of(key)
        url = self.objects.presign_get(
            bucket,
            key,
            version_id=version_id,
            file_name=name,
            content_type=content_type,
            attachment=can_run_script(content_type),
            expires=self.url_seconds,
        )
        return DownloadReply(
            download_url=url,
            expires_in=self.url_seconds,
            download_type=body.download_type,
            version_id=version_id,
            message=f"The URL of {name} is good for {self.url_seconds} seconds",
        )

    def _found(self, asset: Asset, body: DownloadBody) -> tuple[str, str, str | None]:
        """Bucket, key and S3 version id of what is asked for."""
        if body.download_type == "assetPreview":
            if asset.preview_location is None:
                raise NothingToDownloadError("preview of this asset")
            bucket, _ = self.assets.location(asset)
            return bucket, asset.preview_location.key, body.version_id
        target = self.files.target(asset, body.key or "", field="key")
        version = self._asset_version(asset, body)
        if version is None:
            return target.bucket, target.key, body.version_id
        if version.is_archived:
            raise AssetVersionArchivedError(version.asset_version_id)
        return target.bucket, target.key, self.files.version_id_in(target, version)

    def _asset_version(self, asset: Asset, body: DownloadBody) -> AssetVersion | None:
        if body.asset_version_id is not None:
            return self.files.get_version(asset, body.asset_version_id)
        if body.asset_version_id_alias is not None:
            return self.files.version_with_alias(asset, body.asset_version_id_alias)
        return None
