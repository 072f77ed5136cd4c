"""Which ids, prefixes and tags an asset may have, and what reserves them. Pure."""

from collections.abc import Iterable
from typing import Any

from backend.core.errors import InvalidInputError, NotFoundError
from backend.core.invisible import check_visible
from backend.core.names import MAX_KEY_BYTES, check_asset_id, check_file_name
from backend.domains.assets.models import Asset, UpdateAssetBody
from backend.spec.key_layouts import RESERVED_FOLDERS
from backend.spec.keys import FILE, SORT_KEY_BYTES, archived

INHERITED_BY_FILES = frozenset({"assetName", "assetType", "tags"})
"""What a change of sends the documents of all files to be built again."""

PATH_ROOM_BYTES = 128
"""Every asset has room for relative paths of at least this many bytes, in all keys they enter."""

MAX_PREFIX_DEPTH = 16
"""Segments of an asset's prefix, the bucket's base prefix among them."""


class FileNotFoundInAssetError(NotFoundError):
    """The asset has no such file, or the file no such version."""

    code = "FileNotFound"

    def __init__(self, path: str, asset_id: str, version_id: str | None = None) -> None:
        version = "" if version_id is None else f" with version {version_id}"
        super().__init__(f"Asset {asset_id} has no file {path}{version}")


class PreviewNotFoundError(NotFoundError):
    """The asset has no preview."""

    code = "PreviewNotFound"

    def __init__(self, asset_id: str) -> None:
        super().__init__(f"Asset {asset_id} has no preview")


def check_asset_key_room(database_id: str, asset_id: str) -> None:
    """Refuse an asset id with which no file's composite key would fit DynamoDB's sort key.

    Raises:
        InvalidInputError: naming `assetId`.
    """
    size = len(FILE.build(database_id, asset_id, "").encode())
    if size + PATH_ROOM_BYTES > SORT_KEY_BYTES:
        raise InvalidInputError.of(
            "assetId",
            (
                f"leaves less than {PATH_ROOM_BYTES} bytes for file paths: with its database "
                f"it has {size} bytes; at most {SORT_KEY_BYTES - PATH_ROOM_BYTES} are allowed"
            ),
        )


def asset_prefix(base: str, asset_id: str) -> str:
    """The prefix of a new asset's files.

    Raises:
        InvalidInputError: the id is a folder's that never holds an asset.
    """
    return _checked(base, asset_id + "/", field="assetId")


def adoptable_prefix(base: str, folder: str) -> str:
    """The prefix of a folder that is to become the asset of that id.

    Raises:
        InvalidInputError: its name is reserved, or no id of an asset.
    """
    try:
        check_asset_id(folder)
    except ValueError as error:
        raise InvalidInputError.of("assetId", str(error)) from None
    return asset_prefix(base, folder)


def existing_prefix(base: str, key: str) -> str:
    """The prefix that `bucketExistingKey` names, with or without the bucket's base prefix.

    Raises:
        InvalidInputError: it is not a folder below the base prefix in which an asset may stand.
    """
    field = "bucketExistingKey"
    path = key.removeprefix("/").removesuffix("/") + "/"
    below = path.removeprefix(base)
    for segment in below[:-1].split("/"):
        try:
            check_file_name(segment)
        except ValueError as error:
            raise InvalidInputError.of(field, f"segment {segment!r} {error}") from None
    return _checked(base, below, field=field)


def ancestors(base: str, prefix: str) -> tuple[str, ...]:
    """The prefixes strictly between the bucket's base prefix and an asset's, outermost first."""
    return tuple(
        base + below for below in _folders(prefix.removeprefix(base)) if base + below != prefix
    )


def possible_prefixes(key: str) -> tuple[str, ...]:
    """The prefixes of assets that may own an S3 key: one of them at the most does."""
    return tuple(_folders(key))[:MAX_PREFIX_DEPTH]


def id_reservation(asset_id: str) -> str:
    """The key of the reservation of an asset id."""
    return f"AssetId#{asset_id}"


def prefix_reservation(bucket_id: str, prefix: str) -> str:
    """The key of the reservation of a prefix in a bucket.

    Its item either names the asset that owns the prefix, or counts the assets whose prefixes lie
    deeper in it (`within`); never both.
    """
    return f"Prefix#{bucket_id}#{prefix}"


def _checked(base: str, below: str, *, field: str) -> str:
    prefix = base + below
    first = below.split("/", 1)[0]
    if first in RESERVED_FOLDERS:
        raise InvalidInputError.of(field, f"must not begin with the reserved folder {first!r}")
    depth = prefix.count("/")
    if depth > MAX_PREFIX_DEPTH:
        raise InvalidInputError.of(
            field,
            f"results in a prefix of {depth} segments; at most {MAX_PREFIX_DEPTH} are allowed",
        )
    size = len(prefix.encode())
    if size + PATH_ROOM_BYTES > MAX_KEY_BYTES:
        raise InvalidInputError.of(
            field,
            (
                f"results in a prefix of {size} bytes; at most "
                f"{MAX_KEY_BYTES - PATH_ROOM_BYTES} are allowed"
            ),
        )
    return prefix


def _folders(path: str) -> Iterable[str]:
    """`a/`, `a/b/` for `a/b/c`."""
    end = path.find("/")
    while end >= 0:
        yield path[: end + 1]
        end = path.find("/", end + 1)


def counters(changes: Iterable[str]) -> tuple[str, ...]:
    """What a change of these attributes counts: what files inherit has their documents rebuilt."""
    return ("inheritedRevision",) if INHERITED_BY_FILES.intersection(changes) else ()


def partitions(database_id: str, *, show_archived: bool) -> tuple[str, ...]:
    """Return the partition of a database's active assets, and on request that of archived ones."""
    return (database_id, archived(database_id)) if show_archived else (database_id,)


def changes(asset: Asset, body: UpdateAssetBody) -> dict[str, Any]:
    """What the body really changes, by the names of the row's attributes.

    Raises:
        InvalidInputError: the new name holds invisible characters; one that is stored may remain.
    """
    now = asset.model_dump(by_alias=True)
    wanted = body.model_dump(by_alias=True, exclude_none=True)
    changed = {name: value for name, value in wanted.items() if value != now[name]}
    try:
        check_visible(changed.get("assetName", ""))
    except ValueError as error:
        raise InvalidInputError.of("assetName", str(error)) from None
    return changed
