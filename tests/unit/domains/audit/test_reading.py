"""Entries are listed, made of each write and of new assets, and archived when they expire."""

import gzip
import json
from datetime import timedelta
from typing import Any

import pytest

from backend.aws.items import from_wire, to_wire
from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.identity import SYSTEM, SYSTEM_PARTITIONS, Identity
from backend.core.paging import PageRequest
from backend.core.tables import Tables
from backend.domains.audit.models import audit_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.routes import build_router
from backend.domains.audit.service.queries import AuditTrail
from backend.domains.audit.service.streams import (
    TIME_TO_LIVE,
    Creations,
    CreationsConsumer,
    ExpiredEntries,
    ExpiryConsumer,
)
from backend.search.indexing.failures import FailureStore
from backend.spec import routes
from backend.spec.tables.operations import AUDIT
from tests.factories.access import OnlyUser
from tests.factories.assets import NOON
from tests.factories.audit import ARCHIVE, audit_service, entries
from tests.factories.http import Client, Response
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables
from tests.routes import CASE_OF, CASES
from tests.routes.model import Case, Target
from tests.unit.domains.access.matrix.seeding import Seeded
from tests.unit.domains.access.matrix.world import BothOf
from tests.unit.domains.audit.product import SECRET

STATUE = audit_entity("asset", "museum", "statue")
LARGE = "x" * 5000


@pytest.fixture
def client(tables: Tables, objects: S3Objects) -> Client:
    """Ten edits by two users, an hour apart, and one of something else."""
    audit = audit_service(objects)
    for hour in range(10):
        user, at = Identity("ann" if hour % 2 else "bob"), NOON + timedelta(hours=hour)
        after = {"hour": hour, "text": LARGE if hour == 9 else "short"}
        tables.write(audit.entry(user, "update_asset", STATUE, after=after, at=at))
    tables.write(audit.entry(Identity("ann"), "delete_tag", audit_entity("tag", "red"), at=NOON))
    trail = AuditTrail(AuditRepository(tables), AuditArchive(objects, lambda: ARCHIVE), OnlyUser())
    return Client(build_router(trail))


def get(client: Client, **query: str) -> Response:
    return client.send("GET", "/audit", query=query)


def hours(answer: Response) -> list[Any]:
    assert answer.status == 200, answer.body
    return [item["changes"].get("hour", {}).get("after") for item in answer.body["Items"]]


def test_entries_of_an_entity_or_user_are_listed_newest_first(client: Client) -> None:
    answer = get(client, entity=STATUE)
    assert hours(answer) == list(range(9, -1, -1))
    assert "NextToken" not in answer.body
    assert answer.body["Items"][-1] == {
        "entity": STATUE,
        "at": "2026-03-01T12:00:00.000000Z",
        "userId": "bob",
        "operation": "update_asset",
        "changes": {"hour": {"after": 0}, "text": {"after": "short"}},
    }
    assert hours(get(client, userId="ann")) == [9, 7, 5, 3, 1, None]
    assert hours(get(client, userId="nobody")) == []
    token = get(client, entity=STATUE, maxItems="1").body["NextToken"]
    answer = get(client, userId="ann", startingToken=token)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "startingToken")


def _entries_of_product(tables: Tables, objects: S3Objects) -> list[str]:
    """Write entries about forty objects, three at each moment, two of an earlier release."""
    audit, operations = audit_service(objects), list[str]()
    for number in range(40):
        at = NOON + timedelta(hours=number // 3)
        entity = audit_entity("asset", "museum", f"a{number}")
        entry = audit.creation(SYSTEM, f"update_{number}", entity, after={}, at=at)
        if number in {3, 30}:
            entry.item["userId"] = SYSTEM.user_id
        tables.write(entry)
        operations.append(f"update_{number}")
    return operations


@pytest.mark.parametrize("size", [1, 2, 3, 7, 39, 40, 100])
def test_entries_of_the_product_are_merged_from_their_partitions(
    client: Client, tables: Tables, objects: S3Objects, size: int
) -> None:
    written = _entries_of_product(tables, objects)
    partitions = {item["userId"] for item in tables.scan(AUDIT, PageRequest(100)).items} - {
        "ann",
        "bob",
    }
    assert SYSTEM.user_id in partitions <= set(SYSTEM_PARTITIONS)
    assert len(partitions) > 8
    items: list[Any] = []
    query = {"userId": SYSTEM.user_id, "maxItems": str(size)}
    while True:
        page = get(client, **query).body
        items += page["Items"]
        assert (len(page["Items"]) == size) == ("NextToken" in page)
        if "NextToken" not in page:
            break
        query["startingToken"] = page["NextToken"]
    assert sorted(item["operation"] for item in items) == sorted(written)
    times = [item["at"] for item in items]
    assert times == sorted(times, reverse=True)
    assert {item["userId"] for item in items} == {SYSTEM.user_id}
    period = {"from": "2026-03-01T14:00:00Z", "to": "2026-03-01T15:00:00Z"}
    found = get(client, userId=SYSTEM.user_id, **period).body["Items"]
    assert {item["operation"] for item in found} == set(written[6:12])


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        ({"from": "2026-03-01T20:00:00Z"}, [9, 8]),
        ({"to": "2026-03-01T13:00:00Z"}, [1, 0]),
        ({"from": "2026-03-01T13:00:00Z", "to": "2026-03-01T14:00:00"}, [2, 1]),
        ({"from": "2026-03-01T15:00:00+02:00", "to": "2026-03-01T13:30:00Z"}, [1]),
        ({"from": "2026-03-01", "to": "2026-03-01"}, list(range(9, -1, -1))),
        ({"from": "2026-03-02"}, []),
        ({"to": "2026-02-28"}, []),
    ],
)
def test_a_time_is_kept_to_with_both_ends(
    client: Client, period: dict[str, str], expected: list[int]
) -> None:
    assert hours(get(client, entity=STATUE, **period)) == expected


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"entity": STATUE, "userId": "ann"},
        {"entity": "statue"},
        {"entity": "room:1"},
        {"entity": "tag:"},
        {"entity": "asset:" + "x" * 2048},
        {"userId": ""},
        {"entity": STATUE, "from": "yesterday"},
        {"entity": STATUE, "from": "1772366400"},
        {"entity": STATUE, "from": "0001-01-01T00:00:00+14:00"},
        {"entity": STATUE, "to": "9999-12-31T23:59:59-14:00"},
        {"entity": STATUE, "from": "0999-01-01"},
        {"entity": STATUE, "from": "2026-03-02", "to": "2026-03-01"},
        {"entity": STATUE, "maxItems": "0"},
        {"entity": STATUE, "startingToken": "forged"},
    ],
)
def test_an_invalid_query_is_refused(client: Client, query: dict[str, str]) -> None:
    answer = get(client, **query)
    assert (answer.status, answer.body["code"]) == (400, "InvalidInput")


def test_a_large_value_can_be_requested(client: Client, tables: Tables, objects: S3Objects) -> None:
    (newest,) = get(client, entity=STATUE, maxItems="1").body["Items"]
    reference = newest["changes"]["text"]["afterStored"]
    assert set(reference) == {"sha256", "bytes"}
    answer = value(client, reference["sha256"], at=newest["at"])
    assert answer.body == {**reference, "value": LARGE}
    after = {f"field{n}": "y" * 3000 for n in range(8)} | {"text": LARGE}
    later = NOON + timedelta(days=1)
    entry = audit_service(objects).entry(
        Identity("ann"), "update_asset", STATUE, after=after, at=later
    )
    tables.write(entry)
    (newest,) = get(client, entity=STATUE, maxItems="1").body["Items"]
    whole = value(client, newest["changesStored"]["sha256"], at=newest["at"])
    sha256 = whole.body["value"]["text"]["afterStored"]["sha256"]
    assert value(client, sha256, at=newest["at"]).body["value"] == LARGE


@pytest.mark.parametrize(
    "other",
    [
        {"entity": audit_entity("tag", "red")},
        {"entity": audit_entity("asset", "museum", "statue2")},
        {"at": "2026-03-01T20:00:00.000000Z"},
        {"at": "2026-03-01T21:00:00.000001Z"},
    ],
)
def test_a_value_belongs_to_the_entry_that_refers_to_it(
    client: Client, other: dict[str, str]
) -> None:
    (newest,) = get(client, entity=STATUE, maxItems="1").body["Items"]
    sha256 = newest["changes"]["text"]["afterStored"]["sha256"]
    assert value(client, sha256, **{"at": newest["at"], **other}).status == 404


@pytest.mark.parametrize("query", [{"at": "today"}, {"entity": "statue"}, {"entity": "", "at": ""}])
def test_a_value_is_requested_with_its_entry(client: Client, query: dict[str, str]) -> None:
    assert value(client, "0" * 64, **query).status == 400


@pytest.mark.parametrize(("sha256", "status"), [("0" * 64, 404), ("0" * 63, 400), ("Z" * 64, 400)])
def test_a_value_that_is_not_there_is_not_found(client: Client, sha256: str, status: int) -> None:
    assert value(client, sha256).status == status


def value(client: Client, sha256: str, **more: str) -> Response:
    return client.send(
        "GET",
        f"/audit/values/{sha256}",
        route="GET /audit/values/{valueHash}",
        parameters={"valueHash": sha256},
        query={"entity": STATUE, "at": "2026-03-01T12:00:00.000000Z", **more},
    )


FAILURES = "failures"
ROW = {
    "databaseId": "museum",
    "assetId": "statue",
    "assetName": "A statue",
    "tags": ["red"],
    "revision": 1,
    "inheritedRevision": 1,
    "createdAt": "2026-03-01T12:00:00.000000Z",
    "createdBy": "ann",
}


class Outage:
    """Stands before ports: they work, or none does."""

    def __init__(self) -> None:
        self.is_on = False

    def __call__(self, operation: str) -> None:
        if self.is_on:
            raise UnavailableError(f"no {operation}")


class Trails:
    def __init__(self) -> None:
        self.outage = Outage()
        self.tables = MemoryTables(before=self.outage)
        self.objects = MemoryObjects(before=self.outage)
        archive = AuditArchive(self.objects, lambda: ARCHIVE)
        failures = FailureStore(self.objects, FAILURES, "AuditArchiver", lambda: NOON)
        creations = Creations(AuditRepository(self.tables), audit_service(self.objects))
        self.creations = CreationsConsumer(creations, from_wire, failures.store)
        self.expiry = ExpiryConsumer(ExpiredEntries(archive), from_wire, failures.store)

    def archived(self) -> dict[str, list[dict[str, Any]]]:
        """The entries in the archive, by object."""
        result: dict[str, list[dict[str, Any]]] = {}
        for item in self.objects.list_objects(ARCHIVE, "2").objects:
            content = b"".join(self.objects.read_chunks(ARCHIVE, item.key))
            lines = gzip.decompress(content).splitlines()
            result[item.key] = [json.loads(line) for line in lines]
        return result

    def failures(self) -> int:
        return len(self.objects.list_objects(FAILURES, "").objects)


@pytest.fixture
def trails() -> Trails:
    return Trails()


def created(number: int = 1, **changes: Any) -> dict[str, Any]:
    image = to_wire({**ROW, **changes})
    return {
        "eventID": f"event-{number}",
        "eventName": "INSERT",
        "dynamodb": {"NewImage": image, "SequenceNumber": str(number)},
    }


def expired(number: int, **more: Any) -> dict[str, Any]:
    item = {"entity": f"tag:{number}", "at": "then#1", "userId": SYSTEM_PARTITIONS[number]}
    image = to_wire({**item, "changes": {"n": {"after": 1}}})
    return {
        "eventID": f"event-{number}",
        "eventName": "REMOVE",
        "userIdentity": TIME_TO_LIVE,
        "dynamodb": {
            "OldImage": image,
            "SequenceNumber": str(number),
            "ApproximateCreationDateTime": NOON.timestamp() + number,
        },
        **more,
    }


def test_a_new_asset_has_one_entry_however_often_its_stream_repeats_it(trails: Trails) -> None:
    for batch in ([created()], [created(), created(2, assetId="bust")], [created()]):
        assert trails.creations.consume({"Records": batch}) == {"batchItemFailures": []}
    result = {entry["entity"]: entry for entry in entries(trails.tables)}
    assert set(result) == {"asset:museum:statue", "asset:museum:bust"}
    entry = result["asset:museum:statue"]
    assert (entry["userId"], entry["operation"]) == ("ann", "create_asset")
    assert entry["at"] == "2026-03-01T12:00:00.000000Z#created"
    assert entry["changes"]["tags"] == {"after": ["red"]}
    assert "revision" not in entry["changes"]


def test_rows_without_an_entry_stop_no_other(trails: Trails) -> None:
    batch = [created(revision=3), created(2, databaseId="museum#deleted", revision=2)]
    trails.creations.consume({"Records": batch})
    assert entries(trails.tables) == []
    broken = created(createdAt="at noon")
    without = {**created(3), "dynamodb": {"SequenceNumber": "3"}}
    reply = trails.creations.consume({"Records": [broken, created(2, assetId="bust"), without]})
    assert reply == {"batchItemFailures": []}
    assert [entry["entity"] for entry in entries(trails.tables)] == ["asset:museum:bust"]
    assert trails.failures() == 2


def test_what_expires_is_archived_by_day_after_outages(trails: Trails) -> None:
    trails.outage.is_on = True
    batch = {"Records": [created(7), created(8, assetId="bust")]}
    assert trails.creations.consume(batch) == {"batchItemFailures": [{"itemIdentifier": "7"}]}
    batch = {"Records": [expired(9), expired(10)]}
    assert trails.expiry.consume(batch) == {"batchItemFailures": [{"itemIdentifier": "9"}]}
    trails.outage.is_on = False
    assert (entries(trails.tables), trails.archived()) == ([], {})
    trails.expiry.consume({"Records": [expired(1), expired(2)]})
    ((name, items),) = trails.archived().items()
    assert name == "2026/03/01/1.jsonl.gz"
    assert [item["entity"] for item in items] == ["tag:1", "tag:2"]
    assert items[0]["changes"] == {"n": {"after": 1}}
    assert {item["userId"] for item in items} == {SYSTEM.user_id}


def test_batches_that_come_again_cut_otherwise_leave_each_entry_once(trails: Trails) -> None:
    records = [expired(number) for number in range(1, 8)]
    for batch in (records[:5], records, records[:4], records[4:]):
        trails.expiry.consume({"Records": batch})
    entities = [item["entity"] for items in trails.archived().values() for item in items]
    assert sorted(entities) == [f"tag:{number}" for number in range(1, 8)]


@pytest.mark.parametrize(
    "more",
    [
        {"userIdentity": None},
        {"userIdentity": {"type": "User", "principalId": "dynamodb.amazonaws.com"}},
        {"userIdentity": {"type": "Service", "principalId": "other.amazonaws.com"}},
        {"eventName": "MODIFY"},
    ],
)
def test_what_someone_else_removes_is_not_archived(trails: Trails, more: dict[str, Any]) -> None:
    assert trails.expiry.consume({"Records": [expired(1, **more)]}) == {"batchItemFailures": []}
    assert (trails.archived(), trails.failures()) == ({}, 0)


def test_a_record_that_cannot_be_understood_is_kept_and_stops_no_other(trails: Trails) -> None:
    broken = expired(1)
    del broken["dynamodb"]["OldImage"]
    timeless = expired(2)
    del timeless["dynamodb"]["ApproximateCreationDateTime"]
    trails.expiry.consume({"Records": [broken, timeless, expired(3)]})
    assert list(trails.archived()) == ["2026/03/01/3.jsonl.gz"]
    assert trails.failures() == 2


WRITES = [case for case in CASES if case.audit]
BESIDE = {"operations", "queues"}
"""Domains that change what is in no table, so that an entry is written before it."""
OF_EVERY_USER = {routes.CREATE_SESSION, routes.DELETE_SESSION, routes.CREATE_OWN_API_KEY}
_by_case = pytest.mark.parametrize("case", WRITES, ids=lambda case: case.route.key)


@_by_case
def test_a_write_makes_one_entry_of_its_route(world: Seeded, both_of: BothOf, case: Case) -> None:
    done = both_of(case).done
    assert done.answer.status == 200, done.answer.body
    wanted = sorted(case.entries(Target(world, case.succeeds)))
    entries = sorted((entry["operation"], entry["entity"]) for entry in done.entries)
    assert len(entries) == len(wanted), entries
    named = [
        (operation, entity[: len(name)] if name.endswith(":") else entity)
        for (operation, entity), (_, name) in zip(entries, wanted, strict=True)
    ]
    assert named == wanted
    assert {entry["userId"] for entry in done.entries} == {"admin"}
    assert all(entry["changes"] for entry in done.entries)


@_by_case
def test_a_refused_write_makes_none(both_of: BothOf, case: Case) -> None:
    refused = both_of(case).refused
    if case.route in OF_EVERY_USER:
        assert refused.answer.status == 200
        return
    statuses = {refused.answer.status}
    if case.route.parts:  # each has a status of its own
        statuses = {result["status"] for result in refused.answer.body["results"]}
    assert statuses <= {403, 404}
    assert refused.entries == []


def test_entries_are_lonely_only_without_a_table_and_hold_no_key(both_of: BothOf) -> None:
    """That of a creation follows from the stream; the user pool, queues, buckets are no tables."""
    apart = {case.route for case in WRITES if both_of(case).done.lonely}
    assert apart == {routes.CREATE_ASSET} | {
        case.route
        for case in WRITES
        if "/user/cognito" in case.route.path
        or case.route.domain in BESIDE
        or case.route in {routes.SAVE_VIEW, routes.DELETE_VIEW}
    }
    text = str([both_of(case).done.entries for case in WRITES])
    key = both_of(CASE_OF[routes.CREATE_API_KEY]).done.answer.body["apiKey"]
    assert key.startswith("vams_")
    assert not [secret for secret in ("apiKeyHash", key, SECRET) if secret in text]
