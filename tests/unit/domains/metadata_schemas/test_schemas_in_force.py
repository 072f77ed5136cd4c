"""Schemas in force for those who write and read metadata."""

from typing import Any
from unittest.mock import patch

import pytest

from backend.core.errors import UnavailableError
from backend.core.tables import Tables
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.models import UpdateDatabaseBody
from backend.spec.tables.metadata import SCHEMA_SCOPES
from tests.factories.assets import ADMIN
from tests.factories.http import Client, Response
from tests.factories.lifecycle import interrupt
from tests.unit.domains.metadata.calls import (
    FILE,
    add,
    add_to_file,
    all_keys,
    on_file,
    record,
    send,
    values,
)
from tests.unit.domains.metadata_schemas.calls import SCHEMAS, created, field, one

DATABASE = "/database/{databaseId}/metadata"
COLOURS = {"controlledListKeys": ["red", "blue"]}


def put(writer: Client, *records: dict[str, str], **more: Any) -> Response:
    return send(writer, "PUT", body={"metadata": list(records), **more})


def remove(writer: Client, *keys: str) -> dict[str, str]:
    """Remove records; return the refused keys, each with the reason."""
    body = send(writer, "DELETE", body={"metadataKeys": list(keys)}).body
    return {item["key"]: item["error"] for item in body["failedItems"]}


def refused(answer: Response) -> list[str]:
    assert (answer.status, answer.body["code"]) == (400, "MetadataSchemaViolation"), answer.body
    return [error["field"] for error in answer.body["errors"]]


def test_what_is_required_must_be_given_and_defaults_fill_the_rest(
    client: Client, writer: Client
) -> None:
    created(
        client,
        field("weight", "number", required=True),
        field("unit", required=True, defaultMetadataFieldValue="kg"),
        field("note", defaultMetadataFieldValue="none"),
        field("free"),
    )
    for method in ("POST", "PUT"):
        for sent in ([record("x")], [record("weight", "", "number")]):
            answer = send(writer, method, body={"metadata": sent})
            assert "weight" in answer.body["message"] or "metadata.0" in refused(answer)[0]
            assert answer.status == 400
    assert values(writer) == {"weight": "", "unit": "kg", "note": "none", "free": ""}
    done = send(writer, "POST", body={"metadata": [record("weight", "7", "number")]})
    assert done.body["successfulItems"] == ["weight"]
    assert values(writer) == {"weight": "7", "unit": "kg", "note": "none", "free": ""}
    assert put(writer, record("note", "a note")).status == 200
    assert refused(put(writer, record("unit", ""))) == ["metadata.0.metadataValue"]
    replaced = put(writer, record("weight", "8", "number"), updateType="replace_all")
    assert replaced.status == 200
    assert values(writer)["note"] == "none"
    assert refused(put(writer, record("note", "x"), updateType="replace_all")) == ["metadata"]


def test_defaults_that_fill_in_too_many_records_are_named_as_the_reason(
    client: Client, writer: Client
) -> None:
    for part in ("a", "b"):
        fields = (field(f"{part}{n}", defaultMetadataFieldValue="v") for n in range(251))
        created(client, *fields, schemaName=part)
    answer = put(writer, record("x"))
    assert (answer.status, answer.body["code"]) == (409, "TooManyRecords")
    assert "503 keys, including those filled in by metadata schemas" in answer.body["message"]


def test_types_and_lists_are_kept(client: Client, writer: Client) -> None:
    created(client, field("weight", "number"), field("colour", "inline_controlled_list", **COLOURS))
    wrong = put(writer, record("weight", "7"), record("colour", "green", "inline_controlled_list"))
    assert refused(wrong) == ["metadata.0.metadataValueType", "metadata.1.metadataValue"]
    right = put(
        writer, record("weight", "7", "number"), record("colour", "", "inline_controlled_list")
    )
    assert right.status == 200
    assert put(writer, record("colour", "red", "inline_controlled_list")).status == 200


def test_a_key_needs_what_it_depends_on(client: Client, writer: Client) -> None:
    created(
        client,
        field("weight", "number", dependsOnFieldKeyName=["unit"]),
        field("unit", dependsOnFieldKeyName=["system"]),
        field("system"),
    )
    weight, unit = record("weight", "7", "number"), record("unit", "kg")
    assert refused(put(writer, weight)) == ["metadata.0.metadataKey"]
    assert refused(put(writer, weight, unit)) == ["metadata.1.metadataKey"]
    assert put(writer, weight, unit, record("system", "SI")).status == 200
    assert refused(put(writer, record("unit", ""))) == ["metadata.0.metadataValue"]
    assert remove(writer, "unit").keys() == {"unit"}
    assert "'weight' depends on it" in remove(writer, "unit")["unit"]
    assert refused(put(writer, weight, updateType="replace_all")) == ["metadata.0.metadataKey"]
    assert remove(writer, "unit", "weight") == {}
    assert values(writer)["system"] == "SI"


def test_what_is_required_cannot_be_removed_and_the_rest_of_the_request_is_done(
    client: Client, writer: Client
) -> None:
    created(client, field("weight", "number", required=True))
    put(writer, record("weight", "7", "number"), record("x"), record("y"))
    assert remove(writer, "weight", "x", "z") == {
        "weight": "Required by the metadata schema Measures (museum)",
        "z": "The key does not exist",
    }
    assert values(writer) == {"weight": "7", "y": "v"}


def test_other_keys_are_refused_if_the_database_restricts_keys_and_has_a_schema(
    client: Client, writer: Client, assets: AssetService
) -> None:
    body = UpdateDatabaseBody(restrict_metadata_outside_schemas=True)
    assets.databases.update_database(ADMIN, "museum", body)
    assert add(writer, "before").status == 200
    schema_id = created(client, field("weight", "number"))
    answer = put(writer, record("weight", "1", "number"), record("x"))
    assert refused(answer) == ["metadata.1.metadataKey"]
    assert "weight" in values(writer)
    assert values(writer)["weight"] == ""
    assert remove(writer, "before") == {}
    client.send("PUT", SCHEMAS, body={"metadataSchemaId": schema_id, "enabled": False})
    assert put(writer, record("x")).status == 200


def test_each_entity_has_its_own_schemas_and_global_ones_are_for_all(
    client: Client, writer: Client
) -> None:
    glb = {"fileKeyTypeRestriction": ".GLB,.gltf"}
    created(client, field("a"), schemaName="Asset", databaseId="GLOBAL")
    created(client, field("d"), metadataSchemaEntityType="databaseMetadata")
    created(client, field("g"), metadataSchemaEntityType="fileMetadata", **glb)
    other = {"fileKeyTypeRestriction": ".png"}
    created(client, field("p"), metadataSchemaEntityType="fileMetadata", **other)
    created(client, field("t"), metadataSchemaEntityType="fileAttribute")
    assert values(writer) == {"a": ""}
    assert values(writer, DATABASE) == {"d": ""}
    assert values(writer, FILE, **on_file()) == {"g": ""}
    assert values(writer, FILE, **on_file(path="/x.PNG")) == {"p": ""}
    assert values(writer, FILE, **on_file("attribute")) == {"t": ""}
    assert refused(add_to_file(writer, record("g2"), record("g", "7", "number"))) == [
        "metadata.1.metadataValueType"
    ]
    assert add_to_file(writer, record("g2"), record("g", "7")).status == 200


def test_metadata_shows_fields_of_schemas_and_where_they_contradict_each_other(
    client: Client, writer: Client
) -> None:
    created(
        client,
        field("weight", "number", sequence=2, required=True, defaultMetadataFieldValue="1"),
        field("colour", "inline_controlled_list", sequence=1, **COLOURS),
        field("torn", "number", required=True),
    )
    created(client, field("torn", "date"), schemaName="Other", databaseId="GLOBAL")
    send(writer, "POST", body={"metadata": [record("torn", "either"), record("z")]})
    result = {item["metadataKey"]: item for item in send(writer, "GET").body["metadata"]}
    assert list(result) == ["torn", "weight", "z", "colour"]
    assert result["weight"] == {
        "databaseId": "museum",
        "assetId": "statue",
        "metadataKey": "weight",
        "metadataValue": "1",
        "metadataValueType": "number",
        "metadataStored": True,
        "metadataSchemaName": "Measures (museum)",
        "metadataSchemaField": True,
        "metadataSchemaValueType": "number",
        "metadataSchemaRequired": True,
        "metadataSchemaSequence": 2,
        "metadataSchemaDefaultValue": "1",
        "metadataSchemaDependsOn": [],
        "metadataSchemaMultiFieldConflict": False,
        "metadataSchemaControlledListKeys": [],
    }
    assert result["colour"]["metadataSchemaControlledListKeys"] == ["red", "blue"]
    assert result["colour"]["metadataStored"] is False
    torn = result["torn"]
    assert torn["metadataSchemaMultiFieldConflict"] is True
    assert torn["metadataSchemaName"] == "Other (GLOBAL), Measures (museum)"
    assert torn["metadataSchemaRequired"] is False
    assert result["z"]["metadataSchemaField"] is False
    assert result["z"]["metadataSchemaName"] is None


def test_pages_show_each_record_and_each_field_once(client: Client, writer: Client) -> None:
    created(client, *(field(f"f{n}", sequence=9 - n) for n in range(5)), field("last"))
    add(writer, "a", "b", "f2")
    for size in (1, 2, 3, 4, 8, 100):
        page = send(writer, "GET", query={"pageSize": str(size)}).body
        assert len(page["metadata"]) <= size
        assert ("NextToken" in page) == (len(page["metadata"]) == size or size < 8)
        keys = all_keys(writer, pageSize=str(size))
        assert keys == ["a", "b", "f2", "f4", "f3", "f1", "f0", "last"], size


def test_schemas_that_cannot_be_read_refuse_the_write(
    client: Client, writer: Client, tables: Tables
) -> None:
    schema_id = created(client)
    get_many = type(tables).get_many

    def failing(self: Tables, wanted: Any, **more: Any) -> Any:
        if any(table is SCHEMA_SCOPES for table, _ in wanted):
            raise UnavailableError("down")
        return get_many(self, wanted, **more)

    with patch.object(type(tables), "get_many", failing):
        assert add(writer, "x").status == 503
        assert put(writer, record("x")).status == 503
        assert send(writer, "DELETE", body={"metadataKeys": ["x"]}).status == 503
    assert values(writer) == {"weight": ""}
    one(client, "DELETE", schema_id, body={"confirmDelete": True})
    assert add(writer, "x").status == 200  # in force no longer than it is there
    assert values(writer) == {"x": "v"}


def test_a_parent_that_is_removed_meanwhile_is_missed(
    client: Client, writer: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    created(client, field("weight", dependsOnFieldKeyName=["unit"]), field("unit"))
    put(writer, record("unit", "kg"))
    refusals: list[dict[str, str]] = []
    interrupt(
        monkeypatch, type(tables), "transact", lambda: refusals.append(remove(writer, "unit"))
    )
    assert refused(put(writer, record("weight", "7"))) == ["metadata.0.metadataKey"]
    assert (refusals, values(writer)) == ([{}], {"unit": "", "weight": ""})


def test_metadata_of_a_database_is_its_own(writer: Client, tables: Tables) -> None:
    done = send(writer, "POST", DATABASE, body={"metadata": [record("k", "1"), record("l")]})
    assert done.body["successfulItems"] == ["k", "l"]
    metadata = send(writer, "GET", DATABASE).body["metadata"]
    assert [(item["databaseId"], "assetId" in item) for item in metadata] == [("museum", False)] * 2
    assert values(writer) == {}
    again = send(writer, "POST", DATABASE, body={"metadata": [record("k", "2")]})
    assert (again.status, again.body["success"]) == (200, False)
    body = {"metadata": [record("k", "2")], "updateType": "replace_all"}
    assert send(writer, "PUT", DATABASE, body=body).body["success"] is True
    assert values(writer, DATABASE) == {"k": "2"}
    gone = send(writer, "DELETE", DATABASE, body={"metadataKeys": ["k", "l"]})
    assert gone.body["failedItems"] == [{"key": "l", "error": "The key does not exist"}]
    nobody = {"parameters": {"databaseId": "nobody"}}
    for method, more in (
        ("GET", {}),
        ("POST", {"body": {"metadata": [record("k")]}}),
        ("PUT", {"body": {"metadata": [record("k")]}}),
        ("DELETE", {"body": {"metadataKeys": ["k"]}}),
    ):
        answer = send(writer, method, DATABASE, **more, **nobody)
        assert (answer.status, answer.body["code"]) == (404, "DatabaseNotFound"), method


def test_a_batch_follows_the_schemas_as_the_routes_of_one_entity_do(
    client: Client, writer: Client
) -> None:
    created(
        client,
        field("weight", "number", required=True),
        field("unit", defaultMetadataFieldValue="kg", dependsOnFieldKeyName=["weight"]),
        field("note", defaultMetadataFieldValue="none"),
    )

    def edit(*written: tuple[str, str, str | None], removed: str = "") -> dict[str, Any]:
        entity = {
            "databaseId": "museum",
            "assetId": "statue",
            "metadata": [
                record(key, value, "number" if key == "weight" else "string")
                | ({} if expected is None else {"expectedValue": expected})
                for key, value, expected in written
            ],
            "removals": [
                {"metadataKey": key, "expectedValue": values(writer)[key]}
                for key in removed.split()
            ],
        }
        answer = writer.send("PUT", "/metadata/batch", body={"entities": [entity]})
        return answer.body["results"][0]

    assert edit(("x", "y", None))["code"] == "MetadataSchemaViolation"
    assert edit(("weight", "7", None))["status"] == 200
    assert values(writer) == {"weight": "7", "unit": "kg", "note": "none"}
    assert edit(("x", "y", None), removed="note")["status"] == 200
    assert edit(("note", "z", None))["status"] == 200  # it got no default again
    required = edit(removed="weight")
    assert required["errors"][0]["field"] == "removals.0.metadataKey"
    assert edit(("unit", "", "kg"), ("weight", "", "7"))["errors"][0]["field"] == (
        "metadata.1.metadataValue"
    )
