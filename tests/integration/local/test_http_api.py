"""The small deployment over HTTP, and the delivery of its changes to functions."""

from __future__ import annotations

import concurrent.futures
import json
import re
import socket
import time
from typing import TYPE_CHECKING, cast
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


def test_a_change_reaches_the_consumer_of_the_stream(small: Small) -> None:
    small.put("plain", content={"B": b"\x00\xff"})
    small.wait_drained()

    item = small.seen_item("plain")
    assert item["times"] == {"N": "1"}
    assert item["content"] == {"S": "AP8="}


def test_drained_is_true_only_when_everything_before_it_was_processed(small: Small) -> None:
    for number in range(40):
        key = f"soon-{number}"
        small.put(key)
        if number % 10 == 0:
            small.wait_drained()
            assert small.seen(key) >= 1
    small.wait_drained()

    assert all(small.seen(f"soon-{number}") >= 1 for number in range(40))


def _failures(small: Small) -> list[dict[str, object]]:
    result: list[dict[str, object]] = []
    for entry in small.s3().list_objects_v2(Bucket="small-failures").get("Contents", []):
        key = entry.get("Key", "")
        body = small.s3().get_object(Bucket="small-failures", Key=key)["Body"].read()
        result.append({"key": key, **json.loads(body)})
    return result


def _failed_batches(small: Small, key: str) -> list[dict[str, object]]:
    return [failure for failure in _failures(small) if f'"{key}"' in str(failure["payload"])]


def test_a_record_that_the_function_reports_is_abandoned_alone_with_its_body(small: Small) -> None:
    for key, more in (("before", {}), ("poison", {"fail": {"S": "yes"}}), ("behind", {})):
        small.put(key, **more)
    small.wait_drained()

    assert (small.seen("before"), small.seen("poison"), small.seen("behind")) == (1, 0, 1)
    (document,) = _failed_batches(small, "poison")
    context = cast("dict[str, object]", document["requestContext"])
    batch = cast("dict[str, object]", document["DDBStreamBatchInfo"])
    payload = json.loads(cast("str", document["payload"]))
    assert str(document["key"]).startswith("aws/lambda/")
    assert context["condition"] == "RetryAttemptsExhausted"
    assert batch["batchSize"] == 1
    assert [r["dynamodb"]["Keys"]["id"]["S"] for r in payload["Records"]] == ["poison"]


def test_messages_that_fail_too_often_become_dead_letters(small: Small) -> None:
    for identifier, fail in (("good", False), ("bad", True)):
        body = json.dumps({"id": identifier, "fail": fail})
        small.sqs().send_message(QueueUrl=small.queue("Hasty"), MessageBody=body)
    small.wait_drained()

    assert small.seen("good") >= 1
    dead = small.sqs().receive_message(QueueUrl=small.queue("Dead"), WaitTimeSeconds=5)
    assert ['"bad"' in message.get("Body", "") for message in dead.get("Messages", [])] == [True]


def test_objects_made_and_removed_become_events_on_the_bus(small: Small) -> None:
    s3 = small.s3()
    first = s3.put_object(Bucket="small-objects", Key="a dir/ä+b.glb", Body=b"123")
    s3.put_object(Bucket="small-objects", Key="other.obj", Body=b"1")
    small.wait_drained()
    assert small.seen("Object Created:a dir/ä+b.glb") == 1
    event = json.loads(small.seen_item("Object Created:a dir/ä+b.glb")["message"]["S"])
    assert event["source"] == "aws.s3"
    assert event["detail"]["bucket"] == {"name": "small-objects"}
    assert event["detail"]["object"]["version-id"] == first["VersionId"]
    assert event["detail"]["object"]["size"] == 3

    s3.put_object(Bucket="small-objects", Key="a dir/ä+b.glb", Body=b"12345")
    s3.delete_object(Bucket="small-objects", Key="other.obj")
    small.wait_drained()

    assert small.seen("Object Created:a dir/ä+b.glb") == 2
    assert small.seen("Object Deleted:other.obj") == 1


def test_a_multipart_upload_is_one_event_with_its_size(small: Small) -> None:
    s3 = small.s3()
    upload = s3.create_multipart_upload(Bucket="small-objects", Key="parts.bin")["UploadId"]
    size = 5 * 1024 * 1024
    parts = [
        {
            "ETag": s3.upload_part(
                Bucket="small-objects",
                Key="parts.bin",
                UploadId=upload,
                PartNumber=number,
                Body=b"x" * size,
            )["ETag"],
            "PartNumber": number,
        }
        for number in (1, 2)
    ]
    s3.complete_multipart_upload(
        Bucket="small-objects",
        Key="parts.bin",
        UploadId=upload,
        MultipartUpload={"Parts": parts},  # pyright: ignore[reportArgumentType]
    )
    small.wait_drained()

    item = small.seen_item("Object Created:parts.bin")
    assert item["times"] == {"N": "1"}
    assert json.loads(item["message"]["S"])["detail"]["object"]["size"] == 2 * size


def _errors(small: Small) -> int:
    return int(small.admin("/functions").json()["small-Worker"]["errors"])


def test_an_outage_of_the_table_engine_heals_by_itself(small: Small) -> None:
    before = _errors(small)
    small.admin(
        "/faults", "PUT", [{"engine": "dynamodb", "operation": "UpdateItem", "status": 400}]
    )
    small.sqs().send_message(QueueUrl=small.queue("Work"), MessageBody=json.dumps({"id": "outage"}))
    try:
        small.wait_for(lambda: _errors(small) > before)
        assert small.admin("/drained").json()["drained"] is False
        assert small.seen("outage") == 0
    finally:
        small.admin("/faults", "DELETE")
    small.wait_drained()

    assert small.seen("outage") == 1


def test_a_queue_engine_that_was_away_is_read_again(small: Small) -> None:
    small.admin("/engines/queues/kill", "POST")
    assert small.admin("/health").json()["engines"]["queues"]["healthy"] is False
    small.admin("/engines/queues/start", "POST")

    body = json.dumps({"id": "after the engine was away"})
    small.wait_for(lambda: small.admin("/health").json()["engines"]["queues"]["healthy"])
    small.sqs().send_message(QueueUrl=small.queue("Work"), MessageBody=body)
    small.wait_drained()

    assert small.seen("after the engine was away") == 1
