"""Ingest: create an asset and upload its files with two calls."""

from collections.abc import Sequence

from vitrine.models import FinishedFile, NewFile, Upload, UploadResult
from vitrine.resources.resource import Resource, given
from vitrine.resources.uploads import completed
from vitrine.transport import path_of


class Ingest(Resource):
    """Keys of files begin with the asset's id and a slash. Both calls may be repeated."""

    def begin(
        self,
        database_id: str,
        asset_id: str,
        files: Sequence[NewFile],
        *,
        asset_name: str,
        description: str,
        is_distributable: bool = True,
        tags: Sequence[str] = (),
    ) -> Upload:
        """Create the asset, unless it exists, and start an upload of its files.

        Raises:
            ConflictError: the id is used by an asset that this caller may not upload to.
        """
        body = given(
            databaseId=database_id,
            assetId=asset_id,
            assetName=asset_name,
            description=description,
            isDistributable=is_distributable,
            tags=list(tags),
            files=[file.wire() for file in files],
        )
        path = path_of("ingest-asset")
        return self._transport.write(Upload, "POST", path, body=body, repeatable=True)

    def end(
        self, database_id: str, asset_id: str, upload_id: str, files: Sequence[FinishedFile]
    ) -> UploadResult:
        """Complete the files from their stored parts.

        Return the result of each, even if all failed.
        """
        body = given(
            databaseId=database_id,
            assetId=asset_id,
            uploadId=upload_id,
            files=[file.wire() for file in files],
        )
        path = path_of("ingest-asset")
        return completed(self._transport, path, body)
