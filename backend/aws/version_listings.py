"""Listings of versions: their order, and where a page of them begins."""

import heapq
from collections.abc import Mapping
from typing import Any

from backend.core.objects import ObjectVersion


def newest_first(listing: Mapping[str, Any]) -> list[ObjectVersion]:
    """Return versions and markers by key, newest first.

    Each of both lists is in that order. Times put them together: they have a resolution of one
    second, and an upload by parts has the time when it began. So they decide nothing within a
    list, and of equal times the order of the store's answer decides (versitygw and moto send one
    kind after the other).
    """

    def timed(name: str, is_marker: bool) -> list[tuple[tuple[object, ...], ObjectVersion]]:
        return [
            (
                (
                    entry["Key"],
                    not entry["IsLatest"],
                    -entry["LastModified"].timestamp(),
                    entry["Position"],
                ),
                _listed(entry, is_marker),
            )
            for entry in listing.get(name, [])
        ]

    both = heapq.merge(
        timed("Versions", False), timed("DeleteMarkers", True), key=lambda one: one[0]
    )
    return [version for _, version in both]


def _listed(entry: Mapping[str, Any], is_marker: bool) -> ObjectVersion:
    return ObjectVersion(
        key=entry["Key"],
        version_id=entry["VersionId"],
        is_latest=entry["IsLatest"],
        last_modified=entry["LastModified"],
        size=entry.get("Size", 0),
        etag=entry.get("ETag", "").strip('"'),
        storage_class=entry.get("StorageClass", "STANDARD"),
        is_delete_marker=is_marker,
    )


def is_before(version: ObjectVersion, after_key: str | None, after_id: str | None) -> bool:
    """Whether a page that begins after this position should not hold the version.

    S3 leaves these out; versitygw repeats the last one, and it and moto all versions of `after_key`
    where no version is given.
    """
    if after_key is None or version.key != after_key:
        return False
    return after_id is None or version.version_id == after_id
