"""Asset buckets: what is remembered of them, how they are listed, and further ones registered."""

from collections import Counter
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from backend.aws.bucket_facts import S3BucketFacts
from backend.aws.clients import dynamodb, s3
from backend.aws.tables import DynamoTables
from backend.core.bucket_facts import BucketFact
from backend.core.identity import Identity
from backend.core.objects import ObjectRef
from backend.core.paging import PageRequest
from backend.domains.buckets import service as buckets_service
from backend.domains.buckets.errors import BucketNotFoundError
from backend.domains.buckets.models import base_prefix
from backend.domains.buckets.repository import BucketRepository
from backend.domains.buckets.routes import build_router
from backend.domains.buckets.service import (
    BUCKET_CACHE,
    BucketRegistration,
    BucketRegistry,
    BucketService,
    find_overlapping,
)
from benchmarks.metering import metered
from tests.factories.access import OnlyUser
from tests.factories.audit import audit_service, entries
from tests.factories.buckets import BUCKET_ID, stored_bucket
from tests.factories.http import Client, Response
from tests.factories.lifecycle import ManualClock
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose requests are counted."""
    return dynamo_tables


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def service(tables: DynamoTables, clock: ManualClock) -> BucketService:
    return BucketService(BucketRepository(tables), OnlyUser(), clock)


def reads(service: BucketService, bucket_id: str = BUCKET_ID) -> int:
    with metered(dynamodb()) as usage:
        service.find_bucket(bucket_id)
    return sum(usage.of("dynamodb").values())


def test_a_bucket_is_read_once_a_minute_and_an_absent_one_again(
    service: BucketService, tables: DynamoTables, clock: ManualClock
) -> None:
    with pytest.raises(BucketNotFoundError):
        service.get_bucket(BUCKET_ID)
    stored = stored_bucket(tables)
    assert service.get_bucket(BUCKET_ID) == stored
    clock.now += BUCKET_CACHE - timedelta(seconds=1)
    assert reads(service) == 0
    clock.now += timedelta(seconds=1)
    assert reads(service) == 1
    clock.now -= timedelta(hours=1)
    assert reads(service) == 1  # what a clock that was set back makes of the future


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
    result: list[tuple[str, str]] = []
    page = service.list_buckets(admin, PageRequest(size))
    while True:
        result += [(item.bucket_name, item.base_assets_prefix) for item in page.items]
        if page.after is None:
            break
        page = service.list_buckets(admin, PageRequest(size, page.after))
    assert result == sorted(places)


SEGMENTS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3)


class Facts:
    """Buckets whose facts are given."""

    def __init__(self, fact: BucketFact = "usable") -> None:
        self.fact: BucketFact = fact
        self.requested: list[tuple[str, str]] = []

    def state_of(self, bucket: str, prefix: str) -> BucketFact:
        self.requested.append((bucket, prefix))
        return self.fact


class Registry:
    def __init__(self) -> None:
        self.tables = MemoryTables()
        self.facts = Facts()
        numbers = count(1)
        self.buckets = BucketRepository(self.tables)
        self.registration = BucketRegistration(
            buckets=self.buckets,
            facts=self.facts,
            authorization=OnlyUser(),
            audit=audit_service(MemoryObjects()),
            new_id=lambda: f"bucket-{next(numbers)}",
        )

    def send(self, user_id: str = "admin", **body: Any) -> Response:
        router = build_router(BucketService(self.buckets, OnlyUser()), self.registration)
        client = Client(router, user_id=user_id)
        return client.send("POST", "/admin/buckets", body=body)


@pytest.fixture
def registry() -> Registry:
    return Registry()


def test_a_bucket_that_can_hold_assets_is_registered(registry: Registry) -> None:
    answer = registry.send(
        bucketName="scans", baseAssetsPrefix="/north wing/", defaultDatabaseId="museum"
    )
    assert answer.status == 200
    record = {
        "bucketId": "bucket-1",
        "bucketName": "scans",
        "baseAssetsPrefix": "north wing/",
        "defaultDatabaseId": "museum",
    }
    assert answer.body == {
        **record,
        "message": "Bucket scans is registered; existing objects can now be imported",
    }
    assert registry.facts.requested == [("scans", "north wing/")]
    (stored,) = registry.buckets.all()
    assert stored.model_dump(by_alias=True) == record
    (entry,) = entries(registry.tables)
    assert (entry["entity"], entry["operation"]) == ("bucket:bucket-1", "register_bucket")


@pytest.mark.parametrize(
    ("there", "wanted"),
    [("/", "/"), ("/", "a/"), ("a/", "/"), ("a/", "a/"), ("a/", "a/b"), ("a/b/", "a")],
)
def test_prefixes_that_overlap_are_refused(registry: Registry, there: str, wanted: str) -> None:
    stored_bucket(registry.tables, name="scans", prefix=there)
    answer = registry.send(bucketName="scans", baseAssetsPrefix=wanted)
    assert (answer.status, answer.body["code"]) == (409, "BucketOverlaps")
    # what the registry says already needs no look at the bucket
    assert registry.facts.requested == []
    assert len(registry.buckets.all()) == 1
    assert entries(registry.tables) == []


def test_prefixes_beside_each_other_and_other_buckets_are_taken(registry: Registry) -> None:
    for name, prefix in (("scans", "a"), ("scans", "ab"), ("scans", "b/a"), ("other", "a")):
        assert registry.send(bucketName=name, baseAssetsPrefix=prefix).status == 200
    assert len(registry.buckets.all()) == 4
    answer = registry.send(bucketName="whole")
    assert answer.body["baseAssetsPrefix"] == "/"
    assert "defaultDatabaseId" not in answer.body
    assert [base_prefix(sent) for sent in ("", "/", "//")] == ["/"] * 3


@given(first=SEGMENTS, second=SEGMENTS)
def test_two_prefixes_overlap_when_a_key_could_stand_in_both(
    first: list[str], second: list[str]
) -> None:
    result, two = ("/".join(parts) + "/" for parts in (first, second))
    shorter = min(len(first), len(second))
    shared = first[:shorter] == second[:shorter]
    assert (find_overlapping(result, [two]) is not None) == shared
    assert find_overlapping("", [result]) == result


def test_a_prefix_beside_one_that_came_while_the_bucket_was_looked_at_is_taken(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    state_of = registry.facts.state_of

    def other_registers(bucket: str, prefix: str) -> BucketFact:
        monkeypatch.undo()
        assert registry.send(bucketName="scans", baseAssetsPrefix="a").status == 200
        return state_of(bucket, prefix)

    monkeypatch.setattr(registry.facts, "state_of", other_registers)
    assert registry.send(bucketName="scans", baseAssetsPrefix="b").status == 200
    assert {item.base_assets_prefix for item in registry.buckets.all()} == {"a/", "b/"}


def test_of_two_registrations_at_once_the_second_sees_the_first(registry: Registry) -> None:
    answers: list[Response] = []

    def other(operation: str) -> None:
        if operation == "write" and not answers:
            registry.tables.before = lambda operation: None
            answers.append(registry.send(bucketName="scans", baseAssetsPrefix="a/b"))

    registry.tables.before = other
    answers.append(registry.send(bucketName="scans", baseAssetsPrefix="a"))
    assert [answer.status for answer in answers] == [200, 409]
    assert len(registry.buckets.all()) == 1


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ("absent", "the bucket does not exist"),
        ("forbidden", "add it to importedBuckets"),
        ("locked", "add it to importedKeys"),
        ("unversioned", "the bucket has no versioning"),
        ("elsewhere", "the bucket is in another region"),
    ],
)
def test_a_bucket_that_cannot_hold_assets_is_refused(
    registry: Registry, fact: BucketFact, words: str
) -> None:
    registry.facts.fact = fact
    answer = registry.send(bucketName="scans")
    assert answer.status == 400
    (error,) = answer.body["errors"]
    assert error["field"] == "bucketName"
    assert words in error["message"]
    assert registry.tables.items == {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"bucketName": 7},
        {"bucketName": "ab"},
        {"bucketName": "Upper-Case"},
        {"bucketName": "arn:aws:s3:::scans"},
        {"bucketName": "a" * 64},
        {"bucketName": "scans", "baseAssetsPrefix": "a//b"},
        {"bucketName": "scans", "baseAssetsPrefix": "a/../b"},
        {"bucketName": "scans", "baseAssetsPrefix": "temp-uploads/a"},
        {"bucketName": "scans", "baseAssetsPrefix": "a:b"},
        {"bucketName": "scans", "baseAssetsPrefix": "/".join("abcdefghi")},
        {"bucketName": "scans", "baseAssetsPrefix": "/".join(["x" * 200] * 3)},
        {"bucketName": "scans", "defaultDatabaseId": "a b"},
        {"bucketName": "scans", "defaultDatabaseId": "GLOBAL"},
        {"bucketName": "scans", "other": True},
    ],
)
def test_bad_bodies_are_refused(registry: Registry, body: dict[str, Any]) -> None:
    answer = registry.send(**body)
    assert (answer.status, answer.body["code"]) == (400, "InvalidInput")
    assert answer.body["errors"]
    assert registry.facts.requested == []


@pytest.mark.parametrize(
    ("region", "versioning", "fact"),
    [
        ("", ["Enabled"], "usable"),
        ("", ["Enabled", "Suspended"], "unversioned"),
        ("", [], "unversioned"),
        ("eu-central-1", [], "elsewhere"),
        (None, [], "absent"),
    ],
)
def test_s3_reports_the_facts_of_a_bucket(
    region: str | None, versioning: list[Any], fact: BucketFact
) -> None:
    if region is not None:
        place: dict[str, Any] = {"LocationConstraint": region}
        more: dict[str, Any] = {"CreateBucketConfiguration": place} if region else {}
        s3().create_bucket(Bucket="scans", **more)
    for status in versioning:
        s3().put_bucket_versioning(Bucket="scans", VersioningConfiguration={"Status": status})
    assert S3BucketFacts(s3(), {"scans"}).state_of("scans", "a/") == fact
    # one that the stage does not name is not even looked at
    assert S3BucketFacts(s3(), {"assets"}).state_of("scans", "a/") == "forbidden"


@pytest.mark.parametrize("code", ["301", "PermanentRedirect"])
def test_a_bucket_whose_region_is_unreachable_is_in_another_region(code: str) -> None:
    client = s3()
    with Stubber(client) as stub:
        stub.add_client_error("head_bucket", code, expected_params={"Bucket": "scans"})
        assert S3BucketFacts(client, {"scans"}).state_of("scans", "a/") == "elsewhere"


KMS_DENIAL = "User: arn:aws:sts::1:role/r is not authorized to perform: kms:Decrypt on resource: k"


@pytest.mark.parametrize(
    ("code", "message", "fact"),
    [
        ("AccessDenied", KMS_DENIAL, "locked"),
        ("KMS.DisabledException", "the key is disabled", "locked"),
        ("AccessDenied", "Access Denied", "forbidden"),
        ("InvalidRange", "the object is empty", "usable"),
        ("InvalidObjectState", "the object is archived", "usable"),
        ("NoSuchKey", "deleted meanwhile", "usable"),
    ],
)
def test_the_first_object_shows_whether_its_key_may_be_used(
    code: str, message: str, fact: BucketFact
) -> None:
    client = s3()
    with Stubber(client) as stub:
        stub.add_response("head_bucket", {})
        stub.add_response("list_objects_v2", {"Contents": [{"Key": "a/b.glb"}]})
        stub.add_response("get_bucket_versioning", {"Status": "Enabled"})
        sent = {"Bucket": "scans", "Key": "a/b.glb", "Range": "bytes=0-0"}
        stub.add_client_error("get_object", code, message, expected_params=sent)
        assert S3BucketFacts(client, {"scans"}).state_of("scans", "a/") == fact


def test_objects_below_known_prefixes_start_one_scan_and_a_later_row_is_found() -> None:
    tables = MemoryTables()
    registry = BucketRegistry(tables)
    assert registry.for_objects([ObjectRef("scans", "a/pump/x")]) == []
    first = stored_bucket(tables, name="scans", prefix="a/", bucket_id="first")
    requests: Counter[str] = Counter()
    tables.before = lambda operation: requests.update([operation])
    for key in ("a/pump/x", "a/temp-uploads/y", "a/loose"):
        assert registry.for_objects([ObjectRef("scans", key)]) == [first]
        assert registry.by_id(["first"]) == {"first": first}
    assert requests == {"scan": 1}
    second = stored_bucket(tables, name="scans", prefix="b/", bucket_id="second")
    assert registry.for_objects([ObjectRef("scans", "a/pump/x")]) == [first]
    both = [ObjectRef("scans", "a/pump/x"), ObjectRef("scans", "b/pump/x")]
    assert registry.for_objects(both) == [first, second]
    third = stored_bucket(tables, name="others", bucket_id="third")
    assert registry.by_id(["third", "none"]) == {"third": third}
