"""The table of asset buckets, by access pattern."""

from contextlib import suppress

from backend.core.errors import AlreadyExistsError
from backend.core.paging import Page, PageRequest
from backend.core.tables import Query, Tables
from backend.core.transactions import put_new
from backend.core.wired import wired
from backend.domains.buckets.models import AssetBucket
from backend.spec import keys
from backend.spec.tables.registry import ASSET_BUCKETS


@wired
class BucketRepository:
    tables: Tables

    def get(self, bucket_id: str) -> AssetBucket | None:
        """The bucket of an id; the sort key is not known, so this is a query for one item."""
        query = Query(table=ASSET_BUCKETS, partition=bucket_id, consistent=True)
        found = self.tables.query(query, PageRequest(1)).items
        return AssetBucket.model_validate(found[0]) if found else None

    def list_registry(self, page: PageRequest) -> Page[AssetBucket]:
        found = self.tables.scan(ASSET_BUCKETS, page)
        return Page(tuple(AssetBucket.model_validate(item) for item in found.items), found.after)

    def keep(self, bucket: AssetBucket) -> None:
        """Make the bucket's record; one that is there stays as it is."""
        there = AlreadyExistsError(f"Bucket {bucket.bucket_id} has a record already")
        item = {**bucket.model_dump(by_alias=True), **key_of(bucket)}
        with suppress(AlreadyExistsError):
            self.tables.write(put_new(ASSET_BUCKETS, item, there))


def key_of(bucket: AssetBucket) -> dict[str, str]:
    """The primary key of a bucket's row."""
    location = keys.BUCKET_LOCATION.build(bucket.bucket_name, bucket.base_assets_prefix)
    return {"bucketId": bucket.bucket_id, keys.BUCKET_LOCATION.name: location}
