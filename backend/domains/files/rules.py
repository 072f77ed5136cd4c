"""The place of a file in the bucket, and the folders of its key. Pure."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from backend.core.errors import InvalidInputError
from backend.core.file_kinds import blocked_extension
from backend.core.invisible import check_visible
from backend.core.metadata_values import METADATA_KEY_ROOM
from backend.core.names import ALL_EXTENSIONS, MAX_KEY_BYTES, check_relative_path, extension_of
from backend.core.objects import VersionRef
from backend.core.quoting import quoted
from backend.spec.buckets import (
    CHANGE_METADATA,
    PRIMARY_TYPE_METADATA,
    UPLOAD_METADATA,
    WORKFLOWS_METADATA,
)
from backend.spec.key_layouts import PREVIEW_MARK
from backend.spec.keys import FILE, SNAPSHOT, SORT_KEY_BYTES

MAX_DESTINATION_BYTES = SORT_KEY_BYTES - len(
    SNAPSHOT.build("attribute", "", "k" * METADATA_KEY_ROOM)
)
"""No path of more bytes is accepted, whatever its asset; `require_short_keys` refuses more."""


def file_key(prefix: str, sent: str, *, field: str) -> str:
    """Return the key of the file that a client names by its path or by its key.

    A leading slash always means a path in the asset; without one, what begins with the asset's own
    prefix is a key.

    Raises:
        InvalidInputError: it is not the path of a file.
    """
    if sent.endswith("/"):
        raise InvalidInputError.of(
            field, f"{quoted(sent)} must not end with '/': a file is expected, not a folder"
        )
    return _key(prefix, sent, field=field)


def _key(prefix: str, sent: str, *, field: str) -> str:
    path = sent.removeprefix(prefix) if sent.startswith(prefix) else sent
    try:
        key = prefix + check_relative_path("/" + path.removeprefix("/"))[1:]
    except ValueError as error:
        raise InvalidInputError.of(field, str(error)) from None
    size = len(key.encode())
    if size > MAX_KEY_BYTES:
        raise InvalidInputError.of(
            field, f"results in an S3 key of {size} bytes; at most {MAX_KEY_BYTES} are allowed"
        )
    return key


def folder_key(prefix: str, sent: str, *, field: str) -> str:
    """As `file_key`, for a folder, which ends in `/`.

    Raises:
        InvalidInputError: it is not the path of a folder.
    """
    return _key(prefix, sent.removesuffix("/"), field=field) + "/"


def listed_prefix(prefix: str, sent: str) -> str:
    """Return the key prefix for a path prefix that a client names.

    Raises:
        InvalidInputError: a segment is not allowed, or the prefix is longer than any key.
    """
    beginning = (sent.removeprefix(prefix) if sent.startswith(prefix) else sent).removeprefix("/")
    segments = beginning.split("/")
    if ".." in segments or "." in segments or "" in segments[:-1]:
        raise InvalidInputError.of("prefix", "must not contain an empty segment, '.' or '..'")
    size = len((prefix + beginning).encode())
    if size > MAX_KEY_BYTES:
        raise InvalidInputError.of(
            "prefix",
            f"results in S3 keys of at least {size} bytes; at most {MAX_KEY_BYTES} are allowed",
        )
    return prefix + beginning


def relative_path(prefix: str, key: str) -> str:
    """Return the path of a key in its asset, with a leading slash."""
    return "/" + key.removeprefix(prefix)


def marker_of(path: str, hidden_version_id: str) -> VersionRef:
    """Return the key of a delete marker's origin: S3 names a marker only once it exists."""
    return VersionRef(path, f"{hidden_version_id}#marker")


def name_of(key: str) -> str:
    """Return the last segment, also of a folder."""
    return key.removesuffix("/").rsplit("/", 1)[-1]


def rows_of(prefix: str, previous: str | None, key: str) -> Iterator[str]:
    """Return the rows that a key adds to a listing in key order: new folders, then itself.

    `previous` is the key before it; keys of one folder are adjacent, so it shows which folders are
    known.
    """
    start = len(prefix)
    while (end := key.find("/", start)) >= 0:
        folder = key[: end + 1]
        if previous is None or not previous.startswith(folder):
            yield folder
        start = end + 1
    if not key.endswith("/"):
        yield key


class Owner(NamedTuple):
    """The asset whose files are changed, and its key prefix."""

    database_id: str
    asset_id: str
    prefix: str


def check_name(owner: Owner, path: str, allowed: str, *, field: str) -> None:
    """Reject a path that no upload could use either.

    Raises:
        InvalidInputError: it contains invisible characters, its extension is blocked or not allowed
            in the database, it is a preview's, or a resulting key is too long.
    """
    check_visible_path(path, field=field)
    if PREVIEW_MARK in path:
        raise InvalidInputError.of(
            field, "is the name of a preview; previews are changed with their file"
        )
    blocked = blocked_extension(path)
    if blocked is not None:
        raise InvalidInputError.of(
            field, f"files with the extension {blocked} are blocked in this deployment"
        )
    extension = extension_of(path)
    taken = {extension.strip().lower() for extension in allowed.split(",")} - {""}
    if taken and ALL_EXTENSIONS not in taken and extension not in taken:
        raise InvalidInputError.of(field, f"this database accepts only {allowed}")
    require_short_keys(owner, path, field=field)


def check_visible_path(path: str, *, field: str) -> None:
    """Reject a new path with invisible characters.

    Raises:
        InvalidInputError: the message names the first of them.
    """
    try:
        check_visible(path)
    except ValueError as error:
        raise InvalidInputError.of(field, str(error)) from None


def check_apart(source: str, destination: str, *, field: str) -> None:
    """Reject a folder as the destination of another one if either contains the other.

    Raises:
        InvalidInputError: the message names the relation of the two.
    """
    if destination == source:
        raise InvalidInputError.of(field, "is the folder's current path")
    if destination.startswith(source):
        raise InvalidInputError.of(field, "is inside the folder that is moved")
    # Otherwise a file could be moved to a path of the source, and from there again.
    if source.startswith(destination):
        raise InvalidInputError.of(field, "contains the folder that is moved")


def require_short_keys(owner: Owner, path: str, *, field: str) -> None:
    """Reject a path if a resulting key is too long.

    Raises:
        InvalidInputError: the message names the key and its size.
    """
    snapshot = SNAPSHOT.build("attribute", path, "k" * METADATA_KEY_ROOM)
    for name, key, limit in (
        ("an S3 key", owner.prefix + path.removeprefix("/"), MAX_KEY_BYTES),
        ("a metadata key", FILE.build(owner.database_id, owner.asset_id, path), SORT_KEY_BYTES),
        (f"a snapshot key ({METADATA_KEY_ROOM} for the name)", snapshot, SORT_KEY_BYTES),
    ):
        size = len(key.encode())
        if size > limit:
            raise InvalidInputError.of(
                field, f"results in {name} of {size} bytes; at most {limit} are allowed"
            )


def metadata_of_copy(
    metadata: Mapping[str, str], change: str, *, primary_type: str | None = None
) -> dict[str, str]:
    """Return the object metadata of a copy: that of its source, and the id of the change.

    The upload and the workflows of the source are left out.
    """
    # They wrote only the version that is copied, and a copy by a user may start those workflows
    # again.
    left_out = {UPLOAD_METADATA, WORKFLOWS_METADATA}
    kept = {name: value for name, value in metadata.items() if name not in left_out}
    if primary_type is not None:
        kept[PRIMARY_TYPE_METADATA] = primary_type
    if not kept.get(PRIMARY_TYPE_METADATA, "-"):
        del kept[PRIMARY_TYPE_METADATA]
    return {**kept, CHANGE_METADATA: change}
