"""Metadata that is refused: by the field that is wrong, by size, by number."""

from collections.abc import Sequence
from typing import Any

import pytest

from backend.aws.objects import S3Objects
from backend.core.errors import UnavailableError
from backend.core.transactions import Write
from backend.domains.metadata.routes import build_router
from tests.factories.assets import asset_service, created_asset, created_database
from tests.factories.http import Client
from tests.factories.metadata import metadata_service
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
    objects: S3Objects,
) -> None:
    tables = MemoryTables()  # moto copies all tables for each transaction
    assets = asset_service(tables, objects)
    created_database(assets)
    created_asset(assets)
    client = Client(build_router(metadata_service(assets, tables, objects)))
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
    assert set(all_keys(client)) == {one["metadataKey"] for one in everything}
    assert send(client, "DELETE", body={"metadataKeys": ["other7"]}).body["success"] is True
    assert add(client, "x").status == 200


def test_an_outage_after_a_part_of_a_request_fails_the_rest_key_by_key(
    objects: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = MemoryTables()
    assets = asset_service(tables, objects)
    created_database(assets)
    created_asset(assets)
    client = Client(build_router(metadata_service(assets, tables, objects)))
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
    assert [one["key"] for one in left] == keys[len(done) :] != []
    assert add(client, "another").status == 503
    assert add(client, *keys).body["successCount"] == len(left)
    assert all_keys(client) == keys
