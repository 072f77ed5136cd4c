"""The functions of pipelines, workflows and executions: their routes and what runs executions."""

from dataclasses import replace

from backend.spec import queues, secrets, settings
from backend.spec.buckets import ASSET_BUCKET, AUXILIARY_BUCKET
from backend.spec.functions.model import Function, api
from backend.spec.functions.request_parts import (
    AUDITED,
    BUCKET_RECORD,
    CALLER,
    EDITS,
    FACTS,
    KEPT,
    RECORDS,
    STORED_FILES,
    Requests,
)
from backend.spec.tables import access, assets, metadata, operations, registry, workflows

PIPELINES_API = api(
    "PipelinesApi",
    "pipelines",
    "Pipelines, which process files.",
    uses={
        **AUDITED,
        assets.DATABASES: ("ConditionCheckItem",),
        operations.RESERVATIONS: ("UpdateItem",),
        workflows.PIPELINES: (
            *("BatchGetItem", "ConditionCheckItem", "DeleteItem"),
            *("GetItem", "PutItem", "Query", "Scan"),
        ),
        workflows.WORKFLOWS: ("BatchGetItem", "PutItem"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(settings.ALLOWED_PIPELINES,),
)
WORKFLOWS_API = api(
    "WorkflowsApi",
    "workflows",
    "Workflows: sequences of pipelines, and the file types whose upload starts them.",
    uses={
        **AUDITED,
        access.USERS: ("BatchGetItem",),
        assets.DATABASES: ("ConditionCheckItem",),
        operations.RESERVATIONS: ("UpdateItem",),
        workflows.PIPELINES: ("BatchGetItem", "ConditionCheckItem", "UpdateItem"),
        workflows.WORKFLOWS: ("DeleteItem", "GetItem", "PutItem", "Query", "Scan"),
    },
    secrets=(secrets.PAGE_TOKEN_KEY,),
    settings=(settings.PROCESSING,),
)
_ENDS: Requests = {
    **AUDITED,
    # Items are put for the execution that repeats an interrupted one.
    workflows.WORKFLOW_EXECUTIONS: ("GetItem", "PutItem", "UpdateItem"),
    workflows.ACTIVE_EXECUTIONS: ("BatchGetItem", "DeleteItem", "PutItem", "Query"),
    operations.RESERVATIONS: EDITS,
}
"""Requests that record the start and the end of an execution."""
_AFTER_AN_END = (queues.EXECUTION_STARTS, queues.UPLOAD_TRIGGERS)

EXECUTIONS_API = replace(
    api(
        "ExecutionsApi",
        "executions",
        "Executions of workflows: starts, lists, stops and repeats them.",
        uses={
            **AUDITED,
            **BUCKET_RECORD,
            **_ENDS,
            assets.ASSETS: ("GetItem",),
            workflows.PIPELINES: ("BatchGetItem",),
            workflows.WORKFLOWS: ("GetItem",),
            workflows.WORKFLOW_EXECUTIONS: (
                *("GetItem", "PutItem", "Query", "QueryIndexes", "UpdateItem"),
            ),
            operations.RESERVATIONS: (*EDITS, "BatchGetItem"),
            ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
        },
        secrets=(secrets.PAGE_TOKEN_KEY,),
        settings=(settings.MALWARE_SCAN, settings.PROCESSING),
        sends=_AFTER_AN_END,
    ),
    runs=("stop", "steps"),
)
EXECUTION_STARTER = Function(
    "ExecutionStarter",
    "consumer",
    "backend.entrypoints.streams.execution_starts.handler",
    "Starts waiting executions as the limit of concurrent executions allows.",
    uses={
        **BUCKET_RECORD,
        **_ENDS,
        workflows.ACTIVE_EXECUTIONS: (
            *("BatchGetItem", "DeleteItem", "PutItem", "Query", "UpdateItem"),
        ),
        operations.RESERVATIONS: (*EDITS, "BatchGetItem"),
        assets.ASSETS: ("BatchGetItem",),
        metadata.ASSET_FILE_METADATA: ("BatchGetItem", "QueryIndexes"),
        metadata.FILE_ATTRIBUTES: ("BatchGetItem", "QueryIndexes"),
        metadata.RECORD_SETS: ("GetItem",),
        AUXILIARY_BUCKET: ("PutObject",),  # metadata that is too large for an execution's input
    },
    sends=_AFTER_AN_END,
    settings=(settings.EXECUTIONS_AT_ONCE, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
    runs=("start", "stop"),
    acts_for="itself",
)
EXECUTION_FOLLOWER = Function(
    "ExecutionFollower",
    "consumer",
    "backend.entrypoints.streams.execution_status.handler",
    "Records the status of executions, and releases their reservations.",
    uses={**KEPT, **_ENDS},
    sends=_AFTER_AN_END,
    settings=(settings.AUDIT_DAYS,),
    timeout_seconds=60,
    acts_for="itself",
)
UPLOAD_TRIGGER = Function(
    "UploadTrigger",
    "consumer",
    "backend.entrypoints.streams.upload_triggers.handler",
    "Starts the workflows that new versions of files trigger; stores why inspections failed.",
    uses={
        **AUDITED,
        **CALLER,
        **KEPT,
        **FACTS,
        access.USERS: ("BatchGetItem",),
        assets.ASSETS: ("BatchGetItem",),
        assets.DATABASES: ("GetItem",),
        assets.ASSET_UPLOADS: ("Query",),
        registry.ASSET_BUCKETS: ("Query", "Scan"),
        workflows.PIPELINES: ("BatchGetItem",),
        workflows.WORKFLOWS: ("Query",),
        workflows.WORKFLOW_EXECUTIONS: ("PutItem",),
        workflows.ACTIVE_EXECUTIONS: ("PutItem",),
        operations.RESERVATIONS: ("BatchGetItem", "GetItem", "PutItem", "UpdateItem"),
        ASSET_BUCKET: ("GetObject", "ListBucket", "ListBucketVersions"),
    },
    sends=(queues.EXECUTION_STARTS,),
    settings=(settings.MALWARE_SCAN, settings.PROCESSING, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=60,
    acts_for="itself",
)
RECONCILE_EXECUTIONS = Function(
    "ReconcileExecutions",
    "scheduled",
    "backend.entrypoints.scheduled.reconciliation.handler",
    "Compares executions with Step Functions, and ends those that were interrupted.",
    uses=_ENDS,
    sends=_AFTER_AN_END,
    settings=(settings.EXECUTION_SILENCE_SECONDS, settings.AUDIT_DAYS),
    timeout_seconds=60,
    runs=("describe",),
    acts_for="itself",
)
PROCESS_OUTPUT = Function(
    "ProcessOutput",
    "output",
    "backend.entrypoints.pipelines.process_output.handler",
    "Stores the outputs of executions: files, previews and metadata, facts and GLBs.",
    uses={
        **AUDITED,
        **CALLER,
        **BUCKET_RECORD,
        **RECORDS,
        **STORED_FILES,
        assets.FILE_VERSION_HISTORY: ("BatchWriteItem",),
        assets.ASSETS: ("BatchGetItem", "GetItem", "UpdateItem"),
        assets.DATABASES: ("GetItem",),
        operations.RESERVATIONS: ("BatchGetItem", "ConditionCheckItem", "GetItem", "UpdateItem"),
        workflows.WORKFLOW_EXECUTIONS: ("GetItem", "UpdateItem"),
        AUXILIARY_BUCKET: ("DeleteObject", "GetObject", "ListBucket", "PutObject"),
    },
    settings=(settings.LARGE_FILE_BYTES, settings.MALWARE_SCAN, settings.AUDIT_DAYS),
    memory_mb=1024,
    timeout_seconds=120,
    acts_for="both",
)
