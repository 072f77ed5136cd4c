"""Errors that S3 returns for single keys, behind the port of objects."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.stub import Stubber

from backend.aws.clients import s3
from backend.aws.object_ranges import S3ObjectRanges
from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.objects import NotRestoredError, ObjectHead, ObjectRef, ObjectRefusedError


class RawResponse(io.BytesIO):
    """A body as urllib3 gives it."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


def delete_with(code: str) -> None:
    """Delete two keys; S3 deletes one and returns the code for the other."""
    client = s3()
    reply = {"Errors": [{"Key": "a/b.txt", "Code": code, "Message": "its reason"}]}
    with Stubber(client) as stub:
        stub.add_response("delete_objects", reply)
        S3Objects(client).delete_many("bucket", [("a/b.txt", "1"), ("a/c.txt", "2")])


def test_a_key_that_may_not_be_deleted_is_an_error_with_its_reason() -> None:
    with pytest.raises(ObjectRefusedError, match=r"a/b\.txt.*AccessDenied its reason"):
        delete_with("AccessDenied")


@pytest.mark.parametrize("code", ["InternalError", "SlowDown", "ServiceUnavailable"])
def test_a_key_that_s3_failed_to_delete_is_an_outage(code: str) -> None:
    with pytest.raises(UnavailableError):
        delete_with(code)


def test_a_missing_version_counts_as_deleted() -> None:
    delete_with("NoSuchVersion")


def listing(*entries: tuple[str, str, int]) -> bytes:
    """Return S3's answer with these versions (kind, version id, second) of one key."""
    parts = "".join(
        f"<{kind}><Key>a</Key><VersionId>{name}</VersionId><IsLatest>{name == 'latest'}</IsLatest>"
        f"<LastModified>2026-01-01T00:00:{second:02}.000Z</LastModified></{kind}>".replace(
            "True", "true"
        )
        for kind, name, second in entries
    )
    return (
        f"<ListVersionsResult><IsTruncated>false</IsTruncated>{parts}</ListVersionsResult>".encode()
    )


@pytest.mark.parametrize(
    "entries",
    [
        # a version and markers of one second
        (("Version", "latest", 5), ("DeleteMarker", "b", 5), ("Version", "c", 5)),
        (("DeleteMarker", "latest", 5), ("Version", "b", 5), ("DeleteMarker", "c", 5)),
        # an upload by parts, which began before the version that it replaced was written
        (("Version", "latest", 9), ("Version", "b", 1), ("Version", "c", 7)),
    ],
)
def test_versions_are_in_the_order_of_the_store(entries: tuple[tuple[str, str, int], ...]) -> None:
    client = s3.__wrapped__()

    def answer(request: AWSPreparedRequest, **_: object) -> AWSResponse:
        raw = RawResponse(listing(*entries))
        return AWSResponse(request.url, 200, HTTPHeaders(), cast("Any", raw))

    client.meta.events.register("before-send.s3.ListObjectVersions", cast("Any", answer))
    found = S3Objects(client).list_versions("bucket", "a").versions
    assert [one.version_id for one in found] == [name for _, name, _ in entries]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"StorageClass": "GLACIER"}, True),
        ({"StorageClass": "DEEP_ARCHIVE", "Restore": 'ongoing-request="true"'}, True),
        ({"StorageClass": "GLACIER", "Restore": 'ongoing-request="false", expiry-date="x"'}, False),
        ({"StorageClass": "INTELLIGENT_TIERING", "ArchiveStatus": "ARCHIVE_ACCESS"}, True),
        ({"StorageClass": "INTELLIGENT_TIERING"}, False),
        ({"StorageClass": "GLACIER_IR"}, False),
        ({}, False),
    ],
)
def test_a_head_reports_what_has_to_be_restored(facts: dict[str, Any], expected: bool) -> None:
    client = s3()
    reply = {"LastModified": datetime(2026, 1, 1, tzinfo=UTC), "ContentLength": 1, "ETag": '"e"'}
    with Stubber(client) as stub:
        stub.add_response("head_object", {**reply, "Metadata": {}, **facts})
        head = S3Objects(client).head("bucket", "a")
    assert isinstance(head, ObjectHead)
    assert head.needs_restore is expected


def test_reading_or_copying_an_archived_object_is_refused() -> None:
    client = s3()
    with Stubber(client) as stub:
        for operation in ("get_object", "get_object", "copy_object"):
            stub.add_client_error(operation, "InvalidObjectState", http_status_code=403)
        objects = S3Objects(client)
        with pytest.raises(NotRestoredError):
            objects.read_start("bucket", "a", length=1)
        with pytest.raises(NotRestoredError):
            S3ObjectRanges(client).read("bucket", "a", version_id=None, etag="e", span=(0, 1))
        with pytest.raises(NotRestoredError):
            objects.copy(
                ObjectRef("bucket", "a"),
                ObjectRef("bucket", "b"),
                content_type="text/plain",
                metadata={},
            )
