"""Kinds of jobs, and the queue from which a worker receives jobs of each kind."""

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
    """A kind of job; `cancellable` is true if people may stop one before it is done.

    One that `undoes` continues after it is cancelled, and reverts its unfinished changes.
    """

    name: str
    queue: Queue
    description: str
    cancellable: bool
    undoes: bool = False

    def job_id(self, *parts: str | int) -> str:
        """Return the id of the job that these parts make unique: `archiveAsset.museum.pump.7`.

        Ids are put into URLs and shown to people.
        """
        # Database ids and numbers contain no dot, so an asset id with dots between the two is not
        # ambiguous.
        return ".".join((self.name, *(str(part) for part in parts)))


FAN_OUT = JobKind(
    "fanOut",
    FAN_OUT_QUEUE,
    "Rebuilds the documents of an asset's files after a change of the asset that they include.",
    cancellable=False,
)
ARCHIVE_ASSET = JobKind(
    "archiveAsset", LIFECYCLE_QUEUE, "Archives the files of an archived asset.", cancellable=True
)
UNARCHIVE_ASSET = JobKind(
    "unarchiveAsset",
    LIFECYCLE_QUEUE,
    "Restores the files that were archived with an asset.",
    cancellable=True,
)
DELETE_ASSET = JobKind(
    "deleteAsset",
    LIFECYCLE_QUEUE,
    "Removes everything that belongs to a deleted asset.",
    cancellable=False,
)
PURGE_DATABASE = JobKind(
    "purgeDatabase",
    PURGES_QUEUE,
    (
        "Removes everything that belongs to a deleted database: archived assets, metadata, "
        "schemas, jobs."
    ),
    cancellable=False,
)
WITHDRAW_TAG = JobKind(
    "withdrawTag",
    LIFECYCLE_QUEUE,
    "Removes a deleted tag from assets.",
    cancellable=False,
)
WITHDRAW_ROLE = JobKind(
    "withdrawRole",
    LIFECYCLE_QUEUE,
    "Removes a deleted role from users.",
    cancellable=False,
)
MAKE_VERSION = JobKind(
    "makeAssetVersion",
    LIFECYCLE_QUEUE,
    (
        "Creates a version of an asset, from its current files or from those of an older "
        "version. Cancelling it removes the unfinished version; files that were already "
        "restored remain."
    ),
    cancellable=True,
    undoes=True,
)
LARGE_FILES = JobKind(
    "largeFiles",
    LARGE_FILES_QUEUE,
    "Assembles the large files of an upload, verifies them and copies them to their final key.",
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
    "Moves, copies, archives or deletes files of an asset.",
    cancellable=False,
)
MOVE_FOLDER = JobKind(
    "moveFolder",
    LIFECYCLE_QUEUE,
    (
        "Moves the files of a folder, and names those that it cannot move. Files that were "
        "already moved when it is cancelled remain at their new place."
    ),
    cancellable=True,
    undoes=True,
)
IMPORT_BUCKET = JobKind(
    "importBucket",
    BUCKET_IMPORTS_QUEUE,
    "Creates assets and files from the objects in a bucket, and indexes them.",
    cancellable=True,
)
CHECK_SEARCH = JobKind(
    "checkSearch",
    SEARCH_WORK_QUEUE,
    "Compares the search indexes with the tables and buckets, and reports the differences.",
    cancellable=True,
)
REPAIR_SEARCH = JobKind(
    "repairSearch",
    SEARCH_WORK_QUEUE,
    "Rebuilds documents that differ, or named documents.",
    cancellable=True,
)
REINDEX_SEARCH = JobKind(
    "reindexSearch",
    SEARCH_WORK_QUEUE,
    "Builds new search indexes beside the old ones, and switches searches to them.",
    cancellable=True,
    undoes=True,
)
RENEW_FACTS = JobKind(
    "renewFacts",
    BUCKET_IMPORTS_QUEUE,
    "Requests another inspection of the files whose facts an older version of the readers stored, "
    "and of those without facts in named formats.",
    cancellable=True,
)
SEARCH_KINDS = frozenset(
    kind.name for kind in (CHECK_SEARCH, REPAIR_SEARCH, REINDEX_SEARCH, RENEW_FACTS)
)
"""Jobs of search indexes and facts. Only administrators may see them."""

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
        MOVE_FOLDER,
        IMPORT_BUCKET,
        CHECK_SEARCH,
        REPAIR_SEARCH,
        REINDEX_SEARCH,
        RENEW_FACTS,
    )
}
"""All job kinds, by name."""

JOB_QUEUES = frozenset(kind.queue for kind in JOB_KINDS.values())
"""The queues from which workers receive jobs."""
