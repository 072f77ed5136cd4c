"""Adding, changing, replacing and removing metadata, each record by itself."""

from collections.abc import Sequence

import pytest

from backend.aws.objects import S3Objects
from backend.core.objects import ObjectVersion
from backend.core.tables import Tables
from backend.core.transactions import Put, Write
from backend.domains.metadata.models import Entity, Record
from backend.domains.metadata.repository.places import item_of
from backend.spec.tables.metadata import ASSET_FILE_METADATA
from tests.factories.assets import NOON
from tests.factories.http import Client
from tests.unit.domains.metadata.calls import (
    FILE,
    add,
    add_to_file,
    all_keys,
    on_file,
    record,
    send,
    stored,
    values,
)


def test_what_is_over_a_transactions_bytes_is_written_in_several(client: Client) -> None:
    records = [record(f"k{n:02}", "x" * 390_000) for n in range(12)]
    assert send(client, "POST", body={"metadata": records}).body["successCount"] == 12
    assert all_keys(client) == [f"k{n:02}" for n in range(12)]


def test_a_record_without_a_type_is_a_string(client: Client) -> None:
    body = {"metadata": [{"metadataKey": "k", "metadataValue": "NaN"}]}
    assert send(client, "POST", body=body).status == 200
    (found,) = send(client, "GET").body["metadata"]
    assert (found["metadataValue"], found["metadataValueType"]) == ("NaN", "string")


def test_keys_that_exist_fail_alone(client: Client) -> None:
    add(client, "a", "c")
    answer = add(client, "a", "b", "c", "d")
    assert answer.status == 200
    assert answer.body["successfulItems"] == ["b", "d"]
    assert answer.body["failedItems"] == [
        {"key": "a", "error": "The key already exists"},
        {"key": "c", "error": "The key already exists"},
    ]
    assert (answer.body["success"], answer.body["failureCount"]) == (True, 2)
    again = add(client, "a").body
    assert (again["success"], again["message"]) == (False, "0 of 1 records were added")


def test_a_key_that_another_adds_at_the_same_time_fails_alone(
    client: Client, tables: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    transact = type(tables).transact
    others = iter(["b", "c"])

    def raced(self: Tables, writes: Sequence[Write]) -> None:
        other = next(others, None)
        if other is not None:
            taken = Record.model_validate(stored(other).model_dump())
            item = item_of(Entity("museum", "statue"), taken)
            self.write(Put(table=ASSET_FILE_METADATA, item=item))
        transact(self, writes)

    monkeypatch.setattr(type(tables), "transact", raced)
    body = add(client, "a", "b", "c", "d").body
    assert (body["successfulItems"], body["failureCount"]) == (["a", "d"], 2)
    assert values(client)["b"] == "of another"


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
    assert answer.body["failedItems"] == [{"key": "x", "error": "The key does not exist"}]
    assert values(client) == {"b": "v"}


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
