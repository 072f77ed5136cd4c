"""Who may start what: runs of workflows on files, refused with the fact named."""

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
    execution = api.runner.executions.find(started)
    assert execution is not None
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


@pytest.mark.parametrize("file_key", ["a.glb", "/a.glb", "statue/a.glb"])
def test_a_file_is_named_by_its_path_or_its_key(api: Api, file_key: str) -> None:
    execution = api.runner.executions.find(api.started(file_key))
    assert execution is not None
    assert execution.input_asset_file_key == "statue/a.glb"


@pytest.mark.parametrize("file_key", ["", "/", "statue/"])
def test_a_workflow_is_run_on_an_asset_as_a_whole(api: Api, file_key: str) -> None:
    execution = api.runner.executions.find(api.started(file_key))
    assert execution is not None
    assert (execution.input_asset_file_key, execution.input_version_id) == ("", "")


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
    assert {name: found.shipped for name, found in stored.items() if found} == {
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


def test_a_null_file_key_is_none(api: Api) -> None:
    body = {"workflowDatabaseId": "museum", "fileKey": None}
    assert api.post("workflows/{workflowId}", body, workflowId="publish").status == 200


def test_a_second_run_on_the_file_is_refused_with_the_first_ones_id(api: Api) -> None:
    first = api.started()
    answer = api.start()
    assert (answer.status, first in answer.body["message"]) == (409, True)
    api.runner.start()
    api.runner.report(status_event(first))
    assert api.start().status == 200


def test_a_global_workflow_and_global_pipelines_run_on_every_asset(api: Api) -> None:
    api.runner.define("shared", database_id="GLOBAL", pipelines=[("GLOBAL", "inspect")])
    api.started(workflow_id="shared", workflowDatabaseId="GLOBAL")
    api.runner.define("mixed", pipelines=[("GLOBAL", "inspect"), ("museum", "convert")])
    execution = api.runner.executions.find(api.started(workflow_id="mixed"))
    assert execution is not None
    assert [pipeline.database_id for pipeline in execution.pipelines] == ["GLOBAL", "museum"]


def test_later_changes_of_the_workflow_leave_a_run_as_it_is(api: Api) -> None:
    started = api.started()
    api.runner.define(pipelines=[("museum", "other")])
    execution = api.runner.executions.find(started)
    assert execution is not None
    assert [pipeline.pipeline_id for pipeline in execution.pipelines] == ["convert"]


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


def test_a_missing_database_of_the_workflow_is_named(api: Api) -> None:
    answer = api.post("workflows/{workflowId}", {}, workflowId="publish")
    assert answer.status == 400
    assert "workflowDatabaseId" in answer.body["message"]


def test_a_workflow_with_a_disabled_pipeline_is_refused(api: Api) -> None:
    api.runner.define(enabled=False)
    answer = api.start()
    assert (answer.status, "convert" in answer.body["message"]) == (400, True)


def test_a_workflow_with_a_missing_pipeline_is_refused(api: Api) -> None:
    api.runner.tables.delete_many(PIPELINES, [{"databaseId": "museum", "pipelineId": "convert"}])
    answer = api.start()
    assert (answer.status, "convert" in answer.body["message"]) == (404, True)


def test_a_pipeline_that_calls_what_is_not_allowed_is_refused(api: Api) -> None:
    api.runner.runs.refused.add("vitrine-convert")
    answer = api.start()
    assert (answer.status, "convert" in answer.body["message"]) == (400, True)
    api.runner.runs.refused.clear()
    started = api.started()
    api.runner.runs.refused.add("vitrine-convert")  # the deployment changed meanwhile
    api.runner.start()
    execution = api.runner.executions.find(started)
    assert execution is not None
    assert execution.error is not None
    assert (execution.execution_status, execution.error.code) == ("FAILED", "PipelineNotAllowed")


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
    refused = {one["fileKey"]: (one["code"], one["message"]) for one in answer.body["refused"]}
    assert refused["/b.glb"][0] == "ExecutionActive"
    assert active in refused["/b.glb"][1]
    assert refused["/absent.glb"][0] == "FileNotFound"


def test_several_files_of_which_none_runs_are_a_conflict(api: Api) -> None:
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


def test_callbacks_and_seconds_are_kept(api: Api) -> None:
    api.runner.define(wait_for_callback="Enabled", task_timeout="60", task_heartbeat_timeout="5")
    execution = api.runner.executions.find(api.started())
    assert execution is not None
    (pipeline,) = execution.pipelines
    assert (pipeline.wait_for_callback, pipeline.task_timeout) == (True, 60)
    assert pipeline.task_heartbeat_timeout == 5
    api.runner.define("plain")
    plain = api.runner.executions.find(api.started(workflow_id="plain"))
    assert plain is not None
    assert (plain.pipelines[0].task_timeout, plain.pipelines[0].task_heartbeat_timeout) == (
        86_400,
        0,
    )


def test_a_deleted_workflow_does_not_run(api: Api) -> None:
    api.runner.tables.delete_many(WORKFLOWS, [{"databaseId": "museum", "workflowId": "publish"}])
    assert api.start().status == 404


@pytest.mark.parametrize(("end", "state"), [("TIMED_OUT", "ABORTED"), ("SUCCEEDED", "SUCCEEDED")])
def test_steps_have_the_times_that_step_functions_reports(api: Api, end: str, state: str) -> None:
    started = api.started()

    def step() -> dict[str, Any]:
        (found,) = api.get("executions/{executionId}", executionId=started).body["message"]["steps"]
        return {name: found.get(name) for name in ("state", "startedAt", "stoppedAt")}

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


def test_a_list_never_calls_step_functions(api: Api) -> None:
    api.started()
    api.runner.start()
    api.runner.runs.fail_next = 1
    assert len(api.get("workflows/executions").body["message"]["Items"]) == 1
    assert api.runner.runs.fail_next == 1
