"""The content of a snapshot, and the differences of two. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from backend.core.clock import iso
from backend.core.errors import InvalidInputError
from backend.core.file_kinds import is_preview
from backend.core.objects import ObjectVersion
from backend.domains.asset_versions.models import HeldFile, HeldRecord, NamedFile
from backend.domains.assets.models import Asset, AssetVersion, CurrentVersion

# Files of a request that one row stores. Their paths may have a kilobyte each.
NAMED_ON_A_PAGE = 100


def held_files(prefix: str, versions: Iterable[ObjectVersion]) -> list[HeldFile]:
    """Return the files among the current object versions, without folders and previews."""
    return [
        held_file(prefix, version)
        for version in versions
        if version.is_latest and not version.is_delete_marker and is_file(version.key)
    ]


def is_file(key: str) -> bool:
    return not key.endswith("/") and not is_preview(key)


def held_file(prefix: str, version: ObjectVersion) -> HeldFile:
    return HeldFile(
        path="/" + version.key.removeprefix(prefix),
        version_id=version.version_id,
        size=version.size,
        last_modified=iso(version.last_modified),
        etag=version.etag,
    )


def named_pages(files: Sequence[NamedFile]) -> list[list[NamedFile]]:
    """Return the files that a request names, by path, in pages.

    Raises:
        InvalidInputError: a path is repeated, or is that of a preview.
    """
    seen: set[str] = set()
    for number, file in enumerate(files):
        field = f"files.{number}.relativeKey"
        if file.relative_key in seen:
            raise InvalidInputError.of(field, "is listed twice in this request")
        if not is_file(file.relative_key):
            raise InvalidInputError.of(field, "is a preview; previews are included with their file")
        seen.add(file.relative_key)
    ordered = sorted(files, key=lambda file: file.relative_key)
    starts = range(0, len(ordered), NAMED_ON_A_PAGE)
    return [ordered[start : start + NAMED_ON_A_PAGE] for start in starts]


def is_newest(number: str, asset: Asset) -> bool:
    """Return whether a version of this number becomes the current one: the highest does."""
    return int(number) > int(asset.current_version.version)


def current_of(version: AssetVersion) -> CurrentVersion:
    """Return a version as its asset's row repeats it while it is the current one."""
    return CurrentVersion(
        version=version.asset_version_id,
        date_modified=version.date_created,
        comment=version.comment,
        description=version.description,
        created_by=version.created_by,
        version_alias=version.version_alias,
        snapshot_id=version.snapshot_id,
    )


class Difference(NamedTuple):
    """One difference of two snapshots; a side is absent if that snapshot does not contain it."""

    before: HeldFile | HeldRecord | None
    after: HeldFile | HeldRecord | None


def differs(before: HeldFile | HeldRecord, after: HeldFile | HeldRecord) -> bool:
    """Return whether a file has another S3 version, or a record another value or type."""
    if isinstance(before, HeldFile) and isinstance(after, HeldFile):
        return before.version_id != after.version_id
    return before != after


def differences(
    before: Mapping[str, HeldFile | HeldRecord],
    after: Mapping[str, HeldFile | HeldRecord],
    *,
    up_to: str | None,
) -> Iterator[tuple[str, Difference]]:
    """Return the differences of two pages, by sort key in order, as far as both of them reach."""
    for key in sorted(before.keys() | after.keys()):
        if up_to is not None and key > up_to:
            return
        old, new = before.get(key), after.get(key)
        if old is None or new is None or differs(old, new):
            yield key, Difference(old, new)
