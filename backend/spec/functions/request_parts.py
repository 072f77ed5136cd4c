"""Requests to tables and buckets that several functions make."""

from collections.abc import Mapping

from backend.spec.buckets import (
    ASSET_BUCKET,
    AUDIT_ARCHIVE_BUCKET,
    AUXILIARY_BUCKET,
    FAILURE_BUCKET,
    Bucket,
)
from backend.spec.requests import Request, TableRequest
from backend.spec.tables import access, assets, metadata, operations, registry
from backend.spec.tables.model import Table

Requests = Mapping[Table | Bucket, tuple[Request, ...]]

EDITS: tuple[TableRequest, ...] = ("DeleteItem", "GetItem", "PutItem", "UpdateItem")
"""Requests of routes that read and write single rows."""
CALLER: Requests = {
    access.USER_ROLES: ("Query",),
    access.ROLES: ("BatchGetItem",),
    access.POLICIES: ("BatchGetItem", "GetItem"),
}
"""Requests that read the caller's roles and rules, for the permission checks."""
AUDITED: Requests = {operations.AUDIT: ("PutItem",), AUDIT_ARCHIVE_BUCKET: ("PutObject",)}
"""Requests that write an audit entry: a changed value of more than 4 KB is stored as an object."""
BUCKET_RECORD: Requests = {registry.ASSET_BUCKETS: ("Query",)}
GOVERNED: Requests = {
    metadata.SCHEMA_SCOPES: ("BatchGetItem",),
    metadata.METADATA_SCHEMAS: ("BatchGetItem",),
    metadata.RECORD_SETS: ("GetItem", "UpdateItem"),
}
"""Requests that apply the metadata schemas in force, for writes of records of any entity."""
RECORDS: Requests = {
    **GOVERNED,
    metadata.ASSET_FILE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
}
FACTS: Requests = {
    metadata.RECORD_SETS: ("GetItem", "UpdateItem"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem"),
}
"""Requests that replace the facts of a file; no schema applies to them."""
SOURCES: Requests = {
    assets.ASSETS: ("BatchGetItem",),
    metadata.ASSET_FILE_METADATA: ("QueryIndexes",),
    metadata.FILE_ATTRIBUTES: ("QueryIndexes",),
    registry.ASSET_BUCKETS: ("Scan",),
    operations.RESERVATIONS: ("BatchGetItem",),
    operations.SEARCH_STATE: ("GetItem", "PutItem", "UpdateItem"),
    ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
}
OF_ROWS: Requests = {**SOURCES, operations.RESERVATIONS: ()}
"""Requests that rebuild documents after changes of rows. Only objects require a look-up of the
asset that owns them."""
REPLAYS: Requests = {
    operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
    FAILURE_BUCKET: ("DeleteObject", "GetObject", "ListBucket", "PutObject"),
}
"""Requests of replays besides those of the documents: the failure entries, and the jobs that
consumers start."""
KEPT: Requests = {FAILURE_BUCKET: ("PutObject",)}
# The destination of a stream's mapping: Lambda checks that the bucket exists.
KEPT_BY_MAPPING: Requests = {FAILURE_BUCKET: ("ListBucket", "PutObject")}

VERSIONS: Requests = {
    metadata.ASSET_FILE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.RECORD_SETS: ("GetItem", "Query", "UpdateItem"),
    assets.ASSET_FILE_VERSIONS: ("BatchGetItem", "BatchWriteItem", "GetItem", "Query"),
    assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query"),
    assets.FILE_VERSION_HISTORY: ("BatchWriteItem",),
}
"""Requests that create an asset version, besides those of its own row."""

STORED_FILES: Requests = {
    assets.FILE_VERSION_HISTORY: ("BatchWriteItem", "PutItem"),
    ASSET_BUCKET: (
        *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
        *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
        *("ListMultipartUploadParts", "PutObject"),
    ),
}
"""Requests that store files of any size, and record their origins."""
FILE_CHANGES: Requests = {
    **BUCKET_RECORD,
    **RECORDS,
    metadata.RECORD_SETS: ("BatchGetItem", "GetItem", "UpdateItem"),
    assets.ASSETS: ("BatchGetItem", "UpdateItem"),
    assets.ASSET_VERSIONS: ("Query",),
    assets.ASSET_FILE_VERSIONS: ("Query",),
    assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query"),
    assets.FILE_VERSION_HISTORY: ("BatchWriteItem",),
    operations.JOBS: ("ConditionCheckItem", "GetItem", "UpdateItem"),
    operations.RESERVATIONS: ("BatchGetItem", "ConditionCheckItem", "GetItem", "UpdateItem"),
    ASSET_BUCKET: (*STORED_FILES[ASSET_BUCKET], "GetObjectVersionTagging", "PutObjectTagging"),
    AUXILIARY_BUCKET: (
        # The last one if a version has no GLB: the old versions of a missing key are listed.
        *("DeleteObject", "GetObject", "ListBucket", "ListBucketVersions"),
        "PutObject",
    ),
}
"""Requests of the job steps that change files."""


def combined_requests(*parts: Requests) -> Requests:
    """Return all requests of several tasks of one function."""
    combined: dict[Table | Bucket, set[Request]] = {}
    for part in parts:
        for resource, requests in part.items():
            combined.setdefault(resource, set()).update(requests)
    return {resource: tuple(sorted(requests)) for resource, requests in combined.items()}
