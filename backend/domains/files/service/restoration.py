"""Restores archived files: previews beside them, and whole folders."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from backend.core.errors import UnavailableError, VitrineError
from backend.core.file_kinds import is_file, preview_base
from backend.core.objects import Objects, ObjectVersion
from backend.core.parallel import in_parallel
from backend.domains.files.service.copies import Copies
from backend.domains.files.service.lookup import FileLookup
from backend.domains.files.service.rows import FileTarget
from backend.domains.files.service.work import Endings, Work, continue_at
from backend.domains.jobs.models import MAX_PROBLEMS, Progress
from backend.spec.key_layouts import PREVIEW_MARK

# Files that one step restores. A step takes about a second, as in a request it must.
FILES = 25


class _FileStep(NamedTuple):
    """The markers that hide a file and its preview, or why it is not restored."""

    path: str
    markers: Sequence[ObjectVersion] = ()
    problem: str | None = None


@dataclass(eq=False, repr=False)
class FileRestoration:
    lookup: FileLookup
    objects: Objects
    copies: Copies
    endings: Endings
    batch: int = FILES

    def restore_folder(self, work: Work) -> Progress:
        """Remove the markers that hide the next files of a folder; their content is below."""
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
        steps = in_parallel(partial(self._examine, work), keys)
        markers = [marker.ref for step in steps for marker in step.markers]
        if markers:
            self.endings.require_unfinished(work)
            self.objects.delete_many(place.bucket, markers)
        problems = tuple(step.problem for step in steps if step.problem is not None)
        # The job stores only so many: later ones are seen where the files are still archived.
        problems = problems[: max(0, MAX_PROBLEMS - len(work.job.problems))]
        paths = [step.path for step in steps if step.problem is None]
        if after is None:
            return self.endings.finish(work, paths, items=len(paths), problems=problems)
        self.endings.request_documents(work, paths)
        cursor = work.cursor.model_copy(update={"after": after})
        return continue_at(cursor, items=len(paths), problems=problems)

    def _examine(self, work: Work, key: str) -> _FileStep:
        place = FileTarget(work.asset, work.target.bucket, work.target.prefix, key)
        try:
            self.lookup.check_clean(place, self.lookup.last_version(place))
        except UnavailableError:
            raise
        except VitrineError as error:
            return _FileStep(place.path, problem=f"{place.path}: {error.message}")
        preview = self.hidden_preview(place)
        keys = [key] if preview is None else [key, preview.key]
        return _FileStep(
            place.path, [marker for key in keys for marker in self._hiding(place, key)]
        )

    def _hiding(self, place: FileTarget, key: str) -> list[ObjectVersion]:
        """Return the markers above the newest content of a key."""
        markers: list[ObjectVersion] = []
        for version in self.objects.list_versions(place.bucket, key).versions:
            if version.key != key or not version.is_delete_marker:
                break
            markers.append(version)
        return markers

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
