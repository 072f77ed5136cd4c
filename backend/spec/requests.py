"""The requests that a function makes to a table or a bucket, named as IAM names their actions.

`Query` applies to the table itself, `QueryIndexes` to its indexes. Grants derive from these.
"""

from typing import Literal

TableRequest = Literal[
    "BatchGetItem",
    "BatchWriteItem",
    "ConditionCheckItem",
    "DeleteItem",
    "GetItem",
    "PutItem",
    "Query",
    "QueryIndexes",
    "Scan",
    "UpdateItem",
]
BucketRequest = Literal[
    "AbortMultipartUpload",
    "DeleteObject",
    "DeleteObjectVersion",
    "GetBucketVersioning",
    "GetObject",
    "GetObjectVersion",
    "GetObjectVersionTagging",
    "ListBucket",
    "ListBucketMultipartUploads",
    "ListBucketVersions",
    "ListMultipartUploadParts",
    "PutObject",
    "PutObjectTagging",
]
Request = TableRequest | BucketRequest

TABLE_WRITES: tuple[TableRequest, ...] = ("BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem")

OF_BUCKETS: tuple[BucketRequest, ...] = (
    "GetBucketVersioning",
    "ListBucket",
    "ListBucketMultipartUploads",
    "ListBucketVersions",
)
"""Requests that are granted on a bucket; all others are granted on its objects."""
BUCKET_WRITES: tuple[BucketRequest, ...] = (
    "AbortMultipartUpload",
    "DeleteObject",
    "DeleteObjectVersion",
    "ListBucketMultipartUploads",
    "ListMultipartUploadParts",
    "PutObject",
    "PutObjectTagging",
)
