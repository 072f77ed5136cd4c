"""Calls of functions in tenant isolation: their header, and the results of their ends."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any, cast

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)

from backend.aws import clients
from backend.aws.function_calls import LambdaCalls
from backend.core.errors import UnavailableError
from backend.core.function_calls import CallReply, ReplyLostError

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
    found = lambda_calls.call("reader", "t", {})
    assert found.late
    assert found.failure is not None


def test_a_reply_that_is_no_json_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for body in (b"", b"<html>", b"[" * 100_000):
        lambda_calls, _ = calls(monkeypatch, answered(200, body))
        assert lambda_calls.call("reader", "t", {}) == CallReply(None)


def test_a_call_that_never_ends_is_a_failure_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lambda_calls, sent = calls(monkeypatch, slow)
    found = lambda_calls.call("reader", "t", {})
    failure = "the function that reads it has not replied within 240 seconds"
    assert found == CallReply(failure=failure, late=True)
    assert len(sent) == 1


def test_a_call_that_was_refused_for_want_of_instances_is_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = answered(429, {}, x_amzn_ErrorType="TooManyRequestsException")
    lambda_calls, sent = calls(monkeypatch, busy, busy, answered(200, {"result": {}}))
    assert lambda_calls.call("reader", "t", {}) == CallReply({"result": {}})
    assert len(sent) == 3


def test_other_refusals_are_errors_of_the_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    denied = answered(403, {}, x_amzn_ErrorType="AccessDeniedException")
    lambda_calls, sent = calls(monkeypatch, denied)
    with pytest.raises(Exception, match="AccessDenied"):
        lambda_calls.call("reader", "t", {})
    assert len(sent) == 1


def broken(kind: Callable[..., Exception], **named: Any) -> Response:
    def fail(request: AWSPreparedRequest) -> AWSResponse:
        raise kind(endpoint_url=request.url, **named)

    return fail


def cut_off(request: AWSPreparedRequest) -> AWSResponse:
    """A reply that ends before its announced length."""
    return AWSResponse(request.url, 200, cast("Any", {"Content-Length": "10"}), _Raw(b"{}"))


@pytest.mark.parametrize(
    "lost",
    [
        broken(ConnectionClosedError, request=None),
        broken(SSLError, error="decryption failed"),
        cut_off,
        answered(500, {}, x_amzn_ErrorType="ServiceException"),
        answered(503, b""),
    ],
)
def test_a_call_whose_reply_is_lost_is_not_repeated(
    lost: Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function may have started: a second one would run beside it."""
    lambda_calls, sent = calls(monkeypatch, lost, answered(200, {"result": {}}))
    with pytest.raises(ReplyLostError):
        lambda_calls.call("reader", "t", {})
    assert len(sent) == 1


@pytest.mark.parametrize(
    "refused",
    [
        broken(EndpointConnectionError),
        broken(ConnectTimeoutError),
        answered(502, {}, x_amzn_ErrorType="EC2ThrottledException"),
        answered(400, {}, x_amzn_ErrorType="ThrottlingException"),
    ],
)
def test_a_call_that_started_no_function_is_repeated(
    refused: Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    lambda_calls, sent = calls(monkeypatch, refused, answered(200, {"result": {}}))
    assert lambda_calls.call("reader", "t", {}) == CallReply({"result": {}})
    assert len(sent) == 2


def test_a_request_that_lambda_would_not_accept_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lambda_calls, sent = calls(monkeypatch, answered(200, {"result": {}}))
    request = {"files": {str(number): "\U0001f600" * 2000 for number in range(512)}}
    found = lambda_calls.call("reader", "t", request)
    assert found.failure == "the names of the files that it refers to take more than 6 MB"
    assert (found.late, sent) == (False, [])


def test_a_function_that_stays_busy_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = answered(429, {}, x_amzn_ErrorType="TooManyRequestsException")
    lambda_calls, sent = calls(monkeypatch, busy)
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
