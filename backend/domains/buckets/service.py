"""Operations on asset buckets."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from backend.core.attempts import attempts
from backend.core.authorization import Authorization, Secured, require
from backend.core.bucket_facts import BucketFact, BucketFacts
from backend.core.clock import Clock, utc_now
from backend.core.errors import InvalidInputError
from backend.core.identity import Identity
from backend.core.ids import NewId, new_uuid, stable_uuid
from backend.core.objects import ObjectRef
from backend.core.paging import Page, PageRequest, Position, fill
from backend.core.tables import Tables
from backend.domains.audit.models import audit_entity
from backend.domains.audit.service.commands import AuditService
from backend.domains.buckets.errors import (
    BucketNotFoundError,
    BucketOverlapsError,
    RegistryChangedError,
)
from backend.domains.buckets.models import AssetBucket, RegisterBucketBody
from backend.domains.buckets.repository import BucketRepository
from backend.spec.routes import Action


def find_overlapping(key_prefix: str, others: Iterable[str]) -> str | None:
    """Return the first of the other prefixes that equals this one, contains it, or is inside it."""
    return next(
        (other for other in others if other.startswith(key_prefix) or key_prefix.startswith(other)),
        None,
    )


# A record never changes; its absence is not cached (decision 13).
BUCKET_CACHE = timedelta(seconds=60)
# Bounds the memory of a warm process: the record that was read first leaves the cache.
BUCKET_CACHE_ROWS = 1000
_ORDER = ("bucketName", "baseAssetsPrefix", "bucketId")
_ATTEMPTS = 8  # of a registration that conflicts with others of the same bucket
_UNUSABLE: dict[BucketFact, str] = {
    "absent": "the bucket does not exist",
    "elsewhere": "the bucket is in another region: its events and presigned URLs would not work",
    "forbidden": (
        "Vitrine has no access to this bucket: add it to importedBuckets of the stage, deploy, "
        "and make sure that the bucket policy allows the account"
    ),
    "locked": (
        "Vitrine cannot use the KMS key that encrypts the bucket's objects: add it to "
        "importedKeys of the stage, deploy, and make sure that the key policy allows the "
        "account"
    ),
    "unversioned": "the bucket has no versioning: enable it first",
}


@dataclass(eq=False, repr=False)
class BucketService:
    """Asset buckets.

    A row never changes, so it is cached for a minute, because most requests need one. Missing rows
    are not cached.
    """

    buckets: BucketRepository
    authorization: Authorization
    clock: Clock = utc_now
    _known: dict[str, tuple[datetime, AssetBucket]] = field(
        default_factory=dict[str, tuple[datetime, AssetBucket]]
    )

    def list_buckets(self, caller: Identity, page: PageRequest) -> Page[AssetBucket]:
        """List the asset buckets that the caller may see, by name and prefix."""

        def visible(bucket: AssetBucket) -> bool:
            return self.authorization.may(caller, "GET", secured(bucket.bucket_id))

        def fetch(request: PageRequest) -> Page[AssetBucket]:
            left = [bucket for bucket in in_order if _order(_place(bucket)) > _order(request.after)]
            buckets = tuple(left[: request.limit])
            return Page(buckets, _place(buckets[-1]) if len(left) > len(buckets) else None)

        in_order = sorted(self.buckets.all(), key=lambda bucket: _order(_place(bucket)))
        return fill(fetch, page, visible=visible, position_of=_place)

    def register_bucket(self, name: str, base_assets_prefix: str) -> AssetBucket:
        """Ensure that a bucket can store assets, always under the same id.

        For bootstrap only: no permission is checked.
        """
        bucket = AssetBucket(
            bucket_id=stable_uuid(f"bucket {name}:{base_assets_prefix}"),
            bucket_name=name,
            base_assets_prefix=base_assets_prefix,
        )
        self.buckets.store(bucket)
        return bucket

    def bucket_for(self, caller: Identity, action: Action, bucket_id: str) -> AssetBucket:
        """Return the bucket, for a caller who may perform the action on it.

        Raises:
            BucketNotFoundError: it does not exist, or the caller may not see it.
            PermissionDeniedError: the caller may see it, but not perform the action.
        """
        target = secured(bucket_id)
        if not self.authorization.may(caller, "GET", target):
            raise BucketNotFoundError(bucket_id)
        bucket = self.get_bucket(bucket_id)
        require(self.authorization, caller, action, target)
        return bucket

    def find_bucket(self, bucket_id: str) -> AssetBucket | None:
        """Return the bucket of an id, for other slices: no permission is checked."""
        now = self.clock()
        known = self._known.get(bucket_id)
        # After a clock was set back, a cached row may be from the future: it is not used.
        if known is not None and timedelta(0) <= now - known[0] < BUCKET_CACHE:
            return known[1]
        bucket = self.buckets.get(bucket_id)
        self._known.pop(bucket_id, None)
        if bucket is not None:
            while len(self._known) >= BUCKET_CACHE_ROWS:
                del self._known[next(iter(self._known))]  # the one read longest ago
            self._known[bucket_id] = (now, bucket)
        return bucket

    def get_bucket(self, bucket_id: str) -> AssetBucket:
        """As `find_bucket`, for ids in stored rows.

        Raises:
            BucketNotFoundError: the row of the bucket does not exist.
        """
        bucket = self.find_bucket(bucket_id)
        if bucket is None:
            raise BucketNotFoundError(bucket_id)
        return bucket


@dataclass(eq=False, repr=False)
class BucketRegistry:
    """The rows of asset buckets, kept for workers that resolve objects to assets.

    A row never changes, and the prefixes of one bucket never overlap, so rows can be cached.
    Missing rows are not cached, because a bucket may be registered at any time.
    """

    tables: Tables
    _known: dict[str, AssetBucket] = field(default_factory=dict[str, AssetBucket])

    def by_id(self, bucket_ids: Iterable[str]) -> dict[str, AssetBucket]:
        """Return the buckets of some ids; ids without a row are left out."""
        wanted = set(bucket_ids)
        if not wanted <= self._known.keys():
            self._read()
        return {bucket_id: self._known[bucket_id] for bucket_id in wanted & self._known.keys()}

    def for_objects(self, objects: Iterable[ObjectRef]) -> list[AssetBucket]:
        """Return all rows, read again if an object is below no known prefix."""
        known = [(row.bucket_name, row.key_prefix) for row in self._known.values()]
        if not all(
            any(ref.bucket == bucket and ref.key.startswith(prefix) for bucket, prefix in known)
            for ref in objects
        ):
            self._read()
        return list(self._known.values())

    def _read(self) -> None:
        rows = BucketRepository(self.tables).all()
        self._known.update({bucket.bucket_id: bucket for bucket in rows})


@dataclass(eq=False, repr=False)
class BucketRegistration:
    """Registers further buckets, or prefixes of buckets, for assets."""

    buckets: BucketRepository
    facts: BucketFacts
    authorization: Authorization
    audit: AuditService
    new_id: NewId = new_uuid

    @attempts(_ATTEMPTS, RegistryChangedError)
    def register_bucket(self, caller: Identity, body: RegisterBucketBody) -> AssetBucket:
        """Create the record of a bucket that exists, has versioning and is accessible.

        Raises:
            BucketOverlapsError: a prefix that contains it, or is within it, is registered.
            InvalidInputError: the bucket does not exist, has no versioning, or is not accessible.
            PermissionDeniedError: the caller may not register it.
            RegistryChangedError: prefixes of the same bucket are registered concurrently at every
                attempt.
        """
        bucket = AssetBucket(
            bucket_id=self.new_id(),
            bucket_name=body.bucket_name,
            base_assets_prefix=body.base_assets_prefix,
            default_database_id=body.default_database_id,
        )
        require(self.authorization, caller, "POST", secured(bucket.bucket_id))
        known = self.buckets.registrations(bucket.bucket_name)
        other = find_overlapping(bucket.key_prefix, [row.key_prefix for row in known.buckets])
        if other is not None:
            raise BucketOverlapsError(bucket.bucket_name, bucket.base_assets_prefix, other)
        fact = self.facts.state_of(bucket.bucket_name, bucket.key_prefix)
        if fact != "usable":
            raise InvalidInputError.of("bucketName", _UNUSABLE[fact])
        entry = self.audit.entry(
            caller,
            "register_bucket",
            audit_entity("bucket", bucket.bucket_id),
            after=bucket.model_dump(by_alias=True, exclude_none=True),
        )
        self.buckets.add(bucket, known, entry)
        return bucket


def _place(bucket: AssetBucket) -> dict[str, str]:
    """Return the position of a bucket in a list."""
    values = (bucket.bucket_name, bucket.base_assets_prefix, bucket.bucket_id)
    return dict(zip(_ORDER, values, strict=True))


def _order(place: Position | None) -> tuple[str, ...]:
    return tuple((place or {}).get(name, "") for name in _ORDER)


def secured(bucket_id: str) -> Secured:
    """Return a bucket as permissions see it."""
    return Secured("bucket", {"bucketId": bucket_id})
