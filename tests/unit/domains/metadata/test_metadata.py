"""Metadata and attributes: their rules and routes, over tables and objects in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.aws.tables import DynamoTables
from backend.core.authorization import Secured
from backend.core.identity import Identity
from backend.core.metadata_values import VALUE_TYPES
from backend.core.objects import ObjectVersion
from backend.core.transactions import Write
from backend.domains.assets.repository import AssetNotFoundError
from backend.domains.assets.service import AssetService
from backend.domains.databases.models import UpdateDatabaseBody
from backend.domains.metadata import service as service_module
from backend.domains.metadata.models import Entity, NewRecord, Record
from backend.domains.metadata.repository import MetadataRepository
from backend.domains.metadata.routes import build_router
from backend.domains.metadata.service import MetadataService
from backend.spec.routes import Action, Route
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from tests.factories.assets import ADMIN, NOON, asset_service, created_asset, created_database
from tests.factories.http import Answer, Client

ASSET = "/database/{databaseId}/assets/{assetId}/metadata"
FILE = ASSET + "/file"
SCHEMA_FIELDS = (
    "metadataSchemaName",
    "metadataSchemaField",
    "metadataSchemaRequired",
    "metadataSchemaSequence",
    "metadataSchemaDefaultValue",
    "metadataSchemaDependsOn",
    "metadataSchemaMultiFieldConflict",
    "metadataSchemaControlledListKeys",
)


@pytest.fixture
def assets(tables: DynamoTables, objects: S3Objects) -> AssetService:
    service = asset_service(tables, objects)
    created_database(service)
    created_asset(service)
    objects.put("assetbucket", "statue/a/b.glb", b"x", content_type="model/gltf", metadata={})
    return service


@pytest.fixture
def service(tables: DynamoTables, objects: S3Objects, assets: AssetService) -> MetadataService:
    return metadata_service(assets, tables, objects)


def metadata_service(
    assets: AssetService, tables: DynamoTables, objects: S3Objects
) -> MetadataService:
    return MetadataService(
        metadata=MetadataRepository(tables),
        assets=assets,
        databases=assets.databases,
        objects=objects,
        clock=lambda: NOON,
    )


@pytest.fixture
def client(service: MetadataService) -> Client:
    return Client(build_router(service))


def send(client: Client, method: str, route: str = ASSET, **more: Any) -> Answer:
    parameters = {"databaseId": "museum", "assetId": "statue", **more.pop("parameters", {})}
    return client.send(
        method,
        route.format(**parameters),
        route=f"{method} {route}",
        parameters=parameters,
        **more,
    )


def record(key: str, value: str = "v", value_type: str = "string") -> dict[str, str]:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": value_type}


def add(client: Client, *keys: str, **more: Any) -> Answer:
    return send(client, "POST", body={"metadata": [record(key) for key in keys]}, **more)


def add_to_file(client: Client, *records: dict[str, str], **fields: str) -> Answer:
    body = {"metadata": records, "filePath": "/a/b.glb", "type": "metadata", **fields}
    return send(client, "POST", FILE, body=body)


def values(client: Client, route: str = ASSET, **query: str) -> dict[str, str]:
    answer = send(client, "GET", route, query=query)
    assert answer.status == 200, answer.body
    return {r["metadataKey"]: r["metadataValue"] for r in answer.body["metadata"]}


def all_keys(client: Client, **query: str) -> list[str]:
    """The keys of all pages; a page ends early at a megabyte."""
    found: list[str] = []
    while True:
        page = send(client, "GET", query=query).body
        found += [item["metadataKey"] for item in page["metadata"]]
        if "NextToken" not in page:
            return found
        query = {**query, "startingToken": page["NextToken"]}


def on_file(kind: str = "metadata", path: str = "/a/b.glb") -> dict[str, str]:
    return {"filePath": path, "type": kind}


def test_metadata_of_an_asset_is_listed_with_its_schema_fields_null(client: Client) -> None:
    answer = send(client, "POST", body={"metadata": [record("weight", "12.5", "NUMBER")]})
    assert (answer.status, answer.body) == (
        200,
        {
            "success": True,
            "totalItems": 1,
            "successCount": 1,
            "failureCount": 0,
            "successfulItems": ["weight"],
            "failedItems": [],
            "message": "1 of 1 records were added",
            "timestamp": "2026-03-01T12:00:00.000000Z",
        },
    )
    assert send(client, "GET").body == {
        "metadata": [
            {
                "databaseId": "museum",
                "assetId": "statue",
                **record("weight", "12.5", "number"),
                **dict.fromkeys(SCHEMA_FIELDS),
            }
        ],
        "restrictMetadataOutsideSchemas": False,
        "message": "1 records",
    }


def test_rows_are_as_the_data_model_has_them(client: Client, tables: DynamoTables) -> None:
    add(client, "weight")
    add_to_file(client, record("weight"))
    add_to_file(client, record("triangles"), type="attribute")
    rows = {
        "museum:statue:/": (ASSET_FILE_METADATA, "metadata", "weight"),
        "museum:statue:/a/b.glb": (ASSET_FILE_METADATA, "metadata", "weight"),
        "museum:statue:/a/b.glb ": (FILE_ATTRIBUTES, "attribute", "triangles"),
    }
    for sort_key, (table, name, key) in rows.items():
        stored = tables.get(
            table, {f"{name}Key": key, "databaseId:assetId:filePath": sort_key.strip()}
        )
        assert stored == {
            f"{name}Key": key,
            "databaseId:assetId:filePath": sort_key.strip(),
            "databaseId:assetId": "museum:statue",
            f"{name}Value": "v",
            f"{name}ValueType": "string",
        }


def test_an_asset_its_files_and_their_attributes_are_kept_apart(client: Client) -> None:
    send(client, "POST", body={"metadata": [record("k", "of the asset")]})
    add_to_file(client, record("k", "of the file"))
    add_to_file(client, record("k", "an attribute"), type="attribute")
    assert values(client) == {"k": "of the asset"}
    assert values(client, FILE, **on_file()) == {"k": "of the file"}
    assert values(client, FILE, **on_file("attribute")) == {"k": "an attribute"}
    assert values(client, FILE, **on_file(path="a/b.glb")) == {"k": "of the file"}
    listed = send(client, "GET", FILE, query=on_file()).body["metadata"][0]
    assert (listed["filePath"], listed["metadataSchemaName"]) == ("/a/b.glb", None)


def test_each_value_type_can_be_stored_and_read(client: Client) -> None:
    good = {
        "string": "any",
        "multiline_string": "two\nlines",
        "inline_controlled_list": "one",
        "number": "-1.5e10",
        "boolean": "True",
        "date": "2026-03-01T12:00:00Z",
        "xyz": '{"x": 1, "y": 2, "z": 3}',
        "wxyz": '{"w": 1, "x": 0, "y": 0, "z": 0}',
        "matrix4x4": "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]",
        "geopoint": '{"type": "Point", "coordinates": [7.5, 47.5]}',
        "geojson": '{"type": "FeatureCollection", "features": []}',
        "lla": '{"lat": 47.5, "long": 7.5, "alt": 400}',
        "json": '{"any": [1, null]}',
    }
    assert tuple(good) == VALUE_TYPES
    records = [record(kind, value, kind) for kind, value in good.items()]
    records += [record(f"empty {kind}", "", kind) for kind in good]
    assert send(client, "POST", body={"metadata": records}).body["successCount"] == 26
    assert values(client) == good | {f"empty {kind}": "" for kind in good}


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("metadata", {}),
    ("metadata", {"metadata": []}),
    ("metadata", {"metadata": record("k")}),
    ("metadata", {"metadata": [record(f"k{n}") for n in range(501)]}),
    ("metadata.0", {"metadata": ["k"]}),
    ("metadata.0.metadataKey", {"metadata": [record("")]}),
    ("metadata.0.metadataKey", {"metadata": [record("x" * 257)]}),
    ("metadata.0.metadataKey", {"metadata": [record("a\u0000b")]}),
    ("metadata.0.metadataKey", {"metadata": [{**record("k"), "metadataKey": 7}]}),
    ("metadata.1.metadataKey", {"metadata": [record("k"), record("k", "again")]}),
    ("metadata.0.metadataValue", {"metadata": [{**record("k"), "metadataValue": 7}]}),
    ("metadata.0.metadataValue", {"metadata": [{**record("k"), "metadataValue": None}]}),
    ("metadata.1.metadataValue", {"metadata": [record("k"), record("n", "NaN", "number")]}),
    ("metadata.0.metadataValue", {"metadata": [record("k", "1" * 39, "number")]}),
    ("metadata.0.metadataValueType", {"metadata": [record("k", "v", "text")]}),
    ("metadata.0.metadataValueType", {"metadata": [{**record("k"), "metadataValueType": 1}]}),
]


def test_a_wrong_record_is_refused_by_name(client: Client) -> None:
    for method in ("POST", "PUT"):
        for field, body in WRONG:
            answer = send(client, method, body=body)
            assert answer.status == 400, (method, body, answer.body)
            assert [error["field"] for error in answer.body["errors"]] == [field], body
    assert values(client) == {}


def test_a_wrong_path_or_kind_is_refused_by_name(client: Client) -> None:
    wrong: list[tuple[str, object]] = [
        ("filePath", "/"),
        ("filePath", "/a/../b.glb"),
        ("filePath", "/a//b.glb"),
        ("filePath", "/a/cafe\u0301.glb"),
        ("filePath", "/a/b\u0007.glb"),
        ("filePath", "/" + "/".join(["x" * 203] * 5)),
        ("type", "schema"),
    ]
    for field, value in wrong:
        fields = {**on_file(), field: value}
        answers = [
            send(client, "GET", FILE, query=fields),
            send(client, "POST", FILE, body={"metadata": [record("k")], **fields}),
            send(client, "PUT", FILE, body={"metadata": [record("k")], **fields}),
            send(client, "DELETE", FILE, body={"metadataKeys": ["k"], **fields}),
        ]
        for answer in answers:
            assert answer.status == 400, (field, value, answer.body)
            assert [error["field"] for error in answer.body["errors"]] == [field]
    missing = send(client, "GET", FILE).body["errors"]
    assert {error["field"] for error in missing} == {"filePath", "type"}


def test_an_attribute_is_a_string(client: Client) -> None:
    answer = add_to_file(client, record("n"), record("k", "1", "number"), type="attribute")
    assert (answer.status, answer.body["errors"][0]["field"]) == (
        400,
        "metadata.1.metadataValueType",
    )


def test_a_key_that_no_version_could_keep_is_refused(client: Client, objects: S3Objects) -> None:
    path = "/" + "/".join(["x" * 240] * 4)
    objects.put("assetbucket", f"statue{path}", b"x", content_type="text/plain", metadata={})
    assert add_to_file(client, record("k" * 20), filePath=path).status == 200
    answer = add_to_file(client, record("k" * 200), filePath=path)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "metadata.0.metadataKey")


def test_a_record_near_400_kb_is_too_large_above_and_stored_below(client: Client) -> None:
    body = {"metadata": [record("k"), record("big", "x" * 410_000)]}
    for method in ("POST", "PUT"):
        answer = send(client, method, body=body)
        assert answer.status == 413
        assert "metadata.1.metadataValue" in answer.body["message"]
    assert values(client) == {}
    assert add(client, "k").status == 200
    assert send(client, "POST", body={"metadata": [record("big", "x" * 400_000)]}).status == 200


def test_what_is_over_a_transactions_bytes_is_written_in_several(client: Client) -> None:
    records = [record(f"k{n:02}", "x" * 390_000) for n in range(12)]
    assert send(client, "POST", body={"metadata": records}).body["successCount"] == 12
    assert all_keys(client) == [f"k{n:02}" for n in range(12)]


def test_keys_that_exist_fail_alone(client: Client) -> None:
    add(client, "a", "c")
    answer = add(client, "a", "b", "c", "d")
    assert answer.status == 200
    assert answer.body["successfulItems"] == ["b", "d"]
    assert answer.body["failedItems"] == [
        {"key": "a", "error": "The key exists already"},
        {"key": "c", "error": "The key exists already"},
    ]
    assert (answer.body["success"], answer.body["failureCount"]) == (True, 2)
    again = add(client, "a").body
    assert (again["success"], again["message"]) == (False, "0 of 1 records were added")


def test_a_key_that_another_adds_at_the_same_time_fails_alone(
    client: Client, service: MetadataService, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact = DynamoTables.transact
    others = iter(["b", "c"])

    def raced(self: DynamoTables, writes: Sequence[Write]) -> None:
        other = next(others, None)
        if other is not None:
            taken = Record.model_validate(stored(other).model_dump())
            service.metadata.replace(Entity("museum", "statue"), [taken])
        transact(self, writes)

    monkeypatch.setattr(DynamoTables, "transact", raced)
    body = add(client, "a", "b", "c", "d").body
    assert (body["successfulItems"], body["failureCount"]) == (["a", "d"], 2)
    assert values(client)["b"] == "of another"


def test_many_records_take_few_requests(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    transact = DynamoTables.transact

    def counted(self: DynamoTables, writes: Sequence[Write]) -> None:
        sizes.append(len(writes))
        transact(self, writes)

    monkeypatch.setattr(DynamoTables, "transact", counted)
    keys = [f"k{number:03}" for number in range(120)]
    assert add(client, *keys).body["successCount"] == 120
    assert sizes == [100, 20]
    assert list(values(client)) == keys


def test_a_put_changes_what_is_there_and_adds_what_is_not(client: Client) -> None:
    add(client, "a", "b")
    body = {"metadata": [record("b", "2", "number"), record("c", "new")]}
    answer = send(client, "PUT", body=body)
    assert answer.body["successfulItems"] == ["b", "c"]
    assert values(client) == {"a": "v", "b": "2", "c": "new"}


def test_replace_all_removes_all_others_of_this_entity_only(client: Client) -> None:
    add(client, "a", "b")
    add_to_file(client, record("a"))
    body = {"metadata": [record("b", "kept"), record("c", "new")], "updateType": "replace_all"}
    assert send(client, "PUT", body=body).body["successCount"] == 2
    assert values(client) == {"b": "kept", "c": "new"}
    assert values(client, FILE, **on_file()) == {"a": "v"}
    wrong = send(client, "PUT", body={**body, "updateType": "append"})
    assert (wrong.status, wrong.body["errors"][0]["field"]) == (400, "updateType")


def test_keys_that_are_missing_fail_alone_when_removed(client: Client) -> None:
    add(client, "a", "b", "c")
    answer = send(client, "DELETE", body={"metadataKeys": ["a", "x", "c"]})
    assert answer.body["successfulItems"] == ["a", "c"]
    assert answer.body["failedItems"] == [{"key": "x", "error": "There is no such key"}]
    assert values(client) == {"b": "v"}


@pytest.mark.parametrize(
    ("field", "keys"),
    [
        ("metadataKeys", []),
        ("metadataKeys", "a"),
        ("metadataKeys.1", ["a", 7]),
        ("metadataKeys.1", ["a", "a"]),
        ("metadataKeys.0", [""]),
    ],
)
def test_wrong_keys_to_remove_are_refused_by_name(client: Client, field: str, keys: object) -> None:
    answer = send(client, "DELETE", body={"metadataKeys": keys})
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, field)


def test_an_entity_holds_so_many_records_at_the_most(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert service_module.MAX_RECORDS == 500
    monkeypatch.setattr(service_module, "MAX_RECORDS", 5)
    add(client, *(f"k{number}" for number in range(5)))
    more = add(client, "one more")
    assert (more.status, more.body["code"]) == (409, "TooManyRecords")
    assert send(client, "PUT", body={"metadata": [record("one more")]}).status == 409
    assert send(client, "PUT", body={"metadata": [record("k3", "changed")]}).status == 200
    assert add_to_file(client, record("of a file")).status == 200


def test_lists_are_paged_by_key(client: Client) -> None:
    keys = [f"k{number}" for number in range(7)]
    add(client, *reversed(keys))
    assert all_keys(client, pageSize="3") == keys


def test_the_database_tells_whether_schemas_restrict(client: Client, assets: AssetService) -> None:
    body = UpdateDatabaseBody(restrict_metadata_outside_schemas=True)
    assets.databases.update_database(ADMIN, "museum", body)
    assert send(client, "GET").body["restrictMetadataOutsideSchemas"] is True


def test_a_version_shows_what_was_kept_with_it(client: Client, tables: DynamoTables) -> None:
    add(client, "now")
    partition = {"databaseId:assetId:assetVersionId": "museum:statue:0"}
    kept = [("metadata:/:then", "then"), ("metadata:/a/b.glb:of a file", "of a file")]
    tables.put_many(
        ASSET_FILE_METADATA_VERSIONS,
        [
            {
                **partition,
                "type:filePath:metadataKey": key,
                "databaseId:assetId": "museum:statue",
                **record(name),
            }
            for key, name in kept
        ],
    )
    assert values(client, assetVersionId="0") == {"then": "v"}
    assert values(client, FILE, **on_file(), assetVersionId="0") == {"of a file": "v"}
    missing = send(client, "GET", query={"assetVersionId": "1"})
    assert (missing.status, missing.body["code"]) == (404, "AssetVersionNotFound")
    assert send(client, "GET", query={"assetVersionId": "0:x"}).status == 400


def test_a_file_must_be_there_to_get_metadata(client: Client, objects: S3Objects) -> None:
    for method in ("POST", "PUT"):
        body = {"metadata": [record("k")], **on_file(path="/no/such.glb")}
        answer = send(client, method, FILE, body=body)
        assert (answer.status, answer.body["code"]) == (404, "FileNotFound")
        assert "/no/such.glb" in answer.body["message"]
    assert values(client, FILE, **on_file(path="/no/such.glb")) == {}


def test_metadata_of_a_file_that_was_archived_can_only_be_removed(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_to_file(client, record("k"))
    marker = ObjectVersion("statue/a/b.glb", "2", True, NOON, is_delete_marker=True)

    def deleted(self: S3Objects, bucket: str, key: str) -> ObjectVersion:
        return marker

    monkeypatch.setattr(S3Objects, "head", deleted)
    assert add_to_file(client, record("more")).status == 404
    answer = send(client, "DELETE", FILE, body={"metadataKeys": ["k"], **on_file()})
    assert answer.body["successfulItems"] == ["k"]


def test_an_absent_asset_is_not_found(client: Client) -> None:
    nobody = {"assetId": "nobody"}
    answers = [
        send(client, "GET", parameters=nobody),
        add(client, "k", parameters=nobody),
        send(client, "PUT", body={"metadata": [record("k")]}, parameters=nobody),
        send(client, "DELETE", body={"metadataKeys": ["k"]}, parameters=nobody),
    ]
    assert {(a.status, a.body["code"]) for a in answers} == {(404, "AssetNotFound")}


def test_only_the_administrator_gets_in(service: MetadataService) -> None:
    stranger = Client(build_router(service), user_id="stranger")
    assert add(stranger, "k").status == 403
    assert send(stranger, "GET", FILE, query=on_file()).status == 403


@dataclass(frozen=True)
class Allowing:
    """The permission port of a caller who may do just these to every object."""

    actions: frozenset[str]

    def may_use(self, caller: Identity, route: Route) -> bool:
        return True

    def may(self, caller: Identity, action: Action, target: Secured) -> bool:
        return action in self.actions


@pytest.mark.parametrize("lacking", ["GET", "POST", "PUT", "DELETE"])
def test_each_verb_needs_its_right_and_replacing_all_needs_three(
    assets: AssetService, tables: DynamoTables, objects: S3Objects, lacking: str
) -> None:
    rights = frozenset({"GET", "POST", "PUT", "DELETE"} - {lacking})
    limited = AssetService(
        assets=assets.assets,
        databases=assets.databases,
        buckets=assets.buckets,
        tags=assets.tags,
        objects=objects,
        authorization=Allowing(rights),
        clock=assets.clock,
    )
    client = Client(
        build_router(metadata_service(limited, tables, objects)), authorization=Allowing(rights)
    )
    refused = 404 if lacking == "GET" else 403
    body = {"metadata": [record("k")]}
    needed = {
        "POST": (send(client, "POST", body=body), {"GET", "POST"}),
        "PUT": (send(client, "PUT", body=body), {"GET", "PUT"}),
        "DELETE": (send(client, "DELETE", body={"metadataKeys": ["k"]}), {"GET", "DELETE"}),
        "replace": (
            send(client, "PUT", body={**body, "updateType": "replace_all"}),
            {"GET", "PUT", "POST", "DELETE"},
        ),
    }
    for verb, (answer, rights_needed) in needed.items():
        expected = refused if lacking in rights_needed else 200
        assert answer.status == expected, (verb, lacking)


def test_the_service_asks_for_the_right_itself(
    service: MetadataService, stranger: Identity
) -> None:
    with pytest.raises(AssetNotFoundError):
        service.add_metadata(stranger, Entity("museum", "statue"), [stored("k")])


def stored(key: str) -> NewRecord:
    return NewRecord(metadata_key=key, metadata_value_type="string", metadata_value="of another")
