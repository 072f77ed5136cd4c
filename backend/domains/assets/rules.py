"""The allowed ids, prefixes and tags of assets, and their reservations. Pure."""

from collections.abc import Iterable
from typing import Any

from backend.core.errors import InvalidInputError
from backend.core.invisible import check_visible
from backend.core.names import MAX_KEY_BYTES, check_asset_id, check_file_name
from backend.core.quoting import quoted
from backend.domains.assets.models import (
    Asset,
    AssetChange,
    AssetChangeSource,
    AssetSnapshot,
    UpdateAssetBody,
)
from backend.spec.key_layouts import RESERVED_FOLDERS
from backend.spec.keys import FILE, SORT_KEY_BYTES, archived

INHERITED_BY_FILES = frozenset({"assetName", "assetType", "tags"})
"""Attributes whose change rebuilds the documents of all files of the asset."""

# Bytes that an asset's prefix leaves for relative paths, in all keys that contain them: an asset in
# which no file fits could only be deleted.
PATH_ROOM_BYTES = 128

# Number and size of the paths in `typed_files`, in the asset's row; with more the row has none, and
# lists read every object (decision 19).
MAX_TYPED_FILES, MAX_TYPED_BYTES = 500, 64 * 1024

# Segments of an asset's prefix, with the bucket's base prefix. Each ancestor is an item of the
# transaction that reserves it, and of the read that resolves a key (decision 13).
MAX_PREFIX_DEPTH = 16


def check_asset_key_room(database_id: str, asset_id: str) -> None:
    """Reject an asset id that leaves no room for composite keys of files.

    Raises:
        InvalidInputError: the message names `assetId`.
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
    """Return the prefix of a new asset's files.

    Raises:
        InvalidInputError: the id is the name of a reserved folder.
    """
    return _check_prefix(base, asset_id + "/", field="assetId")


def require_adoptable_prefix(base: str, folder: str) -> str:
    """Return the prefix of a folder that becomes the asset of that id.

    Raises:
        InvalidInputError: the name is reserved, or not a valid asset id.
    """
    try:
        check_asset_id(folder)
    except ValueError as error:
        raise InvalidInputError.of("assetId", str(error)) from None
    return asset_prefix(base, folder)


def existing_prefix(base: str, key: str) -> str:
    """Return the prefix in `bucketExistingKey`, with or without the bucket's base prefix.

    Raises:
        InvalidInputError: it is not a folder below the base prefix that may contain an asset.
    """
    field = "bucketExistingKey"
    path = key.removeprefix("/").removesuffix("/") + "/"
    below = path.removeprefix(base)
    for segment in below[:-1].split("/"):
        try:
            check_file_name(segment)
        except ValueError as error:
            raise InvalidInputError.of(field, f"segment {quoted(segment)} {error}") from None
    return _check_prefix(base, below, field=field)


def ancestors(base: str, prefix: str) -> tuple[str, ...]:
    """Return the prefixes between the bucket's base prefix and an asset's, outermost first."""
    return tuple(
        base + below for below in _folders(prefix.removeprefix(base)) if base + below != prefix
    )


def possible_prefixes(key: str) -> tuple[str, ...]:
    """Return the possible prefixes of the asset that owns an S3 key; at most one exists."""
    return tuple(_folders(key))[:MAX_PREFIX_DEPTH]


def id_reservation(asset_id: str) -> str:
    """Return the key of the reservation of an asset id."""
    return f"AssetId#{asset_id}"


def prefix_reservation(bucket_id: str, prefix: str) -> str:
    """Return the key of the reservation of a prefix in a bucket.

    Its item either names the asset that owns the prefix, or counts the assets with deeper prefixes
    (`within`); never both.
    """
    return f"Prefix#{bucket_id}#{prefix}"


def _check_prefix(base: str, below: str, *, field: str) -> str:
    prefix = base + below
    first = below.split("/", 1)[0]
    if first in RESERVED_FOLDERS:
        raise InvalidInputError.of(
            field, f"must not begin with the reserved folder {quoted(first)}"
        )
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
    """Return `a/`, `a/b/` for `a/b/c`."""
    end = path.find("/")
    while end >= 0:
        yield path[: end + 1]
        end = path.find("/", end + 1)


def counters_of(changes: Iterable[str]) -> tuple[str, ...]:
    """Return the counters to increment for changed attributes: files inherit some of them."""
    return ("inheritedRevision",) if INHERITED_BY_FILES.intersection(changes) else ()


def partitions_of(database_id: str, *, show_archived: bool) -> tuple[str, ...]:
    """Return the partition of a database's active assets, and on request that of archived ones."""
    return (database_id, archived(database_id)) if show_archived else (database_id,)


def changed_attributes(asset: Asset, body: UpdateAssetBody) -> dict[str, Any]:
    """Return what the body changes, by the names of the row's attributes.

    Raises:
        InvalidInputError: the new name contains invisible characters; a stored one may remain.
    """
    now = asset.model_dump(by_alias=True)
    wanted = body.model_dump(by_alias=True, exclude_none=True)
    changed = {name: value for name, value in wanted.items() if value != now[name]}
    try:
        check_visible(changed.get("assetName", ""))
    except ValueError as error:
        raise InvalidInputError.of("assetName", str(error)) from None
    return changed


def with_typed_file(asset: Asset, path: str) -> dict[str, Any] | None:
    """Return the change that adds a path to the files with primary types; None if there is none."""
    if asset.typed_files is None or path in asset.typed_files:
        return None
    paths = sorted([*asset.typed_files, path])
    fits = (
        len(paths) <= MAX_TYPED_FILES
        and sum(len(path.encode()) for path in paths) <= MAX_TYPED_BYTES
    )
    return {"typedFiles": paths if fits else None}


def history_of(
    asset: Asset, source: AssetChangeSource, *, by: str, at: str, unarchived_reason: str | None
) -> AssetChange:
    """Return the row of a change in the history; `asset` has the revision after the change."""
    return AssetChange(
        # The revision distinguishes changes of one moment.
        history_record_id=f"{at}#{asset.revision:08}",
        database_id=asset.database_id,
        asset_id=asset.asset_id,
        record_date=at,
        change_source=source,
        change_user_id=by,
        asset_snapshot=AssetSnapshot(
            asset_name=asset.asset_name,
            description=asset.description,
            is_distributable=asset.is_distributable,
            tags=asset.tags,
            asset_type=asset.asset_type,
            bucket_id=asset.bucket_id,
            asset_location_key=asset.asset_location.key,
            archived_reason=asset.archived_reason,
            unarchived_reason=unarchived_reason,
        ),
    )
