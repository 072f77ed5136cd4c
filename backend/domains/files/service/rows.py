"""The rows of a listing: files, and the folders in their keys."""

from backend.core.clock import iso
from backend.core.file_kinds import is_preview
from backend.core.objects import ObjectVersion
from backend.core.paging import MAX_ROWS_PER_PAGE, Page, PageRequest
from backend.domains.files import rules
from backend.domains.files.models import FileItem
from backend.domains.files.service.entries import Entries

Found = tuple[FileItem, ObjectVersion | None]
"""A row, and the object that it is of; none for a folder."""


def page_of(entries: Entries, prefix: str, page: PageRequest) -> Page[Found]:
    """Return rows in key order.

    A position is the last key that was used up, and how many rows of the next one were returned: a
    key may add folders before itself.
    """
    position = page.after or {}
    previous: str | None = position.get("after")
    given: int = position.get("given", 0)
    rows: list[Found] = []
    for entry in entries.after(previous):
        for number, key in enumerate(rules.rows_of(prefix, previous, entry.key)):
            if number < given or not key.startswith(entries.prefix) or is_preview(key):
                continue
            if len(rows) == page.limit:
                return Page(tuple(rows), {"after": previous, "given": number})
            rows.append(_row(prefix, key, entry, entries))
        given, previous = 0, entry.key
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
