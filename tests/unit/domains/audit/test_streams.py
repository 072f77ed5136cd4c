"""The functions that follow streams: new assets get an entry, what expires is archived."""

import gzip
import json
from typing import Any

import pytest

from backend.aws.items import from_wire, to_wire
from backend.core.errors import UnavailableError
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service.streams import (
    TIME_TO_LIVE,
    Creations,
    CreationsConsumer,
    ExpiredEntries,
    ExpiryConsumer,
)
from backend.search.indexing.failures import FailureStore
from tests.factories.assets import NOON
from tests.factories.audit import ARCHIVE, audit_service, entries
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

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


class World:
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
        found: dict[str, list[dict[str, Any]]] = {}
        for one in self.objects.list_objects(ARCHIVE, "2").objects:
            content = b"".join(self.objects.read_chunks(ARCHIVE, one.key))
            lines = gzip.decompress(content).splitlines()
            found[one.key] = [json.loads(line) for line in lines]
        return found

    def failures(self) -> int:
        return len(self.objects.list_objects(FAILURES, "").objects)


@pytest.fixture
def world() -> World:
    return World()


def created(number: int = 1, **changes: Any) -> dict[str, Any]:
    image = to_wire({**ROW, **changes})
    return {
        "eventID": f"event-{number}",
        "eventName": "INSERT",
        "dynamodb": {"NewImage": image, "SequenceNumber": str(number)},
    }


def expired(number: int, **more: Any) -> dict[str, Any]:
    image = to_wire({"entity": f"tag:{number}", "at": "then#1", "changes": {"n": {"after": 1}}})
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


def test_a_new_asset_has_one_entry_however_often_its_stream_repeats_it(world: World) -> None:
    for batch in ([created()], [created(), created(2, assetId="bust")], [created()]):
        assert world.creations.consume({"Records": batch}) == {"batchItemFailures": []}
    found = {entry["entity"]: entry for entry in entries(world.tables)}
    assert set(found) == {"asset:museum:statue", "asset:museum:bust"}
    entry = found["asset:museum:statue"]
    assert (entry["userId"], entry["operation"]) == ("ann", "create_asset")
    assert entry["at"] == "2026-03-01T12:00:00.000000Z#created"
    assert entry["changes"]["tags"] == {"after": ["red"]}
    assert "revision" not in entry["changes"]


def test_an_asset_that_comes_back_is_not_new(world: World) -> None:
    batch = [created(revision=3), created(2, databaseId="museum#deleted", revision=2)]
    world.creations.consume({"Records": batch})
    assert entries(world.tables) == []


def test_a_row_that_can_have_no_entry_stops_no_other(world: World) -> None:
    broken = created(createdAt="at noon")
    without = {**created(3), "dynamodb": {"SequenceNumber": "3"}}
    reply = world.creations.consume({"Records": [broken, created(2, assetId="bust"), without]})
    assert reply == {"batchItemFailures": []}
    assert [entry["entity"] for entry in entries(world.tables)] == ["asset:museum:bust"]
    assert world.failures() == 2


def test_after_an_outage_the_whole_batch_comes_again(world: World) -> None:
    world.outage.is_on = True
    batch = {"Records": [created(7), created(8, assetId="bust")]}
    assert world.creations.consume(batch) == {"batchItemFailures": [{"itemIdentifier": "7"}]}
    batch = {"Records": [expired(9), expired(10)]}
    assert world.expiry.consume(batch) == {"batchItemFailures": [{"itemIdentifier": "9"}]}
    world.outage.is_on = False
    assert (entries(world.tables), world.archived()) == ([], {})


def test_what_expires_is_archived_by_day_as_lines_of_json(world: World) -> None:
    world.expiry.consume({"Records": [expired(1), expired(2)]})
    ((name, items),) = world.archived().items()
    assert name == "2026/03/01/1.jsonl.gz"
    assert [item["entity"] for item in items] == ["tag:1", "tag:2"]
    assert items[0]["changes"] == {"n": {"after": 1}}


def test_batches_that_come_again_cut_otherwise_leave_each_entry_once(world: World) -> None:
    records = [expired(number) for number in range(1, 8)]
    for batch in (records[:5], records, records[:4], records[4:]):
        world.expiry.consume({"Records": batch})
    found = [item["entity"] for items in world.archived().values() for item in items]
    assert sorted(found) == [f"tag:{number}" for number in range(1, 8)]


@pytest.mark.parametrize(
    "more",
    [
        {"userIdentity": None},
        {"userIdentity": {"type": "User", "principalId": "dynamodb.amazonaws.com"}},
        {"userIdentity": {"type": "Service", "principalId": "other.amazonaws.com"}},
        {"eventName": "MODIFY"},
    ],
)
def test_what_someone_else_removes_is_not_archived(world: World, more: dict[str, Any]) -> None:
    assert world.expiry.consume({"Records": [expired(1, **more)]}) == {"batchItemFailures": []}
    assert (world.archived(), world.failures()) == ({}, 0)


def test_a_record_that_cannot_be_understood_is_kept_and_stops_no_other(world: World) -> None:
    broken = expired(1)
    del broken["dynamodb"]["OldImage"]
    timeless = expired(2)
    del timeless["dynamodb"]["ApproximateCreationDateTime"]
    world.expiry.consume({"Records": [broken, timeless, expired(3)]})
    assert list(world.archived()) == ["2026/03/01/3.jsonl.gz"]
    assert world.failures() == 2
