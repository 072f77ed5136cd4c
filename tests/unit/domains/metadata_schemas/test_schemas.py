"""Making, reading, changing and deleting metadata schemas, and what is refused."""

from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Put
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata_schemas.routes import build_router
from backend.spec.routes import Action
from backend.spec.tables.metadata import SCHEMA_SCOPES
from tests.factories.access import OnlyUser
from tests.factories.assets import created_database
from tests.factories.audit import entries
from tests.factories.http import Client
from tests.factories.lifecycle import interrupt
from tests.factories.metadata import schema_service
from tests.unit.domains.metadata_schemas.calls import (
    SCHEMAS,
    create,
    created,
    field,
    names,
    one,
    schema_body,
)

NOON = "2026-03-01T12:00:00.000000Z"
LIST = "inline_controlled_list"


def test_a_schema_that_is_made_is_read_as_it_is_stored(client: Client) -> None:
    answer = create(
        client, field("weight", "NUMBER", required=True), metadataSchemaEntityType="ASSETmetadata"
    )
    schema_id = answer.body["metadataSchemaId"]
    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "message": "Metadata schema Measures was created",
        "metadataSchemaId": schema_id,
        "operation": "create",
        "timestamp": NOON,
    }
    assert one(client, "GET", schema_id).body == {
        "metadataSchemaId": schema_id,
        "databaseId": "museum",
        "metadataSchemaEntityType": "assetMetadata",
        "schemaName": "Measures",
        "fields": {"fields": [field("weight", "number", required=True)]},
        "enabled": True,
        "dateCreated": NOON,
        "dateModified": NOON,
        "createdBy": "admin",
        "modifiedBy": "admin",
    }


def test_a_schema_is_changed_and_deleted(
    client: Client, assets: AssetService, tables: Tables
) -> None:
    created_database(assets, "garden")
    schema_id = created(client, field("weight", "number", required=True))
    stored = one(client, "GET", schema_id).body
    changes = {"metadataSchemaId": schema_id, "schemaName": "Weights", "enabled": False}
    changed = client.send("PUT", SCHEMAS, body=changes)
    assert (changed.status, changed.body["operation"]) == (200, "update")
    after = {**stored, "schemaName": "Weights", "enabled": False}
    assert one(client, "GET", schema_id).body == after
    for body in ({}, {"confirmDelete": False}):
        assert one(client, "DELETE", schema_id, body=body).status == 400
    confirmed = {"confirmDelete": True}
    assert one(client, "DELETE", schema_id, "garden", body=confirmed).status == 404
    assert one(client, "GET", schema_id, "garden").status == 404
    gone = one(client, "DELETE", schema_id, body=confirmed)
    assert (gone.status, gone.body["operation"]) == (200, "delete")
    missing = one(client, "GET", schema_id)
    assert (missing.status, missing.body["code"]) == (404, "MetadataSchemaNotFound")
    assert one(client, "DELETE", schema_id, body=confirmed).status == 404
    assert client.send("PUT", SCHEMAS, body=changes).status == 404
    entity = f"metadataSchema:{schema_id}"
    operations = {entry["operation"] for entry in entries(tables) if entry["entity"] == entity}
    assert operations == {f"{verb}_metadata_schema" for verb in ("create", "update", "delete")}


def test_schemas_are_listed_by_database_and_type(client: Client, assets: AssetService) -> None:
    created_database(assets, "garden")
    created(client, schemaName="A")
    created(client, schemaName="B", metadataSchemaEntityType="fileMetadata")
    created(client, schemaName="C", databaseId="GLOBAL")
    created(client, schemaName="D", databaseId="garden")
    assert names(client) == ["A", "B", "C", "D"]
    assert names(client, pageSize="1") == ["A", "B", "C", "D"]
    assert names(client, databaseId="museum", pageSize="1") == ["A", "B"]
    assert names(client, metadataEntityType="assetmetadata", pageSize="1") == ["A", "C", "D"]
    assert names(client, databaseId="museum", metadataEntityType="fileMetadata") == ["B"]
    assert client.send("GET", SCHEMAS, query={"metadataEntityType": "x"}).status == 400
    assert client.send("GET", SCHEMAS, query={"databaseId": "a#b"}).status == 400
    with patch("backend.core.paging.MAX_BYTES_PER_PAGE", 1):  # a page ends before it is too large
        assert len(client.send("GET", SCHEMAS).body["Items"]) == 1
        assert names(client) == ["A", "B", "C", "D"]


class DraftsOnly(OnlyUser):
    """Sees schemas only that are drafts."""

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return target.fields["metadataSchemaName"] == "Draft"


@pytest.mark.parametrize(
    "narrowed",
    [{}, {"databaseId": "museum"}, {"metadataEntityType": "assetMetadata"}],
)
def test_pages_of_schemas_are_full_whatever_is_hidden_between_them(
    client: Client, assets: AssetService, tables: Tables, narrowed: dict[str, str]
) -> None:
    for number in range(15):
        created(client, schemaName="Draft" if number % 3 == 0 else f"Other {number}")
    service = schema_service(assets, tables, authorization=DraftsOnly())
    pages = Client(build_router(service)).pages(SCHEMAS, query={**narrowed, "pageSize": "2"})
    counts = [len(page["Items"]) for page in pages]
    assert (counts[:2], sum(counts), len(counts) < 5) == ([2, 2], 5, True)


def of(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Changes of a schema: its fields, and more."""
    return {"fields": {"fields": list(fields)}, **more}


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("databaseId", {"databaseId": "no"}),
    ("databaseId", {"databaseId": "elsewhere"}),
    ("databaseId", {"databaseId": "global"}),
    ("metadataSchemaEntityType", {"metadataSchemaEntityType": "asset"}),
    ("schemaName", {"schemaName": "a/b"}),
    ("schemaName", {"schemaName": "x" * 257}),
    ("fields.fields", {"fields": {"fields": []}}),
    ("fields", {"fields": [field("k")]}),
    ("fields.fields", {"fields": {"fields": [field(f"k{n}") for n in range(501)]}}),
    ("fields.fields.0.metadataFieldKeyName", of(field(""))),
    ("fields.fields.0.metadataFieldKeyName", of(field("x" * 257))),
    ("fields.fields.1.metadataFieldKeyName", of(field("a"), field("a"))),
    ("fields.fields.0.metadataFieldValueType", of(field("a", "text"))),
    ("fields.fields.0.sequence", of(field("a", sequence=-1))),
    ("fields.fields.0.required", of(field("a", required="perhaps"))),
    ("fields.fields.0.dependsOnFieldKeyName", of(field("a", dependsOnFieldKeyName=["b"]))),
    ("fields", of(*(field(a, dependsOnFieldKeyName=[b]) for a, b in ("ab", "bc", "cb")))),
    ("fields", of(field("a", dependsOnFieldKeyName=["a"]))),
    ("fields.fields.0.controlledListKeys", of(field("a", LIST))),
    ("fields.fields.0.controlledListKeys", of(field("a", controlledListKeys=["x"]))),
    (
        "fields.fields.0.defaultMetadataFieldValue",
        of(field("a", "number", defaultMetadataFieldValue="heavy")),
    ),
    (
        "fields.fields.0.defaultMetadataFieldValue",
        of(field("a", LIST, controlledListKeys=["x"], defaultMetadataFieldValue="y")),
    ),
    (
        "fields.fields.0.metadataFieldValueType",
        of(field("a", "number"), metadataSchemaEntityType="fileAttribute"),
    ),
    ("fileKeyTypeRestriction", {"fileKeyTypeRestriction": ".glb"}),
    (
        "fileKeyTypeRestriction",
        {"metadataSchemaEntityType": "fileMetadata", "fileKeyTypeRestriction": "glb"},
    ),
    ("enabled", {"enabled": "perhaps"}),
]


@pytest.mark.parametrize(("where", "change"), WRONG, ids=lambda value: str(value)[:60])
def test_a_wrong_schema_is_refused_by_name(
    client: Client, where: str, change: dict[str, Any]
) -> None:
    answer = client.send("POST", SCHEMAS, body=schema_body(**change))
    assert answer.status == 400, answer.body
    assert [error["field"] for error in answer.body["errors"]] == [where]
    assert names(client) == []


def test_each_part_of_a_schema_that_must_be_there_is(client: Client) -> None:
    for name in ("databaseId", "metadataSchemaEntityType", "schemaName", "fields"):
        body = schema_body()
        del body[name]
        answer = client.send("POST", SCHEMAS, body=body)
        assert (answer.status, answer.body["errors"][0]["field"]) == (400, name)
    assert client.send("PUT", SCHEMAS, body={"schemaName": "x"}).status == 400


def test_a_schema_that_is_too_large_for_writes_to_read_is_refused(client: Client) -> None:
    keys = [f"{'x' * 240}{number}" for number in range(300)]
    many = field("a", "inline_controlled_list", controlledListKeys=keys)
    answer = create(client, many)
    assert (answer.status, answer.body["code"]) == (413, "TooLarge")
    assert "fields" in answer.body["message"]


def test_a_change_is_checked_as_a_whole_and_changes_nothing_if_it_is_refused(
    client: Client,
) -> None:
    schema_id = created(client, field("a", "number"))
    before = one(client, "GET", schema_id).body
    circle = {"fields": [field("a", dependsOnFieldKeyName=["a"])]}
    for change in ({"fields": circle}, {"fileKeyTypeRestriction": ".glb"}, {}):
        answer = client.send("PUT", SCHEMAS, body={"metadataSchemaId": schema_id, **change})
        assert answer.status == 400, change
    assert one(client, "GET", schema_id).body == before


def test_only_the_administrator_gets_at_schemas(
    client: Client, assets: AssetService, tables: Tables
) -> None:
    schema_id = created(client)
    stranger = Client(build_router(schema_service(assets, tables)), user_id="stranger")
    assert create(stranger).status == 403
    assert one(stranger, "GET", schema_id).status == 403


def test_a_scope_holds_a_hundred_schemas_and_a_deletion_makes_room(
    client: Client, tables: Tables
) -> None:
    schema_id = created(client)
    scope = {"databaseId:metadataEntityType": "museum:assetMetadata"}
    others = [f"other{number}" for number in range(99)]
    row = {**scope, "metadataSchemaIds": [schema_id, *others], "revision": 5}
    tables.write(Put(table=SCHEMA_SCOPES, item=row))
    full = create(client)
    assert (full.status, full.body["code"]) == (409, "TooManyMetadataSchemas")
    assert one(client, "DELETE", schema_id, body={"confirmDelete": True}).status == 200
    created(client)


def test_two_who_make_schemas_at_once_both_get_theirs(
    client: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = partial(created, client, schemaName="Theirs")
    interrupt(monkeypatch, type(tables), "transact", theirs)
    created(client, schemaName="Ours")
    scope = tables.get(SCHEMA_SCOPES, {"databaseId:metadataEntityType": "museum:assetMetadata"})
    assert scope is not None
    assert len(scope["metadataSchemaIds"]) == 2
    assert names(client) == ["Ours", "Theirs"]
