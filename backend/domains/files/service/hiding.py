"""Hides objects of an asset for a change of its files, as long as that change is under way."""

from collections.abc import Sequence

from backend.core.delete_markers import covering
from backend.core.objects import Objects, ObjectVersion
from backend.core.wired import wired
from backend.domains.files.repository import ChangeEndedError
from backend.domains.files.service.work import Endings, Work


@wired
class Hiding:
    objects: Objects
    endings: Endings

    def hide(self, work: Work, shown: Sequence[ObjectVersion]) -> None:
        """Put markers on objects as they were listed, in the order of their keys.

        A worker may sleep for longer than it has the job, and others bring a file back meanwhile,
        or write it anew: its marker goes then. It stays where it lies on what was listed, since
        another worker may have met it there and ended the change.

        Raises:
            ChangeEndedError: another worker has ended the change before.
        """
        if not shown:
            return
        self.endings.demand_under_way(work)  # so what was listed is what the change is about
        bucket = work.target.bucket
        self.objects.delete_many(bucket, [(one.key, None) for one in shown])
        try:
            self.endings.demand_under_way(work)
        except ChangeEndedError:
            self._take_back(work, shown)
            raise

    def _take_back(self, work: Work, shown: Sequence[ObjectVersion]) -> None:
        bucket, keys = work.target.bucket, [one.key for one in shown]
        listed = {_told(one) for one in shown}
        late = [
            each.named
            for each in covering(self.objects, bucket, work.target.prefix, keys)
            if each.below is None or _told(each.below) not in listed
        ]
        self.objects.delete_many(bucket, late)


def _told(version: ObjectVersion) -> tuple[object, ...]:
    """What a listing of objects, which knows no version ids, tells two versions apart by."""
    return version.key, version.etag, version.last_modified
