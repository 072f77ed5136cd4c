"""The cost of metadata under schemas, if a key depends on another: the write with most reads."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Request = tuple[str, Mapping[str, Any] | None]
Governed = tuple[str, str, Callable[[int], Request]]
"""The name, the method and the request of an operation."""

_TARGET = "/database/listed/metadata"
_FIELDS = (
    {
        "metadataFieldKeyName": "key-0",
        "metadataFieldValueType": "string",
        "dependsOnFieldKeyName": ["key-1"],
        "required": True,
    },
    {"metadataFieldKeyName": "key-1", "metadataFieldValueType": "string"},
)


def operations_under_schemas(call: Callable[..., Any]) -> Sequence[Governed]:
    """Operations on a database with a schema; `call` sends a request."""
    call("POST", "/metadataschema", _schema("databaseMetadata"))
    call("PUT", _TARGET, {"metadata": [_record("key-0", "value"), _record("key-1", "value")]})
    of_links = _schema("assetLinkMetadata")

    def edit(number: int) -> Request:
        return _TARGET, {"metadata": [_record("key-0", f"value {number}")]}

    return (
        ("create a metadata schema", "POST", lambda _: ("/metadataschema", of_links)),
        ("edit 1 metadata record under a schema", "PUT", edit),
        ("list 2 metadata records under a schema", "GET", lambda _: (_TARGET, None)),
    )


def _schema(entity_type: str) -> dict[str, Any]:
    fields = {"fields": list(_FIELDS)}
    named = {"databaseId": "listed", "schemaName": "Keys", "fields": fields}
    return {**named, "metadataSchemaEntityType": entity_type}


def _record(key: str, value: str) -> dict[str, str]:
    return {"metadataKey": key, "metadataValue": value, "metadataValueType": "string"}
