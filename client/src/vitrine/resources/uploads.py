"""Uploads: requests to the API only, no content of files."""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue, ValidationError

from vitrine import api_models as api
from vitrine.errors import ConflictError
from vitrine.models import (
    FinishedFile,
    Message,
    NewFile,
    Upload,
    UploadResult,
    UploadType,
)
from vitrine.resources.resource import Resource
from vitrine.transport import Content, Transport, path_of
from vitrine.upload_models import Renewal, UploadDetails, UploadSummary, ranges_of


class Uploads(Resource):
    def initialise(
        self,
        database_id: str,
        asset_id: str,
        files: Sequence[NewFile],
        *,
        upload_type: UploadType = UploadType.ASSET_FILE,
        max_part_urls: int | None = None,
    ) -> Upload:
        """Start an upload; the reply has the URL of each part of each file.

        With `max_part_urls` it has only so many; `renew` returns the others.
        """
        body = api.InitialiseBody(
            database_id=database_id,
            asset_id=asset_id,
            upload_type=upload_type.value,
            files=files,
            max_part_urls=max_part_urls,
        )
        # One that is begun twice expires unused.
        return self._transport.write(Upload, "POST", path_of("uploads"), body=body, repeatable=True)

    def complete(
        self,
        database_id: str,
        asset_id: str,
        upload_id: str,
        files: Sequence[FinishedFile],
        *,
        upload_type: UploadType = UploadType.ASSET_FILE,
    ) -> UploadResult:
        """Complete files from stored parts; return the result of each, even if all failed.

        It may be repeated after a lost reply.

        Raises:
            ConflictError: the upload cannot be completed now (code `UploadBusy`: another request is
                processing it), or not any more.
        """
        body = api.CompleteBody(
            database_id=database_id,
            asset_id=asset_id,
            upload_type=upload_type.value,
            files=files,
        )
        path = path_of("uploads", upload_id, "complete")
        return complete_files(self._transport, path, body)

    def abort(self, upload_id: str) -> Message:
        return self._transport.write(Message, "DELETE", path_of("uploads", upload_id))

    def list(self) -> Iterator[UploadSummary]:
        """List the uploads that the caller started, newest first, until they expire."""
        return self._transport.pages(UploadSummary, path_of("uploads"), items="items")

    def get(self, upload_id: str) -> UploadDetails:
        """Return the state of each file; large ones are finished after the completion."""
        return self._transport.read(UploadDetails, path_of("uploads", upload_id))

    def renew(
        self,
        upload_id: str,
        parts: Mapping[str, Sequence[int]],
        *,
        stored_parts: bool = False,
    ) -> Renewal:
        """Return new URLs for parts (by file, ascending), and optionally the stored parts."""
        files: list[JsonValue] = [
            {"relativeKey": key, "partRanges": ranges_of(numbers)} for key, numbers in parts.items()
        ]
        body = api.RenewBody(files=files, stored_parts=stored_parts)
        path = path_of("uploads", upload_id, "renew")
        return self._transport.write(Renewal, "POST", path, body=body, repeatable=True)


def complete_files(transport: Transport, path: str, body: Content) -> UploadResult:
    """Complete files; a conflict that has the results of all files is a result, too."""
    try:
        return transport.write(UploadResult, "POST", path, body=body, repeatable=True)
    except ConflictError as conflict:
        try:
            return UploadResult.model_validate_json(conflict.content)
        except ValidationError:
            raise conflict from None
