"""Previews in the object store: finds those of a file or asset, and chooses the one shown.

Which names are previews is decided in `file_kinds`.
"""

from collections.abc import Iterable
from os.path import commonprefix
from typing import Literal

from backend.core.file_kinds import asset_preview_keys, preview_base
from backend.core.models import WireModel
from backend.core.objects import Objects, ObjectVersion, just_below
from backend.spec.key_layouts import PREVIEW_MARK

_ASSET_PREVIEW = commonprefix(asset_preview_keys(""))  # noqa: RUF071 - S3's prefixes are characters
_LISTED = 50


MissingReason = Literal[
    "none",
    "inspecting",
    "refused",
    "notDistributable",
    "notPermitted",
    "quarantined",
    "archived",
]


NOT_PROCESSED = "Files of this database are not inspected when they are uploaded"


class Missing(WireModel):
    """Why there is no preview or GLB: `none` was made, the file is still `inspecting`, its reader
    `refused` it, the asset is `notDistributable`, the caller is `notPermitted` to download, or the
    file is `quarantined` or `archived`.

    `message` says it in words; of a refused file it is the reader's.
    """

    reason: MissingReason
    message: str


def find_previews(objects: Objects, bucket: str, key: str) -> list[ObjectVersion]:
    """Return the previews of a file that are not archived, by one request a thousand keys.

    Uploads leave one preview at most; more can only have been written to the bucket directly.
    """
    found: list[ObjectVersion] = []
    after: str | None = None
    while True:
        page = objects.list_objects(bucket, key + PREVIEW_MARK, after=after)
        found += [one for one in page.objects if preview_base(one.key) == key]
        after = page.next_key
        if after is None:
            return found


def shown_preview_version(objects: Objects, bucket: str, key: str) -> ObjectVersion | None:
    """Return the version of the preview that is shown of a file, with its size."""
    found: list[ObjectVersion] = []
    after: tuple[str | None, str | None] = (None, None)
    while True:
        page = objects.list_versions(
            bucket, key + PREVIEW_MARK, after_key=after[0], after_version_id=after[1]
        )
        found += [
            one
            for one in page.versions
            if one.is_latest and not one.is_delete_marker and preview_base(one.key) == key
        ]
        after = (page.next_key, page.next_version_id)
        if page.next_key is None:
            return shown_preview(found)


def shown_preview(previews: Iterable[ObjectVersion]) -> ObjectVersion | None:
    """Return the newest preview; of those with the same second, the last by key.

    HEAD and listings report times in different resolutions, so only whole seconds are compared.
    """
    return max(
        previews, key=lambda one: (int(one.last_modified.timestamp()), one.key), default=None
    )


def shown_preview_key(objects: Objects, bucket: str, key: str) -> str | None:
    """Return the key of the preview that is shown of a file."""
    shown = shown_preview(find_previews(objects, bucket, key))
    return None if shown is None else shown.key


def asset_preview_key(objects: Objects, bucket: str, prefix: str) -> str | None:
    """Return the key of the preview that is shown of an asset, of those at its root.

    One request, unless other keys begin as these do; at most one for each name.
    """
    left = asset_preview_keys(prefix)
    found: list[ObjectVersion] = []
    after = just_below(left[0])
    while left:
        page = objects.list_objects(bucket, prefix + _ASSET_PREVIEW, limit=_LISTED, after=after)
        found += [one for one in page.objects if one.key in left]
        if page.next_key is None:
            break
        left = [key for key in left if key > page.next_key]
        after = max(page.next_key, just_below(left[0])) if left else page.next_key
    shown = shown_preview(found)
    return None if shown is None else shown.key
