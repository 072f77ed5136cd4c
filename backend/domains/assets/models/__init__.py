"""Assets as stored, and the bodies that create and change them."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from backend.core.models import WireModel
from backend.core.names import (
    AssetId,
    AssetName,
    Description,
    Id,
    Line,
    NewAssetId,
    NewAssetName,
    ObjectName,
    SentAssetName,
)
from backend.core.references import AssetRef
from backend.spec.keys import active, archived

AssetStatus = Literal["active", "archived"]
AssetChangeSource = Literal[
    "create", "createDirect", "edit", "archive", "unarchive", "permanentDelete"
]
"""The kind of a change in the history; `createDirect` is the adoption of a folder."""

NO_FILES = "none"
"""The type of an asset without files."""
FIRST_VERSION = "0"
# Tags of one asset. The contract has no limit.
MAX_TAGS = 50


class Location(WireModel):
    """A key in the asset's bucket; an asset's own key is a prefix and ends with `/`."""

    key: Annotated[str, Field(alias="Key")]


class CurrentVersionReply(WireModel):
    """The current version, as replies about its asset include it."""

    version: Annotated[str, Field(alias="Version")]
    date_modified: Annotated[str, Field(alias="DateModified")]
    comment: Annotated[str, Field(alias="Comment")] = ""
    description: str = ""
    created_by: str = ""
    version_alias: str = ""


class CurrentVersion(CurrentVersionReply):
    """The row of the version with the highest number, which the asset's row repeats."""

    snapshot_id: str | None = None


class Asset(WireModel):
    """An asset as stored, in either of the database's two partitions."""

    database_id: str
    asset_id: str
    asset_name: str
    description: str = ""
    is_distributable: bool = False
    tags: list[str] = Field(default_factory=list)
    asset_type: str = NO_FILES
    status: AssetStatus = "active"
    bucket_id: str
    asset_location: Location
    preview_location: Location | None = None
    current_version: CurrentVersion
    created_at: str = ""
    created_by: str = ""
    updated_at: str = ""
    revision: int = 1
    inherited_revision: int = 1
    child_count: int = 0
    parent_count: int = 0
    related_count: int = 0
    archived_at: str | None = None
    archived_by: str | None = None
    archived_reason: str | None = None
    lifecycle_job_id: str | None = None
    """The job of the last archiving or restoration. It runs until the row no longer names it."""
    typed_files: list[str] | None = None
    """Paths of files that may have a primary type, whose objects a list of files reads. None if
    they are unknown or too many."""

    @field_validator("database_id")
    @classmethod
    def without_suffix(cls, value: str) -> str:
        return active(value)

    @property
    def ref(self) -> AssetRef:
        return AssetRef(self.database_id, self.asset_id)

    @property
    def is_archived(self) -> bool:
        return self.status == "archived"

    @property
    def current_snapshot(self) -> str:
        """Return the id under which the rows of the current version's snapshot are stored."""
        return self.current_version.snapshot_id or self.current_version.version

    @property
    def partition(self) -> str:
        """Return the partition of the row: the database's id, with the suffix of archived items."""
        return archived(self.database_id) if self.is_archived else self.database_id


ALIAS_MARK = "alias#"
"""The prefix of the sort key of the item that reserves an alias of an asset version."""
FIRST_NUMBER, AFTER_NUMBERS = "0", ":"
"""The bounds of the sort keys of versions. Those of aliases are outside."""


class AssetVersion(WireModel):
    """A version's row, without its key.

    The rows of its snapshot are stored under its own number, or under `snapshot_id` if an earlier
    release created it.
    """

    asset_version_id: str
    comment: str
    description: str
    date_created: str
    created_at: str
    created_by: str
    is_current_version: bool = True
    version_alias: str = ""
    is_archived: bool = False
    snapshot_id: str | None = None
    file_count: int = 0
    revision: int = 1

    @property
    def snapshot(self) -> str:
        """Return the id under which the rows of the snapshot are stored."""
        return self.snapshot_id or self.asset_version_id


class AssetSnapshot(WireModel):
    """An asset after a change; of a deleted one, before it."""

    asset_name: str
    description: str
    is_distributable: bool
    tags: list[str]
    asset_type: str
    bucket_id: str
    asset_location_key: str
    archived_reason: str | None = None
    unarchived_reason: str | None = None


class AssetChange(WireModel):
    """A row of the history, without its partition key; its id begins with the date."""

    history_record_id: str
    database_id: str
    asset_id: str
    record_date: str
    change_source: AssetChangeSource
    change_user_id: str
    asset_snapshot: AssetSnapshot


def _distinct(tags: list[str]) -> list[str]:
    if len(set(tags)) != len(tags):
        raise ValueError("contains a tag twice")
    return tags


TagNames = Annotated[list[ObjectName], Field(max_length=MAX_TAGS), AfterValidator(_distinct)]


class AssetPath(WireModel):
    """The path parameters of every route below one asset."""

    database_id: Id
    asset_id: AssetId

    @property
    def ref(self) -> AssetRef:
        return AssetRef(self.database_id, self.asset_id)


class NewAsset(WireModel):
    """The description of a new asset; a folder found in a bucket may have any name."""

    database_id: Id
    asset_name: AssetName
    description: Description
    is_distributable: bool
    tags: TagNames | None = None
    asset_id: AssetId | None = None
    bucket_existing_key: Line | None = None


class CreateAssetBody(NewAsset):
    asset_name: NewAssetName
    asset_id: NewAssetId | None = None


class UpdateAssetBody(WireModel):
    """The fields to change; at least one."""

    asset_name: SentAssetName | None = None
    description: Description | None = None
    is_distributable: bool | None = None
    tags: TagNames | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateAssetBody":
        if all(value is None for _, value in self):
            raise ValueError("at least one field is required")
        return self
