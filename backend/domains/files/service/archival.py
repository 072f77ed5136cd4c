"""Archives objects of an asset by delete markers, while the change of its files has not ended."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.core.delete_markers import markers_hiding, newest
from backend.core.objects import Objects
from backend.domains.files.errors import ChangeEndedError
from backend.domains.files.service.work import Endings, Work


@dataclass(eq=False, repr=False)
class FileArchival:
    objects: Objects
    endings: Endings

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
