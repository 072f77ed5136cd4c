"""The functions of executions.

Their routes, and those that start, end, compare and trigger them.
"""

from dataclasses import replace

from backend.spec import buckets, queues, secrets, settings
from backend.spec.functions.model import Function, api, audited
from backend.spec.tables import access, assets, metadata, operations, registry, workflows

_PROGRESS = (
    workflows.WORKFLOW_EXECUTIONS,
    workflows.ACTIVE_EXECUTIONS,
    operations.RESERVATIONS,
)
"""What the end of an execution writes."""
_AFTER_AN_END = (queues.EXECUTION_STARTS, queues.UPLOAD_TRIGGERS)

EXECUTIONS_API = replace(
    audited(
        api(
            "ExecutionsApi",
            "executions",
            "Executions of workflows: starts, lists, stops and repeats them.",
            reads=(
                assets.ASSETS,
                registry.ASSET_BUCKETS,
                workflows.PIPELINES,
                workflows.WORKFLOWS,
                buckets.ASSET_BUCKET,
            ),
            writes=_PROGRESS,
            secrets=(secrets.PAGE_TOKEN_KEY,),
            settings=(settings.MALWARE_SCAN, settings.PROCESSING),
        )
    ),
    sends=_AFTER_AN_END,
    runs=("stop", "steps"),
)
EXECUTION_STARTER = Function(
    "ExecutionStarter",
    "consumer",
    "backend.entrypoints.streams.execution_starts.handler",
    "Starts waiting executions as the limit of concurrent executions allows.",
    reads=(
        assets.ASSETS,
        registry.ASSET_BUCKETS,
        metadata.ASSET_FILE_METADATA,
        metadata.FILE_ATTRIBUTES,
        metadata.RECORD_SETS,
    ),
    writes=_PROGRESS,
    appends=(buckets.AUXILIARY_BUCKET,),  # metadata that is too large for an execution's input
    sends=_AFTER_AN_END,
    settings=(settings.EXECUTIONS_AT_ONCE,),
    memory_mb=1024,
    timeout_seconds=120,
    loops=True,
    runs=("start", "stop"),
)
EXECUTION_FOLLOWER = Function(
    "ExecutionFollower",
    "consumer",
    "backend.entrypoints.streams.execution_status.handler",
    "Records the status of executions, and releases their reservations.",
    writes=(*_PROGRESS, buckets.FAILURE_BUCKET),
    sends=_AFTER_AN_END,
    timeout_seconds=60,
)
UPLOAD_TRIGGER = audited(
    Function(
        "UploadTrigger",
        "consumer",
        "backend.entrypoints.streams.upload_triggers.handler",
        "Starts the workflows that new versions of files trigger.",
        reads=(
            *access.RIGHTS,
            access.USERS,
            assets.ASSETS,
            assets.DATABASES,
            assets.ASSET_UPLOADS,
            registry.ASSET_BUCKETS,
            workflows.PIPELINES,
            workflows.WORKFLOWS,
            buckets.ASSET_BUCKET,
        ),
        writes=(*_PROGRESS, buckets.FAILURE_BUCKET),
        sends=(queues.EXECUTION_STARTS,),
        settings=(settings.MALWARE_SCAN, settings.PROCESSING),
        memory_mb=1024,
        timeout_seconds=60,
    )
)
RECONCILE_EXECUTIONS = Function(
    "ReconcileExecutions",
    "scheduled",
    "backend.entrypoints.scheduled.reconciliation.handler",
    "Compares executions with Step Functions, and ends those that were interrupted.",
    writes=_PROGRESS,
    sends=_AFTER_AN_END,
    settings=(settings.EXECUTION_SILENCE_SECONDS,),
    timeout_seconds=60,
    runs=("describe",),
)
