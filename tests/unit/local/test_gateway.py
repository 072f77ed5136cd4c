"""Requests as events, the routes that they meet, and the replies of the gateway."""

import asyncio
import base64
import json
from typing import cast

import httpx
import pytest
from pydantic import JsonValue

from local.function_process import InvocationResult, function_error
from local.functions import THROTTLED, Functions
from local.gateway import Gateway
from local.payload import (
    MalformedReplyError,
    Request,
    identity_of,
    reply_of,
    request_event,
    with_body,
)
from local.plan import Api, Authorizer, Integration, Object, Route
from local.proxy import Proxies, caller_of, consumed, operation_of
from local.routing import Match, RouteTable


class Echo:
    """A function that returns the path that it was given."""

    async def invoke(self, _function: str, event: Object, *, seconds: float) -> InvocationResult:
        assert seconds == 30
        answer: dict[str, JsonValue] = {"statusCode": 200, "body": str(event["rawPath"])}
        return InvocationResult(json.dumps(answer).encode(), None)


class Failing:
    """A function that ends a call in one way."""

    def __init__(self, result: InvocationResult | None) -> None:
        self._result = result

    async def invoke(
        self, _function: str, _event: Object, *, seconds: float = 0
    ) -> InvocationResult:
        if self._result is None:
            raise TimeoutError
        return self._result


def _paths(*sent: str) -> list[str]:
    """Return the path that the function got for each path, or the status."""
    replies = _replies(Echo(), *sent)
    return [reply.text if reply.status_code == 200 else str(reply.status_code) for reply in replies]


def _gateway(functions: object) -> Gateway:
    keys = ("GET /api/version", "GET /database/{databaseId}")
    api = Api(
        "api",
        "api",
        None,
        routes=[*(Route(key, "all", None) for key in keys), Route("GET /own", "all", "one")],
        integrations={"all": Integration("function", 30)},
        authorizers={"one": Authorizer("one", "function", (), 0)},
    )
    return Gateway(api, cast("Functions", functions))


def _replies(functions: object, *sent: str) -> list[httpx.Response]:
    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(_gateway(functions))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return [await client.get(path) for path in sent]

    return asyncio.run(send())


def test_a_path_below_api_that_no_route_has_is_served_without_the_prefix() -> None:
    assert _paths("/api/version", "/api/api/version") == ["/api/version", "/api/version"]
    assert _paths("/database/one", "/api/database/one") == ["/database/one", "/database/one"]


def test_a_request_of_the_runtime_itself_names_the_host_as_clients_do() -> None:
    seen: list[Object] = []

    class Noting(Echo):
        async def invoke(
            self, _function: str, event: Object, *, seconds: float
        ) -> InvocationResult:
            seen.append(event)
            return await Echo.invoke(self, _function, event, seconds=seconds)

    # Without a host the configuration is refused, and with it the page's sign-in provider.
    answer = asyncio.run(_gateway(Noting()).get("/api/version", "http://127.0.0.1:8080"))
    assert answer == b"/api/version"
    headers = cast("dict[str, str]", seen[0]["headers"])
    assert headers["host"] == "127.0.0.1:8080"


def test_no_other_path_is_shortened() -> None:
    others = _paths("/version", "/api/api/api/version", "/api/", "/API/database/one", "/api")
    assert others == ["404"] * 5


def test_a_call_without_a_result_gets_the_reply_of_api_gateway() -> None:
    busy, internal = (503, "Service Unavailable"), (500, "Internal Server Error")
    for result, wanted in (
        (None, busy),
        (InvocationResult(b"{}", error=THROTTLED), busy),
        (function_error("Sandbox.Timedout", "Task timed out after 29.00 seconds"), internal),
        (function_error("Runtime.ExitError", "signal: 9"), internal),
        # of the function itself, which may have done something
        (function_error(THROTTLED, "a service throttles the function"), internal),
    ):
        (reply,) = _replies(Failing(result), "/api/version")
        assert (reply.status_code, reply.json()) == (wanted[0], {"message": wanted[1]}), result


def test_a_request_whose_authorizer_is_late_can_be_repeated() -> None:
    late, internal = (429, "Too Many Requests"), (500, "Internal Server Error")
    for result, wanted in (
        (InvocationResult(b"{}", error=THROTTLED), late),
        (function_error("Sandbox.Timedout", "Error: did not start within 60 seconds"), late),
        (function_error("Runtime.ExitError", "signal: 9"), internal),
        (InvocationResult(b"[]", error=None), internal),
    ):
        (reply,) = _replies(Failing(result), "/own")
        assert (reply.status_code, reply.json()) == (wanted[0], {"message": wanted[1]}), result


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


_KEYS = [
    "ANY /{proxy+}",
    "GET /pets/{id}",
    "GET /pets/dog",
    "ANY /pets/dog",
    "GET /pets/{id}/toys/{toy}",
    "PUT /pets/{id}/{rest+}",
]


def _table(*keys: str) -> RouteTable:
    return RouteTable(Route(key, "integration", None) for key in keys)


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [
        ("GET", "/pets/dog", "GET /pets/dog"),
        ("PUT", "/pets/dog", "ANY /pets/dog"),
        ("GET", "/pets/cat", "GET /pets/{id}"),
        ("GET", "/pets/cat/toys/ball", "GET /pets/{id}/toys/{toy}"),
        ("PUT", "/pets/cat/toys/ball", "PUT /pets/{id}/{rest+}"),
        ("GET", "/pets/cat/toys", "ANY /{proxy+}"),
        ("POST", "/pets/cat", "ANY /{proxy+}"),
        ("GET", "/pets/", "ANY /{proxy+}"),
    ],
)
def test_the_most_specific_route_is_taken(method: str, path: str, key: str) -> None:
    match = _table(*_KEYS).find(method, path)

    assert match is not None
    assert match.route.key == key


def test_variables_are_decoded_after_the_path_was_taken_apart() -> None:
    match = _table("GET /a/{id}/b/{rest+}").find("GET", "/a/x%2Fy%20z/b/c/d%2Fe")

    assert match is not None
    assert match.parameters == {"id": "x/y z", "rest": "c/d/e"}


def test_a_variable_may_have_two_names_and_a_greedy_one_takes_all_that_follows() -> None:
    table = _table("GET /notes/version:id/{version:id}", "HEAD /files/{proxy+}")
    match = table.find("GET", "/notes/version:id/1%3Aabc")
    assert match is not None
    assert match.parameters == {"version:id": "1:abc"}
    match = table.find("HEAD", "/files/a%20b/c%2Fd.glb")
    assert match is not None
    assert match.parameters == {"proxy": "a b/c/d.glb"}
    assert table.find("GET", "/files/a.glb") is None


def test_the_default_route_takes_what_is_left() -> None:
    match = _table("GET /a", "$default").find("POST", "/b")

    assert match is not None
    assert match.route.key == "$default"


@pytest.mark.parametrize(
    ("engine", "method", "target", "operation"),
    [
        ("dynamodb", "POST", "/", "GetItem"),
        ("s3", "GET", "/bucket?versions&prefix=a", "GET bucket?versions"),
        ("s3", "PUT", "/bucket/a/b?partNumber=1&uploadId=x", "PUT object?uploadId?partNumber"),
        ("s3", "HEAD", "/bucket/key", "HEAD object"),
        ("opensearch", "POST", "/files-1,assets-1/_bulk?x=1", "POST _bulk"),
        ("opensearch", "PUT", "/files-1", "PUT index"),
    ],
)
def test_requests_are_named(engine: str, method: str, target: str, operation: str) -> None:
    headers = {"x-amz-target": "DynamoDB_20120810.GetItem"}

    assert operation_of(engine, method, target, headers) == operation


def test_capacity_is_summed_over_tables() -> None:
    result = {"ConsumedCapacity": {"TableName": "t", "CapacityUnits": 0.5}}
    many = {"ConsumedCapacity": [{"CapacityUnits": 2.0}, {"CapacityUnits": 1.0}]}

    assert consumed(json.dumps(result).encode()) == 0.5
    assert consumed(json.dumps(many).encode()) == 3.0
    assert consumed(b"{}") == 0
    assert consumed(b"not json") == 0


def test_a_malformed_fault_is_refused() -> None:
    with pytest.raises(ValueError, match="engine"):
        Proxies().inject([{"engine": "kafka"}])


def test_the_function_is_the_application_of_the_sdk() -> None:
    result = "Boto3/1.44.5 md/Botocore#1.44.5 ua/2.1 exec-env/x app/dev-IndexChanges Botocore/1.44"

    assert caller_of({"user-agent": result}) == "dev-IndexChanges"
    assert caller_of({"user-agent": "opensearch-py/2.8.0"}) == ""
    assert caller_of({}) == ""
