"""Adds to replies which files are quarantined, and why a file is not inspected."""

from collections.abc import Sequence

from backend.core.errors import NotFoundError
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, Objects, VersionRef
from backend.domains.files.models import FileItem, FileReply
from backend.domains.quarantine.service.queries import Quarantine
from backend.spec.formats import (
    AMBIGUOUS_EXTENSIONS,
    START_BYTES,
    may_be_model,
    reason_not_inspected,
)


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
