"""Changes of several entities in one request: each has a result, and is whole or not at all."""

from collections.abc import Iterable
from itertools import count
from typing import Any

import pytest

from backend.core.tables import Tables
from backend.domains.metadata.models import AnyEntity, NewRecord
from backend.domains.metadata.service.commands import MetadataService
from tests.factories.assets import ADMIN
from tests.factories.audit import entries
from tests.factories.http import Client, Response
from tests.unit.domains.metadata.calls import FILE, record, send, values

ASSET = {"databaseId": "museum", "assetId": "statue"}
ON_FILE = {**ASSET, "filePath": "/a/b.glb"}


def new(key: str, value: str, expected: str | None = None, kind: str = "string") -> dict[str, Any]:
    more = {} if expected is None else {"expectedValue": expected}
    return {**record(key, value, kind), **more}


def edit(client: Client, *entities: dict[str, Any]) -> Response:
    sent: list[dict[str, Any]] = [{"metadata": [], **entity} for entity in entities]
    return client.send("PUT", "/metadata/batch", body={"entities": sent})


def results(answer: Response) -> list[tuple[int, str | None]]:
    assert answer.status == 200, answer.body
    return [(result["status"], result.get("code")) for result in answer.body["results"]]


def test_each_entity_has_a_result_and_none_is_written_by_half(
    client: Client, tables: Tables
) -> None:
    first = edit(
        client,
        {"databaseId": "museum", "metadata": [new("owner", "Ada")]},
        {**ASSET, "metadata": [new("year", "1889"), new("place", "hall")]},
        {**ON_FILE, "metadata": [new("scanner", "none")]},
        {**ON_FILE, "type": "attribute", "metadata": [new("lods", "3")]},
    )
    assert results(first) == [(200, None)] * 4
    assert first.body["results"][2]["filePath"] == "/a/b.glb"
    answer = edit(
        client,
        {**ASSET, "metadata": [new("year", "1890", "1888"), new("place", "court", "hall")]},
        {**ON_FILE, "metadata": [new("size", "x", kind="number")]},
        {
            **ON_FILE,
            "type": "attribute",
            "removals": [{"metadataKey": "lods", "expectedValue": "3"}],
        },
        {"databaseId": "museum", "assetId": "none-such", "metadata": [new("k", "v")]},
        {**ASSET, "filePath": "/none.txt", "metadata": [new("k", "v")]},
        {"assetLinkId": "none-such", "metadata": [new("k", "v")]},
        {"databaseId": "museum", "metadata": [new("owner", "Ada", "Bob"), new("more", "")]},
    )
    assert results(answer) == [
        (409, "MetadataChanged"),
        (400, "InvalidInput"),
        (200, None),
        (404, "AssetNotFound"),
        (404, "FileNotFound"),
        (404, "AssetLinkNotFound"),
        (200, None),  # what is stored already as requested is no conflict
    ]
    changed, wrong = answer.body["results"][:2]
    assert changed["message"] == "'year' has '1889', not the expected '1888'"
    assert changed["conflicts"] == [
        {"metadataKey": "year", "expectedValue": "1888", "storedValue": "1889"}
    ]
    assert wrong["errors"] == [
        {"field": "metadata.0.metadataValue", "message": "must be a decimal number"}
    ]
    assert (answer.body["success"], answer.body["successCount"]) == (False, 2)
    assert values(client) == {"year": "1889", "place": "hall"}
    assert values(client, FILE, filePath="/a/b.glb", type="attribute") == {}
    done = [(entry["operation"], entry["entity"]) for entry in entries(tables)]
    assert done.count(("update_asset_metadata", "asset:museum:statue")) == 1
    assert done.count(("update_file_metadata", "file:museum:statue:/a/b.glb")) == 3
    assert done.count(("update_database_metadata", "database:museum")) == 2


def test_a_value_is_changed_only_from_the_expected_one_and_a_request_may_be_repeated(
    client: Client,
) -> None:
    send(client, "POST", body={"metadata": [record("year", "1889"), record("gone", "x")]})
    removal = {"metadataKey": "gone", "expectedValue": "x"}
    sent = {**ASSET, "metadata": [new("year", "1890", "1889")], "removals": [removal]}
    assert results(edit(client, sent)) == results(edit(client, sent)) == [(200, None)]
    assert values(client) == {"year": "1890"}
    other = {**ASSET, "metadata": [new("year", "1891"), new("note", "x", "y")]}
    (result,) = edit(client, other).body["results"]
    assert result["message"] == "'year' has '1890', not the expected no value; 1 more keys differ"
    assert [conflict["storedValue"] for conflict in result["conflicts"]] == ["1890", None]
    send(client, "PUT", body={"metadata": [record("long", "é" * 1000)]})
    (result,) = edit(client, {**ASSET, "metadata": [new("long", "x", "y")]}).body["results"]
    assert len(result["conflicts"][0]["storedValue"]) == 200


def test_what_a_transaction_has_no_room_for_is_refused_as_a_whole(
    client: Client, service: MetadataService, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = [new(f"k{n}", "x" * 390_000) for n in range(10)]
    assert results(edit(client, {**ASSET, "metadata": large})) == [(413, "TooLarge")]
    many = [new(f"k{n}", "x") for n in range(90)]
    assert results(edit(client, {**ASSET, "metadata": many})) == [(200, None)]
    assert len(values(client)) == 90
    # Another request adds a key between the read and the write.
    read, reads = service.records.metadata.found, count()

    def read_before_other(entity: AnyEntity, keys: Iterable[str]) -> Any:
        stored = read(entity, keys)
        if next(reads) == 0:
            late = NewRecord(metadata_key="late", metadata_value="theirs")
            service.records.change_records(ADMIN, entity, [late])
        return stored

    monkeypatch.setattr(service.records.metadata, "found", read_before_other)
    answer = edit(client, {**ASSET, "metadata": [new("late", "mine"), new("k0", "y", "x")]})
    assert results(answer) == [(409, "MetadataChanged")]
    assert values(client)["k0"] == "x"


ONE = [new("k", "v")]
WRONG: list[tuple[Any, str]] = [
    ([], "entities"),
    ([{**ASSET, "filePath": f"/{n}", "metadata": ONE} for n in range(51)], "entities"),
    ([{**ASSET, "metadata": [new(f"k{n}", "v") for n in range(91)]}], "entities.0.metadata"),
    (
        [
            {**ASSET, "filePath": f"/{n}", "metadata": [new(f"k{m}", "v") for m in range(90)]}
            for n in range(12)
        ],
        "entities",
    ),
    ([{**ASSET}], "entities.0.metadata"),
    ([{"metadata": ONE}], "entities.0.databaseId"),
    ([{**ASSET, "assetLinkId": "one", "metadata": ONE}], "entities.0.databaseId"),
    ([{"assetLinkId": "one", "assetId": "statue", "metadata": ONE}], "entities.0.assetId"),
    ([{"databaseId": "museum", "filePath": "/a", "metadata": ONE}], "entities.0.filePath"),
    ([{**ASSET, "type": "attribute", "metadata": ONE}], "entities.0.type"),
    ([{**ASSET, "metadata": ONE}, {**ASSET, "metadata": ONE}], "entities.1"),
    ([{**ON_FILE, "metadata": ONE}, {**ON_FILE, "type": "metadata", "removals": [
        {"metadataKey": "k", "expectedValue": ""}]}], "entities.1"),
    ([{**ASSET, "metadata": [{"metadataKey": "k"}]}], "entities.0.metadata.0.metadataValue"),
    ([{**ASSET, "removals": [{"metadataKey": "k"}]}], "entities.0.removals.0.expectedValue"),
    ([{**ASSET, "metadata": ONE, "colour": 1}], "entities.0.colour"),
    *(
        ([{**ASSET, "filePath": path, "metadata": ONE}], "entities.0.filePath")
        for path in ("/../x", "/a//b", "/" + "a" * 256)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("entities", "field"), WRONG)
def test_a_request_that_is_wrong_as_a_whole_changes_nothing(
    client: Client, tables: Tables, entities: Any, field: str
) -> None:
    before = len(entries(tables))
    answer = edit(client, *entities)
    assert answer.status == 400, answer.body
    assert field in {error["field"] for error in answer.body["errors"]}
    assert len(entries(tables)) == before


def test_a_wrong_key_is_that_of_its_entity(client: Client) -> None:
    removal = {"metadataKey": "k", "expectedValue": "v"}
    fact = {"metadataKey": "fact_triangles", "expectedValue": "1"}
    answer = edit(
        client,
        {**ASSET, "metadata": ONE, "removals": [{**removal, "metadataKey": "other"}, removal]},
        {**ON_FILE, "type": "attribute", "removals": [fact]},
        {**ON_FILE, "metadata": [new("a", "v"), new("a", "w")]},
        {"databaseId": "museum", "metadata": [new("a\u200b", "v")]},
    )
    assert results(answer) == [(400, "InvalidInput")] * 4
    fields = [result["errors"][0]["field"] for result in answer.body["results"]]
    assert fields == [
        "removals.1.metadataKey",
        "removals.0.metadataKey",
        "metadata.1.metadataKey",
        "metadata.0.metadataKey",
    ]
    (result,) = edit(client, {"databaseId": "museum", "removals": [removal] * 2}).body["results"]
    assert result["errors"][0]["field"] == "removals.1.metadataKey"
