"""Asset buckets, as tests store them."""

from backend.core.bucket_facts import BucketFact
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.buckets.models import AssetBucket
from backend.domains.buckets.repository import row_of
from backend.spec.tables.registry import ASSET_BUCKETS

BUCKET_ID = "5a2f0b6e-9f0a-4f62-8f0e-0d9f3f3d1c11"
BUCKET_NAME = "assetbucket"


def stored_bucket(
    tables: Tables,
    *,
    name: str = BUCKET_NAME,
    prefix: str = "/",
    bucket_id: str = BUCKET_ID,
    default_database_id: str | None = None,
) -> AssetBucket:
    """Write the row of a bucket; return it."""
    bucket = AssetBucket(
        bucket_id=bucket_id,
        bucket_name=name,
        base_assets_prefix=prefix,
        default_database_id=default_database_id,
    )
    tables.write(Put(table=ASSET_BUCKETS, item=row_of(bucket)))
    return bucket


class EveryBucket:
    """The port `BucketFacts`, for which every bucket can store assets."""

    def state_of(self, bucket: str, prefix: str) -> BucketFact:
        return "usable"
