"""What the routes of databases ask and tell; other slices do not load it."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import PageQuery, WireModel
from backend.core.names import Id


class DatabasePath(WireModel):
    database_id: Id


class DatabaseQuery(WireModel):
    show_deleted: bool = False


class DatabasesQuery(PageQuery):
    show_deleted: bool = False


class CreateDatabaseReply(WireModel):
    database_id: str
    message: str


class UpdateDatabaseReply(WireModel):
    success: bool = True
    message: str
    database_id: str
    operation: Literal["update"] = "update"
    timestamp: str


class DatabaseReply(WireModel):
    """A database with the bucket that new assets of it get."""

    database_id: str
    description: str
    date_created: str
    asset_count: int
    default_bucket_id: str
    bucket_name: str
    base_assets_prefix: str
    restrict_metadata_outside_schemas: bool
    restrict_file_uploads_to_extensions: str
    deleted_at: str | None = None
    deleted_by: str | None = None


class DeleteDatabaseReply(WireModel):
    message: str


class DatabasesReply(WireModel):
    items: Annotated[list[DatabaseReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
