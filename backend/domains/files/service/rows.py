"""The files and folders of a list: entries of the store, the rows of them, and their attributes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from backend.core.clock import iso
from backend.core.errors import NotFoundError
from backend.core.file_kinds import is_preview, preview_base
from backend.core.names import extension_of
from backend.core.objects import MAX_BATCH, ObjectHead, Objects, ObjectVersion, VersionRef
from backend.core.paging import MAX_ROWS_PER_PAGE, Page, PageRequest
from backend.core.previews import shown_preview, shown_preview_key
from backend.domains.assets.models import Asset
from backend.domains.files import rules
from backend.domains.files.models import FileItem, FileReply, FileSnapshot
from backend.domains.files.rules import relative_path
from backend.domains.quarantine.service.queries import Quarantine
from backend.spec.buckets import PRIMARY_TYPE_METADATA
from backend.spec.formats import (
    AMBIGUOUS_EXTENSIONS,
    START_BYTES,
    may_be_model,
    reason_not_inspected,
)
from backend.values import frozen

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


@frozen
class FileTarget:
    """A key that belongs to an asset, and the bucket that it is in."""

    asset: Asset
    bucket: str
    prefix: str
    key: str

    @property
    def path(self) -> str:
        """Return the path in the asset, with a leading slash."""
        return relative_path(self.prefix, self.key)


def items_with_marks(
    quarantine: Quarantine, bucket: str, items: Sequence[FileItem]
) -> tuple[FileItem, ...]:
    """Return rows of a listing with `is_quarantined`; folders have none."""
    versions = [VersionRef(item.key, item.version_id or "") for item in items if not item.is_folder]
    quarantined = quarantine.among(bucket, versions)
    if quarantined is None:
        return tuple(items)
    return tuple(
        item
        if item.is_folder
        else item.model_copy(update={"is_quarantined": (item.key, item.version_id) in quarantined})
        for item in items
    )


def with_marks(quarantine: Quarantine, bucket: str, reply: FileReply) -> FileReply:
    """Return the description of a file with `is_quarantined`, of its versions too."""
    versions = reply.versions or []
    ids = [reply.version_id or "", *(version.version_id for version in versions)]
    quarantined = quarantine.among(
        bucket, [VersionRef(reply.key, version_id) for version_id in ids]
    )
    if quarantined is None:
        return reply
    marked = [
        version.model_copy(
            update={"is_quarantined": (reply.key, version.version_id) in quarantined}
        )
        for version in versions
    ]
    return reply.model_copy(
        update={
            "is_quarantined": (reply.key, reply.version_id) in quarantined,
            "versions": None if reply.versions is None else marked,
        }
    )


def with_reason(objects: Objects, bucket: str, head: ObjectHead, reply: FileReply) -> FileReply:
    """Return the description of a current version with the reason why it is not inspected, if any.

    One request to S3 for extensions that other programs use too: the content decides.
    """
    reason = _reason(objects, bucket, head, reply)
    return reply if reason is None else reply.model_copy(update={"not_inspected": reason})


def _reason(objects: Objects, bucket: str, head: ObjectHead, reply: FileReply) -> str | None:
    extension = extension_of(reply.key).removeprefix(".")
    reason = reason_not_inspected(extension)
    if reason is None and reply.is_quarantined:
        reason = "A malware scan found a threat in the file"
    if reason is None and head.needs_restore:
        reason = "The file is in an archive class of S3"
    if reason is not None or extension not in AMBIGUOUS_EXTENSIONS:
        return reason
    try:
        start = objects.read_start(bucket, reply.key, length=START_BYTES)
    except NotFoundError:  # deleted meanwhile
        return None
    if may_be_model(extension, start):
        return None
    return f"The content is not that of a model with the extension .{extension}"


Found = tuple[FileItem, ObjectVersion | None]
"""A row and its object. A folder has no object."""


def page_of(entries: Entries, prefix: str, page: PageRequest) -> Page[Found]:
    """Return rows in key order.

    A position is the last key that was used up, and how many rows of the next one were returned: a
    key may add folders before itself. A full page always has one.
    """
    position = page.after or {}
    previous: str | None = position.get("after")
    count: int = position.get("given", 0)
    rows: list[Found] = []
    for entry in entries.after(previous):
        for number, key in enumerate(rules.rows_of(prefix, previous, entry.key)):
            if number < count or not key.startswith(entries.prefix) or is_preview(key):
                continue
            if len(rows) == page.limit:
                return Page(tuple(rows), {"after": previous, "given": number})
            rows.append(_row(prefix, key, entry, entries))
        count, previous = 0, entry.key
        if rows and entries.read >= MAX_ROWS_PER_PAGE and len(rows) < page.limit:
            return Page(tuple(rows), {"after": previous, "given": 0})
    at_end = {"after": previous, "given": 0}
    return Page(tuple(rows), at_end if len(rows) == page.limit else None)


def _row(prefix: str, key: str, entry: ObjectVersion, entries: Entries) -> Found:
    is_folder = key.endswith("/")
    is_itself = key == entry.key
    item = FileItem(
        file_name=rules.name_of(key),
        key=key,
        relative_path=rules.relative_path(prefix, key),
        is_folder=is_folder,
        is_archived=is_itself and entry.is_delete_marker,
        version_id=(entry.version_id or None) if is_itself else None,
        date_created_current_version=iso(entry.last_modified) if is_itself else None,
    )
    if is_folder:
        return item, None
    facts = {
        "size": None if entry.is_delete_marker else entry.size,
        "etag": entry.etag or None,
        "storage_class": None if entry.is_delete_marker else entry.storage_class,
        "preview_file": None if entry.is_delete_marker else entries.preview_of(key),
    }
    return item.model_copy(update=facts), entry


def held_item(prefix: str, held: FileSnapshot) -> FileItem:
    """Return the row of a file of an asset version."""
    return FileItem(
        file_name=rules.name_of(held.file_key),
        key=prefix + held.file_key.removeprefix("/"),
        relative_path=held.file_key,
        is_folder=False,
        size=held.size,
        date_created_current_version=held.last_modified,
        version_id=held.version_id,
        etag=held.etag or None,
    )


def head_facts(head: ObjectHead | ObjectVersion | None) -> Mapping[str, str | bool | None]:
    """Return what the HEAD of a file adds to its row."""
    if head is None:
        return {}
    if isinstance(head, ObjectVersion):
        return {"is_archived": True}
    return {
        "version_id": head.version.version_id,
        "etag": head.version.etag or None,
        "storage_class": head.version.storage_class,
        "primary_type": head.metadata.get(PRIMARY_TYPE_METADATA, ""),
    }


def version_facts(version: ObjectVersion | None) -> Mapping[str, str | bool | None]:
    """As `head_facts`, of a file that has no primary type."""
    if version is None:
        return {}
    if version.is_delete_marker:
        return {"is_archived": True}
    return {
        "version_id": version.version_id,
        "etag": version.etag or None,
        "storage_class": version.storage_class,
        "primary_type": "",
    }


def has_no_type(asset: Asset, item: FileItem) -> bool:
    """Return whether a file is known to have no primary type."""
    return asset.typed_files is not None and item.relative_path not in asset.typed_files
