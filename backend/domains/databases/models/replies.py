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
        description=(
            "Permanently remove everything that belongs to a deleted database: archived assets "
            "with all versions of their files, metadata, schemas and jobs. Requires DELETE "
            "permission on the `databasePurge` object of this id as well. Starts a job; the id "
            "cannot be used again until the job has ended"
        ),
    )


class DeleteDatabaseBody(OptionalBody):
    confirm_permanent_delete: bool = Field(
        default=False, description="Must be true if `purge` is true"
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
    """A database with the bucket in which its new assets are stored."""

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
        bool, Field(description="Whether the built-in workflows run on uploaded files")
    ]
    deleted_at: str | None = None
    deleted_by: str | None = None
    purge_job_id: str | None = None


class DeleteDatabaseReply(WireModel):
    """`job_id` is present if the database is purged."""

    message: str
    job_id: str | None = None
    job_state: str | None = None


class DatabasesReply(WireModel):
    items: Annotated[list[DatabaseReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
