"""The requests that the functions of pipelines, workflows and executions make, as in `requests`."""

from collections.abc import Mapping

from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.request_parts import BUCKET_RECORD, CALLER, KEPT, Requests
from backend.spec.tables import access, assets, metadata, operations, registry, workflows

RENEWALS: Requests = {
    metadata.FILE_ATTRIBUTES: ("BatchGetItem", "Query"),
    workflows.ACTIVE_EXECUTIONS: ("Query",),
    workflows.WORKFLOW_EXECUTIONS: ("BatchGetItem", "QueryIndexes"),
    # The current version of a file whose inspection failed; no object is read.
    ASSET_BUCKET: ("ListBucket", "ListBucketVersions"),
}
"""Of the job that has files inspected again."""

OF_WORKFLOWS: Mapping[str, Requests] = {
    "PipelinesApi": {
        assets.DATABASES: ("ConditionCheckItem",),
        operations.RESERVATIONS: ("UpdateItem",),
        workflows.PIPELINES: (
            *("BatchGetItem", "ConditionCheckItem", "DeleteItem"),
            *("GetItem", "PutItem", "Query", "Scan"),
        ),
        workflows.WORKFLOWS: ("BatchGetItem", "PutItem"),
    },
    "WorkflowsApi": {
        access.USERS: ("BatchGetItem",),
        assets.DATABASES: ("ConditionCheckItem",),
        operations.RESERVATIONS: ("UpdateItem",),
        workflows.PIPELINES: ("BatchGetItem", "ConditionCheckItem", "UpdateItem"),
        workflows.WORKFLOWS: ("DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
    },
}

_ENDS: Requests = {
    workflows.WORKFLOW_EXECUTIONS: ("GetItem", "UpdateItem"),
    workflows.ACTIVE_EXECUTIONS: ("BatchGetItem", "DeleteItem", "Query"),
    operations.RESERVATIONS: ("DeleteItem", "GetItem", "UpdateItem"),
}
"""What noting the start and the end of an execution takes."""

OF_EXECUTIONS: Mapping[str, Requests] = {
    "ExecutionsApi": {
        **CALLER,
        **BUCKET_RECORD,
        **_ENDS,
        assets.ASSETS: ("GetItem",),
        workflows.PIPELINES: ("BatchGetItem",),
        workflows.WORKFLOWS: ("GetItem",),
        workflows.WORKFLOW_EXECUTIONS: (
            *("GetItem", "PutItem", "Query"),
            *("QueryIndexes", "UpdateItem"),
        ),
        workflows.ACTIVE_EXECUTIONS: ("BatchGetItem", "DeleteItem", "PutItem", "Query"),
        operations.RESERVATIONS: (
            *("BatchGetItem", "DeleteItem", "GetItem"),
            *("PutItem", "UpdateItem"),
        ),
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    "ExecutionStarter": {
        **BUCKET_RECORD,
        **_ENDS,
        workflows.ACTIVE_EXECUTIONS: (
            *("BatchGetItem", "DeleteItem", "PutItem"),
            *("Query", "UpdateItem"),
        ),
        operations.RESERVATIONS: ("BatchGetItem", "DeleteItem", "GetItem", "UpdateItem"),
        assets.ASSETS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("BatchGetItem", "QueryIndexes"),
        metadata.FILE_ATTRIBUTES: ("BatchGetItem", "QueryIndexes"),
        metadata.RECORD_SETS: ("GetItem",),
        AUXILIARY_BUCKET: ("PutObject",),
    },
    "ExecutionFollower": {**KEPT, **_ENDS},
    "ReconcileExecutions": _ENDS,
    "UploadTrigger": {
        **CALLER,
        **KEPT,
        access.USERS: ("BatchGetItem",),
        assets.ASSETS: ("BatchGetItem",),
        assets.DATABASES: ("GetItem",),
        assets.ASSET_UPLOADS: ("Query",),
        registry.ASSET_BUCKETS: ("Scan",),
        workflows.PIPELINES: ("BatchGetItem",),
        workflows.WORKFLOWS: ("Query",),
        workflows.WORKFLOW_EXECUTIONS: ("PutItem",),
        workflows.ACTIVE_EXECUTIONS: ("PutItem",),
        operations.RESERVATIONS: ("BatchGetItem", "GetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
}
