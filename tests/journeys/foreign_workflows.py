"""A workflow whose only pipeline is another owner's program behind a queue, which has to reply."""

import json
from typing import Any

from tests.journeys.replaying import SESSION
from tests.journeys.runtime import Api, Runtime

QUEUE = "convert-jobs"
QUEUE_URL = f"https://sqs.us-east-1.amazonaws.com/000000000000/{QUEUE}"
ALLOWED_QUEUES = f'["arn:aws:sqs:us-east-1:000000000000:{QUEUE}"]'
"""The setting `allowedPipelineQueues`, which allows pipelines to name the queue."""
WORKFLOW = "convert"


def queue_of(runtime: Runtime) -> tuple[Any, str]:
    """Return a client of the queue engine, and the URL of the pipeline's queue there."""
    engine = runtime.admin("GET", "/health")["engines"]["queues"]["url"]
    sqs: Any = SESSION.client("sqs", endpoint_url=engine)
    return sqs, sqs.create_queue(QueueName=QUEUE)["QueueUrl"]


def define_workflow(api: Api, database: str, *further: str) -> None:
    """Create the pipeline, further ones behind the same queue, and the workflow."""
    shared = {
        "databaseId": database,
        "pipelineType": "standardFile",
        "pipelineExecutionType": "SQS",
        "outputType": ".txt",
        "waitForCallback": "Enabled",
        "taskTimeout": "600",
    }
    resource = {"resourceId": QUEUE_URL, "resourceType": "SQS", "isProvided": True}
    functions: list[dict[str, str]] = []
    for name in (WORKFLOW, *further):
        described = {"pipelineId": name, "description": "Converts files", "assetType": ".md"}
        api.ok("PUT", "/pipelines", {**shared, **described, "sqsQueueUrl": QUEUE_URL})
        functions.append({**shared, "name": name, "userProvidedResource": json.dumps(resource)})
    body = {"workflowId": WORKFLOW, "databaseId": database, "description": "Converts files"}
    api.ok("PUT", "/workflows", {**body, "specifiedPipelines": {"functions": functions}})
