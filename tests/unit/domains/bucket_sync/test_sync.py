"""Objects that others write into a bucket become assets, in whatever order events arrive."""

import json
from collections.abc import Callable
from itertools import count, permutations
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.deliveries import FIRST_PAUSE_SECONDS
from backend.core.errors import UnavailableError
from backend.core.identity import SYSTEM, Identity
from backend.core.references import AssetRef
from backend.core.transactions import Delete, Put
from backend.domains.assets.models import CreateAssetBody
from backend.domains.assets.rules import ancestors
from backend.entrypoints.wiring.assets import assets
from backend.entrypoints.wiring.databases import databases
from backend.spec.buckets import ASSET_BUCKET
from backend.spec.functions.workers import BUCKET_IMPORT_WORKER, BUCKET_SYNC
from backend.spec.queues import BUCKET_EVENTS as QUEUE
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.tables.assets import ASSET_VERSIONS, DATABASES
from tests.factories.audit import entries
from tests.factories.bucket_sync import BUCKET, DATABASE, SyncWorld, message
from tests.factories.buckets import BUCKET_ID, stored_bucket

ALL_DONE: dict[str, list[str]] = {"batchItemFailures": []}


def test_an_object_that_a_user_writes_becomes_an_asset_with_a_file(world: SyncWorld) -> None:
    world.put("pump/scan.e57")
    assert world.deliver_events("pump/scan.e57") == ALL_DONE
    asset = world.stored_asset()
    assert (asset.asset_name, asset.created_by, asset.asset_type) == ("pump", "SYSTEM", ".e57")
    assert asset.description == f"Found in the bucket: s3://{BUCKET}/pump/"
    assert (asset.bucket_id, asset.asset_location.key) == (BUCKET_ID, "pump/")
    # Once to index its files, even if another event was first; once for its type.
    assert asset.inherited_revision == 3
    assert world.kept == []


def test_the_default_database_is_made_when_it_is_missing(world: SyncWorld) -> None:
    world.put("pump/scan.e57")
    world.put("valve/scan.e57")
    world.deliver_events("pump/scan.e57", "valve/scan.e57")
    database = databases(world.sync).find_database(DATABASE)
    assert database is not None
    assert database.default_bucket_id == BUCKET_ID
    assert databases(world.sync).counted([database])[0].asset_count == 2
    assert [e["operation"] for e in entries(world.tables)] == ["create_database"]


def test_objects_wait_while_the_database_of_their_asset_is_purged(world: SyncWorld) -> None:
    """Others of the same delivery do not wait with them."""
    world.put("pump/scan.e57")
    world.deliver_events("pump/scan.e57")
    purged = {"databaseId": f"{DATABASE}#deleted", "purgeJobId": "purgeDatabase.imported.1"}
    world.tables.items[DATABASES.name].clear()
    world.tables.write(Put(table=DATABASES, item=purged))
    world.put("valve/scan.e57")
    reply = world.deliver_events("gone/scan.e57", "valve/scan.e57")
    assert reply == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    assert world.asset("valve") is None
    world.tables.write(Delete(table=DATABASES, key={"databaseId": f"{DATABASE}#deleted"}))
    assert world.deliver_events("valve/scan.e57") == ALL_DONE
    assert world.asset("valve") is not None


def test_a_bucket_may_name_the_database_of_its_assets() -> None:
    world = SyncWorld(prefix="scans/", default_database_id="museum")
    world.put("scans/pump/a.e57")
    world.deliver_events("scans/pump/a.e57")
    asset = world.stored_asset("pump", "museum")
    assert asset.asset_location.key == "scans/pump/"


def test_an_asset_remains_in_the_bucket_where_it_was_found(
    world: SyncWorld,
) -> None:
    world.put("pump/a")
    world.deliver_events("pump/a")
    other = stored_bucket(world.tables, name="other", bucket_id="other-id")
    world.objects.put("other", "valve/a", b"", content_type="text/plain", metadata={})
    world.deliver(message("valve/a", bucket="other"))
    asset = world.stored_asset("valve")
    assert asset.bucket_id == other.bucket_id


@pytest.mark.parametrize("order", list(permutations(("pump/a", "pump/b/c", "valve/a"))))
def test_the_order_of_events_plays_no_part(world: SyncWorld, order: tuple[str, ...]) -> None:
    for key in order:
        world.put(key)
    world.objects.delete(BUCKET, "valve/a")
    for key in order:
        world.deliver_events(key)
    assert world.stored_asset().asset_type == "folder"
    assert world.asset("valve") is None


def test_what_an_event_is_called_is_not_believed(world: SyncWorld) -> None:
    world.put("pump/a")
    result = message("pump/a")
    result["body"] = result["body"].replace("Object Created", "Object Deleted")
    world.deliver(result)
    assert world.asset("pump") is not None


@pytest.mark.parametrize("gone", ["never", "marked"])
def test_no_asset_is_made_of_what_was_deleted(world: SyncWorld, gone: str) -> None:
    if gone == "marked":
        world.put("pump/a")
        world.objects.delete(BUCKET, "pump/a")
    assert world.deliver_events("pump/a") == ALL_DONE
    assert world.asset("pump") is None
    assert databases(world.sync).find_database(DATABASE) is None


def test_the_type_of_an_asset_follows_its_files(world: SyncWorld) -> None:
    for key, expected in (("pump/a.glb", ".glb"), ("pump/b.glb", "folder")):
        world.put(key)
        world.deliver_events(key)
        asset = world.stored_asset()
        assert asset.asset_type == expected
    world.objects.delete(BUCKET, "pump/a.glb")
    world.objects.delete(BUCKET, "pump/b.glb")
    world.deliver_events("pump/b.glb")
    asset = world.stored_asset()
    assert asset.asset_type == "none"


def once(then: Callable[[], object], when: int) -> Callable[[str], None]:
    """Does something before the nth write, and not again."""
    writes = count(1)

    def before(operation: str) -> None:
        if operation == "write" and next(writes) == when:
            then()

    return before


def outage_of(wanted: str) -> Callable[[str], None]:
    """Operations of a kind fail."""

    def fail(operation: str) -> None:
        if operation == wanted:
            raise UnavailableError("AWS does not answer")

    return fail


@pytest.mark.parametrize("when", [1, 2, 3])
def test_workers_that_meet_at_a_folder_make_one_asset(world: SyncWorld, when: int) -> None:
    world.put("pump/a.e57")
    world.tables.before = once(lambda: world.deliver_events("pump/a.e57"), when)
    assert world.deliver_events("pump/a.e57") == ALL_DONE
    database = databases(world.sync).find_database(DATABASE)
    assert database is not None
    assert databases(world.sync).counted([database])[0].asset_count == 1
    asset = world.stored_asset()
    assert asset.asset_type == ".e57"
    assert world.kept == []


def test_an_outage_returns_all_messages_counts_that_and_loses_none(
    world: SyncWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    world.put("pump/a")
    world.put("valve/a")
    world.tables.before = outage_of("write")
    reply = world.deliver_events("pump/a", "valve/a")
    failed = {failure["itemIdentifier"] for failure in reply["batchItemFailures"]}
    assert failed == {"message-0", "message-1"}
    assert '"BatchesGivenBack":[1.0]' in capsys.readouterr().out
    world.tables.before = lambda operation: None
    world.deliver_events("pump/a", "valve/a")
    assert world.asset("pump")
    assert world.asset("valve")


def test_reserved_folders_are_left_alone_raise_no_alarm_and_start_one_scan_of_the_buckets(
    world: SyncWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    scans: list[str] = []
    world.tables.before = lambda operation: scans.extend([operation] * (operation == "scan"))
    for key in ("temp-uploads/y1/part", "temp-uploads/y2/part", "previews/x.png", "temp-uploads"):
        world.put(key)
        assert world.deliver_events(key) == ALL_DONE
    assert len(scans) == 1
    assert world.kept == []
    assert DATABASE not in str(world.tables.items.get("DatabaseStorageTable", {}))
    printed = capsys.readouterr().out
    assert '"reason":"reservedFolder"' in printed
    assert '"ObjectsSkipped":[1.0]' in printed


def test_objects_outside_the_base_prefixes_are_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    world = SyncWorld(prefix="scans/")
    world.put("elsewhere/pump/a")
    assert world.deliver_events("elsewhere/pump/a") == ALL_DONE
    assert world.kept == []
    assert '"reason":"outsideBasePrefixes"' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("key", "fact"),
    [
        ("loose.txt", "it is not in a folder"),
        ("a:b/x", "must not contain :"),
        ("no#hash/x", "must not contain #"),
        ("dot./x", "must not end with a dot or a space"),
        ("blank /x", "must not end with a dot or a space"),
        ("cafe\u0301/x", "composed form"),
        ("tab\there/x", "control characters"),
        ("../x", "must not"),
        ("/x", "must have 1 to 255 characters"),
        ("o" * 256 + "/x", "must have 1 to 255 characters"),
        ("é" * 250 + "😀" * 5 + "/x", None),
        ("😀" * 250 + "/x", "at most 896 are allowed"),
    ],
)
def test_what_can_be_no_asset_is_kept_with_its_reason(
    world: SyncWorld, key: str, fact: str | None
) -> None:
    world.put(key)
    assert world.deliver_events(key) == ALL_DONE
    if fact is None:
        assert world.kept == []
        return
    (kept,) = world.kept
    assert fact in kept["reason"]
    assert kept["consumer"] == "BucketSync"
    assert "AssetStorageTable" not in world.tables.items


def test_a_folder_that_is_refused_is_kept_once_a_day_however_much_is_in_it(
    world: SyncWorld,
) -> None:
    keys = [f"a:b/{n}" for n in range(5)]
    others = ["pump/a", "pump/b", "valve/", "temp-uploads/x"]
    for key in (*keys, *others):
        world.put(key)
    world.objects.delete(BUCKET, "pump/b")
    before = {key: list(stored) for key, stored in world.objects.buckets[BUCKET].items()}
    world.deliver_events(*keys[:3], *others, "absent/x")
    tables = {name: dict(items) for name, items in world.tables.items.items()}
    for _ in range(2):  # events that repeat change nothing
        world.deliver_events(*keys[3:], *others, "absent/x")
    assert world.tables.items == tables
    (kept,) = world.kept
    assert kept["name"] == f"s3://{BUCKET}/a:b/"
    assert world.objects.buckets[BUCKET] == before  # and nothing is written to the bucket


def test_what_was_kept_is_a_message_that_can_be_delivered_again(world: SyncWorld) -> None:
    stored_bucket(world.tables, name="other", bucket_id="other-id")
    world.objects.put("other", "pump/a", b"", content_type="text/plain", metadata={})
    world.put("pump/a b+c")
    world.deliver_events("pump/a b+c")
    world.deliver(message("pump/a", bucket="other"))
    (kept,) = world.kept
    assert "The asset id pump is already in use" in kept["reason"]
    assert world.deliver({**message("x"), **kept["body"]}) == ALL_DONE
    assert len(world.kept) == 1


def test_a_folder_in_which_assets_stand_deeper_is_refused(world: SyncWorld) -> None:
    world.put("first/a")
    world.put("hall/pump/a")
    world.deliver_events("first/a")
    body = CreateAssetBody(
        database_id=DATABASE,
        asset_id="pump",
        asset_name="Pump",
        description="In the hall",
        is_distributable=True,
        bucket_existing_key="hall/pump",
    )
    assets(world.sync).create_asset(SYSTEM, body)
    world.put("hall/plan.pdf")
    assert world.deliver_events("hall/pump/a", "hall/plan.pdf", "hall/absent") == ALL_DONE
    (kept,) = world.kept
    assert "The prefix hall/ overlaps the prefix of another asset" in kept["reason"]
    assert "hall/plan.pdf" in kept["body"]["body"]
    world.objects.delete(BUCKET, "hall/plan.pdf")
    world.objects.buckets.pop("failurebucket")
    assert world.deliver_events("hall/plan.pdf") == ALL_DONE
    assert world.kept == []  # nothing is there any more of which nobody knows what it is


def deleted(world: SyncWorld, asset_id: str) -> Callable[[], None]:
    """Remove an asset's row, as a deletion begins; answers with what ends the deletion."""
    service = assets(world.sync)
    asset = world.stored_asset(asset_id)
    world.tables.transact(service.removal_writes(SYSTEM, asset, "job", at=service.clock()))
    prefix = asset.asset_location.key
    reference = AssetRef(database_id=DATABASE, asset_id=asset_id)
    assert ancestors("", prefix) == ()

    def end() -> None:
        world.tables.items.pop(ASSET_VERSIONS.name)
        service.release(reference, "job", bucket_id=BUCKET_ID, prefix=prefix)

    return end


def test_what_is_written_while_its_asset_is_deleted_waits_for_the_end(world: SyncWorld) -> None:
    world.put("pump/a")
    world.deliver_events("pump/a")
    release = deleted(world, "pump")
    world.put("pump/late")
    reply = world.deliver_events("pump/late", "pump/gone")
    assert reply == {"batchItemFailures": [{"itemIdentifier": "message-0"}]}
    assert world.queues.postponed == [(QUEUE.name, "receipt-0", FIRST_PAUSE_SECONDS)]
    release()
    assert world.deliver_events("pump/late") == ALL_DONE
    assert world.asset("pump") is not None


@pytest.mark.parametrize(("others", "listings"), [(1, 1), (1200, 1 + 2)])
def test_a_deletion_in_progress_is_looked_at_by_few_listings(
    world: SyncWorld, others: int, listings: int
) -> None:
    world.put("pump/a")
    world.deliver_events("pump/a")
    deleted(world, "pump")
    for number in range(others):
        world.put(f"pump/later-{number}")
    world.objects.delete(BUCKET, "pump/a")
    made: list[str] = []
    world.objects.before = made.append
    reply = world.deliver_events("pump/a", "pump/later-0")
    assert reply["batchItemFailures"] == [{"itemIdentifier": "message-1"}]
    assert made == ["list"] * listings


def test_the_last_events_of_a_deleted_asset_do_not_restore_it(world: SyncWorld) -> None:
    world.put("pump/a")
    world.deliver_events("pump/a")
    release = deleted(world, "pump")
    for key in list(world.objects.buckets[BUCKET]):
        world.objects.buckets[BUCKET].pop(key)
    release()
    assert world.deliver_events("pump/a") == ALL_DONE
    assert world.asset("pump") is None


def test_an_archived_asset_keeps_its_folder(world: SyncWorld) -> None:
    world.put("pump/a.glb")
    world.deliver_events("pump/a.glb")
    asset = world.stored_asset()
    archived = asset.model_copy(update={"status": "archived", "revision": asset.revision + 1})
    world.tables.transact(assets(world.sync).move_writes(SYSTEM, asset, archived))
    world.put("pump/b.glb")
    assert world.deliver_events("pump/b.glb") == ALL_DONE
    assert world.asset("pump") == archived
    assert world.kept == []


def test_a_message_that_names_no_object_is_kept(world: SyncWorld) -> None:
    broken = {"messageId": "broken", "receiptHandle": "r", "body": '{"detail": {}}'}
    world.put("pump/a")
    assert world.deliver(broken, message("pump/a")) == ALL_DONE
    assert world.asset("pump") is not None
    (kept,) = world.kept
    assert kept["name"] == "broken"


def test_objects_start_workflows_once_they_are_files_of_an_asset(world: SyncWorld) -> None:
    """Those that have to wait, or become no files, are not passed on."""
    for key in ("pump/a.e57", "a:b/x", "previews/x.png", "pump/b.e57"):
        world.put(key)
    world.deliver_events("pump/a.e57", "a:b/x", "previews/x.png")
    assert passed_on(world) == ["pump/a.e57"]
    world.deliver_events("pump/b.e57")
    assert passed_on(world) == ["pump/b.e57"]
    world.tables.items[DATABASES.name].clear()
    purged = {"databaseId": f"{DATABASE}#deleted", "purgeJobId": "purgeDatabase.imported.1"}
    world.tables.write(Put(table=DATABASES, item=purged))
    world.put("valve/a.e57")
    world.deliver_events("valve/a.e57")
    assert passed_on(world) == []
    world.tables.write(Delete(table=DATABASES, key={"databaseId": f"{DATABASE}#deleted"}))
    world.deliver_events("valve/a.e57")
    assert passed_on(world) == ["valve/a.e57"]


def test_folders_and_previews_are_not_passed_on(world: SyncWorld) -> None:
    keys = ("pump/parts/", "pump/a.e57.previewFile.png", "pump/a.e57")
    for key in keys:
        world.put(key)
    world.deliver_events(*keys)
    assert passed_on(world) == ["pump/a.e57"]


def test_an_archived_file_is_not_passed_on(world: SyncWorld) -> None:
    for key in ("pump/a.e57", "pump/b.e57", "pump/c.e57"):
        world.put(key)
    world.deliver(
        deletion("pump/a.e57", "Delete Marker Created"),
        deletion("pump/b.e57", "Permanently Deleted"),
        deletion("pump/c.e57", "Delete Marker Created"),
        message("pump/c.e57", 9),
    )
    assert passed_on(world) == ["pump/b.e57", "pump/c.e57"]


def deletion(key: str, kind: str) -> dict[str, Any]:
    result = message(key, 1)
    body = json.loads(result["body"])
    body["detail"]["deletion-type"] = kind
    return {**result, "messageId": f"{key} {kind}", "body": json.dumps(body)}


def test_a_file_is_passed_on_though_another_worker_makes_its_asset(world: SyncWorld) -> None:
    world.put("pump/a.e57")
    world.put("pump/b.e57")
    world.tables.before = once(lambda: world.deliver_events("pump/a.e57"), 2)
    world.deliver_events("pump/b.e57")
    assert sorted(passed_on(world)) == ["pump/a.e57", "pump/b.e57"]


def test_a_file_that_cannot_be_passed_on_comes_again(world: SyncWorld) -> None:
    world.put("pump/a.e57")
    world.queues.before = outage_of("send")
    reply = world.deliver_events("pump/a.e57")
    assert reply == {"batchItemFailures": [{"itemIdentifier": "message-0"}]}
    world.queues.before = lambda operation: None
    assert world.deliver_events("pump/a.e57") == ALL_DONE
    assert passed_on(world) == ["pump/a.e57"]


def passed_on(world: SyncWorld) -> list[str]:
    """Take the keys that were sent to what starts workflows."""
    return [body["detail"]["object"]["key"] for body in world.queues.take(UPLOAD_TRIGGERS)]


def test_no_policy_lets_the_sync_write_to_the_bucket_or_read_an_object() -> None:
    for function in (BUCKET_SYNC, BUCKET_IMPORT_WORKER):
        assert {*function.uses[ASSET_BUCKET]} <= {"ListBucket", "ListBucketVersions"}


def test_only_the_product_itself_may_do_what_the_sync_does(world: SyncWorld) -> None:
    authorization = world.sync.authorization
    assert authorization.may(SYSTEM, "PUT", Secured("asset"))
    assert not authorization.may(Identity("admin"), "PUT", Secured("asset"))
