"""Which delete markers hide objects now, whoever put them there."""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from backend.core.objects import Objects, ObjectVersion, just_below

_LISTED, _LEAST_LISTED = 3, 20
"""Versions that are listed for each key: the marker, the one below, and some older."""


class Covering(NamedTuple):
    """The marker that hides a key, and the version that it lies on, perhaps another marker.

    There may be a further marker below, where a request was repeated: whoever removes this one to
    show the object looks again.
    """

    marker: ObjectVersion
    below: ObjectVersion | None

    @property
    def named(self) -> tuple[str, str]:
        """Key and version id of the marker."""
        return self.marker.key, self.marker.version_id


def covering(objects: Objects, bucket: str, prefix: str, keys: Sequence[str]) -> list[Covering]:
    """What hides these keys, which begin with the prefix and are in S3's order."""
    if not keys:
        return []
    wanted = frozenset(keys)
    found: list[Covering] = []
    versions = chain(_versions(objects, bucket, prefix, keys), [None])
    for version, following in pairwise(versions):
        if version and version.is_latest and version.is_delete_marker and version.key in wanted:
            is_below = following is not None and following.key == version.key
            found.append(Covering(version, following if is_below else None))
    return found


def _versions(
    objects: Objects, bucket: str, prefix: str, keys: Sequence[str]
) -> Iterator[ObjectVersion]:
    """The versions of these keys, and of others between them, newest first within a key."""
    limit = max(_LEAST_LISTED, _LISTED * len(keys))  # what stands behind them is for later
    after_key: str | None = just_below(keys[0])
    after_version: str | None = None
    while True:
        page = objects.list_versions(
            bucket, prefix, limit=limit, after_key=after_key, after_version_id=after_version
        )
        yield from page.versions
        after_key, after_version = page.next_key, page.next_version_id
        if after_key is None or after_key > keys[-1]:
            return
