"""Audit entries as stored, and the names of their objects; `replies` has their form in replies."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from backend.core.denials import Refusal
from backend.core.models import WireModel
from backend.spec.routes import Action, Route
from backend.values import frozen


def database_entity(database_id: str) -> str:
    return f"database:{database_id}"


def asset_entity(database_id: str, asset_id: str) -> str:
    return f"asset:{database_id}:{asset_id}"


def file_entity(database_id: str, asset_id: str, path: str) -> str:
    return f"file:{database_id}:{asset_id}:{path}"


def asset_link_entity(asset_link_id: str) -> str:
    return f"assetLink:{asset_link_id}"


def bucket_entity(bucket_id: str) -> str:
    return f"bucket:{bucket_id}"


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


def metadata_schema_entity(metadata_schema_id: str) -> str:
    return f"metadataSchema:{metadata_schema_id}"


def pipeline_entity(database_id: str, pipeline_id: str) -> str:
    return f"pipeline:{database_id}:{pipeline_id}"


def workflow_entity(database_id: str, workflow_id: str) -> str:
    return f"workflow:{database_id}:{workflow_id}"


def execution_entity(execution_id: str) -> str:
    return f"execution:{execution_id}"


def role_entity(role_name: str) -> str:
    return f"role:{role_name}"


def search_entity() -> str:
    """Return the name of the search indexes as a whole."""
    return "search:indexes"


def constraint_entity(constraint_id: str) -> str:
    return f"constraint:{constraint_id}"


def user_role_entity(user_id: str) -> str:
    return f"userRole:{user_id}"


def user_entity(user_id: str) -> str:
    return f"user:{user_id}"


def subscription_entity(entity_name: str, entity_id: str) -> str:
    return f"subscription:{entity_name}:{entity_id}"


def failures_entity(of: str) -> str:
    """Return the name of replayed failures: those of a consumer, `all`, or named `keys`."""
    return f"failures:{of}"


def queue_entity(queue_name: str) -> str:
    return f"queue:{queue_name}"


def read_entity(database_id: str, asset_id: str) -> str:
    """Return the name of an asset for reads of its content, URLs or description.

    It differs from the asset's own name, because subscribers are not notified of reads.
    """
    return f"read:{asset_entity(database_id, asset_id)}"


def denial_entity(route: Route, path: Mapping[str, str]) -> str:
    """Return the name for refusals on an asset or a database, existing or not, or a route.

    It differs from the object's own name, because subscribers are not notified of refusals.
    """
    database_id, asset_id = path.get("databaseId"), path.get("assetId")
    if database_id is None:
        return f"denial:{route.key}"
    of = database_entity(database_id)
    if asset_id is not None:
        of = asset_entity(database_id, asset_id)
    # The refused caller chose these ids: they may be invalid text, or longer than allowed ones.
    found = f"denial:{of}".encode(errors="replace")
    return found.decode() if len(found) <= MAX_ENTITY_BYTES else f"denial:{route.key}"


MAX_ENTITY_BYTES = 2048
"""DynamoDB's limit for the value of a partition key."""

ENTITY_KINDS = (
    *("database", "asset", "file", "tag", "tagType", "apiKey", "upload", "job"),
    *("role", "userRole", "user", "subscription", "constraint"),
    *("assetLink", "metadataSchema", "pipeline", "workflow", "execution", "bucket", "search"),
    *("failures", "queue", "denial", "read"),
)


@frozen
class LargeValue:
    """A value that is too large for an entry; it is stored in the archive under its hash."""

    sha256: str
    content: bytes


class StoredValue(WireModel):
    """The reference to a large value: `bytes` is its size as JSON."""

    sha256: str
    bytes: int
    s3_key: str


class Change(WireModel):
    """One attribute before and after; a missing side had no value.

    A large value is stored under `…Stored` instead, so values and references cannot be confused.
    """

    before: Any = None
    after: Any = None
    before_stored: StoredValue | None = None
    after_stored: StoredValue | None = None


class Denied(WireModel):
    """The request that was refused, in place of changes.

    `refusal` is `route` or `object` (the level at which permission was missing), or `invisible`:
    the caller received 404. `left_out` counts the earlier refusals of the same user that have no
    entry of their own.
    """

    refusal: Refusal
    route: str
    action: Action
    object_type: str
    path: Annotated[dict[str, str], Field(default_factory=dict[str, str])]
    left_out: int = 0


class ReadFacts(WireModel):
    """What a caller read, in place of changes.

    `files` are the first of `file_count` paths. `urls` is true if presigned URLs of them were
    issued; the URLs carry `request_id`. An entry with `first_at` covers all such reads in the hour
    that begins at `at`; time and request id are those of the first read reported.
    """

    request_id: str
    urls: bool
    files: Annotated[list[str], Field(default_factory=list[str])]
    file_count: int = 0
    first_at: str | None = None


class Entry(WireModel):
    """An entry as stored.

    `at` is the time with a suffix that distinguishes entries of the same moment. If all changes
    together are large, `changes` is empty and they are stored in the archive, as one value.
    """

    entity: str
    at: str
    user_id: str
    operation: str
    changes: Annotated[dict[str, Change], Field(default_factory=dict[str, Change])]
    changes_stored: StoredValue | None = None
    denied: Denied | None = None
    read: ReadFacts | None = None
    expires_at: int
