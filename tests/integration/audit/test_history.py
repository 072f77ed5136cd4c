"""Histories of the audit log, and their expiry."""

import gzip
import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from backend.aws.items import from_wire
from backend.aws.settings import Settings
from backend.core.errors import ConflictError, RevisionConflictError
from backend.core.ids import new_uuid
from backend.core.objects import ObjectVersion
from backend.core.paging import PageRequest
from backend.core.transactions import Delete
from backend.domains.assets.models import UpdateAssetBody
from backend.domains.assets.service.commands import AssetService
from backend.domains.audit.models import Entry, StoredValue, audit_entity
from backend.domains.audit.repository import AuditArchive, AuditRepository
from backend.domains.audit.service.queries import AuditTrail
from backend.domains.audit.service.streams import TIME_TO_LIVE, ExpiredEntries, ExpiryConsumer
from backend.domains.metadata.models import Entity, NewRecord
from backend.domains.metadata.service.commands import MetadataService
from backend.search.indexing.failures import FailureStore
from backend.spec.functions.workers import AUDIT_ARCHIVER
from backend.spec.queues import STREAM_SUBSCRIPTIONS
from backend.spec.tables.operations import AUDIT
from local.pumps.patterns import any_of
from local.pumps.records import event_record
from tests.engines import RealEngines
from tests.factories.access import OnlyUser
from tests.factories.assets import ADMIN, NOON
from tests.factories.audit import ARCHIVE, DAYS, audit_service
from tests.factories.tables import create_table_request
from tests.integration.audit.conftest import Place
from tests.integration.tables import TableStream, names_of_tables

STATUE = Entity("museum", "statue")
LARGE = 6000
"""Length of a value that is too large for an entry."""
EDITORS, EDITS = 6, 8


def trail(place: Place) -> AuditTrail:
    archive = AuditArchive(place.objects, lambda: ARCHIVE)
    return AuditTrail(AuditRepository(place.tables), archive, OnlyUser())


def entries(place: Place, operation: str) -> list[Entry]:
    name = audit_entity("asset", "museum", "statue")
    result: list[Entry] = []
    page = trail(place).list_entries(ADMIN, PageRequest(20), entity=name)
    result += page.items
    while page.after is not None:
        page = trail(place).list_entries(ADMIN, PageRequest(20, page.after), entity=name)
        result += page.items
    return [entry for entry in result if entry.operation == operation]


def side(place: Place, entry: Entry, inline: Any, stored: StoredValue | None) -> str:
    """One side of a change as text, wherever it is stored."""
    if stored is not None:
        at = datetime.fromisoformat(entry.at.partition("#")[0])
        inline = trail(place).get_value(ADMIN, stored.sha256, entity=entry.entity, at=at)[1]
    return json.dumps(inline, sort_keys=True)


def followed(place: Place, made: Iterable[Entry], field: str) -> list[str]:
    """The values of a field in the order of their changes, each used once."""
    changes = [(entry, entry.changes[field]) for entry in made]
    after: Mapping[str, str] = {
        side(place, entry, change.before, change.before_stored): side(
            place, entry, change.after, change.after_stored
        )
        for entry, change in changes
    }
    (first,) = set(after) - set(after.values())
    values = [first]
    while values[-1] in after:
        values.append(after[values[-1]])
    return values


def test_edits_of_one_asset_at_once_have_an_entry_each_that_follow_one_another(
    place: Place, assets: AssetService
) -> None:
    def edit(editor: int) -> int:
        done = 0
        for number in range(EDITS):
            body = UpdateAssetBody(description=f"edit {number} of {editor}")
            try:
                assets.update_asset(ADMIN, "museum", "statue", body)
                done += 1
            except RevisionConflictError:
                continue
        return done

    with ThreadPoolExecutor(EDITORS) as pool:
        done = sum(pool.map(edit, range(EDITORS)))
    asset = assets.get_asset(ADMIN, "museum", "statue")
    made = entries(place, "update_asset")
    assert len(made) == done == asset.revision - 1 > 0
    values = followed(place, made, "description")
    assert len(values) == done + 1
    assert json.loads(values[-1]) == asset.description


def test_edits_of_one_record_at_once_have_an_entry_each_that_follow_one_another(
    place: Place, metadata: MetadataService
) -> None:
    def edit(editor: int) -> int:
        done = 0
        for number in range(EDITS):
            text = f"edit {number} of {editor}" + "x" * (LARGE if number % 2 else 0)
            try:
                metadata.change_metadata(ADMIN, STATUE, [record(text)])
                done += 1
            except ConflictError:
                continue
        return done

    with ThreadPoolExecutor(EDITORS) as pool:
        done = sum(pool.map(edit, range(EDITORS)))
    made = entries(place, "update_asset_metadata")
    assert len(made) == done > 0
    values = followed(place, made, "metadata.note")
    assert len(values) == done + 1
    (now,) = metadata.list_metadata(ADMIN, STATUE, PageRequest(10)).items
    assert json.loads(values[-1])["value"] == now.record.metadata_value


def record(text: str) -> NewRecord:
    return NewRecord(metadata_key="note", metadata_value=text, metadata_value_type="string")


PATIENCE_SECONDS = 90
"""DynamoDB Local looks for expired items every few seconds."""


@pytest.fixture
def own_place(engines: RealEngines, archive: None) -> Place:
    """A separate table, because other tests would miss items that its time to live removes."""
    own = Place(engines, Settings(names_of_tables(new_uuid()[:8])))
    engines.dynamodb.create_table(**create_table_request(AUDIT, own.settings.table(AUDIT)))
    return own


def removals(own_place: Place, count: int) -> list[dict[str, Any]]:
    """The records of removals as functions receive them, once there are this many."""
    stream = TableStream(own_place.engines.streams, own_place.settings.table(AUDIT))
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        records = [dict(event_record(item, stream.arn)) for item in stream.read()]
        result = [item for item in records if item["eventName"] == "REMOVE"]
        if len(result) >= count or time.monotonic() > until:
            return result
        time.sleep(0.2)


def made(own_place: Place, name: str, *, at: datetime) -> dict[str, str]:
    """Write an entry to the table; return its key."""
    audit = audit_service(own_place.objects)
    entry = audit.entry(
        ADMIN, "create_tag", audit_entity("tag", name), after={"tagName": name}, at=at
    )
    own_place.tables.write(entry)
    return {"entity": entry.item["entity"], "at": entry.item["at"]}


def archived(own_place: Place, since: set[str]) -> list[ObjectVersion]:
    objects = own_place.objects.list_objects(ARCHIVE, "2").objects
    return [item for item in objects if item.key not in since]


def test_what_expires_is_archived_once_and_what_a_user_removes_is_not(own_place: Place) -> None:
    there = {item.key for item in archived(own_place, set())}
    expired = datetime.fromtimestamp(time.time(), UTC) - timedelta(days=DAYS * 2)
    for name in ("red", "blue"):
        made(own_place, name, at=expired)
    own_place.tables.write(Delete(table=AUDIT, key=made(own_place, "kept", at=NOON)))
    own_place.engines.dynamodb.update_time_to_live(
        TableName=own_place.settings.table(AUDIT),
        TimeToLiveSpecification={"Enabled": True, "AttributeName": AUDIT.ttl or ""},
    )
    records = removals(own_place, 3)
    pattern = next(s.pattern for s in STREAM_SUBSCRIPTIONS if s.consumer == AUDIT_ARCHIVER.name)
    result = [record for record in records if any_of([pattern or ""])(record)]
    assert [record.get("userIdentity") for record in result] == [TIME_TO_LIVE, TIME_TO_LIVE]
    archive = AuditArchive(own_place.objects, lambda: ARCHIVE)
    failures = FailureStore(own_place.objects, ARCHIVE, AUDIT_ARCHIVER.name, lambda: NOON)
    consumer = ExpiryConsumer(ExpiredEntries(archive), from_wire, failures.store)
    for batch in (records, result, result[:1], result[1:]):  # as a mapping may deliver them again
        assert consumer.consume({"Records": batch}) == {"batchItemFailures": []}
    lines: list[str] = []
    for element in archived(own_place, there):
        content = b"".join(own_place.objects.read_chunks(ARCHIVE, element.key))
        lines += gzip.decompress(content).decode().splitlines()
    kept = [json.loads(line) for line in lines]
    assert sorted(item["entity"] for item in kept) == ["tag:blue", "tag:red"]
    assert all(item["changes"]["tagName"]["after"] for item in kept)
