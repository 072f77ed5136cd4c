"""Metadata: its shape, pages and versions; records that are added, changed, removed, refused."""

from collections.abc import Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import InvalidInputError, TooLargeError, UnavailableError
from backend.core.metadata_values import VALUE_TYPES
from backend.core.objects import ObjectVersion
from backend.core.tables import Tables
from backend.core.transactions import Put, Write
from backend.domains.assets.service.commands import AssetService
from backend.domains.databases.models import UpdateDatabaseBody
from backend.domains.metadata.models import Entity, Record
from backend.domains.metadata.repository import item_of
from backend.domains.metadata.rules import (
    check_composite_keys,
    check_largest_row,
    check_object_key,
    check_snapshot_key,
)
from backend.spec.tables.assets import ASSET_FILE_METADATA_VERSIONS
from backend.spec.tables.metadata import ASSET_FILE_METADATA, FILE_ATTRIBUTES
from tests.factories.assets import ADMIN, NOON, asset_service, created_asset, created_database
from tests.factories.http import Client
from tests.factories.lifecycle import interrupt
from tests.factories.metadata import metadata_router, metadata_service
from tests.fakes.tables import MemoryTables
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

SCHEMA_FIELDS = (
    *("metadataSchemaName", "metadataSchemaField", "metadataSchemaValueType"),
    "metadataSchemaRequired",
    *("metadataSchemaSequence", "metadataSchemaDefaultValue", "metadataSchemaDependsOn"),
    *("metadataSchemaMultiFieldConflict", "metadataSchemaControlledListKeys"),
)


def test_metadata_of_an_asset_is_listed_with_no_schema_speaking_of_it(
    client: Client, assets: AssetService
) -> None:
    untyped = {"metadataKey": "n", "metadataValue": "NaN"}  # a string
    body = {"metadata": [record("weight", "12.5", "NUMBER"), untyped]}
    answer = send(client, "POST", body=body)
    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "totalItems": 2,
        "successCount": 2,
        "failureCount": 0,
        "successfulItems": ["weight", "n"],
        "failedItems": [],
        "message": "2 of 2 records were added",
        "timestamp": "2026-03-01T12:00:00.000000Z",
    }
    of = {"databaseId": "museum", "assetId": "statue"}
    schema = {**dict.fromkeys(SCHEMA_FIELDS), "metadataSchemaField": False}
    schema["metadataStored"] = True
    reply = send(client, "GET").body
    assert reply == {
        "metadata": [
            {**of, **record("n", "NaN"), **schema},
            {**of, **record("weight", "12.5", "number"), **schema},
        ],
        "restrictMetadataOutsideSchemas": False,
        "message": "2 records",
    }
    restricted = UpdateDatabaseBody(restrict_metadata_outside_schemas=True)
    assets.databases.update_database(ADMIN, "museum", restricted)
    assert send(client, "GET").body["restrictMetadataOutsideSchemas"] is True


def test_an_asset_its_files_and_their_attributes_have_rows_of_their_own(
    client: Client, tables: Tables
) -> None:
    send(client, "POST", body={"metadata": [record("k", "of the asset")]})
    add_to_file(client, record("k", "of the file"))
    add_to_file(client, record("k", "an attribute"), type="attribute")
    for path, kind, value in (
        ("/", "metadata", "of the asset"),
        ("/a/b.glb", "metadata", "of the file"),
        ("/a/b.glb", "attribute", "an attribute"),
    ):
        table = ASSET_FILE_METADATA if kind == "metadata" else FILE_ATTRIBUTES
        key = {f"{kind}Key": "k", "databaseId:assetId:filePath": f"museum:statue:{path}"}
        assert tables.get(table, key) == {
            **key,
            "databaseId:assetId": "museum:statue",
            f"{kind}Value": value,
            f"{kind}ValueType": "string",
        }
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
    assert all_keys(client, pageSize="3") == sorted(values(client))


def test_a_version_shows_what_was_kept_with_it(client: Client, tables: Tables) -> None:
    add(client, "now")
    partition = {"databaseId:assetId:assetVersionId": "museum:statue:0"}
    for key, name in (("/:then", "then"), ("/a/b.glb:of a file", "of a file")):
        place = {"type:filePath:metadataKey": f"metadata:{key}"}
        row = {**partition, **place, "databaseId:assetId": "museum:statue", **record(name)}
        tables.put_many(ASSET_FILE_METADATA_VERSIONS, [row])
    assert values(client, assetVersionId="0") == {"then": "v"}
    assert values(client, FILE, **on_file(), assetVersionId="0") == {"of a file": "v"}
    missing = send(client, "GET", query={"assetVersionId": "1"})
    assert (missing.status, missing.body["code"]) == (404, "AssetVersionNotFound")
    assert send(client, "GET", query={"assetVersionId": "0:x"}).status == 400


def test_what_is_over_a_transactions_bytes_is_written_in_several(client: Client) -> None:
    records = [record(f"k{n:02}", "x" * 390_000) for n in range(12)]
    assert send(client, "POST", body={"metadata": records}).body["successCount"] == 12
    assert all_keys(client) == [f"k{n:02}" for n in range(12)]


def test_keys_that_exist_fail_alone_also_if_another_adds_them_at_the_same_time(
    client: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(client, "a", "c")
    taken = Record(metadata_key="b", metadata_value="of another")
    item = item_of(Entity("museum", "statue"), taken)
    other = partial(tables.write, Put(table=ASSET_FILE_METADATA, item=item))
    interrupt(monkeypatch, type(tables), "transact", other)
    answer = add(client, "a", "b", "c", "d", "e")
    assert answer.status == 200
    assert answer.body["successfulItems"] == ["d", "e"]
    exists = [{"key": key, "error": "The key already exists"} for key in "abc"]
    assert sorted(answer.body["failedItems"], key=lambda item: item["key"]) == exists
    assert (answer.body["success"], answer.body["failureCount"]) == (True, 3)
    assert values(client)["b"] == "of another"
    again = add(client, "a").body
    assert (again["success"], again["message"]) == (False, "0 of 1 records were added")


def test_keys_that_others_change_all_the_time_fail_alone_if_a_part_is_written(
    client: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact = type(tables).transact

    def raced(self: Tables, writes: Sequence[Write]) -> None:
        for write in writes:
            if isinstance(write, Put) and write.item.get("metadataKey") == "k120":
                assert write.refused is not None
                raise write.refused
        transact(self, writes)

    monkeypatch.setattr(type(tables), "transact", raced)
    monkeypatch.setattr("backend.domains.metadata.service.writes._FIRST_PAUSE", 0)
    answer = add(client, *(f"k{n:03}" for n in range(130)))
    assert (answer.status, answer.body["success"]) == (200, True)
    written = answer.body["successfulItems"]
    assert written == all_keys(client)
    assert 0 < len(written) < 130
    assert {"k120"} <= {item["key"] for item in answer.body["failedItems"]}
    assert add(client, "k120").status == 409


def test_many_records_take_few_requests(
    client: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    transact = type(tables).transact

    def counted(self: Tables, writes: Sequence[Write]) -> None:
        sizes.append(len(writes))
        transact(self, writes)

    monkeypatch.setattr(type(tables), "transact", counted)
    keys = [f"k{number:03}" for number in range(120)]
    assert add(client, *keys).body["successCount"] == 120
    assert sizes == [100, 24]  # each with its entry and the count
    assert list(values(client)) == keys


def test_replace_all_removes_all_others_of_this_entity_only(client: Client) -> None:
    add(client, "a", "b")
    put = send(client, "PUT", body={"metadata": [record("b", "2", "number"), record("d", "new")]})
    assert put.body["successfulItems"] == ["b", "d"]
    assert values(client) == {"a": "v", "b": "2", "d": "new"}
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
    assert answer.body["failedItems"] == [{"key": "x", "error": "The key does not exist"}]
    assert values(client) == {"b": "v"}


def test_a_file_must_be_there_to_get_metadata(client: Client) -> None:
    for method in ("POST", "PUT"):
        body = {"metadata": [record("k")], **on_file(path="/no/such.glb")}
        answer = send(client, method, FILE, body=body)
        assert (answer.status, answer.body["code"]) == (404, "FileNotFound")
        assert "/no/such.glb" in answer.body["message"]
    assert values(client, FILE, **on_file(path="/no/such.glb")) == {}


def test_metadata_of_a_file_that_was_archived_can_only_be_removed(
    client: Client,
) -> None:
    add_to_file(client, record("k"))
    marker = ObjectVersion("statue/a/b.glb", "2", True, NOON, is_delete_marker=True)
    with patch.object(S3Objects, "head", return_value=marker):
        assert add_to_file(client, record("more")).status == 404
        answer = send(client, "DELETE", FILE, body={"metadataKeys": ["k"], **on_file()})
    assert answer.body["successfulItems"] == ["k"]


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


@pytest.fixture
def memory_client(objects: S3Objects) -> Client:
    """Over tables in memory: moto copies all tables for each transaction."""
    tables = MemoryTables()
    assets = asset_service(tables, objects)
    created_database(assets)
    created_asset(assets)
    return Client(metadata_router(metadata_service(assets, tables, objects)))


def test_a_key_that_no_version_could_keep_is_refused(client: Client, objects: S3Objects) -> None:
    path = "/" + "/".join(["x" * 240] * 4)
    objects.put("assetbucket", f"statue{path}", b"x", content_type="text/plain", metadata={})
    assert add_to_file(client, record("k" * 20), filePath=path).status == 200
    answer = add_to_file(client, record("k" * 200), filePath=path)
    assert (answer.status, answer.body["errors"][0]["field"]) == (400, "metadata.0.metadataKey")
    # an attribute is a string
    answer = add_to_file(client, record("n"), record("k", "1", "number"), type="attribute")
    field = answer.body["errors"][0]["field"]
    assert (answer.status, field) == (400, "metadata.1.metadataValueType")


def test_a_record_near_400_kb_is_too_large_above_and_stored_below(client: Client) -> None:
    body = {"metadata": [record("k"), record("big", "x" * 410_000)]}
    for method in ("POST", "PUT"):
        answer = send(client, method, body=body)
        assert answer.status == 413
        assert "metadata.1.metadataValue" in answer.body["message"]
    assert values(client) == {}
    assert add(client, "k").status == 200
    assert send(client, "POST", body={"metadata": [record("big", "x" * 400_000)]}).status == 200


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
    memory_client: Client,
) -> None:
    client = memory_client
    add(client, *(f"k{number}" for number in range(499)))
    two_more = add(client, "x", "y")
    assert (two_more.status, two_more.body["code"]) == (409, "TooManyRecords")
    assert "501" in two_more.body["message"]
    assert add(client, "x").status == 200
    assert add(client, *(f"more{number}" for number in range(200))).status == 409
    assert len(all_keys(client)) == 500
    assert send(client, "PUT", body={"metadata": [record("y")]}).status == 409
    assert send(client, "PUT", body={"metadata": [record("k3", "changed")]}).status == 200
    assert add(client, "x", "k3").body["failureCount"] == 2
    everything = [record(f"other{number}") for number in range(500)]
    body = {"metadata": everything, "updateType": "replace_all"}
    assert send(client, "PUT", body=body).body["successCount"] == 500
    assert set(all_keys(client)) == {item["metadataKey"] for item in everything}
    assert send(client, "DELETE", body={"metadataKeys": ["other7"]}).body["success"] is True
    assert add(client, "x").status == 200


def test_an_outage_after_a_part_of_a_request_fails_the_rest_key_by_key(
    memory_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = memory_client
    transact = MemoryTables.transact
    ups = iter([True, False, False])

    def failing(self: MemoryTables, writes: Sequence[Write]) -> None:
        if not next(ups, True):
            raise UnavailableError("DynamoDB does not answer")
        transact(self, writes)

    monkeypatch.setattr(MemoryTables, "transact", failing)
    keys = [f"k{number:03}" for number in range(150)]
    answer = add(client, *keys)
    assert answer.status == 200
    done, left = answer.body["successfulItems"], answer.body["failedItems"]
    assert done == all_keys(client) == keys[: len(done)]
    assert [item["key"] for item in left] == keys[len(done) :] != []
    assert add(client, "another").status == 503
    assert add(client, *keys).body["successCount"] == len(left)
    assert all_keys(client) == keys


def test_what_does_not_fit_a_key_or_an_item_names_its_field() -> None:
    check_composite_keys("db1", "a", "/" + "x" * 1017)
    with pytest.raises(InvalidInputError, match="filePath"):
        check_composite_keys("db1", "a", "/" + "x" * 1018)
    check_snapshot_key("metadata", "/a", "k" * 256, field="metadata.0.metadataKey")
    with pytest.raises(InvalidInputError, match=r"metadata\.0\.metadataKey"):
        check_snapshot_key("metadata", "/" + "x" * 800, "k" * 256, field="metadata.0.metadataKey")
    assert check_object_key("vault/a/", "/b/c.glb") == "vault/a/b/c.glb"
    with pytest.raises(InvalidInputError, match="filePath"):
        check_object_key("vault/", "/" + "x" * 1020)
    check_largest_row("notes", 409_600, field="value")
    with pytest.raises(TooLargeError, match="value: the record 'notes' has 409601 bytes"):
        check_largest_row("notes", 409_601, field="value")
