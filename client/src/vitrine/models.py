"""Requests and replies of the API, typed. Wire names are camelCase, here they are snake_case.

Replies keep fields that this version does not know (`model_extra`), so that an older client can
display the replies of a newer server. No I/O.
"""

from enum import StrEnum

from pydantic import AliasChoices, Field

from vitrine import replies
from vitrine.replies import ApiKey as ApiKey
from vitrine.replies import AssetCreated as AssetCreated
from vitrine.replies import Bucket as Bucket
from vitrine.replies import BulkResult as BulkResult
from vitrine.replies import CurrentVersion as CurrentVersion
from vitrine.replies import DatabaseCreated as DatabaseCreated
from vitrine.replies import Download as Download
from vitrine.replies import FailedItem as FailedItem
from vitrine.replies import FileResult as FileResult
from vitrine.replies import FileVersion as FileVersion
from vitrine.replies import Job as Job
from vitrine.replies import Location as Location
from vitrine.replies import MetadataRecord as MetadataRecord
from vitrine.replies import PartUrl as PartUrl
from vitrine.replies import PendingFile as PendingFile
from vitrine.replies import Tag as Tag
from vitrine.replies import TagType as TagType
from vitrine.replies import Upload as Upload
from vitrine.replies import UploadResult as UploadResult
from vitrine.replies import Version as Version
from vitrine.wire import Wire as Wire

AssetIds = tuple[str, str]
"""An asset's database id and asset id."""


class Message(Wire):
    """A reply that only confirms the operation."""

    message: str | None = None


class Database(replies.Database):
    revision: str | None = Field(default=None, exclude=True)
    """The ETag of the reply. Pass it as `if_match`."""


class Operation(Wire):
    """The reply of an update."""

    success: bool | None = None
    message: str | None = None
    operation: str | None = None
    timestamp: str | None = None


class TagDeleted(Operation):
    """`job_id` is the job that removes the tag from the assets that have it."""

    job_id: str | None = None


class Asset(replies.Asset):
    revision: str | None = Field(default=None, exclude=True)
    """The ETag that this was read with; give it back as `if_match`."""


class FileItem(Wire):
    """One row of `listFiles`."""

    file_name: str
    key: str | None = None
    relative_path: str
    is_folder: bool = False
    size: int | None = None
    date_created_current_version: str | None = None
    version_id: str | None = None
    storage_class: str | None = None
    is_archived: bool | None = None
    primary_type: str | None = None
    preview_file: str | None = None
    etag: str | None = None
    checksum_sha256: str | None = Field(
        default=None, validation_alias=AliasChoices("checksumSha256", "checksum")
    )


class FileInfo(replies.FileInfo):
    """A file, as `fileInfo` returns it."""

    checksum_sha256: str | None = Field(
        default=None, validation_alias=AliasChoices("checksumSha256", "checksum")
    )


class UploadType(StrEnum):
    ASSET_FILE = "assetFile"
    ASSET_PREVIEW = "assetPreview"


class NewFile(Wire):
    """A file to upload; without `num_parts` the server chooses the number of parts."""

    relative_key: str
    file_size: int = Field(validation_alias="file_size", serialization_alias="file_size")
    checksum_sha256: str | None = None
    num_parts: int | None = Field(
        default=None, validation_alias="num_parts", serialization_alias="num_parts"
    )


class Part(Wire):
    part_number: int = Field(validation_alias="PartNumber", serialization_alias="PartNumber")
    e_tag: str = Field(validation_alias="ETag", serialization_alias="ETag")


class FinishedFile(Wire):
    """A file whose parts are stored; a file without parts is cancelled."""

    relative_key: str
    upload_id_s3: str
    parts: tuple[Part, ...]


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


class Metadata(Wire):
    """A metadata record to write."""

    metadata_key: str
    metadata_value: str
    metadata_value_type: MetadataType = MetadataType.STRING
