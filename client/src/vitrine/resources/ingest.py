"""Ingest: create an asset and upload its files with two calls."""

from collections.abc import Sequence

from vitrine import api_models as api
from vitrine.models import FinishedFile, NewFile, Upload, UploadResult
from vitrine.resources.resource import Resource
from vitrine.resources.uploads import complete_files
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
        body = api.IngestBody(
            database_id=database_id,
            asset_id=asset_id,
            asset_name=asset_name,
            description=description,
            is_distributable=is_distributable,
            tags=tags,
            files=files,
        )
        path = path_of("ingest-asset")
        return self._transport.write(Upload, "POST", path, body=body, repeatable=True)

    def end(
        self, database_id: str, asset_id: str, upload_id: str, files: Sequence[FinishedFile]
    ) -> UploadResult:
        """Complete the files from their stored parts.

        Return the result of each, even if all failed.
        """
        body = api.IngestBody(
            database_id=database_id,
            asset_id=asset_id,
            upload_id=upload_id,
            files=files,
        )
        path = path_of("ingest-asset")
        return complete_files(self._transport, path, body)
