"""The generated preview of an asset: the preview of that of its files with the highest rank."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.errors import NotFoundError
from backend.core.file_kinds import is_file, preview_base
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, ObjectRef, Objects, ObjectVersion
from backend.core.previews import asset_preview_key
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.files.rules import relative_path
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.rows import FileTarget
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
_PRIMARY = "primary"
# Pages of a thousand keys in which the next picture is looked for, so that a step ends within its
# lease. Of an asset with more files, an inspection may still choose any.
_PAGES = 10


class _Candidate(NamedTuple):
    rank: str
    key: str


def rank_of(path: str, head: ObjectHead) -> str:
    """Return a text that is greater for files of higher rank.

    The primary file is first; then the order is that of `KINDS_IN_ORDER`, then by size.
    """
    return _rank(path, head.version.size, is_primary=_is_primary(head))


def _rank(path: str, size: int, *, is_primary: bool) -> str:
    extension = extension_of(path).removeprefix(".")
    behind = [at for at, kind in enumerate(reversed(KINDS_IN_ORDER), 1) if extension in kind]
    return f"{int(is_primary)}{max(behind, default=0)}.{size:020}.{_name_of(path)}"


def _is_primary(head: ObjectHead) -> bool:
    return head.metadata.get(PRIMARY_TYPE_METADATA) == _PRIMARY


def ranked_file(rank: str) -> str:
    """Return the part of a rank that identifies the file."""
    return rank.rpartition(".")[2]


def _picture_of(key: str) -> str:
    return f"{key}{PREVIEW_MARK}png"


def _name_of(path: str) -> str:
    # Metadata of objects is ASCII and has 2 KB; a path may have any letters.
    return hashlib.sha256(path.encode()).hexdigest()[:32]


@dataclass(eq=False, repr=False)
class AssetPictures:
    """Chooses the generated preview again when files appear or disappear.

    A preview of a user is kept. No picture is chosen that is quarantined, or whose file is.
    """

    assets: AssetService
    files: FileQueries
    objects: Objects

    def offer(self, target: FileTarget, change: str) -> None:
        """Show a file that appeared, or whose type changed, if it has the highest rank.

        `change` marks the written objects.
        """
        head = self._clean(target.bucket, target.key)
        if head is None:
            return
        place = self._place(target)
        shown = self._shown(place)
        offered = _Candidate(rank_of(target.path, head), target.key)
        if shown is not None and ranked_file(shown) == ranked_file(offered.rank):
            if shown > offered.rank:  # it is no longer the primary file
                self._choose(target, place, shown, change)
        elif shown is None or offered.rank > shown:
            asset = self._changeable(target, place)
            if asset is not None:
                self._show(asset, offered, place, change)

    def withdraw(
        self,
        target: FileTarget,
        change: str,
        *,
        is_folder: bool = False,
        delete_earlier: bool = False,
    ) -> None:
        """Show the next file after a file, or the files of a folder, disappeared.

        The picture of another file remains. With `delete_earlier`, the earlier versions are
        deleted, too: they may show a deleted file.
        """
        place = self._place(target)
        shown = self._shown(place)
        if is_folder or (shown is not None and ranked_file(shown) == _name_of(target.path)):
            self._choose(target, place, shown, change)
        if delete_earlier:
            self._delete_earlier(place)

    def follow_scan(self, asset: Asset, key: str, change: str) -> None:
        """Withdraw the picture of a file that a scan quarantined, or offer that of one it released.

        `key` is that of the file or of its preview. Repeated calls have no effect.
        """
        bucket, prefix = self.assets.location(asset)
        target = FileTarget(asset, bucket, prefix, preview_base(key) or key)
        if self._clean(target.bucket, target.key) is None:
            self.withdraw(target, change)
        else:
            self.offer(target, change)

    def _place(self, target: FileTarget) -> ObjectRef:
        base = self.assets.get_bucket(target.asset.bucket_id).key_prefix
        return ObjectRef(target.bucket, generated_preview_key(base, target.asset.asset_id))

    def _shown(self, place: ObjectRef) -> str | None:
        """Return the rank of the file in the preview, None if there is no preview."""
        head = self.objects.head(*place)
        return head.metadata.get(RANK_METADATA, "") if isinstance(head, ObjectHead) else None

    def _clean(self, bucket: str, key: str) -> ObjectHead | None:
        """Return the head of a file with a picture, neither of them archived or quarantined."""
        picture = _picture_of(key)
        shown = self.objects.head(bucket, picture)
        if not isinstance(shown, ObjectHead):  # first: most files have no picture
            return None
        file = self.objects.head(bucket, key)
        if not isinstance(file, ObjectHead):
            return None
        small = self.objects.head(bucket, small_preview_key(picture))
        versions = [
            picture.version.ref
            for picture in (file, shown, small)
            if isinstance(picture, ObjectHead)
        ]
        return None if self.files.find_quarantined(bucket, versions) else file

    def _choose(self, target: FileTarget, place: ObjectRef, shown: str | None, change: str) -> None:
        asset = self._changeable(target, place)
        if asset is None:
            return
        best = self._first(target)
        if best is None:
            self._remove(asset, place, is_shown=shown is not None)
        elif shown is None or ranked_file(shown) != ranked_file(best.rank):
            self._show(asset, best, place, change)

    def _changeable(self, target: FileTarget, place: ObjectRef) -> Asset | None:
        """Return the asset, unless it is archived or shows a preview of a user."""
        asset = self.assets.find_asset(target.asset.database_id, target.asset.asset_id)
        if asset is None or asset.is_archived:
            return None
        named = asset.preview_location
        if named is not None and named.key != place.key:
            return None
        at_root = asset_preview_key(self.objects, target.bucket, target.prefix)
        return asset if at_root is None else None

    def _first(self, target: FileTarget) -> _Candidate | None:
        """Return the file with the highest rank of those with a preview as PNG."""
        sizes: dict[str, int] = {}
        pictured: set[str] = set()
        for item in self._list_files(target):
            base, mark, extension = item.key.rpartition(PREVIEW_MARK)
            if mark and extension == "png":
                pictured.add(base)
            elif is_file(item.key):
                sizes[item.key] = item.size
        typed = {target.prefix + path[1:] for path in target.asset.typed_files or ()}
        # A listing has no types: those of files that may have one are read.
        wanted = pictured & sizes.keys()
        candidates: list[_Candidate] = []
        for key in wanted:
            head = self.objects.head(target.bucket, key) if key in typed else None
            is_primary = isinstance(head, ObjectHead) and _is_primary(head)
            path = relative_path(target.prefix, key)
            candidates.append(_Candidate(_rank(path, sizes[key], is_primary=is_primary), key))
        clean = (
            candidate
            for candidate in sorted(candidates, reverse=True)
            if self._clean(target.bucket, candidate.key)
        )
        return next(clean, None)

    def _list_files(self, target: FileTarget) -> Iterator[ObjectVersion]:
        after: str | None = None
        for _ in range(_PAGES):
            page = self.objects.list_objects(target.bucket, target.prefix, after=after)
            yield from page.objects
            after = page.next_key
            if after is None:
                return

    def _show(self, asset: Asset, best: _Candidate, place: ObjectRef, change: str) -> None:
        source = _picture_of(best.key)
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
        """Store the key of the preview in the asset's row."""
        try:
            # Also if the row names this preview already: the write requests the asset's document.
            self.assets.set_content(asset, preview_key=key)
        except NotFoundError:  # archived or deleted meanwhile
            return

    def _delete_earlier(self, place: ObjectRef) -> None:
        folder = place.key.removesuffix("png")
        after: tuple[str | None, str | None] = (None, None)
        while True:
            page = self.objects.list_versions(
                place.bucket, folder, after_key=after[0], after_version_id=after[1]
            )
            late = [
                version.ref
                for version in page.versions
                if not version.is_latest or version.is_delete_marker
            ]
            self.objects.delete_many(place.bucket, late)
            after = (page.next_key, page.next_version_id)
            if page.next_key is None:
                return
