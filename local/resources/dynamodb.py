"""DynamoDB tables: created as declared; an existing table must match its declaration."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Literal, cast

from pydantic import Field, JsonValue

from local import arns
from local.resources.base import Context, Created, Properties, parse, refusal

if TYPE_CHECKING:
    from collections.abc import Collection

    from mypy_boto3_dynamodb.type_defs import (
        CreateTableInputTypeDef,
        TableDescriptionTypeDef,
        UpdateTableInputTypeDef,
    )

    from local.assembly import Resource

Throughput = dict[str, int]
_POLL_SECONDS = 0.05


class Attribute(Properties):
    """An attribute that a key uses."""

    attribute_name: str
    attribute_type: Literal["S", "N", "B"]


class Key(Properties):
    """A part of a key."""

    attribute_name: str
    key_type: Literal["HASH", "RANGE"]


class Projection(Properties):
    """The attributes of an index besides the keys."""

    projection_type: Literal["ALL", "KEYS_ONLY", "INCLUDE"]
    non_key_attributes: tuple[str, ...] = ()


class Index(Properties):
    """A local or global index."""

    no_effect = "ContributorInsightsSpecification OnDemandThroughput"

    index_name: str
    key_schema: list[Key]
    projection: Projection
    provisioned_throughput: Throughput | None = None


class StreamSpecification(Properties):
    """The content of a change record."""

    stream_view_type: Literal["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]


class Encryption(Properties):
    """Encryption settings.

    The engine does not encrypt; the key determines the permissions that callers need.
    """

    no_effect = "SSEEnabled SSEType"

    kms_master_key_id: str | None = Field(default=None, alias="KMSMasterKeyId")


class TimeToLive(Properties):
    """The attribute with the time after which an item may be deleted."""

    attribute_name: str
    enabled: bool


class Table(Properties):
    """`AWS::DynamoDB::Table`; the engine has neither backups, encryption, classes nor tags."""

    no_effect = (
        "ContributorInsightsSpecification DeletionProtectionEnabled OnDemandThroughput "
        "PointInTimeRecoverySpecification TableClass Tags"
    )

    attribute_definitions: list[Attribute]
    key_schema: list[Key]
    table_name: str | None = None
    billing_mode: Literal["PAY_PER_REQUEST", "PROVISIONED"] = "PROVISIONED"
    provisioned_throughput: Throughput | None = None
    global_secondary_indexes: tuple[Index, ...] = ()
    local_secondary_indexes: tuple[Index, ...] = ()
    stream_specification: StreamSpecification | None = None
    time_to_live_specification: TimeToLive | None = None
    sse_specification: Encryption | None = Field(default=None, alias="SSESpecification")


def create_table(context: Context, resource: Resource) -> Created:
    """Create the table, or verify the existing one, except for its global indexes.

    Raises:
        AssemblyError: the existing table differs from the template.
    """
    table = parse(Table, resource)
    name = table.table_name or arns.physical_name(resource.stack, resource.logical_id, limit=255)
    client = context.clients.dynamodb
    try:
        description = client.describe_table(TableName=name)["Table"]
    except client.exceptions.ResourceNotFoundException:
        description = client.create_table(**_request(name, table))["TableDescription"]
        context.fresh.append(f"table {name}")
    else:
        _verify(resource, table, description, besides=_new_indexes(table, description))
        description = _update_indexes(context, table, description)
        _verify(resource, table, description)
    context.stateful.append(f"table {name}")
    _set_time_to_live(context, name, table)
    table_arn = arns.arn("dynamodb", f"table/{name}")
    if table.sse_specification:
        context.roles.record_encryption_key(table_arn, table.sse_specification.kms_master_key_id)
    attributes: dict[str, JsonValue] = {"Arn": table_arn}
    if table.stream_specification:
        attributes["StreamArn"] = description.get("LatestStreamArn")
    return Created(name, attributes)


def _request(name: str, table: Table) -> CreateTableInputTypeDef:
    request = _declared(table)
    request["TableName"] = name
    request["BillingMode"] = table.billing_mode
    if table.provisioned_throughput:
        request["ProvisionedThroughput"] = table.provisioned_throughput
    if table.stream_specification:
        request["StreamSpecification"] = {
            "StreamEnabled": True,
            "StreamViewType": table.stream_specification.stream_view_type,
        }
    return cast("CreateTableInputTypeDef", request)


def _declared(table: Table) -> dict[str, object]:
    shape: dict[str, object] = {
        "AttributeDefinitions": [
            attribute.model_dump(by_alias=True) for attribute in table.attribute_definitions
        ],
        "KeySchema": [key.model_dump(by_alias=True) for key in table.key_schema],
    }
    if table.global_secondary_indexes:
        shape["GlobalSecondaryIndexes"] = [
            _index(index) for index in table.global_secondary_indexes
        ]
    if table.local_secondary_indexes:
        shape["LocalSecondaryIndexes"] = [_index(index) for index in table.local_secondary_indexes]
    return shape


def _index(index: Index) -> dict[str, object]:
    kept = {"index_name", "key_schema", "projection", "provisioned_throughput"}
    shape = index.model_dump(by_alias=True, include=kept, exclude_none=True)
    if not index.projection.non_key_attributes:
        del shape["Projection"]["NonKeyAttributes"]
    return shape


def _update_indexes(
    context: Context, table: Table, description: TableDescriptionTypeDef
) -> TableDescriptionTypeDef:
    """Delete the global indexes that are no longer declared, and create new ones, one at a time."""
    client, name = context.clients.dynamodb, str(description.get("TableName"))
    declared = {index.index_name: index for index in table.global_secondary_indexes}
    definitions = _declared(table)["AttributeDefinitions"]
    new = _new_indexes(table, description)
    changes: list[dict[str, object]] = [
        *({"Delete": {"IndexName": removed}} for removed in sorted(new - declared.keys())),
        *({"Create": _index(index)} for key, index in declared.items() if key in new),
    ]
    for change in changes:
        request = {
            "TableName": name,
            "AttributeDefinitions": definitions,
            "GlobalSecondaryIndexUpdates": [change],
        }
        client.update_table(**cast("UpdateTableInputTypeDef", request))
        description = _settled(context, name)
        context.progress(f"changed an index of the table {name}")
    return description


def _settled(context: Context, name: str) -> TableDescriptionTypeDef:
    """Wait until no index of the table is being created or deleted."""
    while True:
        description = context.clients.dynamodb.describe_table(TableName=name)["Table"]
        states = {
            index.get("IndexStatus") for index in description.get("GlobalSecondaryIndexes", [])
        }
        if description.get("TableStatus") == "ACTIVE" and states <= {"ACTIVE"}:
            return description
        threading.Event().wait(_POLL_SECONDS)


def _new_indexes(table: Table, description: TableDescriptionTypeDef) -> set[str]:
    """Return the names of the global indexes to create or delete."""
    existing = {
        str(index.get("IndexName")) for index in description.get("GlobalSecondaryIndexes", [])
    }
    return existing ^ {index.index_name for index in table.global_secondary_indexes}


def _verify(
    resource: Resource,
    table: Table,
    description: TableDescriptionTypeDef,
    *,
    besides: Collection[str] = (),
) -> None:
    """Reject a table that differs in more than the global indexes of these names."""
    stream = table.stream_specification
    declared: dict[str, object] = {
        "attributes": sorted(
            (a.attribute_name, a.attribute_type) for a in table.attribute_definitions
        ),
        "keys": [(k.attribute_name, k.key_type) for k in table.key_schema],
        "global indexes": sorted(_comparable_index(i) for i in table.global_secondary_indexes),
        "local indexes": sorted(_comparable_index(i) for i in table.local_secondary_indexes),
        "stream": stream.stream_view_type if stream else None,
    }
    existing = _comparable_existing(description)
    if besides:
        for facts in (declared, existing):
            del facts["attributes"]  # includes those of the indexes
            indexes = cast("list[tuple[object, ...]]", facts["global indexes"])
            facts["global indexes"] = [index for index in indexes if index[0] not in besides]
    for part, expected in declared.items():
        if existing[part] != expected:
            raise refusal(
                resource,
                f"the table in this state folder has other {part} than the template"
                f" ({existing[part]} instead of {expected}); `reset` removes the state",
            )


def _comparable_index(index: Index) -> tuple[object, ...]:
    keys = tuple((k.attribute_name, k.key_type) for k in index.key_schema)
    projection = index.projection
    return (
        index.index_name,
        keys,
        projection.projection_type,
        tuple(sorted(projection.non_key_attributes)),
    )


def _comparable_existing(description: TableDescriptionTypeDef) -> dict[str, object]:
    stream = description.get("StreamSpecification", {"StreamEnabled": False})

    def indexes(value: object) -> list[tuple[object, ...]]:
        kept = {"IndexName", "KeySchema", "Projection"}
        entries = cast("list[dict[str, object]]", value or [])
        parsed = [
            Index.model_validate({k: v for k, v in entry.items() if k in kept}) for entry in entries
        ]
        return sorted(_comparable_index(index) for index in parsed)

    return {
        "attributes": sorted(
            (a["AttributeName"], a["AttributeType"])
            for a in description.get("AttributeDefinitions", [])
        ),
        "keys": [(k["AttributeName"], k["KeyType"]) for k in description.get("KeySchema", [])],
        "global indexes": indexes(description.get("GlobalSecondaryIndexes")),
        "local indexes": indexes(description.get("LocalSecondaryIndexes")),
        "stream": stream.get("StreamViewType") if stream.get("StreamEnabled") else None,
    }


def _set_time_to_live(context: Context, name: str, table: Table) -> None:
    wanted = table.time_to_live_specification
    client = context.clients.dynamodb
    description = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    enabled = description.get("TimeToLiveStatus") in {"ENABLED", "ENABLING"}
    if wanted is None or not wanted.enabled:
        return
    if enabled and description.get("AttributeName") == wanted.attribute_name:
        return
    client.update_time_to_live(
        TableName=name,
        TimeToLiveSpecification={"Enabled": True, "AttributeName": wanted.attribute_name},
    )
