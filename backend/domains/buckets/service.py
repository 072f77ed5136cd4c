"""What can be done with asset buckets."""

from dataclasses import field
from datetime import datetime, timedelta

from backend.core.authorization import Authorization, Secured
from backend.core.clock import Clock, utc_now
from backend.core.errors import NotFoundError
from backend.core.identity import Identity
from backend.core.ids import stable_uuid
from backend.core.paging import Page, PageRequest, fill
from backend.core.wired import wired
from backend.domains.buckets.models import AssetBucket
from backend.domains.buckets.repository import BucketRepository, key_of


class BucketNotFoundError(NotFoundError):
    code = "BucketNotFound"

    def __init__(self, bucket_id: str) -> None:
        super().__init__(f"Bucket {bucket_id} does not exist")


BUCKET_CACHE = timedelta(seconds=60)
BUCKET_CACHE_ROWS = 1000


@wired
class BucketService:
    """Asset buckets. A row is nothing but its key, it never changes: one that was read is believed
    for a minute, since most requests need one. That one is absent is never remembered.
    """

    buckets: BucketRepository
    authorization: Authorization
    clock: Clock = utc_now
    _known: dict[str, tuple[datetime, AssetBucket]] = field(
        default_factory=dict[str, tuple[datetime, AssetBucket]]
    )

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
        now = self.clock()
        known = self._known.get(bucket_id)
        # A clock that was set back makes an answer of the future: it is not believed.
        if known is not None and timedelta(0) <= now - known[0] < BUCKET_CACHE:
            return known[1]
        found = self.buckets.get(bucket_id)
        self._known.pop(bucket_id, None)
        if found is not None:
            while len(self._known) >= BUCKET_CACHE_ROWS:
                del self._known[next(iter(self._known))]  # the one read longest ago
            self._known[bucket_id] = (now, found)
        return found

    def get_bucket(self, bucket_id: str) -> AssetBucket:
        """As `find_bucket`, for ids that a row holds.

        Raises:
            BucketNotFoundError: the row of the bucket is gone.
        """
        found = self.find_bucket(bucket_id)
        if found is None:
            raise BucketNotFoundError(bucket_id)
        return found
