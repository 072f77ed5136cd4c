"""Executions by Step Functions: the requests, and the conversion of replies and errors."""

import json
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from backend.aws.runs import StepFunctionsRuns, function_arn
from backend.aws.settings import Settings
from backend.core.errors import RateLimitedError, TooLargeError, UnavailableError
from backend.core.runs import PipelineTask, RunInput, RunState, StepState, TaskKind

MACHINE = "arn:aws:states:eu-central-1:111122223333:stateMachine:vitrine-prod-executions"
EXECUTION = "arn:aws:states:eu-central-1:111122223333:execution:vitrine-prod-executions:e-1"
CONVERT = "arn:aws:lambda:eu-central-1:111122223333:function:convert"
RENDERS = "arn:aws:sqs:eu-central-1:111122223333:renders"
BUS = "arn:aws:events:eu-central-1:111122223333:event-bus/default"
TASK = PipelineTask("LambdaCallback", CONVERT, {"outputType": ".glb"}, 60, 0)
GIVEN = RunInput([TASK], {"databaseId": "db"})


class Service:
    """The adapter, and the next replies of the service."""

    def __init__(self) -> None:
        client: Any = boto3.client("stepfunctions", region_name="eu-central-1")
        self.stub = Stubber(client)
        self.stub.activate()
        allowed = ",".join((CONVERT, RENDERS, BUS))
        self.runs = StepFunctionsRuns(
            client,
            Settings({"EXECUTIONS_STATE_MACHINE_ARN": MACHINE, "EXECUTIONS_ALLOWED_ARNS": allowed}),
        )


@pytest.fixture
def service() -> Service:
    return Service()


def _sent(task: dict[str, Any]) -> str:
    return json.dumps({"pipelines": [task], "run": {"databaseId": "db"}}, separators=(",", ":"))


def test_an_execution_is_started_under_its_id_with_its_pipelines_and_the_shared_body(
    service: Service,
) -> None:
    sent = {
        "kind": "LambdaCallback",
        "resource": CONVERT,
        "timeout": 60,
        "heartbeat": 0,
        "source": "",
        "detailType": "",
        "message": {"outputType": ".glb"},
    }
    service.stub.add_response(
        "start_execution",
        {"executionArn": EXECUTION, "startDate": datetime(2026, 1, 2, tzinfo=UTC)},
        {"stateMachineArn": MACHINE, "name": "e-1", "input": _sent(sent)},
    )
    service.runs.start("e-1", GIVEN)
    service.stub.assert_no_pending_responses()


def test_an_execution_that_exists_is_not_started_again(service: Service) -> None:
    service.stub.add_client_error("start_execution", "ExecutionAlreadyExists")
    service.runs.start("e-1", GIVEN)


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ExecutionLimitExceeded", 400, RateLimitedError),
        ("ThrottlingException", 400, UnavailableError),
        ("InternalFailure", 500, UnavailableError),
    ],
)
def test_limits_and_outages_are_distinguished(
    service: Service, code: str, status: int, expected: type[Exception]
) -> None:
    service.stub.add_client_error("start_execution", code, http_status_code=status)
    with pytest.raises(expected):
        service.runs.start("e-1", GIVEN)


def test_an_input_over_the_limit_is_refused_before_it_is_sent(service: Service) -> None:
    with pytest.raises(TooLargeError):
        service.runs.start("e-1", RunInput([TASK], {"inputMetadata": "ä" * 131_072}))


def test_an_execution_is_stopped_with_its_reason_in_the_length_that_the_service_takes(
    service: Service,
) -> None:
    service.stub.add_response(
        "stop_execution",
        {"stopDate": datetime(2026, 1, 2, tzinfo=UTC)},
        {"executionArn": EXECUTION, "error": "e" * 256, "cause": "c" * 32_768},
    )
    service.runs.stop("e-1", error="e" * 300, cause="c" * 40_000)
    service.stub.assert_no_pending_responses()


def test_stopping_an_unknown_execution_has_no_effect(service: Service) -> None:
    service.stub.add_client_error("stop_execution", "ExecutionDoesNotExist")
    service.runs.stop("e-1", error="Aborted", cause="by a user")


def test_an_execution_is_described_with_times_error_and_cause(service: Service) -> None:
    service.stub.add_response(
        "describe_execution",
        {
            "executionArn": EXECUTION,
            "stateMachineArn": MACHINE,
            "status": "FAILED",
            "startDate": datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC),
            "stopDate": datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC),
            "error": "ValueError",
            "cause": "no mesh",
        },
        {"executionArn": EXECUTION},
    )
    assert service.runs.describe("e-1") == RunState(
        "FAILED", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:06.000Z", "ValueError", "no mesh"
    )


def test_an_execution_that_the_service_does_not_know_has_no_state(service: Service) -> None:
    service.stub.add_client_error("describe_execution", "ExecutionDoesNotExist")
    assert service.runs.describe("e-1") is None


def test_the_pipelines_of_an_execution_have_their_own_states_and_times(service: Service) -> None:
    def event(number: int, kind: str, **details: Any) -> dict[str, Any]:
        at = datetime(2026, 1, 2, 3, 4, number, tzinfo=UTC)
        return {"timestamp": at, "id": number, "type": kind, **details}

    def step(number: int, kind: str, index: int) -> dict[str, Any]:
        named = {f"mapIteration{kind}EventDetails": {"name": "Pipelines", "index": index}}
        return event(number, f"MapIteration{kind}", **named)

    history = [
        event(1, "ExecutionStarted"),
        step(2, "Started", 0),
        step(3, "Succeeded", 0),
        step(4, "Started", 1),
        step(5, "Failed", 1),
    ]
    query = {"executionArn": EXECUTION, "maxResults": 1000, "includeExecutionData": False}
    service.stub.add_response("get_execution_history", {"events": history}, query)
    assert service.runs.steps("e-1") == {
        1: StepState("SUCCEEDED", "2026-01-02T03:04:02.000Z", "2026-01-02T03:04:03.000Z"),
        2: StepState("FAILED", "2026-01-02T03:04:04.000Z", "2026-01-02T03:04:05.000Z"),
    }


def test_an_execution_that_the_service_does_not_know_has_no_steps(service: Service) -> None:
    service.stub.add_client_error("get_execution_history", "ExecutionDoesNotExist")
    assert service.runs.steps("e-1") == {}


@pytest.mark.parametrize(
    ("kind", "resource", "allowed"),
    [
        ("Lambda", CONVERT, True),
        ("LambdaCallback", "convert", True),
        ("Lambda", "vitrine-prod-api-AssetsApi", False),
        ("Lambda", "arn:aws:lambda:eu-central-1:444455556666:function:convert", False),
        ("SQS", "https://sqs.eu-central-1.amazonaws.com/111122223333/renders", True),
        ("SQS", "http://127.0.0.1:9324/111122223333/renders", True),
        ("SQS", "https://sqs.eu-west-1.amazonaws.com/111122223333/renders", False),
        ("SQS", "https://sqs.eu-central-1.amazonaws.com.example.org/111122223333/renders", False),
        ("SQS", "https://sqs.eu-central-1.amazonaws.com/111122223333/other", False),
        ("SQS", RENDERS, False),
        ("EventBridge", BUS, True),
        ("EventBridge", "default", True),
        ("EventBridgeCallback", "other", False),
        ("Lambda", "", False),
    ],
)
def test_only_what_the_deployment_names_may_be_called(
    service: Service, kind: TaskKind, resource: str, allowed: bool
) -> None:
    assert service.runs.may_call(kind, resource) is allowed


def test_a_function_of_the_product_is_called_by_its_name_in_the_stack() -> None:
    expected = "arn:aws:lambda:eu-central-1:111122223333:function:vitrine-prod-Inspect"
    assert function_arn("Inspect", MACHINE) == expected
