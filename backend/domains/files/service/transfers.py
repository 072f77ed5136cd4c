"""The steps that copy and move a file with all that belongs to it.

The copy is made first, and is whole before the source is hidden. What goes wrong for good while it
is made takes the copy back; after that nothing can go wrong for good.
"""

from functools import partial

from backend.core.file_kinds import content_type_of, preview_base
from backend.core.names import extension_of
from backend.core.objects import ObjectHead, Objects
from backend.core.wired import wired
from backend.domains.assets.service import AssetService
from backend.domains.files import rules
from backend.domains.files.models import ChangeCursor
from backend.domains.files.service.archival import FileArchival
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.copies import (
    Copies,
    FileCopy,
    SourceGoneError,
    Unfinished,
)
from backend.domains.files.service.queries import FileService
from backend.domains.files.service.target import FileTarget
from backend.domains.files.service.work import Endings, Work, goes_on
from backend.domains.jobs.models import Progress
from backend.spec.buckets import CHANGE_METADATA
from backend.spec.key_layouts import PREVIEW_MARK

_MAX_TURNS = 5
"""New versions of the source that are followed while others go on writing it."""


@wired
class Transfers:
    files: FileService
    assets: AssetService
    copies: Copies
    companions: Companions
    objects: Objects
    archival: FileArchival
    endings: Endings

    def copy(self, work: Work) -> Progress:
        """Go on with a copy of a file, perhaps of another asset's."""
        source, target = self._source(work), self._target(work)
        going_on = self._copied(work, source, target)
        if going_on is not None:
            return going_on
        return self.endings.finished(work, [target.path], items=1)

    def move(self, work: Work) -> Progress:
        """Go on with moving a file within its asset."""
        source, target = self._source(work), self._target(work)
        if not work.cursor.withdrawing:
            going_on = self._copied(work, source, target)
            return going_on or goes_on(_withdrawing(work))
        going_on = self._withdrawn(work, source)
        if going_on is not None:
            return going_on
        return self.endings.finished(work, [source.path, target.path], items=1)

    def take_back(self, work: Work) -> None:
        """Remove what a copy left that cannot be finished; its target was free before it."""
        target = self._target(work)
        if work.cursor.copy_id is not None:
            self.objects.abort_multipart(target.bucket, target.key, work.cursor.copy_id)
        mark = work.mark.partition(".")[0]
        for key, version_id in self._versions_of(target):
            head = self.objects.head(target.bucket, key, version_id=version_id)
            made_by = head.metadata.get(CHANGE_METADATA, "") if isinstance(head, ObjectHead) else ""
            if made_by.startswith(mark):
                self.objects.delete_version(target.bucket, key, version_id=version_id)
        self.companions.forget_records(work.caller, target.asset, target.path)
        while self.companions.remove_made(target.asset.asset_id, target.path).more:
            continue

    def _copied(self, work: Work, source: FileTarget, target: FileTarget) -> Progress | None:
        """None once the copy is whole, with all that goes along."""
        if not work.cursor.auxiliary:
            head = self.copies.demand(source.bucket, source.key, work.version_id)
            same_kind = extension_of(source.key) == extension_of(target.key)
            file_copy = FileCopy(
                source=(source.bucket, source.key),
                head=head,
                target=(target.bucket, target.key),
                content_type=head.content_type if same_kind else content_type_of(target.key),
                metadata=rules.metadata_of_copy(head.metadata, work.mark),
                still=partial(self.endings.demand_under_way, work),
            )
            written = self.copies.copy(file_copy, work.cursor.copy_id)
            if isinstance(written, Unfinished):
                return goes_on(work.cursor.model_copy(update={"copy_id": written.copy_id}))
            versions = head.version.version_id, written.version_id
            self.companions.copy_glb(source, target, versions)
            self.companions.copy_previews(source, target, work.mark)
            guard = self.endings.under_way(work)
            self.companions.copy_records(work.caller, source, target, guard)
        _, after = self.companions.copy_auxiliary(source, target, work.cursor.after)
        if after is None:
            return None
        following = {"auxiliary": True, "after": after, "copy_id": None}
        return goes_on(work.cursor.model_copy(update=following))

    def _withdrawn(self, work: Work, source: FileTarget) -> Progress | None:
        """None once nothing of the source is left but its archived versions."""
        head = self.objects.head(source.bucket, source.key)
        if isinstance(head, ObjectHead):
            if head.version.version_id != work.version_id and work.cursor.turn < _MAX_TURNS:
                newer = ChangeCursor(version_id=head.version.version_id, turn=work.cursor.turn + 1)
                return goes_on(newer)  # somebody uploaded it meanwhile: that is what moves
            self.archival.archive(work, self.companions.keys(source))
        guard = self.endings.under_way(work)
        self.companions.forget_records(work.caller, source.asset, source.path, guard)
        if self.companions.remove_auxiliary(source.asset.asset_id, source.path).more:
            return goes_on(_withdrawing(work))
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

    def _versions_of(self, target: FileTarget) -> list[tuple[str, str]]:
        """Keys and version ids of a file that is new, and of its previews."""
        own = self.objects.list_versions(target.bucket, target.key).versions
        previews = self.objects.list_versions(target.bucket, target.key + PREVIEW_MARK).versions
        found = {(one.key, one.version_id) for one in own if one.key == target.key}
        return sorted(
            found
            | {(one.key, one.version_id) for one in previews if preview_base(one.key) == target.key}
        )


def _withdrawing(work: Work) -> ChangeCursor:
    """The copy is whole: from here on it stays, and its source goes."""
    return ChangeCursor(version_id=work.version_id, turn=work.cursor.turn, withdrawing=True)
