"""Presigned URLs: the requests that they allow, and the parts that the signature covers."""

from urllib.parse import parse_qs, urlsplit

import pytest

from backend.aws.clients import s3
from backend.aws.objects import S3Objects
from backend.aws.settings import Settings
from backend.core.file_kinds import serving_of
from backend.core.reads import REQUEST_PARAMETER
from backend.entrypoints.wiring.context import Context
from backend.entrypoints.wiring.downloads import downloads
from backend.spec.functions.apis import DOWNLOADS_API
from backend.spec.settings import MAX_URL_SECONDS, PRESIGNED_URL_SECONDS


def query_of(url: str) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}


def part_url(*, expires: int = 900) -> str:
    return S3Objects(s3()).presign_part(
        "bucket", "temp-uploads/y1/0", upload_id="u", number=7, expires=expires
    )


def put_url() -> str:
    return S3Objects(s3()).presign_put("bucket", "temp-uploads/y1/0", expires=900)


def get_url(*, key: str = "statue/a.svg") -> str:
    return S3Objects(s3()).presign_get(
        "bucket", key, version_id="v1", serving=serving_of(key), expires=900
    )


@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "eu-south-1", "us-gov-west-1"])
def test_a_url_names_the_host_of_the_buckets_region(
    region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place_of(region, monkeypatch) == (
        f"https://museum-assets.s3.{region}.amazonaws.com/a.glb",
        # A certificate covers one label: a name with dots stays in the path.
        f"https://s3.{region}.amazonaws.com/museum.assets/a.glb",
    )


def test_a_url_of_the_local_store_names_the_bucket_in_its_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9000")
    assert place_of("us-east-1", monkeypatch) == (
        "http://127.0.0.1:9000/museum-assets/a.glb",
        "http://127.0.0.1:9000/museum.assets/a.glb",
    )


def place_of(region: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Return the URLs, without their queries, of an object in two buckets of a region."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    objects = S3Objects(s3.__wrapped__())
    urls = (
        objects.presign_get(
            bucket, "a.glb", version_id=None, serving=serving_of("a.glb"), expires=900
        )
        for bucket in ("museum-assets", "museum.assets")
    )
    return tuple(url.partition("?")[0] for url in urls)


@pytest.mark.parametrize("url", [part_url, put_url, get_url])
def test_a_url_is_signed_with_the_fourth_version_and_is_valid_until_its_expiry(url: object) -> None:
    assert callable(url)
    query = query_of(str(url()))
    assert query["X-Amz-Algorithm"] == "AWS4-HMAC-SHA256"
    assert query["X-Amz-Expires"] == "900"


@pytest.mark.parametrize("url", [part_url, put_url, get_url])
def test_no_header_of_s3_can_be_added_because_none_is_signed(url: object) -> None:
    """S3 refuses requests with an `x-amz-*` header that is not among the signed ones."""
    assert callable(url)
    assert query_of(str(url()))["X-Amz-SignedHeaders"] == "host"


def test_the_url_of_a_part_is_for_that_part_of_that_upload_alone() -> None:
    query = query_of(part_url())
    found = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
    assert found == {"uploadId": "u", "partNumber": "7"}


def test_the_url_of_a_whole_object_is_for_that_object_alone() -> None:
    url = put_url()
    assert urlsplit(url).path.endswith("/temp-uploads/y1/0")
    assert [name for name in query_of(url) if not name.startswith("X-Amz-")] == []


def test_type_disposition_and_version_are_signed() -> None:
    query = query_of(get_url())
    found = {name: value for name, value in query.items() if not name.startswith("X-Amz-")}
    assert found == {
        "versionId": "v1",
        "response-content-type": "image/svg+xml",
        "response-content-disposition": "attachment; filename*=UTF-8''a.svg",
    }


@pytest.mark.parametrize(("output", "seconds"), [("900", 900), ("3600", 3600), ("86400", 3600)])
def test_no_stage_makes_urls_that_live_for_more_than_an_hour(
    settings: Settings, output: str, seconds: int
) -> None:
    own = {**settings.environment, PRESIGNED_URL_SECONDS.variable: output}
    context = Context(DOWNLOADS_API, settings=Settings(own))
    assert downloads(context).url_seconds == seconds <= MAX_URL_SECONDS


@pytest.mark.parametrize("operation", ["get_object", "put_object", "upload_part"])
def test_a_url_names_the_request_that_issued_it_as_a_part_of_what_is_signed(
    operation: str,
) -> None:
    def url(request_id: str) -> dict[str, str]:
        objects = S3Objects(s3(), lambda: request_id)
        if operation == "get_object":
            key = "statue/a.svg"
            made = objects.presign_get(
                "bucket", key, version_id="v1", serving=serving_of(key), expires=900
            )
        elif operation == "put_object":
            made = objects.presign_put("bucket", "temp-uploads/y1/0", expires=900)
        else:
            made = objects.presign_part(
                "bucket", "temp-uploads/y1/0", upload_id="u", number=7, expires=900
            )
        return query_of(made)

    one, other = url("JKJaXmPLvHcESHA="), url("another")
    assert one[REQUEST_PARAMETER] == "JKJaXmPLvHcESHA="
    assert one["X-Amz-Signature"] != other["X-Amz-Signature"]
