"""DynamoDB requests made from the declarations, and requests between others."""

from collections.abc import Callable
from typing import Any

from backend.spec.tables.model import KeyAttribute, Table
from tests.fakes.tables import MemoryTables


def before_next_write(tables: MemoryTables, request: Callable[[], object]) -> None:
    """Have another request come between what the next one reads and what it writes."""

    def interrupt(operation: str) -> None:
        if operation == "write":
            tables.before = lambda operation: None
            request()

    tables.before = interrupt


def create_table_request(table: Table, physical_name: str) -> Any:
    """The parameters of CreateTable for a declared table, stream included."""
    request: dict[str, Any] = {
        "TableName": physical_name,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": _schema(table.partition_key, table.sort_key),
        "AttributeDefinitions": _definitions(table),
    }
    for field, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        indexes = [
            {
                "IndexName": index.name,
                "KeySchema": _schema(index.partition_key or table.partition_key, index.sort_key),
                "Projection": {"ProjectionType": index.projection},
            }
            for index in table.indexes
            if index.is_local == is_local
        ]
        if indexes:
            request[field] = indexes
    if table.stream:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": table.stream}
    return request


def _schema(partition: KeyAttribute, sort: KeyAttribute | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": partition.name, "KeyType": "HASH"}]
    if sort is not None:
        schema.append({"AttributeName": sort.name, "KeyType": "RANGE"})
    return schema


def _definitions(table: Table) -> list[dict[str, str]]:
    keys = [table.partition_key, table.sort_key]
    for index in table.indexes:
        keys += [index.partition_key, index.sort_key]
    types = {key.name: key.type for key in keys if key is not None}
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in types.items()]
