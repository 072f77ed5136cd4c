"""Calls of the routes of metadata schemas, and the fields that they send."""

from typing import Any

from tests.factories.http import Client, Response

SCHEMAS = "/metadataschema"
ONE = "/database/{databaseId}/metadataSchema/{metadataSchemaId}"


def field(key: str, value_type: str = "string", **more: Any) -> dict[str, Any]:
    return {"metadataFieldKeyName": key, "metadataFieldValueType": value_type, **more}


def schema_body(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "databaseId": "museum",
        "metadataSchemaEntityType": "assetMetadata",
        "schemaName": "Measures",
        "fields": {"fields": list(fields) or [field("weight", "number")]},
        "enabled": True,
        **more,
    }


def create(client: Client, *fields: dict[str, Any], **more: Any) -> Response:
    return client.send("POST", SCHEMAS, body=schema_body(*fields, **more))


def created(client: Client, *fields: dict[str, Any], **more: Any) -> str:
    answer = create(client, *fields, **more)
    assert answer.status == 200, answer.body
    return answer.body["metadataSchemaId"]


def one(
    client: Client, method: str, schema_id: str, database: str = "museum", **more: Any
) -> Response:
    parameters = {"databaseId": database, "metadataSchemaId": schema_id}
    path, route = ONE.format(**parameters), f"{method} {ONE}"
    return client.send(method, path, route=route, parameters=parameters, **more)


def names(client: Client, **query: str) -> list[str]:
    """The names of all schemas of a list, page by page."""
    pages = client.pages(SCHEMAS, query=query)
    return sorted(item["schemaName"] for page in pages for item in page["Items"])
