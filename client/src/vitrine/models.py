"""Requests and replies of the API, typed. Wire names are camelCase, here they are snake_case.

Replies keep fields that this version does not know (`model_extra`), so that an older client can
display the replies of a newer server. No I/O.
"""

from enum import StrEnum

from pydantic import AliasChoices, Field

from vitrine import api_models
from vitrine.api_models import ApiKey as ApiKey
from vitrine.api_models import AssetCreated as AssetCreated
from vitrine.api_models import Bucket as Bucket
from vitrine.api_models import BulkResult as BulkResult
from vitrine.api_models import CurrentVersion as CurrentVersion
from vitrine.api_models import DatabaseCreated as DatabaseCreated
from vitrine.api_models import Download as Download
from vitrine.api_models import FailedItem as FailedItem
from vitrine.api_models import FileResult as FileResult
from vitrine.api_models import FileVersion as FileVersion
from vitrine.api_models import FinishedFile as FinishedFile
from vitrine.api_models import Job as Job
from vitrine.api_models import Location as Location
from vitrine.api_models import MetadataRecord as MetadataRecord
from vitrine.api_models import NewFile as NewFile
from vitrine.api_models import Part as Part
from vitrine.api_models import PartUrl as PartUrl
from vitrine.api_models import PendingFile as PendingFile
from vitrine.api_models import Tag as Tag
from vitrine.api_models import TagType as TagType
from vitrine.api_models import Upload as Upload
from vitrine.api_models import UploadResult as UploadResult
from vitrine.api_models import Version as Version
from vitrine.wire import Body
from vitrine.wire import Wire as Wire

GLOBAL = "GLOBAL"
"""The database id of what belongs to every database: tags, pipelines, workflows and schemas."""

AssetIds = tuple[str, str]
"""An asset's database id and asset id."""


class Message(Wire):
    """A reply that only confirms the operation."""

    message: str | None = None


class Database(api_models.Database):
    revision: str | None = Field(default=None, exclude=True)
    """The ETag of the reply. Pass it as `if_match`."""


class Operation(Wire):
    """The reply of an update."""

    success: bool | None = None
    message: str | None = None
    operation: str | None = None
    timestamp: str | None = None


class Created(Operation):
    """The reply of a creation; `warnings` are what else has the name."""

    warnings: list[str] | None = None


class TagDeleted(Operation):
    """`job_id` is the job that removes the tag from the assets that have it."""

    job_id: str | None = None


class Asset(api_models.Asset):
    revision: str | None = Field(default=None, exclude=True)
    """The ETag that this was read with; give it back as `if_match`."""


class FileItem(api_models.FileItem):
    """One row of `listFiles`."""

    etag: str | None = None
    checksum_sha256: str | None = Field(
        default=None, validation_alias=AliasChoices("checksumSha256", "checksum")
    )


class FileInfo(api_models.FileInfo):
    """A file, as `fileInfo` returns it."""

    checksum_sha256: str | None = Field(
        default=None, validation_alias=AliasChoices("checksumSha256", "checksum")
    )


class UploadType(StrEnum):
    ASSET_FILE = "assetFile"
    ASSET_PREVIEW = "assetPreview"


class MetadataType(StrEnum):
    STRING = "string"
    MULTILINE_STRING = "multiline_string"
    INLINE_CONTROLLED_LIST = "inline_controlled_list"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    XYZ = "xyz"
    WXYZ = "wxyz"
    MATRIX4X4 = "matrix4x4"
    GEOPOINT = "geopoint"
    GEOJSON = "geojson"
    LLA = "lla"
    JSON = "json"


class Metadata(Body):
    """A metadata record to write."""

    metadata_key: str
    metadata_value: str
    metadata_value_type: MetadataType = MetadataType.STRING
