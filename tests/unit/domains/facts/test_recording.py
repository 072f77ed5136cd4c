"""Facts of files as they are stored, and what keeps them the product's."""

import base64
import json
import struct
from typing import Any

import pytest

from backend.core.errors import InvalidInputError
from backend.domains.metadata.models import MAX_RECORDS, Entity, NewRecord
from backend.domains.metadata_schemas.models import CreateSchemaBody
from backend.domains.metadata_schemas.service import MetadataSchemaService
from tests.factories.assets import ADMIN
from tests.factories.audit import entries
from tests.unit.domains.facts.inspections import ATTRIBUTES, PATH, SHAPE, InspectionSetup, bench


def new(*keys: str) -> list[NewRecord]:
    return [NewRecord(metadata_key=key, metadata_value="v") for key in keys]


@pytest.fixture
def museum() -> InspectionSetup:
    return bench()


def test_facts_are_attributes_with_texts_of_their_type(museum: InspectionSetup) -> None:
    assert museum.record(version := museum.put())
    assert museum.facts() == {
        "fact_format": "glTF2",
        "fact_triangles": "12",
        "fact_area": "1.5",
        "fact_watertight": "true",
        "fact_sourceVersionId": version,
    }


@pytest.mark.parametrize(
    "taken",
    ["2024-13-01T10:00:00", "0000-01-01T00:00:00", "9999-12-31", "yesterday", "", "\0", 2024, True],
)
def test_a_date_that_is_none_is_left_out(museum: InspectionSetup, taken: str | int) -> None:
    version = museum.put()
    assert museum.record(version, facts={"taken": taken, "camera": "Canon"})
    assert museum.facts() == {"fact_camera": "Canon", "fact_sourceVersionId": version}


def test_numbers_outside_the_range_of_floating_point_are_left_out(museum: InspectionSetup) -> None:
    version = museum.put()
    assert museum.record(version, facts={"area": 10**400}, descriptor=[10**400] * len(SHAPE))
    assert museum.facts() == {"fact_sourceVersionId": version}


def test_the_facts_of_a_new_version_replace_those_of_the_old_one(museum: InspectionSetup) -> None:
    museum.record(museum.put(), descriptor=SHAPE)
    version = museum.put()
    museum.record(version, facts={}, refused="The file ends early")
    assert museum.facts() == {
        "fact_refused": "The file ends early",
        "fact_sourceVersionId": version,
    }
    assert museum.records.metadata.set_of(ATTRIBUTES).total == 2


def test_a_result_of_a_version_that_is_not_the_latest_is_ignored(museum: InspectionSetup) -> None:
    old, latest = museum.put(), museum.put()
    assert museum.record(latest)
    assert not museum.record(old, facts={"triangles": 999})
    assert museum.facts()["fact_triangles"] == "12"


def test_a_result_of_a_file_or_asset_that_was_deleted_is_ignored(museum: InspectionSetup) -> None:
    version = museum.put()
    museum.objects.delete("assetbucket", "statue" + PATH)
    assert not museum.record(version)
    assert not museum.record(version, path="/never.glb")
    assert museum.facts() == {}


def test_the_same_result_again_writes_nothing(museum: InspectionSetup) -> None:
    version = museum.put()
    museum.record(version)
    before = museum.records.metadata.set_of(ATTRIBUTES)
    assert museum.record(version)
    assert museum.records.metadata.set_of(ATTRIBUTES) == before


@pytest.mark.parametrize(
    "facts",
    [
        {"triangles": float("nan")},
        {"area": float("inf")},
        {"triangles": 2**63},
        {"triangles": "12"},
        {"triangles": True},
        {"watertight": 1},
        {"format": 12},
        {"unknown": "fact"},
        {"triangles": None},
    ],
)
def test_a_value_that_is_none_of_the_fact_is_left_out(museum: InspectionSetup, facts: Any) -> None:
    museum.record(museum.put(), facts=facts)
    assert museum.facts().keys() == {"fact_sourceVersionId"}


def test_a_hostile_text_is_cut_and_cleaned(museum: InspectionSetup) -> None:
    museum.record(museum.put(), facts={"generator": "a\ud800\u0000" + "x" * 5000})
    assert museum.facts()["fact_generator"] == "a\ufffd\ufffd" + "x" * 997


def test_a_shape_is_75_float32(museum: InspectionSetup) -> None:
    museum.record(museum.put(), descriptor=SHAPE)
    stored = base64.b64decode(museum.facts()["fact_shape"])
    assert struct.unpack("<75f", stored) == pytest.approx(SHAPE)
    for wrong in ([1.0] * 74, [1.0] * 74 + [float("nan")], ["1"] * 75, [1e300] * 75):
        museum.record(museum.put(), descriptor=wrong)
        assert "fact_shape" not in museum.facts()


def test_references_are_bounded(museum: InspectionSetup) -> None:
    references = [{"path": f"t{n}.png", "kind": "texture", "state": "found"} for n in range(1200)]
    museum.record(museum.put(), references=references)
    stored = json.loads(museum.facts()["fact_references"])
    assert (len(stored["references"]), stored["omitted"]) == (1000, 200)
    long = [{"path": "x" * 5000, "kind": "other", "state": "missing"}] * 500
    museum.record(museum.put(), references=long)
    assert len(museum.facts()["fact_references"]) < 101_000


def test_facts_do_not_count_to_the_limit_of_records(museum: InspectionSetup) -> None:
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new(*(f"k{n:03}" for n in range(MAX_RECORDS))))
    assert museum.records.metadata.set_of(ATTRIBUTES).size == MAX_RECORDS
    museum.record(museum.put(), facts={"triangles": 1, "points": 2})
    assert museum.facts()["fact_points"] == "2"


@pytest.mark.parametrize("key", ["fact_triangles", "FACT_triangles", "Fact_mine"])
def test_no_user_creates_or_changes_a_fact(museum: InspectionSetup, key: str) -> None:
    museum.record(museum.put())
    for write in (museum.records.add_records, museum.records.change_records):
        with pytest.raises(InvalidInputError, match=f"'{key}' is reserved") as refused:
            write(ADMIN, ATTRIBUTES, new("mine", key))
        assert refused.value.fields[0].field == "metadata.1.metadataKey"
    assert museum.facts()["fact_triangles"] == "12"
    assert "mine" not in museum.facts()


def test_deleting_a_fact_fails_alone(museum: InspectionSetup) -> None:
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new("mine"))
    result = museum.records.remove_records(ADMIN, ATTRIBUTES, ["fact_triangles", "mine"])
    assert result.done == ("mine",)
    assert result.failed[0][0] == "fact_triangles"
    assert "only the product writes" in result.failed[0][1]
    assert museum.facts()["fact_triangles"] == "12"


def test_metadata_may_have_keys_like_facts(museum: InspectionSetup) -> None:
    entity = Entity("museum", "statue", PATH)
    assert museum.records.add_records(ADMIN, entity, new("fact_mine")).done == ("fact_mine",)


def test_replacing_all_attributes_leaves_facts(museum: InspectionSetup) -> None:
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new("old"))
    museum.records.change_records(ADMIN, ATTRIBUTES, new("new"), update_type="replace_all")
    assert museum.facts().keys() & {"old", "new", "fact_triangles"} == {"new", "fact_triangles"}
    counted = museum.records.metadata.set_of(ATTRIBUTES)
    assert (counted.size, counted.facts) == (1, 5)


def test_schemas_do_not_govern_facts(museum: InspectionSetup) -> None:
    museum.record(version := museum.put())
    schemas: MetadataSchemaService = museum.records.schemas
    schemas.create_schema(
        ADMIN,
        CreateSchemaBody.model_validate(
            {
                "databaseId": "museum",
                "metadataSchemaEntityType": "fileAttribute",
                "schemaName": "Strict",
                "fields": {
                    "fields": [
                        {
                            "metadataFieldKeyName": "fact_points",
                            "metadataFieldValueType": "string",
                            "required": True,
                        }
                    ]
                },
            }
        ),
    )
    assert museum.record(version, facts={"triangles": 13})
    assert museum.records.add_records(ADMIN, ATTRIBUTES, new("mine")).done == ("mine",)
    assert museum.records.fields(ATTRIBUTES) == {}


def test_facts_are_in_no_audit_entry(museum: InspectionSetup) -> None:
    museum.record(museum.put())
    museum.records.add_records(ADMIN, ATTRIBUTES, new("mine"))
    entry_of = museum.records.entries(ADMIN, "copy", ATTRIBUTES)
    museum.records.write_as_is(ATTRIBUTES, [], entry_of)
    assert museum.facts() == {}
    found = [entry for entry in entries(museum.tables) if "attribute" in json.dumps(entry)]
    assert len(found) == 2
    assert "fact_" not in json.dumps(found)
