"""The generated preview of an asset: the preview of that of its files with the highest rank."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.errors import NotFoundError
from backend.core.file_kinds import is_file
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, ObjectRef, Objects, ObjectVersion
from backend.core.previews import asset_preview_key
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.rules import relative_path
from backend.domains.files.service.target import FileTarget
from backend.spec.buckets import (
    CHANGE_METADATA,
    GENERATED,
    PREVIEW_METADATA,
    PRIMARY_TYPE_METADATA,
)
from backend.spec.formats import KINDS_IN_ORDER
from backend.spec.inspection_outputs import SMALL, THUMBNAIL
from backend.spec.key_layouts import PREVIEW_MARK, generated_preview_key, small_preview_key

RANK_METADATA = "vitrine-preview-rank"
"""Object metadata of an asset's preview: the rank of the file in the preview."""
PRIMARY = "primary"
# Pages of a thousand keys in which the next picture is looked for, so that a step ends within its
# lease. Of an asset with more files, an inspection may still choose any.
_PAGES = 10


class _Candidate(NamedTuple):
    rank: str
    key: str


def rank_of(path: str, size: int, *, is_primary: bool) -> str:
    """Return a text that is greater for files of higher rank.

    The primary file is first; then the order is that of `KINDS_IN_ORDER`, then by size.
    """
    extension = extension_of(path).removeprefix(".")
    behind = [at for at, kind in enumerate(reversed(KINDS_IN_ORDER), 1) if extension in kind]
    return f"{int(is_primary)}{max(behind, default=0)}.{size:020}.{_name_of(path)}"


def ranked_file(rank: str) -> str:
    """Return the part of a rank that identifies the file."""
    return rank.rpartition(".")[2]


def _name_of(path: str) -> str:
    # Metadata of objects is ASCII and has 2 KB; a path may have any letters.
    return hashlib.sha256(path.encode()).hexdigest()[:32]


@dataclass(eq=False, repr=False)
class AssetPictures:
    """Chooses the generated preview again when files appear or disappear."""

    assets: AssetService
    objects: Objects

    def follow(
        self,
        target: FileTarget,
        change: str,
        *,
        gone: str | None = None,
        delete_earlier: bool = False,
    ) -> None:
        """Make the preview of the file with the highest rank that of the asset, or remove it.

        A preview of a user is kept. `change` marks the written objects. If only the file at the
        path `gone` disappeared, the picture of another file remains. With `delete_earlier`, the
        earlier versions are deleted, too: they may show a deleted file.
        """
        bucket = self.assets.get_bucket(target.asset.bucket_id)
        key = generated_preview_key(bucket.key_prefix, target.asset.asset_id)
        place = ObjectRef(target.bucket, key)
        head = self.objects.head(*place)
        shown = head.metadata.get(RANK_METADATA, "") if isinstance(head, ObjectHead) else None
        if gone is None or (shown is not None and ranked_file(shown) == _name_of(gone)):
            self._choose(target, place, shown, change)
        if delete_earlier:
            self._delete_earlier(place)

    def _choose(self, target: FileTarget, place: ObjectRef, shown: str | None, change: str) -> None:
        asset = self.assets.find_asset(target.asset.database_id, target.asset.asset_id)
        if asset is None or asset.is_archived or not self._is_generated(asset, target, place.key):
            return
        best = self._first(asset, target)
        if best is None:
            self._remove(asset, place, is_shown=shown is not None)
        elif shown is None or ranked_file(shown) != ranked_file(best.rank):
            self._show(asset, best, place, change)

    def _is_generated(self, asset: Asset, target: FileTarget, key: str) -> bool:
        """Return whether the asset's preview is generated or missing, not a user's."""
        named = asset.preview_location
        if named is not None and named.key != key:
            return False
        return asset_preview_key(self.objects, target.bucket, target.prefix) is None

    def _first(self, asset: Asset, target: FileTarget) -> _Candidate | None:
        """Return the file with the highest rank of those with a preview as PNG."""
        sizes: dict[str, int] = {}
        pictured: set[str] = set()
        for one in self._listed(target):
            base, mark, extension = one.key.rpartition(PREVIEW_MARK)
            if mark and extension == "png":
                pictured.add(base)
            elif is_file(one.key):
                sizes[one.key] = one.size
        typed = {target.prefix + path[1:] for path in asset.typed_files or ()}
        found = [
            _Candidate(
                rank_of(
                    relative_path(target.prefix, key),
                    sizes[key],
                    is_primary=key in typed and self._is_primary(target.bucket, key),
                ),
                key,
            )
            for key in pictured & sizes.keys()
        ]
        return max(found, default=None)

    def _listed(self, target: FileTarget) -> Iterator[ObjectVersion]:
        after: str | None = None
        for _ in range(_PAGES):
            page = self.objects.list_objects(target.bucket, target.prefix, after=after)
            yield from page.objects
            after = page.next_key
            if after is None:
                return

    def _is_primary(self, bucket: str, key: str) -> bool:
        head = self.objects.head(bucket, key)
        return isinstance(head, ObjectHead) and head.metadata.get(PRIMARY_TYPE_METADATA) == PRIMARY

    def _show(self, asset: Asset, best: _Candidate, place: ObjectRef, change: str) -> None:
        source = f"{best.key}{PREVIEW_MARK}png"
        metadata = {PREVIEW_METADATA: GENERATED, CHANGE_METADATA: change}
        try:
            self.objects.copy(
                ObjectRef(place.bucket, source),
                place,
                content_type=THUMBNAIL.content_type,
                metadata={**metadata, RANK_METADATA: best.rank},
            )
        except NotFoundError:  # archived meanwhile: the end of that change chooses again
            return
        small = small_preview_key(place.key)
        try:
            self.objects.copy(
                ObjectRef(place.bucket, small_preview_key(source)),
                ObjectRef(place.bucket, small),
                content_type=SMALL.content_type,
                metadata=metadata,
            )
        except NotFoundError:  # a preview of a user has none
            self.objects.delete(place.bucket, small)
        self._name(asset, place.key)

    def _remove(self, asset: Asset, place: ObjectRef, *, is_shown: bool) -> None:
        if is_shown:
            self.objects.delete_many(
                place.bucket, [(place.key, None), (small_preview_key(place.key), None)]
            )
        if asset.preview_location is not None:
            self._name(asset, "")

    def _name(self, asset: Asset, key: str) -> None:
        """Write the row even if it names this preview, so that the asset's document follows."""
        try:
            self.assets.set_content(asset, preview_key=key)
        except NotFoundError:  # archived or deleted meanwhile
            return

    def _delete_earlier(self, place: ObjectRef) -> None:
        folder = place.key.removesuffix("png")
        page = self.objects.list_versions(place.bucket, folder)
        late = [one.ref for one in page.versions if not one.is_latest or one.is_delete_marker]
        self.objects.delete_many(place.bucket, late)
