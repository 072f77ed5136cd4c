"""Uploads of very many parts, and objects that are copied by parts, on all supported stores.

Both stores require S3's 5 MiB for all parts but the last when an upload is completed, not before.
So more than a thousand parts are listed here with a byte each, and completed with full ones only.
"""

import hashlib

import pytest

from backend.core.errors import NotFoundError
from backend.core.objects import ObjectHead, ObjectRef, ObjectRefusedError, Part
from tests.contract.objects.conftest import NOT_MOTO, Store

MIB = 1024 * 1024
MANY = 1003
"""Parts that S3 lists per page."""


def put(store: Store, key: str, body: bytes) -> None:
    store.objects.put(store.bucket, key, body, content_type="text/plain", metadata={})


def start(store: Store, key: str) -> str:
    return store.objects.create_multipart(
        store.bucket, key, content_type="model/obj", metadata={"vitrine-upload": "y7"}
    )


def copied(
    store: Store, source: str, target: str, upload_id: str, number: int, span: tuple[int, int]
) -> Part:
    return store.objects.copy_part(
        ObjectRef(store.bucket, source),
        ObjectRef(store.bucket, target),
        upload_id=upload_id,
        number=number,
        span=span,
    )


@NOT_MOTO
def test_more_than_a_thousand_parts_are_listed_once_each(store: Store) -> None:
    put(store, "source", b"x")
    upload_id = start(store, "a/many.bin")
    sent = [
        copied(store, "source", "a/many.bin", upload_id, number, (0, 1))
        for number in range(1, MANY + 1)
    ]
    assert store.objects.list_parts(store.bucket, "a/many.bin", upload_id) == sent


def test_an_object_is_copied_by_parts_with_its_own_type_and_metadata(store: Store) -> None:
    body = bytes(range(256)) * (11 * MIB // 256) + b"tail"
    put(store, "temp/ä b+%.bin", body)
    upload_id = start(store, "a/copy ä+%.bin")
    spans = [(0, 5 * MIB), (5 * MIB, 10 * MIB), (10 * MIB, len(body))]
    parts = [
        copied(store, "temp/ä b+%.bin", "a/copy ä+%.bin", upload_id, number, span)
        for number, span in enumerate(spans, start=1)
    ]
    assert [part.etag for part in parts] == [
        hashlib.md5(body[first:end]).hexdigest() for first, end in spans
    ]
    assert store.objects.list_parts(store.bucket, "a/copy ä+%.bin", upload_id) == parts
    store.objects.complete_multipart(store.bucket, "a/copy ä+%.bin", upload_id, parts)
    head = store.objects.head(store.bucket, "a/copy ä+%.bin")
    assert isinstance(head, ObjectHead)
    assert (head.content_type, dict(head.metadata)) == ("model/obj", {"vitrine-upload": "y7"})
    assert b"".join(store.objects.read_chunks(store.bucket, "a/copy ä+%.bin")) == body


def test_a_part_of_what_is_absent_is_not_found(store: Store) -> None:
    upload_id = start(store, "a/b.bin")
    with pytest.raises(NotFoundError):
        copied(store, "none", "a/b.bin", upload_id, 1, (0, 1))
    put(store, "source", b"x")
    store.objects.abort_multipart(store.bucket, "a/b.bin", upload_id)
    if store.name != "moto":  # it replies 500
        with pytest.raises(NotFoundError):
            copied(store, "source", "a/b.bin", upload_id, 1, (0, 1))


def test_a_part_beyond_its_source_is_refused(store: Store) -> None:
    put(store, "source", b"0123456789")
    upload_id = start(store, "a/b.bin")
    if store.name != "moto":  # it copies as far as the source reaches
        with pytest.raises(ObjectRefusedError):
            copied(store, "source", "a/b.bin", upload_id, 1, (5, 11))


def test_parts_below_five_mebibytes_are_refused_when_they_are_put_together(store: Store) -> None:
    put(store, "source", b"0123456789")
    upload_id = start(store, "a/b.bin")
    parts = [copied(store, "source", "a/b.bin", upload_id, n, (0, 10)) for n in (1, 2)]
    with pytest.raises(ObjectRefusedError) as refusal:
        store.objects.complete_multipart(store.bucket, "a/b.bin", upload_id, parts)
    assert "EntityTooSmall" in refusal.value.reason
