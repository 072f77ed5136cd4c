"""Making, reading, changing and deleting metadata schemas, and what is refused."""

from collections.abc import Sequence
from typing import Any

import pytest

from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.core.tables import Tables
from backend.core.transactions import Put, Write
from backend.domains.assets.service.commands import AssetService
from backend.domains.metadata_schemas.routes import build_router
from backend.spec.routes import Action
from backend.spec.tables.metadata import SCHEMA_SCOPES
from tests.factories.access import OnlyUser
from tests.factories.assets import created_database
from tests.factories.audit import entries
from tests.factories.http import Client
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


def test_a_schema_that_is_made_is_read_as_it_is_stored(client: Client) -> None:
    answer = create(
        client, field("weight", "NUMBER", required=True), metadataSchemaEntityType="ASSETmetadata"
    )
    schema_id = answer.body["metadataSchemaId"]
    assert (answer.status, answer.body) == (
        200,
        {
            "success": True,
            "message": "Metadata schema Measures was created",
            "metadataSchemaId": schema_id,
            "operation": "create",
            "timestamp": NOON,
        },
    )
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


def test_a_schema_is_changed_and_deleted(client: Client) -> None:
    schema_id = created(client, field("weight", "number", required=True))
    stored = one(client, "GET", schema_id).body
    changes = {"metadataSchemaId": schema_id, "schemaName": "Weights", "enabled": False}
    changed = client.send("PUT", SCHEMAS, body=changes)
    assert (changed.status, changed.body["operation"]) == (200, "update")
    assert one(client, "GET", schema_id).body == {
        **stored,
        "schemaName": "Weights",
        "enabled": False,
    }
    gone = one(client, "DELETE", schema_id, body={"confirmDelete": True})
    assert (gone.status, gone.body["operation"]) == (200, "delete")
    missing = one(client, "GET", schema_id)
    assert (missing.status, missing.body["code"]) == (404, "MetadataSchemaNotFound")
    assert one(client, "DELETE", schema_id, body={"confirmDelete": True}).status == 404
    assert client.send("PUT", SCHEMAS, body=changes).status == 404


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
    reader, query, counts = (
        Client(build_router(service)),
        {**narrowed, "pageSize": "2"},
        list[int](),
    )
    while len(counts) < 4:
        page = reader.send("GET", SCHEMAS, query=query).body
        counts.append(len(page["Items"]))
        if "NextToken" not in page:
            break
        query["startingToken"] = page["NextToken"]
    assert (counts[:2], sum(counts)) == ([2, 2], 5)


def test_a_page_of_schemas_ends_where_they_fill_a_reply(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ABC":
        created(client, schemaName=name)
    monkeypatch.setattr("backend.core.paging.MAX_BYTES_PER_PAGE", 1)
    assert len(client.send("GET", SCHEMAS).body["Items"]) == 1
    assert names(client) == ["A", "B", "C"]


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
    ("fields.fields.0.metadataFieldKeyName", {"fields": {"fields": [field("")]}}),
    ("fields.fields.0.metadataFieldKeyName", {"fields": {"fields": [field("x" * 257)]}}),
    ("fields.fields.1.metadataFieldKeyName", {"fields": {"fields": [field("a"), field("a")]}}),
    ("fields.fields.0.metadataFieldValueType", {"fields": {"fields": [field("a", "text")]}}),
    ("fields.fields.0.sequence", {"fields": {"fields": [field("a", sequence=-1)]}}),
    ("fields.fields.0.required", {"fields": {"fields": [field("a", required="perhaps")]}}),
    (
        "fields.fields.0.dependsOnFieldKeyName",
        {"fields": {"fields": [field("a", dependsOnFieldKeyName=["b"])]}},
    ),
    (
        "fields",
        {
            "fields": {
                "fields": [
                    field("a", dependsOnFieldKeyName=["b"]),
                    field("b", dependsOnFieldKeyName=["c"]),
                    field("c", dependsOnFieldKeyName=["b"]),
                ]
            }
        },
    ),
    ("fields", {"fields": {"fields": [field("a", dependsOnFieldKeyName=["a"])]}}),
    (
        "fields.fields.0.controlledListKeys",
        {"fields": {"fields": [field("a", "inline_controlled_list")]}},
    ),
    (
        "fields.fields.0.controlledListKeys",
        {"fields": {"fields": [field("a", controlledListKeys=["x"])]}},
    ),
    (
        "fields.fields.0.defaultMetadataFieldValue",
        {"fields": {"fields": [field("a", "number", defaultMetadataFieldValue="heavy")]}},
    ),
    (
        "fields.fields.0.defaultMetadataFieldValue",
        {
            "fields": {
                "fields": [
                    field(
                        "a",
                        "inline_controlled_list",
                        controlledListKeys=["x"],
                        defaultMetadataFieldValue="y",
                    )
                ]
            }
        },
    ),
    (
        "fields.fields.0.metadataFieldValueType",
        {
            "metadataSchemaEntityType": "fileAttribute",
            "fields": {"fields": [field("a", "number")]},
        },
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


def test_deleting_has_to_be_confirmed_and_named_by_its_database(
    client: Client, assets: AssetService
) -> None:
    created_database(assets, "garden")
    schema_id = created(client)
    assert one(client, "DELETE", schema_id, body={}).status == 400
    assert one(client, "DELETE", schema_id, body={"confirmDelete": False}).status == 400
    assert one(client, "DELETE", schema_id, "garden", body={"confirmDelete": True}).status == 404
    assert one(client, "GET", schema_id, "garden").status == 404
    assert one(client, "GET", schema_id).status == 200


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
    transact = type(tables).transact
    others = iter(["Theirs"])

    def raced(self: Tables, writes: Sequence[Write]) -> None:
        other = next(others, None)
        if other is not None:
            created(client, schemaName=other)
        transact(self, writes)

    monkeypatch.setattr(type(tables), "transact", raced)
    created(client, schemaName="Ours")
    scope = {"databaseId:metadataEntityType": "museum:assetMetadata"}
    found = tables.get(SCHEMA_SCOPES, scope)
    assert found is not None
    assert len(found["metadataSchemaIds"]) == 2
    assert names(client) == ["Ours", "Theirs"]


def test_each_change_of_a_schema_is_reported(client: Client, tables: Tables) -> None:
    schema_id = created(client)
    client.send("PUT", SCHEMAS, body={"metadataSchemaId": schema_id, "enabled": False})
    one(client, "DELETE", schema_id, body={"confirmDelete": True})
    found = [
        e["operation"] for e in entries(tables) if e["entity"] == f"metadataSchema:{schema_id}"
    ]
    assert sorted(found) == [
        "create_metadata_schema",
        "delete_metadata_schema",
        "update_metadata_schema",
    ]
