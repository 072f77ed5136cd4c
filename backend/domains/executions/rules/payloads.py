"""The input of the pipelines of an execution, with the field names of VAMS. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from backend.core.runs import PipelineTask, TaskKind
from backend.domains.executions.models import Execution, PipelineSnapshot
from backend.spec.key_layouts import auxiliary_folder, run_folder
from backend.values import frozen

# More is an object that the payload names: Lambda, SQS and EventBridge accept 256 KiB with
# everything else in it.
MAX_METADATA_BYTES = 200 * 1024
# Size of an execution's input. Step Functions allows 256 KiB including the enclosing JSON.
MAX_INPUT_BYTES = 240 * 1024
METADATA_OBJECT = "inputMetadata.json"
"""The object in the folder of a run with metadata that is too large for the input."""


def output_folder(execution_id: str, number: int) -> str:
    """Return the folder in which the nth pipeline of an execution writes."""
    return f"{run_folder(execution_id)}{number}/"


@frozen
class RunPlace:
    """The places that a run reads and writes.

    The asset's bucket and prefix, and the bucket of runs.
    """

    bucket: str
    prefix: str
    auxiliary_bucket: str


def shared_fields(execution: Execution, place: RunPlace) -> dict[str, Any]:
    """Return the common input of all pipelines of a run, without its metadata.

    The names are those of VAMS; `executionId`, `inputS3VersionId` and `inputRelativePath` are ours.
    No field holds credentials.
    """
    key = execution.input_asset_file_key
    return {
        "bucketAsset": place.bucket,
        "bucketAssetAuxiliary": place.auxiliary_bucket,
        "inputAssetFileKey": key or place.prefix,
        "inputAssetLocationKey": place.prefix,
        "databaseId": execution.database_id,
        "assetId": execution.asset_id,
        "workflowDatabaseId": execution.workflow_database_id,
        "workflowId": execution.workflow_id,
        "executingUserName": execution.started_by,
        "executingRequestContext": {"userId": execution.started_by, "trigger": execution.trigger},
        "executionId": execution.execution_id,
        "inputS3VersionId": execution.input_version_id,
        "inputRelativePath": f"/{key.removeprefix(place.prefix)}" if key else "",
    }


def pipeline_tasks(execution: Execution, place: RunPlace) -> list[PipelineTask]:
    """Return the tasks of a run.

    The input of each is that of the run: the state machine replaces it by what an earlier pipeline
    wrote.
    """
    return [
        _task(execution, place, number, pipeline)
        for number, pipeline in enumerate(execution.pipelines, start=1)
    ]


def _task(
    execution: Execution, place: RunPlace, number: int, pipeline: PipelineSnapshot
) -> PipelineTask:
    key = execution.input_asset_file_key or place.prefix
    folder = auxiliary_folder(execution.asset_id, key.removeprefix(place.prefix))
    bucket = f"s3://{place.auxiliary_bucket}/"
    of_type = "preview" if pipeline.pipeline_type == "previewFile" else "pipelines"
    output = f"{bucket}{output_folder(execution.execution_id, number)}"
    message = {
        "inputS3AssetFilePath": f"s3://{place.bucket}/{key}",
        "outputS3AssetFilesPath": f"{output}files/",
        "outputS3AssetPreviewPath": f"{output}previews/",
        "outputS3AssetMetadataPath": f"{output}metadata/",
        "inputOutputS3AssetAuxiliaryFilesPath": (
            f"{bucket}{folder}{of_type}/{pipeline.pipeline_id}/"
        ),
        "outputType": pipeline.output_type,
        "inputParameters": pipeline.input_parameters,
    }
    return PipelineTask(
        kind=task_kind(pipeline),
        resource=pipeline.resource,
        message=message,
        timeout=pipeline.task_timeout,
        heartbeat=pipeline.task_heartbeat_timeout,
        source=pipeline.source,
        detail_type=pipeline.detail_type,
    )


_KINDS: Mapping[str, tuple[TaskKind, TaskKind]] = {
    "Lambda": ("Lambda", "LambdaCallback"),
    "SQS": ("SQS", "SQSCallback"),
    "EventBridge": ("EventBridge", "EventBridgeCallback"),
}


def task_kind(pipeline: PipelineSnapshot) -> TaskKind:
    """Return how the state machine calls a pipeline, and whether it waits for a callback."""
    return _KINDS[pipeline.pipeline_execution_type][pipeline.wait_for_callback]


def fits_into_input(
    metadata: str, pipelines: Sequence[PipelineTask], shared: Mapping[str, Any]
) -> bool:
    """Return whether the metadata of a run may be part of its input."""
    size = len(metadata.encode())
    rest = json.dumps([[task.message for task in pipelines], shared], ensure_ascii=False)
    # In the input the metadata is a text within JSON: its quotes are escaped there.
    return size <= MAX_METADATA_BYTES and (
        len(json.dumps(metadata, ensure_ascii=False).encode()) + len(rest.encode())
        <= MAX_INPUT_BYTES
    )
