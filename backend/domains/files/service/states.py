"""The versions of files: those of a snapshot, the current ones, and which are the newest.

Version listings are used: one request for hundreds of versions, instead of one per file. Keys are
in the order of their UTF-8 bytes, which is also the order of Python's texts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.core.objects import MAX_BATCH, Objects, ObjectVersion, VersionPage, key_before
from backend.values import frozen

# Versions that one step of a job stores. Their rows are written in less than a second.
CAPTURED = 100
_LISTED, _LEAST_LISTED = 3, 100
"""Versions to list for each file, and at least in total."""


@frozen
class FileState:
    """The requested version, None if it was deleted, and the current one."""

    wanted: ObjectVersion | None = None
    latest: ObjectVersion | None = None

    @property
    def is_archived(self) -> bool:
        """Return whether the file is archived now."""
        return self.latest is not None and self.latest.is_delete_marker

    @property
    def is_current(self) -> bool:
        return self.wanted is not None and self.wanted.is_latest


@dataclass(eq=False, repr=False)
class FileStates:
    """Reads states. `listed` is the number of versions per request, at most S3's limit."""

    objects: Objects
    listed: int = 1000

    def page(self, bucket: str, prefix: str, after: Mapping[str, str | None]) -> VersionPage:
        """Return some hundred versions of an asset's files, after a position in the listing."""
        return self.objects.list_versions(
            bucket,
            prefix,
            limit=min(self.listed, CAPTURED),
            after_key=after.get("key"),
            after_version_id=after.get("version"),
        )

    def of(self, bucket: str, prefix: str, wanted: Mapping[str, str]) -> dict[str, FileState]:
        """Return the states of files, by key, with these S3 versions.

        The listing continues at the next requested key, so long ranges between two of them are
        skipped.
        """
        states: dict[str, FileState] = {}
        keys = sorted(wanted)
        number, key, version_id = 0, key_before(keys[0]) if keys else None, None
        while number < len(keys):
            limit = min(self.listed, max(_LEAST_LISTED, _LISTED * (len(keys) - number)))
            page = self.objects.list_versions(
                bucket, prefix, limit=limit, after_key=key, after_version_id=version_id
            )
            _collect(states, page.versions, wanted)
            if page.next_key is None:
                break
            while number < len(keys) and keys[number] < page.next_key:
                number += 1
            key, version_id = page.next_key, page.next_version_id
            if number < len(keys) and keys[number] > page.next_key:
                key, version_id = key_before(keys[number]), None
        return states


def newest_versions(
    objects: Objects, bucket: str, prefix: str, keys: Sequence[str]
) -> dict[str, ObjectVersion]:
    """Return the newest version, or delete marker, of each key; keys without versions are left out.

    One list for a thousand versions.
    """
    versions: dict[str, ObjectVersion] = {}
    wanted, ordered = frozenset(keys), sorted(keys)
    number, last = 0, ""
    while number < len(ordered):
        limit = min(MAX_BATCH, _LEAST_LISTED + 2 * (len(ordered) - number))
        # At the next requested key, so that older versions of one key are skipped;
        start = max(key_before(ordered[number]), last)  # other keys may be between the two
        page = objects.list_versions(bucket, prefix, limit=limit, after_key=start)
        for version in page.versions:
            if version.is_latest and version.key in wanted:
                versions[version.key] = version
        if page.next_key is None:
            break
        last = page.versions[-1].key  # its newest version is the first of its versions
        while number < len(ordered) and ordered[number] <= last:
            number += 1
    return versions


def _collect(
    states: dict[str, FileState], versions: Iterable[ObjectVersion], wanted: Mapping[str, str]
) -> None:
    for version in versions:
        if version.key not in wanted:
            continue
        known = states.get(version.key, FileState())
        is_wanted = version.version_id == wanted[version.key] and not version.is_delete_marker
        states[version.key] = FileState(
            version if is_wanted else known.wanted,
            version if version.is_latest else known.latest,
        )
