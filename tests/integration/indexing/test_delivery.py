"""Delivery of changes to the indexes: order, tombstones, and records that cannot be read."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from opensearchpy import NotFoundError

from backend.aws.search_engine import OpenSearchEngine
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.core.objects import ObjectVersion
from backend.core.references import AssetRef
from backend.core.search_engine import DocumentRemoval, DocumentResult, DocumentWrite
from backend.core.tables import Query
from backend.core.transactions import Delete, Item
from backend.domains.buckets.models import AssetBucket
from backend.search.indexing import tombstones
from backend.search.indexing.bulk import BulkWriter, write_of
from backend.search.indexing.indexes import ensure_indexes
from backend.search.indexing.projections import (
    AssetGone,
    AssetSource,
    FileSource,
    project,
    wanted_geo_keys,
)
from backend.search.indexing.sources import valid_record
from backend.search.indexing.state import SearchState
from backend.search.indexing.tombstones import TombstoneSweep
from backend.search.values import Record
from backend.spec.queues import SETTLE
from backend.spec.search_indexes import ASSET_INDEX
from backend.spec.tables.assets import ASSETS
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from tests.factories.search import (
    NOON,
    asset_row,
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


A_DAY_LATER = NOON + timedelta(hours=25)


def sweep(world: World, *, at: datetime = A_DAY_LATER, engine: Any = None) -> int:
    state = SearchState(world.tables, lambda: NOON)
    sweep = TombstoneSweep(engine or world.deployment.engine, state, lambda: at)
    world.deployment.engine.refresh([world.pointer.assets_read, world.pointer.files_read])
    return sweep.run(until=at + timedelta(minutes=1))


def find_document(world: World, asset_id: str = "pump") -> dict[str, Any] | None:
    client = world.deployment.engine.client
    try:
        return client.get(index=world.pointer.assets_read, id=f"museum:{asset_id}")
    except NotFoundError:
        return None


def build(world: World, *asset_ids: str) -> None:
    world.rebuilder.rebuild([AssetRef("museum", asset_id) for asset_id in asset_ids])


@pytest.fixture
def deleted(world: World) -> World:
    """An asset that was indexed and deleted."""
    store_asset(world.tables)
    build(world, "pump")
    remove_asset(world.tables)
    build(world, "pump")
    document = find_document(world)
    assert document is not None
    assert document["_source"]["date_deleted"] == "2026-03-01T12:00:00Z"
    return world


def test_a_tombstone_is_removed_after_a_day(deleted: World) -> None:
    assert sweep(deleted, at=NOON) == 0
    assert sweep(deleted, at=NOON + timedelta(hours=24)) == 0
    assert find_document(deleted) is not None
    assert sweep(deleted) == 1
    assert find_document(deleted) is None
    assert sweep(deleted) == 0


def test_live_documents_are_never_swept(world: World) -> None:
    store_asset(world.tables)
    build(world, "pump")
    assert sweep(world, at=NOON + timedelta(days=400)) == 0
    assert set(world.found()) == {"museum:pump"}


def test_an_asset_restored_while_its_tombstone_is_swept_remains(deleted: World) -> None:
    class Racing:
        """The engine, with a rebuild between its answer and the removal."""

        def __getattr__(self, name: str) -> Any:
            return getattr(deleted.deployment.engine, name)

        def remove(self, removals: Sequence[DocumentRemoval]) -> list[DocumentResult]:
            store_asset(deleted.tables)
            build(deleted, "pump")
            return deleted.deployment.engine.remove(removals)

    assert sweep(deleted, engine=Racing()) == 0
    assert set(deleted.found()) == {"museum:pump"}


def test_the_very_next_ticket_is_not_refused_by_the_sweep(deleted: World) -> None:
    before = find_document(deleted)
    assert before is not None
    assert sweep(deleted) == 1
    document = project(AssetGone("museum", "pump"))
    write = write_of(document, deleted.pointer.assets_read, before["_version"] + 1)
    outcome = BulkWriter(deleted.deployment.engine).write([write])
    assert (outcome.written, outcome.overtaken) == (1, 0)


def test_a_writer_with_an_older_ticket_cannot_revive_what_was_just_swept(deleted: World) -> None:
    before = find_document(deleted)
    assert before is not None
    assert sweep(deleted) == 1
    document = project(AssetGone("museum", "pump"))
    write = write_of(document, deleted.pointer.assets_read, before["_version"])
    outcome = BulkWriter(deleted.deployment.engine).write([write])
    assert (outcome.written, outcome.overtaken) == (0, 1)
    assert find_document(deleted) is None


def test_many_tombstones_of_one_ticket_are_swept_page_by_page(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tombstones, "PAGE", 4)
    build(world, *(f"asset-{number}" for number in range(11)))
    total, runs = 0, 0
    while (removed := sweep(world)) > 0:
        total, runs = total + removed, runs + 1
    assert total == 11
    assert runs <= 3


def test_a_run_without_time_removes_nothing(deleted: World) -> None:
    state = SearchState(deleted.tables, lambda: NOON)
    engine = deleted.deployment.engine
    assert TombstoneSweep(engine, state, lambda: A_DAY_LATER).run(until=A_DAY_LATER) == 0
    assert find_document(deleted) is not None


BUCKET = AssetBucket(bucket_id="b", bucket_name="bucket", base_assets_prefix="/")
DEEP = '{"a":' * 1000 + "1" + "}" * 1000
CORPUS: dict[str, list[Record]] = {
    "32,767 bytes without a blank": [Record("k", "x" * 32_767)],
    "400 KB": [Record("k", "€" * 130_000)],
    "500 values of 32,000 bytes": [Record(f"k{n}", "x" * 32_000) for n in range(500)],
    "NaN": [Record("k", "NaN", "number")],
    "1e400": [Record("k", "1e400", "number"), Record("l", "-1e400", "number")],
    "38 digits": [Record("k", "9" * 38, "number")],
    "lone surrogates": [
        valid_record("k", "a\ud800b\udfff", "string"),
        valid_record("\udc00", "v", "string"),
    ],
    "a.b against a": [Record("a", "x"), Record("a.b", "y"), Record("a.b.c", "z")],
    "odd keys": [Record(key, "v") for key in ("", " ", ".", "..", "a.", ".a", "a*", "a=b", "\0")],
    "year 0": [Record("k", "0000-01-01", "date"), Record("l", "-0001-01-01", "date")],
    "year 9999": [Record("k", "9999-12-31T23:59:59.999999Z", "date")],
    "year 10000": [Record("k", "10000-01-01", "date")],
    "no such day": [Record("k", "2026-02-30T25:61:61Z", "date")],
    "coordinates out of range": [
        Record("k", '{"lat": 91, "long": 181}', "lla"),
        Record("l", '{"type": "Point", "coordinates": [1e400, 0]}', "geopoint"),
        Record("m", '{"lat": NaN, "long": 0}', "lla"),
    ],
    "coordinates at the edge": [
        Record("k", '{"lat": 90, "long": -180}', "lla"),
        Record("l", '{"lat": -90, "long": 180}', "lla"),
        Record("m", '{"lat": 1e-320, "long": -0.0}', "lla"),
    ],
    "deep JSON": [Record("k", DEEP, "json"), Record("l", DEEP, "geojson")],
    "deep arrays": [Record("k", "[" * 100_000, "geojson")],
    "a large shape": [
        Record("k", json.dumps({"type": "X", "coordinates": [[0, 0]] * 20_000}), "geojson")
    ],
    "1,024-byte keys": [Record("k" * 1024, "v" * 40_000), Record("é" * 512, "v")],
    "keys of a thousand steps": [Record("a." * 500 + "a", "v")],
    "types nobody knows": [Record("k", "v", "None"), Record("l", "v", "")],
}


@pytest.mark.parametrize("name", CORPUS)
def test_an_asset_and_a_file_with_poison_are_found(name: str, world: World) -> None:
    records = tuple(CORPUS[name])
    version = ObjectVersion(
        "pump/" + "d" * 200 + "/" + "é" * 400 + ".glb", "v", True, datetime(2026, 1, 1, tzinfo=UTC)
    )
    row: dict[str, Any] = asset_row(description="word " + "x" * 40_000, tags=["t" * 40_000, "red"])
    sources = [
        AssetSource(row, BUCKET, records),
        FileSource(row, BUCKET, version, version, metadata=records, attributes=records),
    ]
    allowed = frozenset(wanted_geo_keys(sources))
    documents = [project(source, allowed) for source in sources]
    writes = [
        write_of(document, world.pointer.current(document.index), 5) for document in documents
    ]
    outcome = BulkWriter(world.deployment.engine).write(writes)
    assert outcome.refused == []
    hits = world.found({"match": {"str_assetname": "pump"}})
    assert {source["_rectype"] for source in hits.values()} == {"asset", "file"}
    key = min(record.key for record in records).encode(errors="replace").decode()
    if not key.startswith("?"):
        pair = {"term": {"metadata.key": key}}
        assert len(world.found({"nested": {"path": "metadata", "query": pair}})) == 2


def test_a_document_that_opensearch_refuses_is_kept_and_found_as_a_stub_beside_others(
    world: World,
) -> None:
    wrong = {"properties": {"gp_where": {"type": "long"}}}
    client = world.deployment.engine.client
    client.indices.put_mapping(index=world.pointer.assets_read, body=wrong)
    for asset_id in ("pump", "valve"):
        store_asset(world.tables, asset_id)
    point = '{"lat": 48, "long": 9, "alt": 0}'
    store_metadata(world.tables, "where", point, asset_id="pump", value_type="lla")
    assert world.stream(world.changes(ASSETS)) == {"batchItemFailures": []}
    documents = world.found()
    assert set(documents) == {"museum:pump", "museum:valve"}
    assert documents["museum:pump"]["str_assetname"] == "The pump"
    assert "MD_" not in documents["museum:pump"]
    assert "str_description" in documents["museum:valve"]
    assert len(world.failures()) == 1
