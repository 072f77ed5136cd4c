"""Errors of requests speak to people, and texts may have any lines that people write."""

import copy
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, cast

import pytest

from backend.core.errors import FieldError, InvalidInputError
from backend.core.quoting import quoted
from backend.entrypoints.openapi import bindings, openapi
from backend.http.bodies import parse_json, validate
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec import routes
from backend.spec.routes import Route
from tests.wording import foreign_words

Step = str | int
TEXTS = ("", " ", "a\0b", "a\nb", "\ud800", "it's", "x" * 5000, "../x", "1e999", "2020-99-99", "[a")
OTHERS: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, [], ["x"], [1], [[]], {}, {"x": 1})


def requests(binding: Binding) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the place, the values and the spoilt field of each request."""
    for place, model in binding.models.items():
        names = [field.alias or name for name, field in model.model_fields.items()]
        if place != "body":
            yield from ((place, {name: text}, name) for name in names for text in TEXTS)
            continue
        operation = openapi()["paths"][document_path(binding.route)][binding.route.method.lower()]
        base = operation["requestBody"]["content"]["application/json"]["example"]
        spots = [*spots_of(base), *((name,) for name in names if name not in base)]
        for spot in spots:
            for value in (*TEXTS, *OTHERS):
                yield place, spoilt(base, spot, value), ".".join(map(str, spot))


def spots_of(value: Any, *steps: Step) -> Iterator[tuple[Step, ...]]:
    """Yield the places of all values within an example."""
    if steps:
        yield steps
    inner: Any = ()
    if isinstance(value, dict):
        inner = cast("dict[str, Any]", value).items()
    elif isinstance(value, list):
        inner = enumerate(cast("list[Any]", value))
    for step, item in inner:
        yield from spots_of(item, *steps, step)


def spoilt(base: Any, spot: tuple[Step, ...], value: Any) -> Any:
    whole = copy.deepcopy(base)
    inner = whole
    for step in spot[:-1]:
        inner = inner[step]
    inner[spot[-1]] = value
    return whole


@cache
def refusals() -> list[tuple[str, FieldError]]:
    """Every distinct error of every route."""
    result: dict[FieldError, str] = {}
    for binding in bindings():
        for place, values, _ in requests(binding):
            try:
                validate(binding.models[place], values, strict=place == "body", place=place)
            except InvalidInputError as error:
                result.update(dict.fromkeys(error.fields, f"{binding.route.key} {place}"))
    return [(where, error) for error, where in result.items()]


def test_no_error_has_words_of_a_program() -> None:
    wrong = [
        f"{where} {error.field}: {error.message}"
        for where, error in refusals()
        if foreign_words(error.message)
    ]
    assert wrong == []
    wrong = {error.field for _, error in refusals() if not re.fullmatch(r"[\w:.]+", error.field)}
    assert wrong == set()
    model = next(binding for binding in bindings() if binding.route is routes.SEARCH).models["body"]
    body: dict[str, Any] = {"facetChoices": [{"facet": "format", "values": [{}]}]}
    with pytest.raises(InvalidInputError) as refused:
        validate(model, body, strict=True)
    assert [(item.field, item.message) for item in refused.value.fields] == [
        ("facetChoices.0.values.0", "must be true or false or a number or text")
    ]


def test_control_characters_in_a_line_are_refused_in_the_same_words() -> None:
    model = next(
        binding for binding in bindings() if binding.route is routes.CREATE_CONSTRAINT
    ).models["body"]
    lines: set[str] = set()
    for text in ("a\0b", "a\nb", "a\u0007b"):
        with pytest.raises(InvalidInputError) as refused:
            validate(model, {"name": text}, strict=True)
        lines |= {item.message for item in refused.value.fields if item.field == "name"}
    assert lines == {"must not contain control characters"}


def test_values_are_quoted_alike_whatever_they_hold() -> None:
    for text in (
        '{"a": "\\ud800"}',
        '{"a": "\\udc00x"}',
        '{"a": "\\ud800\\u0041"}',
        '{"a": "\ud800"}',
    ):
        with pytest.raises(
            InvalidInputError, match="not valid Unicode text: half of a surrogate pair"
        ):
            parse_json(text, is_base64=False)
    for value, shown in (
        ("it's", "'it's'"),
        ("a\0b", r"'a\u0000b'"),
        (None, "null"),
        (True, "true"),
        (["a"], '["a"]'),
    ):
        assert quoted(value) == shown
    assert quoted("x" * 100, 5) == "'xxxx…'"


LOOKED_UP = {
    *("defaultBucketId", "startingToken", "files.0.uploadIdS3", "files.0.parts.0.ETag"),
    *("query", "metadataQuery", "after", "sort.0.type", "documents.0.path", "documents.0.key"),
}
"""Fields that are compared with stored values, and are not stored themselves."""
VALUES = {
    "metadata.0.metadataValue",
    "entities.0.metadata.0.metadataValue",
    "entities.0.metadata.0.expectedValue",
    "entities.0.removals.0.expectedValue",
    "fields.fields.0.controlledListKeys.0",
    "fields.fields.0.defaultMetadataFieldValue",
}
"""Values of metadata are documents of any kind, and text that was found in files."""

DOCUMENT = openapi()


class CorruptBody(NamedTuple):
    """A body with U+0000 in one of its texts, and the path of that field."""

    binding: Binding
    field: str
    body: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.binding.route.key} {self.field}"


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, or the first of those that it names."""
    if "anyOf" in schema:
        return resolved(schema["anyOf"][0])
    if "$ref" in schema:
        return DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def with_nul(schema: dict[str, Any], example: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """The paths of texts, each with the example as it is with U+0000 in that text."""
    whole = resolved(schema)
    match whole.get("type"):
        case "string":
            yield ".".join(path), "ab\u0000cd"
        case "array":
            first = example[0] if example else None
            for field, value in with_nul(whole["items"], first, *path, "0"):
                yield field, [value]
        case _:
            values_given: dict[str, Any] = example or {}
            for name, item in whole.get("properties", {}).items():
                for field, value in with_nul(item, values_given.get(name), *path, name):
                    yield field, {**values_given, name: value}


def bodies() -> Iterator[CorruptBody]:
    for binding in bindings():
        if "body" in binding.models:
            route = binding.route
            operation = DOCUMENT["paths"][document_path(route)][route.method.lower()]
            applicationjson = operation["requestBody"]["content"]["application/json"]
            for field, body in with_nul(applicationjson["schema"], applicationjson["example"]):
                yield CorruptBody(binding, field, body)


BODIES = list(bodies())
WRITTEN = [body for body in BODIES if body.field not in LOOKED_UP | VALUES]


def test_no_text_that_is_stored_may_hold_a_nul(subtests: pytest.Subtests) -> None:
    for with_nul in WRITTEN:
        with subtests.test(str(with_nul)):
            with pytest.raises(InvalidInputError) as refused:
                validate(with_nul.binding.models["body"], with_nul.body, strict=True)
            assert with_nul.field in [item.field for item in refused.value.fields]


@pytest.mark.parametrize(
    ("route", "field"),
    [
        (routes.CREATE_DATABASE, "description"),
        (routes.UPDATE_DATABASE, "description"),
        (routes.CREATE_ASSET, "description"),
        (routes.UPDATE_ASSET, "description"),
        (routes.INGEST_ASSET, "description"),
        (routes.CREATE_ASSET_VERSION, "comment"),
        (routes.UPDATE_ASSET_VERSION, "comment"),
        (routes.REVERT_ASSET_VERSION, "comment"),
        (routes.CREATE_COMMENT, "commentBody"),
        (routes.UPDATE_COMMENT, "commentBody"),
        (routes.CREATE_TAG, "description"),
        (routes.CREATE_TAG_TYPE, "description"),
        (routes.CREATE_ROLE, "description"),
        (routes.CREATE_API_KEY, "description"),
        (routes.CREATE_CONSTRAINT, "description"),
    ],
)
def test_blanks_alone_are_refused(route: Route, field: str) -> None:
    model = next(binding.models["body"] for binding in bindings() if binding.route is route)
    with pytest.raises(InvalidInputError) as refused:
        validate(model, {field: "     "}, strict=True)
    assert field in [item.field for item in refused.value.fields]


def test_every_exception_is_a_field_of_a_body_and_others_refuse_control_characters() -> None:
    assert {item.field for item in BODIES} >= LOOKED_UP | VALUES
    wrong: list[str] = []
    for with_nul in WRITTEN:
        for control in "\0", "\n":
            body = json.loads(
                json.dumps(with_nul.body).replace("\\u0000", json.dumps(control)[1:-1])
            )
            if PROSE.search(with_nul.field) or with_nul.binding.route.domain == "search":
                continue
            with pytest.raises(InvalidInputError) as refused:
                validate(with_nul.binding.models["body"], body, strict=True)
            error = [item.message for item in refused.value.fields if item.field == with_nul.field]
            if not error or "line breaks" in error[0]:
                wrong.append(f"{with_nul.binding.route.key} {with_nul.field}: {control!r}: {error}")
    assert not wrong, "\n".join(wrong)


PROSE = re.compile(r"(^|\.)(description|comment|commentBody|reason|inputParameters|\w+Resource)$")
"""Prose and JSON, which may have line breaks."""
