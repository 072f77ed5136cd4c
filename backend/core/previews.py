"""Previews in the object store: finds those of a file, and chooses the one that is shown.

Which names are previews is decided in `file_kinds`.
"""

from collections.abc import Iterable

from backend.core.file_kinds import PREVIEW_MARK, preview_base
from backend.core.objects import Objects, ObjectVersion


def find_previews(objects: Objects, bucket: str, key: str) -> list[ObjectVersion]:
    """Return the previews of a file that are not archived, by one request a thousand keys.

    An upload keeps one of them; more are put straight into the bucket.
    """
    found: list[ObjectVersion] = []
    after: str | None = None
    while True:
        page = objects.list_objects(bucket, key + PREVIEW_MARK, after=after)
        found += [one for one in page.objects if preview_base(one.key) == key]
        after = page.next_key
        if after is None:
            return found


def shown_preview(previews: Iterable[ObjectVersion]) -> ObjectVersion | None:
    """Return the newest preview; of those of one second, the last by key.

    HEAD and listings report times in different resolutions: whole seconds are in both.
    """
    return max(
        previews, key=lambda one: (int(one.last_modified.timestamp()), one.key), default=None
    )


def shown_preview_key(objects: Objects, bucket: str, key: str) -> str | None:
    """Return the key of the preview that is shown of a file."""
    shown = shown_preview(find_previews(objects, bucket, key))
    return None if shown is None else shown.key
