"""The rows of a listing: files, and the folders in their keys."""

from collections.abc import Mapping

from backend.core.clock import iso
from backend.core.file_kinds import is_preview
from backend.core.objects import ObjectHead, ObjectVersion
from backend.core.paging import MAX_ROWS_PER_PAGE, Page, PageRequest
from backend.domains.assets.models import Asset
from backend.domains.files import rules
from backend.domains.files.models import FileItem, FileSnapshot
from backend.domains.files.service.entries import Entries
from backend.spec.buckets import PRIMARY_TYPE_METADATA

Found = tuple[FileItem, ObjectVersion | None]
"""A row and its object. A folder has no object."""


def page_of(entries: Entries, prefix: str, page: PageRequest) -> Page[Found]:
    """Return rows in key order.

    A position is the last key that was used up, and how many rows of the next one were returned: a
    key may add folders before itself.
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
    return Page(tuple(rows))


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
    )


def head_facts(head: ObjectHead | ObjectVersion | None) -> Mapping[str, str | bool | None]:
    """Return what the HEAD of a file adds to its row."""
    if head is None:
        return {}
    if isinstance(head, ObjectVersion):
        return {"is_archived": True}
    return {
        "version_id": head.version.version_id,
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
        "storage_class": version.storage_class,
        "primary_type": "",
    }


def has_no_type(asset: Asset, item: FileItem) -> bool:
    """Return whether a file is known to have no primary type."""
    return asset.typed_files is not None and item.relative_path not in asset.typed_files
