"""Calls of functions in tenant isolation, executions by Step Functions, notifications."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, cast

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)
from botocore.stub import Stubber

from backend.aws import clients
from backend.aws.function_calls import LambdaCalls
from backend.aws.notifications import ATTRIBUTE, SnsNotifications, as_subject, digest
from backend.aws.runs import StepFunctionsRuns, function_arn
from backend.aws.settings import Settings
from backend.core.errors import InvalidInputError, RateLimitedError, TooLargeError, UnavailableError
from backend.core.function_calls import CallReply, ReplyLostError
from backend.core.runs import PipelineTask, RunInput, RunState, StepState, TaskKind

Response = Callable[[AWSPreparedRequest], AWSResponse]


class _Raw(BytesIO):
    def stream(self, **_: object) -> Any:
        yield self.read()


def answered(status: int, body: object, **headers: str) -> Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    names: Any = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: AWSResponse(request.url, status, names, _Raw(content))


def rest(_seconds: float) -> None:
    """Wait no time between attempts."""


def slow(request: AWSPreparedRequest) -> AWSResponse:
    raise ReadTimeoutError(endpoint_url=request.url)


def calls(
    monkeypatch: pytest.MonkeyPatch, *answers: Response
) -> tuple[LambdaCalls, list[AWSPreparedRequest]]:
    monkeypatch.setattr("tenacity.nap.time.sleep", rest)
    waiting, sent = list(answers), list[AWSPreparedRequest]()
    session: Any = boto3.Session("AKIA", "secret", region_name="eu-west-1")
    client = session.client("lambda", config=Config(retries={"total_max_attempts": 1}))

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        sent.append(request)
        return (waiting.pop(0) if len(waiting) > 1 else waiting[0])(request)

    client.meta.events.register("before-send.lambda.Invoke", answer)
    return LambdaCalls(client, 240), sent


def test_the_tenant_is_a_signed_header_of_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    lambda_calls, sent = calls(monkeypatch, answered(200, {"needs": ["a"]}))
    for tenant in ("x-1:1", "x-2:2"):
        assert lambda_calls.call("reader", tenant, {}) == CallReply({"needs": ["a"]})
    assert [request.headers["X-Amz-Tenant-Id"] for request in sent] == [b"x-1:1", b"x-2:2"]
    for request in sent:
        assert "x-amz-tenant-id" in str(request.headers["Authorization"])


def test_the_end_of_a_function_is_a_failure_with_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = "the function that reads it failed: "
    for body, kind in (
        ({"errorType": "Runtime.ExitError", "errorMessage": "x" * 5000}, "Runtime.ExitError"),
        ({"errorType": "y" * 5000}, "y" * 100),
        ({}, ""),
        ([1], ""),
        (b"<html>", ""),
    ):
        answer = answered(200, body, X_Amz_Function_Error="Unhandled")
        lambda_calls, _ = calls(monkeypatch, answer)
        reason = failed + (kind or "no reason is given")
        assert lambda_calls.call("reader", "t", {}) == CallReply(failure=reason, kind=kind)
    for body in (b"", b"<html>", b"[" * 100_000):
        lambda_calls, _ = calls(monkeypatch, answered(200, body))
        assert lambda_calls.call("reader", "t", {}) == CallReply(None)


@pytest.mark.parametrize(
    "body",
    [
        {"errorType": "Sandbox.Timedout", "errorMessage": "Error: Task timed out"},
        {"errorMessage": "2026-01-01T00:00:00Z 4f-1 Task timed out after 240.00 seconds"},
    ],
)
def test_a_function_that_is_ended_at_its_time_out_is_late(
    body: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = answered(200, body, X_Amz_Function_Error="Unhandled")
    lambda_calls, _ = calls(monkeypatch, answer)
    reply = lambda_calls.call("reader", "t", {})
    assert reply.late
    assert reply.failure is not None


def broken(kind: Callable[..., Exception], **named: Any) -> Response:
    def fail(request: AWSPreparedRequest) -> AWSResponse:
        raise kind(endpoint_url=request.url, **named)

    return fail


def cut_off(request: AWSPreparedRequest) -> AWSResponse:
    """A reply that ends before its announced length."""
    return AWSResponse(request.url, 200, cast("Any", {"Content-Length": "10"}), _Raw(b"{}"))


DONE = answered(200, {"result": {}})
BUSY = answered(429, {}, x_amzn_ErrorType="TooManyRequestsException")
REPLY = CallReply({"result": {}})
LATE = CallReply(failure="the function that reads it has not replied within 240 seconds", late=True)


@pytest.mark.parametrize(
    ("answers", "expected", "attempts"),
    [
        ([BUSY, BUSY, DONE], REPLY, 3),  # refused for want of instances
        ([broken(EndpointConnectionError), DONE], REPLY, 2),  # started no function
        ([broken(ConnectTimeoutError), DONE], REPLY, 2),
        ([answered(502, {}, x_amzn_ErrorType="EC2ThrottledException"), DONE], REPLY, 2),
        ([answered(400, {}, x_amzn_ErrorType="ThrottlingException"), DONE], REPLY, 2),
        # The function may have started: a second one would run beside it.
        ([slow], LATE, 1),
        ([broken(ConnectionClosedError, request=None), DONE], ReplyLostError, 1),
        ([broken(SSLError, error="decryption failed"), DONE], ReplyLostError, 1),
        ([cut_off, DONE], ReplyLostError, 1),
        ([answered(500, {}, x_amzn_ErrorType="ServiceException"), DONE], ReplyLostError, 1),
        ([answered(503, b""), DONE], ReplyLostError, 1),
        ([answered(403, {}, x_amzn_ErrorType="AccessDeniedException")], ClientError, 1),
    ],
)
def test_a_call_is_repeated_only_if_it_started_no_function(
    answers: list[Response],
    expected: CallReply | type[Exception],
    attempts: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lambda_calls, sent = calls(monkeypatch, *answers)
    if isinstance(expected, CallReply):
        assert lambda_calls.call("reader", "t", {}) == expected
    else:
        with pytest.raises(expected):
            lambda_calls.call("reader", "t", {})
    assert len(sent) == attempts


def test_a_request_that_lambda_would_not_accept_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lambda_calls, sent = calls(monkeypatch, DONE)
    request = {"files": {str(number): "\U0001f600" * 2000 for number in range(512)}}
    reply = lambda_calls.call("reader", "t", request)
    assert reply.failure == "the names of the files that it refers to take more than 6 MB"
    assert (reply.late, sent) == (False, [])


def test_a_function_that_stays_busy_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    lambda_calls, sent = calls(monkeypatch, BUSY)
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr("tenacity.time.monotonic", lambda: next(clock))
    with pytest.raises(UnavailableError):
        lambda_calls.call("reader", "t", {})
    assert len(sent) > 1


def test_the_client_of_readers_waits_longer_than_they_run_and_tries_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    config = clients.waiting_lambda(270).meta.config
    assert config.read_timeout == 270
    assert config.retries["total_max_attempts"] == 1


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


def test_an_execution_that_exists_or_is_unknown_is_none(service: Service) -> None:
    service.stub.add_client_error("start_execution", "ExecutionAlreadyExists")
    service.runs.start("e-1", GIVEN)
    with pytest.raises(TooLargeError):
        service.runs.start("e-1", RunInput([TASK], {"inputMetadata": "ä" * 131_072}))
    service.stub.add_client_error("stop_execution", "ExecutionDoesNotExist")
    service.runs.stop("e-1", error="Aborted", cause="by a user")
    service.stub.add_client_error("describe_execution", "ExecutionDoesNotExist")
    assert service.runs.describe("e-1") is None
    service.stub.add_client_error("get_execution_history", "ExecutionDoesNotExist")
    assert service.runs.steps("e-1") == {}
    expected = "arn:aws:lambda:eu-central-1:111122223333:function:vitrine-prod-Inspect"
    assert function_arn("Inspect", MACHINE) == expected


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


def test_an_execution_is_stopped_with_its_reason_and_described_with_its_times(
    service: Service,
) -> None:
    service.stub.add_response(
        "stop_execution",
        {"stopDate": datetime(2026, 1, 2, tzinfo=UTC)},
        {"executionArn": EXECUTION, "error": "e" * 256, "cause": "c" * 32_768},
    )
    service.runs.stop("e-1", error="e" * 300, cause="c" * 40_000)
    service.stub.assert_no_pending_responses()
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


class TopicMailboxes:
    """The topic; each address has a separate queue instead of a mailbox."""

    def __init__(self) -> None:
        self.sns: Any = boto3.client("sns", region_name="us-east-1")
        self.sqs: Any = boto3.client("sqs", region_name="us-east-1")
        self.topic = self.sns.create_topic(Name="test-Notifications")["TopicArn"]
        self.notifications = SnsNotifications(
            self.sns, Settings({"TOPIC_Notifications": self.topic})
        )

    def policies(self) -> dict[str, Any]:
        subscriptions = self.sns.list_subscriptions_by_topic(TopicArn=self.topic)["Subscriptions"]
        policies: dict[str, Any] = {}
        for item in subscriptions:
            arn = item["SubscriptionArn"]
            result = self.sns.get_subscription_attributes(SubscriptionArn=arn)["Attributes"]
            policies[item["Endpoint"]] = json.loads(result["FilterPolicy"])
        return policies

    def mailbox(self, email: str) -> str:
        """A queue that receives the messages that pass the address's filter."""
        url = self.sqs.create_queue(QueueName=digest(email))["QueueUrl"]
        request = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        self.sns.subscribe(
            TopicArn=self.topic,
            Protocol="sqs",
            Endpoint=request["Attributes"]["QueueArn"],
            Attributes={"FilterPolicy": json.dumps(self.policies()[email])},
        )
        return url

    def received(self, mailbox: str) -> list[tuple[str, str]]:
        messages = self.sqs.receive_message(QueueUrl=mailbox, MaxNumberOfMessages=10)
        bodies = [json.loads(item["Body"]) for item in messages.get("Messages", [])]
        return [(body["Subject"], body["Message"]) for body in bodies]


@pytest.fixture
def post() -> TopicMailboxes:
    return TopicMailboxes()


def test_a_message_reaches_only_its_recipients(post: TopicMailboxes) -> None:
    for email in ("ann@x.org", "bob@x.org", "eve@x.org"):
        post.notifications.add_address(email)
    boxes = {email: post.mailbox(email) for email in ("ann@x.org", "bob@x.org", "eve@x.org")}
    post.notifications.send(["ann@x.org", "bob@x.org"], subject="Hello", text="News\n")
    result = {email: post.received(box) for email, box in boxes.items()}
    listed = [("Hello", "News\n")]
    assert result == {"ann@x.org": listed, "bob@x.org": listed, "eve@x.org": []}


def test_an_address_is_added_once_and_a_request_that_sns_rejects_is_invalid(
    post: TopicMailboxes,
) -> None:
    for _ in range(2):
        post.notifications.add_address("ann@x.org")
    assert post.policies() == {"ann@x.org": {ATTRIBUTE: [digest("ann@x.org")]}}
    assert digest("Ann@X.org") == digest("ann@x.org")
    with pytest.raises(InvalidInputError):
        post.notifications.send(["ann@x.org"], subject="x", text="y" * 300_000)
    assert as_subject("Changed: Löwe\n\u200b") == "Changed: L?we??"
    assert len(as_subject("Changed: " + "x" * 300)) == 100


def test_hundreds_of_recipients_are_notified_in_several_messages(post: TopicMailboxes) -> None:
    emails = [f"user{number}@x.org" for number in range(250)]
    post.notifications.add_address(emails[249])
    box = post.mailbox(emails[249])
    post.notifications.send(emails, subject="Hello", text="News")
    assert post.received(box) == [("Hello", "News")]
