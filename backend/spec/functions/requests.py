"""Which requests each function makes to its tables and buckets: its grants, to the letter.

For a table or bucket that is missing here a function may do all that its declaration says.
`up --record-grants FILE` and `local grants FILE` tell what nothing uses; what is missing, the local
runtime refuses. Every function of the API reads the caller's rights, every rebuild of documents the
same sources.
"""

from collections.abc import Mapping

from backend.spec.buckets import (
    ASSET_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
    AUXILIARY_BUCKET,
    FAILURE_BUCKET,
    Bucket,
)
from backend.spec.requests import Request
from backend.spec.tables import access, assets, metadata, operations, registry, workflows
from backend.spec.tables.model import Table

Requests = Mapping[Table | Bucket, tuple[Request, ...]]

_CALLER: Requests = {
    access.USER_ROLES: ("Query",),
    access.ROLES: ("BatchGetItem",),
    access.POLICIES: ("BatchGetItem", "GetItem"),
}
"""What deciding takes of who the caller is."""
_BUCKET_RECORD: Requests = {registry.ASSET_BUCKETS: ("Query",)}
_GOVERNED: Requests = {
    metadata.SCHEMA_SCOPES: ("BatchGetItem",),
    metadata.METADATA_SCHEMAS: ("BatchGetItem",),
    metadata.RECORD_SETS: ("GetItem", "UpdateItem"),
}
"""What writing records of any entity takes beside their table, as schemas are in force."""
_RECORDS: Requests = {
    **_GOVERNED,
    metadata.ASSET_FILE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
}
_SOURCES: Requests = {
    assets.ASSETS: ("BatchGetItem",),
    metadata.ASSET_FILE_METADATA: ("QueryIndexes",),
    metadata.FILE_ATTRIBUTES: ("QueryIndexes",),
    registry.ASSET_BUCKETS: ("Scan",),
    operations.RESERVATIONS: ("BatchGetItem",),
    operations.SEARCH_STATE: ("GetItem", "PutItem", "UpdateItem"),
    ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
}
_OF_ROWS: Requests = {**_SOURCES, operations.RESERVATIONS: ()}
"""Where it is rows that changed: whose an object is has to be asked only of objects."""
_REPLAYS: Requests = {
    operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
    FAILURE_BUCKET: ("DeleteObject", "GetObject", "ListBucket", "PutObject"),
}
"""What replaying takes beside documents: the entries, and the jobs of the consumers' own."""
_KEPT: Requests = {FAILURE_BUCKET: ("PutObject",)}
_KEPT_BY_MAPPING: Requests = {FAILURE_BUCKET: ("ListBucket", "PutObject")}
"""The destination of a stream's mapping: Lambda looks whether it is there."""

_VERSIONS: Requests = {
    metadata.ASSET_FILE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.RECORD_SETS: ("GetItem", "Query", "UpdateItem"),
    assets.ASSET_FILE_VERSIONS: ("BatchGetItem", "BatchWriteItem", "GetItem", "Query"),
    assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query"),
}
"""What making a version takes beside its own row."""

_FILE_CHANGES: Requests = {
    **_BUCKET_RECORD,
    **_RECORDS,
    assets.ASSETS: ("BatchGetItem", "UpdateItem"),
    assets.ASSET_VERSIONS: ("Query",),
    assets.ASSET_FILE_VERSIONS: ("BatchWriteItem", "Query"),
    assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query"),
    operations.JOBS: ("GetItem", "UpdateItem"),
    operations.RESERVATIONS: ("GetItem", "UpdateItem"),
    ASSET_BUCKET: (
        *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
        *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
        *("ListMultipartUploadParts", "PutObject"),
    ),
    AUXILIARY_BUCKET: ("DeleteObject", "GetObject", "ListBucket", "PutObject"),
}
"""What the steps make that change files."""


def _together(*parts: Requests) -> Requests:
    """All requests of several tasks of one function."""
    found: dict[Table | Bucket, set[Request]] = {}
    for part in parts:
        for resource, requests in part.items():
            found.setdefault(resource, set()).update(requests)
    return {resource: tuple(sorted(requests)) for resource, requests in found.items()}


_OF_API: Mapping[str, Requests] = {
    "ConfigurationApi": {registry.FEATURES: ("Scan",)},
    "AccessApi": {
        access.USER_ROLES: (
            *("ConditionCheckItem", "DeleteItem", "GetItem"),
            *("PutItem", "Query", "Scan"),
        ),
        access.API_KEYS: ("DeleteItem", "GetItem", "PutItem", "Scan", "UpdateItem"),
        access.CONSTRAINTS: ("DeleteItem", "PutItem", "Scan"),
        access.POLICIES: ("BatchGetItem", "DeleteItem", "GetItem", "PutItem", "UpdateItem"),
        access.ROLES: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Scan", "UpdateItem"),
        ),
        access.USERS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("PutItem",),
    },
    "BucketsApi": {
        registry.ASSET_BUCKETS: ("PutItem", "Scan"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
        ASSET_BUCKET: ("GetBucketVersioning", "ListBucket"),
    },
    "BucketSyncApi": {
        **_BUCKET_RECORD,
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("GetItem", "UpdateItem"),
    },
    "DatabasesApi": {
        **_BUCKET_RECORD,
        assets.DATABASES: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Scan", "UpdateItem"),
        ),
        operations.RESERVATIONS: ("BatchGetItem", "DeleteItem", "PutItem"),
    },
    "TagsApi": {
        registry.TAGS: ("DeleteItem", "GetItem", "PutItem", "Scan", "UpdateItem"),
        registry.TAG_TYPES: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Scan", "UpdateItem"),
        ),
        operations.JOBS: ("PutItem",),
    },
    "AssetsApi": {
        **_BUCKET_RECORD,
        assets.DATABASES: ("GetItem", "Scan"),
        registry.TAGS: ("BatchGetItem",),
        registry.TAG_TYPES: ("Scan",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "PutItem", "Query", "UpdateItem"),
        assets.ASSET_VERSIONS: ("PutItem",),
        operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: ("ListBucket",),
    },
    "FilesApi": _together(
        _FILE_CHANGES,
        {
            assets.ASSETS: ("ConditionCheckItem", "GetItem"),
            assets.ASSET_VERSIONS: ("GetItem",),
            assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
            assets.DATABASES: ("GetItem",),
            operations.JOBS: ("PutItem",),
        },
    ),
    "DownloadsApi": {
        **_BUCKET_RECORD,
        assets.ASSETS: ("GetItem",),
        assets.ASSET_VERSIONS: ("GetItem",),
        assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
        AUXILIARY_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    "UploadsApi": {
        **_BUCKET_RECORD,
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("UpdateItem",),
        assets.ASSET_UPLOADS: ("BatchWriteItem", "DeleteItem", "PutItem", "Query", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
            *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
            *("ListMultipartUploadParts", "PutObject"),
        ),
    },
    "IngestApi": {
        **_BUCKET_RECORD,
        registry.TAGS: ("BatchGetItem",),
        registry.TAG_TYPES: ("Scan",),
        assets.DATABASES: ("GetItem",),
        assets.ASSETS: ("GetItem", "PutItem", "UpdateItem"),
        assets.ASSET_VERSIONS: ("PutItem",),
        operations.JOBS: ("GetItem", "PutItem"),
        operations.RESERVATIONS: ("PutItem", "UpdateItem"),
        assets.ASSET_UPLOADS: ("BatchWriteItem", "PutItem", "Query", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
            *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
            *("ListMultipartUploadParts", "PutObject"),
        ),
    },
    "MetadataApi": {
        assets.ASSETS: ("GetItem",),
        **_BUCKET_RECORD,
        assets.DATABASES: ("GetItem",),
        assets.ASSET_VERSIONS: ("GetItem",),
        assets.ASSET_FILE_METADATA_VERSIONS: ("Query",),
        **_RECORDS,
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
        **_GOVERNED,
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
        **_BUCKET_RECORD,
        **_VERSIONS,
        assets.ASSETS: ("BatchGetItem", "GetItem", "UpdateItem"),
        assets.ASSET_VERSIONS: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "Query", "UpdateItem"),
        ),
        operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: (
            *("AbortMultipartUpload", "GetObject", "GetObjectVersion", "ListBucket"),
            *("ListBucketVersions", "ListMultipartUploadParts", "PutObject"),
        ),
    },
    "ExportsApi": {
        assets.ASSETS: ("BatchGetItem", "GetItem"),
        **_BUCKET_RECORD,
        assets.ASSET_LINK_EDGES: ("Query",),
        assets.ASSET_LINKS_METADATA: ("Query",),
        assets.ASSET_FILE_VERSIONS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("QueryIndexes",),
        metadata.FILE_ATTRIBUTES: ("QueryIndexes",),
        ASSET_BUCKET: ("GetObject", "GetObjectVersion", "ListBucket", "ListBucketVersions"),
    },
    "SearchApi": {
        operations.SEARCH_STATE: ("GetItem",),
        assets.ASSETS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("BatchGetItem", "QueryIndexes"),
        metadata.FILE_ATTRIBUTES: ("BatchGetItem", "QueryIndexes"),
        metadata.RECORD_SETS: ("GetItem",),
        registry.ASSET_BUCKETS: ("Scan",),
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
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
        **_BUCKET_RECORD,
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "DeleteItem", "PutItem"),
        assets.ARCHIVED_FILES: ("DeleteItem", "GetItem", "PutItem", "Query"),
        assets.ASSET_VERSIONS: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
        operations.RESERVATIONS: ("ConditionCheckItem", "UpdateItem"),
        ASSET_BUCKET: ("DeleteObject", "DeleteObjectVersion", "ListBucket", "ListBucketVersions"),
    },
    "SubscriptionsApi": {
        assets.ASSETS: ("BatchGetItem", "ConditionCheckItem", "GetItem"),
        operations.RESERVATIONS: ("GetItem",),
        access.USERS: ("BatchGetItem",),
        registry.SUBSCRIPTIONS: ("DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"),
    },
    "JobsApi": {
        assets.ASSETS: ("BatchGetItem",),
        operations.JOBS: ("GetItem", "UpdateItem"),
        operations.RESERVATIONS: ("GetItem",),
    },
    # It enters what it refuses itself, beside what it reads.
    "AuditApi": {
        operations.AUDIT: ("PutItem", "Query", "QueryIndexes"),
        AUDIT_ARCHIVE_BUCKET: ("GetObject", "ListBucket"),
    },
    "AdminApi": {**_SOURCES, **_REPLAYS},
    "QueuesApi": {},
    "SearchIndexesApi": {
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
    },
}

_FOLLOWING: Requests = {
    assets.ASSETS: ("BatchGetItem", "PutItem", "UpdateItem"),
    assets.ASSET_VERSIONS: ("PutItem",),
    assets.DATABASES: ("GetItem", "PutItem"),
    registry.ASSET_BUCKETS: ("Query", "Scan"),
    operations.RESERVATIONS: ("BatchGetItem", "PutItem", "UpdateItem"),
    ASSET_BUCKET: ("ListBucket",),  # no object is read, and none can be written
    FAILURE_BUCKET: ("PutObject",),
}

_OF_WORKERS: Mapping[str, Requests] = {
    "BucketSync": _FOLLOWING,
    "BucketImportWorker": {**_FOLLOWING, operations.JOBS: ("GetItem", "UpdateItem")},
    "IndexChanges": {**_OF_ROWS, **_KEPT_BY_MAPPING, operations.JOBS: ("PutItem",)},
    "IndexObjects": {**_SOURCES, **_KEPT},
    "IndexSettle": {**_SOURCES, **_KEPT},
    "IndexFanOut": {**_OF_ROWS, **_KEPT, operations.JOBS: ("GetItem", "UpdateItem")},
    "SearchWorker": _together(
        _SOURCES,
        _KEPT,
        {
            assets.ASSETS: ("Query",),
            assets.DATABASES: ("Scan",),
            operations.JOBS: ("GetItem", "UpdateItem"),
        },
    ),
    "AuditCreations": _KEPT_BY_MAPPING,
    "AuditArchiver": _KEPT_BY_MAPPING,
    "Notifier": {
        **_CALLER,
        **_KEPT_BY_MAPPING,
        assets.ASSETS: ("BatchGetItem",),
        access.USERS: ("BatchGetItem",),
        registry.SUBSCRIPTIONS: ("BatchGetItem",),
    },
    "JobStarter": _KEPT_BY_MAPPING,
    "LifecycleWorker": _together(
        _FILE_CHANGES,
        _KEPT,
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
    "LargeFileWorker": {
        **_BUCKET_RECORD,
        **_KEPT,
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
    "ReplayFailures": {**_SOURCES, **_REPLAYS},
    "CheckSearch": {
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        operations.JOBS: ("GetItem", "PutItem"),
    },
    "SweepTombstones": {operations.SEARCH_STATE: ("GetItem",)},
    "Authorizer": {access.API_KEYS: ("GetItem", "QueryIndexes", "UpdateItem")},
    "Bootstrap": {
        operations.SEARCH_STATE: ("GetItem", "UpdateItem"),
        registry.ASSET_BUCKETS: ("PutItem",),
        registry.FEATURES: ("BatchWriteItem",),
        access.CONSTRAINTS: ("PutItem",),
        access.POLICIES: ("BatchGetItem", "PutItem", "UpdateItem"),
        access.ROLES: ("PutItem",),
        access.USERS: ("PutItem",),
        access.USER_ROLES: ("PutItem",),
        access.API_KEYS: ("GetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: (),  # its name is all that is needed
    },
}

REQUESTS: Mapping[str, Requests] = {
    **{name: {**_CALLER, **requests} for name, requests in _OF_API.items()},
    **_OF_WORKERS,
}
