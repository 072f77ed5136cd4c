"""Listings of versions: their order, and where a page of them begins."""

import heapq
from collections.abc import Mapping
from typing import Any

from backend.core.objects import ObjectVersion


def newest_first(listing: Mapping[str, Any]) -> list[ObjectVersion]:
    """Return versions and markers by key, newest first.

    Both lists are in that order already, and are merged by time.
    """

    def entries_by_time(
        name: str, is_marker: bool
    ) -> list[tuple[tuple[object, ...], ObjectVersion]]:
        return [
            (
                (
                    entry["Key"],
                    not entry["IsLatest"],
                    # Times have a resolution of one second, and a multipart upload has the time of
                    # its start, so for equal times the order of the response decides. versitygw and
                    # moto send one kind after the other.
                    -entry["LastModified"].timestamp(),
                    entry["Position"],
                ),
                _version_of(entry, is_marker),
            )
            for entry in listing.get(name, [])
        ]

    both = heapq.merge(
        entries_by_time("Versions", False),
        entries_by_time("DeleteMarkers", True),
        key=lambda entry: entry[0],
    )
    return [version for _, version in both]


def _version_of(entry: Mapping[str, Any], is_marker: bool) -> ObjectVersion:
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
    """Return whether a page that begins after this position should not include the version."""
    # S3 leaves these out. versitygw repeats the last one, and versitygw and moto repeat all
    # versions of `after_key` if no version is named.
    if after_key is None or version.key != after_key:
        return False
    return after_id is None or version.version_id == after_id
