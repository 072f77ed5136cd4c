"""Who may start what, and how executions are listed, shown, stopped and repeated."""

import json
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.core.runs import StepState
from backend.domains.pipelines.models import Resource
from backend.spec.queues import EXECUTION_STARTS
from backend.spec.tables.workflows import PIPELINES, WORKFLOWS
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


def test_a_workflow_is_run_on_a_file(api: Api) -> None:
    version = api.runner.upload()
    started = api.started()
    execution = api.runner.execution(started)
    assert (execution.input_asset_file_key, execution.input_version_id) == ("statue/a.glb", version)
    assert (execution.started_by, execution.trigger, execution.chain) == (
        "ann",
        "user",
        ["museum:publish"],
    )
    assert [pipeline.resource for pipeline in execution.pipelines] == ["vitrine-convert"]
    assert api.runner.queues.take(EXECUTION_STARTS) == [{}]
    api.runner.start()
    assert api.runner.status_of(started) == "RUNNING"


@pytest.mark.parametrize(
    ("file_keys", "expected"),
    [
        (("a.glb", "/a.glb", "statue/a.glb"), ("statue/a.glb", True)),
        (("", "/", "statue/"), ("", False)),
    ],
    ids=["a file by path or key", "an asset as a whole"],
)
def test_a_workflow_is_run_on_a_file_or_an_asset(
    api: Api, file_keys: tuple[str, ...], expected: tuple[str, bool]
) -> None:
    for file_key in file_keys:
        started = api.started(file_key)
        execution = api.runner.execution(started)
        assert (execution.input_asset_file_key, bool(execution.input_version_id)) == expected
        api.runner.start()
        api.runner.report(status_event(started))


def inspecting(api: Api, name: str = "again", *pipelines: tuple[str, str]) -> None:
    """A workflow of the database whose pipelines are a user's own, and call `Inspect`."""
    resource = Resource(resource_id="Inspect", resource_type="Lambda", is_provided=False)
    api.runner.define(
        name,
        pipelines=[("museum", name), *pipelines],
        user_provided_resource=resource.model_dump_json(by_alias=True),
    )


def test_a_users_own_pipeline_that_inspects_has_its_results_stored_as_the_systems(api: Api) -> None:
    inspecting(api)
    inspecting(api, "twice", ("museum", "second"))
    stored = {
        name: api.runner.executions.find(api.started(workflow_id=name))
        for name in ("again", "twice", "publish")
    }
    assert {name: item.shipped for name, item in stored.items() if item} == {
        "again": True,
        "twice": False,
        "publish": False,
    }


@pytest.mark.parametrize("file_key", ["", "/", "statue/"])
def test_a_workflow_that_reads_a_single_file_is_refused_for_a_whole_asset(
    api: Api, file_key: str
) -> None:
    inspecting(api)
    answer = api.start(file_key, workflow_id="again")
    assert answer.status == 400
    assert "pipeline again of the workflow reads a single file" in str(answer.body)
    several = api.start("", workflow_id="again", fileKeys=["/a.glb", file_key or "/"])
    assert several.status == 200
    assert api.runner.queues.take(EXECUTION_STARTS) == [{}]  # of the file that it names


def test_a_start_names_its_database_and_lists_have_fifty(api: Api) -> None:
    body = {"workflowDatabaseId": "museum", "fileKey": None}
    assert api.post("workflows/{workflowId}", body, workflowId="publish").status == 200
    answer = api.post("workflows/{workflowId}", {}, workflowId="publish")
    assert answer.status == 400
    assert "workflowDatabaseId" in answer.body["message"]
    for number in range(52):
        api.runner.create(f"e{number}", input_asset_file_key=f"statue/{number}.glb")
    page = api.get("workflows/executions").body["message"]
    assert (len(page["Items"]), "NextToken" in page) == (50, True)


def test_a_workflow_runs_once_at_a_time_on_a_file_as_it_was_at_the_start(api: Api) -> None:
    first = api.started()
    answer = api.start()
    assert (answer.status, first in answer.body["message"]) == (409, True)
    api.runner.start()
    api.runner.report(status_event(first))
    assert api.start().status == 200
    started = api.started("/")
    api.runner.define(pipelines=[("museum", "other")])
    execution = api.runner.execution(started)
    assert [pipeline.pipeline_id for pipeline in execution.pipelines] == ["convert"]


def test_global_workflows_and_pipelines_run_and_their_seconds_are_kept(api: Api) -> None:
    api.runner.define("shared", database_id="GLOBAL", pipelines=[("GLOBAL", "inspect")])
    api.started(workflow_id="shared", workflowDatabaseId="GLOBAL")
    api.runner.define("mixed", pipelines=[("GLOBAL", "inspect"), ("museum", "convert")])
    execution = api.runner.execution(api.started(workflow_id="mixed"))
    assert [pipeline.database_id for pipeline in execution.pipelines] == ["GLOBAL", "museum"]
    api.runner.define(wait_for_callback="Enabled", task_timeout="60", task_heartbeat_timeout="5")
    execution = api.runner.execution(api.started())
    (pipeline,) = execution.pipelines
    assert (pipeline.wait_for_callback, pipeline.task_timeout) == (True, 60)
    assert pipeline.task_heartbeat_timeout == 5
    api.runner.define("plain")
    plain = api.runner.execution(api.started(workflow_id="plain"))
    assert (plain.pipelines[0].task_timeout, plain.pipelines[0].task_heartbeat_timeout) == (
        86_400,
        0,
    )


@pytest.mark.parametrize(
    ("request_", "status", "fact"),
    [
        ({"workflow_id": "unknown"}, 404, "Workflow unknown"),
        ({"workflow_id": "executions"}, 400, "workflowId"),
        ({"workflowDatabaseId": "palace"}, 400, "palace"),
        ({"workflowDatabaseId": "GLOBAL"}, 404, "Workflow publish"),
        ({"file_key": "/absent.glb"}, 404, "/absent.glb"),
        ({"file_key": "/../other/a.glb"}, 400, "fileKey"),
        ({"file_key": "x" * 2000}, 400, "fileKey"),
        ({"fileKeys": []}, 400, "fileKeys"),
        ({"fileKeys": ["/a.glb"]}, 400, "fileKeys"),
        ({"file_key": "", "fileKeys": ["/a.glb", "/a.glb"]}, 400, "fileKeys"),
        ({"file_key": "", "fileKeys": [f"/{n}.glb" for n in range(51)]}, 400, "fileKeys"),
        ({"workflowDatabaseId": 7}, 400, "workflowDatabaseId"),
    ],
)
def test_what_cannot_run_is_refused_with_the_fact(
    api: Api, request_: dict[str, Any], status: int, fact: str
) -> None:
    answer = api.start(**request_)
    assert answer.status == status
    assert fact in answer.body["message"]
    assert api.runner.queues.sent == []


def test_workflows_with_pipelines_that_may_or_can_not_run_are_refused(api: Api) -> None:
    api.runner.runs.refused.add("vitrine-convert")
    answer = api.start()
    assert (answer.status, "convert" in answer.body["message"]) == (400, True)
    api.runner.runs.refused.clear()
    started = api.started()
    api.runner.runs.refused.add("vitrine-convert")  # the deployment changed meanwhile
    api.runner.start()
    assert api.runner.outcome(started) == ("FAILED", "PipelineNotAllowed")
    api.runner.define(enabled=False)
    answer = api.start()
    assert (answer.status, "convert" in answer.body["message"]) == (400, True)
    api.runner.define()
    api.runner.tables.delete_many(PIPELINES, [{"databaseId": "museum", "pipelineId": "convert"}])
    answer = api.start()
    assert (answer.status, "convert" in answer.body["message"]) == (404, True)
    api.runner.tables.delete_many(WORKFLOWS, [{"databaseId": "museum", "workflowId": "publish"}])
    assert api.start().status == 404


@pytest.mark.parametrize(
    ("denied", "status"),
    [
        (("asset", "*", "*"), 404),
        (("asset", "*", "POST"), 403),
        (("workflow", "publish", "*"), 404),
        (("workflow", "publish", "POST"), 403),
        (("pipeline", "convert", "*"), 404),
        (("pipeline", "convert", "POST"), 403),
    ],
)
def test_the_asset_the_workflow_and_its_pipelines_are_needed(
    api: Api, denied: tuple[str, str, str], status: int
) -> None:
    api.runner.rights.denied.add(denied)
    assert api.start().status == status


def test_several_files_are_run_one_by_one(api: Api) -> None:
    api.runner.upload("statue/b.glb")
    active = api.started("/b.glb")
    answer = api.start("", fileKeys=["/a.glb", "/b.glb", "/absent.glb"])
    assert answer.status == 200
    (started,) = answer.body["executions"]
    assert answer.body["message"] == started["executionId"]
    assert started["fileKey"] == "/a.glb"
    refused = {item["fileKey"]: (item["code"], item["message"]) for item in answer.body["refused"]}
    assert refused["/b.glb"][0] == "ExecutionActive"
    assert active in refused["/b.glb"][1]
    assert refused["/absent.glb"][0] == "FileNotFound"
    answer = api.start("", fileKeys=["/absent.glb"])
    assert (answer.status, answer.body["executions"]) == (409, [])
    assert answer.body["refused"][0]["code"] == "FileNotFound"


def test_a_start_while_the_queue_is_away_is_made_up_for(api: Api) -> None:
    def away(operation: str) -> None:
        if operation == "send":
            raise UnavailableError("SQS does not answer")

    api.runner.queues.before = away
    started = api.started()
    api.runner.queues.before = lambda operation: None
    api.runner.reconciliation.run()
    assert api.runner.queues.take(EXECUTION_STARTS) == [{}]
    api.runner.start()
    assert api.runner.status_of(started) == "RUNNING"


@pytest.mark.parametrize(("end", "state"), [("TIMED_OUT", "ABORTED"), ("SUCCEEDED", "SUCCEEDED")])
def test_steps_have_the_times_that_step_functions_reports(api: Api, end: str, state: str) -> None:
    started = api.started()

    def step() -> dict[str, Any]:
        (item,) = api.get("executions/{executionId}", executionId=started).body["message"]["steps"]
        return {name: item.get(name) for name in ("state", "startedAt", "stoppedAt")}

    runs = api.runner.runs
    unknown = {"state": None, "startedAt": None, "stoppedAt": None}
    runs.histories[started] = {1: StepState("RUNNING", "2026-03-01T12:00:01.000Z")}
    assert step() == unknown  # it was not started yet, so nobody is asked
    api.runner.start()
    running = {"state": "RUNNING", "startedAt": "2026-03-01T12:00:01.000Z", "stoppedAt": None}
    assert step() == running
    runs.fail_next = 1
    assert step() == unknown
    api.runner.report(status_event(started, end))
    ended = api.get("executions/{executionId}", executionId=started).body["message"]["stoppedAt"]
    assert step() == {**running, "state": state, "stoppedAt": ended}


def test_executions_are_listed_newest_first_without_calls_of_step_functions(api: Api) -> None:
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
    api.runner.runs.fail_next = 1
    assert len(api.get("workflows/executions").body["message"]["Items"]) == 2
    assert api.runner.runs.fail_next == 1


def test_executions_of_visible_workflows_are_listed(api: Api) -> None:
    api.runner.define("other")
    ids = [api.started(workflow_id=item) for item in ("publish", "other")]
    path = "workflows/executions/{workflowId}"
    answer = api.get(path, {"workflowDatabaseId": "museum"}, workflowId="publish")
    assert [item["executionId"] for item in answer.body["message"]["Items"]] == ids[:1]
    in_body = api.send("GET", path, {"workflowId": "other"}, body={"workflowDatabaseId": "museum"})
    assert [item["executionId"] for item in in_body.body["message"]["Items"]] == ids[1:]

    def listed(workflow_id: str) -> list[str]:
        answer = api.get(path, workflowId=workflow_id)
        assert answer.status == 200
        return [item["executionId"] for item in answer.body["message"]["Items"]]

    assert [listed(item) for item in ("publish", "other", "none-such")] == [ids[:1], ids[1:], []]
    api.runner.rights.denied.add(("workflow", "other", "GET"))
    assert listed("other") == []
    started = ids[0]
    api.runner.rights.denied.add(("workflow", "publish", "*"))
    assert api.get("workflows/executions").body["message"]["Items"] == []
    absent = api.get("executions/{executionId}", executionId="unknown")
    hidden = api.get("executions/{executionId}", executionId=started)
    assert (absent.status, hidden.status) == (404, 404)
    assert hidden.body["message"] == absent.body["message"].replace("unknown", started)


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
    result: list[str] = []
    while True:
        page = api.get(path, query, **more).body["message"]
        result += [item["executionId"] for item in page["Items"]]
        if "NextToken" not in page:
            break
        query["startingToken"] = page["NextToken"]
    assert len(result) == 7
    assert set(result) == ids


def test_an_execution_is_described(api: Api) -> None:
    api.runner.define(pipelines=[("museum", "convert"), ("GLOBAL", "inspect")])
    started = api.started()
    api.runner.start()
    api.runner.report(status_event(started, "FAILED", error="MeshBroken", cause="not manifold"))
    body = api.get("executions/{executionId}", executionId=started).body["message"]
    assert body["error"] == {"code": "MeshBroken", "message": "not manifold"}
    assert [(step["number"], step["pipelineId"]) for step in body["steps"]] == [
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
    execution = api.runner.execution(started)
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


def test_an_execution_that_has_ended_is_run_again_and_not_stopped(api: Api) -> None:
    started = api.started()
    assert api.post("executions/{executionId}/rerun", executionId=started).status == 409
    api.runner.start()
    api.runner.report(status_event(started))
    answer = api.send("DELETE", "executions/{executionId}", {"executionId": started})
    assert (answer.status, "SUCCEEDED" in answer.body["message"]) == (200, True)
    assert api.runner.status_of(started) == "SUCCEEDED"
    version = api.runner.upload()
    api.runner.define(pipelines=[("museum", "other")])
    answer = api.post("executions/{executionId}/rerun", executionId=started)
    assert answer.status == 200
    again = api.runner.execution(answer.body["message"])
    assert (again.trigger, again.input_version_id) == ("rerun", version)
    assert [pipeline.pipeline_id for pipeline in again.pipelines] == ["other"]
    assert api.post("executions/{executionId}/rerun", executionId="unknown").status == 404
