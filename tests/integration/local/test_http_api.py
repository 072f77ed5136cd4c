"""The conversion of HTTP requests by the gateway, through real function processes."""

from __future__ import annotations

import concurrent.futures
import re
import socket
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from conftest import Small


AUTHORIZER_SECONDS = 2  # as `small_deployment` declares it


@pytest.fixture
def http(small: Small) -> Generator[httpx.Client]:
    with small.http() as client:
        yield client


def test_an_event_is_built_as_api_gateway_builds_it(http: httpx.Client) -> None:
    sent = http.post(
        "/items/a%2Fb/parts/c/d%20e?x=1&x=%C3%A4&empty=",
        headers=[("X-Twice", "one"), ("x-twice", "two"), ("Cookie", "a=1; b=2")],
    )
    assert sent.status_code == 404  # the route is for GET

    answer = http.get(
        "/items/a%2Fb/parts/c/d%20e?x=1&x=%C3%A4&empty=",
        headers=[("X-Twice", "one"), ("x-twice", "two"), ("Cookie", "a=1; b=2")],
    ).json()

    event = answer["event"]
    assert event["routeKey"] == "GET /items/{id}/parts/{rest+}"
    assert event["rawPath"] == "/items/a/b/parts/c/d e"
    assert event["rawQueryString"] == "x=1&x=%C3%A4&empty="
    assert event["queryStringParameters"] == {"x": "1,ä", "empty": ""}
    assert event["pathParameters"] == {"id": "a/b", "rest": "c/d e"}
    assert event["headers"]["x-twice"] == "one,two"
    assert "cookie" not in event["headers"]
    assert event["cookies"] == ["a=1", "b=2"]
    assert event["requestContext"]["http"]["method"] == "GET"
    assert event["isBase64Encoded"] is False
    assert 0 < answer["left"] <= 5000


def test_a_json_body_is_text_and_a_binary_one_is_base64(http: httpx.Client) -> None:
    assert http.post("/echo", json={"a": "ä"}).json()["event"]["body"] == '{"a":"ä"}'

    answer = http.post(
        "/binary", content=b"\x01\xff", headers={"content-type": "application/octet-stream"}
    )

    assert answer.status_code == 201
    assert answer.content == b"\xff\x01"
    assert answer.headers["x-length"] == "2"
    assert answer.headers.get_list("set-cookie") == ["a=1; Path=/", "b=2"]


@pytest.mark.parametrize(
    ("path", "authorization", "status", "message"),
    [
        ("/no/such/route", None, 404, "Not Found"),
        ("/safe", None, 401, "Unauthorized"),
        ("/safe", "no", 403, "Forbidden"),
        ("/safe", "break", 500, "Internal Server Error"),
        ("/fail", None, 500, "Internal Server Error"),
        ("/malformed", None, 500, "Internal Server Error"),
        ("/large?bytes=6400000", None, 500, "Internal Server Error"),
        ("/crash", None, 500, "Internal Server Error"),
        ("/sleep?seconds=2.5", None, 503, "Service Unavailable"),
    ],
)
def test_a_request_without_a_result_of_its_function_has_the_reply_of_api_gateway(
    http: httpx.Client, path: str, authorization: str | None, status: int, message: str
) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    answer = http.get(path, headers=headers)

    assert (answer.status_code, answer.json()) == (status, {"message": message})
    assert http.get("/echo").status_code == 200


def test_a_decision_is_kept_for_the_time_in_the_template(small: Small, http: httpx.Client) -> None:
    def decision_id() -> str:
        answer = http.get("/safe", headers={"Authorization": "let me in again"})
        return answer.json()["event"]["requestContext"]["authorizer"]["lambda"]["asked"]

    while True:  # until a busy machine serves both within that time
        begun = time.monotonic()
        first, second = decision_id(), decision_id()
        if time.monotonic() - begun < AUTHORIZER_SECONDS:
            break
    assert second == first
    small.wait_for(lambda: decision_id() != first)


def test_a_process_that_takes_too_long_is_ended(small: Small, http: httpx.Client) -> None:
    assert http.get("/sleep?seconds=600").status_code == 503
    log = small.state / "logs" / "functions" / "small-SleepFunction.log"
    pid = int(re.findall(r"sleeps in (\d+)", log.read_text(encoding="utf-8"))[-1])
    small.wait_for(lambda: not psutil.pid_exists(pid))
    # None: starting another process took too long for the gateway.
    small.wait_for(lambda: http.get("/sleep?seconds=0").json().get("pid") not in {pid, None})


@pytest.mark.parametrize("size", [7_000_000, 10_500_000])
def test_a_body_over_the_limits_is_refused(http: httpx.Client, size: int) -> None:
    answer = http.post("/echo", content=b"x" * size, headers={"content-type": "text/plain"})

    assert (answer.status_code, answer.json()) == (413, {"message": "Request Entity Too Large"})


def test_browsers_of_a_declared_origin_may_send_requests(http: httpx.Client) -> None:
    preflight = http.options(
        "/echo",
        headers={"Origin": "https://web.example", "Access-Control-Request-Method": "PUT"},
    )
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "https://web.example"
    assert preflight.headers["access-control-allow-methods"] == "GET,PUT"
    assert preflight.headers["access-control-max-age"] == "60"

    answer = http.get("/echo", headers={"Origin": "https://web.example"})
    assert answer.headers["access-control-allow-origin"] == "https://web.example"
    other = http.get("/echo", headers={"Origin": "https://other.example"})
    assert "access-control-allow-origin" not in other.headers


def test_calls_at_the_same_time_have_processes_of_their_own(small: Small) -> None:
    def sleep(_: int) -> object:
        answer = httpx.get(small.endpoint["api"] + "/sleep?seconds=0.7", timeout=30)
        return answer.json().get("pid")  # none for a cold start that took too long

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        small.wait_for(lambda: len({*pool.map(sleep, range(3))} - {None}) == 3)


def test_a_function_sees_only_what_lambda_would_show(small: Small, http: httpx.Client) -> None:
    environment = http.get("/environment").json()

    assert environment["GREETING"] == "hello"
    assert environment["TABLE_Seen"] == "small-Seen"
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "small-ApiFunction"
    assert not {name for name in environment if name.startswith(("VIRTUAL", "PYTEST", "VITRINE"))}
    assert "six" in http.get("/import?module=six").json()["file"]
    assert http.get("/import?module=starlette").status_code == 500
    log = small.state / "logs" / "functions" / "small-ApiFunction.log"
    assert "No module named 'starlette'" in log.read_text(encoding="utf-8")


def test_a_client_that_hangs_up_leaves_the_gateway_serving(
    small: Small, http: httpx.Client
) -> None:
    place = urlsplit(small.endpoint["api"])
    with socket.create_connection((place.hostname or "", place.port or 0)) as connection:
        connection.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc")

    assert http.get("/echo").status_code == 200
