"""The OpenAPI document states each limit of a request that the server checks."""

import re
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Annotated, Any, cast, get_args

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError

from backend.core.identity import Identity
from backend.core.models import PageQuery
from backend.core.page_tokens import PageTokens
from backend.domains.files.models import FilesQuery
from backend.domains.tags.models import TagsBody, TagTypesBody
from backend.entrypoints.openapi import bindings, openapi
from backend.http.call import Call
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec import routes

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


STATED = re.compile(
    r"(?:(\d+) by default, )?at most (\d+); larger values (?:count as \2\b|are (refused))"
)
AMOUNTS = re.compile(r"from|size|max[A-Z]\w*")
BINDINGS = list(bindings())


def parameters(binding: Binding) -> dict[str, dict[str, Any]]:
    """The schemas of a route's parameters by name."""
    route = binding.route
    operation = openapi()["paths"][document_path(route)][route.method.lower()]
    return {parameter["name"]: parameter["schema"] for parameter in operation["parameters"]}


def limit_of(binding: Binding, model: type[PageQuery], **sent: Any) -> int:
    """The items of the page that a route lists for this query."""
    tokens = PageTokens(lambda: b"key")
    call = Call(binding.route, Identity("ann"), {}, {}, {}, tokens, lambda _, __: nullcontext())
    return call.page(model.model_construct(**sent)).limit


def test_the_stated_limits_of_pages_are_those_of_the_lists_and_larger_values_are_accepted() -> None:
    wrong: list[str] = []
    for binding in BINDINGS:
        model = binding.models.get("query")
        if model is None or not issubclass(model, PageQuery):
            continue
        for name, sent in (("maxItems", "max_items"), ("pageSize", "page_size")):
            schema = parameters(binding)[name]
            stated = STATED.search(schema.get("description", ""))
            if stated is None or ("maximum" in schema) != bool(stated[3]):
                wrong.append(f"{binding.route.key}: {name} does not state its limit")
                continue
            most = int(stated[2])
            sizes = [most - 1, most, most + 1, 30_000]
            result = [limit_of(binding, model, **{sent: size}) for size in sizes]
            result.append(limit_of(binding, model))
            if result != [most - 1, most, most, most, int(stated[1] or most)]:
                wrong.append(f"{binding.route.key}: {name} states {stated[0]}, lists {result}")
    assert not wrong, "\n".join(wrong)


def test_pages_of_files_without_their_facts_have_a_stated_limit_of_their_own() -> None:
    binding = next(item for item in BINDINGS if item.route == routes.LIST_FILES)
    stated = STATED.search(parameters(binding)["basic"].get("description", ""))
    assert stated is not None
    for sent in ({}, {"max_items": 30_000}):
        assert limit_of(binding, FilesQuery, basic=True, **sent) == int(stated[2])


def test_every_other_amount_has_a_limit_in_its_schema_or_its_description() -> None:
    places = [(binding.route.key, parameters(binding)) for binding in BINDINGS]
    for model, schema in openapi()["components"]["schemas"].items():
        if model.endswith("Body"):
            places.append((model, schema.get("properties", {})))
    unlimited = [
        f"{place} {name}"
        for place, schemas in places
        for name, schema in schemas.items()
        for kinds in ((schema, *schema.get("anyOf", ())),)
        if AMOUNTS.fullmatch(name)
        and any(kind.get("type") == "integer" for kind in kinds)
        and not any("maximum" in kind for kind in kinds)
        and not re.search(r"\bat most \d", schema.get("description", ""))
    ]
    assert not unlimited, "\n".join(unlimited)
