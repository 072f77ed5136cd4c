"""Previews in the object store: finds those of a file or asset, and chooses the one shown.

Which names are previews is decided in `file_kinds`.
"""

from collections.abc import Iterable
from os.path import commonprefix
from typing import Literal, NamedTuple

from backend.core.file_kinds import asset_preview_keys, is_small_preview, preview_base
from backend.core.models import WireModel
from backend.core.objects import Objects, ObjectVersion, key_before
from backend.spec.key_layouts import PREVIEW_MARK, small_preview_key

_ASSET_PREVIEW = commonprefix(asset_preview_keys(""))  # noqa: RUF071 - S3's prefixes are characters
# There are few names of previews; other files at the root may begin alike, and are on further
# pages.
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


class ShownPreview(NamedTuple):
    """The preview that is shown, and the small picture of the same, if there is one."""

    preview: ObjectVersion | None = None
    small: ObjectVersion | None = None


def find_previews(objects: Objects, bucket: str, key: str) -> list[ObjectVersion]:
    """Return the previews of a file that are not archived, by one request a thousand keys.

    These include the small picture of a generated preview.

    Uploads leave one preview at most; more can only have been written to the bucket directly.
    """
    previews: list[ObjectVersion] = []
    after: str | None = None
    while True:
        page = objects.list_objects(bucket, key + PREVIEW_MARK, after=after)
        previews += [version for version in page.objects if preview_base(version.key) == key]
        after = page.next_key
        if after is None:
            return previews


def shown_preview_version(objects: Objects, bucket: str, key: str) -> ShownPreview:
    """Return the versions of the preview that is shown of a file, with their sizes."""
    latest = _latest(objects, bucket, key + PREVIEW_MARK)
    return shown_of(version for version in latest if preview_base(version.key) == key)


def asset_preview_version(objects: Objects, bucket: str, key: str) -> ShownPreview:
    """Return the versions of an asset's preview, a PNG in its folder of previews."""
    small_key = small_preview_key(key)
    latest = {version.key: version for version in _latest(objects, bucket, key.removesuffix("png"))}
    return _with_small(latest.get(key), latest.get(small_key))


def _latest(objects: Objects, bucket: str, prefix: str) -> list[ObjectVersion]:
    """Return the latest versions with a prefix that are no markers."""
    versions: list[ObjectVersion] = []
    after: tuple[str | None, str | None] = (None, None)
    while True:
        page = objects.list_versions(bucket, prefix, after_key=after[0], after_version_id=after[1])
        versions += [
            version
            for version in page.versions
            if version.is_latest and not version.is_delete_marker
        ]
        after = (page.next_key, page.next_version_id)
        if page.next_key is None:
            return versions


def shown_of(previews: Iterable[ObjectVersion]) -> ShownPreview:
    """Return which of a file's previews is shown, and its small picture."""
    versions = list(previews)
    shown = shown_preview(versions)
    small = next((version for version in versions if is_small_preview(version.key)), None)
    return _with_small(shown, small)


def _with_small(shown: ObjectVersion | None, small: ObjectVersion | None) -> ShownPreview:
    """Leave out a small picture of another preview.

    The product writes it after the preview that it shows: it is no older, and has the same key
    except for its extension. An upload removes it together with the preview that it replaces.
    """
    if shown is None or small is None or small_preview_key(shown.key) != small.key:
        return ShownPreview(shown)
    return ShownPreview(shown, small if _second(small) >= _second(shown) else None)


def shown_preview(previews: Iterable[ObjectVersion]) -> ObjectVersion | None:
    """Return the newest preview; of those with the same second, the last by key."""
    shown = (preview for preview in previews if not is_small_preview(preview.key))
    return max(shown, key=lambda preview: (_second(preview), preview.key), default=None)


def _second(preview: ObjectVersion) -> int:
    """Return when it was written. HEAD and listings report times in different resolutions."""
    return int(preview.last_modified.timestamp())


def shown_preview_key(objects: Objects, bucket: str, key: str) -> str | None:
    """Return the key of the preview that is shown of a file."""
    shown = shown_preview(find_previews(objects, bucket, key))
    return None if shown is None else shown.key


def asset_preview_key(objects: Objects, bucket: str, prefix: str) -> str | None:
    """Return the key of the preview that is shown of an asset, of those at its root.

    One request, unless other keys begin as these do; at most one for each name.
    """
    left = asset_preview_keys(prefix)
    versions: list[ObjectVersion] = []
    after = key_before(left[0])
    while left:
        page = objects.list_objects(bucket, prefix + _ASSET_PREVIEW, limit=_LISTED, after=after)
        versions += [version for version in page.objects if version.key in left]
        if page.next_key is None:
            break
        left = [key for key in left if key > page.next_key]
        after = max(page.next_key, key_before(left[0])) if left else page.next_key
    shown = shown_preview(versions)
    return None if shown is None else shown.key
