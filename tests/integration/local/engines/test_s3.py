"""versitygw: the operations of S3 that the product uses, and the differences from S3."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from local.engines import ENGINES, EngineError, Options, free_port
from tests.integration.local.engines.support import Site

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

ENGINE = "s3"
PART = 5 * 1024 * 1024


class EventFields(TypedDict):
    """The used part of a webhook event."""

    eventName: str
    s3: dict[str, dict[str, str | int | None]]


class Webhook(ThreadingHTTPServer):
    """Collects the events that the gateway sends."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receiver)
        self.events: list[EventFields] = []

    def wait_for(self, count: int) -> list[tuple[str, str]]:
        """Return the events as (name, key) once there are this many, and remove them."""
        deadline = time.monotonic() + 60
        while len(self.events) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        events = [(event["eventName"], str(event["s3"]["object"]["key"])) for event in self.events]
        self.events.clear()
        return events


class _Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        cast("Webhook", self.server).events.extend(body.get("Records", []))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    server = Webhook()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def bucket(s3: "S3Client", name: str) -> str:
    s3.create_bucket(Bucket=name)
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    return name


def body(s3: "S3Client", name: str, key: str, version: str | None = None) -> bytes:
    if version is None:
        return s3.get_object(Bucket=name, Key=key)["Body"].read()
    return s3.get_object(Bucket=name, Key=key, VersionId=version)["Body"].read()


def refused(error: pytest.ExceptionInfo[ClientError]) -> tuple[int, str | None]:
    """Return status and delete-marker header of an error reply."""
    metadata = error.value.response.get("ResponseMetadata")
    assert metadata is not None
    return metadata["HTTPStatusCode"], metadata["HTTPHeaders"].get("x-amz-delete-marker")


def test_a_body_that_ends_early_is_refused(site: Site) -> None:
    s3 = site.clients.s3
    name = bucket(s3, "cut")
    upload = s3.create_multipart_upload(Bucket=name, Key="part")["UploadId"]
    part = {"Bucket": name, "Key": "part", "UploadId": upload, "PartNumber": 1}
    whole = s3.put_object(Bucket=name, Key="whole", Body=b"before")["VersionId"]
    for operation, parameters in [
        ("put_object", {"Bucket": name, "Key": "whole"}),
        ("upload_part", part),
    ]:
        url = urlsplit(s3.generate_presigned_url(operation, Params=parameters))
        with socket.create_connection((url.hostname, url.port)) as connection:
            head = f"PUT {url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\n"
            connection.sendall(f"{head}Content-Length: {PART}\r\n\r\n".encode())
            connection.sendall(bytes(PART // 2))
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(4096).partition(b"\r\n")[0]
        assert b" 400 " in answer
    assert s3.head_object(Bucket=name, Key="whole")["VersionId"] == whole
    assert not s3.list_parts(Bucket=name, Key="part", UploadId=upload).get("Parts")


def test_get_and_the_version_report_a_delete_marker_but_head_does_not(site: Site) -> None:
    s3 = site.clients.s3
    name = bucket(s3, "marked")
    s3.put_object(Bucket=name, Key="x", Body=b"1")
    version = s3.delete_object(Bucket=name, Key="x")["VersionId"]
    with pytest.raises(ClientError) as error:
        s3.get_object(Bucket=name, Key="x")
    assert refused(error) == (404, "true")
    with pytest.raises(ClientError) as error:
        s3.head_object(Bucket=name, Key="x", VersionId=version)
    assert refused(error) == (405, "true")
    with pytest.raises(ClientError) as error:
        s3.head_object(Bucket=name, Key="x")
    assert refused(error) == (404, None), "S3 says x-amz-delete-marker: true here"


def test_pages_of_versions_miss_none_but_may_contain_one_twice(site: Site) -> None:
    s3 = site.clients.s3
    name = bucket(s3, "paged")
    made = {
        (key, s3.put_object(Bucket=name, Key=key, Body=b"x")["VersionId"])
        for key in ("a", "b", "c")
        for _ in range(3)
    }
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=name, PaginationConfig={"PageSize": 2}
    )
    listed = [
        (version.get("Key"), version.get("VersionId"))
        for page in pages
        for version in page["Versions"]
    ]
    assert set(listed) == made
    assert len(listed) > len(made), "S3 says each once; then the note in the engine is outdated"


def test_objects_versions_and_open_uploads_survive_a_crash(site: Site) -> None:
    s3 = site.clients.s3
    name = bucket(s3, "durable")
    first = s3.put_object(Bucket=name, Key="x", Body=b"1", Metadata={"m": "v"})["VersionId"]
    s3.put_object(Bucket=name, Key="x", Body=b"2")
    upload = s3.create_multipart_upload(Bucket=name, Key="big")["UploadId"]
    part = s3.upload_part(Bucket=name, Key="big", UploadId=upload, PartNumber=1, Body=b"p")
    site.crash_and_restart()
    s3 = site.clients.s3
    assert body(s3, name, "x") == b"2"
    assert body(s3, name, "x", first) == b"1"
    assert s3.head_object(Bucket=name, Key="x", VersionId=first)["Metadata"] == {"m": "v"}
    s3.complete_multipart_upload(
        Bucket=name,
        Key="big",
        UploadId=upload,
        MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
    )
    assert body(s3, name, "big") == b"p"


def test_the_webhook_receives_put_multipart_copy_and_delete(
    tools: Path, tmp_path: Path, webhook: Webhook
) -> None:
    url = f"http://127.0.0.1:{webhook.server_port}/events"
    place = Site(ENGINES[ENGINE], tools, tmp_path, options=Options(s3_webhook=url))
    place.start()
    try:
        s3 = place.clients.s3
        name = bucket(s3, "told")
        s3.put_object(Bucket=name, Key="a b/ü+%.txt", Body=b"1")
        assert webhook.wait_for(1) == [("s3:ObjectCreated:Put", "a b/ü+%.txt")]
        upload = s3.create_multipart_upload(Bucket=name, Key="m")["UploadId"]
        part = s3.upload_part(Bucket=name, Key="m", UploadId=upload, PartNumber=1, Body=b"p")
        s3.complete_multipart_upload(
            Bucket=name,
            Key="m",
            UploadId=upload,
            MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]},
        )
        assert webhook.wait_for(1) == [("s3:ObjectCreated:CompleteMultipartUpload", "m")]
        s3.copy_object(Bucket=name, Key="c", CopySource={"Bucket": name, "Key": "m"})
        assert webhook.wait_for(1) == [("s3:ObjectCreated:Copy", "c")]
        s3.delete_object(Bucket=name, Key="c")
        assert webhook.wait_for(1) == [("s3:ObjectRemoved:Delete", "c")]
        s3.delete_objects(Bucket=name, Delete={"Objects": [{"Key": "m"}, {"Key": "c"}]})
        assert sorted(webhook.wait_for(2)) == [
            ("s3:ObjectRemoved:DeleteObjects", "c"),
            ("s3:ObjectRemoved:DeleteObjects", "m"),
        ]
    finally:
        place.end()


def test_the_gateway_does_not_start_if_its_webhook_does_not_respond(
    tools: Path, tmp_path: Path
) -> None:
    options = Options(s3_webhook=f"http://127.0.0.1:{free_port()}/")
    place = Site(ENGINES[ENGINE], tools, tmp_path, options=options)
    with pytest.raises(EngineError, match=r"s3 ended with code 1(.|\n)*connection refused"):
        place.start()
    assert not (tmp_path / "data" / "s3.pid").exists()
