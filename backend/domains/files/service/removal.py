"""Archives and deletes files, and what belongs to them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backend.core.delete_markers import markers_hiding, newest
from backend.core.file_kinds import is_file, preview_base
from backend.core.objects import Objects, ObjectVersion, VersionRef
from backend.core.parallel import in_parallel
from backend.core.transactions import Write
from backend.domains.files import rules
from backend.domains.files.errors import ChangeEndedError
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.companions import Companions
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.files.service.work import Endings, Work, continue_at
from backend.domains.jobs.models import Progress
from backend.spec.key_layouts import PREVIEW_MARK


@dataclass(eq=False, repr=False)
class FileArchival:
    objects: Objects
    endings: Endings
    origins: OriginRecords

    def archive(self, work: Work, keys: Sequence[str]) -> None:
        """Put markers on objects, in the order of their keys, unless they have one.

        Raises:
            ChangeEndedError: another worker has ended the change before.
        """
        place = work.target
        newest_versions = newest(self.objects, place.bucket, place.prefix, keys)
        meant = [
            version.version for version in newest_versions if not version.version.is_delete_marker
        ]
        if not meant:
            return
        self.endings.require_unfinished(work)  # so the objects found belong to the change
        self.origins.record_markers(work.asset.ref, place.prefix, meant, work.origin)
        self.objects.delete_many(place.bucket, [(version.key, None) for version in meant])
        try:
            self.endings.require_unfinished(work)
        except ChangeEndedError:
            # This worker slept for longer than its lease, and others may have restored a file
            # meanwhile or written it again: then its marker is removed. A marker on the intended
            # version remains, because another worker may have found it there and ended the change.
            self._undo(
                work, [version.key for version in meant], {version.version_id for version in meant}
            )
            raise

    def _undo(self, work: Work, keys: Sequence[str], meant: set[str]) -> None:
        place = work.target
        late = [
            marker.version.ref
            for marker in markers_hiding(self.objects, place.bucket, place.prefix, keys)
            if marker.below is None or marker.below.version_id not in meant
        ]
        self.objects.delete_many(place.bucket, late)


# Versions that one step deletes, after the rows of each file, so that a step is within a lease.
VERSIONS = 200


@dataclass(eq=False, repr=False)
class FileDeletion:
    rows: FileRepository
    companions: Companions
    objects: Objects
    endings: Endings
    versions: int = VERSIONS

    def delete_file(self, work: Work) -> Progress:
        """Delete one file, archived or not."""
        target = work.target
        self._delete_records(work, [target.path], self.endings.unfinished_condition(work))
        if self.companions.remove_generated(work.asset.asset_id, target.path).more:
            return continue_at(work.cursor)
        if self._remove_versions(work, target.key, lambda key: key == target.key):
            return continue_at(work.cursor)
        previews = target.key + PREVIEW_MARK
        if self._remove_versions(work, previews, lambda key: preview_base(key) == target.key):
            return continue_at(work.cursor)
        return self.endings.finish(work, [target.path], items=1)

    def delete_folder(self, work: Work) -> Progress:
        """Delete the first remaining files of a folder, and finally its auxiliary files."""
        target = work.target
        page = self.objects.list_versions(target.bucket, target.key, limit=self.versions)
        if page.versions:
            keys = sorted({version.key for version in page.versions})
            paths = [rules.relative_path(target.prefix, key) for key in keys if is_file(key)]
            self.endings.require_unfinished(work)  # later, others may write these names again
            self._delete_records(work, paths)
            self._delete(work, page.versions)
            self.endings.request_documents(work, paths)
            return continue_at(work.cursor, items=len(paths))
        # Some stores keep no versions of the markers of folders.
        markers = self.objects.list_objects(target.bucket, target.key, limit=self.versions).objects
        left = [marker.key for marker in markers if marker.key.endswith("/")]
        self.objects.delete_many(target.bucket, [(key, None) for key in reversed(left)])
        if left or self.companions.remove_generated(work.asset.asset_id, target.path).more:
            return continue_at(work.cursor)
        # Pipelines may describe a folder, under its path as that of a file.
        folder = target.path.removesuffix("/")
        self.companions.delete_records(
            work.caller, work.asset, folder, self.endings.unfinished_condition(work)
        )
        return self.endings.finish(work, [])

    def delete_auxiliary(self, work: Work) -> Progress:
        """Delete a page of auxiliary files of a file or a folder of files."""
        removed = self.companions.remove_auxiliary(
            work.asset.asset_id, work.target.path, with_itself=True
        )
        if removed.more:
            return continue_at(work.cursor, items=removed.items)
        return self.endings.finish(work, [], items=removed.items, retyped=False)

    def _delete_records(self, work: Work, paths: list[str], *guards: Write) -> None:
        """Remove the records of files, which are in order."""
        if not paths:
            return

        def delete(path: str) -> None:
            self.companions.delete_records(work.caller, work.asset, path, *guards)

        in_parallel(delete, paths)
        self.rows.delete_records(work.asset, paths)

    def _remove_versions(self, work: Work, prefix: str, wanted: Callable[[str], bool]) -> bool:
        """Remove the first versions of these keys; return whether some may be left."""
        page = self.objects.list_versions(work.target.bucket, prefix)
        versions = [version for version in page.versions if wanted(version.key)]
        self.endings.require_unfinished(work)
        self._delete(work, versions)
        return bool(versions) and page.next_key is not None

    def _delete(self, work: Work, versions: Sequence[ObjectVersion]) -> None:
        # Origins first: a repetition finds them by the versions.
        stored = [
            VersionRef(rules.relative_path(work.target.prefix, version.key), version.version_id)
            for version in versions
            if not version.is_delete_marker
        ]
        markers = [rules.marker_of(*ref) for ref in stored]
        self.rows.delete_origins(work.asset.ref, [*stored, *markers])
        self.objects.delete_many(
            work.target.bucket, [(version.key, version.version_id) for version in versions]
        )
