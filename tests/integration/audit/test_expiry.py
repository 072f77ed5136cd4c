"""Items removed by their time to live are archived, and no others, on real engines."""

import gzip
import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.aws.items import from_wire
from backend.aws.settings import Settings
from backend.core.ids import new_uuid
from backend.core.objects import ObjectVersion
from backend.core.transactions import Delete
from backend.domains.audit.models import audit_entity
from backend.domains.audit.repository import AuditArchive
from backend.domains.audit.service.streams import TIME_TO_LIVE, ExpiredEntries, ExpiryConsumer
from backend.search.indexing.failures import FailureStore
from backend.spec.functions.workers import AUDIT_ARCHIVER
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.spec.tables.operations import AUDIT
from local.pumps.patterns import any_of
from local.pumps.records import event_record
from tests.engines import RealEngines
from tests.factories.assets import ADMIN, NOON
from tests.factories.audit import ARCHIVE, DAYS, audit_service
from tests.factories.tables import create_table_request
from tests.integration.audit.conftest import Place
from tests.integration.tables import TableStream, names_of_tables

PATIENCE_SECONDS = 90
"""DynamoDB Local looks for expired items every few seconds."""


@pytest.fixture
def place(engines: RealEngines, archive: None) -> Place:
    """A separate table, because other tests would miss items that its time to live removes."""
    own = Place(engines, Settings(names_of_tables(new_uuid()[:8])))
    engines.dynamodb.create_table(**create_table_request(AUDIT, own.settings.table(AUDIT)))
    return own


def removals(place: Place, count: int) -> list[dict[str, Any]]:
    """The records of removals as functions receive them, once there are this many."""
    stream = TableStream(place.engines.streams, place.settings.table(AUDIT))
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        records = [dict(event_record(one, stream.arn)) for one in stream.read()]
        found = [one for one in records if one["eventName"] == "REMOVE"]
        if len(found) >= count or time.monotonic() > until:
            return found
        time.sleep(0.2)


def made(place: Place, name: str, *, at: datetime) -> dict[str, str]:
    """Write an entry to the table; return its key."""
    audit = audit_service(place.objects)
    entry = audit.entry(
        ADMIN, "create_tag", audit_entity("tag", name), after={"tagName": name}, at=at
    )
    place.tables.write(entry)
    return {"entity": entry.item["entity"], "at": entry.item["at"]}


def archived(place: Place, since: set[str]) -> list[ObjectVersion]:
    found = place.objects.list_objects(ARCHIVE, "2").objects
    return [one for one in found if one.key not in since]


def test_what_expires_is_archived_once_and_what_a_user_removes_is_not(place: Place) -> None:
    there = {one.key for one in archived(place, set())}
    expired = datetime.fromtimestamp(time.time(), UTC) - timedelta(days=DAYS * 2)
    for name in ("red", "blue"):
        made(place, name, at=expired)
    place.tables.write(Delete(table=AUDIT, key=made(place, "kept", at=NOON)))
    place.engines.dynamodb.update_time_to_live(
        TableName=place.settings.table(AUDIT),
        TimeToLiveSpecification={"Enabled": True, "AttributeName": AUDIT.ttl or ""},
    )
    records = removals(place, 3)
    pattern = next(s.pattern for s in STREAM_SUBSCRIPTIONS if s.consumer == AUDIT_ARCHIVER.name)
    found = [record for record in records if any_of([pattern or ""])(record)]
    assert [record.get("userIdentity") for record in found] == [TIME_TO_LIVE, TIME_TO_LIVE]
    archive = AuditArchive(place.objects, lambda: ARCHIVE)
    failures = FailureStore(place.objects, ARCHIVE, AUDIT_ARCHIVER.name, lambda: NOON)
    consumer = ExpiryConsumer(ExpiredEntries(archive), from_wire, failures.store)
    for batch in (records, found, found[:1], found[1:]):  # as a mapping may deliver them again
        assert consumer.consume({"Records": batch}) == {"batchItemFailures": []}
    lines: list[str] = []
    for one in archived(place, there):
        content = b"".join(place.objects.read_chunks(ARCHIVE, one.key))
        lines += gzip.decompress(content).decode().splitlines()
    kept = [json.loads(line) for line in lines]
    assert sorted(item["entity"] for item in kept) == ["tag:blue", "tag:red"]
    assert all(item["changes"]["tagName"]["after"] for item in kept)
