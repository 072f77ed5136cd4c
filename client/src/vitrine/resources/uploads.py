"""Uploads: requests to the API only, no bytes of files."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue, ValidationError

from vitrine.errors import ConflictError
from vitrine.models import (
    FinishedFile,
    Message,
    NewFile,
    Upload,
    UploadResult,
    UploadType,
)
from vitrine.resources.registry import given
from vitrine.transport import Transport, parse, path_of
from vitrine.upload_models import Renewal, UploadDetails, ranges_of


class Uploads:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def initialise(
        self,
        database_id: str,
        asset_id: str,
        files: Sequence[NewFile],
        *,
        upload_type: UploadType = UploadType.ASSET_FILE,
        max_part_urls: int | None = None,
    ) -> Upload:
        """Opens an upload: the reply says where each part of each file goes.

        With `max_part_urls` only of so many parts; the others are asked of `renew`.
        """
        body = given(
            databaseId=database_id,
            assetId=asset_id,
            uploadType=upload_type.value,
            files=[file.wire() for file in files],
            maxPartUrls=max_part_urls,
        )
        return self._transport.write(Upload, "POST", path_of("uploads"), body=body)

    def complete(
        self,
        database_id: str,
        asset_id: str,
        upload_id: str,
        files: Sequence[FinishedFile],
        *,
        upload_type: UploadType = UploadType.ASSET_FILE,
    ) -> UploadResult:
        """Makes files of the stored parts; the result tells of each file, also if all failed.

        A second completion makes nothing twice, so a lost reply is asked for again.

        Raises:
            ConflictError: the upload as a whole cannot be completed now (code `UploadBusy`: another
            request is at it), or not any more.
        """
        body = given(
            databaseId=database_id,
            assetId=asset_id,
            uploadType=upload_type.value,
            files=[file.wire() for file in files],
        )
        path = path_of("uploads", upload_id, "complete")
        try:
            return parse(
                UploadResult, self._transport.send("POST", path, body=body, repeatable=True)
            )
        except ConflictError as conflict:
            try:
                return UploadResult.model_validate_json(conflict.content)
            except ValidationError:
                raise conflict from None

    def abort(self, upload_id: str) -> Message:
        return parse(Message, self._transport.send("DELETE", path_of("uploads", upload_id)))

    def get(self, upload_id: str) -> UploadDetails:
        """What has become of each file so far; large ones are finished after the completion."""
        return self._transport.read(UploadDetails, path_of("uploads", upload_id))

    def renew(
        self,
        upload_id: str,
        parts: Mapping[str, Sequence[int]],
        *,
        stored_parts: bool = False,
    ) -> Renewal:
        """Fresh URLs for parts (by file, ascending), and on demand the parts that are there."""
        files: list[JsonValue] = [
            {"relativeKey": key, "partRanges": ranges_of(numbers)} for key, numbers in parts.items()
        ]
        body = given(files=files, storedParts=stored_parts)
        path = path_of("uploads", upload_id, "renew")
        return parse(Renewal, self._transport.send("POST", path, body=body, repeatable=True))
