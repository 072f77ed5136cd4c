"""Tables as declared in the template, on the real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from local.assembly import Resource
from local.clients import Clients, Credentials, Endpoints, connect
from local.engines.base import Options
from local.engines.fleet import ENGINES
from local.errors import AssemblyError
from local.iam.roles import Enforcement, Roles
from local.plan import Plan
from local.resources.base import Context
from local.resources.dynamodb import create_table
from local.state import StateFolder, tools_folder

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from local.plan import Object

_HASH: Object = {"AttributeName": "id", "KeyType": "HASH"}
_RANGE: Object = {"AttributeName": "sort", "KeyType": "RANGE"}
_INDEX: Object = {
    "IndexName": "byOther",
    "KeySchema": [{"AttributeName": "other", "KeyType": "HASH"}],
    "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]},
}
_LOCAL: Object = {
    "IndexName": "localOther",
    "KeySchema": [_HASH, {"AttributeName": "other", "KeyType": "RANGE"}],
    "Projection": {"ProjectionType": "KEYS_ONLY"},
}


def _attributes(*names: str) -> list[Object]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in names]


def _properties(**other: object) -> Object:
    declared: dict[str, object] = {
        "AttributeDefinitions": _attributes("id", "sort", "other"),
        "KeySchema": [_HASH, _RANGE],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [_INDEX],
        "LocalSecondaryIndexes": [_LOCAL],
        "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
        "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": True},
        **other,
    }
    return cast("Object", {k: v for k, v in declared.items() if v is not None})


def _table(properties: Object) -> Resource:
    return Resource("stack", "Table", "AWS::DynamoDB::Table", properties, (), None)


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Generator[Clients]:
    folder = tmp_path_factory.mktemp("tables")
    engine = ENGINES["dynamodb"].start(
        tools_folder(), folder, log=folder / "log", options=Options(durable=False)
    )
    engine.wait_healthy()
    url = engine.endpoint.url
    yield connect(Endpoints(url, url, url, url, url, url), Credentials("local", "local-secret"))
    engine.stop()


@pytest.fixture
def context(clients: Clients, tmp_path: Path) -> Generator[Context]:
    yield Context(
        clients=clients,
        state=StateFolder(tmp_path),
        plan=Plan(),
        roles=Roles(tmp_path / "iam", Enforcement()),
        assets={},
        install_layer=lambda path: path,
        register=lambda _: None,
        role_of=lambda reference: reference,
        invoke=lambda _, __: pytest.fail("no function is called"),
        response_url=lambda request: request,
        response=lambda _: None,
        search_endpoint="",
        api_url="",
        progress=lambda _: None,
    )
    for name in clients.dynamodb.list_tables().get("TableNames", []):
        clients.dynamodb.delete_table(TableName=name)


def test_a_table_is_all_that_the_template_declares(context: Context) -> None:
    created = create_table(context, _table(_properties()))

    table = context.clients.dynamodb.describe_table(TableName=created.ref)["Table"]
    (index,) = table.get("GlobalSecondaryIndexes", [])
    (local,) = table.get("LocalSecondaryIndexes", [])
    time_to_live = context.clients.dynamodb.describe_time_to_live(TableName=created.ref)
    assert created.ref == "stack-Table"
    assert created.attributes["StreamArn"] == table.get("LatestStreamArn")
    assert table.get("StreamSpecification") == {
        "StreamEnabled": True,
        "StreamViewType": "NEW_IMAGE",
    }
    assert index.get("Projection", {}).get("NonKeyAttributes") == ["b", "a"]
    assert local.get("Projection") == {"ProjectionType": "KEYS_ONLY"}
    assert time_to_live["TimeToLiveDescription"] == {
        "TimeToLiveStatus": "ENABLED",
        "AttributeName": "expires",
    }
    assert context.fresh == ["table stack-Table"]


def test_an_existing_table_that_matches_the_template_is_kept(
    context: Context,
) -> None:
    create_table(context, _table(_properties()))
    context.fresh.clear()
    swapped = {
        **_INDEX,
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]},
    }
    create_table(context, _table(_properties(GlobalSecondaryIndexes=[swapped])))

    assert context.fresh == []


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"StreamSpecification": {"StreamViewType": "KEYS_ONLY"}}, "other stream"),
        ({"StreamSpecification": None}, "other stream"),
        (
            {"GlobalSecondaryIndexes": [{**_INDEX, "Projection": {"ProjectionType": "ALL"}}]},
            "other global indexes",
        ),
        ({"LocalSecondaryIndexes": None}, "other local indexes"),
        ({"AttributeDefinitions": _attributes("id", "sort", "other", "more")}, "other attributes"),
        ({"KeySchema": [_HASH]}, "other keys"),
    ],
)
def test_a_table_that_differs_from_the_template_is_refused(
    context: Context, change: dict[str, object], part: str
) -> None:
    create_table(context, _table(_properties()))

    with pytest.raises(AssemblyError, match=f"stack/Table.*{part} than the template"):
        create_table(context, _table(_properties(**change)))


_FURTHER: Object = {**_INDEX, "IndexName": "bySort", "KeySchema": [{**_HASH, "AttributeName": "b"}]}


def test_an_existing_table_gets_the_declared_global_indexes_and_keeps_its_items(
    context: Context,
) -> None:
    client = context.clients.dynamodb
    created = create_table(context, _table(_properties()))
    item = {name: {"S": "x"} for name in ("id", "sort", "other", "b")}
    client.put_item(TableName=created.ref, Item=item)
    attributes = _attributes("id", "sort", "other", "b")
    for declared in ([_INDEX, _FURTHER], [_FURTHER], [_INDEX]):
        more = {"AttributeDefinitions": attributes} if _FURTHER in declared else {}
        create_table(context, _table(_properties(GlobalSecondaryIndexes=declared, **more)))
        table = client.describe_table(TableName=created.ref)["Table"]
        names = [element.get("IndexName") for element in table.get("GlobalSecondaryIndexes", [])]
        assert sorted(map(str, names)) == sorted(str(element["IndexName"]) for element in declared)
        for name in map(str, names):
            scanned = client.scan(TableName=created.ref, IndexName=name)
            assert scanned["Count"] == 1


def test_no_index_is_changed_beside_a_difference_that_is_refused(context: Context) -> None:
    created = create_table(context, _table(_properties()))
    attributes = _attributes("id", "sort", "other", "b")
    other = {**_INDEX, "Projection": {"ProjectionType": "ALL"}}
    for change in (
        {"GlobalSecondaryIndexes": [_FURTHER], "StreamSpecification": None},
        {"GlobalSecondaryIndexes": [_FURTHER, other]},
    ):
        with pytest.raises(AssemblyError, match="than the template"):
            create_table(context, _table(_properties(AttributeDefinitions=attributes, **change)))
        table = context.clients.dynamodb.describe_table(TableName=created.ref)["Table"]
        names = [item.get("IndexName") for item in table.get("GlobalSecondaryIndexes", [])]
        assert names == ["byOther"]
