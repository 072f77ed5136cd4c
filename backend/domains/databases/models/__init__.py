"""Databases as stored, and the bodies that create and change them."""

from typing import Annotated

from pydantic import Field, field_validator, model_validator

from backend.core.models import SentModel, WireModel
from backend.core.names import Description, ExtensionList, Id
from backend.spec.keys import active, archived


class Database(WireModel):
    """A database as stored; the count of its assets is in separate items."""

    database_id: str
    description: str
    date_created: str
    default_bucket_id: str
    restrict_metadata_outside_schemas: bool = False
    restrict_file_uploads_to_extensions: str = ""
    processing: bool = True
    """Whether the shipped workflows run on uploads to the database."""
    revision: int = 1
    deleted_at: str | None = None
    deleted_by: str | None = None
    purge_job_id: str | None = None
    """The job that removes the data of a deleted database. Until it ends the id is not
    available."""

    @field_validator("database_id")
    @classmethod
    def without_suffix(cls, value: str) -> str:
        return active(value)

    @property
    def is_deleted(self) -> bool:
        return self.deleted_at is not None

    @property
    def partition(self) -> str:
        """Return the key of the row: the id, with the suffix of deleted items."""
        return archived(self.database_id) if self.is_deleted else self.database_id


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
