"""Databases as stored, and the bodies and replies of their routes."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from backend.core.models import PageQuery, WireModel
from backend.core.names import Description, ExtensionList, Id


class Database(WireModel):
    """A database as its row holds it."""

    database_id: str
    description: str
    date_created: str
    asset_count: int = 0
    default_bucket_id: str
    restrict_metadata_outside_schemas: bool = False
    restrict_file_uploads_to_extensions: str = ""
    revision: int = 1


class DatabasePath(WireModel):
    database_id: Id


class DatabaseQuery(WireModel):
    show_deleted: bool = False


class DatabasesQuery(PageQuery):
    show_deleted: bool = False


class CreateDatabaseBody(WireModel):
    database_id: Id
    description: Description
    default_bucket_id: Annotated[str, Field(min_length=1, max_length=64)]
    restrict_metadata_outside_schemas: bool = False
    restrict_file_uploads_to_extensions: ExtensionList = ""


class UpdateDatabaseBody(WireModel):
    """The fields to change; at least one."""

    description: Description | None = None
    default_bucket_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    restrict_metadata_outside_schemas: bool | None = None
    restrict_file_uploads_to_extensions: ExtensionList | None = None

    @model_validator(mode="after")
    def something_changes(self) -> "UpdateDatabaseBody":
        if all(value is None for _, value in self):
            raise ValueError("at least one field must be given")
        return self


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


class DatabasesReply(WireModel):
    items: Annotated[list[DatabaseReply], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None
