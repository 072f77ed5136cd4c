"""The function that stores what the pipelines of executions wrote."""

from backend.spec import buckets, settings
from backend.spec.functions.model import Function, audited
from backend.spec.tables import access, assets, metadata, operations, registry, workflows

PROCESS_OUTPUT = audited(
    Function(
        "ProcessOutput",
        "output",
        "backend.entrypoints.pipelines.process_output.handler",
        "Stores the outputs of executions: files, previews and metadata, facts and GLBs.",
        reads=(
            *access.RIGHTS,
            assets.DATABASES,
            metadata.METADATA_SCHEMAS,
            metadata.SCHEMA_SCOPES,
            registry.ASSET_BUCKETS,
        ),
        writes=(
            assets.ASSETS,
            metadata.ASSET_FILE_METADATA,
            metadata.FILE_ATTRIBUTES,
            metadata.RECORD_SETS,
            operations.RESERVATIONS,
            workflows.WORKFLOW_EXECUTIONS,
            buckets.ASSET_BUCKET,
            buckets.AUXILIARY_BUCKET,
        ),
        settings=(settings.LARGE_FILE_BYTES, settings.MALWARE_SCAN),
        memory_mb=1024,
        timeout_seconds=120,
    )
)
