"""The state of files in S3: the latest version, the last one with content, and the preview.

One file takes two requests. Many files of one folder are listed together, and the listing skips
keys that were not requested, so it never takes more requests than reading one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from backend.core.file_kinds import preview_base
from backend.core.objects import ObjectHead, Objects, ObjectVersion, key_before
from backend.core.previews import shown_of, shown_preview_version
from backend.spec.key_layouts import PREVIEW_MARK

# Files from which one list request, which returns up to 1,000 versions, replaces a request each.
_LIST_FROM = 4
# S3's maximum for one list request.
_PAGE = 1000
# Versions that one request lists to find an archived file below its delete markers: usually the
# second one is it.
_LONE_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class ObjectState:
    """The latest version of a file, which may be a delete marker, and that of its preview.

    `content` is the newest version that is not a marker; None if only markers are left. Previews of
    archived files are not searched.
    """

    version: ObjectVersion
    content: ObjectVersion | None
    preview: ObjectVersion | None = None
    small: ObjectVersion | None = None
    """The small image of that preview."""


def states(
    objects: Objects, bucket: str, keys: Iterable[str], *, lists_only: bool = False
) -> dict[str, ObjectState]:
    """Return the states of some keys, by key; keys without versions in S3 are left out.

    `lists_only` requests no object: for functions that may not read files.
    """
    wanted = sorted(set(keys))
    if not wanted:
        return {}
    if len(wanted) < _LIST_FROM and not lists_only:
        by_key: dict[str, ObjectState] = {}
        for key in wanted:
            head = objects.head(bucket, key)
            if isinstance(head, ObjectHead):
                shown = shown_preview_version(objects, bucket, key)
                by_key[key] = ObjectState(head.version, head.version, *shown)
            elif head is not None:
                by_key[key] = ObjectState(head, _last_content(objects, bucket, key))
        return by_key
    return _Listing(wanted).read(objects, bucket)


def _last_content(objects: Objects, bucket: str, key: str) -> ObjectVersion | None:
    after: tuple[str | None, str | None] = (None, None)
    while True:
        page = objects.list_versions(
            bucket, key, limit=_LONE_VERSIONS, after_key=after[0], after_version_id=after[1]
        )
        for version in page.versions:
            if version.key == key and not version.is_delete_marker:
                return version
        # Longer keys with this beginning come after all versions of the key itself.
        if page.next_key != key:
            return None
        after = (page.next_key, page.next_version_id)


class _Listing:
    """A walk over the versions of some keys, and of keys with the prefix of their previews."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = frozenset(wanted)
        self._prefix = commonprefix(list(wanted))  # noqa: RUF071 - S3's prefixes are characters
        self._starts = sorted([*wanted, *(key + PREVIEW_MARK for key in wanted)])
        self._versions: dict[str, ObjectVersion] = {}
        self._contents: dict[str, ObjectVersion] = {}
        self._previews: dict[str, list[ObjectVersion]] = {}

    def read(self, objects: Objects, bucket: str) -> dict[str, ObjectState]:
        after: tuple[str | None, str | None] = (None, None)
        while True:
            page = objects.list_versions(
                bucket,
                self._prefix,
                limit=_PAGE,
                after_key=after[0],
                after_version_id=after[1],
            )
            for version in page.versions:
                self._collect(version)
            if page.next_key is None:
                break
            # The first key, or key prefix, that is not completely listed yet.
            start = next((s for s in self._starts if self._is_left(s, page.next_key)), None)
            if start is None:
                break
            after = (page.next_key, page.next_version_id)
            if key_before(start) > page.next_key:
                after = (key_before(start), None)
        return {key: self._state(version) for key, version in self._versions.items()}

    def _collect(self, version: ObjectVersion) -> None:
        if version.key in self._wanted and not version.is_delete_marker:
            self._contents.setdefault(version.key, version)  # the newest comes first
        if not version.is_latest:
            return
        if version.key in self._wanted:
            self._versions[version.key] = version
        base = preview_base(version.key)
        if base in self._wanted and not version.is_delete_marker:
            self._previews.setdefault(str(base), []).append(version)

    def _is_left(self, start: str, listed: str) -> bool:
        """Return whether keys with this prefix, or their previews and content, are not listed."""
        if start > listed:
            return True
        has_no_content = start in self._versions and start not in self._contents
        return listed.startswith(start) and (start not in self._wanted or has_no_content)

    def _state(self, version: ObjectVersion) -> ObjectState:
        content = self._contents.get(version.key)
        if version.is_delete_marker:
            return ObjectState(version, content)
        return ObjectState(version, content, *shown_of(self._previews.get(version.key, ())))
