"""What an asset holds in key order, page after page of the object store.

One request to S3 for a thousand keys (or versions, with archived files) at the most. A file's
preview is found in the page that the file stands in; only for the last file of a page one more
request is made.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.core.file_kinds import PREVIEW_MARK, preview_base
from backend.core.objects import Objects, ObjectVersion

_MOST_LISTED = 1000  # S3's limit
_LEAST_LISTED = 50


@dataclass(slots=True)
class Entries:
    """The objects below a prefix, each once, as it is now; markers only `with_archived`.

    Previews are among them; `preview_of` tells the preview of an entry that was just given.
    """

    objects: Objects
    bucket: str
    prefix: str
    with_archived: bool
    wanted: int = _MOST_LISTED
    """About how many will be taken: a request asks for twice as many, as there are previews."""
    read: int = 0
    """Objects and versions that were read so far."""

    _previews: dict[str, str] = field(default_factory=dict[str, str])
    _last_key: str | None = None

    def after(self, key: str | None) -> Iterator[ObjectVersion]:
        """The entries whose key comes after this one."""
        return self._latest_versions(key) if self.with_archived else self._current(key)

    def preview_of(self, key: str) -> str | None:
        """The key of a file's preview, if it has one that is not archived."""
        if key in self._previews:
            return self._previews[key]
        if self._last_key is None or not self._last_key.startswith(key):
            return None
        return next(iter(find_previews(self.objects, self.bucket, key)), None)

    @property
    def _limit(self) -> int:
        return min(_MOST_LISTED, max(_LEAST_LISTED, 2 * self.wanted))

    def _current(self, key: str | None) -> Iterator[ObjectVersion]:
        while True:
            page = self.objects.list_objects(self.bucket, self.prefix, limit=self._limit, after=key)
            self._note(page.objects, more=page.next_key is not None)
            yield from page.objects
            key = page.next_key
            if key is None:
                return

    def _latest_versions(self, key: str | None) -> Iterator[ObjectVersion]:
        version_id: str | None = None
        while True:
            page = self.objects.list_versions(
                self.bucket,
                self.prefix,
                limit=self._limit,
                after_key=key,
                after_version_id=version_id,
            )
            self._note(page.versions, more=page.next_key is not None)
            yield from (version for version in page.versions if version.is_latest)
            key, version_id = page.next_key, page.next_version_id
            if key is None:
                return

    def _note(self, found: tuple[ObjectVersion, ...], *, more: bool) -> None:
        self.read += len(found)
        for version in found:
            base = preview_base(version.key)
            if base is not None and version.is_latest and not version.is_delete_marker:
                self._previews.setdefault(base, version.key)
        self._last_key = found[-1].key if found and more else None


def find_previews(objects: Objects, bucket: str, key: str) -> list[str]:
    """The keys of a file's previews that are not archived, by one request.

    There is one at the most unless objects were put straight into the bucket.
    """
    page = objects.list_objects(bucket, key + PREVIEW_MARK, limit=50)
    return [one.key for one in page.objects if preview_base(one.key) == key]
