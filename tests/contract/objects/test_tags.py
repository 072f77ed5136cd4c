"""Tags of objects, on all supported stores."""

from typing import Any

from backend.aws.objects import S3Objects
from backend.core.objects import ObjectHead, ObjectRef
from tests.contract.objects.conftest import Store
from tests.contract.objects.test_objects import put, send
from tests.fakes.objects import MemoryObjects

TAGS = {"project": "a=b + c", "cost center": "4/2:1@x_y-z.", "empty": ""}


def tag(store: Store, key: str, tags: dict[str, str]) -> None:
    """Replace the tags of an object, as a user of S3 does."""
    if isinstance(store.objects, MemoryObjects):
        return store.objects.tag(store.bucket, key, tags)
    assert isinstance(store.objects, S3Objects)
    listed: Any = {"TagSet": [{"Key": name, "Value": value} for name, value in tags.items()]}
    store.objects.client.put_object_tagging(Bucket=store.bucket, Key=key, Tagging=listed)
    return None


def test_a_head_counts_tags_and_they_are_those_of_its_version(store: Store) -> None:
    version_id = put(store, "a/b.txt")
    tag(store, "a/b.txt", TAGS)
    put(store, "a/b.txt")
    old = store.objects.head(store.bucket, "a/b.txt", version_id=version_id)
    new = store.objects.head(store.bucket, "a/b.txt")
    assert isinstance(old, ObjectHead)
    assert isinstance(new, ObjectHead)
    assert (old.tag_count, new.tag_count) == (3, 0)
    assert store.objects.tags(store.bucket, "a/b.txt", version_id=version_id) == TAGS
    assert store.objects.tags(store.bucket, "a/b.txt", version_id=new.version.version_id) == {}


def test_a_copy_has_the_given_tags_only(store: Store) -> None:
    put(store, "a/b.txt")
    tag(store, "a/b.txt", {"old": "1"})
    source, target = ObjectRef(store.bucket, "a/b.txt"), ObjectRef(store.bucket, "a/c.txt")
    for tags in (TAGS, {}):
        written = store.objects.copy(
            source, target, content_type="text/plain", metadata={}, tags=tags
        )
        assert store.objects.tags(*target, version_id=written.version_id) == tags


def test_an_upload_by_parts_writes_tags(store: Store) -> None:
    upload_id = store.objects.create_multipart(
        store.bucket, "a/b.txt", content_type="text/plain", metadata={}, tags=TAGS
    )
    part = send(store, "a/b.txt", upload_id, 1, b"abc")
    written = store.objects.complete_multipart(store.bucket, "a/b.txt", upload_id, [part])
    assert store.objects.tags(store.bucket, "a/b.txt", version_id=written.version_id) == TAGS
