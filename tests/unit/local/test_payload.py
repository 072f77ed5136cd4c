"""Requests as events, and results of functions as replies."""

import base64
import json

import pytest

from local.payload import (
    MalformedReplyError,
    Request,
    identity_of,
    reply_of,
    request_event,
    with_body,
)
from local.plan import Route
from local.routing import Match


def _event(
    *headers: tuple[str, str], path: str = "/a", query: str = "", body: bytes = b""
) -> dict[str, object]:
    request = Request("POST", path, query, headers, "10.0.0.1", "HTTP/1.1", body)
    match = Match(Route("POST /a", "integration", None), {})
    return {**with_body(request_event(request, match, "api"), request)}


@pytest.mark.parametrize(
    ("content_type", "body", "binary"),
    [
        ("application/json", b"{}", False),
        ("application/json; charset=utf-8", "ä".encode(), False),
        ("application/problem+json", b"{}", False),
        ("text/csv", b"a,b", False),
        ("text/plain", b"\xff", True),
        ("application/x-www-form-urlencoded", b"a=1", True),
        ("image/png", b"abc", True),
    ],
)
def test_the_content_type_decides_whether_a_body_is_text(
    content_type: str, body: bytes, binary: bool
) -> None:
    event = _event(("content-type", content_type), body=body)

    assert event["isBase64Encoded"] is binary
    expected = base64.b64encode(body).decode() if binary else body.decode()
    assert event["body"] == expected


def test_a_result_has_status_headers_and_cookies() -> None:
    reply = reply_of(
        b'{"statusCode": "201", "headers": {"X-A": 1, "Content-Length": "9"}, "cookies": ["c=1"]}'
    )

    assert reply.status == 201
    assert ("x-a", "1") in reply.headers
    assert ("set-cookie", "c=1") in reply.headers
    assert "content-length" not in dict(reply.headers)


@pytest.mark.parametrize(
    "payload",
    [
        b"{",
        b'{"statusCode": 99}',
        b'{"statusCode": true}',
        b'{"statusCode": 200, "body": 1}',
        b'{"statusCode": 200, "body": "#", "isBase64Encoded": true}',
        b'{"statusCode": 200, "headers": 1}',
    ],
)
def test_what_is_no_response_is_refused(payload: bytes) -> None:
    with pytest.raises(MalformedReplyError):
        reply_of(payload)


def test_bytes_come_as_base64_and_are_counted_here() -> None:
    body = base64.b64encode(bytes(range(256))).decode()
    headers = {"Content-Type": "image/png", "Content-Length": "7"}
    result = {"statusCode": 206, "headers": headers, "body": body, "isBase64Encoded": True}
    reply = reply_of(json.dumps(result).encode())
    assert (reply.status, reply.body) == (206, bytes(range(256)))
    assert reply.headers == (("content-type", "image/png"),)


def test_the_reply_to_head_has_no_body_and_the_length_that_the_function_returns() -> None:
    headers = {"Content-Type": "image/png", "Content-Length": "5000000"}
    result = {"statusCode": 200, "headers": headers, "body": "not sent"}
    reply = reply_of(json.dumps(result).encode(), method="HEAD")
    assert reply.body == b""
    assert dict(reply.headers)["content-length"] == "5000000"


def test_an_identity_needs_all_its_sources() -> None:
    headers = _event(("authorization", "me"), query="k=1")
    sources = ["$request.header.Authorization", "$request.querystring.k"]

    assert identity_of(sources, headers) == ["me", "1"]  # pyright: ignore[reportArgumentType]
    assert identity_of(sources, {"headers": {"authorization": "me"}}) is None
    address = ["$context.identity.sourceIp"]
    assert identity_of(address, headers) == ["10.0.0.1"]  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="not supported"):
        identity_of(["$stageVariables.x"], {})
