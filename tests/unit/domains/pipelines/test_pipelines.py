"""Creating, changing, listing and deleting pipelines, and what is refused."""

import json
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.spec import routes
from backend.spec.routes import Action
from backend.spec.tables.workflows import PIPELINES
from tests.factories.access import OnlyUser
from tests.factories.workflows import (
    BUS_ARN,
    CONVERT_ARN,
    DEFAULT_BUS_ARN,
    QUEUE_URL,
    pipeline_body,
    workflow_body,
)
from tests.unit.domains.audit.product import Product
from tests.unit.domains.definitions import Definitions

CONVERT = {"databaseId": "museum", "pipelineId": "convert"}
SQS = {"pipelineExecutionType": "SQS", "sqsQueueUrl": QUEUE_URL}
OTHER_HOST = "https://example.org/123456789012/work"
OTHER_REGION, OTHER_BUS = QUEUE_URL.replace("us-east-1", "us-west-2"), BUS_ARN + "2"
EVENTS = {"pipelineExecutionType": "EventBridge"}


def test_a_pipeline_is_read_as_stored_and_changed(definitions: Definitions) -> None:
    body = pipeline_body(
        waitForCallback="Enabled",
        taskTimeout="600",
        taskHeartbeatTimeout="60",
        inputParameters='{"quality": 3}',
    )
    stored = definitions.done(routes.PUT_PIPELINE, body)
    assert stored == {"message": "Pipeline convert was stored"}
    pipeline = definitions.pipeline()
    times = {pipeline.pop("dateCreated"), pipeline.pop("dateUpdated")}
    assert len(times) == 1
    assert json.loads(pipeline.pop("userProvidedResource")) == {
        "resourceId": CONVERT_ARN,
        "resourceType": "Lambda",
        "isProvided": True,
    }
    assert pipeline == {**body, "lambdaName": CONVERT_ARN, "enabled": True}
    definitions.done(routes.PUT_PIPELINE, pipeline_body(enabled=False))
    first = definitions.pipeline()
    definitions.done(routes.PUT_PIPELINE, pipeline_body(description="Converts more"))
    second = definitions.pipeline()
    assert (second["dateCreated"], second["enabled"]) == (first["dateCreated"], False)
    assert second["dateUpdated"] > first["dateUpdated"]
    definitions.done(routes.PUT_PIPELINE, pipeline_body(enabled=True))
    assert definitions.pipeline()["enabled"] is True


@pytest.mark.parametrize(
    ("more", "field", "output"),
    [
        ({"lambdaName": "AssetsApi"}, "lambdaName", "allowedPipelineFunctions"),
        ({"lambdaName": ""}, "lambdaName", "allowedPipelineFunctions"),
        ({**SQS, "sqsQueueUrl": QUEUE_URL + "2"}, "sqsQueueUrl", "allowedPipelineQueues"),
        ({**SQS, "sqsQueueUrl": OTHER_HOST}, "sqsQueueUrl", "allowedPipelineQueues"),
        ({**SQS, "sqsQueueUrl": OTHER_REGION}, "sqsQueueUrl", "allowedPipelineQueues"),
        ({**EVENTS, "eventBridgeBusArn": OTHER_BUS}, "eventBridgeBusArn", "allowedPipelineBuses"),
        ({**EVENTS, "eventBridgeSource": "AWS.s3"}, "eventBridgeSource", "aws."),
        ({"taskTimeout": "604801"}, "taskTimeout", "604800"),
        ({"taskTimeout": "0"}, "taskTimeout", "604800"),
        ({"taskTimeout": "soon"}, "taskTimeout", "604800"),
        ({"taskTimeout": "60", "taskHeartbeatTimeout": "60"}, "taskHeartbeatTimeout", "shorter"),
        ({"inputParameters": "{"}, "inputParameters", "JSON"),
        ({"inputParameters": "[" * 9000}, "inputParameters", "JSON"),
        ({"outputType": "glb"}, "outputType", "extension"),
        ({"assetType": ""}, "assetType", "extension"),
        ({"databaseId": "nowhere"}, "databaseId", "nowhere"),
        ({"databaseId": "global"}, "databaseId", "reserved"),
        ({"pipelineId": "abc"}, "pipelineId", "4"),
        ({"pipelineType": "any"}, "pipelineType", "standardFile"),
    ],
)
def test_what_is_wrong_is_refused_and_named(
    definitions: Definitions, more: dict[str, Any], field: str, output: str
) -> None:
    status, named, message = definitions.refused(routes.PUT_PIPELINE, pipeline_body(**more))
    assert (status, named) == (400, [field])
    assert output in message
    assert not definitions.product.tables.rows(PIPELINES)


def test_allowed_queues_and_buses_are_taken(definitions: Definitions) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body("queued", **SQS))
    assert definitions.pipeline("queued")["sqsQueueUrl"] == QUEUE_URL
    definitions.done(routes.PUT_PIPELINE, pipeline_body("sent", **EVENTS))
    pipeline = definitions.pipeline("sent")
    assert pipeline["eventBridgeBusArn"] == DEFAULT_BUS_ARN
    assert (pipeline["eventBridgeSource"], pipeline["eventBridgeDetailType"]) == (
        "vams.pipeline",
        "sent",
    )
    more = {"eventBridgeBusArn": BUS_ARN, "eventBridgeSource": "ours"}
    definitions.done(routes.PUT_PIPELINE, pipeline_body("other", outputType="", **EVENTS, **more))
    assert definitions.pipeline("other")["eventBridgeBusArn"] == BUS_ARN
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    status, named, message = definitions.refused(routes.PUT_PIPELINE, pipeline_body(**SQS))
    assert (status, named) == (400, ["pipelineExecutionType"])
    assert "Lambda" in message


def test_a_deleted_pipeline_is_listed_apart_and_its_id_is_free(definitions: Definitions) -> None:
    answer = definitions.send(routes.GET_PIPELINE, **CONVERT)
    assert (answer.status, answer.body["message"]) == (404, {})
    assert answer.body["code"] == "PipelineNotFound"
    assert answer.body["reason"] == "Pipeline convert does not exist"
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    definitions.done(routes.PUT_PIPELINE, pipeline_body("render", "GLOBAL"))
    assert _listed(definitions) == ["convert", "render"]
    definitions.done(routes.DELETE_PIPELINE, **CONVERT)
    assert _listed(definitions) == ["render"]
    assert _listed(definitions, showDeleted="true") == ["convert"]
    of_museum = definitions.done(
        routes.LIST_PIPELINES, databaseId="museum", query={"showDeleted": "true"}
    )
    assert of_museum["message"]["Items"][0]["deletedBy"] == "admin"
    assert definitions.send(routes.GET_PIPELINE, **CONVERT).status == 404
    gone = definitions.done(routes.GET_PIPELINE, **CONVERT, query={"showDeleted": "true"})
    assert gone["message"]["pipelineId"] == "convert"
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    assert _listed(definitions) == ["convert", "render"]


def test_a_used_pipeline_is_listed_and_not_deleted(definitions: Definitions) -> None:
    for number in range(5):
        definitions.done(routes.PUT_PIPELINE, pipeline_body(f"number-{number}"))
    first = definitions.done(routes.LIST_PIPELINES, databaseId="museum", query={"maxItems": "3"})
    token = first["message"]["NextToken"]
    query = {"maxItems": "3", "startingToken": token}
    rest = definitions.done(routes.LIST_PIPELINES, databaseId="museum", query=query)["message"]
    names = [row["pipelineId"] for row in (*first["message"]["Items"], *rest["Items"])]
    assert names == [f"number-{number}" for number in range(5)]
    assert "NextToken" not in rest
    assert definitions.send(routes.LIST_ALL_PIPELINES, query=query).status == 400
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    for number in range(7):
        definitions.done(routes.PUT_WORKFLOW, workflow_body(f"publish-{number}"))
    status, _, message = definitions.refused(routes.DELETE_PIPELINE, **CONVERT)
    named = ", ".join(f"publish-{number} (museum)" for number in range(5))
    assert (status, message) == (
        400,
        f"pipelineId: convert is used by these workflows: {named}, 2 others",
    )


class WorkflowsHidden(OnlyUser):
    """May do everything, but see no workflow."""

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        hidden = target.object_type == "workflow" and action == "GET"
        return not hidden and OnlyUser.may(self, caller, action, target)


def test_workflows_that_the_caller_may_not_see_are_only_counted() -> None:
    definitions = Definitions(Product(WorkflowsHidden()))
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    status, _, message = definitions.refused(routes.DELETE_PIPELINE, **CONVERT)
    assert (status, message) == (400, "pipelineId: convert is used by these workflows: 1 other")


def test_a_database_with_pipelines_or_workflows_is_not_deleted(definitions: Definitions) -> None:
    definitions.done(routes.PUT_PIPELINE, pipeline_body())
    definitions.done(routes.PUT_PIPELINE, pipeline_body("render"))
    definitions.done(routes.PUT_WORKFLOW, workflow_body())
    status, _, message = definitions.refused(routes.DELETE_DATABASE, databaseId="museum")
    held = "2 active pipelines and 1 active workflow"
    assert (status, message) == (409, f"Database museum has {held}; delete them first")
    definitions.done(routes.DELETE_WORKFLOW, databaseId="museum", workflowId="publish")
    for name in ("convert", "render"):
        definitions.done(routes.DELETE_PIPELINE, databaseId="museum", pipelineId=name)
    definitions.done(routes.DELETE_DATABASE, databaseId="museum")
    refused = definitions.refused(routes.PUT_PIPELINE, pipeline_body())
    assert refused[:2] == (400, ["databaseId"])


def _listed(definitions: Definitions, **query: str) -> list[str]:
    done = definitions.done(routes.LIST_ALL_PIPELINES, query=query)
    return sorted(row["pipelineId"] for row in done["message"]["Items"])
