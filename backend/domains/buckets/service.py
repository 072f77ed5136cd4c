"""What can be done with asset buckets."""

from dataclasses import dataclass

from backend.core.authorization import Authorization, Secured
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.ids import stable_uuid
from backend.core.paging import Page, PageRequest, fill
from backend.domains.buckets.models import AssetBucket
from backend.domains.buckets.repository import BucketRepository, key_of


class BucketNotFoundError(NotFoundError):
    code = "BucketNotFound"

    def __init__(self, bucket_id: str) -> None:
        super().__init__(f"Bucket {bucket_id} does not exist")


@dataclass(frozen=True, slots=True)
class BucketService:
    buckets: BucketRepository
    authorization: Authorization

    def list_buckets(self, caller: Identity, page: PageRequest) -> Page[AssetBucket]:
        """Asset buckets that the caller may see, in no order."""

        def visible(bucket: AssetBucket) -> bool:
            secured = Secured("bucket", {"bucketId": bucket.bucket_id})
            return self.authorization.may(caller, "GET", secured)

        return fill(self.buckets.list_registry, page, visible=visible, position_of=key_of)

    def register_bucket(self, name: str, base_assets_prefix: str) -> AssetBucket:
        """See to it that a bucket can hold assets, under the same id each time.

        For bootstrap only: no permission is asked.
        """
        bucket = AssetBucket(
            bucket_id=stable_uuid(f"bucket {name}:{base_assets_prefix}"),
            bucket_name=name,
            base_assets_prefix=base_assets_prefix,
        )
        self.buckets.keep(bucket)
        return bucket

    def find_bucket(self, bucket_id: str) -> AssetBucket | None:
        """The bucket of an id, for other slices: no permission is asked."""
        return self.buckets.get(bucket_id)

    def get_bucket(self, bucket_id: str) -> AssetBucket:
        """As `find_bucket`, for ids that a row holds.

        Raises:
            BucketNotFoundError: the row of the bucket is gone.
        """
        found = self.buckets.get(bucket_id)
        if found is None:
            raise BucketNotFoundError(bucket_id)
        return found
