"""The OpenAPI document: its routes, bodies, and what tools read from it."""

import inspect
import re
from collections import Counter
from typing import Any, cast

import pytest

from backend.core.errors import InvalidInputError
from backend.core.models import LegacyEnvelope, OptionalBody
from backend.entrypoints.openapi import bindings, openapi, routers
from backend.http.bodies import validate
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec.routes import (
    ARCHIVE_ASSET,
    ARCHIVE_ASSET_VERSION,
    DELETE_DATABASE,
    ROUTES,
    UPDATE_ROLE,
    Route,
)
from backend.spec.routes.files import (
    HEAD_AUXILIARY_FILE,
    HEAD_FILE,
    STREAM_AUXILIARY_FILE,
    STREAM_FILE,
)
from tests.routes import CASES

PATHS = openapi()["paths"]
FIELDS = [
    (binding, field.alias or name, field)
    for binding in bindings()
    if "body" in binding.models
    for name, field in binding.models["body"].model_fields.items()
]
DEMANDED = [(binding, name) for binding, name, field in FIELDS if field.is_required()]
CHECKED_LATER = {
    "POST /assets bucketExistingKey": "the path of a folder, by the rules of paths",
    "POST /database/{databaseId}/assets/{assetId}/download key": "as bucketExistingKey",
    "POST /database/{databaseId}/assets/{assetId}/export startingToken": "by its signature",
}
"""Texts without a maximum length of their own."""
TAKES_ANYTHING = {"POST /search operation"}
TAKES_ANY_LIST = {"POST /search tokens"}
"""Fields of older clients, which are ignored."""
TAKE_NO_NULL = {
    f"{ARCHIVE_ASSET.key} confirmArchive",
    f"{ARCHIVE_ASSET_VERSION.key} confirmArchiveAsset",
    f"{DELETE_DATABASE.key} confirmPermanentDelete",
    f"{UPDATE_ROLE.key} description",
}
"""Fields that confirm an operation, and one that VAMS 2.6 refuses too: clients must send them, or
omit them; null is refused."""
WRONG: tuple[Any, ...] = ({"unexpected": []}, [["x"]])
LONG = "x" * 300_000


def example(binding: Binding) -> dict[str, Any]:
    operation = PATHS[document_path(binding.route)][binding.route.method.lower()]
    return operation["requestBody"]["content"]["application/json"]["example"]


def named(binding: Binding, body: dict[str, Any]) -> set[str]:
    """The top-level fields without which a body is refused."""
    try:
        validate(binding.models["body"], body, strict=True)
    except InvalidInputError as refused:
        return {item.field.split(".")[0] for item in refused.fields}
    return set()


@pytest.mark.parametrize(
    ("binding", "name"),
    [pytest.param(*item, id=f"{item[0].route.key} {item[1]}") for item in DEMANDED],
)
def test_a_field_that_is_demanded_and_lacks_is_named(binding: Binding, name: str) -> None:
    body = {field: value for field, value in example(binding).items() if field != name}
    assert name in named(binding, body)


def test_a_field_of_a_wrong_type_is_named() -> None:
    taken: set[str] = set()
    for wrong in WRONG:
        for binding, name, _ in FIELDS:
            if name not in named(binding, {**example(binding), name: wrong}):
                taken.add(f"{binding.route.key} {name}")
    assert taken == TAKES_ANYTHING | TAKES_ANY_LIST


def test_a_text_that_is_too_long_is_named() -> None:
    taken = {
        f"{binding.route.key} {name}"
        for binding, name, _ in FIELDS
        if name not in named(binding, {**example(binding), name: LONG})
    }
    assert taken == {*CHECKED_LATER, *TAKES_ANYTHING}


def test_null_means_the_same_as_leaving_out_in_the_requests_of_vams() -> None:
    """Clients of VAMS send null for fields without a value."""
    refused: set[str] = set()
    for binding, name, field in FIELDS:
        if not (binding.route.ours or field.is_required()):
            sent = example(binding)
            there = named(binding, {item: sent[item] for item in sent if item != name})
            if name in named(binding, {**sent, name: None}) - there:
                refused.add(f"{binding.route.key} {name}")
    assert refused == TAKE_NO_NULL


DOCUMENT = openapi()
BODIES = [binding for binding in bindings() if "body" in binding.models]
REPLIES = [binding for binding in bindings() if binding.reply is not None]
TWICE = [binding for binding in bindings() if issubclass(binding.reply or object, LegacyEnvelope)]


def operation(route: Route) -> dict[str, Any]:
    return DOCUMENT["paths"][document_path(route)][route.method.lower()]


def headers(route: Route) -> set[str]:
    return {
        parameter["name"]
        for parameter in operation(route)["parameters"]
        if parameter["in"] == "header"
    }


def _source(binding: Binding) -> str:
    return inspect.getsource(binding.endpoint)


def references(value: object) -> set[str]:
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        own = {str(item) for name, item in named.items() if name == "$ref"}
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
        for item in operations.values():
            names = {p["name"] for p in item["parameters"] if p["in"] == "path"}
            assert names == set(re.findall(r"{(\w+)}", path)), path


def test_a_revision_that_is_demanded_is_documented_as_a_header() -> None:
    demanding = {
        binding.route.key for binding in bindings() if "expected_revision" in _source(binding)
    }
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


DOMAINS = sorted({route.domain for route in ROUTES})


def _bindings(domain: str) -> dict[Route, Any]:
    """The bindings of a domain's routers, which are built without services."""
    bound = [
        build(*(object() for _ in inspect.signature(build).parameters)).bindings
        for build in routers(domain)
    ]
    joined = {route: binding for item in bound for route, binding in item.items()}
    assert len(joined) == sum(map(len, bound))  # two slices must not bind one route
    return joined


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_binds_exactly_its_own_routes(domain: str) -> None:
    assert set(_bindings(domain)) == {route for route in ROUTES if route.domain == domain}


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_route_and_the_function_bound_to_it_have_the_same_name(domain: str) -> None:
    for route, binding in _bindings(domain).items():
        assert binding.endpoint.__name__ == route.name


def test_every_declared_route_has_exactly_one_case_in_the_registry_of_tests() -> None:
    assert Counter(case.route.key for case in CASES) == Counter(route.key for route in ROUTES)


def test_a_case_can_name_the_state_in_which_it_succeeds() -> None:
    assert [case.route.key for case in CASES if case.succeeds not in case.states] == []
