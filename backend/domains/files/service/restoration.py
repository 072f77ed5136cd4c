"""Restores archived files: previews beside them, and whole folders."""

from dataclasses import dataclass
from datetime import datetime

from backend.core.delete_markers import markers_hiding
from backend.core.errors import UnavailableError, VitrineError
from backend.core.file_kinds import is_file, preview_base
from backend.core.objects import Objects, ObjectVersion
from backend.core.parallel import in_parallel
from backend.domains.files.repository import FileRepository
from backend.domains.files.service.copies import Copies
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.origin_records import OriginRecords
from backend.domains.files.service.rows import FileTarget
from backend.domains.files.service.work import Endings, Work, continue_at
from backend.domains.jobs.models import MAX_PROBLEMS, Progress
from backend.spec.key_layouts import PREVIEW_MARK

# Files that one step restores. A step takes about a second, as in a request it must.
FILES = 25


@dataclass(eq=False, repr=False)
class FileRestoration:
    rows: FileRepository
    lookup: FileLookup
    objects: Objects
    copies: Copies
    endings: Endings
    origins: OriginRecords
    batch: int = FILES

    def restore_folder(self, work: Work) -> Progress:
        """Remove the markers that hide the next files of a folder; their content is below.

        Files that were moved away remain hidden.
        """
        place, since = work.target, work.change.archived_since
        listed = self.objects.list_versions(place.bucket, place.key, after_key=work.cursor.after)
        # S3 states when a marker was put in whole seconds.
        earliest = since and datetime.fromisoformat(since).replace(microsecond=0)
        hidden = [
            version.key
            for version in listed.versions
            if version.is_latest
            and version.is_delete_marker
            and is_file(version.key)
            and (not earliest or version.last_modified >= earliest)
        ]
        keys, after = hidden[: self.batch], listed.next_key
        if len(hidden) > self.batch:
            after = keys[-1]
        files = [FileTarget(work.asset, place.bucket, place.prefix, key) for key in keys]
        moved = self.rows.moved_versions(work.asset, [file.path for file in files])
        quarantined: dict[str, str] = {}
        away: set[str] = set()

        def names_of(file: FileTarget) -> list[str]:
            """Return the keys of a file and its preview; none if it is quarantined or was moved."""
            key = file.key
            try:
                version_id = self.lookup.last_version(file)
                if moved.get(file.path) == version_id:
                    away.add(key)
                    return []
                self.lookup.check_clean(file, version_id)
            except UnavailableError:
                raise
            except VitrineError as error:
                quarantined[key] = f"{file.path}: {error.message}"
                return []
            preview = self.hidden_preview(file)
            return [key] if preview is None else [key, preview.key]

        names = sorted(name for pair in in_parallel(names_of, files) for name in pair)
        # Of a request that was repeated, there may be a marker below another one.
        while markers := markers_hiding(self.objects, place.bucket, place.key, names):
            self.endings.require_unfinished(work)
            self.objects.delete_many(place.bucket, [marker.version.ref for marker in markers])
            self.origins.delete_markers(work.asset.ref, place.prefix, markers)
        # The job stores only so many: later ones are seen where the files are still archived.
        room = max(0, MAX_PROBLEMS - len(work.job.problems))
        problems = tuple(quarantined[key] for key in sorted(quarantined))[:room]
        paths = [file.path for file in files if file.key not in quarantined.keys() | away]
        if after is None:
            return self.endings.finish(work, paths, items=len(paths), problems=problems)
        self.endings.request_documents(work, paths)
        cursor = work.cursor.model_copy(update={"after": after})
        return continue_at(cursor, items=len(paths), problems=problems)

    def hidden_preview(self, place: FileTarget) -> ObjectVersion | None:
        """Return the version of an archived preview that was shown last, and is not quarantined."""
        page = self.objects.list_versions(place.bucket, place.key + PREVIEW_MARK)
        previews = [version for version in page.versions if preview_base(version.key) == place.key]
        ids = [version.ref for version in previews if not version.is_delete_marker]
        quarantined = self.copies.find_quarantined(place.bucket, ids)
        hidden = {
            version.key for version in previews if version.is_latest and version.is_delete_marker
        }
        shown = [
            version
            for version in previews
            if version.key in hidden
            and not version.is_delete_marker
            and (version.key, version.version_id) not in quarantined
        ]
        return max(shown, key=lambda version: version.last_modified, default=None)
