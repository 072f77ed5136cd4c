"""Generated previews of files and assets. A user's own preview always takes precedence."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from backend.core.errors import NotFoundError
from backend.core.file_kinds import is_small_preview
from backend.core.objects import ObjectHead, ObjectRef, ObjectRefusedError, Objects
from backend.core.previews import asset_preview_key, find_previews
from backend.domains.assets.models import Asset
from backend.domains.assets.service.commands import AssetService
from backend.domains.executions.models import Execution
from backend.domains.files.service.asset_pictures import (
    RANK_METADATA,
    AssetPictures,
    rank_of,
    ranked_file,
)
from backend.domains.files.service.rows import FileTarget
from backend.spec.buckets import (
    CHANGE_METADATA,
    GENERATED,
    PREVIEW_METADATA,
    WORKFLOWS_METADATA,
)
from backend.spec.inspection_outputs import SMALL
from backend.spec.key_layouts import (
    PREVIEW_MARK,
    generated_preview_key,
    small_preview_key,
    uploaded_previews_folder,
)

_TYPE = "image/png"
_ATTEMPTS = 5  # of a preview that conflicts with executions on other files


class Pictures(NamedTuple):
    """The objects that become a preview: the picture, and the same in 256 pixels."""

    preview: ObjectRef
    small: ObjectRef | None


@dataclass(eq=False, repr=False)
class GeneratedPreviews:
    assets: AssetService
    objects: Objects
    pictures: AssetPictures

    def show(
        self,
        target: FileTarget,
        pictures: Pictures,
        execution: Execution,
        is_current: Callable[[], bool],
    ) -> bool:
        """Make an image the preview of a file, unless a user has uploaded one.

        `is_current` returns whether the image still shows the file. A preview that was late, or
        replaced a user's, is removed.
        """
        previews = find_previews(self.objects, target.bucket, target.key)
        if any(not self._is_generated(target.bucket, preview.key) for preview in previews):
            return False
        key = f"{target.key}{PREVIEW_MARK}png"
        head = self.objects.head(target.bucket, key)
        if isinstance(head, ObjectHead) and is_made_by(head, execution):
            self._write_small(ObjectRef(target.bucket, key), pictures.small, execution)
            return True
        try:
            written = self.objects.copy(
                pictures.preview,
                ObjectRef(target.bucket, key),
                content_type=_TYPE,
                metadata=_metadata(execution),
            )
        except ObjectRefusedError:  # the key is too long: the file has facts and no preview
            return False
        if is_current() and not self._hides_uploaded(target, key, written.version_id):
            self._write_small(ObjectRef(target.bucket, key), pictures.small, execution)
            return True
        self.objects.delete_version(target.bucket, key, version_id=written.version_id)
        return False

    def _write_small(
        self, preview: ObjectRef, small: ObjectRef | None, execution: Execution
    ) -> None:
        """Write the small picture, if there is one, beside the preview that this execution wrote.

        Call it after the preview is written, because the small picture must not be older.
        """
        if small is None:
            return
        bucket, small_key = preview.bucket, small_preview_key(preview.key)
        written = self.objects.copy(
            small,
            ObjectRef(bucket, small_key),
            content_type=SMALL.content_type,
            metadata=_metadata(execution),
        )
        # A user or another execution may have replaced the preview meanwhile: then this one is
        # removed again.
        head = self.objects.head(*preview)
        if not isinstance(head, ObjectHead) or not is_made_by(head, execution):
            self.objects.delete_version(bucket, small_key, version_id=written.version_id)

    def show_small(
        self, asset: Asset, name: str, small: ObjectRef | None, execution: Execution
    ) -> None:
        """Show a small picture beside a preview of the asset that this execution stored."""
        bucket = self.assets.get_bucket(asset.bucket_id)
        key = uploaded_previews_folder(bucket.key_prefix, asset.asset_id) + name
        if asset.preview_location is None or asset.preview_location.key != key:
            return
        self._write_small(ObjectRef(bucket.bucket_name, key), small, execution)
        with suppress(NotFoundError):  # archived or deleted meanwhile
            # The write requests the asset's document.
            self.assets.set_content(asset, preview_key=key)

    def withdraw(self, target: FileTarget, execution: Execution) -> None:
        """Remove the preview that was generated for an earlier version of a file."""
        for preview in find_previews(self.objects, target.bucket, target.key):
            if self._is_generated(target.bucket, preview.key):
                self.objects.delete(target.bucket, preview.key)
        self.pictures.withdraw(target, execution.execution_id)

    def show_asset(
        self, target: FileTarget, pictures: Pictures, execution: Execution, head: ObjectHead
    ) -> bool:
        """Make an image of a file the preview of its asset, unless a user has uploaded one.

        Which file it shows is decided by `rank_of`.
        """
        asset = self.assets.find_asset(target.asset.database_id, target.asset.asset_id)
        if asset is None or asset.is_archived:
            return False
        base = self.assets.get_bucket(asset.bucket_id).key_prefix
        key = generated_preview_key(base, asset.asset_id)
        named = asset.preview_location
        if named is not None and named.key != key:
            return False
        if asset_preview_key(self.objects, target.bucket, target.prefix) is not None:
            return False
        if not self._ranked_first(target, pictures.preview, execution, head, key):
            return False
        self._write_small(ObjectRef(target.bucket, key), pictures.small, execution)
        try:
            self.assets.set_content(asset, preview_key=key)
        except NotFoundError:  # archived or deleted meanwhile
            return False
        return True

    def _ranked_first(
        self,
        target: FileTarget,
        source: ObjectRef,
        execution: Execution,
        head: ObjectHead,
        key: str,
    ) -> bool:
        """Write the preview unless that of a file with a higher rank is shown."""
        rank, place = rank_of(target.path, head), ObjectRef(target.bucket, key)
        for _ in range(_ATTEMPTS):  # by hand: only the read of the next attempt shows a conflict
            there = self.objects.head(*place)
            if isinstance(there, ObjectHead):
                shown = there.metadata.get(RANK_METADATA, "")
                if is_made_by(there, execution):
                    return True
                if ranked_file(shown) != ranked_file(rank) and shown > rank:
                    return False
            metadata = {**_metadata(execution), RANK_METADATA: rank}
            # Others may write theirs between the check and this copy: the next attempt checks what
            # is stored now.
            self.objects.copy(source, place, content_type=_TYPE, metadata=metadata)
        return True

    def _is_generated(self, bucket: str, key: str) -> bool:
        """Return whether the preview was generated; a missing one was not a user's.

        The small picture always counts as generated: no upload may have its name.
        """
        if is_small_preview(key):
            return True
        head = self.objects.head(bucket, key)
        if not isinstance(head, ObjectHead):
            return True
        return head.metadata.get(PREVIEW_METADATA) == GENERATED

    def _hides_uploaded(self, target: FileTarget, key: str, version_id: str) -> bool:
        """Return whether a user uploaded a preview of the file while this one was written."""
        versions = self.objects.list_versions(target.bucket, key, limit=3).versions
        older = [
            version
            for version in versions
            if version.key == key and version.version_id != version_id
        ][:1]
        for version in older:
            head = self.objects.head(target.bucket, key, version_id=version.version_id)
            if isinstance(head, ObjectHead) and head.metadata.get(PREVIEW_METADATA) != GENERATED:
                return True
        others = find_previews(self.objects, target.bucket, target.key)
        return any(
            other.key != key and not self._is_generated(target.bucket, other.key)
            for other in others
        )


def is_made_by(head: ObjectHead, execution: Execution) -> bool:
    """Return whether an execution wrote an object."""
    return head.metadata.get(CHANGE_METADATA) == execution.execution_id


def _metadata(execution: Execution) -> dict[str, str]:
    return {
        PREVIEW_METADATA: GENERATED,
        WORKFLOWS_METADATA: ",".join(execution.chain),
        CHANGE_METADATA: execution.execution_id,
    }
