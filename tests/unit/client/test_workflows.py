"""Pipelines and workflows, seen from the client."""

import json

import httpx
import pytest
from pydantic import JsonValue
from vitrine import NotFoundError, Vitrine

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

PIPELINE: dict[str, JsonValue] = {
    "pipelineId": "convert",
    "databaseId": "museum",
    "pipelineType": "standardFile",
    "pipelineExecutionType": "Lambda",
    "description": "Converts models",
    "assetType": ".obj",
    "outputType": ".glb",
    "waitForCallback": "Disabled",
    "userProvidedResource": "{}",
    "lambdaName": "convert",
    "inputParameters": "",
    "enabled": True,
    "dateCreated": "2026-03-01T12:00:00.000000Z",
    "dateUpdated": "2026-03-01T12:00:00.000000Z",
}
SETTINGS = {
    name: value
    for name, value in PIPELINE.items()
    if name not in {"userProvidedResource", "dateCreated", "dateUpdated"}
}
FUNCTION: dict[str, JsonValue] = {"name": "convert", "databaseId": "museum"}
WORKFLOW: dict[str, JsonValue] = {
    "workflowId": "publish",
    "databaseId": "museum",
    "description": "Publishes models",
    "specifiedPipelines": {"functions": [FUNCTION]},
    "autoTriggerOnFileExtensionsUpload": ".glb",
}


def answer(message: JsonValue) -> httpx.Response:
    return httpx.Response(200, json={"message": message})


def sent(server: FakeServer) -> JsonValue:
    """The body of the last request."""
    return json.loads(server.sent[-1].content)


def test_lists_within_the_message_are_read_page_by_page(
    client: Vitrine, server: FakeServer
) -> None:
    pages = [answer({"Items": [PIPELINE], "NextToken": "t"}), answer({"Items": [PIPELINE]})]
    server.fail("GET", "^/database/museum/pipelines$", *pages)
    found = list(client.pipelines.list("museum", show_deleted=True))
    assert [one.resource for one in found] == ["convert", "convert"]
    assert dict(server.sent[-1].url.params) == {"showDeleted": "true", "startingToken": "t"}


def test_a_not_found_error_has_a_text_though_the_message_is_empty(
    client: Vitrine, server: FakeServer
) -> None:
    body: JsonValue = {
        "message": {},
        "reason": "Workflow publish does not exist",
        "code": "WorkflowNotFound",
    }
    server.fail("GET", "/workflows/publish$", httpx.Response(404, json=body))
    with pytest.raises(NotFoundError, match="Workflow publish does not exist"):
        client.workflows.get("museum", "publish")


def test_a_pipeline_is_stored_from_a_file_and_switched(shell: Shell, server: FakeServer) -> None:
    path = shell.folder / "convert.json"
    given = {name: PIPELINE[name] for name in ("pipelineId", "databaseId", "description")}
    path.write_text(json.dumps({**given, "lambdaName": "convert"}))
    server.fail("PUT", "^/pipelines$", answer("Pipeline convert was stored"))
    assert shell.run("pipelines", "put", str(path), "--update-workflows") == "convert\n"
    assert sent(server) == {
        "pipelineId": "convert",
        "databaseId": "museum",
        "pipelineType": "standardFile",
        "pipelineExecutionType": "Lambda",
        "description": "Converts models",
        "assetType": ".all",
        "outputType": "",
        "lambdaName": "convert",
        "updateAssociatedWorkflows": True,
    }
    for command, enabled in (("disable", False), ("enable", True)):
        server.fail("GET", "/pipelines/convert$", answer(PIPELINE))
        server.fail("PUT", "^/pipelines$", answer("Pipeline convert was stored"))
        shell.run("pipelines", command, "museum", "convert")
        assert sent(server) == {**SETTINGS, "enabled": enabled}
    path.write_text("{}")
    shell.run("pipelines", "put", str(path))
    assert (shell.code, "pipelineId" in shell.err) == (2, True)


def test_pipelines_are_listed_shown_and_deleted(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "^/pipelines$", answer({"Items": [PIPELINE]}))
    listed = shell.run("pipelines", "list")
    assert listed == "museum\tconvert\tLambda\tconvert\tyes\tConverts models\n"
    server.fail("GET", "/pipelines/convert$", answer(PIPELINE))
    assert "lambdaName\tconvert\n" in shell.run("pipelines", "show", "museum", "convert")
    server.fail("DELETE", "/pipelines/convert$", answer("Pipeline convert was deleted"))
    assert shell.run("pipelines", "delete", "museum", "convert", "--yes") == "convert\n"


def test_a_workflow_is_stored_with_pipelines_of_two_databases(
    shell: Shell, server: FakeServer
) -> None:
    server.fail("PUT", "^/workflows$", answer("Workflow publish was stored"))
    used = ("--pipeline", "convert", "--pipeline", "GLOBAL:render", "--on", ".glb")
    assert shell.run("workflows", "put", "museum", "publish", *used) == "publish\n"
    assert sent(server) == {
        "workflowId": "publish",
        "databaseId": "museum",
        "description": "Workflow publish",
        "specifiedPipelines": {"functions": [FUNCTION, {"name": "render", "databaseId": "GLOBAL"}]},
        "autoTriggerOnFileExtensionsUpload": ".glb",
    }


def test_workflows_are_listed_shown_and_deleted(shell: Shell, server: FakeServer) -> None:
    server.fail("GET", "^/database/museum/workflows$", answer({"Items": [WORKFLOW]}))
    listed = shell.run("workflows", "list", "--database", "museum")
    assert listed == "museum\tpublish\tconvert\t.glb\tPublishes models\n"
    server.fail("GET", "/workflows/publish$", answer(WORKFLOW))
    assert shell.run("workflows", "show", "museum", "publish") == "museum\tconvert\t\t\n"
    server.fail("DELETE", "/workflows/publish$", answer("Workflow publish was deleted"))
    assert shell.run("workflows", "delete", "museum", "publish", "--yes") == "publish\n"


def test_the_check_lists_workflows_whose_trigger_starts_nothing_and_fails(
    shell: Shell, server: FakeServer
) -> None:
    stopped = {**WORKFLOW, "workflowId": "older", "triggerStopped": "no user; store it again"}
    server.fail("GET", "/workflows$", answer({"Items": [WORKFLOW, stopped]}))
    shown = shell.run("workflows", "check")
    assert shell.code == 1
    assert "older" in shown
    assert "no user" in shown
    assert "publish" not in shown
    server.fail("GET", "/workflows$", answer({"Items": [WORKFLOW]}))
    shell.run("workflows", "check")
    assert shell.code == 0
