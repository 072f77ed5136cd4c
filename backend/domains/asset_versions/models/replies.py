"""The replies of the routes that list, describe and compare versions."""

from typing import Annotated

from pydantic import Field

from backend.core.models import FullModel, WireModel
from backend.domains.asset_versions.models import Kind


class ListedVersion(WireModel):
    version: Annotated[str, Field(alias="Version")]
    date_modified: Annotated[str, Field(alias="DateModified")]
    comment: Annotated[str, Field(alias="Comment")]
    description: str
    created_by: str
    is_current: bool
    file_count: int
    version_alias: str
    is_archived: bool
    asset_id: str
    database_id: str


class VersionsReply(WireModel):
    versions: list[ListedVersion]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class VersionFile(FullModel):
    """A file of a version, and its current state in the bucket."""

    relative_key: str
    version_id: str
    is_permanently_deleted: bool
    is_latest_version_archived: bool
    size: int | None = None
    last_modified: str | None = None
    etag: str | None = None


class VersionRecord(WireModel):
    type: Kind
    file_path: str
    metadata_key: str
    metadata_value: str
    metadata_value_type: str


class WholeVersionReply(WireModel):
    asset_id: str
    asset_version_id: str
    database_id: str
    date_created: str
    comment: str
    description: str
    created_by: str
    version_alias: str
    is_archived: bool
    is_current: bool
    file_count: int
    files: list[VersionFile]
    versioned_metadata: list[VersionRecord]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class FileSide(WireModel):
    """A file as one of the two versions contains it."""

    version_id: str
    size: int
    etag: str


class FileDifference(WireModel):
    relative_key: str
    before: Annotated[FileSide | None, Field(alias="from")] = None
    after: Annotated[FileSide | None, Field(alias="to")] = None


class RecordSide(WireModel):
    metadata_value: str
    metadata_value_type: str


class RecordDifference(WireModel):
    file_path: str
    metadata_key: str
    before: Annotated[RecordSide | None, Field(alias="from")] = None
    after: Annotated[RecordSide | None, Field(alias="to")] = None


class FileDifferences(WireModel):
    added: list[FileDifference]
    removed: list[FileDifference]
    changed: list[FileDifference]


class RecordDifferences(WireModel):
    added: list[RecordDifference]
    removed: list[RecordDifference]
    changed: list[RecordDifference]


class GeometryDifference(WireModel):
    """A geometry fact that differs, such as `triangles`; null for a version without a value."""

    file_path: str
    fact: str
    before: Annotated[float | bool | str | None, Field(alias="from")] = None
    after: Annotated[float | bool | str | None, Field(alias="to")] = None


class CompareReply(WireModel):
    """The differences between two versions, in pages if there are many.

    `geometry` repeats the differing attributes that are geometry facts, with typed values.
    """

    asset_id: str
    database_id: str
    before: Annotated[str, Field(alias="from")]
    after: Annotated[str, Field(alias="to")]
    files: FileDifferences
    metadata: RecordDifferences
    attributes: RecordDifferences
    geometry: list[GeometryDifference]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
