"""Kinds of long work: which queue brings a job of each kind to its worker."""

from backend.spec.queues import BUCKET_IMPORTS as BUCKET_IMPORTS_QUEUE
from backend.spec.queues import FAN_OUT as FAN_OUT_QUEUE
from backend.spec.queues import LARGE_FILES as LARGE_FILES_QUEUE
from backend.spec.queues import LIFECYCLE as LIFECYCLE_QUEUE
from backend.spec.queues import PURGES as PURGES_QUEUE
from backend.spec.queues import SEARCH_WORK as SEARCH_WORK_QUEUE
from backend.spec.queues import Queue
from backend.values import frozen


@frozen
class JobKind:
    """A kind of job; `cancellable` says whether people may stop one half-way.

    One that `undoes` goes on when it is cancelled, and takes back what it did.
    """

    name: str
    queue: Queue
    description: str
    cancellable: bool
    undoes: bool = False

    def job_id(self, *parts: str | int) -> str:
        """The id of the job that these parts make unique: `archiveAsset.museum.pump.7`.

        Ids are put into URLs and shown to people. The dot is in no database id and in no number,
        so an asset id with dots between the two makes no second meaning.
        """
        return ".".join((self.name, *(str(part) for part in parts)))


FAN_OUT = JobKind(
    "fanOut",
    FAN_OUT_QUEUE,
    "Builds the documents of an asset's files again after something they inherit has changed.",
    cancellable=False,
)
ARCHIVE_ASSET = JobKind(
    "archiveAsset", LIFECYCLE_QUEUE, "Archives the files of an archived asset.", cancellable=True
)
UNARCHIVE_ASSET = JobKind(
    "unarchiveAsset",
    LIFECYCLE_QUEUE,
    "Brings back the files that the archiving of an asset took.",
    cancellable=True,
)
DELETE_ASSET = JobKind(
    "deleteAsset", LIFECYCLE_QUEUE, "Removes all that a deleted asset left.", cancellable=False
)
PURGE_DATABASE = JobKind(
    "purgeDatabase",
    PURGES_QUEUE,
    "Removes all that a deleted database left: archived assets, metadata, schemas, jobs.",
    cancellable=False,
)
WITHDRAW_TAG = JobKind(
    "withdrawTag",
    LIFECYCLE_QUEUE,
    "Takes a deleted tag from the assets that carry it.",
    cancellable=False,
)
WITHDRAW_ROLE = JobKind(
    "withdrawRole",
    LIFECYCLE_QUEUE,
    "Takes a deleted role from the users who have it.",
    cancellable=False,
)
MAKE_VERSION = JobKind(
    "makeAssetVersion",
    LIFECYCLE_QUEUE,
    "Makes a version of an asset, or of the files of an older version. Cancelled, it removes what "
    "it wrote of the version; files that a revert has copied back remain.",
    cancellable=True,
    undoes=True,
)
LARGE_FILES = JobKind(
    "largeFiles",
    LARGE_FILES_QUEUE,
    "Puts the large files of an upload together, checks them and copies them to their place.",
    cancellable=False,
)
WAITING_PREVIEWS = JobKind(
    "waitingPreviews",
    LARGE_FILES_QUEUE,
    "Completes previews whose file is part of another open upload, once that file is uploaded; "
    "drops them if that upload ends without the file.",
    cancellable=False,
)
CHANGE_FILES = JobKind(
    "changeFiles",
    LIFECYCLE_QUEUE,
    "Carries out what was asked for files of an asset: to move, copy, archive or delete them.",
    cancellable=False,
)
IMPORT_BUCKET = JobKind(
    "importBucket",
    BUCKET_IMPORTS_QUEUE,
    "Makes assets of what stands in a bucket already, and has all of it indexed.",
    cancellable=True,
)
CHECK_SEARCH = JobKind(
    "checkSearch",
    SEARCH_WORK_QUEUE,
    "Compares the search indexes with the tables and buckets, and tells what differs.",
    cancellable=True,
)
REPAIR_SEARCH = JobKind(
    "repairSearch",
    SEARCH_WORK_QUEUE,
    "Builds documents again: those that differ, or those that were named.",
    cancellable=True,
)
REINDEX_SEARCH = JobKind(
    "reindexSearch",
    SEARCH_WORK_QUEUE,
    "Builds new search indexes beside the old ones, and has them read instead.",
    cancellable=True,
    undoes=True,
)
SEARCH_KINDS = frozenset(kind.name for kind in (CHECK_SEARCH, REPAIR_SEARCH, REINDEX_SEARCH))
"""Jobs about the search indexes, which only administrators look after."""

JOB_KINDS: dict[str, JobKind] = {
    kind.name: kind
    for kind in (
        FAN_OUT,
        ARCHIVE_ASSET,
        UNARCHIVE_ASSET,
        DELETE_ASSET,
        PURGE_DATABASE,
        WITHDRAW_TAG,
        WITHDRAW_ROLE,
        MAKE_VERSION,
        LARGE_FILES,
        WAITING_PREVIEWS,
        CHANGE_FILES,
        IMPORT_BUCKET,
        CHECK_SEARCH,
        REPAIR_SEARCH,
        REINDEX_SEARCH,
    )
}
"""All kinds, by name."""

JOB_QUEUES = frozenset(kind.queue for kind in JOB_KINDS.values())
"""The queues that bring jobs to their workers."""
