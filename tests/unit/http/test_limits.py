"""The OpenAPI document states each limit of a request that the server checks."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, cast, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError

from backend.domains.tags.models import TagsBody, TagTypesBody
from backend.entrypoints.openapi import bindings

VALUES: tuple[Any, ...] = (
    *("a" * 20_000, "/" + "a" * 5000, "1" * 1000, "." + "a" * 3000, "a" * 300, ""),
    *(10**15, -(10**15), [f"a{number:03}" for number in range(2500)], list[str]()),
)
LIMIT = re.compile(r"\d to \d|at (most|least) \d|\d characters")


def models_of(kind: Any) -> Iterator[type[BaseModel]]:
    """The models that a request of this type contains."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from models_of(field.annotation)
    for part in get_args(kind):
        yield from models_of(part)


MODELS = {
    model for binding in bindings() for kind in binding.models.values() for model in models_of(kind)
}


def unstated(model: type[BaseModel]) -> Iterator[str]:
    """The values that the document allows, and that the server refuses by a limit."""
    whole = model.model_json_schema()
    for name, field in model.model_fields.items():
        parts: Any = (field.annotation, *field.metadata, None)
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", Annotated)[parts])
        schema = whole["properties"][field.alias or name]
        stated = Draft202012Validator({**schema, "$defs": whole.get("$defs", {})})
        for value in VALUES:
            if not stated.is_valid(value):
                continue
            try:
                adapter.validate_python(value)
            except ValidationError as error:
                fact = error.errors()[0]["msg"]
                if LIMIT.search(fact):
                    yield f"{model.__name__}.{name}: {fact}"


def test_each_limit_that_is_checked_is_in_the_document() -> None:
    assert sorted({fact for model in MODELS for fact in unstated(model)}) == []


@pytest.mark.parametrize(
    ("model", "listed", "single"),
    [
        (TagsBody, "tags", {"tagName": "red", "description": "A tag", "tagTypeName": "colour"}),
        (TagTypesBody, "tagTypes", {"tagTypeName": "colour", "description": "A type"}),
    ],
)
def test_the_document_states_where_null_means_omitted(
    model: type[BaseModel], listed: str, single: dict[str, str]
) -> None:
    stated = Draft202012Validator(model.model_json_schema())
    bodies: list[dict[str, Any]] = [{}]
    for name, value in (*single.items(), (listed, [single])):
        bodies = [{**body, **more} for body in bodies for more in ({}, {name: None}, {name: value})]
    for body in bodies:
        try:
            model.model_validate(body)
        except ValidationError:
            assert not stated.is_valid(body), body
        else:
            assert stated.is_valid(body), body
