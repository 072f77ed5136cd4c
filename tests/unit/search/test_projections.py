"""Documents: exactly the declared fields, from whatever the sources hold."""

import base64
import json
import struct
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from backend.core.objects import ObjectVersion
from backend.core.references import AssetRef, FileKeyRef
from backend.core.tables import Query
from backend.core.transactions import Item, Key
from backend.domains.assets.models import Asset
from backend.domains.assets.repository import AssetRepository
from backend.domains.assets.rules import INHERITED_BY_FILES
from backend.domains.assets.service.queries import secured
from backend.domains.buckets.models import AssetBucket
from backend.search.indexing.projections import (
    AssetGone,
    AssetSource,
    FileGone,
    FileSource,
    document_id,
    project,
    stub,
)
from backend.search.indexing.sources import Sources
from backend.search.values import Record
from backend.spec.search_indexes import (
    ASSET_INDEX,
    FIELD_SINCE,
    FILE_INDEX,
    MAPPING_VERSION,
    SOURCE_BYTES,
)
from backend.spec.tables.model import Table
from tests.factories.buckets import stored_bucket
from tests.factories.search import asset_row, store_asset, store_metadata
from tests.fakes.objects import MemoryObjects
from tests.fakes.tables import MemoryTables

BUCKET = AssetBucket(bucket_id="b1", bucket_name="bucket", base_assets_prefix="/")
VERSION = ObjectVersion(
    key="pump/parts/Wheel.GLB",
    version_id="v1",
    is_latest=True,
    last_modified=datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
    size=7,
    etag="abc",
)

PREVIEW = ObjectVersion(
    key="pump/parts/Wheel.GLB.previewFile.png",
    version_id="p1",
    is_latest=True,
    last_modified=VERSION.last_modified,
    size=900,
)
SMALL = PREVIEW._replace(key="pump/parts/Wheel.GLB.previewFile.webp", version_id="s1", size=90)


def asset(**fields: Any) -> dict[str, Any]:
    return project(AssetSource(asset_row(**fields), BUCKET)).body


def file(version: ObjectVersion = VERSION, **fields: Any) -> dict[str, Any]:
    return project(FileSource(asset_row(**fields), BUCKET, version, version)).body


def test_an_asset_has_the_fields_of_the_data_model() -> None:
    row = asset_row(previewLocation={"Key": "previews/pump/p.png"}, childCount=2, relatedCount=0)
    source = AssetSource(row, BUCKET, (Record("material", "steel"),))
    document = project(source)
    assert document.id == "museum:pump"
    assert document.body == {
        "_rectype": "asset",
        "str_rectype": "asset",
        "str_databaseid": "museum",
        "str_assetid": "pump",
        "str_assetname": "The pump",
        "str_assettype": "folder",
        "str_description": "A thing to look at",
        "str_bucketid": "b1",
        "str_bucketname": "bucket",
        "str_bucketprefix": "/",
        "str_asset_version_id": "0",
        "ruled_assettype": "folder",
        "str_asset_version_comment": "as scanned",
        "str_assetlocationkey": "pump/",
        "str_previewfilekey": "previews/pump/p.png",
        "bool_isdistributable": True,
        "list_tags": ["red"],
        "date_asset_version_createdate": "2026-03-01T12:00:00+00:00",
        "bool_has_asset_children": True,
        "bool_has_asset_parents": False,
        "bool_has_assets_related": False,
        "bool_archived": False,
        "MD_": {"material": "steel"},
        "metadata": [{"key": "material", "string": "steel"}],
    }
    assert set(ASSET_INDEX.fields) <= set(document.body)
    previewed = project(replace(source, preview=PREVIEW)).body
    assert {**document.body, "str_previewversionid": "p1", "num_previewsize": 900} == previewed
    small = project(replace(source, preview=PREVIEW, small=SMALL)).body
    assert {**previewed, "str_smallpreviewversionid": "s1"} == small


def test_a_preview_without_versions_is_named_by_its_etag() -> None:
    plain = PREVIEW._replace(version_id="null", etag="e1")
    small = SMALL._replace(version_id="null", etag="e2")
    source = FileSource(asset_row(), BUCKET, VERSION, VERSION, preview=plain, small=small)
    assert project(source).body["str_previewversionid"] == "null:e1"
    assert project(source).body["str_smallpreviewversionid"] == "null:e2"


def test_a_file_has_the_fields_of_the_data_model() -> None:
    records = (Record("teeth", "12", "number"),), (Record("triangles", "900"),)
    source = FileSource(asset_row(), BUCKET, VERSION, VERSION, PREVIEW, SMALL, *records)
    document = project(source)
    assert document.id == "museum:pump:pump/parts/Wheel.GLB"
    assert document.body == {
        "_rectype": "file",
        "str_rectype": "file",
        "str_key": "pump/parts/Wheel.GLB",
        "str_databaseid": "museum",
        "str_assetid": "pump",
        "ruled_assettype": "folder",
        "str_assetname": "The pump",
        "str_bucketid": "b1",
        "str_bucketname": "bucket",
        "str_bucketprefix": "/",
        "str_fileext": ".glb",
        "str_etag": "abc",
        "str_s3_version_id": "v1",
        "str_previewfilekey": "pump/parts/Wheel.GLB.previewFile.png",
        "str_previewversionid": "p1",
        "num_previewsize": 900,
        "str_smallpreviewversionid": "s1",
        "date_lastmodified": "2026-03-01T12:00:00+00:00",
        "num_filesize": 7,
        "str_storageclass": "STANDARD",
        "bool_archived": False,
        "list_tags": ["red"],
        "MD_": {"teeth": "12"},
        "metadata": [{"key": "teeth", "string": "12", "number": 12.0}],
        "AB_": {"triangles": "900"},
        "attributes": [{"key": "triangles", "string": "900"}],
    }
    assert set(FILE_INDEX.all_fields) <= set(document.body)


def test_documents_of_an_archived_asset_and_its_files_are_marked_archived() -> None:
    document = project(AssetSource(asset_row(archived=True), BUCKET))
    assert document.id == "museum:pump"
    assert document.body["str_databaseid"] == "museum"
    assert document.body["bool_archived"] is True
    assert file(archived=True)["bool_archived"] is True


MARKER = ObjectVersion(
    VERSION.key, "v2", True, VERSION.last_modified + timedelta(days=1), is_delete_marker=True
)


def test_the_document_of_a_file_is_that_of_its_last_content() -> None:
    archived = project(FileSource(asset_row(), BUCKET, MARKER, VERSION))
    assert archived.body == {**file(), "bool_archived": True}
    gone = project(FileGone("museum", "pump", VERSION.key))
    assert project(FileSource(asset_row(), BUCKET, MARKER, None)) == gone
    preview = FileSource(asset_row(), BUCKET, VERSION, VERSION, is_asset_preview=True)
    assert project(preview) == gone
    cold = VERSION._replace(storage_class="GLACIER")
    for latest in (cold, MARKER):
        body = project(FileSource(asset_row(), BUCKET, latest, cold)).body
        assert body["str_storageclass"] == "GLACIER"


def test_indexes_of_the_first_mapping_version_get_the_documents_that_they_had() -> None:
    def first(source: AssetSource | FileSource) -> dict[str, Any]:
        return project(source, mapping_version=1).body

    marked = first(FileSource(asset_row(), BUCKET, MARKER, VERSION))
    assert marked == first(FileSource(asset_row(), BUCKET, MARKER, None))
    assert (marked["str_s3_version_id"], marked["bool_archived"]) == ("v2", True)
    assert marked["date_lastmodified"] == "2026-03-02T12:00:00+00:00"
    preview = FileSource(asset_row(), BUCKET, VERSION, VERSION, is_asset_preview=True)
    assert first(preview) == first(FileSource(asset_row(), BUCKET, VERSION, VERSION))
    shown = AssetSource(asset_row(), BUCKET, preview_key="pump/preview.png")
    assert first(shown) == first(AssetSource(asset_row(), BUCKET))
    assert project(shown).body["str_previewfilekey"] == "pump/preview.png"


FACTS = (
    Record("fact_area", "1.5"),
    Record("fact_format", "glTF2"),
    Record("fact_references", '{"references": []}'),
    Record("fact_shape", base64.b64encode(struct.pack("<75f", *[0.0, 1.0, 0.5] * 25)).decode()),
    Record("fact_taken", "2024-05-17T05:42:10"),
    Record("fact_triangles", "900"),
    Record("fact_watertight", "true"),
    Record("maker", "900"),
)


def test_facts_are_pairs_of_their_type_and_the_shape_is_a_field_of_its_own() -> None:
    source = FileSource(asset_row(), BUCKET, VERSION, VERSION, attributes=FACTS)
    body = project(source).body
    assert body["attributes"] == [
        {"key": "fact_area", "number": 1.5},
        {"key": "fact_format", "string": "glTF2"},
        {
            "key": "fact_taken",
            "string": "2024-05-17T05:42:10",
            "date": "2024-05-17T05:42:10+00:00",
        },
        {"key": "fact_triangles", "number": 900.0},
        {"key": "fact_watertight", "boolean": True},
        {"key": "maker", "string": "900"},
    ]
    assert body["AB_"].keys() == {pair["key"] for pair in body["attributes"]}
    assert base64.b64decode(body["shape"]) == bytes([0, 255, 128] * 25)


@pytest.mark.parametrize("shape", ["", "no base64", "AAAA", "/" * 400, "é"])
def test_what_is_no_shape_is_not_indexed(shape: str) -> None:
    attributes = (Record("fact_shape", shape),)
    source = FileSource(asset_row(), BUCKET, VERSION, VERSION, attributes=attributes)
    assert project(source).body == file()


def test_a_document_has_a_field_from_the_mapping_version_that_added_it() -> None:
    sources = (
        AssetSource(
            asset_row(), BUCKET, (Record("location", "47, 8"),), preview=PREVIEW, small=SMALL
        ),
        FileSource(
            asset_row(), BUCKET, VERSION, VERSION, preview=PREVIEW, small=SMALL, attributes=FACTS
        ),
    )

    def fields(mapping_version: int) -> set[str]:
        return {
            name
            for source in sources
            for name in project(source, mapping_version=mapping_version).body
        }

    added = {name: since for name, since in FIELD_SINCE.items() if name != SOURCE_BYTES}
    for since in added.values():
        new = {name for name, version in added.items() if version == since}
        assert fields(since) - fields(since - 1) == new


def test_facts_that_are_dates_were_texts_before_mapping_version_6() -> None:
    source = FileSource(asset_row(), BUCKET, VERSION, VERSION, attributes=FACTS)
    before, after = (
        project(source, mapping_version=version).body["attributes"] for version in (5, 6)
    )
    assert [pair for pair in before if pair not in after] == [
        {"key": "fact_taken", "string": "2024-05-17T05:42:10"}
    ]
    for text in ("0000-13-99", "1825-12-31", "2200-01-01", "9999-12-31T23:59:59", ""):
        hostile = replace(source, attributes=(Record("fact_taken", text),))
        assert project(hostile).body["attributes"] == [{"key": "fact_taken", "string": text}]


def test_each_own_field_names_the_mapping_version_that_added_it() -> None:
    own = {*ASSET_INDEX.own_fields, *FILE_INDEX.own_fields}
    assert own - FIELD_SINCE.keys() == set()
    assert max(FIELD_SINCE.values()) <= MAPPING_VERSION


@pytest.mark.parametrize(
    ("attribute", "changed"),
    [
        ("assetName", "Another"),
        ("assetType", ".glb"),
        ("description", "Another thing"),
        ("isDistributable", False),
        ("tags", ["blue"]),
    ],
)
def test_files_are_rebuilt_after_changes_of_the_attributes_in_their_documents(
    attribute: str, changed: Any
) -> None:
    assert (file(**{attribute: changed}) != file()) == (attribute in INHERITED_BY_FILES)


def test_tombstones_contain_their_ids_and_that_they_are_deleted() -> None:
    assert project(AssetGone("museum", "pump")).body == {
        "_rectype": "asset",
        "str_rectype": "asset",
        "str_databaseid": "museum",
        "str_assetid": "pump",
        "deleted": True,
    }
    gone = project(FileGone("museum", "pump", VERSION.key))
    assert gone.id == project(FileSource(asset_row(), BUCKET, VERSION, VERSION)).id
    assert gone.body["deleted"] is True


def test_a_stub_can_still_be_found_by_its_names() -> None:
    source = AssetSource(asset_row(), BUCKET, (Record("k", "v"),))
    assert stub(project(source)).body == {
        "_rectype": "asset",
        "str_rectype": "asset",
        "str_databaseid": "museum",
        "str_assetid": "pump",
        "str_assetname": "The pump",
        "bool_archived": False,
        "ruled_assettype": "folder",
        "list_tags": ["red"],
    }


def test_a_file_carries_what_permissions_name_of_its_asset() -> None:
    body = file(assetName="Pump", assetType=".glb", tags=["red", "blue"])
    assert body["str_databaseid"] == "museum"
    assert body["str_assetname"] == "Pump"
    assert body["ruled_assettype"] == ".glb"
    assert body["list_tags"] == ["red", "blue"]
    assert "str_assettype" not in body


@pytest.mark.parametrize(
    "changes", [{}, {"assetType": None}, {"assetType": ""}, {"tags": {"red", "blue"}}, {"tags": ()}]
)
def test_rules_find_in_documents_what_they_find_in_the_asset(changes: dict[str, Any]) -> None:
    """Also of rows that other products wrote."""
    row = {name: value for name, value in asset_row(**changes).items() if value is not None}
    fields = secured(Asset.model_validate(row)).fields
    for document in (
        project(AssetSource(row, BUCKET)).body,
        project(FileSource(row, BUCKET, VERSION, VERSION)).body,
    ):
        assert sorted(document["list_tags"]) == sorted(fields["tags"])
        assert document["ruled_assettype"] == fields["assetType"]
        assert "withheld" not in document


@pytest.mark.parametrize(
    "changes",
    [{"tags": "red"}, {"tags": ["red", 7]}, {"tags": None}, {"assetType": 7}, {"assetName": 7}],
)
def test_a_row_that_is_none_of_an_asset_is_withheld(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Asset.model_validate(asset_row(**changes))
    assert asset(**changes)["withheld"] is file(**changes)["withheld"] is True


@pytest.mark.parametrize("tag", ["x" * 8001, "😀" * 4001])
def test_a_document_that_permissions_cannot_judge_is_withheld(tag: str) -> None:
    document = project(AssetSource(asset_row(tags=["red", tag]), BUCKET))
    assert document.body["withheld"] is True
    assert stub(document).body["withheld"] is True
    assert "withheld" not in asset(tags=["x" * 8000, "😀" * 4000])


@pytest.mark.parametrize("key", ["k" * 496, "é" * 248])
def test_an_id_of_512_bytes_is_kept_and_a_longer_one_is_hashed(key: str) -> None:
    prefix = "museum:" + "a" * 8
    assert document_id("museum", "a" * 8, key) == f"{prefix}:{key}"
    hashed = document_id("museum", "a" * 8, key + "x")
    assert hashed.startswith("#sha256:")
    assert len(hashed.encode()) <= 512
    assert hashed != document_id("museum", "a" * 8, key + "y")


@given(
    st.dictionaries(
        st.sampled_from(sorted(asset_row())),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["Key", "Version", "DateModified"]), inner)
            ),
            max_leaves=6,
        ),
    )
)
def test_whatever_a_row_holds_it_becomes_a_document_of_declared_fields(row: dict[str, Any]) -> None:
    ids = {"databaseId": "museum", "assetId": "pump"}
    declared = {*ASSET_INDEX.mapping["properties"]}
    document = project(AssetSource(row | ids, BUCKET))
    json.dumps(document.body)
    assert document.id == "museum:pump"
    assert set(document.body) <= declared
    assert project(FileSource(row | ids, BUCKET, VERSION, VERSION)).body["str_key"] == VERSION.key


class BrokenTables(MemoryTables):
    """Tables with texts that are not valid Unicode."""

    def get_many(
        self, wanted: Sequence[tuple[Table, Key]], *, consistent: bool = True
    ) -> list[tuple[Table, Item]]:
        broken = {"description": "a\ud800b", "tags": {"\udc00"}}
        rows = super().get_many(wanted, consistent=consistent)
        return [(table, {**row, **broken}) for table, row in rows]

    def query_all(self, query: Query) -> list[Item]:
        return [{**row, "metadataValue": "\udfff"} for row in super().query_all(query)]


def test_texts_of_sources_are_made_valid_where_they_are_read() -> None:
    tables = BrokenTables()
    stored_bucket(tables)
    store_asset(tables)
    store_metadata(tables, "k", "v")
    sources = Sources(tables, MemoryObjects(), AssetRepository(tables).owners, workers=1)
    reading = sources.read([AssetRef("museum", "pump"), FileKeyRef("museum", "gone", "a/\ud800")])
    (gone, body) = (project(source).body for source in reading.sources)
    assert body["str_description"] == "a\ufffdb"
    assert body["list_tags"] == ["\ufffd"]
    assert body["MD_"] == {"k": "\ufffd"}
    assert gone["str_key"] == "a/\ufffd"
