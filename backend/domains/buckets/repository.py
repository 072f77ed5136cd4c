"""The table of asset buckets, by access pattern."""

from contextlib import suppress
from dataclasses import dataclass

from backend.core.errors import AlreadyExistsError
from backend.core.paging import Page, PageRequest, all_items
from backend.core.tables import Query, Tables
from backend.core.transactions import Item, Update, Write, absent, equals, put_new
from backend.domains.buckets.errors import RegistryChangedError
from backend.domains.buckets.models import AssetBucket
from backend.spec import keys
from backend.spec.tables.operations import RESERVATIONS
from backend.spec.tables.registry import ASSET_BUCKETS
from backend.values import frozen

_PAGE = 1000  # rows of a request at most; DynamoDB ends a page after 1 MB
_RESERVATION = RESERVATIONS.partition_key.name
_COUNT = "registrations"


@frozen
class Registrations:
    """All records of one bucket, and a count of their additions."""

    name: str
    buckets: tuple[AssetBucket, ...]
    count: int


@dataclass(eq=False, repr=False)
class BucketRepository:
    tables: Tables

    def get(self, bucket_id: str) -> AssetBucket | None:
        """Return the bucket of an id."""
        # A query for one item: GetItem needs the sort key, which is not known.
        query = Query(table=ASSET_BUCKETS, partition=bucket_id, consistent=True)
        rows = self.tables.query(query, PageRequest(1)).items
        return AssetBucket.model_validate(rows[0]) if rows else None

    def list_registry(self, page: PageRequest) -> Page[AssetBucket]:
        return self.tables.scan(ASSET_BUCKETS, page).map(AssetBucket.model_validate)

    def all(self) -> list[AssetBucket]:
        """Return all records: they are few, and a scan is consistent, unlike the index by name."""
        return list(all_items(self.list_registry, _PAGE))

    def registrations(self, name: str) -> Registrations:
        """Return the records of a bucket."""
        # The count is read first, so it is never newer than the records: a write that is based on
        # them fails if a registration came between.
        item = self.tables.get(RESERVATIONS, {_RESERVATION: _registrations_key(name)})
        count = 0 if item is None else int(item[_COUNT])
        return Registrations(name, tuple(b for b in self.all() if b.bucket_name == name), count)

    def add(self, bucket: AssetBucket, known: Registrations, entry: Write) -> None:
        """Add a record if the bucket's other records are unchanged, with an audit entry.

        Raises:
            RegistryChangedError: they were changed.
        """
        changed = RegistryChangedError(known.name)
        counted = Update(
            table=RESERVATIONS,
            key={_RESERVATION: _registrations_key(known.name)},
            add={_COUNT: 1},
            conditions=(equals(_COUNT, known.count) if known.count else absent(_RESERVATION),),
            refused=changed,
        )
        self.tables.transact([put_new(ASSET_BUCKETS, row_of(bucket), changed), counted, entry])

    def store(self, bucket: AssetBucket) -> None:
        """Create the bucket's record, unless it exists."""
        there = AlreadyExistsError(f"Bucket {bucket.bucket_id} is already registered")
        with suppress(AlreadyExistsError):
            self.tables.write(put_new(ASSET_BUCKETS, row_of(bucket), there))


def row_of(bucket: AssetBucket) -> Item:
    """Return the item of a bucket."""
    location = keys.BUCKET_LOCATION.build(bucket.bucket_name, bucket.base_assets_prefix)
    row = bucket.model_dump(by_alias=True, exclude_none=True)
    return {**row, keys.BUCKET_LOCATION.name: location}


def _registrations_key(name: str) -> str:
    return f"Bucket#{name}"
