"""The types of metadata values and the texts that each accepts. Pure.

Used by every slice that stores metadata or declares metadata fields. A value is text; its type
determines the accepted format. Every type accepts the empty text, which means no value.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, cast, get_args

import pydantic_core
from pydantic import AfterValidator, Field

from backend.core.names import check_line, is_text
from backend.core.quoting import quoted
from backend.numbers import is_finite

ValueType = Literal[
    "string",
    "multiline_string",
    "inline_controlled_list",
    "number",
    "boolean",
    "date",
    "xyz",
    "wxyz",
    "matrix4x4",
    "geopoint",
    "geojson",
    "lla",
    "json",
]
VALUE_TYPES: tuple[str, ...] = get_args(ValueType)
# The contract's limit.
MAX_KEY_CHARS = 256
# Bytes that a path leaves for the names of metadata: a snapshot's sort key has at most 1,024 bytes
# with both.
METADATA_KEY_ROOM = 256
# Python's parser and those of other programs recurse: deeper values would fail some of them.
MAX_JSON_DEPTH = 100
MAX_DIGITS = 38  # DynamoDB's, for numbers
MIN_EXPONENT, MAX_EXPONENT = -130, 125  # DynamoDB's: 1E-130 to 9.99E+125

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9W-]{8,10}(?:[T ][0-9:.,Z+-]+)?")
# 38 digits, an exponent, and zeros: more need not be parsed to know that it is refused.
_MAX_NUMBER_CHARS = 512


def check_key(key: str) -> str:
    """Check a metadata key and return it.

    Raises:
        ValueError: the key is not 1 to 256 characters of Unicode, or contains a control character.
    """
    is_text(key)
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        raise ValueError(f"must have 1 to {MAX_KEY_CHARS} characters")
    return check_line(key)


MetadataKey = Annotated[
    str,
    AfterValidator(check_key),
    Field(json_schema_extra={"minLength": 1, "maxLength": MAX_KEY_CHARS}),
]


def check_value(value_type: ValueType, value: str) -> str:
    """Check a value of a type and return it.

    Raises:
        ValueError: the value is invalid; the message gives the reason.
    """
    is_text(value)
    check = _CHECKS.get(value_type)
    if value and check is not None:
        check(value)
    return value


def _check_number(value: str) -> None:
    if len(value) > _MAX_NUMBER_CHARS or not _NUMBER.fullmatch(value):
        raise ValueError("must be a decimal number")
    try:
        number = Decimal(value)
    except InvalidOperation:  # the exponent is too large for Decimal
        raise ValueError("has an exponent that is too large") from None
    if len("".join(map(str, number.as_tuple().digits)).strip("0")) > MAX_DIGITS:
        raise ValueError(f"must have at most {MAX_DIGITS} significant digits")
    if number and not MIN_EXPONENT <= number.adjusted() <= MAX_EXPONENT:
        raise ValueError(f"must be between 1E{MIN_EXPONENT} and 9.99E+{MAX_EXPONENT}")


def _check_boolean(value: str) -> None:
    if value.lower() not in {"true", "false"}:
        raise ValueError("must be 'true' or 'false'")


def _check_date(value: str) -> None:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("must be an ISO 8601 date, with or without a time") from None
    if not _DATE.fullmatch(value):  # fromisoformat accepts any character between date and time
        raise ValueError("must have a 'T' between date and time")


def _check_matrix(value: str) -> None:
    rows = _json(value)
    if not isinstance(rows, list) or len(cast("list[Any]", rows)) != 4:
        raise ValueError("must be a JSON array of 4 rows")
    for number, row in enumerate(cast("list[Any]", rows)):
        if not isinstance(row, list) or len(cast("list[Any]", row)) != 4:
            raise ValueError(f"row {number} must have 4 numbers")
        for element in cast("list[Any]", row):
            _finite(element, f"row {number}")


def _check_lla(value: str) -> None:
    numbers = _numbers(value, "lat", "long", "alt")
    _longitude_and_latitude(numbers["long"], numbers["lat"])


def _check_geopoint(value: str) -> None:
    geometry = _object(_json(value), "the value")
    if geometry.get("type") != "Point":
        raise ValueError("must be a GeoJSON Point")
    _check_geometry(geometry)


def _check_geojson(value: str) -> None:
    geometry = _object(_json(value), "the value")
    match geometry.get("type"):
        case "Feature":
            _check_feature(geometry)
        case "FeatureCollection":
            for feature in _array(geometry.get("features"), "features", at_least=0):
                _check_feature(_object(feature, "a feature"))
        case _:
            _check_geometry(geometry)


def _check_feature(feature: Mapping[str, Any]) -> None:
    if feature.get("type") != "Feature":
        raise ValueError("features must have the type 'Feature'")
    if "geometry" not in feature:
        raise ValueError("a Feature must have a geometry, which may be null")
    if feature["geometry"] is not None:
        _check_geometry(_object(feature["geometry"], "geometry"))
    if feature.get("properties") is not None:
        _object(feature["properties"], "properties")


def _check_geometry(geometry: Mapping[str, Any]) -> None:
    """Check a geometry as RFC 7946, section 3.1.

    Empty coordinates, which it allows, are rejected.
    """
    kind = geometry.get("type")
    if kind == "GeometryCollection":
        for part in _array(geometry.get("geometries"), "geometries"):
            _check_geometry(_object(part, "a geometry"))
        return
    check = _GEOMETRIES.get(kind) if isinstance(kind, str) else None
    if check is None:
        raise ValueError(f"{quoted(kind, 64)} is not a GeoJSON geometry type")
    check(geometry.get("coordinates"))


def _position(value: Any) -> None:
    position = _array(value, "a position", at_least=2)
    if len(position) > 3:
        raise ValueError("a position must have 2 or 3 numbers")
    for number in position:
        _finite(number, "a position")
    _longitude_and_latitude(position[0], position[1])


def _positions(value: Any, *, at_least: int = 1) -> None:
    for position in _array(value, "coordinates", at_least=at_least):
        _position(position)


def _line(value: Any) -> None:
    _positions(value, at_least=2)


def _polygon(value: Any) -> None:
    for ring in _array(value, "coordinates"):
        _positions(ring, at_least=4)
        if ring[0] != ring[-1]:
            raise ValueError("a ring of a Polygon must end where it begins")


def _each(check: Callable[[Any], None]) -> Callable[[Any], None]:
    def check_all(value: Any) -> None:
        for part in _array(value, "coordinates"):
            check(part)

    return check_all


def _longitude_and_latitude(longitude: float, latitude: float) -> None:
    if not -180 <= longitude <= 180:
        raise ValueError("the longitude must be between -180 and 180")
    if not -90 <= latitude <= 90:
        raise ValueError("the latitude must be between -90 and 90")


def _check_vector(*names: str) -> Callable[[str], None]:
    def check(value: str) -> None:
        _numbers(value, *names)

    return check


def _numbers(value: str, *names: str) -> dict[str, float]:
    """Return the numbers under these names in a JSON object; other names are ignored."""
    members = _object(_json(value), "the value")
    missing = [name for name in names if name not in members]
    if missing:
        raise ValueError(f"must have the numbers {', '.join(names)}; {missing[0]} is missing")
    for name in names:
        _finite(members[name], name)
    return {name: members[name] for name in names}


def _finite(value: Any, what: str) -> None:
    if not is_finite(value):
        raise ValueError(f"{what} must contain finite numbers only")


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object")  # noqa: TRY004 - pydantic reports values
    return cast("dict[str, Any]", value)


def _array(value: Any, what: str, *, at_least: int = 1) -> list[Any]:
    if not isinstance(value, list) or len(cast("list[Any]", value)) < at_least:
        raise ValueError(f"{what} must be a JSON array with at least {at_least} elements")
    return cast("list[Any]", value)


def _json(value: str) -> Any:
    """Parse the JSON value of a text. NaN, infinities and deep nesting are rejected."""
    try:
        content: Any = pydantic_core.from_json(value, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}") from None
    level: list[Any] = [content]
    depth = 0
    while level := [child for parent in level for child in _values_within(parent)]:
        depth += 1
        if depth > MAX_JSON_DEPTH:
            raise ValueError(f"must not be nested deeper than {MAX_JSON_DEPTH} levels")
    return content


def _values_within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(cast("dict[str, Any]", value).values())
    return cast("list[Any]", value) if isinstance(value, list) else []


_GEOMETRIES: dict[str, Callable[[Any], None]] = {
    "Point": _position,
    "MultiPoint": _positions,
    "LineString": _line,
    "MultiLineString": _each(_line),
    "Polygon": _polygon,
    "MultiPolygon": _each(_polygon),
}
_CHECKS: dict[ValueType, Callable[[str], object]] = {
    "number": _check_number,
    "boolean": _check_boolean,
    "date": _check_date,
    "xyz": _check_vector("x", "y", "z"),
    "wxyz": _check_vector("w", "x", "y", "z"),
    "matrix4x4": _check_matrix,
    "geopoint": _check_geopoint,
    "geojson": _check_geojson,
    "lla": _check_lla,
    "json": _json,
}
"""The check of each type. Types without an entry accept any text."""
