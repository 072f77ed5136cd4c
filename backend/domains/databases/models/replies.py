"""Parameters, optional bodies and replies of the routes of databases; no other slice loads it."""

from typing import Annotated, Literal

from pydantic import Field

from backend.core.models import OptionalBody, PageQuery, WireModel
from backend.core.names import Id, Reason


class DatabasePath(WireModel):
    database_id: Id


class DatabaseQuery(WireModel):
    show_deleted: bool = False


class DatabasesQuery(PageQuery):
    show_deleted: bool = False


class DeleteDatabaseQuery(WireModel):
    purge: bool = Field(
        default=False,
        description="Remove for good what a deleted database left: archived assets with all "
        "versions of their files, metadata, schemas, jobs. It needs the permission to DELETE the "
        "`databasePurge` of this id too, and starts a job; until that ends, the id is taken",
    )


class DeleteDatabaseBody(OptionalBody):
    confirm_permanent_delete: bool = Field(
        default=False, description="Must be true where `purge` is"
    )
    reason: Reason | None = None


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
    processing: Annotated[
        bool, Field(description="Whether the product's own workflows run on uploads")
    ]
    deleted_at: str | None = None
    deleted_by: str | None = None
    purge_job_id: str | None = None


class DeleteDatabaseReply(WireModel):
    """The job is named where the database is purged."""

    message: str
    job_id: str | None = None
    job_state: str | None = None


class DatabasesReply(WireModel):
    items: Annotated[list[DatabaseReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
