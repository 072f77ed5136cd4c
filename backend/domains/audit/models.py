"""Entries as stored, and the names of what they speak of."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from backend.core.models import WireModel


def database_entity(database_id: str) -> str:
    return f"database:{database_id}"


def asset_entity(database_id: str, asset_id: str) -> str:
    return f"asset:{database_id}:{asset_id}"


def file_entity(database_id: str, asset_id: str, path: str) -> str:
    return f"file:{database_id}:{asset_id}:{path}"


def tag_entity(tag_name: str) -> str:
    return f"tag:{tag_name}"


def tag_type_entity(tag_type_name: str) -> str:
    return f"tagType:{tag_type_name}"


def api_key_entity(api_key_id: str) -> str:
    return f"apiKey:{api_key_id}"


def upload_entity(upload_id: str) -> str:
    return f"upload:{upload_id}"


def job_entity(job_id: str) -> str:
    return f"job:{job_id}"


ENTITY_KINDS = ("database", "asset", "file", "tag", "tagType", "apiKey", "upload", "job")


@dataclass(frozen=True, slots=True)
class LargeValue:
    """A value that is too large for an entry: it stands in the archive under its own hash."""

    sha256: str
    content: bytes


class StoredValue(WireModel):
    """Where a large value stands: `bytes` is its size as JSON."""

    sha256: str
    bytes: int
    s3_key: str


class Change(WireModel):
    """One attribute before and after; a side that is not there had no value.

    A large value is under `…Stored` instead, so no value can be taken for a reference to one.
    """

    before: Any = None
    after: Any = None
    before_stored: StoredValue | None = None
    after_stored: StoredValue | None = None


class Entry(WireModel):
    """An entry as its item holds it.

    `at` is the time, and something that tells entries of one moment apart. Where all changes
    together are large, `changes` is empty and they stand in the archive, as one value.
    """

    entity: str
    at: str
    user_id: str
    operation: str
    changes: Annotated[dict[str, Change], Field(default_factory=dict[str, Change])]
    changes_stored: StoredValue | None = None
    expires_at: int
