"""Workflows run on uploads and on request, on the local state machine."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.journeys.runtime import Api, Runtime, wait_until

TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
SHIPPED = "vitrine-inspect"
SAMPLE = Path(__file__).parents[2] / "samples" / "pipelines" / "inspect-again.json"


def executions(api: Api, path: str) -> list[dict[str, Any]]:
    """The executions on an asset, the newest first."""
    found: list[dict[str, Any]] = api.ok("GET", f"{path}/workflows/executions")["message"]["Items"]
    return found


def have_ended(api: Api, path: str, count: int) -> bool:
    """Whether there are so many executions on an asset, and all of them have ended."""
    found = executions(api, path)
    active = [one for one in found if one["executionStatus"] in {"NEW", "RUNNING"}]
    return len(found) >= count and not active


def test_an_upload_runs_the_shipped_workflow_and_a_user_runs_it_again(
    runtime: Runtime,
) -> None:
    api = runtime.client()
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=True)
    asset = api.new_asset(database, "Pump")
    path = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {"/parts/a.obj": [TRIANGLE]})
    wait_until(lambda: have_ended(api, path, 1))
    (first,) = executions(api, path)
    assert (first["workflowId"], first["executionStatus"]) == (SHIPPED, "SUCCEEDED")
    assert (first["trigger"], first["inputAssetFileKey"]) == ("upload", f"{asset}/parts/a.obj")
    body = {"workflowDatabaseId": "GLOBAL", "fileKey": "/parts/a.obj"}
    started = api.ok("POST", f"{path}/workflows/{SHIPPED}", body)["message"]
    wait_until(lambda: have_ended(api, path, 2))
    found = executions(api, path)
    assert [one["executionId"] for one in found] == [started, first["executionId"]]
    assert found[0]["executionStatus"] == "SUCCEEDED"
    shown = api.ok("GET", f"{path}/executions/{started}")["message"]
    (step,) = shown["steps"]
    assert (step["pipelineId"], step["state"]) == (SHIPPED, "SUCCEEDED")
    assert step["startedAt"] <= step["stoppedAt"]
    # The outputs of the run started nothing, or it would be listed.
    runtime.drain()
    assert len(executions(api, path)) == 2
    assert api.refused("POST", f"{path}/workflows/unknown", body)[0] == 404


def test_the_pipeline_of_the_guide_inspects_a_file_and_is_refused_for_a_whole_asset(
    runtime: Runtime,
) -> None:
    api = runtime.client()
    database = api.new_database(f"db-{uuid4().hex[:12]}", processing=False)
    pipeline = {**json.loads(SAMPLE.read_text(encoding="utf-8")), "databaseId": database}
    api.ok("PUT", "/pipelines", pipeline)
    function = {"name": pipeline["pipelineId"], "databaseId": database}
    workflow = {
        "workflowId": "look-again",
        "databaseId": database,
        "description": "Inspects a file on request",
        "specifiedPipelines": {"functions": [function]},
    }
    api.ok("PUT", "/workflows", workflow)
    asset = api.new_asset(database, "Pump")
    path = f"/database/{database}/assets/{asset}"
    api.upload(database, asset, {"/a.obj": [TRIANGLE]})
    for workflow_id, owner in (("look-again", database), (SHIPPED, "GLOBAL")):
        body = {"workflowDatabaseId": owner}
        status, reply = api.refused("POST", f"{path}/workflows/{workflow_id}", body)
        assert (status, "reads a single file" in str(reply)) == (400, True)
    body = {"workflowDatabaseId": database, "fileKey": "/a.obj"}
    started = api.ok("POST", f"{path}/workflows/look-again", body)["message"]
    wait_until(lambda: have_ended(api, path, 1))
    shown = api.ok("GET", f"{path}/executions/{started}")["message"]
    assert (shown["executionStatus"], shown["outputs"]["metadata"]) == ("SUCCEEDED", ["/a.obj"])
    assert [one["executionId"] for one in executions(api, path)] == [started]
