"""The rebuild: its requests, its order, its poison, and what it never does."""

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.errors import UnavailableError
from backend.core.objects import ObjectRef
from backend.core.references import AssetRef, FileRef
from backend.core.search_engine import DocumentWrite
from backend.search.indexing.rebuild import Rebuilder, StoredVersionAheadError
from backend.search.indexing.references import Reference
from backend.search.values import MAX_GEO_KEYS
from backend.spec.queues import SETTLE
from backend.spec.search_indexes import MAPPING_VERSION
from backend.spec.tables.operations import SEARCH_STATE
from tests.factories.search import (
    remove_asset,
    store_asset,
    store_attribute,
    store_metadata,
)
from tests.fakes.counting import requests_of
from tests.fakes.queues import MemoryQueues
from tests.fakes.search_engine import MemorySearchEngine

BUCKET = "assetbucket"
PUMP = AssetRef("museum", "pump")
WHEEL = FileRef("museum", "pump", "/wheel.glb")
WHEEL_ID = "museum:pump:pump/wheel.glb"
TICKET = Counter(UpdateItem=1)


@pytest.fixture
def tables(dynamo_tables: DynamoTables) -> DynamoTables:
    """Tables whose requests are counted."""
    return dynamo_tables


def put(objects: S3Objects, key: str) -> None:
    objects.put(BUCKET, key, b"x", content_type="text/plain", metadata={})


def delete_all_versions(objects: S3Objects, key: str) -> None:
    for version in objects.list_versions(BUCKET, key).versions:
        objects.delete_version(BUCKET, version.key, version_id=version.version_id)


def failures(objects: S3Objects) -> list[dict[str, Any]]:
    failures = objects.list_objects("failurebucket", "").objects
    return [
        json.loads(objects.read_start("failurebucket", failure.key, length=1_000_000))
        for failure in failures
    ]


def test_an_asset_and_its_file_are_indexed_with_what_describes_them(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    put(objects, "pump/wheel.glb")
    put(objects, "pump/wheel.glb.previewFile.png")
    store_metadata(tables, "material", "steel")
    store_metadata(tables, "place", '{"lat": 1, "long": 2}', value_type="lla")
    store_metadata(tables, "teeth", "12", path="/wheel.glb", value_type="number")
    store_attribute(tables, "triangles", "900", path="/wheel.glb")
    indexing.rebuild({PUMP, ObjectRef(BUCKET, "pump/wheel.glb")})
    asset = engine.document("assets-1", "museum:pump") or {}
    file = engine.document("files-1", WHEEL_ID) or {}
    assert asset["MD_"] == {"material": "steel", "place": '{"lat": 1, "long": 2}'}
    assert asset["gp_place"] == {"lat": 1, "lon": 2}
    assert file["metadata"] == [{"key": "teeth", "string": "12", "number": 12.0}]
    assert file["AB_"] == {"triangles": "900"}
    assert file["str_previewfilekey"] == "pump/wheel.glb.previewFile.png"


def test_a_path_and_an_object_of_one_file_are_one_document(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    put(objects, "pump/wheel.glb")
    indexing.rebuild({WHEEL, ObjectRef(BUCKET, "pump/wheel.glb")})
    assert engine.bulks == [1]


def test_a_preview_rebuilds_the_file_that_it_shows_and_is_no_document(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    put(objects, "pump/wheel.glb")
    put(objects, "pump/wheel.glb.previewFile.png")
    indexing.rebuild({ObjectRef(BUCKET, "pump/wheel.glb.previewFile.png")})
    assert list(engine.indexes["files-1"]) == [WHEEL_ID]


@pytest.mark.parametrize("name", ["preview.png", "preview.jpg", "preview.gif"])
def test_the_preview_of_an_asset_rebuilds_the_asset_and_is_no_file_document(
    name: str,
    tables: DynamoTables,
    objects: S3Objects,
    indexing: Rebuilder,
    engine: MemorySearchEngine,
) -> None:
    store_asset(tables)
    put(objects, f"pump/{name}")
    put(objects, f"pump/parts/{name}")
    indexing.rebuild({ObjectRef(BUCKET, f"pump/{name}")})
    assert (engine.document("assets-1", "museum:pump") or {})[
        "str_previewfilekey"
    ] == f"pump/{name}"
    assert (engine.document("files-1", f"museum:pump:pump/{name}") or {})["deleted"] is True
    indexing.rebuild({ObjectRef(BUCKET, f"pump/parts/{name}")})
    assert "deleted" not in (engine.document("files-1", f"museum:pump:pump/parts/{name}") or {})
    delete_all_versions(objects, f"pump/{name}")
    indexing.rebuild({FileRef("museum", "pump", f"/{name}")})
    assert "str_previewfilekey" not in (engine.document("assets-1", "museum:pump") or {})


def test_a_preview_that_the_asset_names_wins(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables, previewLocation={"Key": "previews/pump/p.png"})
    put(objects, "pump/preview.png")
    indexing.rebuild({ObjectRef(BUCKET, "pump/preview.png")})
    asset = engine.document("assets-1", "museum:pump") or {}
    assert asset["str_previewfilekey"] == "previews/pump/p.png"


@pytest.mark.parametrize(
    "key", ["temp-uploads/y1/a", "previews/pump/p.png", "loose.txt", "nobody/a", "pump/dir/"]
)
def test_objects_that_are_no_file_of_an_asset_touch_nothing(
    key: str, tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    indexing.rebuild({ObjectRef(BUCKET, key), ObjectRef("elsewhere", key)})
    assert engine.bulks == []


def test_objects_below_a_known_prefix_start_one_scan_of_the_buckets(
    tables: DynamoTables, indexing: Rebuilder
) -> None:
    with requests_of(tables.client) as counted:
        for number in range(3):
            indexing.rebuild({ObjectRef(BUCKET, f"temp-uploads/y{number}/part")})
            indexing.rebuild({ObjectRef(BUCKET, f"nobody/{number}")})
    assert counted["Scan"] == 1


def test_what_was_deleted_becomes_a_tombstone_and_comes_back(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    put(objects, "pump/wheel.glb")
    indexing.rebuild({PUMP, WHEEL})
    delete_all_versions(objects, "pump/wheel.glb")
    indexing.rebuild({WHEEL})
    assert (engine.document("files-1", WHEEL_ID) or {})["deleted"] is True
    put(objects, "pump/wheel.glb")
    indexing.rebuild({WHEEL})
    assert WHEEL_ID in engine.live()
    remove_asset(tables)
    indexing.rebuild({PUMP, ObjectRef(BUCKET, "pump/wheel.glb")})
    assert engine.live() == {}


def test_a_deletion_that_is_reported_before_the_creation_leaves_a_tombstone(
    objects: S3Objects, tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    indexing.rebuild({PUMP})
    assert (engine.document("assets-1", "museum:pump") or {})["deleted"] is True
    store_asset(tables)
    indexing.rebuild({PUMP})
    assert "museum:pump" in engine.live()


def test_of_an_asset_in_both_partitions_the_later_revision_counts(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables, revision=1)
    store_asset(tables, archived=True, revision=2)
    indexing.rebuild({PUMP})
    assert engine.live()["museum:pump"]["bool_archived"] is True


def test_what_was_read_through_an_index_is_settled_once_after_the_delay(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, sent: MemoryQueues
) -> None:
    store_asset(tables)
    put(objects, "pump/wheel.glb")
    indexing.rebuild({PUMP, ObjectRef(BUCKET, "pump/wheel.glb")})
    assert sent.sent == [
        (
            SETTLE.name,
            {"references": [["asset", "museum", "pump"], ["file", "museum", "pump", "/wheel.glb"]]},
            900,
        )
    ]
    indexing.rebuild({PUMP}, settles=())
    assert len(sent.sent) == 1


def test_settling_writes_also_what_has_not_changed(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    indexing.rebuild({PUMP})
    first = (engine.document("assets-1", "museum:pump") or {})["rev"]
    indexing.rebuild({PUMP}, settles=())
    assert (engine.document("assets-1", "museum:pump") or {})["rev"] > first


def test_nothing_to_rebuild_takes_no_ticket(indexing: Rebuilder, tables: DynamoTables) -> None:
    with requests_of(tables.client) as counted:
        indexing.rebuild(())
    assert not counted


@pytest.mark.parametrize(
    ("reference", "limit"),
    [(PUMP, 3), (WHEEL, 4), (ObjectRef(BUCKET, "pump/wheel.glb"), 4)],
)
def test_a_lone_document_takes_few_requests(
    reference: Reference,
    limit: int,
    tables: DynamoTables,
    objects: S3Objects,
    indexing: Rebuilder,
    engine: MemorySearchEngine,
) -> None:
    store_asset(tables)
    put(objects, "pump/wheel.glb")
    indexing.rebuild({reference})  # a new process reads the registry of buckets once
    with requests_of(tables.client) as reads, requests_of(objects.client) as s3:
        indexing.rebuild({reference})
    assert (reads - TICKET).total() <= limit
    assert s3.total() <= 2
    assert engine.bulks == [1, 1]


def test_a_hundred_files_of_an_asset_take_two_requests_each_at_the_most(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    names = [f"{n:03}.glb" for n in range(100)]
    for name in names:
        put(objects, f"pump/{name}")
        store_metadata(tables, "number", name, path=f"/{name}")
        store_attribute(tables, "triangles", "9", path=f"/{name}")
    with requests_of(tables.client) as reads, requests_of(objects.client) as s3:
        indexing.rebuild({ObjectRef(BUCKET, f"pump/{name}") for name in names})
    assert (reads - TICKET) == Counter(Scan=1, BatchGetItem=2, Query=2)
    assert s3 == Counter(ListObjectVersions=1)
    assert engine.bulks == [100]
    assert engine.live()["museum:pump:pump/042.glb"]["MD_"] == {"number": "042.glb"}


def test_a_refused_document_is_kept_with_its_body_and_can_be_found(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    def refuses(write: DocumentWrite) -> str | None:
        return "mapper_parsing_exception" if '"MD_"' in write.body else None

    engine.refuses = refuses
    store_asset(tables)
    store_asset(tables, "good")
    store_metadata(tables, "k", "v")
    done = indexing.rebuild({PUMP, AssetRef("museum", "good")})
    assert done.refused == 1
    live = engine.live()
    assert live["museum:pump"]["str_assetname"] == "The pump"
    assert "str_description" not in live["museum:pump"]
    assert "str_description" in live["museum:good"]
    (kept,) = failures(objects)
    assert kept["reason"] == "mapper_parsing_exception"
    assert json.loads(kept["body"])["MD_"] == {"k": "v"}


def test_an_asset_of_an_unknown_bucket_is_kept_and_the_others_are_indexed(
    tables: DynamoTables, objects: S3Objects, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables, bucketId="nowhere")
    store_asset(tables, "good")
    indexing.rebuild({PUMP, AssetRef("museum", "good")})
    assert set(engine.live()) == {"museum:good"}
    (kept,) = failures(objects)
    assert "nowhere" in kept["reason"]


def test_an_outage_of_the_engine_is_reported_and_nothing_is_settled(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine, sent: MemoryQueues
) -> None:
    store_asset(tables)
    del engine.indexes["assets-1"]
    with pytest.raises(UnavailableError):
        indexing.rebuild({PUMP})
    assert sent.sent == []


def test_documents_are_written_to_every_target(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    engine.create_index("assets-2", mapping={}, settings={})
    item = tables.get(SEARCH_STATE, {"stateKey": "search"}) or {}
    both = ["assets-1", "assets-2"]
    targets = {"assetsWrite": both, "mappingVersions": dict.fromkeys(both, MAPPING_VERSION)}
    tables.put_many(SEARCH_STATE, [{**item, **targets}])
    indexing.rebuild({PUMP})
    assert engine.document("assets-1", "museum:pump") == engine.document("assets-2", "museum:pump")


def test_a_ticket_counter_that_went_backwards_stops_the_writer(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    indexing.rebuild({PUMP})
    item = tables.get(SEARCH_STATE, {"stateKey": "search"}) or {}
    tables.put_many(SEARCH_STATE, [{**item, "n": item["n"] - 10}])
    with pytest.raises(StoredVersionAheadError):
        indexing.rebuild({PUMP})
    tables.put_many(SEARCH_STATE, [{**item, "n": item["n"] + 1}])
    indexing.rebuild({PUMP})


def test_a_later_ticket_that_was_faster_is_no_error(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    store_asset(tables)
    slow = replace(indexing, state=_LateState(indexing.state.issue_ticket(), indexing.state))
    indexing.rebuild({PUMP})
    assert slow.rebuild({PUMP}).overtaken == 1


class _LateState:
    """A state that hands out a ticket taken long ago."""

    def __init__(self, ticket: Any, state: Any) -> None:
        self.issue_ticket = lambda: ticket
        self.last_ticket = state.last_ticket


def test_more_references_than_fit_memory_take_several_tickets(
    tables: DynamoTables, indexing: Rebuilder
) -> None:
    before = indexing.state.issue_ticket().number
    indexing.rebuild({AssetRef("museum", f"a{n}") for n in range(1001)})
    assert indexing.state.issue_ticket().number == before + 3


def test_geographic_keys_beyond_the_limit_stay_in_the_pairs(
    tables: DynamoTables, indexing: Rebuilder, engine: MemorySearchEngine
) -> None:
    indexing.geo_keys.add_keys({f"k{n}": f"database-{n // 20}" for n in range(MAX_GEO_KEYS)})
    store_asset(tables)
    store_metadata(tables, "late", '{"lat": 1, "long": 2}', value_type="lla")
    indexing.rebuild({PUMP})
    document = engine.live()["museum:pump"]
    assert "gp_late" not in document
    (warning,) = document["list_warnings"]
    assert warning.startswith("No gp_ or gs_ fields for late: ")
    assert document["metadata"][0]["point"] == {"lat": 1, "lon": 2}
