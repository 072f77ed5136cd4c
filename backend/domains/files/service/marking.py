"""Says of listed files and versions which of them are quarantined."""

from collections.abc import Sequence

from backend.domains.files.models import FileItem, FileReply
from backend.domains.quarantine.service import Quarantine


def marked_items(
    quarantine: Quarantine, bucket: str, items: Sequence[FileItem]
) -> tuple[FileItem, ...]:
    """Return rows of a listing with `is_quarantined`; folders have none."""
    places = [(one.key, one.version_id or "") for one in items if not one.is_folder]
    found = quarantine.among(bucket, places)
    if found is None:
        return tuple(items)
    return tuple(
        one
        if one.is_folder
        else one.model_copy(update={"is_quarantined": (one.key, one.version_id) in found})
        for one in items
    )


def marked_file(quarantine: Quarantine, bucket: str, reply: FileReply) -> FileReply:
    """Return the description of a file with `is_quarantined`, of its versions too."""
    versions = reply.versions or []
    ids = [reply.version_id or "", *(one.version_id for one in versions)]
    found = quarantine.among(bucket, [(reply.key, version_id) for version_id in ids])
    if found is None:
        return reply
    marked = [
        one.model_copy(update={"is_quarantined": (reply.key, one.version_id) in found})
        for one in versions
    ]
    return reply.model_copy(
        update={
            "is_quarantined": (reply.key, reply.version_id) in found,
            "versions": None if reply.versions is None else marked,
        }
    )
