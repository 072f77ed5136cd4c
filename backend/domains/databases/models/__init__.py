"""Databases as stored, and the bodies that create and change them."""

from typing import Annotated

from pydantic import Field, model_validator

from backend.core.definitions import Deletable
from backend.core.models import SentModel, WireModel
from backend.core.names import Description, ExtensionList, Id


class Database(Deletable):
    """A database as stored; the count of its assets is in separate items."""

    description: str
    date_created: str
    default_bucket_id: str
    restrict_metadata_outside_schemas: bool = False
    restrict_file_uploads_to_extensions: str = ""
    processing: bool = True
    """Whether the shipped workflows run on uploads to the database."""
    purge_job_id: str | None = None
    """The job that removes the data of a deleted database. Until it ends the id is not
    available."""


class CountedDatabase(Database):
    """A database with the number of its active assets."""

    asset_count: int


class CreateDatabaseBody(SentModel):
    database_id: Id
    description: Description
    default_bucket_id: Annotated[str, Field(min_length=1, max_length=64)]
    restrict_metadata_outside_schemas: bool = False
    restrict_file_uploads_to_extensions: ExtensionList = ""
    processing: bool = True


class UpdateDatabaseBody(WireModel):
    """The fields to change; at least one."""

    description: Description | None = None
    default_bucket_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    restrict_metadata_outside_schemas: bool | None = None
    restrict_file_uploads_to_extensions: ExtensionList | None = None
    processing: bool | None = None

    @model_validator(mode="after")
    def require_change(self) -> "UpdateDatabaseBody":
        if all(value is None for _, value in self):
            raise ValueError("at least one field is required")
        return self
