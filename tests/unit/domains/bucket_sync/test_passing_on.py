"""Objects of assets are passed on to what starts workflows, once their asset is stored."""

import json
from typing import Any

import pytest

from backend.core.errors import UnavailableError
from backend.core.transactions import Delete, Put
from backend.spec.queues import UPLOAD_TRIGGERS
from backend.spec.tables.assets import DATABASES
from tests.factories.bucket_sync import DATABASE, SyncWorld, message
from tests.unit.domains.bucket_sync.test_sync import ALL_DONE, once


@pytest.fixture
def world() -> SyncWorld:
    return SyncWorld()


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
    found = message(key, 1)
    body = json.loads(found["body"])
    body["detail"]["deletion-type"] = kind
    return {**found, "messageId": f"{key} {kind}", "body": json.dumps(body)}


def test_a_file_is_passed_on_though_another_worker_makes_its_asset(world: SyncWorld) -> None:
    world.put("pump/a.e57")
    world.put("pump/b.e57")
    world.tables.before = once(lambda: world.deliver_events("pump/a.e57"), 2)
    world.deliver_events("pump/b.e57")
    assert sorted(passed_on(world)) == ["pump/a.e57", "pump/b.e57"]


def test_a_file_that_cannot_be_passed_on_comes_again(world: SyncWorld) -> None:
    world.put("pump/a.e57")

    def down(operation: str) -> None:
        if operation == "send":
            raise UnavailableError("SQS does not answer")

    world.queues.before = down
    assert world.deliver_events("pump/a.e57") == {
        "batchItemFailures": [{"itemIdentifier": "message-0"}]
    }
    world.queues.before = lambda operation: None
    assert world.deliver_events("pump/a.e57") == ALL_DONE
    assert passed_on(world) == ["pump/a.e57"]


def passed_on(world: SyncWorld) -> list[str]:
    """Take the keys that were sent to what starts workflows."""
    return [body["detail"]["object"]["key"] for body in world.queues.take(UPLOAD_TRIGGERS)]
