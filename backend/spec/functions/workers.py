"""The functions that consume streams and queues."""

from backend.spec import queues, settings, topics
from backend.spec.buckets import ASSET_BUCKET, AUDIT_ARCHIVE_BUCKET, FAILURE_BUCKET
from backend.spec.functions.model import Function
from backend.spec.functions.request_parts import (
    AUDITED,
    BUCKET_RECORD,
    CALLER,
    FILE_CHANGES,
    KEPT,
    KEPT_BY_MAPPING,
    OF_ROWS,
    SOURCES,
    STORED_FILES,
    Requests,
    combined_requests,
)
from backend.spec.queues import Queue
from backend.spec.tables import access, assets, metadata, operations, registry, workflows


def _indexer(
    name: str,
    handler: str,
    description: str,
    *,
    uses: Requests,
    sends: tuple[Queue, ...] = (queues.SETTLE,),
    loops: bool = False,
) -> Function:
    """A consumer on the indexing path: all of them end in the same rebuild."""
    return Function(
        name,
        "consumer",
        handler,
        description,
        uses=uses,
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
    uses={**OF_ROWS, **KEPT_BY_MAPPING, operations.JOBS: ("PutItem",)},
)
INDEX_OBJECTS = _indexer(
    "IndexObjects",
    "backend.entrypoints.streams.objects.handler",
    "Rebuilds search documents after object events.",
    uses={**SOURCES, **KEPT},
    sends=(),
)
INDEX_SETTLE = _indexer(
    "IndexSettle",
    "backend.entrypoints.streams.settle.handler",
    "Rebuilds documents again once the global indexes they were read from are up to date.",
    uses={**SOURCES, **KEPT},
)
INDEX_FAN_OUT = _indexer(
    "IndexFanOut",
    "backend.entrypoints.streams.fan_out.handler",
    "Rebuilds the documents of an asset's files after changes of its name, tags or state.",
    uses={**OF_ROWS, **KEPT, operations.JOBS: ("GetItem", "UpdateItem")},
    sends=(queues.FAN_OUT,),
    loops=True,
)

AUDIT_CREATIONS = Function(
    "AuditCreations",
    "consumer",
    "backend.entrypoints.streams.creations.handler",
    "Writes the audit entries of new assets.",
    uses={**AUDITED, **KEPT_BY_MAPPING},
    timeout_seconds=60,
    settings=(settings.AUDIT_DAYS,),
)
AUDIT_ARCHIVER = Function(
    "AuditArchiver",
    "consumer",
    "backend.entrypoints.streams.expired_entries.handler",
    "Archives expired audit entries.",
    uses={**KEPT_BY_MAPPING, AUDIT_ARCHIVE_BUCKET: ("PutObject",)},
    timeout_seconds=60,
)
READ_ENTRIES = Function(
    "ReadEntries",
    "consumer",
    "backend.entrypoints.streams.reads.handler",
    "Writes the audit entries of reads.",
    uses={operations.AUDIT: ("PutItem",)},
    settings=(settings.AUDIT_DAYS,),
    timeout_seconds=60,
)
NOTIFIER = Function(
    "Notifier",
    "consumer",
    "backend.entrypoints.streams.notifications.handler",
    "Sends notifications about changes to an asset's subscribers, and entries to be published.",
    uses={
        **CALLER,
        **KEPT_BY_MAPPING,
        assets.ASSETS: ("BatchGetItem",),
        access.USERS: ("BatchGetItem",),
        registry.SUBSCRIPTIONS: ("BatchGetItem",),
    },
    sends=(queues.OUTGOING_EVENTS,),
    publishes=(topics.NOTIFICATIONS,),
    settings=(settings.EVENTS,),
    timeout_seconds=60,
)
EVENT_PUBLISHER = Function(
    "EventPublisher",
    "consumer",
    "backend.entrypoints.streams.outgoing_events.handler",
    "Numbers changes of assets, and publishes them as events.",
    uses={**KEPT, operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem")},
    sends=(queues.EVENT_FEED,),
    settings=(settings.EVENTS,),
    timeout_seconds=60,
    acts_for="itself",
    publishes_events=True,
    with_events=queues.OUTGOING_EVENTS.with_events,
)
JOB_STARTER = Function(
    "JobStarter",
    "consumer",
    "backend.entrypoints.jobs.starter.handler",
    "Sends the first message of each job to the queue of its kind.",
    uses=KEPT_BY_MAPPING,
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
_FOLLOWING: Requests = {
    assets.ASSETS: ("BatchGetItem", "PutItem", "UpdateItem"),
    assets.ASSET_VERSIONS: ("PutItem",),
    assets.ASSET_HISTORY: ("PutItem",),
    assets.DATABASES: ("ConditionCheckItem", "GetItem", "PutItem"),
    registry.ASSET_BUCKETS: ("Query", "Scan"),
    operations.JOBS: ("GetItem", "UpdateItem"),  # an archiving that has to check the files again
    operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem"),
    ASSET_BUCKET: ("ListBucket",),  # no object is read or written
    FAILURE_BUCKET: ("PutObject",),
}
BUCKET_SYNC = Function(
    "BucketSync",
    "consumer",
    "backend.entrypoints.streams.bucket_sync.handler",
    "Creates assets and files from objects that other programs write into a bucket.",
    uses={**AUDITED, **_FOLLOWING},
    sends=(queues.UPLOAD_TRIGGERS,),
    settings=(settings.SYNC_DATABASE_ID, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=120,
    acts_for="itself",
)
QUARANTINE = Function(
    "Quarantine",
    "consumer",
    "backend.entrypoints.streams.scan_results.handler",
    "Quarantines object versions in which a malware scan found a threat, and releases them.",
    uses={
        **AUDITED,
        **KEPT,
        assets.ASSETS: ("BatchGetItem", "UpdateItem"),
        registry.ASSET_BUCKETS: ("Query", "Scan"),
        operations.RESERVATIONS: ("BatchGetItem", "PutItem"),
        # of the asset's picture
        ASSET_BUCKET: (
            *("DeleteObject", "GetObject", "ListBucket", "ListBucketVersions", "PutObject"),
        ),
    },
    settings=(settings.IMPORTED_BUCKETS, settings.MALWARE_SCAN, settings.AUDIT_DAYS),
    timeout_seconds=60,
    acts_for="itself",
)
BUCKET_IMPORT_WORKER = Function(
    "BucketImportWorker",
    "consumer",
    "backend.entrypoints.jobs.bucket_imports.handler",
    "Runs the jobs that import objects of buckets, and that renew facts, page by page.",
    uses={
        **AUDITED,
        **_FOLLOWING,
        # of renewals of facts
        assets.ASSETS: (*_FOLLOWING[assets.ASSETS], "Query"),
        assets.DATABASES: (*_FOLLOWING[assets.DATABASES], "Scan"),
        ASSET_BUCKET: ("ListBucket", "ListBucketVersions"),
        metadata.FILE_ATTRIBUTES: ("BatchGetItem", "Query"),
        workflows.ACTIVE_EXECUTIONS: ("Query",),
    },
    sends=(queues.BUCKET_IMPORTS, queues.SETTLE, queues.UPLOAD_TRIGGERS),
    settings=(settings.SYNC_DATABASE_ID, settings.SETTLE_DELAY_SECONDS, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
    acts_for="itself",
)
SEARCH_WORKER = Function(
    "SearchWorker",
    "consumer",
    "backend.entrypoints.jobs.search_work.handler",
    "Runs the jobs that check, repair and rebuild the search indexes.",
    uses=combined_requests(
        SOURCES,
        KEPT,
        {
            assets.ASSETS: ("Query", "UpdateItem"),  # of typedFiles
            assets.DATABASES: ("Scan",),
            operations.JOBS: ("GetItem", "UpdateItem"),
        },
    ),
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
LIFECYCLE_WORKER = Function(
    "LifecycleWorker",
    "consumer",
    "backend.entrypoints.jobs.lifecycle.handler",
    "Runs the jobs of assets and files: archives, moves, deletes, creates versions.",
    uses={
        **AUDITED,
        **combined_requests(
            FILE_CHANGES,
            KEPT,
            {
                assets.ASSETS: ("ConditionCheckItem", "Query"),
                assets.ASSET_HISTORY: ("PutItem",),
                assets.ASSET_UPLOADS: ("BatchWriteItem", "Query", "QueryIndexes"),
                registry.SUBSCRIPTIONS: ("DeleteItem",),
                operations.RESERVATIONS: ("BatchGetItem", "DeleteItem"),
                ASSET_BUCKET: ("ListBucketMultipartUploads",),
                registry.TAGS: ("BatchGetItem",),
                assets.DATABASES: ("GetItem", "Scan"),
                assets.ARCHIVED_FILES: (
                    "BatchWriteItem",
                    "DeleteItem",
                    "GetItem",
                    "PutItem",
                    "Query",
                ),
                assets.ASSET_VERSIONS: ("BatchWriteItem", "PutItem", "Query", "UpdateItem"),
                assets.ASSET_FILE_VERSIONS: (
                    *("BatchGetItem", "BatchWriteItem", "GetItem"),
                    *("Query", "QueryIndexes"),
                ),
                assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query", "QueryIndexes"),
                assets.FILE_VERSION_HISTORY: ("Query",),
                assets.ASSET_LINKS: ("DeleteItem", "GetItem"),
                assets.ASSET_LINKS_METADATA: ("BatchWriteItem", "DeleteItem", "Query"),
                assets.ASSET_LINK_EDGES: ("DeleteItem", "Query"),
                metadata.ASSET_FILE_METADATA: ("BatchWriteItem", "QueryIndexes"),
                metadata.FILE_ATTRIBUTES: ("BatchWriteItem", "QueryIndexes"),
                metadata.RECORD_SETS: ("BatchWriteItem", "DeleteItem", "Query"),
                registry.COMMENTS: ("BatchWriteItem", "Query"),
                workflows.WORKFLOW_EXECUTIONS: ("BatchWriteItem", "Query"),
                access.CONSTRAINTS: ("DeleteItem", "PutItem"),
                access.POLICIES: ("BatchGetItem", "DeleteItem", "PutItem", "UpdateItem"),
                access.ROLES: ("DeleteItem", "GetItem"),
                access.USER_ROLES: ("DeleteItem", "Scan"),
                operations.JOBS: ("GetItem", "UpdateItem"),
            },
        ),
    },
    sends=(queues.LIFECYCLE, queues.SETTLE),
    settings=(
        settings.SETTLE_DELAY_SECONDS,
        settings.LARGE_FILE_BYTES,
        settings.MALWARE_SCAN,
        settings.AUDIT_DAYS,
    ),
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
)

# Apart from the worker of assets: that role has no room for further statements, and only this
# function can remove databases and schemas.
PURGE_WORKER = Function(
    "PurgeWorker",
    "consumer",
    "backend.entrypoints.jobs.purges.handler",
    "Runs the jobs that purge deleted databases.",
    uses={
        **AUDITED,
        **KEPT,
        assets.ASSETS: ("BatchGetItem", "DeleteItem", "Query"),
        assets.ASSET_HISTORY: ("PutItem",),
        assets.DATABASES: ("ConditionCheckItem", "DeleteItem", "GetItem"),
        metadata.DATABASE_METADATA: ("BatchWriteItem", "QueryIndexes"),
        metadata.METADATA_SCHEMAS: ("BatchWriteItem", "QueryIndexes"),
        workflows.PIPELINES: ("BatchWriteItem", "Query"),
        workflows.WORKFLOWS: ("BatchWriteItem", "Query"),
        metadata.RECORD_SETS: ("BatchWriteItem", "Query"),
        metadata.SCHEMA_SCOPES: ("BatchWriteItem",),
        operations.JOBS: (
            *("BatchGetItem", "BatchWriteItem", "GetItem"),
            *("PutItem", "QueryIndexes", "UpdateItem"),
        ),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
    },
    sends=(queues.PURGES,),
    settings=(settings.SETTLE_DELAY_SECONDS, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
)

LARGE_FILE_WORKER = Function(
    "LargeFileWorker",
    "consumer",
    "backend.entrypoints.jobs.large_files.handler",
    "Assembles large files, verifies them and copies them to their final key, part by part.",
    uses={
        **AUDITED,
        **BUCKET_RECORD,
        **KEPT,
        **STORED_FILES,
        assets.FILE_VERSION_HISTORY: ("PutItem",),
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "UpdateItem"),
        assets.ASSET_UPLOADS: ("Query", "UpdateItem"),
        operations.JOBS: ("GetItem", "UpdateItem"),
    },
    sends=(queues.LARGE_FILES,),
    settings=(settings.LARGE_FILE_BYTES, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
)
