"""Errors of requests speak to people: no pattern, no type or form of Python, no word of pydantic.

Every field of every route is sent each of some hostile values.
"""

import copy
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import pytest

from backend.core.errors import FieldError, InvalidInputError
from backend.core.quoting import quoted
from backend.entrypoints.openapi import bindings, openapi
from backend.http.bodies import parse_json, validate
from backend.http.openapi import document_path
from backend.http.router import Binding
from backend.spec import routes
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
    for step, each in inner:
        yield from spots_of(each, *steps, step)


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
    found: dict[FieldError, str] = {}
    for binding in bindings():
        for place, values, _ in requests(binding):
            try:
                validate(binding.models[place], values, strict=place == "body", place=place)
            except InvalidInputError as error:
                found.update(dict.fromkeys(error.fields, f"{binding.route.key} {place}"))
    return [(where, error) for error, where in found.items()]


def test_no_error_has_words_of_a_program() -> None:
    wrong = [
        f"{where} {error.field}: {error.message}"
        for where, error in refusals()
        if foreign_words(error.message)
    ]
    assert wrong == []
    wrong = {error.field for _, error in refusals() if not re.fullmatch(r"[\w:.]+", error.field)}
    assert wrong == set()
    model = next(each for each in bindings() if each.route is routes.SEARCH).models["body"]
    body: dict[str, Any] = {"facetChoices": [{"facet": "format", "values": [{}]}]}
    with pytest.raises(InvalidInputError) as refused:
        validate(model, body, strict=True)
    assert [(one.field, one.message) for one in refused.value.fields] == [
        ("facetChoices.0.values.0", "must be true or false or a number or text")
    ]


def test_control_characters_in_a_line_are_refused_in_the_same_words() -> None:
    model = next(each for each in bindings() if each.route is routes.CREATE_CONSTRAINT).models[
        "body"
    ]
    lines: set[str] = set()
    for text in ("a\0b", "a\nb", "a\u0007b"):
        with pytest.raises(InvalidInputError) as refused:
            validate(model, {"name": text}, strict=True)
        lines |= {each.message for each in refused.value.fields if each.field == "name"}
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
