"""Finds the newest versions of objects, and the delete markers that hide objects."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from backend.core.objects import Objects, ObjectVersion, key_before

# Versions to list for each key (the marker, the version below it, and one older one), and at least
# in total, because a single key may have a longer history.
_LISTED, _LEAST_LISTED = 3, 20


class Newest(NamedTuple):
    """The newest version of a key, and the one below; either may be a marker."""

    version: ObjectVersion
    below: ObjectVersion | None


def markers_hiding(objects: Objects, bucket: str, prefix: str, keys: Sequence[str]) -> list[Newest]:
    """Return the delete markers that hide these keys.

    If a request was repeated, there may be another marker below. Callers that remove the markers
    have to call this again until it returns none.
    """
    latest = newest(objects, bucket, prefix, keys)
    return [entry for entry in latest if entry.version.is_delete_marker]


def newest(objects: Objects, bucket: str, prefix: str, keys: Sequence[str]) -> list[Newest]:
    """Return the newest versions of keys that begin with the prefix and are in S3's order."""
    if not keys:
        return []
    wanted, last = frozenset(keys), keys[-1]
    limit = max(_LEAST_LISTED, _LISTED * len(keys))  # the rest is left for the next call
    latest: dict[str, Newest] = {}
    after_key: str | None = key_before(keys[0])
    after_version: str | None = None
    while after_key is not None and after_key <= last:
        page = objects.list_versions(
            bucket, prefix, limit=limit, after_key=after_key, after_version_id=after_version
        )
        for version in page.versions:
            _collect(latest, wanted, version)
        after_key, after_version = page.next_key, page.next_version_id
        if page.versions and after_key in latest and latest[after_key].below:
            if after_key == last:
                break
            after_version = None  # the rest of a long history is passed over
    return list(latest.values())


def _collect(latest: dict[str, Newest], wanted: Set[str], version: ObjectVersion) -> None:
    known = latest.get(version.key)
    if known is None and version.is_latest and version.key in wanted:
        latest[version.key] = Newest(version, None)
    elif known is not None and known.below is None:
        latest[version.key] = Newest(known.version, version)
