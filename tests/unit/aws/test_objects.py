"""Objects of S3: errors for single keys, and presigned URLs."""

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.stub import Stubber

from backend.aws.clients import s3
from backend.aws.object_ranges import S3ObjectRanges
from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.file_kinds import serving_of
from backend.core.objects import NotRestoredError, ObjectHead, ObjectRef, ObjectRefusedError
from backend.core.reads import REQUEST_PARAMETER
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.downloads import downloads
from backend.spec.functions.apis import DOWNLOADS_API
from backend.spec.settings import MAX_URL_SECONDS, PRESIGNED_URL_SECONDS
from tests.model.deployment import in_memory_settings


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


def test_a_key_that_is_not_deleted_is_an_error_with_its_reason() -> None:
    with pytest.raises(ObjectRefusedError, match=r"a/b\.txt.*AccessDenied its reason"):
        delete_with("AccessDenied")
    for code in ("InternalError", "SlowDown", "ServiceUnavailable"):
        with pytest.raises(UnavailableError):
            delete_with(code)
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
    versions = S3Objects(client).list_versions("bucket", "a").versions
    assert [item.version_id for item in versions] == [name for _, name, _ in entries]


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


def query_of(url: str) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}


def part_url(request_id: str = "") -> str:
    return S3Objects(s3(), lambda: request_id).presign_part(
        "bucket", "temp-uploads/y1/0", upload_id="u", number=7, expires=900
    )


def put_url(request_id: str = "") -> str:
    objects = S3Objects(s3(), lambda: request_id)
    return objects.presign_put("bucket", "temp-uploads/y1/0", expires=900)


def get_url(request_id: str = "") -> str:
    key = "statue/a.svg"
    return S3Objects(s3(), lambda: request_id).presign_get(
        "bucket", key, version_id="v1", serving=serving_of(key), expires=900
    )


@pytest.mark.parametrize("url", [get_url, put_url, part_url])
def test_a_url_names_the_request_that_issued_it_as_a_part_of_what_is_signed(
    url: Callable[[str], str],
) -> None:
    result, other = query_of(url("JKJaXmPLvHcESHA=")), query_of(url("another"))
    assert result[REQUEST_PARAMETER] == "JKJaXmPLvHcESHA="
    assert result["X-Amz-Signature"] != other["X-Amz-Signature"]


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "eu-south-1", "us-gov-west-1", ""])
def test_a_url_names_the_host_of_the_buckets_region_or_the_local_store(
    region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", region or "us-east-1")
    expected = [
        f"https://museum-assets.s3.{region}.amazonaws.com/a.glb",
        # A certificate covers one label: a name with dots stays in the path.
        f"https://s3.{region}.amazonaws.com/museum.assets/a.glb",
    ]
    if not region:
        local = "http://127.0.0.1:9000"
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", local)
        expected = [f"{local}/museum-assets/a.glb", f"{local}/museum.assets/a.glb"]
    objects = S3Objects(s3.__wrapped__())
    for bucket, place in zip(("museum-assets", "museum.assets"), expected, strict=True):
        url = objects.presign_get(
            bucket, "a.glb", version_id=None, serving=serving_of("a.glb"), expires=900
        )
        assert url.partition("?")[0] == place


KEYS = ("a.glb", "x/é ü/~a+b=c&d?#%25.glb", "/x//../a'()*!.glb", "日本/🎨\t.txt")


@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:9000"])
@pytest.mark.parametrize("bucket", ["museum-assets", "museum.assets"])
@pytest.mark.parametrize("token", ["", "session/token+=="])
@pytest.mark.parametrize("request_id", ["", "JKJaXmPLvHcESHA="])
def test_a_url_is_that_which_the_client_would_sign(
    endpoint: str, bucket: str, token: str, request_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: now)
    for name, value in (("AWS_ENDPOINT_URL_S3", endpoint), ("AWS_SESSION_TOKEN", token)):
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    objects, client = S3Objects(s3.__wrapped__(), lambda: request_id), s3.__wrapped__()

    def add(request: AWSRequest, **_: object) -> None:
        request.params |= {REQUEST_PARAMETER: request_id} if request_id else {}

    client.meta.events.register("before-sign.s3", cast("Any", add))
    part = {"UploadId": "u/+1", "PartNumber": 7}
    for key in KEYS:
        place = {"Bucket": bucket, "Key": key}
        for name, more in (("put_object", {}), ("upload_part", part)):
            url = client.generate_presigned_url(name, place | more, 900)
            if more:
                assert (
                    objects.presign_part(bucket, key, upload_id="u/+1", number=7, expires=900)
                    == url
                )
            else:
                assert objects.presign_put(bucket, key, expires=900) == url
        for version, cache in ((None, None), ("v/1+", "private, max-age=9")):
            serving = serving_of(key)._replace(cache_control=cache)
            parameters = place | {
                "ResponseContentType": serving.content_type,
                "ResponseContentDisposition": serving.disposition,
            }
            if version is not None:
                parameters |= {"ResponseCacheControl": cache, "VersionId": version}
            assert objects.presign_get(
                bucket, key, version_id=version, serving=serving, expires=60
            ) == client.generate_presigned_url("get_object", parameters, 60)


def test_only_the_first_url_of_a_bucket_costs_a_call_of_the_client() -> None:
    client = s3.__wrapped__()
    signed: list[str] = []
    client.meta.events.register(
        "provide-client-params.s3",
        lambda params, **_: signed.append(params["Bucket"]),  # pyright: ignore
    )
    objects = S3Objects(client)
    for bucket in ("one", "two", "one", "two", "one"):
        objects.presign_put(bucket, "a.glb", expires=900)
    assert signed == ["one", "two"]


def test_a_url_is_signed_with_the_fourth_version_without_headers_until_its_expiry() -> None:
    for url in (part_url(), put_url(), get_url()):
        query = query_of(url)
        assert query["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
        assert query["X-Amz-Expires"] == "900"
        # S3 refuses requests with an `x-amz-*` header that is not among the signed ones.
        assert query["X-Amz-SignedHeaders"] == "host"


def test_a_url_is_for_one_part_or_object_alone() -> None:
    query = query_of(part_url())
    result = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
    assert result == {"uploadId": "u", "partNumber": "7"}
    url = put_url()
    assert urlsplit(url).path.endswith("/temp-uploads/y1/0")
    assert [name for name in query_of(url) if not name.startswith("X-Amz-")] == []
    query = query_of(get_url())
    result = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
    assert result == {
        "versionId": "v1",
        "response-content-type": "image/svg+xml",
        "response-content-disposition": "attachment; filename*=UTF-8''a.svg",
    }


@pytest.mark.parametrize(("output", "seconds"), [("900", 900), ("3600", 3600), ("86400", 3600)])
def test_no_stage_makes_urls_that_live_for_more_than_an_hour(output: str, seconds: int) -> None:
    settings = in_memory_settings(**{PRESIGNED_URL_SECONDS.variable: output})
    context = Context(DOWNLOADS_API, settings=settings)
    assert downloads(context).url_seconds == seconds <= MAX_URL_SECONDS
