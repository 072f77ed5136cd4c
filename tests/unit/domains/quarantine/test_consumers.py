"""Results of scans quarantine versions, whatever else arrives and in whichever order."""

from datetime import datetime
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.entrypoints.wiring.quarantine import scan_results
from backend.spec.queues import SCAN_RESULTS
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.audit import entries
from tests.factories.buckets import BUCKET_ID
from tests.factories.quarantine import BUCKET, EICAR, ScanWorld, scan_event

KEY = "statue/a.glb"
CLEAN = "NO_THREATS_FOUND"
NAMED = {"bucketName": BUCKET, "objectKey": KEY, "versionId": "v1"}


@pytest.fixture
def world() -> ScanWorld:
    """The asset `statue` in the deployment's own bucket."""
    world = ScanWorld()
    assets = asset_service(world.tables, world.objects)
    created_database(assets)
    created_asset(assets)
    return world


def audited(world: ScanWorld) -> list[tuple[str, str]]:
    """Entity and operation of the audit entries of scans."""
    return [
        (entry["entity"], entry["operation"])
        for entry in entries(world.tables)
        if entry["operation"] in {"quarantine_file", "release_file"}
    ]


def test_a_version_with_a_threat_is_quarantined_and_audited(world: ScanWorld) -> None:
    assert world.deliver_events(scan_event(KEY, "v1")) == {"batchItemFailures": []}
    assert world.is_quarantined(KEY, "v1")
    assert not world.is_quarantined(KEY, "v2")
    assert not world.is_quarantined("statue/b.glb", "v1")
    assert audited(world) == [("file:museum:statue:/a.glb", "quarantine_file")]
    (entry,) = (e for e in entries(world.tables) if e["operation"] == "quarantine_file")
    after = {name: change["after"] for name, change in entry["changes"].items()}
    assert after == {
        "key": KEY,
        "versionId": "v1",
        "scanStatus": "THREATS_FOUND",
        "threats": [EICAR],
    }
    assert entry["userId"] == "SYSTEM"


def test_a_clean_version_leaves_nothing(world: ScanWorld) -> None:
    before = {name: dict(items) for name, items in world.tables.items.items()}
    for status in (CLEAN, "UNSUPPORTED", "ACCESS_DENIED", "FAILED"):
        world.deliver_events(scan_event(KEY, "v1", status))
    assert {name: dict(items) for name, items in world.tables.items.items()} == before
    assert world.kept == []


def test_results_that_come_twice_are_entered_once(world: ScanWorld) -> None:
    world.deliver_events(scan_event(KEY, "v1"), scan_event(KEY, "v1"))
    world.deliver_events(scan_event(KEY, "v1"))
    assert world.is_quarantined(KEY, "v1")
    assert len(audited(world)) == 1


def test_a_later_scan_without_threats_releases_the_version(world: ScanWorld) -> None:
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:01Z"))
    world.deliver_events(scan_event(KEY, "v1", CLEAN, time="2026-03-02T12:00:00Z"))
    assert not world.is_quarantined(KEY, "v1")
    assert {operation for _, operation in audited(world)} == {"quarantine_file", "release_file"}


@pytest.mark.parametrize(
    ("statuses", "is_quarantined"),
    [
        # each with the second of its scan, in the order of arrival
        ([("THREATS_FOUND", 1), (CLEAN, 2), ("THREATS_FOUND", 1)], False),
        ([("THREATS_FOUND", 2), (CLEAN, 1)], True),
        ([("THREATS_FOUND", 1), (CLEAN, 2), (CLEAN, 4), ("THREATS_FOUND", 3)], False),
        ([("THREATS_FOUND", 1), (CLEAN, 2), ("THREATS_FOUND", 3)], True),
        ([(CLEAN, 1), ("THREATS_FOUND", 1)], True),
        ([("THREATS_FOUND", 1), (CLEAN, 1)], True),
    ],
)
def test_the_last_scan_counts_whenever_its_result_arrives(
    world: ScanWorld, statuses: list[tuple[str, int]], is_quarantined: bool
) -> None:
    for status, second in statuses:
        world.deliver_events(scan_event(KEY, "v1", status, time=f"2026-03-01T12:00:0{second}Z"))
    assert world.is_quarantined(KEY, "v1") is is_quarantined


def test_times_are_compared_whatever_their_zone(world: ScanWorld) -> None:
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:00+00:00"))
    world.deliver_events(scan_event(KEY, "v1", CLEAN, time="2026-03-01T12:30:00+01:00"))
    assert world.is_quarantined(KEY, "v1")


def test_an_object_of_no_asset_is_quarantined_too(world: ScanWorld) -> None:
    """Its asset may be created a moment later, or was deleted a moment ago."""
    world.deliver_events(scan_event("hall/a.glb", "v1"))
    assert world.is_quarantined("hall/a.glb", "v1")
    assert audited(world) == [(f"bucket:{BUCKET_ID}", "quarantine_file")]


def test_a_bucket_without_versions_has_one(world: ScanWorld) -> None:
    world.deliver_events(scan_event(KEY, None))
    assert world.is_quarantined(KEY, "null")


def test_an_imported_bucket_without_a_record_is_quarantined_without_an_entry(
    world: ScanWorld,
) -> None:
    settings = world.context.settings
    environment = {**settings.environment, "SETTING_IMPORTED_BUCKETS": "theirs,others"}
    vars(world.context)["settings"] = type(settings)(environment)
    world.deliver_events(scan_event("a/b", "v1", bucket="theirs"))
    assert world.is_quarantined("a/b", "v1", "theirs")
    assert audited(world) == []


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "null",
        "{" * 5000,
        '{"detail": {}}',
        scan_event(KEY, "v1") | {"time": "yesterday"},
        scan_event(KEY, "v1") | {"time": "2026-03-01T12:00:01"},
        scan_event(KEY, "v1") | {"time": "0001-01-01T00:00:00+14:00"},
        scan_event(KEY, "v1") | {"detail": {"s3ObjectDetails": NAMED}},
        scan_event(KEY, "v1", bucket="somebody-elses"),
        scan_event(KEY, "v1", bucket=""),
        scan_event("", "v1"),
        scan_event("k" * 1024, "v" * 1024),
        scan_event(KEY, "v#1"),
        scan_event("statue/\ud800", "v1"),  # JSON escapes what is no text
    ],
)
def test_what_is_not_understood_is_kept_and_stops_nothing(world: ScanWorld, body: Any) -> None:
    assert world.deliver_events(body, scan_event(KEY, "v2")) == {"batchItemFailures": []}
    (kept,) = world.kept
    assert (kept["consumer"], kept["body"]["messageId"]) == ("Quarantine", "message-0")
    assert kept["reason"]
    assert world.is_quarantined(KEY, "v2")
    assert not world.is_quarantined(KEY, "v1")


def test_a_message_without_a_body_is_kept(world: ScanWorld) -> None:
    scan_results(world.context)({"Records": [{"messageId": "one"}]})
    assert [kept["reason"] for kept in world.kept] == ["the message has no body"]


@pytest.mark.parametrize("threats", [None, "EICAR", [1, {"name": 2}], [{"name": "x" * 999}] * 99])
def test_threats_of_any_form_quarantine(world: ScanWorld, threats: Any) -> None:
    event = scan_event(KEY, "v1")
    event["detail"]["scanResultDetails"]["threats"] = threats
    world.deliver_events(event)
    assert world.is_quarantined(KEY, "v1")
    assert world.kept == []


def test_an_outage_returns_the_whole_batch(world: ScanWorld) -> None:
    def down(operation: str) -> None:
        raise UnavailableError("DynamoDB does not answer")

    world.tables.before = down
    reply = world.deliver_events(scan_event(KEY, "v1"), scan_event(KEY, "v2"))
    assert len(reply["batchItemFailures"]) == 2
    assert {name for name, *_ in world.queues.postponed} == {SCAN_RESULTS.name}
    world.tables.before = lambda operation: None
    world.deliver_events(scan_event(KEY, "v1"), scan_event(KEY, "v2"))
    assert world.is_quarantined(KEY, "v1")
    assert world.is_quarantined(KEY, "v2")


def test_two_consumers_of_one_version_do_not_overtake_each_other(world: ScanWorld) -> None:
    """The later result is stored between the other's read and write: that one reads again."""
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:01Z"))

    def meanwhile(operation: str) -> None:
        if operation == "write":
            world.tables.before = lambda operation: None
            world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T12:00:03Z"))

    world.tables.before = meanwhile
    clean = scan_event(KEY, "v1", CLEAN, time="2026-03-01T12:00:02Z")
    assert world.deliver_events(clean)["batchItemFailures"] == [{"itemIdentifier": "message-0"}]
    world.deliver_events(clean)
    assert world.is_quarantined(KEY, "v1")


def test_the_moment_of_a_scan_is_stored_in_one_form(world: ScanWorld) -> None:
    world.deliver_events(scan_event(KEY, "v1", time="2026-03-01T13:00:00+01:00"))
    (item,) = (
        item
        for item in world.tables.items["Reservations"].values()
        if str(item["reservationKey"]).startswith("Quarantine#")
    )
    assert datetime.fromisoformat(item["scannedAt"]) == datetime.fromisoformat(
        "2026-03-01T12:00:00+00:00"
    )
