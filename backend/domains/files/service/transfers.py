"""The steps that copy and move a file with all its data.

The copy is written first, and is complete before the source is hidden. A permanent error before
that removes the copy; afterwards none can occur.
"""

from dataclasses import dataclass
from functools import partial

from backend.core.file_kinds import content_type_of, preview_base
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, ObjectRef, Objects
from backend.domains.assets.service.commands import AssetService
from backend.domains.files import rules
from backend.domains.files.errors import SourceGoneError
from backend.domains.files.models import ChangeCursor
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.copies import Copies, FileCopy, Unfinished
from backend.domains.files.service.queries import FileQueries
from backend.domains.files.service.removal import FileArchival
from backend.domains.files.service.rows import FileTarget
from backend.domains.files.service.work import Endings, Work, continue_at
from backend.domains.jobs.models import Progress
from backend.spec.buckets import CHANGE_METADATA, PRIMARY_TYPE_METADATA
from backend.spec.key_layouts import PREVIEW_MARK

# New source versions that are copied again while others write the source; a writer that does not
# stop must not keep the asset's files busy.
_MAX_TURNS = 5


@dataclass(eq=False, repr=False)
class Transfers:
    files: FileQueries
    assets: AssetService
    copies: Copies
    companions: Companions
    objects: Objects
    rows: FileRepository
    archival: FileArchival
    endings: Endings

    def copy(self, work: Work) -> Progress:
        """Continue a copy of a file, possibly to another asset."""
        source, target = self._source(work), self._target(work)
        cursor = self._copy(work, source, target)
        if cursor is not None:
            return continue_at(cursor)
        return self.endings.finish(work, [target.path], items=1)

    def move(self, work: Work) -> Progress:
        """Continue to move a file within its asset."""
        cursor = self.advance_move(work)
        if cursor is not None:
            return continue_at(cursor)
        return self.endings.finish(work, [work.target.path, self._target(work).path], items=1)

    def advance_move(self, work: Work) -> ChangeCursor | None:
        """Carry out the next part of a move; return its new cursor, or None once it is complete."""
        source = self._source(work)
        if work.cursor.withdrawing:
            return self._withdraw(work, source)
        return self._copy(work, source, self._target(work)) or _withdrawal_cursor(work)

    def remove_incomplete(self, work: Work) -> None:
        """Remove an incomplete copy; its target did not exist before, or was archived."""
        target = self._target(work)
        if work.cursor.copy_id is not None:
            self.objects.abort_multipart(target.bucket, target.key, work.cursor.copy_id)
        mark = work.mark.partition(".")[0]
        own = self.objects.list_versions(target.bucket, target.key).versions
        previews = self.objects.list_versions(target.bucket, target.key + PREVIEW_MARK).versions
        versions = [version for version in own if version.key == target.key]
        versions += [preview for preview in previews if preview_base(preview.key) == target.key]
        newest = sorted(version.ref for version in versions if not version.is_delete_marker)
        for key, version_id in newest:
            head = self.objects.head(target.bucket, key, version_id=version_id)
            made_by = head.metadata.get(CHANGE_METADATA, "") if isinstance(head, ObjectHead) else ""
            if made_by.startswith(mark):
                self.companions.remove_glb(target, version_id)
                self.objects.delete_version(target.bucket, key, version_id=version_id)
        try:
            source = self._source(work)
        except SourceGoneError:
            source = None
        self.companions.remove_copied_records(work.caller, source, target)
        while self.companions.remove_auxiliary(target.asset.asset_id, target.path).more:
            continue

    def _copy(self, work: Work, source: FileTarget, target: FileTarget) -> ChangeCursor | None:
        """Return None once the copy is complete, with all its data."""
        if not work.cursor.auxiliary:
            head = self.copies.copied_attributes(source.bucket, source.key, work.version_id)
            if PRIMARY_TYPE_METADATA in head.metadata:
                self.assets.record_typed_file(target.asset, target.path)
            same_kind = extension_of(source.key) == extension_of(target.key)
            file_copy = FileCopy(
                source=ObjectRef(source.bucket, source.key),
                head=head,
                place=target,
                content_type=head.content_type if same_kind else content_type_of(target.key),
                metadata=rules.metadata_of_copy(head.metadata, work.mark),
                still=partial(self.endings.require_unfinished, work),
            )
            origin = work.origin_of_copy(source, head.version.version_id)
            written = self.copies.copy(file_copy, work.cursor.copy_id, origin)
            if isinstance(written, Unfinished):
                return work.cursor.model_copy(update={"copy_id": written.copy_id})
            self.companions.copy_glb(source, head.version.version_id, target, written.version_id)
            self.companions.copy_previews(source, target, work.mark)
            guard = self.endings.unfinished_condition(work)
            self.companions.copy_records(work.caller, source, target, guard)
        _, after = self.companions.copy_auxiliary(source, target, work.cursor.after)
        if after is None:
            return None
        following = {"auxiliary": True, "after": after, "copy_id": None}
        return work.cursor.model_copy(update=following)

    def _withdraw(self, work: Work, source: FileTarget) -> ChangeCursor | None:
        """Return None once only archived versions of the source are left."""
        guard = self.endings.unfinished_condition(work)
        head = self.objects.head(source.bucket, source.key)
        if isinstance(head, ObjectHead):
            if head.version.version_id != work.version_id and work.cursor.turn < _MAX_TURNS:
                # It was uploaded meanwhile: the new version is moved.
                return ChangeCursor(version_id=head.version.version_id, turn=work.cursor.turn + 1)
            self.rows.record_moved_version(
                source.asset, source.path, head.version.version_id, guard
            )
            self.archival.archive(work, self.companions.keys(source))
        self.companions.delete_records(work.caller, source.asset, source.path, guard)
        if self.companions.remove_auxiliary(source.asset.asset_id, source.path).more:
            return _withdrawal_cursor(work)
        return None

    def _source(self, work: Work) -> FileTarget:
        change = work.change
        if change.source_asset_id is None or change.source_database_id is None:
            return work.target
        asset = self.assets.find_asset(change.source_database_id, change.source_asset_id)
        if asset is None:
            raise SourceGoneError(change.path)
        return self.files.target(asset, change.path, field="sourcePath")

    def _target(self, work: Work) -> FileTarget:
        path = work.change.target_path or ""
        return self.files.target(work.asset, path, field="destinationPath")


def _withdrawal_cursor(work: Work) -> ChangeCursor:
    """Return the cursor after the copy is complete: it is kept, and the source is removed."""
    return ChangeCursor(version_id=work.version_id, turn=work.cursor.turn, withdrawing=True)
