"""Pipelines and workflows, as tests send and create them."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

CONVERT_ARN = "arn:aws:lambda:us-east-1:123456789012:function:convert"
QUEUE_URL = "https://sqs.us-east-1.amazonaws.com/123456789012/work"
BUS_ARN = "arn:aws:events:us-east-1:123456789012:event-bus/work"
DEFAULT_BUS_ARN = "arn:aws:events:us-east-1:123456789012:event-bus/default"
ALLOWED_ARNS = (
    CONVERT_ARN,
    "arn:aws:sqs:us-east-1:123456789012:work",
    BUS_ARN,
    DEFAULT_BUS_ARN,
)


def pipeline_body(pipeline_id: str = "convert", database_id: str = "museum", **more: Any) -> Json:
    """The body that stores a Lambda pipeline, or another one by the fields in `more`."""
    return {
        "pipelineId": pipeline_id,
        "databaseId": database_id,
        "pipelineType": "standardFile",
        "pipelineExecutionType": "Lambda",
        "description": "Converts models",
        "assetType": ".obj",
        "outputType": ".glb",
        "lambdaName": "convert",
        **more,
    }


def workflow_body(
    workflow_id: str = "publish",
    database_id: str = "museum",
    pipelines: Sequence[tuple[str, str]] = (("museum", "convert"),),
    **more: Any,
) -> Json:
    """The body that stores a workflow of pipelines, given by database and id."""
    functions = [{"databaseId": place, "name": name} for place, name in pipelines]
    return {
        "workflowId": workflow_id,
        "databaseId": database_id,
        "description": "Publishes models",
        "specifiedPipelines": {"functions": functions},
        **more,
    }
