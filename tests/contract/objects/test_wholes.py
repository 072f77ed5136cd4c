"""Objects that are put by one presigned request and read by their version, on all stores."""

import pytest

from backend.core.errors import NotFoundError
from backend.core.objects import ObjectHead
from tests.contract.objects.conftest import Store


def put(store: Store, key: str, body: bytes) -> str:
    """Put an object; return its version id."""
    return store.objects.put(
        store.bucket, key, body, content_type="text/plain", metadata={}
    ).version_id


def test_the_start_of_an_object_is_read_with_its_version(store: Store) -> None:
    put(store, "a/long.txt", b"older")
    for key, body in (("a/long.txt", b"0123456789"), ("a/empty.txt", b"")):
        version_id = put(store, key, body)
        for length in (4, 10, 400):
            read = store.objects.read_version(store.bucket, key, length=length)
            head = store.objects.head(store.bucket, key)
            assert isinstance(head, ObjectHead)
            assert read.content == body[:length]
            assert read.version == head.version
            assert (read.version.version_id, read.version.size) == (version_id, len(body))
    store.objects.delete(store.bucket, "a/long.txt")
    for key in ("a/long.txt", "a/none.txt"):
        with pytest.raises(NotFoundError):
            store.objects.read_version(store.bucket, key, length=4)


def test_an_object_is_put_whole_to_a_url(store: Store) -> None:
    key = "temp-uploads/y1/whole of ä"
    etags = [
        store.send(store.objects.presign_put(store.bucket, key, expires=60), body)
        for body in (b"first", b"second")
    ]
    read = store.objects.read_version(store.bucket, key, length=99)
    assert (read.content, f'"{read.version.etag}"') == (b"second", etags[1])
    assert len(store.objects.list_versions(store.bucket, key).versions) == 2
