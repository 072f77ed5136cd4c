"""Users list, show, stop and repeat executions."""

import json

import pytest

from tests.factories.execution_api import Api
from tests.factories.executions import Runner, status_event


@pytest.fixture
def runner() -> Runner:
    runner = Runner()
    runner.define()
    runner.upload()
    return runner


@pytest.fixture
def api(runner: Runner) -> Api:
    return Api(runner)


def test_executions_are_listed_newest_first_with_the_contracts_dates(api: Api) -> None:
    api.runner.define("other")
    ids: list[str] = []
    for workflow_id in ("publish", "other"):
        ids.append(api.started(workflow_id=workflow_id))
        api.runner.wait(minutes=1)
    api.runner.start()
    api.runner.report(status_event(ids[0]))
    items = api.get("workflows/executions").body["message"]["Items"]
    assert [item["executionId"] for item in items] == ids[::-1]
    assert [item["executionStatus"] for item in items] == ["RUNNING", "SUCCEEDED"]
    assert {
        name: items[1][name]
        for name in ("workflowDatabaseId", "workflowId", "startDate", "stopDate")
    } == {
        "workflowDatabaseId": "museum",
        "workflowId": "publish",
        "startDate": "03/01/2026, 12:02:00",
        "stopDate": "03/01/2026, 12:00:05",
    }
    assert items[0]["stopDate"] == ""
    assert items[1]["inputAssetFileKey"] == "statue/a.glb"
    assert items[1]["stoppedAt"] == "2026-03-01T12:00:05.000000Z"


def test_executions_of_one_workflow_are_listed(api: Api) -> None:
    api.runner.define("other")
    ids = [api.started(workflow_id=one) for one in ("publish", "other")]
    path = "workflows/executions/{workflowId}"
    answer = api.get(path, {"workflowDatabaseId": "museum"}, workflowId="publish")
    assert [one["executionId"] for one in answer.body["message"]["Items"]] == ids[:1]
    in_body = api.send("GET", path, {"workflowId": "other"}, body={"workflowDatabaseId": "museum"})
    assert [one["executionId"] for one in in_body.body["message"]["Items"]] == ids[1:]


def test_without_a_database_workflows_of_the_id_in_any_are_listed(api: Api) -> None:
    api.runner.define("other")
    ids = [api.started(workflow_id=one) for one in ("publish", "other")]
    path = "workflows/executions/{workflowId}"

    def listed(workflow_id: str) -> list[str]:
        answer = api.get(path, workflowId=workflow_id)
        assert answer.status == 200
        return [one["executionId"] for one in answer.body["message"]["Items"]]

    assert [listed(one) for one in ("publish", "other", "none-such")] == [ids[:1], ids[1:], []]
    api.runner.rights.denied.add(("workflow", "other", "GET"))
    assert listed("other") == []


@pytest.mark.parametrize(
    ("workflow_id", "database_id"), [(None, None), ("publish", "museum"), ("publish", None)]
)
def test_pages_of_executions_hold_each_once(
    api: Api, workflow_id: str | None, database_id: str | None
) -> None:
    ids: set[str] = set()
    for number in range(7):
        api.runner.upload(f"statue/{number}.glb")
        ids.add(api.started(f"/{number}.glb"))
        api.runner.wait(seconds=1)
    path, more = "workflows/executions", {}
    query = {"pageSize": "3"}
    if workflow_id:
        path, more = f"{path}/{{workflowId}}", {"workflowId": workflow_id}
    if database_id:
        query["workflowDatabaseId"] = database_id
    found: list[str] = []
    while True:
        page = api.get(path, query, **more).body["message"]
        found += [one["executionId"] for one in page["Items"]]
        if "NextToken" not in page:
            break
        query["startingToken"] = page["NextToken"]
    assert len(found) == 7
    assert set(found) == ids


def test_pages_have_fifty_executions(api: Api) -> None:
    for number in range(52):
        api.runner.create(f"e{number}", input_asset_file_key=f"statue/{number}.glb")
    page = api.get("workflows/executions").body["message"]
    assert (len(page["Items"]), "NextToken" in page) == (50, True)


def test_executions_of_hidden_workflows_are_left_out(api: Api) -> None:
    started = api.started()
    api.runner.rights.denied.add(("workflow", "publish", "*"))
    assert api.get("workflows/executions").body["message"]["Items"] == []
    absent = api.get("executions/{executionId}", executionId="unknown")
    hidden = api.get("executions/{executionId}", executionId=started)
    assert (absent.status, hidden.status) == (404, 404)
    assert hidden.body["message"] == absent.body["message"].replace("unknown", started)


def test_an_execution_is_described(api: Api) -> None:
    api.runner.define(pipelines=[("museum", "convert"), ("GLOBAL", "inspect")])
    started = api.started()
    api.runner.start()
    api.runner.report(status_event(started, "FAILED", error="MeshBroken", cause="not manifold"))
    body = api.get("executions/{executionId}", executionId=started).body["message"]
    assert body["error"] == {"code": "MeshBroken", "message": "not manifold"}
    assert [(one["number"], one["pipelineId"]) for one in body["steps"]] == [
        (1, "convert"),
        (2, "inspect"),
    ]
    assert body["steps"][1]["outputPrefix"] == f"pipelines/{started}/2/"
    assert body["logLink"] == f"https://log/{started}"
    assert (body["startedBy"], body["trigger"]) == ("ann", "user")


@pytest.mark.parametrize("place", ["errorMessage", "errorType"])
def test_an_execution_whose_error_is_no_valid_text_ends(api: Api, place: str) -> None:
    started = api.started()
    api.runner.start()
    output = json.dumps(
        {"errorType": "Broken", "errorMessage": "no", place: "half \ud83d of a pair"}
    )
    api.runner.report(status_event(started, "FAILED", error="Broken", cause=output))
    body = api.get("executions/{executionId}", executionId=started).body["message"]
    assert body["executionStatus"] == "FAILED"
    assert "half \ufffd of a pair" in body["error"].values()
    assert not api.runner.active.list_admitted()


@pytest.mark.parametrize("is_running", [False, True])
def test_an_execution_is_stopped(api: Api, is_running: bool) -> None:
    started = api.started()
    if is_running:
        api.runner.start()
    answer = api.send("DELETE", "executions/{executionId}", {"executionId": started})
    assert (answer.status, "ABORTED" in answer.body["message"]) == (200, True)
    execution = api.runner.executions.find(started)
    assert execution is not None
    assert execution.error is not None
    assert (execution.error.code, execution.error.message) == ("Stopped", "Stopped by ann")
    assert api.runner.counted == 0
    api.runner.start()
    if is_running:
        assert api.runner.runs.started[started].state.status == "ABORTED"
        api.runner.report(status_event(started, "ABORTED"))
    else:
        assert not api.runner.runs.started
    assert api.start().status == 200


def test_an_execution_that_has_ended_is_not_stopped_again(api: Api) -> None:
    started = api.started()
    api.runner.start()
    api.runner.report(status_event(started))
    answer = api.send("DELETE", "executions/{executionId}", {"executionId": started})
    assert (answer.status, "SUCCEEDED" in answer.body["message"]) == (200, True)
    assert api.runner.status_of(started) == "SUCCEEDED"


def test_an_execution_is_run_again_as_things_are_now(api: Api) -> None:
    started = api.started()
    assert api.post("executions/{executionId}/rerun", executionId=started).status == 409
    api.runner.start()
    api.runner.report(status_event(started))
    version = api.runner.upload()
    api.runner.define(pipelines=[("museum", "other")])
    answer = api.post("executions/{executionId}/rerun", executionId=started)
    assert answer.status == 200
    again = api.runner.executions.find(answer.body["message"])
    assert again is not None
    assert (again.trigger, again.input_version_id) == ("rerun", version)
    assert [pipeline.pipeline_id for pipeline in again.pipelines] == ["other"]
    assert api.post("executions/{executionId}/rerun", executionId="unknown").status == 404
