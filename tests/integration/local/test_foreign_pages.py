"""Access of pages of other origins to the ports of a running runtime.

A page can send requests to every port of this machine, read what CORS allows, and let its own host
name resolve to this machine. This test covers every port: it finds them by the processes.
"""

from __future__ import annotations

import http.client
import json
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import boto3
import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

    from tests.integration.local.conftest import Small

_LIST_TABLES = (
    *(
        "POST",
        "/",
        {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Authorization": "Credential=a/"},
    ),
    "{}",
)
_NEXT = "/2018-06-01/runtime/invocation/next"
_FOREIGN = (
    *({"Host": "evil.example"}, {"Host": "localhost.evil.example:80"}, {"Origin": "null"}),
    *({"Origin": "http://evil.example"}, {"Origin": "http://127.0.0.1:1"}),
    *({"Sec-Fetch-Site": "cross-site"}, {"Host": "127.0.0.1@evil.example"}),
)


def _listening(small: Small) -> set[int]:
    runner = psutil.Process(int(small.endpoint["pid"]))
    result: set[int] = set()
    for process in (runner, *runner.children(recursive=True)):
        listening = [
            connection.laddr
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
        result |= {item.port for item in listening}
        assert {item.ip.removeprefix("::ffff:") for item in listening} <= {"127.0.0.1"}
    return result


def _port(url: str) -> int:
    port = urlsplit(url).port
    assert port is not None
    return port


def _send(
    port: int, method: str, path: str, headers: dict[str, str], body: str = ""
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def _guarded(small: Small) -> Iterator[tuple[int, str, str, dict[str, str], str]]:
    """Ports with a request that each serves; those of processes reply 410 or wait for a call."""
    endpoint = small.endpoint
    yield _port(endpoint["api"]), "GET", "/nothing", {}, ""
    yield _port(endpoint["admin"]), "GET", "/health", {}, ""
    yield _port(endpoint["aws"]), "GET", "/moto-api/data.json", {}, ""
    if endpoint["states"]:  # exists if the deployment has a state machine
        yield _port(endpoint["states"]), "GET", "/moto-api/data.json", {}, ""
    yield (_port(endpoint["dynamodb"]), *_LIST_TABLES)


def test_every_port_is_guarded_or_known_to_need_no_guard(small: Small) -> None:
    rows = list(_guarded(small))
    unguarded = {_port(small.endpoint["s3"]), _queues(small)}
    others = _listening(small) - {row[0] for row in rows} - unguarded
    served = [
        (port, foreign)
        for port in others
        for foreign in _FOREIGN
        if _send(port, "GET", _NEXT, foreign)[0] != 403
    ]

    assert len(others) > 40  # the Runtime API of each process, and the recording proxies
    # The proxy before S3 can be linked to, as S3 can: each of its requests is signed.
    assert [foreign for _, foreign in served] in ([], [{"Sec-Fetch-Site": "cross-site"}])


def test_foreign_hosts_origins_and_sites_are_refused(small: Small) -> None:
    for port, method, path, headers, body in _guarded(small):
        assert _send(port, method, path, headers, body)[0] != 403, (port, path)
        own = {"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}
        assert _send(port, method, path, {**headers, **own}, body)[0] != 403, (port, path)
        for foreign in _FOREIGN:
            if port == _port(small.endpoint["api"]) and "Sec-Fetch-Site" in foreign:
                continue  # a link to the API; each request needs a key that no link has
            status, output, _ = _send(port, method, path, {**headers, **foreign}, body)
            # Jetty itself refuses a malformed host with 400.
            assert status == 403 or (status, "@" in str(foreign)) == (400, True), (port, foreign)
            assert "Access-Control-Allow-Origin" not in output


def test_what_stops_an_engine_needs_the_token(small: Small) -> None:
    admin = _port(small.endpoint["admin"])
    for token in ("", "Bearer ", "Bearer " + "0" * 64, small.endpoint["adminToken"]):
        for method, path in (
            *(("POST", "/engines/queues/stop"), ("POST", "/engines/queues/kill")),
            *(("DELETE", "/requests"), ("DELETE", "/faults"), ("PUT", "/faults")),
            ("POST", "/functions/small-Custom/invocations"),
        ):
            status = _send(admin, method, path, {"Authorization": token}, "[]")[0]
            assert status == 401, (token, path)
    for path in ("/notifications", "/tasks", "/tasks/status", "/tasks/waiting", "/x/notifications"):
        assert _send(admin, "POST", path, {}, "{}")[0] == 404, path
    assert _send(admin, "PUT", "/responses/1", {}, "{}")[0] == 404

    assert small.admin("/health").json()["engines"]["queues"]["healthy"] is True


def test_the_token_calls_a_function_by_the_name_that_is_in_the_state_folder(small: Small) -> None:
    created = json.loads((small.state / "resources.json").read_text(encoding="utf-8"))["small"]
    name = created["ApiFunction"]["ref"]
    assert created["ApiFunction"]["attributes"]["Arn"].endswith(f":function:{name}")
    event = {"rawPath": "/echo"}
    output = small.admin(f"/functions/{name}/invocations", "POST", event)
    assert output.json()["event"] == event
    assert small.admin("/functions/nothing/invocations", "POST", {}).status_code == 404
    assert small.admin(f"/functions/{name}/invocations", "POST", []).status_code == 400


def test_queues_are_reached_by_a_path_that_no_page_can_guess(small: Small) -> None:
    port, sqs, queue = _queues(small), small.sqs(), small.queue("Work")
    before = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=_LASTING)["Attributes"]
    named = f"&QueueUrl=http://127.0.0.1:{port}/123456789012/small-Work"
    for action in (
        *("ListQueues", "GetQueueUrl&QueueName=small-Work"),
        *("SendMessage&MessageBody={}", "ReceiveMessage", "PurgeQueue", "DeleteQueue"),
        *("GetQueueAttributes&AttributeName.1=All", "ListDeadLetterSourceQueues"),
        "SetQueueAttributes&Attribute.1.Name=DelaySeconds&Attribute.1.Value=9",
    ):
        form = f"Action={action}&Version=2012-11-05{named}"
        for path in ("/", "/123456789012/small-Work", "/queue/small-Work", "/small-Work"):
            _no_queue(port, "POST", path, form)
            _no_queue(port, "GET", f"{path}?{form}", "")
    assert sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=_LASTING)["Attributes"] == before
    # A page can still create queues, and move dead letters between queues.
    _no_queue(port, "POST", "/", "Action=CreateQueue&QueueName=foreign&Version=2012-11-05")
    assert [url for url in sqs.list_queues()["QueueUrls"] if url.endswith("foreign")] != []
    arn = "arn:aws:sqs:us-east-1:123456789012:small-Work"
    form = f"Action=ListMessageMoveTasks&Version=2012-11-05&SourceArn={arn}"
    assert _send(port, "POST", "/", _FORM, form)[0] == 200


_LASTING: tuple[Literal["CreatedTimestamp", "LastModifiedTimestamp", "DelaySeconds"], ...] = (
    "CreatedTimestamp",
    "LastModifiedTimestamp",
    "DelaySeconds",
)
_FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "null"}


def _no_queue(port: int, method: str, target: str, form: str) -> None:
    status, headers, output = _send(port, method, target, _FORM, form)
    assert status in {400, 404}, (method, target, output)
    assert "Access-Control-Allow-Origin" not in headers


def test_objects_need_a_signature_with_a_key_that_no_page_has(small: Small) -> None:
    small.s3().put_object(Bucket="small-objects", Key="private", Body=b"private")
    port = _port(small.endpoint["s3"])
    for method, path in (
        *(("GET", "/"), ("GET", "/small-objects"), ("GET", "/small-objects/private")),
        *(("PUT", "/small-objects/private"), ("POST", "/small-objects?delete")),
        ("DELETE", "/small-objects/private"),
    ):
        for foreign in _FOREIGN:
            status, headers, output = _send(port, method, path, foreign, "x" * (method == "PUT"))
            assert status in {400, 403}, (method, path)
            assert b"private</Key>" not in output
            assert "Access-Control-Allow-Origin" not in headers
    known, guessed = (_s3_with(small, key) for key in (small.endpoint["secretKey"], "local-secret"))
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        guessed.list_buckets()
    url = known.generate_presigned_url("get_object", {"Bucket": "small-objects", "Key": "private"})
    parts = urlsplit(url)
    target, null = f"{parts.path}?{parts.query}", {"Origin": "null", "Host": parts.netloc}
    assert _send(port, "GET", target, null)[2] == b"private"


def _s3_with(small: Small, secret_key: str) -> S3Client:
    return boto3.client(
        "s3",
        endpoint_url=small.endpoint["s3"],
        aws_access_key_id=small.endpoint["accessKey"],
        aws_secret_access_key=secret_key,
        region_name="us-east-1",
        config=Config(signature_version="s3v4"),
    )


def _queues(small: Small) -> int:
    return _port(small.admin("/health").json()["engines"]["queues"]["url"])
