"""The functions that consume streams and queues."""

from backend.spec import buckets, queues, settings, topics
from backend.spec.buckets import Bucket
from backend.spec.functions.model import Function, audited
from backend.spec.queues import Queue
from backend.spec.tables import access, assets, metadata, operations, registry, workflows
from backend.spec.tables.model import Table

DOCUMENT_SOURCES: tuple[Table | Bucket, ...] = (
    assets.ASSETS,
    metadata.ASSET_FILE_METADATA,
    metadata.FILE_ATTRIBUTES,
    registry.ASSET_BUCKETS,
    operations.RESERVATIONS,
    buckets.ASSET_BUCKET,
)
"""What a rebuild of documents reads."""


def _indexer(
    name: str,
    handler: str,
    description: str,
    *,
    writes: tuple[Table, ...] = (),
    sends: tuple[Queue, ...] = (queues.SETTLE,),
    loops: bool = False,
) -> Function:
    """A consumer on the indexing path: all of them end in the same rebuild."""
    return Function(
        name,
        "consumer",
        handler,
        description,
        reads=DOCUMENT_SOURCES,
        writes=(operations.SEARCH_STATE, *writes, buckets.FAILURE_BUCKET),
        sends=sends,
        settings=(settings.SETTLE_DELAY_SECONDS,),
        search="write",
        memory_mb=1024,
        timeout_seconds=120,
        loops=loops,
    )


INDEX_CHANGES = _indexer(
    "IndexChanges",
    "backend.entrypoints.streams.changes.handler",
    "Rebuilds search documents after changes in tables.",
    writes=(operations.JOBS,),
)
INDEX_OBJECTS = _indexer(
    "IndexObjects",
    "backend.entrypoints.streams.objects.handler",
    "Rebuilds search documents after object events.",
    sends=(),
)
INDEX_SETTLE = _indexer(
    "IndexSettle",
    "backend.entrypoints.streams.settle.handler",
    "Rebuilds documents again once the global indexes they were read from are up to date.",
)
INDEX_FAN_OUT = _indexer(
    "IndexFanOut",
    "backend.entrypoints.streams.fan_out.handler",
    "Rebuilds the documents of an asset's files after changes of its name, tags or state.",
    writes=(operations.JOBS,),
    sends=(queues.FAN_OUT,),
    loops=True,
)

AUDIT_CREATIONS = audited(
    Function(
        "AuditCreations",
        "consumer",
        "backend.entrypoints.streams.creations.handler",
        "Writes the audit entries of new assets.",
        writes=(buckets.FAILURE_BUCKET,),
        timeout_seconds=60,
    )
)
AUDIT_ARCHIVER = Function(
    "AuditArchiver",
    "consumer",
    "backend.entrypoints.streams.expired_entries.handler",
    "Archives expired audit entries.",
    writes=(buckets.FAILURE_BUCKET,),
    appends=(buckets.AUDIT_ARCHIVE_BUCKET,),
    timeout_seconds=60,
)
READ_ENTRIES = Function(
    "ReadEntries",
    "consumer",
    "backend.entrypoints.streams.reads.handler",
    "Writes the audit entries of reads.",
    appends=(operations.AUDIT,),
    settings=(settings.AUDIT_DAYS,),
    timeout_seconds=60,
)
NOTIFIER = Function(
    "Notifier",
    "consumer",
    "backend.entrypoints.streams.notifications.handler",
    "Sends notifications about changes to an asset's subscribers.",
    reads=(assets.ASSETS, *access.RIGHTS, access.USERS, registry.SUBSCRIPTIONS),
    writes=(buckets.FAILURE_BUCKET,),
    publishes=(topics.NOTIFICATIONS,),
    timeout_seconds=60,
)
JOB_STARTER = Function(
    "JobStarter",
    "consumer",
    "backend.entrypoints.jobs.starter.handler",
    "Sends the first message of each job to the queue of its kind.",
    writes=(buckets.FAILURE_BUCKET,),  # for failed batches
    sends=(
        queues.FAN_OUT,
        queues.LIFECYCLE,
        queues.PURGES,
        queues.LARGE_FILES,
        queues.BUCKET_IMPORTS,
        queues.SEARCH_WORK,
    ),
    timeout_seconds=30,
)
_FOLLOWED: tuple[Table | Bucket, ...] = (
    assets.ASSETS,
    assets.ASSET_VERSIONS,
    assets.DATABASES,
    operations.JOBS,
    operations.RESERVATIONS,
    buckets.FAILURE_BUCKET,
)
BUCKET_SYNC = audited(
    Function(
        "BucketSync",
        "consumer",
        "backend.entrypoints.streams.bucket_sync.handler",
        "Creates assets and files from objects that other programs write into a bucket.",
        reads=(registry.ASSET_BUCKETS, buckets.ASSET_BUCKET),
        writes=_FOLLOWED,
        sends=(queues.UPLOAD_TRIGGERS,),
        settings=(settings.SYNC_DATABASE_ID,),
        memory_mb=1024,
        timeout_seconds=120,
    )
)
QUARANTINE = audited(
    Function(
        "Quarantine",
        "consumer",
        "backend.entrypoints.streams.scan_results.handler",
        "Quarantines object versions in which a malware scan found a threat, and releases them.",
        reads=(assets.ASSETS, registry.ASSET_BUCKETS, buckets.ASSET_BUCKET),
        writes=(operations.RESERVATIONS, buckets.FAILURE_BUCKET),
        settings=(settings.IMPORTED_BUCKETS,),
        timeout_seconds=60,
    )
)
BUCKET_IMPORT_WORKER = audited(
    Function(
        "BucketImportWorker",
        "consumer",
        "backend.entrypoints.jobs.bucket_imports.handler",
        "Runs the jobs that import objects of buckets, and that renew facts, page by page.",
        reads=(
            registry.ASSET_BUCKETS,
            metadata.FILE_ATTRIBUTES,
            workflows.ACTIVE_EXECUTIONS,
            workflows.WORKFLOW_EXECUTIONS,
            buckets.ASSET_BUCKET,
        ),
        writes=_FOLLOWED,
        sends=(queues.BUCKET_IMPORTS, queues.SETTLE, queues.UPLOAD_TRIGGERS),
        settings=(settings.SYNC_DATABASE_ID, settings.SETTLE_DELAY_SECONDS),
        memory_mb=1024,
        timeout_seconds=120,
        loops=True,
    )
)
SEARCH_WORKER = Function(
    "SearchWorker",
    "consumer",
    "backend.entrypoints.jobs.search_work.handler",
    "Runs the jobs that check, repair and rebuild the search indexes.",
    reads=(
        *(each for each in DOCUMENT_SOURCES if each is not assets.ASSETS),
        assets.DATABASES,
    ),
    writes=(assets.ASSETS, operations.SEARCH_STATE, operations.JOBS, buckets.FAILURE_BUCKET),
    sends=(queues.SEARCH_WORK, queues.SETTLE),
    settings=(
        settings.SETTLE_DELAY_SECONDS,
        settings.SEARCH_GRACE_SECONDS,
        settings.SEARCH_KEEP_SECONDS,
    ),
    search="renew",
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
)
LEFT_BY_ASSETS: tuple[Table, ...] = (
    assets.ASSET_VERSIONS,
    assets.ASSET_FILE_VERSIONS,
    assets.ASSET_FILE_METADATA_VERSIONS,
    assets.ASSET_UPLOADS,
    assets.ASSET_LINKS,
    assets.ASSET_LINKS_METADATA,
    assets.ASSET_LINK_EDGES,
    metadata.ASSET_FILE_METADATA,
    metadata.FILE_ATTRIBUTES,
    metadata.RECORD_SETS,
    registry.COMMENTS,
    registry.SUBSCRIPTIONS,
    workflows.WORKFLOW_EXECUTIONS,
)
"""Tables from which a deletion removes the rows of an asset."""

LIFECYCLE_WORKER = audited(
    Function(
        "LifecycleWorker",
        "consumer",
        "backend.entrypoints.jobs.lifecycle.handler",
        "Runs the jobs of assets and files: archives, moves, deletes, creates versions.",
        reads=(
            assets.DATABASES,
            metadata.METADATA_SCHEMAS,
            metadata.SCHEMA_SCOPES,
            registry.TAGS,
            registry.ASSET_BUCKETS,
        ),
        writes=(
            assets.ASSETS,
            assets.ARCHIVED_FILES,
            access.CONSTRAINTS,
            access.POLICIES,
            access.ROLES,
            access.USER_ROLES,
            *LEFT_BY_ASSETS,
            operations.JOBS,
            operations.RESERVATIONS,
            buckets.ASSET_BUCKET,
            buckets.AUXILIARY_BUCKET,
            buckets.FAILURE_BUCKET,
        ),
        sends=(queues.LIFECYCLE, queues.SETTLE),
        settings=(
            settings.SETTLE_DELAY_SECONDS,
            settings.LARGE_FILE_BYTES,
            settings.MALWARE_SCAN,
        ),
        memory_mb=1024,
        timeout_seconds=120,
        loops=True,
    )
)

# Apart from the worker of assets: that role has no room for further statements, and only this
# function can remove databases and schemas.
PURGE_WORKER = audited(
    Function(
        "PurgeWorker",
        "consumer",
        "backend.entrypoints.jobs.purges.handler",
        "Runs the jobs that purge deleted databases.",
        writes=(
            assets.ASSETS,
            assets.DATABASES,
            metadata.DATABASE_METADATA,
            metadata.METADATA_SCHEMAS,
            workflows.PIPELINES,
            workflows.WORKFLOWS,
            metadata.RECORD_SETS,
            metadata.SCHEMA_SCOPES,
            operations.JOBS,
            operations.RESERVATIONS,
            buckets.FAILURE_BUCKET,
        ),
        sends=(queues.PURGES,),
        settings=(settings.SETTLE_DELAY_SECONDS,),
        memory_mb=1024,
        timeout_seconds=120,
        loops=True,
    )
)

LARGE_FILE_WORKER = audited(
    Function(
        "LargeFileWorker",
        "consumer",
        "backend.entrypoints.jobs.large_files.handler",
        "Assembles large files, verifies them and copies them to their final key, part by part.",
        reads=(assets.DATABASES, registry.ASSET_BUCKETS),
        writes=(
            assets.ASSET_UPLOADS,
            assets.ASSETS,
            operations.JOBS,
            buckets.ASSET_BUCKET,
            buckets.FAILURE_BUCKET,
        ),
        sends=(queues.LARGE_FILES,),
        settings=(settings.LARGE_FILE_BYTES,),
        memory_mb=1024,
        timeout_seconds=120,
        loops=True,
    )
)
