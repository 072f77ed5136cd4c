"""Replays of streams, and versions of mappings."""

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from backend.aws.dead_letters import SqsDeadLetters
from backend.aws.guarded_objects import S3GuardedObjects
from backend.aws.settings import Settings
from backend.core.errors import UnavailableError
from backend.core.paging import PageRequest
from backend.core.references import AssetRef
from backend.core.transactions import Update
from backend.search.indexing.bulk import BulkWriter, write_of
from backend.search.indexing.changes import object_changes
from backend.search.indexing.consumers import QueueConsumer
from backend.search.indexing.projections import project
from backend.search.indexing.state import Pointer, SearchState
from backend.search.maintenance.failure_entries import FailureEntries
from backend.search.maintenance.replay import LeftoverReplays, Replayer
from backend.spec.buckets import FAILURE_BUCKET
from backend.spec.queues import OBJECT_EVENTS
from backend.spec.search_indexes import MAPPING_VERSION, SEARCH_INDEXES
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from backend.spec.tables.operations import SEARCH_STATE
from local.plan import StreamMapping
from local.pumps.failures import FailedBatch, describe, object_key
from tests.factories.failures import replayer_of
from tests.factories.search import NOON, object_message, store_asset, store_metadata
from tests.integration.indexing.conftest import World

PATIENCE_SECONDS = 120
ARN = "arn:aws:lambda:us-east-1:123456789012:function:vitrine-local-indexing-IndexChanges-0A1B2C"
MAPPING = StreamMapping(
    id="2d1bcf5e-6d6c-4f0b-9a3e-51c0a3f7a001",
    function=ARN,
    batch_size=500,
    window=1,
    filters=(),
    reports_failures=True,
    stream_arn="arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/s",
    from_start=True,
    bisects=True,
    maximum_retries=None,
    maximum_age=86_400,
    on_failure="arn:aws:s3:::failures",
)


@pytest.fixture
def entries(world: World) -> FailureEntries:
    objects = world.deployment.objects
    bucket = world.deployment.settings.bucket(FAILURE_BUCKET)
    return FailureEntries(objects, S3GuardedObjects(objects.client), bucket)


@pytest.fixture
def replayer(world: World, entries: FailureEntries) -> Replayer:
    deployment = world.deployment
    return replayer_of(
        world.rebuilder, world.tables, deployment.objects, deployment.queues, entries=entries
    )


def nested_documents(world: World, limit: int) -> None:
    """Number of nested documents that OpenSearch accepts; with more it replies 400."""
    world.deployment.engine.client.indices.put_settings(
        index=world.pointer.assets_read,
        body={"index.mapping.nested_objects.limit": limit},
    )


def store_failed_batch(world: World, records: list[Any], entries: FailureEntries) -> str:
    """Write a batch to the failure bucket as the local runtime and AWS do."""
    plain = json.loads(json.dumps(records, default=lambda value: value.timestamp()))
    batch = FailedBatch("shardId-00000001", plain, "RecordAgeExceeded", 9, None)
    now = datetime.now(UTC)
    document = describe(MAPPING, ARN, batch, now)
    body = {**document, "payload": json.dumps({"Records": plain})}
    key = object_key(MAPPING, batch, now)
    world.deployment.objects.put(
        entries.bucket, key, json.dumps(body).encode(), content_type="text/plain", metadata={}
    )
    return key


def test_poison_is_alone_in_waiting_and_is_replayed_when_its_cause_is_removed(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    nested_documents(world, 2)
    for asset_id in ("pump", "gear"):
        store_asset(world.tables, asset_id)
    for number in range(3):
        store_metadata(world.tables, f"key-{number}", "brass")
    store_metadata(world.tables, "key", "steel", asset_id="gear")
    records = [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)]
    assert world.stream(records) == {"batchItemFailures": []}
    documents = world.found()
    assert documents["museum:gear"]["MD_"] == {"key": "steel"}
    assert documents["museum:pump"]["str_assetname"] == "The pump"
    assert "MD_" not in documents["museum:pump"]
    (kept,) = entries.page(PageRequest(10)).items
    assert "nested documents" in (kept.reason or "")
    assert replayer.replay(kept.key).outcome == "failed"
    assert set(world.found({"match": {"str_assetname": "pump"}})) == {"museum:pump"}
    nested_documents(world, 10_000)
    assert replayer.replay(kept.key).outcome == "replayed"
    assert len(world.found()["museum:pump"]["MD_"]) == 3
    assert entries.page(PageRequest(10)).items == ()


def test_a_batch_that_a_stream_gave_up_is_replayed_by_the_schedule(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    store_asset(world.tables)
    store_metadata(world.tables, "material", "brass")
    records = [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)]
    key = store_failed_batch(world, records, entries)
    (listed,) = entries.batches(PageRequest(10)).items
    assert (listed.key, listed.consumer) == (key, "IndexChanges")
    assert world.found() == {}
    run = LeftoverReplays(entries, replayer, lambda: NOON).run
    assert run(until=NOON + timedelta(minutes=1)) == {"replayed": 1}
    assert world.found()["museum:pump"]["MD_"] == {"material": "brass"}
    assert run(until=NOON + timedelta(minutes=1)) == {}


def test_a_batch_with_poison_leaves_only_the_poison(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    nested_documents(world, 0)
    for asset_id in ("pump", "gear"):
        store_asset(world.tables, asset_id)
    store_metadata(world.tables, "material", "brass")
    key = store_failed_batch(
        world, [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)], entries
    )
    assert replayer.replay(key).outcome == "replayed"
    (left,) = entries.page(PageRequest(10)).items
    assert (left.kind, left.consumer) == ("poison", "IndexChanges")
    assert (left.name or "").endswith("museum:pump")
    assert set(world.found()) == {"museum:pump", "museum:gear"}


def test_an_outage_during_a_replay_loses_nothing(
    world: World, entries: FailureEntries, replayer: Replayer
) -> None:
    store_asset(world.tables)
    key = store_failed_batch(world, world.changes(ASSETS), entries)
    client = world.deployment.engine.client
    client.indices.put_settings(index=world.pointer.assets_read, body={"index.blocks.write": True})
    object.__setattr__(world.rebuilder.writer, "patience", 0.5)
    with pytest.raises(UnavailableError):
        replayer.replay(key)
    (left,) = entries.page(PageRequest(10)).items
    assert (left.key, left.replays.attempts) == (key, 0)
    client.indices.put_settings(index=world.pointer.assets_read, body={"index.blocks.write": None})
    assert replayer.replay(key).outcome == "replayed"
    assert set(world.found()) == {"museum:pump"}


def dead_letters_of(world: World) -> tuple[SqsDeadLetters, str]:
    """Queues with a dead-letter queue to which a message goes after a single delivery."""
    sqs, name = world.deployment.sqs, world.deployment.name
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
    policy = {
        "deadLetterTargetArn": attributes.get("Attributes", {}).get("QueueArn"),
        "maxReceiveCount": 1,
    }
    url = sqs.create_queue(
        QueueName=f"{name}-live",
        Attributes={"RedrivePolicy": json.dumps(policy), "VisibilityTimeout": "0"},
    )["QueueUrl"]
    environment = {"QUEUE_ObjectEvents": url}
    return SqsDeadLetters(sqs, Settings(environment)), url


def until_there_are(world: World, dead_letters: SqsDeadLetters, count: int, url: str) -> None:
    """Receive until this many messages are dead: SQS moves them at the next receive."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while dead_letters.depth(OBJECT_EVENTS).dead_letters != count:
        world.deployment.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_dead_letters_are_moved_back_and_processed(world: World) -> None:
    sqs = world.deployment.sqs
    dead_letters, url = dead_letters_of(world)
    store_asset(world.tables)
    world.put("pump/a.glb")
    bodies = [object_message(world.bucket, "pump/a.glb")["body"], "no JSON"]
    for body in bodies:
        sqs.send_message(QueueUrl=url, MessageBody=body)
    until_there_are(world, dead_letters, 2, url)
    assert dead_letters.last_redrive(OBJECT_EVENTS) is None
    dead_letters.redrive(OBJECT_EVENTS)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while dead_letters.depth(OBJECT_EVENTS).waiting != 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    last = dead_letters.last_redrive(OBJECT_EVENTS)
    assert last is not None
    assert (last.state, last.moved) == ("COMPLETED", 2)
    received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
    messages = [
        {"messageId": message.get("MessageId"), "body": message.get("Body")} for message in received
    ]
    consumer = QueueConsumer(
        OBJECT_EVENTS,
        world.deployment.queues,
        world.rebuilder,
        world.rebuilder.failures,
        object_changes,
        count_metric=lambda metric: pytest.fail(metric.name),
    )
    assert consumer.consume({"Records": messages}) == {"batchItemFailures": []}
    assert set(world.found()) == {"museum:pump:pump/a.glb"}
    assert len(world.failures()) == 1


def test_an_empty_dead_letter_queue_is_no_trouble(world: World) -> None:
    dead_letters, _ = dead_letters_of(world)
    depth = dead_letters.depth(OBJECT_EVENTS)
    assert (depth.waiting, depth.in_flight, depth.delayed, depth.dead_letters) == (0, 0, 0, 0)
    dead_letters.redrive(OBJECT_EVENTS)
    dead_letters.redrive(OBJECT_EVENTS)
    assert dead_letters.depth(OBJECT_EVENTS).waiting == 0


FIRST = json.loads(
    (Path(__file__).parents[2] / "events" / "mappings" / "version_1.json").read_text()
)
WHEEL, GEAR = (f"museum:pump:pump/{name}.glb" for name in ("wheel", "gear"))


def archive(world: World, key: str) -> None:
    world.deployment.objects.delete(world.bucket, key)


def furnish(world: World) -> None:
    """An asset with an active and an archived file, one of markers only, and its preview."""
    store_asset(world.tables, assetName="Gear lamp", tags=["Gearbox"])
    store_metadata(world.tables, "maker", "Lamplighter & Sons")
    for key in ("pump/wheel.glb", "pump/gear.glb", "pump/preview.png"):
        world.put(key, b"marble")
    archive(world, "pump/wheel.glb")
    world.put("pump/ghost.glb")
    for version in world.deployment.objects.list_versions(world.bucket, "pump/ghost.glb").versions:
        archive(world, version.key)
        world.deployment.objects.delete_version(
            world.bucket, version.key, version_id=version.version_id
        )
    keys = ("wheel.glb", "gear.glb", "preview.png", "ghost.glb")
    world.objects_changed(*(f"pump/{name}" for name in keys))


@pytest.fixture
def old_world(world: World, aliases: None) -> World:
    """A deployment whose indexes an earlier release created."""
    engine, pointer = world.deployment.engine, world.pointer
    for alias, name in (("assets", pointer.assets_read), ("files", pointer.files_read)):
        engine.drop_index(name)
        engine.create_index(name, **FIRST[alias])
    state = Update(table=SEARCH_STATE, key={"stateKey": "search"}, remove=("mappingVersions",))
    world.tables.write(state)
    return world


def test_an_archived_file_is_found_with_the_facts_of_its_last_content(world: World) -> None:
    furnish(world)
    documents = world.found()
    assert set(documents) == {"museum:pump", WHEEL, GEAR}
    (content,) = (
        version
        for version in world.deployment.objects.list_versions(
            world.bucket, "pump/wheel.glb"
        ).versions
        if not version.is_delete_marker
    )
    wheel = documents[WHEEL]
    assert wheel["bool_archived"] is True
    assert (wheel["num_filesize"], wheel["str_etag"]) == (6, content.etag)
    assert wheel["str_s3_version_id"] == content.version_id
    assert documents["museum:pump"]["str_previewfilekey"] == "pump/preview.png"


def test_the_stored_size_is_that_of_the_source_and_is_read_without_it(world: World) -> None:
    furnish(world)
    world.found()
    names = (world.pointer.assets_read, world.pointer.files_read)
    client = world.deployment.engine.client
    body: dict[str, Any] = {"_source": False, "docvalue_fields": ["source_bytes"], "size": 10}
    hits = client.search(index=list(names), body=body)["hits"]["hits"]
    assert len(hits) >= 3
    for hit in hits:
        raw = client.transport.perform_request("GET", f"/{hit['_index']}/_source/{_quote_id(hit)}")
        text = json.dumps(raw, ensure_ascii=False, separators=(",", ":"))
        assert hit["fields"]["source_bytes"] == [len(text.encode())]


def inside(text: str) -> dict[str, Any]:
    """A query for a part of a word, in each field with the subfield."""
    value = {"value": f"*{text}*"}
    fields = ("str_assetname", "str_key", "str_description", "list_tags")
    shoulds: list[dict[str, Any]] = [{"wildcard": {f"{name}.inner": value}} for name in fields]
    pair = {"path": "metadata", "query": {"wildcard": {"metadata.string.inner": value}}}
    return {"bool": {"should": [*shoulds, {"nested": pair}]}}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("lam", {"museum:pump", WHEEL, GEAR}),
        ("heel.g", {WHEEL}),
        ("rbox", {"museum:pump", WHEEL, GEAR}),
        ("thing to l", {"museum:pump"}),
        ("lighter & s", {"museum:pump"}),
        ("lamq", set[str]()),
        ("mal", set[str]()),
    ],
)
def test_parts_inside_of_words_are_found(text: str, names: set[str], world: World) -> None:
    furnish(world)
    assert set(world.found(inside(text))) == names


def _quote_id(hit: dict[str, Any]) -> str:
    return str(hit["_id"]).replace("/", "%2F")


def test_indexes_of_the_first_version_take_the_documents_that_they_had(old_world: World) -> None:
    furnish(old_world)
    documents = old_world.found()
    assert "num_filesize" not in documents[WHEEL]
    assert not any("source_bytes" in body for body in documents.values())
    assert {"museum:pump:pump/preview.png", "museum:pump:pump/ghost.glb"} <= set(documents)
    assert old_world.failures() == []
    sources = old_world.rebuilder.sources.read({AssetRef("museum", "pump")}).sources
    writes = [write_of(project(source), old_world.pointer.assets_read, 2**62) for source in sources]
    outcome = BulkWriter(old_world.deployment.engine).write(writes)
    undeclared = "The document has a field that the mapping does not declare"
    assert [reason for _, reason in outcome.refused] == [undeclared]


def test_both_pairs_get_the_documents_of_their_own_version(old_world: World) -> None:
    state, old = SearchState(old_world.tables, lambda: NOON), old_world.pointer
    assets, files = f"{old.assets_read}-2", f"{old.files_read}-2"
    new = Pointer(assets, (assets,), files, (files,))
    for index in SEARCH_INDEXES:
        old_world.deployment.engine.create_index(
            new.current(index), mapping=index.mapping, settings=index.settings
        )
    both = Pointer(
        old.assets_read,
        (*old.assets_write, *new.assets_write),
        old.files_read,
        (*old.files_write, *new.files_write),
    )
    state.change_pointer_once("job", old, both, number=2)
    assert state.mappings() == {
        **dict.fromkeys(old.names, 1),
        **dict.fromkeys(new.names, MAPPING_VERSION),
    }
    furnish(old_world)
    assert "num_filesize" not in old_world.found()[WHEEL]
    state.finish_pointer_changes("job", new)
    moved = World(old_world.deployment, new, old_world.rebuilder, old_world.bucket)
    assert moved.found()[WHEEL]["num_filesize"] == 6
    assert moved.failures() == []
