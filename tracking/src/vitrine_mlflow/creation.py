"""Creates the table outside of a deployment, as `vitrine-mlflow create-table` does."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vitrine_mlflow.errors import translate_errors, wrong_state
from vitrine_mlflow.table import create_request

# Five minutes at most. The local engine is ready at once, so the waiter's pause is two seconds, not
# twenty.
_WAIT = {"Delay": 2, "MaxAttempts": 150}
Described = Mapping[str, Any]


def ensure_table(client: Any, name: str) -> bool:
    """Create a table, and wait until it can be used; returns False if there is one already.

    Raises:
        MlflowException: a table of this name has other keys or indexes, or a request failed.
    """
    region: str = client.meta.region_name
    with translate_errors(name, region, "CreateTable"):
        try:
            client.create_table(**create_request(name))
            created = True
        except client.exceptions.ResourceInUseException:
            created = False
    with translate_errors(name, region, "DescribeTable"):
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=_WAIT)
        table = client.describe_table(TableName=name)["Table"]
    if differences := list(_differences(create_request(name), table)):
        raise wrong_state(
            f"The table '{name}' exists in region '{region}', but not with the keys and indexes "
            f"of this version: {', '.join(differences)}. Choose another name."
        )
    return created


def _differences(wanted: Described, existing: Described) -> Iterator[str]:
    """Return what a table lacks or has differently; more indexes and attributes are allowed."""
    types = {
        attribute["AttributeName"]: attribute["AttributeType"]
        for attribute in existing["AttributeDefinitions"]
    }
    if _keys(wanted) != _keys(existing):
        yield "its primary key is another"
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        present = {index["IndexName"]: index for index in existing.get(kind) or ()}
        for index in wanted[kind]:
            name: str = index["IndexName"]
            if name not in present:
                yield f"{name} is missing"
                continue
            if _keys(present[name]) != _keys(index):
                yield f"the key of {name} is another"
            has, needs = present[name]["Projection"], index["Projection"]
            lacking = set(needs.get("NonKeyAttributes", ())) - set(has.get("NonKeyAttributes", ()))
            if lacking and has["ProjectionType"] != "ALL":
                yield f"{name} lacks attributes"
    for attribute in wanted["AttributeDefinitions"]:
        name, kind = attribute["AttributeName"], attribute["AttributeType"]
        if types.get(name, kind) != kind:
            yield f"{name} has the type {types[name]}"


def _keys(description: Described) -> list[tuple[str, str]]:
    schema: Sequence[Mapping[str, str]] = description["KeySchema"]
    return [(element["AttributeName"], element["KeyType"]) for element in schema]
