"""Lists an asset in key order, page after page of the object store.

One request to S3 per thousand keys (or versions, with archived files). A file's previews are found
in the same page as the file; if they may continue on the next page, one more request is made.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from backend.core.file_kinds import preview_base
from backend.core.objects import MAX_BATCH, Objects, ObjectVersion
from backend.core.previews import shown_preview, shown_preview_key

# A list costs one request for up to 1,000 keys. Previews and markers are among them, so at least as
# many are read for a small page.
_LEAST_LISTED = 50


@dataclass(slots=True)
class Entries:
    """The current objects below a prefix, each once; markers only `with_archived`.

    Previews are included; `preview_of` returns the preview of the entry that was just returned.
    """

    objects: Objects
    bucket: str
    prefix: str
    with_archived: bool
    # Requests list twice as many objects, because of previews.
    wanted: int = MAX_BATCH
    """The approximate number of entries to return."""
    read: int = 0
    """Objects and versions that have been read."""

    _previews: dict[str, ObjectVersion] = field(default_factory=dict[str, ObjectVersion])
    _last_key: str | None = None

    def after(self, key: str | None) -> Iterator[ObjectVersion]:
        """Return the entries after this key."""
        return self._latest_versions(key) if self.with_archived else self._current(key)

    def preview_of(self, key: str) -> str | None:
        """Return the key of the preview of a file, if one is not archived."""
        if self._last_key is not None and self._last_key.startswith(key):
            return shown_preview_key(self.objects, self.bucket, key)
        shown = self._previews.get(key)
        return None if shown is None else shown.key

    @property
    def _limit(self) -> int:
        return min(MAX_BATCH, max(_LEAST_LISTED, 2 * self.wanted))

    def _current(self, key: str | None) -> Iterator[ObjectVersion]:
        while True:
            page = self.objects.list_objects(self.bucket, self.prefix, limit=self._limit, after=key)
            self._collect(page.objects, more=page.next_key is not None)
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
            self._collect(page.versions, more=page.next_key is not None)
            yield from (version for version in page.versions if version.is_latest)
            key, version_id = page.next_key, page.next_version_id
            if key is None:
                return

    def _collect(self, versions: tuple[ObjectVersion, ...], *, more: bool) -> None:
        self.read += len(versions)
        for version in versions:
            base = preview_base(version.key)
            if base is not None and version.is_latest and not version.is_delete_marker:
                others = (self._previews[base],) if base in self._previews else ()
                shown = shown_preview((version, *others))
                if shown is not None:
                    self._previews[base] = shown
        self._last_key = versions[-1].key if versions and more else None
