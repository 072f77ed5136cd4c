"""The requests that each function makes to its tables and buckets: exactly its grants.

For a table or bucket that is missing here, a function may do all that its declaration allows. `up
--record-grants FILE` and `local grants FILE` report unused grants; the local runtime refuses
missing ones. Every function of the API reads the caller's permissions, every rebuild of documents
the same sources.
"""

from collections.abc import Mapping

from backend.spec.buckets import (
    ASSET_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
    AUXILIARY_BUCKET,
    FAILURE_BUCKET,
)
from backend.spec.functions.request_parts import (
    BUCKET_RECORD,
    CALLER,
    FACTS,
    FILE_CHANGES,
    GOVERNED,
    INSPECTS,
    KEPT,
    KEPT_BY_MAPPING,
    OF_ROWS,
    OUTPUTS,
    RECORDS,
    REPLAYS,
    SEARCHES,
    SOURCES,
    VERSIONS,
    Requests,
    together,
)
from backend.spec.functions.workflow_requests import OF_EXECUTIONS, OF_WORKFLOWS, RENEWALS
from backend.spec.tables import access, assets, metadata, operations, registry, workflows

_OF_API: Mapping[str, Requests] = {
    "ConfigurationApi": {registry.FEATURES: ("Scan",)},
    "AccessApi": {
        access.USER_ROLES: (
            *("ConditionCheckItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
        ),
        access.API_KEYS: (
            *("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "Scan", "UpdateItem"),
        ),
        access.CONSTRAINTS: ("DeleteItem", "PutItem", "Scan"),
        access.POLICIES: ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"),
        access.ROLES: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Scan", "UpdateItem"),
        ),
        access.USERS: ("GetItem", "UpdateItem"),
        assets.ASSETS: ("BatchGetItem",),
        operations.JOBS: ("PutItem",),
        operations.RESERVATIONS: ("GetItem", "PutItem"),
    },
    "BucketsApi": {
        registry.ASSET_BUCKETS: ("PutItem", "Scan"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
        ASSET_BUCKET: ("GetBucketVersioning", "GetObject", "ListBucket"),
    },
    "BucketSyncApi": {
        **BUCKET_RECORD,
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
    },
    "DatabasesApi": {
        **BUCKET_RECORD,
        assets.DATABASES: (
            *("BatchGetItem", "ConditionCheckItem", "DeleteItem", "GetItem"),
            *("PutItem", "Scan", "UpdateItem"),
        ),
        access.CONSTRAINTS: ("Scan",),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("BatchGetItem", "DeleteItem", "GetItem", "PutItem"),
    },
    "TagsApi": {
        registry.TAGS: ("DeleteItem", "GetItem", "PutItem", "Scan", "UpdateItem"),
        registry.TAG_TYPES: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Scan", "UpdateItem"),
        ),
        access.CONSTRAINTS: ("Scan",),
        operations.JOBS: ("PutItem",),
        operations.RESERVATIONS: ("GetItem", "PutItem"),
    },
    "AssetsApi": {
        **BUCKET_RECORD,
        assets.DATABASES: ("GetItem", "Scan"),
        registry.TAGS: ("BatchGetItem",),
        registry.TAG_TYPES: ("Scan",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem"),
        assets.ASSET_VERSIONS: ("PutItem",),
        operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: ("ListBucket",),
    },
    "FilesApi": together(
        FILE_CHANGES,
        {
            assets.ASSETS: ("ConditionCheckItem", "GetItem"),
            assets.ASSET_VERSIONS: ("GetItem",),
            assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
            assets.DATABASES: ("GetItem",),
            operations.JOBS: ("PutItem",),
        },
    ),
    "DownloadsApi": {
        **BUCKET_RECORD,
        assets.ASSETS: ("GetItem",),
        assets.ASSET_VERSIONS: ("GetItem",),
        assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
        operations.RESERVATIONS: ("BatchGetItem",),
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
        AUXILIARY_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    "UploadsApi": {
        **BUCKET_RECORD,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("UpdateItem",),
        assets.ASSET_UPLOADS: (
            *("BatchWriteItem", "DeleteItem", "PutItem", "Query", "QueryIndexes", "UpdateItem"),
        ),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
            *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
            *("ListMultipartUploadParts", "PutObject"),
        ),
    },
    "IngestApi": {
        **BUCKET_RECORD,
        registry.TAGS: ("BatchGetItem",),
        registry.TAG_TYPES: ("Scan",),
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("GetItem", "PutItem", "UpdateItem"),
        assets.ASSET_VERSIONS: ("PutItem",),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("PutItem", "UpdateItem"),
        assets.ASSET_UPLOADS: ("BatchWriteItem", "PutItem", "Query", "QueryIndexes", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
            *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
            *("ListMultipartUploadParts", "PutObject"),
        ),
    },
    "MetadataApi": {
        assets.ASSETS: ("GetItem",),
        **BUCKET_RECORD,
        assets.DATABASES: ("GetItem",),
        assets.ASSET_VERSIONS: ("GetItem",),
        assets.ASSET_FILE_METADATA_VERSIONS: ("Query",),
        **RECORDS,
        metadata.DATABASE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    "MetadataSchemasApi": {
        assets.DATABASES: ("GetItem",),
        metadata.METADATA_SCHEMAS: (
            *("DeleteItem", "PutItem", "Query"),
            *("QueryIndexes", "Scan", "UpdateItem"),
        ),
        metadata.SCHEMA_SCOPES: ("GetItem", "PutItem"),
    },
    "AssetLinksApi": {
        **GOVERNED,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "UpdateItem"),
        assets.ASSET_LINKS: ("ConditionCheckItem", "DeleteItem", "GetItem", "PutItem"),
        assets.ASSET_LINKS_METADATA: (
            *("BatchGetItem", "BatchWriteItem", "DeleteItem"),
            *("PutItem", "Query"),
        ),
        assets.ASSET_LINK_EDGES: (
            *("BatchGetItem", "ConditionCheckItem", "DeleteItem"),
            *("PutItem", "Query", "UpdateItem"),
        ),
        metadata.RECORD_SETS: ("DeleteItem", "GetItem", "UpdateItem"),
    },
    "AssetVersionsApi": {
        **BUCKET_RECORD,
        **VERSIONS,
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "GetItem", "UpdateItem"),
        assets.ASSET_VERSIONS: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Query", "UpdateItem"),
        ),
        operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
        operations.RESERVATIONS: ("BatchGetItem", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "GetObject", "GetObjectVersion", "ListBucket"),
            *("ListBucketVersions", "ListMultipartUploadParts", "PutObject"),
        ),
    },
    "ExportsApi": {
        assets.ASSETS: ("BatchGetItem", "GetItem"),
        **BUCKET_RECORD,
        assets.ASSET_LINK_EDGES: ("Query",),
        assets.ASSET_LINKS_METADATA: ("Query",),
        assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("QueryIndexes",),
        metadata.FILE_ATTRIBUTES: ("QueryIndexes",),
        operations.RESERVATIONS: ("BatchGetItem",),
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
    },
    "SearchApi": SEARCHES,
    "FactsApi": FACTS,
    "CommentsApi": {
        assets.ASSETS: ("ConditionCheckItem", "GetItem"),
        assets.ASSET_VERSIONS: ("GetItem",),
        operations.RESERVATIONS: ("GetItem",),
        registry.COMMENTS: (
            *("ConditionCheckItem", "DeleteItem", "GetItem"),
            *("PutItem", "Query", "UpdateItem"),
        ),
    },
    "LifecycleApi": {
        **BUCKET_RECORD,
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "DeleteItem", "PutItem"),
        assets.ARCHIVED_FILES: ("DeleteItem", "GetItem", "PutItem", "Query"),
        assets.ASSET_VERSIONS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("ConditionCheckItem", "GetItem", "PutItem", "UpdateItem"),
        operations.RESERVATIONS: ("ConditionCheckItem", "UpdateItem"),
        ASSET_BUCKET: ("DeleteObject", "DeleteObjectVersion", "ListBucket", "ListBucketVersions"),
    },
    "SubscriptionsApi": {
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "GetItem"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
        access.USERS: ("BatchGetItem",),
        registry.SUBSCRIPTIONS: ("DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    },
    "JobsApi": {
        assets.ASSETS: ("BatchGetItem",),
        operations.JOBS: ("BatchGetItem", "GetItem", "QueryIndexes", "UpdateItem"),
        operations.RESERVATIONS: ("GetItem",),
    },
    # It also records its own refusals.
    "AuditApi": {
        operations.AUDIT: ("PutItem", "Query", "QueryIndexes"),
        AUDIT_ARCHIVE_BUCKET: ("GetObject", "ListBucket"),
    },
    "AdminApi": {**SOURCES, **REPLAYS},
    "QueuesApi": {},
    "SearchIndexesApi": {
        assets.ASSETS: ("BatchGetItem",),
        assets.DATABASES: ("GetItem",),
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
    },
}

_FOLLOWING: Requests = {
    assets.ASSETS: ("BatchGetItem", "PutItem", "UpdateItem"),
    assets.ASSET_VERSIONS: ("PutItem",),
    assets.DATABASES: ("ConditionCheckItem", "GetItem", "PutItem"),
    registry.ASSET_BUCKETS: ("Query", "Scan"),
    operations.JOBS: ("GetItem", "UpdateItem"),  # when an archiving checks again
    operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem"),
    ASSET_BUCKET: ("ListBucket",),  # no object is read or written
    FAILURE_BUCKET: ("PutObject",),
}

_OF_WORKERS: Mapping[str, Requests] = {
    "BucketSync": _FOLLOWING,
    "BucketImportWorker": {**_FOLLOWING, **RENEWALS},
    "Quarantine": {
        **KEPT,
        assets.ASSETS: ("BatchGetItem",),
        registry.ASSET_BUCKETS: ("Scan",),
        operations.RESERVATIONS: ("BatchGetItem", "PutItem"),
        ASSET_BUCKET: (),  # only its name is used
    },
    **dict.fromkeys(("Inspect", "InspectCad"), INSPECTS),
    "IndexChanges": {**OF_ROWS, **KEPT_BY_MAPPING, operations.JOBS: ("PutItem",)},
    "IndexObjects": {**SOURCES, **KEPT},
    "IndexSettle": {**SOURCES, **KEPT},
    "IndexFanOut": {**OF_ROWS, **KEPT, operations.JOBS: ("GetItem", "UpdateItem")},
    "SearchWorker": together(
        SOURCES,
        KEPT,
        {
            assets.ASSETS: ("Query", "UpdateItem"),  # of typedFiles
            assets.DATABASES: ("Scan",),
            operations.JOBS: ("GetItem", "UpdateItem"),
        },
    ),
    "AuditCreations": KEPT_BY_MAPPING,
    "AuditArchiver": KEPT_BY_MAPPING,
    "Notifier": {
        **CALLER,
        **KEPT_BY_MAPPING,
        assets.ASSETS: ("BatchGetItem",),
        access.USERS: ("BatchGetItem",),
        registry.SUBSCRIPTIONS: ("BatchGetItem",),
    },
    "JobStarter": KEPT_BY_MAPPING,
    "LifecycleWorker": together(
        FILE_CHANGES,
        KEPT,
        {
            assets.ASSETS: ("ConditionCheckItem", "Query"),
            assets.ASSET_UPLOADS: ("BatchWriteItem", "Query", "QueryIndexes"),
            registry.SUBSCRIPTIONS: ("DeleteItem",),
            operations.RESERVATIONS: ("BatchGetItem", "DeleteItem"),
            ASSET_BUCKET: ("ListBucketMultipartUploads",),
            registry.TAGS: ("GetItem",),
            assets.DATABASES: ("GetItem", "Scan"),
            assets.ARCHIVED_FILES: ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query"),
            assets.ASSET_VERSIONS: ("BatchWriteItem", "PutItem", "Query", "UpdateItem"),
            assets.ASSET_FILE_VERSIONS: (
                *("BatchGetItem", "BatchWriteItem", "GetItem"),
                *("Query", "QueryIndexes"),
            ),
            assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query", "QueryIndexes"),
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
    "PurgeWorker": {
        **KEPT,
        assets.ASSETS: ("BatchGetItem", "DeleteItem", "Query"),
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
    "LargeFileWorker": {
        **BUCKET_RECORD,
        **KEPT,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "UpdateItem"),
        assets.ASSET_UPLOADS: ("Query", "UpdateItem"),
        operations.JOBS: ("GetItem", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
            *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
            *("ListMultipartUploadParts", "PutObject"),
        ),
    },
    "ProcessOutput": OUTPUTS,
    "ReplayFailures": {**SOURCES, **REPLAYS},
    "CheckSearch": {
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
    },
    "SweepTombstones": {operations.SEARCH_STATE: ("GetItem",)},
    "Authorizer": {
        access.API_KEYS: ("BatchGetItem", "QueryIndexes", "UpdateItem"),
        access.USERS: ("BatchGetItem",),
    },
    "Bootstrap": {
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        registry.ASSET_BUCKETS: ("PutItem",),
        registry.FEATURES: ("BatchWriteItem",),
        access.CONSTRAINTS: ("PutItem", "Scan"),
        access.POLICIES: (
            *("BatchGetItem", "ConditionCheckItem", "GetItem"),
            *("PutItem", "UpdateItem"),
        ),
        access.ROLES: ("PutItem",),
        access.USERS: ("PutItem",),
        access.USER_ROLES: ("PutItem",),
        access.API_KEYS: ("GetItem", "PutItem", "UpdateItem"),
        workflows.PIPELINES: (
            *("BatchGetItem", "ConditionCheckItem", "GetItem"),
            *("PutItem", "UpdateItem"),
        ),
        workflows.WORKFLOWS: ("GetItem", "PutItem"),
        ASSET_BUCKET: (),  # only its name is used
    },
}

REQUESTS: Mapping[str, Requests] = {
    **{name: {**CALLER, **requests} for name, requests in {**_OF_API, **OF_WORKFLOWS}.items()},
    **_OF_WORKERS,
    **OF_EXECUTIONS,
}
