"""The OpenAPI document against the declared routes and the models that serve them."""

import inspect
import re
from typing import Any, cast

import pytest

from backend.core.models import LegacyEnvelope, OptionalBody
from backend.entrypoints.openapi import bindings, openapi
from backend.http.bodies import validate
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec.routes import ROUTES, Route
from backend.spec.routes.files import (
    HEAD_AUXILIARY_FILE,
    HEAD_FILE,
    STREAM_AUXILIARY_FILE,
    STREAM_FILE,
)

DOCUMENT = openapi()
BODIES = [binding for binding in bindings() if "body" in binding.models]
REPLIES = [binding for binding in bindings() if binding.reply is not None]
TWICE = [binding for binding in bindings() if issubclass(binding.reply or object, LegacyEnvelope)]


def operation(route: Route) -> dict[str, Any]:
    return DOCUMENT["paths"][document_path(route)][route.method.lower()]


def headers(route: Route) -> set[str]:
    return {each["name"] for each in operation(route)["parameters"] if each["in"] == "header"}


def _source(binding: Binding) -> str:
    return inspect.getsource(binding.endpoint)


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        own = {str(each) for name, each in named.items() if name == "$ref"}
        return own.union(*map(references, named.values()))
    if isinstance(value, list):
        return set[str]().union(*map(references, cast("list[object]", value)))
    return set()


def test_the_document_has_every_route_and_no_other() -> None:
    documented = {
        f"{method.upper()} {path}"
        for path, operations in DOCUMENT["paths"].items()
        for method in operations
    }
    assert documented == {f"{route.method} {document_path(route)}" for route in ROUTES}


def test_operations_have_names_of_their_own() -> None:
    names = [operation(route)["operationId"] for route in ROUTES]
    assert len(names) == len(set(names))


def test_only_public_routes_need_no_credentials() -> None:
    unguarded = {route.key for route in ROUTES if operation(route).get("security") == []}
    assert unguarded == {route.key for route in ROUTES if route.public}


def test_every_reference_leads_to_a_component_and_every_component_is_used() -> None:
    prefix = "#/components/schemas/"
    wanted = {reference.removeprefix(prefix) for reference in references(DOCUMENT)}
    assert wanted == set(DOCUMENT["components"]["schemas"])


def test_each_parameter_in_a_path_is_documented() -> None:
    for path, operations in DOCUMENT["paths"].items():
        for each in operations.values():
            found = {p["name"] for p in each["parameters"] if p["in"] == "path"}
            assert found == set(re.findall(r"{(\w+)}", path)), path


def test_a_revision_that_is_demanded_is_documented_as_a_header() -> None:
    demanding = {each.route.key for each in bindings() if "expected_revision" in _source(each)}
    telling = {route.key for route in ROUTES if "If-Match" in headers(route)}
    assert demanding == telling != set()


def test_ranges_and_validators_of_streams_are_documented_as_headers() -> None:
    for route in (STREAM_FILE, STREAM_AUXILIARY_FILE):
        known = {"If-None-Match", "If-Modified-Since"}
        assert headers(route) == {"Range", "If-Range", *known}
    for route in (HEAD_FILE, HEAD_AUXILIARY_FILE):
        assert headers(route) == {"If-None-Match", "If-Modified-Since"}


def test_the_example_of_a_body_is_one_that_the_route_takes(subtests: pytest.Subtests) -> None:
    for binding in BODIES:
        with subtests.test(binding.route.key):
            body = operation(binding.route)["requestBody"]["content"]["application/json"]
            validate(binding.models["body"], body["example"], strict=True)


def test_the_example_of_a_reply_is_one_that_the_route_could_give(subtests: pytest.Subtests) -> None:
    for binding in REPLIES:
        with subtests.test(binding.route.key):
            reply = operation(binding.route)["responses"]["200"]["content"]["application/json"]
            assert binding.reply is not None
            binding.reply.model_validate(reply["example"])


def test_what_has_to_be_given_has_an_example() -> None:
    undescribed = [
        (route.key, parameter["name"])
        for route in ROUTES
        for parameter in operation(route)["parameters"]
        if parameter["required"]
        and not parameter["schema"].keys() & {"examples", "enum", "const", "default", "$ref"}
    ]
    assert undescribed == []


def test_a_body_that_may_be_left_out_is_documented_as_optional(subtests: pytest.Subtests) -> None:
    for binding in BODIES:
        with subtests.test(binding.route.key):
            optional = issubclass(binding.models["body"], OptionalBody)
            assert operation(binding.route)["requestBody"]["required"] is not optional


def test_what_is_repeated_is_in_the_document_twice(subtests: pytest.Subtests) -> None:
    for binding in TWICE:
        with subtests.test(binding.route.key):
            reply = operation(binding.route)["responses"]["200"]["content"]["application/json"][
                "schema"
            ]
            schema = DOCUMENT["components"]["schemas"][reply["$ref"].rpartition("/")[2]]
            properties = dict(schema["properties"])
            message = properties.pop("message")
            assert message["properties"] == properties
            assert schema["required"] == [*message["required"], "message"] == ["Items", "message"]
