"""The rebuild and its bulk requests: order, retries, poison, and what it never does."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError
from backend.core.objects import ObjectRef
from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import DocumentResult, DocumentWrite
from backend.core.transactions import Item
from backend.search.indexing.bulk import MAX_BYTES, BulkWriter, write_of
from backend.search.indexing.projections import AssetGone, Document, project
from backend.search.indexing.rebuild import StoredVersionAheadError
from backend.search.indexing.references import Reference
from backend.search.values import MAX_GEO_KEYS
from backend.spec.queues import SETTLE
from backend.spec.search_indexes import ASSET_INDEX, MAPPING_VERSION
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.search import NOON, remove_asset, store_asset, store_attribute, store_metadata
from tests.fakes.counting import requests_of
from tests.fakes.search_engine import MemorySearchEngine
from tests.unit.search.conftest import IndexingWorld

BUCKET = "assetbucket"
PUMP = AssetRef("museum", "pump")
WHEEL = FileRef("museum", "pump", "/wheel.glb")
WHEEL_ID = "museum:pump:pump/wheel.glb"
TICKET = Counter(UpdateItem=1)


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose requests are counted."""
    return dynamo_tables


def delete_all_versions(objects: S3Objects, key: str) -> None:
    for version in objects.list_versions(BUCKET, key).versions:
        objects.delete_version(BUCKET, version.key, version_id=version.version_id)


def failures(objects: S3Objects) -> list[dict[str, Any]]:
    failures = objects.list_objects("failurebucket", "").objects
    return [
        json.loads(objects.read_start("failurebucket", failure.key, length=1_000_000))
        for failure in failures
    ]


def test_an_asset_and_its_file_are_indexed_with_what_describes_them(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.put("pump/wheel.glb")
    world.put("pump/wheel.glb.previewFile.png")
    store_metadata(world.tables, "material", "steel")
    store_metadata(world.tables, "place", '{"lat": 1, "long": 2}', value_type="lla")
    store_metadata(world.tables, "teeth", "12", path="/wheel.glb", value_type="number")
    store_attribute(world.tables, "triangles", "900", path="/wheel.glb")
    world.indexing.rebuild({PUMP, ObjectRef(BUCKET, "pump/wheel.glb")})
    asset = world.document("assets-1", "museum:pump")
    file = world.document("files-1", WHEEL_ID)
    assert asset["MD_"] == {"material": "steel", "place": '{"lat": 1, "long": 2}'}
    assert asset["gp_place"] == {"lat": 1, "lon": 2}
    assert file["metadata"] == [{"key": "teeth", "string": "12", "number": 12.0}]
    assert file["AB_"] == {"triangles": "900"}
    assert file["str_previewfilekey"] == "pump/wheel.glb.previewFile.png"


def test_a_path_and_an_object_of_one_file_are_one_document(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.put("pump/wheel.glb")
    world.indexing.rebuild({WHEEL, ObjectRef(BUCKET, "pump/wheel.glb")})
    assert world.engine.bulks == [1]


def test_a_preview_rebuilds_the_file_that_it_shows_and_is_no_document(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.put("pump/wheel.glb")
    world.put("pump/wheel.glb.previewFile.png")
    world.indexing.rebuild({ObjectRef(BUCKET, "pump/wheel.glb.previewFile.png")})
    assert list(world.engine.indexes["files-1"]) == [WHEEL_ID]


@pytest.mark.parametrize("name", ["preview.png", "preview.jpg", "preview.gif"])
def test_the_preview_of_an_asset_rebuilds_the_asset_and_is_no_file_document(
    world: IndexingWorld, name: str
) -> None:
    store_asset(world.tables)
    world.put(f"pump/{name}")
    world.put(f"pump/parts/{name}")
    world.indexing.rebuild({ObjectRef(BUCKET, f"pump/{name}")})
    assert world.document("assets-1", "museum:pump")["str_previewfilekey"] == f"pump/{name}"
    assert world.document("files-1", f"museum:pump:pump/{name}")["deleted"] is True
    world.indexing.rebuild({ObjectRef(BUCKET, f"pump/parts/{name}")})
    assert "deleted" not in world.document("files-1", f"museum:pump:pump/parts/{name}")
    delete_all_versions(world.objects, f"pump/{name}")
    world.indexing.rebuild({FileRef("museum", "pump", f"/{name}")})
    assert "str_previewfilekey" not in world.document("assets-1", "museum:pump")
    store_asset(world.tables, previewLocation={"Key": "previews/pump/p.png"})
    world.put(f"pump/{name}")
    world.indexing.rebuild({ObjectRef(BUCKET, f"pump/{name}")})
    assert world.document("assets-1", "museum:pump")["str_previewfilekey"] == "previews/pump/p.png"


@pytest.mark.parametrize(
    "key", ["temp-uploads/y1/a", "previews/pump/p.png", "loose.txt", "nobody/a", "pump/dir/"]
)
def test_objects_that_are_no_file_of_an_asset_touch_nothing(world: IndexingWorld, key: str) -> None:
    store_asset(world.tables)
    world.indexing.rebuild({ObjectRef(BUCKET, key), ObjectRef("elsewhere", key)})
    assert world.engine.bulks == []


def test_objects_below_a_known_prefix_start_one_scan_of_the_buckets(world: IndexingWorld) -> None:
    with requests_of(world.tables.client) as counted:
        for number in range(3):
            world.indexing.rebuild({ObjectRef(BUCKET, f"temp-uploads/y{number}/part")})
            world.indexing.rebuild({ObjectRef(BUCKET, f"nobody/{number}")})
    assert counted["Scan"] == 1


def test_what_was_deleted_becomes_a_tombstone_and_comes_back(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.put("pump/wheel.glb")
    world.indexing.rebuild({PUMP, WHEEL})
    delete_all_versions(world.objects, "pump/wheel.glb")
    world.indexing.rebuild({WHEEL})
    assert world.document("files-1", WHEEL_ID)["deleted"] is True
    world.put("pump/wheel.glb")
    world.indexing.rebuild({WHEEL})
    assert WHEEL_ID in world.engine.live()
    remove_asset(world.tables)
    world.indexing.rebuild({PUMP, ObjectRef(BUCKET, "pump/wheel.glb")})
    assert world.engine.live() == {}


def test_a_deletion_that_is_reported_before_the_creation_leaves_a_tombstone(
    world: IndexingWorld,
) -> None:
    world.indexing.rebuild({PUMP})
    assert world.document("assets-1", "museum:pump")["deleted"] is True
    store_asset(world.tables)
    world.indexing.rebuild({PUMP})
    assert "museum:pump" in world.engine.live()


def test_of_an_asset_in_both_partitions_the_later_revision_counts(world: IndexingWorld) -> None:
    store_asset(world.tables, revision=1)
    store_asset(world.tables, archived=True, revision=2)
    world.indexing.rebuild({PUMP})
    assert world.engine.live()["museum:pump"]["bool_archived"] is True


def test_what_was_read_through_an_index_is_settled_once_after_the_delay(
    world: IndexingWorld,
) -> None:
    store_asset(world.tables)
    world.put("pump/wheel.glb")
    world.indexing.rebuild({PUMP, ObjectRef(BUCKET, "pump/wheel.glb")})
    assert world.sent.sent == [
        (
            SETTLE.name,
            {"references": [["asset", "museum", "pump"], ["file", "museum", "pump", "/wheel.glb"]]},
            900,
        )
    ]
    first = world.document("assets-1", "museum:pump")["rev"]
    world.indexing.rebuild({PUMP}, settles=())  # writes also what has not changed
    assert len(world.sent.sent) == 1
    assert world.document("assets-1", "museum:pump")["rev"] > first


def test_nothing_to_rebuild_takes_no_ticket(world: IndexingWorld) -> None:
    with requests_of(world.tables.client) as counted:
        world.indexing.rebuild(())
    assert not counted


@pytest.mark.parametrize(
    ("reference", "limit"),
    [(PUMP, 3), (WHEEL, 4), (ObjectRef(BUCKET, "pump/wheel.glb"), 4)],
)
def test_a_lone_document_takes_few_requests(
    world: IndexingWorld, reference: Reference, limit: int
) -> None:
    store_asset(world.tables)
    world.put("pump/wheel.glb")
    world.indexing.rebuild({reference})  # a new process reads the registry of buckets once
    with requests_of(world.tables.client) as reads, requests_of(world.objects.client) as s3:
        world.indexing.rebuild({reference})
    assert (reads - TICKET).total() <= limit
    assert s3.total() <= 2
    assert world.engine.bulks == [1, 1]


def test_a_hundred_files_of_an_asset_take_two_requests_each_at_the_most(
    world: IndexingWorld,
) -> None:
    store_asset(world.tables)
    names = [f"{n:03}.glb" for n in range(100)]
    for name in names:
        world.put(f"pump/{name}")
        store_metadata(world.tables, "number", name, path=f"/{name}")
        store_attribute(world.tables, "triangles", "9", path=f"/{name}")
    with requests_of(world.tables.client) as reads, requests_of(world.objects.client) as s3:
        world.indexing.rebuild({ObjectRef(BUCKET, f"pump/{name}") for name in names})
    assert (reads - TICKET) == Counter(Scan=1, BatchGetItem=2, Query=2)
    assert s3 == Counter(ListObjectVersions=1)
    assert world.engine.bulks == [100]
    assert world.engine.live()["museum:pump:pump/042.glb"]["MD_"] == {"number": "042.glb"}


def test_a_refused_document_is_kept_with_its_body_and_can_be_found(world: IndexingWorld) -> None:
    def refuses(write: DocumentWrite) -> str | None:
        return "mapper_parsing_exception" if '"MD_"' in write.body else None

    world.engine.refuses = refuses
    store_asset(world.tables)
    store_asset(world.tables, "good")
    store_metadata(world.tables, "k", "v")
    done = world.indexing.rebuild({PUMP, AssetRef("museum", "good")})
    assert done.refused == 1
    live = world.engine.live()
    assert live["museum:pump"]["str_assetname"] == "The pump"
    assert "str_description" not in live["museum:pump"]
    assert "str_description" in live["museum:good"]
    (kept,) = failures(world.objects)
    assert kept["reason"] == "mapper_parsing_exception"
    assert json.loads(kept["body"])["MD_"] == {"k": "v"}


def test_an_asset_of_an_unknown_bucket_is_kept_and_the_others_are_indexed(
    world: IndexingWorld,
) -> None:
    store_asset(world.tables, bucketId="nowhere")
    store_asset(world.tables, "good")
    world.indexing.rebuild({PUMP, AssetRef("museum", "good")})
    assert set(world.engine.live()) == {"museum:good"}
    (kept,) = failures(world.objects)
    assert "nowhere" in kept["reason"]


def test_an_outage_of_the_engine_is_reported_and_nothing_is_settled(world: IndexingWorld) -> None:
    store_asset(world.tables)
    del world.engine.indexes["assets-1"]
    with pytest.raises(UnavailableError):
        world.indexing.rebuild({PUMP})
    assert world.sent.sent == []


def test_documents_are_written_to_every_target(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.engine.create_index("assets-2", mapping={}, settings={})
    item: Item = world.tables.get(SEARCH_STATE, {"stateKey": "search"}) or {}
    both = ["assets-1", "assets-2"]
    targets = {"assetsWrite": both, "mappingVersions": dict.fromkeys(both, MAPPING_VERSION)}
    world.tables.put_many(SEARCH_STATE, [{**item, **targets}])
    world.indexing.rebuild({PUMP})
    assert world.engine.document("assets-1", "museum:pump") == world.engine.document(
        "assets-2", "museum:pump"
    )


def test_a_ticket_counter_that_went_backwards_stops_the_writer(world: IndexingWorld) -> None:
    store_asset(world.tables)
    world.indexing.rebuild({PUMP})
    item: Item = world.tables.get(SEARCH_STATE, {"stateKey": "search"}) or {}
    world.tables.put_many(SEARCH_STATE, [{**item, "n": item["n"] - 10}])
    with pytest.raises(StoredVersionAheadError):
        world.indexing.rebuild({PUMP})
    world.tables.put_many(SEARCH_STATE, [{**item, "n": item["n"] + 1}])
    world.indexing.rebuild({PUMP})


def test_a_later_ticket_that_was_faster_is_no_error(world: IndexingWorld) -> None:
    store_asset(world.tables)
    slow = replace(
        world.indexing, state=_LateState(world.indexing.state.issue_ticket(), world.indexing.state)
    )
    world.indexing.rebuild({PUMP})
    assert slow.rebuild({PUMP}).overtaken == 1


class _LateState:
    """A state that hands out a ticket taken long ago."""

    def __init__(self, ticket: Any, state: Any) -> None:
        self.issue_ticket = lambda: ticket
        self.last_ticket = state.last_ticket


def test_more_references_than_fit_memory_take_several_tickets(world: IndexingWorld) -> None:
    before = world.indexing.state.issue_ticket().number
    world.indexing.rebuild({AssetRef("museum", f"a{n}") for n in range(1001)})
    assert world.indexing.state.issue_ticket().number == before + 3


def test_geographic_keys_beyond_the_limit_stay_in_the_pairs(world: IndexingWorld) -> None:
    world.indexing.geo_keys.add_keys({f"k{n}": f"database-{n // 20}" for n in range(MAX_GEO_KEYS)})
    store_asset(world.tables)
    store_metadata(world.tables, "late", '{"lat": 1, "long": 2}', value_type="lla")
    world.indexing.rebuild({PUMP})
    document = world.engine.live()["museum:pump"]
    assert "gp_late" not in document
    (warning,) = document["list_warnings"]
    assert warning.startswith("No gp_ or gs_ fields for late: ")
    assert document["metadata"][0]["point"] == {"lat": 1, "lon": 2}


@dataclass
class Flaky(MemorySearchEngine):
    """Does for each request what the next entry of `troubles` says, and is well afterwards."""

    troubles: list[object] = field(default_factory=list[object])

    def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
        trouble = self.troubles.pop(0) if self.troubles else None
        if isinstance(trouble, Exception):
            self.bulks.append(len(writes))
            raise trouble
        results = super().bulk(writes)
        if isinstance(trouble, int):
            return [DocumentResult(w.index, w.id, trouble, "busy") for w in writes]
        return results


def flaky(*troubles: object) -> Flaky:
    engine = Flaky(troubles=list(troubles))
    engine.indexes["assets-1"] = {}
    return engine


def writes(count: int, *, size: int = 1) -> list[DocumentWrite]:
    return [DocumentWrite("assets-1", str(n), 5, f'{{"a":"{"x" * size}"}}') for n in range(count)]


def test_requests_hold_a_thousand_documents_and_five_megabytes_at_the_most() -> None:
    engine = flaky()
    BulkWriter(engine).write(writes(2500))
    assert engine.bulks == [1000, 1000, 500]
    large = flaky()
    BulkWriter(large).write(writes(3, size=MAX_BYTES // 2))
    assert large.bulks == [1, 1, 1]


def test_an_outage_is_retried_in_smaller_requests_until_all_is_written() -> None:
    engine = flaky(UnavailableError("down"), UnavailableError("down"))
    outcome = BulkWriter(engine).write(writes(8))
    assert engine.bulks[:3] == [8, 4, 2]
    assert outcome.written == 8


@pytest.mark.parametrize("status", [429, 503, 404, 403])
def test_items_that_were_not_taken_are_sent_again(status: int) -> None:
    engine = flaky(status)
    outcome = BulkWriter(engine).write(writes(4))
    assert outcome.written + outcome.overtaken == 4
    assert len(engine.bulks) > 1


def test_a_lasting_outage_is_reported_and_never_swallowed() -> None:
    with pytest.raises(UnavailableError):
        BulkWriter(flaky(*[UnavailableError("down")] * 50), patience=0).write(writes(2))
    with pytest.raises(UnavailableError, match="503 busy"):
        BulkWriter(flaky(*[503] * 50), patience=0).write(writes(2))


def test_an_older_version_is_overtaken_and_that_is_success() -> None:
    engine = flaky()
    engine.indexes["assets-1"]["0"] = (9, {})
    outcome = BulkWriter(engine).write(writes(2))
    assert (outcome.written, outcome.overtaken, outcome.highest_stored) == (1, 1, 9)


def test_only_the_refused_document_is_poison() -> None:
    engine = flaky()
    engine.refuses = lambda write: "bad" if write.id == "1" else None
    outcome = BulkWriter(engine).write(writes(3))
    assert [(write.id, reason) for write, reason in outcome.refused] == [("1", "bad")]
    assert outcome.written == 2


@pytest.mark.parametrize("error", [InvalidInputError("refused"), TooLargeError("too large")])
def test_a_request_that_is_refused_whole_is_halved_until_the_cause_is_found(
    error: Exception,
) -> None:
    class RejectingEngine(MemorySearchEngine):
        def bulk(self, writes: Sequence[DocumentWrite]) -> list[DocumentResult]:
            if any(write.id == "5" for write in writes):
                raise error
            return super().bulk(writes)

    engine = RejectingEngine()
    engine.indexes["assets-1"] = {}
    outcome = BulkWriter(engine).write(writes(9))
    assert [write.id for write, _ in outcome.refused] == ["5"]
    assert outcome.written == 8


def test_the_hash_is_of_the_content_and_not_of_the_version() -> None:
    document = project(AssetGone("museum", "pump"))
    engine = flaky()
    hashes: list[str] = []
    for version in (5, 6):
        BulkWriter(engine).write([write_of(document, "assets-1", version)])
        body = engine.document("assets-1", "museum:pump") or {}
        assert body["rev"] == version
        hashes.append(body["hash"])
    other = Document(document.index, document.id, {**document.body, "str_assetname": "é"})
    BulkWriter(engine).write([write_of(other, "assets-1", 7)])
    assert hashes[0] == hashes[1]
    assert (engine.document("assets-1", "museum:pump") or {})["hash"] != hashes[0]


@pytest.mark.parametrize("length", [*range(760, 780), *range(9760, 9780), 100_000])
@pytest.mark.parametrize("char", ["x", "é"])
def test_a_document_carries_the_size_of_its_own_source_in_bytes(length: int, char: str) -> None:
    document = Document(ASSET_INDEX, "a", {"_rectype": "asset", "str_assetname": char * length})
    body = write_of(document, "assets-1", 5).body
    assert json.loads(body)["source_bytes"] == len(body.encode())
    old = write_of(replace(document, mapping_version=1), "assets-1", 5).body
    assert json.loads(body) == {**json.loads(old), "source_bytes": len(body.encode())}
    assert "source_bytes" not in old


def test_only_a_tombstone_carries_its_time_and_not_in_its_hash() -> None:
    gone = project(AssetGone("museum", "pump"))
    bodies = [
        json.loads(write_of(gone, "assets-1", 5, tombstone_at=at).body)
        for at in (NOON, NOON + timedelta(days=1))
    ]
    assert [body["date_deleted"][:10] for body in bodies] == ["2026-03-01", "2026-03-02"]
    assert bodies[0]["hash"] == bodies[1]["hash"]
    alive = Document(gone.index, gone.id, {"_rectype": "asset", "str_assetname": "deleted"})
    assert "date_deleted" not in write_of(alive, "assets-1", 5, tombstone_at=NOON).body
