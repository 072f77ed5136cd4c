"""The contract of the port of guarded objects, on all supported stores; it has no fake."""

import pytest

from backend.aws.guarded_objects import S3GuardedObjects
from backend.aws.objects import S3Objects
from backend.core.objects import ObjectHead
from tests.contract.objects.conftest import Store

pytestmark = pytest.mark.parametrize("store", ["moto", "versitygw"], indirect=True)


def put(store: Store, body: bytes) -> str:
    written = store.objects.put(
        store.bucket, "a/b.json", body, content_type="application/json", metadata={}
    )
    return written.etag


def guarded(store: Store) -> S3GuardedObjects:
    assert isinstance(store.objects, S3Objects)
    return S3GuardedObjects(store.objects.client)


def replace(store: Store, body: bytes, *, etag: str, key: str = "a/b.json") -> bool:
    return guarded(store).replace(
        store.bucket, key, body, etag=etag, content_type="application/json"
    )


def body_of(store: Store) -> bytes:
    return b"".join(store.objects.read_chunks(store.bucket, "a/b.json"))


def test_an_object_that_is_as_it_was_is_replaced(store: Store) -> None:
    assert replace(store, b"2", etag=put(store, b"1"))
    head = store.objects.head(store.bucket, "a/b.json")
    assert isinstance(head, ObjectHead)
    assert (body_of(store), head.content_type) == (b"2", "application/json")


def test_an_object_that_was_written_again_is_not_replaced(store: Store) -> None:
    old = put(store, b"1")
    put(store, b"2")
    assert not replace(store, b"3", etag=old)
    assert body_of(store) == b"2"


def test_an_object_that_is_not_there_is_not_made(store: Store) -> None:
    etag = put(store, b"1")
    assert not replace(store, b"2", etag=etag, key="a/none.json")
    assert store.objects.head(store.bucket, "a/none.json") is None


def test_an_object_is_deleted_only_as_it_was(store: Store) -> None:
    old = put(store, b"1")
    new = put(store, b"2")
    assert not guarded(store).delete(store.bucket, "a/b.json", etag=old)
    assert body_of(store) == b"2"
    assert guarded(store).delete(store.bucket, "a/b.json", etag=new)
    assert not isinstance(store.objects.head(store.bucket, "a/b.json"), ObjectHead)


def test_the_deletion_of_what_is_not_there_ends_well(store: Store) -> None:
    assert guarded(store).delete(store.bucket, "a/none.json", etag="x") in {True, False}
