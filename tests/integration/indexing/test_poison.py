"""Values that break documents of others result in documents that can be found."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from backend.core.objects import ObjectVersion
from backend.domains.buckets.models import AssetBucket
from backend.search.indexing.bulk import BulkWriter, write_of
from backend.search.indexing.projections import AssetSource, FileSource, project, wanted_geo_keys
from backend.search.indexing.records import valid_record
from backend.search.values import Record
from backend.spec.tables.assets import ASSETS
from tests.factories.search import asset_row, store_asset, store_metadata
from tests.integration.indexing.conftest import World

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
