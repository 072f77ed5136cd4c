"""Events: what they change, what is acknowledged or comes again, and the jobs they start."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.objects import ObjectRef
from backend.core.queues import Queues
from backend.core.references import AssetRef, FileKeyRef, FileRef
from backend.domains.buckets.service import BucketRegistry
from backend.domains.jobs.models import Job
from backend.domains.jobs.repository import JobRepository
from backend.domains.jobs.service.runner import JobRunner
from backend.search.indexing.changes import FanOut, object_changes, settle_changes, table_changes
from backend.search.indexing.fan_out import FanOuts, FanOutStep, job_id
from backend.search.indexing.references import (
    QueuedRebuildRequests,
    Reference,
    from_message,
    to_messages,
)
from backend.spec import keys
from backend.spec.metrics import BATCHES_GIVEN_BACK
from backend.spec.queues import OBJECT_EVENTS, SETTLE
from backend.spec.tables import TABLES
from backend.spec.tables.operations import JOBS
from tests.factories.jobs import job_service
from tests.factories.search import NOON, object_message, store_asset, stream_record
from tests.fakes.queues import MemoryQueues
from tests.unit.search.conftest import IndexingWorld

FILE_KEY = "databaseId:assetId:filePath"


def test_no_two_tables_with_a_stream_have_keys_of_the_same_names() -> None:
    names = [frozenset(table.key_names) for table in TABLES if table.stream]
    assert len(set(names)) == len(names)


def test_an_asset_in_either_partition_is_the_same_document() -> None:
    records = [
        stream_record({"databaseId": database_id, "assetId": "pump"})
        for database_id in ("museum", "museum#deleted")
    ]
    assert table_changes(records).references == {AssetRef("museum", "pump")}


def test_metadata_at_the_root_touches_the_asset_and_other_metadata_the_file() -> None:
    records = [
        stream_record({"metadataKey": "k", FILE_KEY: "museum:pump:/"}),
        *(
            stream_record({"metadataKey": f"k{n}", FILE_KEY: "museum:pump:/a:b/c.glb"})
            for n in range(10)
        ),
        stream_record({"attributeKey": "k", FILE_KEY: "museum:pump:/d.glb"}),
    ]
    assert table_changes(records).references == {
        AssetRef("museum", "pump"),
        FileRef("museum", "pump", "/a:b/c.glb"),
        FileRef("museum", "pump", "/d.glb"),
    }


def test_a_new_link_touches_both_ends_and_a_removed_one_identifies_no_one() -> None:
    ends = {
        "fromAssetDatabaseId:fromAssetId": {"S": "museum:pump"},
        "toAssetDatabaseId:toAssetId": {"S": "depot:wheel"},
    }
    key = {"assetLinkId": "link"}
    assert table_changes([stream_record(key, ends)]).references == {
        AssetRef("museum", "pump"),
        AssetRef("depot", "wheel"),
    }
    assert not table_changes([stream_record(key)]).references


def test_tables_that_are_in_no_document_touch_nothing() -> None:
    records = [
        stream_record({"databaseId": "museum"}, {}),
        stream_record({"metadataKey": "k", "databaseId": "museum"}, {}),
        stream_record({"assetLinkId": "link", "metadataKey": "k"}, {}),
    ]
    changes = table_changes(records)
    assert not changes.references
    assert not changes.poison


def test_only_a_later_inherited_revision_makes_a_fan_out_and_only_the_last_counts() -> None:
    key = {"databaseId": "museum", "assetId": "pump"}
    records = [
        stream_record(key, {"inheritedRevision": {"N": str(revision)}}) for revision in (1, 3, 2)
    ]
    assert table_changes(records).fan_outs == {FanOut("museum", "pump", 3)}
    assert not table_changes(records[:1]).fan_outs
    assert not table_changes([stream_record(key, {})]).fan_outs


def test_poison_is_named_and_leaves_the_rest_of_the_batch_alone() -> None:
    good = stream_record({"databaseId": "museum", "assetId": "pump"}, event_id="good")
    bad: list[Any] = [
        {"eventID": "no change"},
        stream_record({}, event_id="no key"),
        stream_record({"unknown": "x"}, event_id="unknown table"),
        stream_record({"metadataKey": "k", FILE_KEY: "museum"}, event_id="no path"),
        stream_record({"databaseId": "m", "assetId": ""}, event_id="empty id"),
        stream_record(
            {"databaseId": "m", "assetId": "a"}, {"inheritedRevision": {"N": "x"}}, event_id="NaN"
        ),
        None,
        "text",
    ]
    changes = table_changes([*bad[:3], good, *bad[3:]])
    assert AssetRef("museum", "pump") in changes.references
    names = {poison.name for poison in changes.poison}
    assert {"no change", "no key", "unknown table", "no path", "empty id", "NaN"} < names
    assert len(changes.poison) == len(bad)
    assert all(poison.reason for poison in changes.poison)


def test_keys_of_object_events_are_taken_as_they_are() -> None:
    messages = [object_message("bucket", "pump/a+b %20é.glb")]
    assert object_changes(messages).references == {ObjectRef("bucket", "pump/a+b %20é.glb")}


def test_messages_that_are_no_events_are_poison() -> None:
    bodies = ["", "not json", "[]", '{"detail": {}}', "[" * 100_000]
    messages: list[dict[str, Any]] = [
        {"messageId": str(n), "body": b} for n, b in enumerate(bodies)
    ]
    changes = object_changes([*messages, {"messageId": "none"}])
    assert len(changes.poison) == len(bodies) + 1
    assert not changes.references


def test_settle_messages_return_what_was_put_into_them() -> None:
    references = {
        AssetRef("museum", "pump"),
        FileRef("museum", "pump", "/" + "é" * 500),
        ObjectRef("bucket", "pump/a.glb"),
        FileKeyRef("museum", "pump", "base/pump/a:#.glb"),
    }
    messages = [{"messageId": "m", "body": json.dumps(body)} for body in to_messages(references)]
    assert settle_changes(messages).references == references


def test_many_references_are_cut_into_messages_that_fit_a_queue() -> None:
    references = {FileRef("museum", "pump", f"/{n:05}-" + "ü" * 900) for n in range(1000)}
    messages = list(to_messages(references))
    assert len(messages) > 1
    assert all(len(json.dumps(message)) < 240_000 for message in messages)
    changes = settle_changes([{"messageId": "m", "body": json.dumps(body)} for body in messages])
    assert changes.references == references


def test_a_settle_message_of_another_shape_is_poison() -> None:
    bodies: list[Any] = [
        {},
        {"references": "x"},
        {"references": [["asset", "only"]]},
        {"references": [["file", "a", "b", 3]]},
        {"references": [[]]},
    ]
    messages = [{"messageId": "m", "body": json.dumps(body)} for body in bodies]
    assert len(settle_changes(messages).poison) == len(bodies)


ASSET_KEY = {"databaseId": "museum", "assetId": "pump"}
RECORD_KEY = {"metadataKey": "k", keys.FILE.name: "museum:pump:/a.glb"}


def event_with(bodies: list[Any]) -> dict[str, Any]:
    records = [{"messageId": str(n), "body": json.dumps(body)} for n, body in enumerate(bodies)]
    return {"Records": records}


def kept(objects: S3Objects) -> int:
    return len(objects.list_objects("failurebucket", "Test/2026-03-01/").objects)


def test_a_batch_with_a_poison_record_is_acknowledged_and_the_record_is_kept(
    world: IndexingWorld,
) -> None:
    store_asset(world.tables)
    event = {"Records": [stream_record({"odd": "x"}), stream_record(ASSET_KEY, {})]}
    assert world.streams.consume(event) == {"batchItemFailures": []}
    assert world.streams.consume(event) == {"batchItemFailures": []}
    assert set(world.engine.live()) == {"museum:pump"}
    assert kept(world.objects) == 1


def test_an_outage_fails_the_whole_batch_of_a_stream(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.engine.indexes.clear()
    with pytest.raises(UnavailableError):
        world.streams.consume({"Records": [stream_record(ASSET_KEY, {})]})


def test_an_outage_returns_all_messages_of_a_queue(world: IndexingWorld) -> None:
    store_asset(world.tables)
    consumer = world.queue_consumer(OBJECT_EVENTS, object_changes)
    counts = {"a": 1, "b": 3}
    messages = [
        object_message("assetbucket", "pump/a", message_id=name)
        | {"receiptHandle": name, "attributes": {"ApproximateReceiveCount": str(count)}}
        for name, count in counts.items()
    ]
    event = {"Records": messages}
    files = world.engine.indexes.pop("files-1")
    failed = consumer.consume(event)["batchItemFailures"]
    assert failed == [{"itemIdentifier": "a"}, {"itemIdentifier": "b"}]
    assert world.sent.postponed == [("ObjectEvents", "a", 10), ("ObjectEvents", "b", 22)]
    assert world.rung == [BATCHES_GIVEN_BACK]
    world.engine.indexes["files-1"] = files
    assert consumer.consume(event) == {"batchItemFailures": []}
    assert world.rung == [BATCHES_GIVEN_BACK]


def test_settling_sends_no_further_message(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.streams.consume({"Records": [stream_record(RECORD_KEY, {})]})
    settle = world.queue_consumer(SETTLE, settle_changes)
    messages = world.sent.take(SETTLE)
    assert messages == [{"references": [["file", "museum", "pump", "/a.glb"]]}]
    settle.consume(event_with(messages))
    assert world.sent.sent == []
    assert not world.rung


@pytest.mark.parametrize("gone", [False, True])
def test_changed_metadata_settles_also_before_its_asset_is_found(
    world: IndexingWorld, gone: bool
) -> None:
    if not gone:
        store_asset(world.tables)
    records = [stream_record(RECORD_KEY), stream_record(ASSET_KEY, {})]
    world.streams.consume({"Records": records})
    assert world.sent.take(SETTLE) == [{"references": [["file", "museum", "pump", "/a.glb"]]}]


def test_changes_of_assets_and_objects_need_not_settle(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.put("pump/a.glb")
    world.streams.consume({"Records": [stream_record(ASSET_KEY, {})]})
    consumer = world.queue_consumer(OBJECT_EVENTS, object_changes)
    consumer.consume({"Records": [object_message("assetbucket", "pump/a.glb")]})
    assert set(world.engine.live()) == {"museum:pump", "museum:pump:pump/a.glb"}
    assert world.sent.sent == []


RENAMED = {"inheritedRevision": {"N": "2"}}
RENAMING = "fanOut.museum.pump.2"


def step_of(world: IndexingWorld) -> FanOutStep:
    return FanOutStep(world.tables, world.objects, BucketRegistry(world.tables), world.indexing)


def fill(world: IndexingWorld, count: int) -> None:
    world.put(*(f"pump/{number:04}.glb" for number in range(count)))


def run(
    world: IndexingWorld, name: str = RENAMING, *, until: datetime = NOON + timedelta(minutes=1)
) -> Job:
    """One delivery of the job's message."""
    job = JobRunner(JobRepository(world.tables), lambda: NOON).run(
        name, step_of(world), until=until
    )
    assert job is not None
    return job


def test_an_inherited_change_reaches_every_file_page_by_page(
    world: IndexingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.search.indexing.fan_out.PAGE_VERSIONS", 10)
    store_asset(world.tables, assetName="New name", inheritedRevision=2)
    fill(world, 25)
    world.streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    rounds = [run(world, until=NOON) for _ in range(3)]
    assert [(job.state, job.items_done) for job in rounds] == [
        ("running", 10),
        ("running", 20),
        ("done", 25),
    ]
    files = [body for body in world.engine.live().values() if body["_rectype"] == "file"]
    assert len(files) == 25
    assert {body["str_assetname"] for body in files} == {"New name"}


def test_the_files_of_an_archived_asset_are_archived_in_the_index(world: IndexingWorld) -> None:
    store_asset(world.tables, archived=True, inheritedRevision=2)
    fill(world, 3)
    key = {**ASSET_KEY, "databaseId": "museum#deleted"}
    world.streams.consume({"Records": [stream_record(key, RENAMED)]})
    assert run(world).state == "done"
    files = [body for body in world.engine.live().values() if body["_rectype"] == "file"]
    assert [body["bool_archived"] for body in files] == [True] * 3


def test_a_fan_out_is_started_once_for_each_change(world: IndexingWorld) -> None:
    store_asset(world.tables)
    for revision in ("2", "2", "2", "3"):
        image = {"inheritedRevision": {"N": revision}}
        world.streams.consume({"Records": [stream_record(ASSET_KEY, image)]})
    jobs = [job_id(FanOut("museum", "pump", revision)) for revision in (2, 3)]
    assert [(world.tables.get(JOBS, {"jobId": name}) or {})["state"] for name in jobs] == [
        "queued"
    ] * 2
    job = job_service(world.tables).find(RENAMING)
    assert job is not None
    assert (job.created_by, job.parameters) == ("SYSTEM", {"inheritedRevision": 2})


def test_a_change_that_comes_again_leaves_its_fan_out_as_it_is(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    done = run(world)
    world.streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    assert run(world) == done


def test_a_page_that_failed_in_an_outage_is_built_again(
    world: IndexingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.search.indexing.fan_out.PAGE_VERSIONS", 2)
    store_asset(world.tables)
    fill(world, 4)
    world.streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    files = world.engine.indexes.pop("files-1")
    with pytest.raises(UnavailableError):
        run(world)
    job = job_service(world.tables).find(RENAMING)
    assert job is not None
    assert (job.state, job.step) == ("running", 0)
    world.engine.indexes["files-1"] = files
    assert run(world).items_done == 4


def test_a_fan_out_waits_until_the_ticket_counter_is_put_right(world: IndexingWorld) -> None:
    store_asset(world.tables)
    fill(world, 1)
    world.streams.consume({"Records": [stream_record(ASSET_KEY, RENAMED)]})
    run(world)
    index = world.engine.indexes["files-1"]
    ahead = {name: (version + 10**15, body) for name, (version, body) in index.items()}
    world.engine.indexes["files-1"] = ahead
    world.streams.consume(
        {"Records": [stream_record(ASSET_KEY, {"inheritedRevision": {"N": "3"}})]}
    )
    with pytest.raises(UnavailableError, match="set n"):
        run(world, "fanOut.museum.pump.3", until=NOON)
    world.engine.indexes["files-1"] = index
    assert run(world, "fanOut.museum.pump.3", until=NOON).state == "done"


def test_a_fan_out_of_a_deleted_asset_is_done(world: IndexingWorld) -> None:
    FanOuts(world.tables, job_service(world.tables)).start([FanOut("museum", "pump", 2)])
    job = run(world)
    assert (job.state, job.items_done) == ("done", 0)
    assert world.engine.bulks == []


def read_requests(queues: MemoryQueues) -> dict[int, set[Reference]]:
    """The requested rebuilds, by the delay of the messages."""
    rebuilds: dict[int, set[Reference]] = {}
    for _, body, delay in queues.sent:
        rebuilds.setdefault(delay, set()).update(from_message(body))
    return rebuilds


def requests_to(queues: Queues) -> QueuedRebuildRequests:
    return QueuedRebuildRequests(queues, settle_delay_seconds=900)


def test_rebuilds_of_assets_files_and_keys_are_requested_twice() -> None:
    queues = MemoryQueues()
    requests_to(queues).assets([AssetRef("museum", "pump"), AssetRef("museum", "coin")])
    requests_to(queues).files("museum", "pump", ["/a.glb"])
    requests_to(queues).keys("museum", "pump", ["elsewhere/b.glb"])
    everything = {
        AssetRef("museum", "pump"),
        AssetRef("museum", "coin"),
        FileRef("museum", "pump", "/a.glb"),
        FileKeyRef("museum", "pump", "elsewhere/b.glb"),
    }
    assert read_requests(queues) == {0: everything, 900: everything}
    assert {name for name, _, _ in queues.sent} == {"Settle"}


def test_thousands_of_files_are_requested_in_messages_that_fit() -> None:
    queues = MemoryQueues()
    paths = [f"/{'long' * 50}/{number}.glb" for number in range(3000)]
    requests_to(queues).files("museum", "pump", paths)
    assert {delay: len(references) for delay, references in read_requests(queues).items()} == {
        0: 3000,
        900: 3000,
    }
    assert len(queues.sent) > 2


def test_nothing_is_sent_for_nothing() -> None:
    queues = MemoryQueues()
    requests_to(queues).files("museum", "pump", [])
    assert queues.sent == []
