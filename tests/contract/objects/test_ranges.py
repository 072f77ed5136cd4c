"""The contract of the port of ranges, on all supported stores; it has no fake."""

import pytest

from backend.aws.object_ranges import S3ObjectRanges
from backend.aws.objects import S3Objects
from backend.core.object_ranges import ObjectRanges
from backend.core.objects import Written
from tests.contract.objects.conftest import Store

pytestmark = pytest.mark.parametrize("store", ["moto", "versitygw"], indirect=True)

KEY = "a/ä b+%.bin"
BODY = bytes(range(100))


@pytest.fixture
def ranges(store: Store) -> ObjectRanges:
    assert isinstance(store.objects, S3Objects)
    return S3ObjectRanges(store.objects.client)


def put(store: Store, body: bytes = BODY) -> Written:
    return store.objects.put(
        store.bucket, KEY, body, content_type="application/octet-stream", metadata={}
    )


@pytest.mark.parametrize("span", [(0, 1), (10, 20), (99, 100), (0, 100)])
def test_the_bytes_of_a_span_are_read(
    store: Store, ranges: ObjectRanges, span: tuple[int, int]
) -> None:
    etag = put(store).etag
    result = ranges.read(store.bucket, KEY, version_id=None, etag=etag, span=span)
    assert result == BODY[span[0] : span[1]]


def test_an_older_version_is_read_under_the_newer_one(store: Store, ranges: ObjectRanges) -> None:
    first = put(store)
    put(store, b"newer")
    result = ranges.read(
        store.bucket, KEY, version_id=first.version_id, etag=first.etag, span=(5, 8)
    )
    assert result == BODY[5:8]


def test_what_was_replaced_archived_or_removed_is_not_read(
    store: Store, ranges: ObjectRanges
) -> None:
    first = put(store)

    def read(version_id: str | None = None) -> bytes | None:
        span = (50, 60)
        return ranges.read(store.bucket, KEY, version_id=version_id, etag=first.etag, span=span)

    put(store, bytes(100))
    assert read() is None
    put(store, b"short")
    assert read() is None
    store.objects.delete(store.bucket, KEY)
    assert read() is None
    store.objects.delete_version(store.bucket, KEY, version_id=first.version_id)
    assert read(first.version_id) is None
