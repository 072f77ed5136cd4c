"""Audit entries as stored, and the names of their objects; `replies` has their form in replies."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field

from backend.core.denials import Refusal
from backend.core.models import WireModel
from backend.spec.routes import Action, Route
from backend.values import frozen


class Period(NamedTuple):
    """The first and the last sort key of a period, inclusive."""

    first: str
    last: str


Kind = Literal[
    "database",
    "asset",
    "file",
    "tag",
    "tagType",
    "apiKey",
    "upload",
    "job",
    "role",
    "userRole",
    "user",
    "subscription",
    "constraint",
    "assetLink",
    "metadataSchema",
    "pipeline",
    "workflow",
    "execution",
    "bucket",
    "search",
    "failures",
    "queue",
    "denial",
    "read",
]
ENTITY_KINDS: tuple[Kind, ...] = get_args(Kind)


def audit_entity(kind: Kind, *ids: str) -> str:
    """Return the name of an object in audit entries.

    The ids are those by which the object is found: a file has those of database and asset, and its
    path. Replayed failures are named by their consumer, `all` or `keys`.
    """
    return ":".join((kind, *ids))


def read_entity(database_id: str, asset_id: str) -> str:
    """Return the name of an asset for reads of its content, URLs or description."""
    # Not the asset's own name: subscribers are notified of entries of that, and not of reads.
    return audit_entity("read", audit_entity("asset", database_id, asset_id))


def denial_entity(route: Route, path: Mapping[str, str]) -> str:
    """Return the name for refusals on an asset or a database, existing or not, or a route."""
    database_id, asset_id = path.get("databaseId"), path.get("assetId")
    if database_id is None:
        return f"denial:{route.key}"
    of = audit_entity("database", database_id)
    if asset_id is not None:
        of = audit_entity("asset", database_id, asset_id)
    # The refused caller chose these ids: they may be invalid text, or longer than allowed ones.
    name = f"denial:{of}".encode(errors="replace")
    # Not the object's own name: subscribers are notified of entries of that, and not of refusals.
    return name.decode() if len(name) <= MAX_ENTITY_BYTES else f"denial:{route.key}"


# DynamoDB's limit for a partition key.
MAX_ENTITY_BYTES = 2048


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
    """Reads by a caller, in place of changes.

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
