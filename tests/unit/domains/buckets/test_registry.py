"""The rows of asset buckets that workers keep: read once, and again when a prefix is unknown."""

from collections import Counter

from backend.core.objects import ObjectRef
from backend.domains.buckets.service import BucketRegistry
from tests.factories.buckets import stored_bucket
from tests.fakes.tables import MemoryTables


def test_objects_below_known_prefixes_start_one_scan() -> None:
    tables = MemoryTables()
    stored_bucket(tables, name="scans", prefix="a/")
    requests: Counter[str] = Counter()
    tables.before = lambda operation: requests.update([operation])
    registry = BucketRegistry(tables)
    for key in ("a/pump/x", "a/temp-uploads/y", "a/loose"):
        (row,) = registry.for_objects([ObjectRef("scans", key)])
        assert row.base_assets_prefix == "a/"
        assert registry.by_id([row.bucket_id]) == {row.bucket_id: row}
    assert requests == {"scan": 1}


def test_a_row_that_is_added_later_is_found() -> None:
    tables = MemoryTables()
    registry = BucketRegistry(tables)
    assert registry.for_objects([ObjectRef("scans", "a/pump/x")]) == []
    first = stored_bucket(tables, name="scans", prefix="a/", bucket_id="first")
    assert registry.for_objects([ObjectRef("scans", "a/pump/x")]) == [first]
    second = stored_bucket(tables, name="scans", prefix="b/", bucket_id="second")
    assert registry.for_objects([ObjectRef("scans", "a/pump/x")]) == [first]
    assert registry.for_objects(
        [ObjectRef("scans", "a/pump/x"), ObjectRef("scans", "b/pump/x")]
    ) == [first, second]
    third = stored_bucket(tables, name="others", bucket_id="third")
    assert registry.by_id(["third", "none"]) == {"third": third}
