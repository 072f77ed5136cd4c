"""Metadata schemas, metadata of databases, and what is removed, seen from the client."""

import json

import httpx
import pytest
from pydantic import JsonValue
from vitrine import (
    InvalidInputError,
    MetadataOwner,
    MetadataType,
    SchemaEntity,
    SchemaField,
    SchemaFields,
    Vitrine,
)

from tests.unit.client.fake_server import FakeServer
from tests.unit.client.shell import Shell

ID = "6f6a5d4c-0000-4000-8000-000000000001"
FIELDS: dict[str, JsonValue] = {
    "fields": [
        {
            "metadataFieldKeyName": "weight",
            "metadataFieldValueType": "number",
            "required": True,
            "dependsOnFieldKeyName": ["unit"],
        },
        {
            "metadataFieldKeyName": "unit",
            "metadataFieldValueType": "string",
            "required": False,
            "defaultMetadataFieldValue": "kg",
        },
    ]
}
SCHEMA: dict[str, JsonValue] = {
    "metadataSchemaId": ID,
    "databaseId": "museum",
    "metadataSchemaEntityType": "assetMetadata",
    "schemaName": "Measures",
    "fields": FIELDS,
    "enabled": True,
}


def answer(body: JsonValue) -> httpx.Response:
    return httpx.Response(200, json=body)


def done(operation: str) -> httpx.Response:
    return answer({"success": True, "metadataSchemaId": ID, "operation": operation})


def sent(server: FakeServer) -> JsonValue:
    """The body of the last request."""
    return json.loads(server.sent[-1].content)


def bulk(*keys: str, failed: tuple[str, ...] = ()) -> httpx.Response:
    refused: list[JsonValue] = [{"key": key, "error": "The key does not exist"} for key in failed]
    return answer({"success": True, "successfulItems": list(keys), "failedItems": refused})


def test_a_schema_is_sent_as_the_contract_writes_it(client: Vitrine, server: FakeServer) -> None:
    server.fail("POST", "^/metadataschema$", done("create"))
    weight = SchemaField(
        metadata_field_key_name="weight",
        metadata_field_value_type=MetadataType.NUMBER,
        required=True,
        depends_on_field_key_name=("unit",),
    )
    unit = SchemaField(metadata_field_key_name="unit", default_metadata_field_value="kg")
    made = client.metadata_schemas.create(
        "museum", SchemaEntity.ASSET, name="Measures", fields=SchemaFields.of(weight, unit)
    )
    assert made.metadata_schema_id == ID
    assert sent(server) == {
        "databaseId": "museum",
        "metadataSchemaEntityType": "assetMetadata",
        "schemaName": "Measures",
        "fields": FIELDS,
        "enabled": True,
    }


def test_schemas_are_listed_page_by_page_and_read(client: Vitrine, server: FakeServer) -> None:
    pages = [answer({"Items": [SCHEMA], "NextToken": "t"}), answer({"Items": [SCHEMA]})]
    server.fail("GET", "^/metadataschema$", *pages)
    assert [one.schema_name for one in client.metadata_schemas.list("museum")] == ["Measures"] * 2
    server.fail("GET", f"/database/museum/metadataSchema/{ID}$", answer(SCHEMA))
    assert client.metadata_schemas.get("museum", ID).fields.body() == FIELDS


def test_only_what_changes_is_sent_and_a_deletion_is_confirmed(
    client: Vitrine, server: FakeServer
) -> None:
    server.fail("PUT", "^/metadataschema$", done("update"))
    client.metadata_schemas.update(ID, enabled=False)
    assert sent(server) == {"metadataSchemaId": ID, "enabled": False}
    server.fail("DELETE", f"/metadataSchema/{ID}$", done("delete"))
    client.metadata_schemas.delete("museum", ID)
    assert sent(server) == {"confirmDelete": True}


def test_a_refused_schema_has_a_reason(client: Vitrine, server: FakeServer) -> None:
    errors: JsonValue = [{"field": "fields", "message": "a circle"}]
    body: JsonValue = {"message": "fields: a circle", "code": "InvalidInput", "errors": errors}
    server.fail("POST", "^/metadataschema$", httpx.Response(400, json=body))
    fields = SchemaFields.of(SchemaField(metadata_field_key_name="a"))
    with pytest.raises(InvalidInputError, match="a circle"):
        client.metadata_schemas.create("museum", SchemaEntity.ASSET, name="A", fields=fields)


def test_the_command_makes_lists_and_shows_schemas(shell: Shell, server: FakeServer) -> None:
    path = shell.folder / "fields.json"
    path.write_text(json.dumps(FIELDS))
    server.fail("POST", "^/metadataschema$", done("create"))
    made = ("metadata-schemas", "create", "museum", "assetMetadata", "Measures", str(path))
    assert shell.run(*made) == f"{ID}\n"
    server.fail("GET", "^/metadataschema$", answer({"Items": [SCHEMA]}))
    listed = shell.run("metadata-schemas", "list")
    assert listed == f"{ID}\tmuseum\tassetMetadata\tMeasures\tyes\t2\n"
    server.fail("GET", "/metadataSchema/", answer(SCHEMA))
    shown = shell.run("metadata-schemas", "show", "museum", ID)
    assert shown == "weight\tnumber\tyes\t\tunit\nunit\tstring\tno\tkg\t\n"
    server.fail("PUT", "^/metadataschema$", done("update"))
    shell.run("metadata-schemas", "update", ID, "--disable")
    assert sent(server) == {"metadataSchemaId": ID, "enabled": False}
    server.fail("DELETE", "/metadataSchema/", done("delete"))
    assert shell.run("metadata-schemas", "delete", "museum", ID, "--yes") == f"{ID}\n"


def test_a_file_of_fields_that_is_none_is_wrong_usage(shell: Shell) -> None:
    path = shell.folder / "fields.json"
    path.write_text('{"fields": [{}]}')
    for name in (path, shell.folder / "missing.json"):
        shell.run("metadata-schemas", "create", "museum", "assetMetadata", "A", str(name))
        assert shell.code == 2
    shell.run("metadata-schemas", "delete", "museum", ID)
    assert (shell.code, "--yes" in shell.err) == (2, True)


def test_metadata_of_a_database_is_set_read_and_removed(shell: Shell, server: FakeServer) -> None:
    path = "^/database/museum/metadata$"
    server.fail("PUT", path, bulk("owner"))
    assert shell.run("databases", "metadata", "set", "museum", "owner", "Ada") == "owner\n"
    row: JsonValue = {
        "metadataKey": "owner",
        "metadataValue": "Ada",
        "metadataValueType": "string",
    }
    server.fail("GET", path, answer({"metadata": [row]}))
    assert shell.run("databases", "metadata", "get", "museum") == "owner\tAda\tstring\n"
    server.fail("DELETE", path, bulk("owner", failed=("x",)))
    assert shell.run("databases", "metadata", "remove", "museum", "owner", "x") == "owner\n"
    assert (shell.code, "x: The key does not exist" in shell.err) == (1, True)


def test_attributes_of_a_file_are_removed(client: Vitrine, server: FakeServer) -> None:
    server.fail("DELETE", "/metadata/file$", bulk("a"))
    owner = MetadataOwner(database_id="d", asset_id="a", file_path="/b.glb", kind="attribute")
    assert client.metadata.remove(owner, ["a"]).successful_items == ("a",)
    body = {"metadataKeys": ["a"], "filePath": "/b.glb", "type": "attribute"}
    assert sent(server) == body
