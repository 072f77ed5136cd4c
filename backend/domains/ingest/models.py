"""The body and the reply of the route of ingest."""

from typing import Annotated

from pydantic import Field

from backend.core.models import SentModel, WireModel
from backend.core.names import Description, Id, Line, NewAssetId, NewAssetName
from backend.domains.assets.models import TagNames
from backend.domains.uploads.models import (
    MAX_FILES,
    MAX_PARTS,
    FileResult,
    SentPart,
    Sha256,
    StartedUploadFile,
    UploadId,
)

Key = Annotated[Line, Field(min_length=1, max_length=1024)]


class IngestFile(SentModel):
    """A file, by its key, which begins with the asset's id. The first request sends its size, the
    second its stored parts.
    """

    relative_key: Key
    file_size: Annotated[int | None, Field(alias="file_size", ge=0)] = None
    num_parts: Annotated[int | None, Field(alias="num_parts", ge=0, le=MAX_PARTS)] = None
    checksum_sha256: Sha256 | None = None
    upload_id_s3: Annotated[str | None, Field(min_length=1, max_length=2048)] = None
    parts: Annotated[list[SentPart], Field(max_length=MAX_PARTS)] = []


class IngestBody(SentModel):
    """Without `uploadId`, creates an asset and starts its upload; with it, completes the upload.

    As in VAMS, the asset can be downloaded unless `isDistributable` is false.
    """

    database_id: Id
    asset_id: NewAssetId
    upload_id: UploadId | None = None
    asset_name: NewAssetName | None = None
    description: Description | None = None
    is_distributable: bool = True
    tags: TagNames | None = None
    files: Annotated[list[IngestFile], Field(min_length=1, max_length=MAX_FILES)]


class IngestReply(WireModel):
    """The first reply has `files` with upload URLs, the second the result for each file."""

    message: str
    upload_id: str
    asset_id: str
    files: list[StartedUploadFile] | None = None
    asset_type: str | None = None
    file_results: list[FileResult] | None = None
    overall_success: bool | None = None
    large_file_asynchronous_handling: bool | None = None
