"""Compares replies with their schemas in the OpenAPI document, without undeclared fields."""

from functools import cache
from typing import Any, cast

from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel


def problems_of(model: type[BaseModel], body: Any) -> list[str]:
    """Return the places where a reply differs from its schema."""
    found = _validator(model).iter_errors(body)
    return [f"{error.instance_path}: {error.message[:200]}" for error in found]


@cache
def _validator(model: type[BaseModel]) -> Draft202012Validator:
    return Draft202012Validator(_closed(model.model_json_schema()))


def _closed(schema: Any) -> Any:
    """Return the schema, in which objects with declared fields have no others."""
    if isinstance(schema, list):
        return [_closed(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    named = {key: _closed(value) for key, value in cast("dict[str, Any]", schema).items()}
    if isinstance(named.get("properties"), dict) and named.get("type") == "object":
        named.setdefault("additionalProperties", False)
    return named
