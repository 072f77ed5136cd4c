"""Asset buckets: what is remembered of them, and how they are listed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from backend.aws.clients import dynamodb
from backend.aws.tables import DynamoTables
from backend.core.identity import Identity
from backend.core.paging import PageRequest
from backend.domains.buckets import service as buckets_service
from backend.domains.buckets.errors import BucketNotFoundError
from backend.domains.buckets.repository import BucketRepository
from backend.domains.buckets.service import BUCKET_CACHE, BucketService
from benchmarks.metering import metered
from tests.factories.access import OnlyUser
from tests.factories.buckets import BUCKET_ID, stored_bucket


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose requests are counted."""
    return dynamo_tables


@dataclass
class Watch:
    now: datetime

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def watch(now: datetime) -> Watch:
    return Watch(now)


@pytest.fixture
def service(tables: DynamoTables, watch: Watch) -> BucketService:
    return BucketService(BucketRepository(tables), OnlyUser(), watch)


def reads(service: BucketService, bucket_id: str = BUCKET_ID) -> int:
    with metered(dynamodb()) as usage:
        service.find_bucket(bucket_id)
    return sum(usage.of("dynamodb").values())


def test_a_bucket_is_read_once_a_minute(
    service: BucketService, tables: DynamoTables, watch: Watch
) -> None:
    stored = stored_bucket(tables)
    assert service.get_bucket(BUCKET_ID) == stored
    watch.now += BUCKET_CACHE - timedelta(seconds=1)
    assert reads(service) == 0
    watch.now += timedelta(seconds=1)
    assert reads(service) == 1
    watch.now -= timedelta(hours=1)
    assert reads(service) == 1  # what a clock that was set back makes of the future


def test_an_absent_bucket_is_read_again(service: BucketService, tables: DynamoTables) -> None:
    with pytest.raises(BucketNotFoundError):
        service.get_bucket(BUCKET_ID)
    stored_bucket(tables)
    assert service.find_bucket(BUCKET_ID) is not None


def test_a_bounded_number_of_buckets_is_remembered(
    service: BucketService, tables: DynamoTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets_service, "BUCKET_CACHE_ROWS", 2)
    for name in ("one", "two", "three"):
        stored_bucket(tables, bucket_id=name)
        service.find_bucket(name)
    assert [reads(service, name) for name in ("three", "two", "one")] == [0, 0, 1]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_buckets_are_listed_by_name_and_prefix(
    service: BucketService, tables: DynamoTables, admin: Identity, size: int
) -> None:
    places = [("north", "/"), ("east", "b/"), ("west", "/"), ("east", "a/"), ("east-2", "/")]
    for number, (name, prefix) in enumerate(places):
        stored_bucket(tables, bucket_id=f"id-{number}", name=name, prefix=prefix)
    found: list[tuple[str, str]] = []
    page = service.list_buckets(admin, PageRequest(size))
    while True:
        found += [(item.bucket_name, item.base_assets_prefix) for item in page.items]
        if page.after is None:
            break
        page = service.list_buckets(admin, PageRequest(size, page.after))
    assert found == sorted(places)
