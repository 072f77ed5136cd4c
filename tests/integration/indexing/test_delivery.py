"""Deliveries in any order, on real engines: DynamoDB's own stream records, S3, OpenSearch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from backend.aws.search_engine import OpenSearchEngine
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.core.references import AssetRef
from backend.core.search_engine import DocumentResult, DocumentWrite
from backend.core.tables import Query
from backend.core.transactions import Delete, Item
from backend.search.indexing.bulk import BulkWriter, write_of
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.projections import project
from backend.spec.queues import SETTLE
from backend.spec.search_indexes import ASSET_INDEX
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from tests.factories.search import (
    metadata_key,
    remove_asset,
    store_asset,
    store_attribute,
    store_metadata,
    stream_record,
)
from tests.integration.indexing.conftest import World

PUMP = AssetRef("museum", "pump")
PUMP_ID = "museum:pump"


@pytest.mark.usefixtures("aliases")
def test_indexes_are_made_once_and_are_mapped_as_declared(world: World) -> None:
    engine = world.deployment.engine
    assert ensure_indexes(engine, world.rebuilder.state).pointer == world.pointer
    assert not engine.create_index(
        world.pointer.assets_read, mapping=ASSET_INDEX.mapping, settings=ASSET_INDEX.settings
    )


def test_changes_of_all_tables_and_of_objects_reach_both_indexes(world: World) -> None:
    store_asset(world.tables)
    store_metadata(world.tables, "material", "steel")
    store_metadata(world.tables, "teeth", "12", path="/wheel.glb", value_type="number")
    world.put("pump/wheel.glb", b"1234567")
    store_attribute(world.tables, "triangles", "900", path="/wheel.glb")
    records = [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)]
    assert len(records) == 3
    assert world.stream(records) == {"batchItemFailures": []}
    world.objects_changed("pump/wheel.glb")
    documents = world.found()
    assert set(documents) == {PUMP_ID, "museum:pump:pump/wheel.glb"}
    assert documents[PUMP_ID]["MD_"] == {"material": "steel"}
    file = documents["museum:pump:pump/wheel.glb"]
    assert (file["num_filesize"], file["AB_"]) == (7, {"triangles": "900"})
    nested = {"range": {"metadata.number": {"gte": 12}}}
    assert set(world.found({"nested": {"path": "metadata", "query": nested}})) == {
        "museum:pump:pump/wheel.glb"
    }


def test_a_record_that_is_delivered_twice_changes_nothing(world: World) -> None:
    store_asset(world.tables)
    records = world.changes(ASSETS)
    world.stream([*records, *records])
    first = world.found()
    world.stream(records)
    second = world.found()
    assert {k: v["hash"] for k, v in first.items()} == {k: v["hash"] for k, v in second.items()}
    assert second[PUMP_ID]["rev"] > first[PUMP_ID]["rev"]


def test_records_that_are_delivered_in_reverse_leave_the_last_state(world: World) -> None:
    for number in range(3):
        store_asset(world.tables, assetName=f"Name {number}")
    for record in reversed(world.changes(ASSETS)):
        world.stream([record])
    assert world.found()[PUMP_ID]["str_assetname"] == "Name 2"


def late_writer_is_refused(world: World, meanwhile: Callable[[], None] = lambda: None) -> None:
    """A writer reads its asset before the asset is deleted; `meanwhile` runs before its write."""
    store_asset(world.tables)
    ticket = world.rebuilder.state.issue_ticket()
    late = [project(source) for source in world.rebuilder.sources.read({PUMP}).sources]
    remove_asset(world.tables)
    world.stream(world.changes(ASSETS))
    meanwhile()
    writes = [write_of(document, world.pointer.assets_read, ticket.number) for document in late]
    outcome = BulkWriter(world.deployment.engine).write(writes)
    assert (outcome.written, outcome.overtaken) == (0, 1)
    assert world.found() == {}


def test_a_writer_that_comes_after_a_delete_is_refused(world: World) -> None:
    late_writer_is_refused(world)


def test_a_deletion_that_is_delivered_before_the_creation_wins_if_it_is_true(
    world: World,
) -> None:
    store_asset(world.tables)
    remove_asset(world.tables)
    created, removed = world.changes(ASSETS)
    world.stream([removed])
    world.stream([created])
    assert world.found() == {}
    store_asset(world.tables)
    world.stream(world.changes(ASSETS))
    assert set(world.found()) == {PUMP_ID}


def test_one_poison_record_in_a_batch_is_kept_and_the_others_are_indexed(world: World) -> None:
    store_asset(world.tables)
    poison = stream_record({"nobody": "knows"})
    assert world.stream([poison, *world.changes(ASSETS)]) == {"batchItemFailures": []}
    assert set(world.found()) == {PUMP_ID}
    (kept,) = world.failures()
    assert kept.startswith("Test/")


@dataclass(eq=False, repr=False)
class DiesAfterBulk(OpenSearchEngine):
    """Fails for each error after the bulk reached OpenSearch, as a broken connection does."""

    troubles: list[str] = field(default_factory=lambda: ["the connection was lost"])
    reached: list[int] = field(default_factory=list[int])

    def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
        results = OpenSearchEngine.bulk(self, writes)
        self.reached.append(len(writes))
        if self.troubles:
            raise UnavailableError(self.troubles.pop())
        return results


def test_a_crash_between_the_bulk_and_its_acknowledgement_is_repeated_without_harm(
    world: World,
) -> None:
    store_asset(world.tables)
    store_metadata(world.tables, "material", "steel")
    records = [*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)]
    dying = world.with_ports(engine=DiesAfterBulk(world.deployment.engine.client))
    with pytest.raises(UnavailableError):
        dying.stream(records)
    assert set(world.found()) == {PUMP_ID}
    assert world.settle() == 0  # the batch that was not acknowledged has not been settled
    dying.stream(records)
    assert world.settle() == 1
    assert set(world.found()) == {PUMP_ID}


def test_a_connection_that_breaks_is_tried_again_within_the_call(world: World) -> None:
    store_asset(world.tables)
    engine = DiesAfterBulk(world.deployment.engine.client)
    writer = BulkWriter(engine, patience=10)
    (source,) = world.rebuilder.sources.read({PUMP}).sources
    outcome = writer.write([write_of(project(source), world.pointer.assets_read, 7)])
    assert (outcome.overtaken, engine.reached) == (1, [1, 1])


def test_metadata_and_asset_that_change_together_are_both_in_the_document(world: World) -> None:
    store_asset(world.tables)
    store_metadata(world.tables, "material", "wood")
    world.stream([*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)])
    store_asset(world.tables, assetName="Renamed")
    store_metadata(world.tables, "material", "steel")
    assets, metadata = world.changes(ASSETS), world.changes(ASSET_FILE_METADATA)
    world.stream(metadata)
    world.stream(assets)
    document = world.found()[PUMP_ID]
    assert (document["str_assetname"], document["MD_"]) == ("Renamed", {"material": "steel"})
    world.tables.write(Delete(table=ASSET_FILE_METADATA, key=metadata_key("material")))
    world.stream(world.changes(ASSET_FILE_METADATA))
    assert "MD_" not in world.found()[PUMP_ID]


class LaggingTables(DynamoTables):
    """Global indexes show nothing until they have caught up."""

    caught_up = False

    def query_all(self, query: Query) -> list[Item]:
        if query.index is not None and not LaggingTables.caught_up:
            return []
        return super().query_all(query)


def test_settling_adds_metadata_that_a_delayed_index_did_not_return(world: World) -> None:
    tables = world.deployment.tables
    lagging = world.with_ports(tables=LaggingTables(tables.client, tables.settings))
    store_asset(tables)
    store_metadata(tables, "material", "steel")
    LaggingTables.caught_up = False
    lagging.stream([*world.changes(ASSETS), *world.changes(ASSET_FILE_METADATA)])
    assert "MD_" not in world.found()[PUMP_ID]
    LaggingTables.caught_up = True
    assert lagging.settle() == 1
    assert world.found()[PUMP_ID]["MD_"] == {"material": "steel"}
    assert lagging.settle() == 0


def test_files_of_a_real_bucket_are_archived_restored_and_removed(world: World) -> None:
    store_asset(world.tables)
    keys = [f"pump/{name}" for name in ("a.glb", "dir/b.e57", "dir/b.e57.previewFile.png", "c é")]
    for key in keys:
        world.put(key)
    world.objects_changed(*keys)
    documents = world.found()
    assert len(documents) == 3
    b = "museum:pump:pump/dir/b.e57"
    assert documents[b]["str_previewfilekey"] == keys[2]
    client = world.deployment.objects.client
    client.delete_object(Bucket=world.bucket, Key=keys[1])
    world.objects_changed(keys[1])
    assert world.found()[b]["bool_archived"] is True
    world.put(keys[1], b"again")
    world.objects_changed(keys[1])
    assert world.found()[b]["num_filesize"] == 5
    for version in world.deployment.objects.list_versions(world.bucket, keys[0]).versions:
        world.deployment.objects.delete_version(
            world.bucket, version.key, version_id=version.version_id
        )
    world.objects_changed(keys[0])
    assert "museum:pump:pump/a.glb" not in world.found()


def test_a_message_that_is_postponed_arrives_again_after_its_new_delay(world: World) -> None:
    queues, sqs = world.deployment.queues, world.deployment.sqs
    url = world.deployment.settings.queue(SETTLE)
    queues.send(SETTLE, [{"references": []}])

    def receive_handles() -> list[str]:
        reply = sqs.receive_message(QueueUrl=url, VisibilityTimeout=60, WaitTimeSeconds=1)
        return [message.get("ReceiptHandle", "") for message in reply.get("Messages", [])]

    receipts = receive_handles()
    assert receive_handles() == []
    queues.postpone(SETTLE, [*receipts, "no receipt"], seconds=0)
    assert len(receive_handles()) == 1
