"""Asset buckets as stored, and the bodies and replies of their routes."""

from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from backend.core.models import WireModel
from backend.core.names import PREFIX_SCHEMA, Form, Id, check_file_name
from backend.core.quoting import quoted
from backend.spec.key_layouts import DEFAULT_BASE_PREFIX, RESERVED_FOLDERS

# An asset's prefix has at most sixteen segments, including these.
MAX_BASE_SEGMENTS = 8
# Keys have 1,024 bytes for this prefix, ids and paths.
MAX_BASE_BYTES = 512


class BucketKey(NamedTuple):
    """An object, by the id of its bucket's record and its key."""

    bucket_id: str
    key: str


class AssetBucket(WireModel):
    """A bucket and the prefix in it that holds assets; `/` is the root of the bucket.

    `default_database_id` is the database in which folders found in the bucket become assets.
    Without it they are added to the deployment's default database (`SYNC_DATABASE_ID`).
    """

    bucket_id: str
    bucket_name: str
    base_assets_prefix: str
    default_database_id: str | None = None

    @property
    def key_prefix(self) -> str:
        """Return the prefix of all keys of assets: empty for the root, else ending in `/`."""
        return self.base_assets_prefix.lstrip("/")


class BucketsReply(WireModel):
    items: Annotated[list[AssetBucket], Field(alias="Items")]
    next_token: Annotated[str | None, Field(alias="NextToken")] = None


class BucketPath(WireModel):
    bucket_id: Annotated[str, Field(min_length=1, max_length=64)]


def base_prefix(value: str) -> str:
    """Return a base prefix in stored form: `/`, or folders that end in `/`.

    Outer slashes are optional.

    Raises:
        ValueError: the prefix is invalid or reserved.
    """
    path = value.strip("/")
    if not path:
        return DEFAULT_BASE_PREFIX
    segments = path.split("/")
    for segment in segments:
        try:
            check_file_name(segment)
        except ValueError as error:
            raise ValueError(f"segment {quoted(segment)} {error}") from None
    if segments[0] in RESERVED_FOLDERS:
        raise ValueError(f"must not begin with the reserved folder {quoted(segments[0])}")
    if len(segments) > MAX_BASE_SEGMENTS:
        raise ValueError(f"has {len(segments)} segments; at most {MAX_BASE_SEGMENTS} are allowed")
    if len(path.encode()) > MAX_BASE_BYTES:
        raise ValueError(f"must have at most {MAX_BASE_BYTES} bytes")
    return path + "/"


class RegisterBucketBody(WireModel):
    bucket_name: Annotated[
        str,
        Field(min_length=3, max_length=63),
        Form(
            "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]",
            "must be of a to z, 0 to 9, '.' and '-', with a letter or digit at both ends",
        ),
    ]
    base_assets_prefix: Annotated[str, AfterValidator(base_prefix), PREFIX_SCHEMA] = (
        DEFAULT_BASE_PREFIX
    )
    default_database_id: Id | None = None


class RegisterBucketReply(AssetBucket):
    message: str
