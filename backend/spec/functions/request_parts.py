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
"""What the routes of single rows take."""
CALLER: Requests = {
    access.USER_ROLES: ("Query",),
    access.ROLES: ("BatchGetItem",),
    access.POLICIES: ("BatchGetItem", "GetItem"),
}
"""What deciding takes of who the caller is."""
AUDITED: Requests = {operations.AUDIT: ("PutItem",), AUDIT_ARCHIVE_BUCKET: ("PutObject",)}
"""What recording a write in the audit log takes: a changed value of more than 4 KB is an object."""
BUCKET_RECORD: Requests = {registry.ASSET_BUCKETS: ("Query",)}
GOVERNED: Requests = {
    metadata.SCHEMA_SCOPES: ("BatchGetItem",),
    metadata.METADATA_SCHEMAS: ("BatchGetItem",),
    metadata.RECORD_SETS: ("GetItem", "UpdateItem"),
}
"""What writing records of any entity takes beside their table, as schemas are in force."""
RECORDS: Requests = {
    **GOVERNED,
    metadata.ASSET_FILE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
}
FACTS: Requests = {
    metadata.RECORD_SETS: ("GetItem", "UpdateItem"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem"),
}
"""What replacing the facts of a file takes; no schema applies to them."""
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
"""Where it is rows that changed: whose an object is has to be asked only of objects."""
REPLAYS: Requests = {
    operations.JOBS: ("GetItem", "PutItem", "UpdateItem"),
    FAILURE_BUCKET: ("DeleteObject", "GetObject", "ListBucket", "PutObject"),
}
"""What replaying takes beside documents: the entries, and the jobs of the consumers' own."""
KEPT: Requests = {FAILURE_BUCKET: ("PutObject",)}
KEPT_BY_MAPPING: Requests = {FAILURE_BUCKET: ("ListBucket", "PutObject")}
"""The destination of a stream's mapping: Lambda looks whether it is there."""

VERSIONS: Requests = {
    metadata.ASSET_FILE_METADATA: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "DeleteItem", "PutItem", "QueryIndexes"),
    metadata.RECORD_SETS: ("GetItem", "Query", "UpdateItem"),
    assets.ASSET_FILE_VERSIONS: ("BatchGetItem", "BatchWriteItem", "GetItem", "Query"),
    assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query"),
}
"""What making a version takes beside its own row."""

STORED_FILES: Requests = {
    ASSET_BUCKET: (
        *("AbortMultipartUpload", "DeleteObject", "DeleteObjectVersion", "GetObject"),
        *("GetObjectVersion", "ListBucket", "ListBucketVersions"),
        *("ListMultipartUploadParts", "PutObject"),
    ),
}
"""What storing files of any size takes."""
FILE_CHANGES: Requests = {
    **BUCKET_RECORD,
    **RECORDS,
    assets.ASSETS: ("BatchGetItem", "UpdateItem"),
    assets.ASSET_VERSIONS: ("Query", "UpdateItem"),
    assets.ASSET_FILE_VERSIONS: ("DeleteItem", "Query"),
    assets.ASSET_FILE_METADATA_VERSIONS: ("BatchWriteItem", "Query"),
    operations.JOBS: ("GetItem", "UpdateItem"),
    operations.RESERVATIONS: ("BatchGetItem", "ConditionCheckItem", "GetItem", "UpdateItem"),
    ASSET_BUCKET: (*STORED_FILES[ASSET_BUCKET], "GetObjectVersionTagging", "PutObjectTagging"),
    AUXILIARY_BUCKET: (
        # The last one if a version has no GLB: the old versions of a missing key are listed.
        *("DeleteObject", "GetObject", "ListBucket", "ListBucketVersions"),
        "PutObject",
    ),
}
"""What the steps make that change files."""


def together(*parts: Requests) -> Requests:
    """Return all requests of several tasks of one function."""
    found: dict[Table | Bucket, set[Request]] = {}
    for part in parts:
        for resource, requests in part.items():
            found.setdefault(resource, set()).update(requests)
    return {resource: tuple(sorted(requests)) for resource, requests in found.items()}
