"""Executions in the local engine behave like those of Step Functions, as far as they are used."""

import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backend.aws.runs import StepFunctionsRuns
from backend.aws.settings import Settings
from backend.spec.state_machine import STALLED
from local import arns
from tests.integration.local.states.conftest import FunctionError, Site, pipeline

PLACE = {"bucketAssetAuxiliary": "auxiliary", "executionId": "e"}
"""Fields of every execution, by which pipelines find the outputs of earlier ones."""
QUEUE = "http://127.0.0.1:9324/000000000000/jobs"


def _token(event: Any) -> str:
    return event["body"]["TaskToken"]


def _steps(site: Site, ended: dict[str, Any]) -> dict[int, str]:
    """The states of the pipelines of an execution that has ended, as the product reads them."""
    settings = Settings({"EXECUTIONS_STATE_MACHINE_ARN": site.machine})
    steps = StepFunctionsRuns(site.client, settings).steps(ended["name"])
    assert all(step.started_at <= (step.stopped_at or "") for step in steps.values())
    return {number: step.status for number, step in steps.items()}


def test_pipelines_run_in_order_with_the_shared_body_then_outputs_are_processed(site: Site) -> None:
    site.functions.handlers["convert"] = lambda event: event
    first = pipeline("Lambda", arns.arn("lambda", "function:convert"), message={"n": 1, "x": None})
    second = pipeline("Lambda", "convert", message={"n": 2, "databaseId": "other"})
    run = str(uuid.uuid4())
    quoted = 'a "b" \\ {% $x %} \u2028 é'
    shared = {"databaseId": "db", "run": run, "quoted": quoted, **PLACE}
    ended = site.ended(site.start(first, second, shared=shared))
    assert ended["status"] == "SUCCEEDED"
    bodies = [e["body"] for e in site.functions.of("convert") if e["body"].get("run") == run]
    assert bodies == [{**shared, "n": 1, "x": None}, {**shared, "n": 2, "databaseId": "other"}]
    outputs = [e for e in site.functions.of("process-output") if e["body"].get("run") == run]
    assert outputs == [{"body": shared}]


@pytest.mark.parametrize(
    ("written", "inputs", "looked"),
    [
        (set[int](), ["in", "in", "in"], [1, 2, 1]),
        ({1}, ["in", 1, 1], [1, 2, 1]),
        ({2}, ["in", "in", 2], [1, 2]),
        ({1, 2}, ["in", 1, 2], [1, 2]),
    ],
)
def test_a_pipeline_reads_the_previous_output_or_else_the_input(
    site: Site, written: set[int], inputs: list[object], looked: list[int]
) -> None:
    run = str(uuid.uuid4())

    def folder(number: object) -> str:
        return f"pipelines/{run}/{number}/files/"

    site.functions.handlers["convert"] = lambda event: event
    site.buckets.written |= {folder(number) for number in written}
    three = [
        pipeline("Lambda", "convert", message={"inputS3AssetFilePath": "in", "n": number})
        for number in (1, 2, 3)
    ]
    ended = site.ended(site.start(*three, shared={"executionId": run}))
    assert ended["status"] == "SUCCEEDED", ended
    bodies = [e["body"] for e in site.functions.of("convert") if e["body"]["executionId"] == run]
    assert [body["n"] for body in bodies] == [1, 2, 3]
    assert [body["inputS3AssetFilePath"] for body in bodies] == [
        item if item == "in" else f"s3://auxiliary/{folder(item)}" for item in inputs
    ]
    assert [item for item in site.buckets.looked if run in item] == [
        folder(item) for item in looked
    ]
    assert _steps(site, ended) == {1: "SUCCEEDED", 2: "SUCCEEDED", 3: "SUCCEEDED"}


def test_a_pipeline_may_answer_before_its_call_returns(site: Site) -> None:
    def answer(event: Any) -> None:
        site.client.send_task_heartbeat(taskToken=_token(event))
        site.client.send_task_success(taskToken=_token(event), output="{}")

    site.functions.handlers["eager"] = answer
    assert site.ended(site.start(pipeline("LambdaCallback", "eager")))["status"] == "SUCCEEDED"


def test_heartbeats_keep_a_pipeline_alive_beyond_its_heartbeat(site: Site) -> None:
    def answer(token: str) -> None:
        for _ in range(4):
            threading.Event().wait(0.4)
            site.client.send_task_heartbeat(taskToken=token)
        site.client.send_task_success(taskToken=token, output="{}")

    def begin(event: Any) -> None:
        threading.Thread(target=answer, args=(_token(event),), daemon=True).start()

    site.functions.handlers["slow"] = begin
    slow = pipeline("LambdaCallback", "slow", heartbeat=1)
    assert site.ended(site.start(slow))["status"] == "SUCCEEDED"


def test_a_message_of_a_queue_is_answered_with_error_and_cause(site: Site) -> None:
    before = len(site.messages)
    execution = site.start(pipeline("SQSCallback", QUEUE))
    site.wait_for(lambda: len(site.messages) > before)
    body = json.loads(site.messages[-1]["MessageBody"])
    assert body["body"]["outputType"] == ".glb"
    site.client.send_task_failure(
        taskToken=_token(body), error="States.MeshBroken", cause="not manifold"
    )
    ended = site.ended(execution)
    facts = ended["status"], ended["error"], ended["cause"]
    assert facts == ("FAILED", "States.MeshBroken", "not manifold")


def test_an_event_names_the_execution_and_is_answered(site: Site) -> None:
    answered: list[Any] = []

    def answer(event: Any) -> None:
        answered.append(event)
        site.client.send_task_success(taskToken=_token(event["detail"]), output="{}")

    site.functions.handlers["on-job"] = answer
    execution = site.start(pipeline("EventBridgeCallback", "default"))
    assert site.ended(execution)["status"] == "SUCCEEDED"
    assert (answered[0]["source"], answered[0]["detail-type"]) == ("tests", "job")
    assert execution in answered[0]["resources"]


def test_queues_and_buses_without_a_token_are_not_waited_for(site: Site) -> None:
    site.functions.handlers["on-job"] = lambda _: None
    both = pipeline("SQS", QUEUE), pipeline("EventBridge", arns.arn("events", "event-bus/default"))
    assert site.ended(site.start(*both))["status"] == "SUCCEEDED"
    assert "TaskToken" not in json.loads(site.messages[-1]["MessageBody"])["body"]


def test_a_file_that_was_not_read_in_time_is_read_again(site: Site) -> None:
    """The error of the shipped pipelines for a busy machine: the file may be valid."""
    attempts: list[Any] = []

    def busy_once(event: Any) -> Any:
        attempts.append(event)
        if len(attempts) == 1:
            raise FunctionError(STALLED, "it had no processor")
        return {}

    site.functions.handlers["inspect-busy"] = busy_once
    name = site.start(pipeline("Lambda", "inspect-busy"), shared=PLACE)
    assert site.ended(name)["status"] == "SUCCEEDED"
    assert len(attempts) == 2


def test_the_error_of_a_function_ends_the_execution_and_is_not_retried(site: Site) -> None:
    def fail(_: Any) -> None:
        raise FunctionError("ValueError", "no such mesh")

    site.functions.handlers["broken"] = fail
    before = len(site.functions.of("process-output"))
    ended = site.ended(site.start(pipeline("Lambda", "broken")))
    assert (ended["status"], ended["error"]) == ("FAILED", "ValueError")
    assert json.loads(ended["cause"])["errorMessage"] == "no such mesh"
    assert _steps(site, ended) == {1: "FAILED"}
    assert len(site.functions.of("broken")) == 1
    assert len(site.functions.of("process-output")) == before


@pytest.mark.parametrize(
    ("kind", "resource", "error"),
    [
        ("Lambda", "missing", "Lambda.ResourceNotFoundException"),
        ("SQS", "http://127.0.0.1:9324/000000000000/other", "SQS.SdkClientException"),
        ("Fax", "x", "UnknownPipelineKind"),
    ],
)
def test_calling_an_unusable_target_fails_with_the_reason(
    site: Site, kind: str, resource: str, error: str
) -> None:
    # The error of SQS is among those that are retried: three times, after 35 s at most.
    if kind == "SQS":
        machine = site.create("denied", {"StartAt": "S", "States": {"S": _send(resource)}})
        execution = site.client.start_execution(stateMachineArn=machine)["executionArn"]
    else:
        execution = site.start(pipeline(kind, resource))
    ended = site.ended(execution)
    assert (ended["status"], ended["error"]) == ("FAILED", error)


def _send(queue: str) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage",
        "Arguments": {"QueueUrl": queue, "MessageBody": {}},
        "End": True,
    }


def _call(function: str, **more: object) -> dict[str, Any]:
    return {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": function, "Payload": {}},
        **more,
    }


def test_an_error_that_is_named_is_retried_and_another_is_caught(site: Site) -> None:
    def flaky(_: Any) -> None:
        if len(site.functions.of("flaky")) < 3:
            raise FunctionError("Busy", "later")
        raise FunctionError("Broken", "for good")

    site.functions.handlers["flaky"] = flaky
    retry = {"ErrorEquals": ["Busy"], "IntervalSeconds": 1, "BackoffRate": 1, "MaxAttempts": 5}
    caught = {
        "ErrorEquals": ["Broken"],
        "Output": "{% $states.errorOutput.Error %}",
        "Next": "Caught",
    }
    states = {
        "Call": _call("flaky", Retry=[retry], Catch=[caught], End=True),
        "Caught": {"Type": "Fail", "Error": "States.TaskFailed", "Cause": "{% $states.input %}"},
    }
    machine = site.create("flaky", {"StartAt": "Call", "States": states})
    execution = site.client.start_execution(stateMachineArn=machine)["executionArn"]
    ended = site.ended(execution)
    assert (ended["error"], ended["cause"]) == ("States.TaskFailed", "Broken")
    assert len(site.functions.of("flaky")) == 3


def test_a_pipeline_that_does_not_answer_ends_at_its_time_out_or_heartbeat(site: Site) -> None:
    site.functions.handlers["silent"] = lambda _: None
    late = site.start(pipeline("LambdaCallback", "silent", timeout=2))
    silent = site.start(pipeline("LambdaCallback", "silent", timeout=60, heartbeat=1))
    for execution in (late, silent):
        ended = site.ended(execution, 10)
        assert ended["status"] == "FAILED"
        assert ended["error"] in {"States.Timeout", "States.HeartbeatTimeout"}


def test_an_execution_that_waits_is_stopped_at_once_with_error_and_cause(site: Site) -> None:
    site.functions.handlers["silent"] = lambda _: None
    execution = site.start(pipeline("LambdaCallback", "silent"))
    # a waiting execution is not in progress for `drained`
    site.wait_for(lambda: site.executions.working == 0)
    site.client.stop_execution(executionArn=execution, error="Aborted", cause="by alice")
    ended = site.ended(execution, 5)
    assert (ended["status"], ended["error"], ended["cause"]) == ("ABORTED", "Aborted", "by alice")


def test_an_execution_that_pauses_before_another_attempt_is_stopped_at_once(site: Site) -> None:
    def fail(_: Any) -> None:
        raise FunctionError("Busy", "later")

    site.functions.handlers["busy"] = fail
    retry = {"ErrorEquals": ["Busy"], "IntervalSeconds": 60}
    machine = site.create(
        "busy", {"StartAt": "S", "States": {"S": _call("busy", Retry=[retry], End=True)}}
    )
    execution = site.client.start_execution(stateMachineArn=machine)["executionArn"]
    site.wait_for(lambda: site.functions.of("busy"))
    threading.Event().wait(0.3)
    site.client.stop_execution(executionArn=execution, error="Aborted", cause="by alice")
    ended = site.ended(execution, 5)
    assert (ended["status"], ended["error"], ended["cause"]) == ("ABORTED", "Aborted", "by alice")


@pytest.mark.parametrize("expression", ["$nothing.at.all", "$sum('a')", "((", "$error('no')"])
def test_a_fault_in_jsonata_ends_the_execution_with_its_name(site: Site, expression: str) -> None:
    state = {"Type": "Pass", "Output": f"{{% {expression} %}}", "End": True}
    name = f"faulty-{uuid.uuid4()}"
    machine = site.create(name, {"StartAt": "P", "States": {"P": state}})
    execution = site.client.start_execution(stateMachineArn=machine)["executionArn"]
    ended = site.ended(execution)
    assert (ended["status"], ended["error"]) == ("FAILED", "States.QueryEvaluationError")


def test_an_execution_of_a_name_is_started_once(site: Site) -> None:
    site.functions.handlers["convert"] = lambda event: event
    name, before = str(uuid.uuid4()), len(site.functions.of("convert"))
    dumps = json.dumps({"pipelines": [pipeline("Lambda", "convert")], "run": {}})

    def start(_: int) -> str:
        try:
            return site.client.start_execution(
                stateMachineArn=site.machine, name=name, input=dumps
            )["executionArn"]
        except site.client.exceptions.ExecutionAlreadyExists:
            return ""

    with ThreadPoolExecutor(8) as pool:
        started = {arn for arn in pool.map(start, range(16)) if arn}
    (execution,) = started
    assert site.ended(execution)["status"] == "SUCCEEDED"
    assert len(site.functions.of("convert")) == before + 1
    with pytest.raises(site.client.exceptions.ExecutionAlreadyExists):
        site.client.start_execution(stateMachineArn=site.machine, name=name, input="{}")


def test_rules_get_the_status_of_an_execution_when_it_starts_and_ends(site: Site) -> None:
    def fail(_: Any) -> None:
        raise FunctionError("ValueError", "no such mesh")

    site.functions.handlers["failing"] = fail
    execution = site.start(pipeline("Lambda", "failing"))
    assert [event["status"] for event in site.events(execution)][:1] == ["RUNNING"]
    site.ended(execution)
    site.wait_for(lambda: len(site.events(execution)) == 2)
    begun, ended = site.events(execution)
    assert (begun["status"], begun["stopDate"], begun["error"]) == ("RUNNING", None, None)
    assert (ended["status"], ended["error"]) == ("FAILED", "ValueError")
    assert "no such mesh" in ended["cause"]
    assert ended["name"] == execution.rpartition(":")[2]
    assert ended["stopDate"] >= ended["startDate"] == begun["startDate"]


@pytest.mark.parametrize(
    "content",
    [
        {"StartAt": "B", "States": {"A": {"Type": "Pass", "End": True}}},
        {"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}}},
        {"StartAt": "A", "States": {"A": {"Type": "Teleport", "End": True}}},
        {"States": {}},
    ],
)
def test_an_invalid_definition_is_refused(site: Site, content: dict[str, Any]) -> None:
    with pytest.raises(site.client.exceptions.InvalidDefinition):
        site.create("invalid", content)
