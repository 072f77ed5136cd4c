"""Parses bodies, query strings and path parameters into models, with errors that name the field."""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import pydantic_core
from pydantic import BaseModel, ValidationError

from backend.core.errors import InvalidInputError, TooLargeError
from backend.core.field_errors import field_errors

M = TypeVar("M", bound=BaseModel)

# A Lambda event may have 6 MB, which API Gateway counts after escaping.
MAX_BODY_BYTES = 5 * 1024 * 1024

# A list of a thousand entries may have as many errors; the first ones suffice to correct it.
_MAX_SHOWN_ERRORS = 20
_SURROGATES = frozenset(
    {"unexpected end of hex escape", "lone leading surrogate in hex escape"}
    | {"invalid unicode code point"}
)
"""The error messages of pydantic's parser for unpaired surrogates."""


def parse_json(text: str | None, *, is_base64: bool) -> dict[str, Any]:
    """Parse the JSON object in a body.

    Raises:
        InvalidInputError: the body is not a JSON object, or has a field twice. NaN, infinities,
            lone surrogates and nesting beyond 200 levels are rejected.
        TooLargeError: the body is larger than `MAX_BODY_BYTES`.
    """
    raw = _decode(text or "", is_base64)
    if len(raw) > MAX_BODY_BYTES:
        raise TooLargeError(f"the body has {len(raw)} bytes; at most {MAX_BODY_BYTES} are allowed")
    if not raw.strip():
        raise InvalidInputError.of("body", "is required: a JSON object is expected")
    try:
        value = pydantic_core.from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        fact, _, where = str(error).partition(" at line ")
        reason = f"is not valid JSON: {error}"
        if fact in _SURROGATES:  # which other parsers accept
            half = "half of a surrogate pair, or no UTF-8"
            reason = f"is not valid Unicode text: {half}, at line {where}"
        raise InvalidInputError.of("body", reason) from None
    if not isinstance(value, dict):
        raise InvalidInputError.of("body", "must be a JSON object")
    _check_names_once(raw)
    return cast("dict[str, Any]", value)


def validate(model: type[M], values: Mapping[str, Any], *, strict: bool, place: str = "body") -> M:
    """Return the model with these values; `strict` requires JSON's own types (for bodies).

    `place` is the part of the request with the values; errors about no single field name it.

    Raises:
        InvalidInputError: the message names every invalid field (at most twenty).
    """
    try:
        return model.model_validate(dict(values), strict=strict)
    except ValidationError as error:
        fields = tuple(islice(field_errors(error, values, place=place), _MAX_SHOWN_ERRORS))
        raise InvalidInputError(
            "; ".join(f"{f.field}: {f.message}" for f in fields), fields=fields
        ) from None


def unknown_fields(
    model: type[BaseModel], values: Mapping[str, Any]
) -> Iterator[tuple[str, object]]:
    """Return the names in a body that the model does not have, with their values, top-level first.

    Deeper names are given by their path: `files.0.colour`.
    """
    known, within = _fields_of(model)
    for name in sorted(values.keys() - known):
        yield name, values[name]
    for name, inner in within:
        if name in values:
            yield from _unknown_within(inner, values[name], name)


def field_names(model: type[BaseModel]) -> Iterator[str]:
    """Return all names that a body may have, also those within others."""
    known, within = _fields_of(model)
    yield from known
    for _, inner in within:
        yield from field_names(inner)


def _unknown_within(
    model: type[BaseModel], value: object, place: str
) -> Iterator[tuple[str, object]]:
    if isinstance(value, list):
        for number, element in enumerate(cast("list[object]", value)):
            yield from _unknown_within(model, element, f"{place}.{number}")
    elif isinstance(value, dict):
        for name, inner in unknown_fields(model, cast("dict[str, Any]", value)):
            yield f"{place}.{name}", inner


@cache
def _fields_of(
    model: type[BaseModel],
) -> tuple[frozenset[str], tuple[tuple[str, type[BaseModel]], ...]]:
    """Return all names of a model, and the nested models by name.

    Fields that also accept other types than their model are left out.
    """
    checks = model.__pydantic_decorators__.field_validators.values()
    shaped = {name for check in checks if check.info.mode == "before" for name in check.info.fields}
    known: set[str] = set()
    within: list[tuple[str, type[BaseModel]]] = []
    for name, field in model.model_fields.items():
        names = {name, field.alias or name}
        known |= names
        inner = next(_models_in(field.annotation), None)
        if inner is not None and name not in shaped:
            within += [(key, inner) for key in sorted(names)]
    return frozenset(known), tuple(within)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Return the models that a field may contain: itself, those of a list, or optional ones."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in {list, Union, UnionType, Annotated}:
        for arg in get_args(annotation):
            yield from _models_in(arg)


def _check_names_once(raw: bytes) -> None:
    """Reject objects with the same field twice: different parsers would use different values.

    Raises:
        InvalidInputError: the message names the repeated field.
    """

    def check(pairs: list[tuple[str, object]]) -> None:
        if len(dict(pairs)) < len(pairs):
            ((name, _),) = Counter(name for name, _ in pairs).most_common(1)
            raise InvalidInputError.of(name[:64], "is used twice in one object of the body")

    # A second parser: pydantic's uses the last field and cannot be configured to reject it.
    json.loads(raw.decode(), object_pairs_hook=check, parse_int=str, parse_float=str)


def _decode(text: str, is_base64: bool) -> bytes:
    if not is_base64:
        return text.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise InvalidInputError.of("body", "is not valid base64") from None
