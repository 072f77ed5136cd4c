"""The step of an import: it follows the objects of a bucket page by page, in the order of the keys.

An import makes the same decisions as the sync does for events, so both may run at the same time.
The files of a new asset are indexed because of its creation; those of assets that existed before
are requested, because any of their events may have been lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from backend.core.objects import ObjectRef, Objects
from backend.core.rebuild_requests import RebuildRequests
from backend.domains.bucket_sync.models import Followed
from backend.domains.bucket_sync.service.sync import BucketSync, SkipReports, sentence
from backend.domains.buckets.service import BucketService
from backend.domains.jobs.models import Job, Progress

# Objects of one step. Each may create an asset, which takes a worker some seconds.
PAGE = 500


@dataclass(eq=False, repr=False)
class ImportStep:
    """The step of a job of the kind `importBucket`.

    Its cursor contains the last key that was read (`after`), and the last asset that was created
    (`made`): the rest of its files are in the next pages, and are indexed already.
    """

    buckets: BucketService
    sync: BucketSync
    notes: SkipReports
    objects: Objects
    reindexing: RebuildRequests

    def __call__(self, job: Job) -> Progress:
        """Process the objects of one page.

        Raises:
            BucketNotFoundError: the bucket's record does not exist.
            UnavailableError: a service is unavailable.
        """
        bucket = self.buckets.get_bucket(str(job.parameters["bucketId"]))
        page = self.objects.list_objects(
            bucket.bucket_name, bucket.key_prefix, limit=PAGE, after=job.cursor.get("after")
        )
        done = self.sync.follow(ObjectRef(bucket.bucket_name, item.key) for item in page.objects)
        self._index(done, job.cursor.get("made"))
        self.notes.report(done.skips)
        last = done.made[-1] if done.made else None
        made = job.cursor.get("made") if last is None else list(last.ids)
        return Progress(
            {"after": page.next_key, "made": made},
            items=len(page.objects),
            finished=page.next_key is None,
            problems=tuple(problem for problem in _problems(done) if problem not in job.problems),
        )

    def _index(self, done: Followed, made: list[str] | None) -> None:
        for ref, keys in done.owned.items():
            if list(ref.ids) != made:
                self.reindexing.keys(*ref.ids, keys)


def _problems(done: Followed) -> Iterator[str]:
    """The problems of a page, each reported once."""
    yield from dict.fromkeys(sentence(skip) for skip in done.skips if not skip.is_expected)
    if done.later:
        first = done.later[0]
        yield (
            f"s3://{first.bucket}/{first.key} belongs to an asset that is being deleted or "
            "archived, or to a database that is being purged: import again once that has "
            "ended"
        )
