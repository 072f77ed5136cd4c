"""Converts metadata values for OpenSearch: typed if they parse, truncated if they are too long.

Pure, and total: any row results in values that are valid in the declared mapping. The limits were
measured with OpenSearch 3.8; the full value remains in DynamoDB.

JSON values remain texts. As JSON in a `flat_object`, a value with a thousand levels would crash the
OpenSearch process (StackOverflowError).
"""

import base64
import json
import math
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from backend.core.quoting import quoted
from backend.search.geometries import first_two, geometry_of, is_sound, point_of, point_shape
from backend.spec.facts import FACT_BY_KEY, HIDDEN_KEYS, SHAPE_KEY, SHAPE_NUMBERS, YEARS
from backend.spec.search_indexes import FLAT_VALUE_BYTES, KEYWORD_CHARS, SHAPE_STEPS

JsonObject = dict[str, Any]

# Metadata keys of a deployment that have a geographic field. Each is added to the mapping, which
# cannot be undone.
MAX_GEO_KEYS = 200
# Of one database, so that one cannot take those of all others.
MAX_KEYS_OF_DATABASE = 20
GEO_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GEOGRAPHIC = frozenset({"geopoint", "lla", "geojson"})
# The names of the coordinates of a place in VAMS 2.6, the first with a value counts.
_PLACE: Mapping[str, tuple[str, ...]] = {
    "lat": ("latitude", "lat"),
    "lon": ("longitude", "lon", "lng", "long"),
    "alt": ("altitude", "alt", "elevation"),
}
# Nested pairs of one document. The index limit is 10,000, and the API stores 500 records per
# entity.
MAX_PAIRS = 5000
# Maximum size of all values of one field. Longer values are cut. A document must fit a request of
# 10 MB, the lowest limit among the domain's instance types.
FIELD_BUDGET = 2_000_000
# Shapes of one document, in bytes of GeoJSON.
SHAPE_BUDGET = FIELD_BUDGET // 4

LARGEST_EXACT = 2**53 - 1
"""The largest whole number that a `double`, the type of metadata values, can distinguish."""
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_PARTIAL_DATE = re.compile(r"(\d{4})(-\d{2})?", re.ASCII)
_SYSTEM_PREFIXES = ("VAMS_", "_")
_FLAT_OVERHEAD = len("MD_.=")


@dataclass(frozen=True, slots=True)
class Record:
    """One metadata or attribute record: key, value and the declared type of the value."""

    key: str
    value: str
    value_type: str = "string"


def searchable(records: Iterable[Record]) -> list[Record]:
    """Return the records that are indexed, in the order of their keys, without system fields."""
    kept = (record for record in records if not record.key.startswith(_SYSTEM_PREFIXES))
    return sorted(kept, key=lambda record: record.key)


def searchable_attributes(records: Iterable[Record]) -> list[Record]:
    """Return the attributes that are indexed as such, without references and shape."""
    return [record for record in searchable(records) if record.key not in HIDDEN_KEYS]


def flat_object(records: Sequence[Record]) -> JsonObject:
    """Return keys and values for a `flat_object` field, limited in the length of path and value."""
    values: dict[str, str] = {}
    for record in records:
        # Not escaped: OpenSearch accepts dots, spaces, empty steps, and `a` next to `a.b`.
        key = cut(record.key, FLAT_VALUE_BYTES // 2)
        room = FLAT_VALUE_BYTES - _FLAT_OVERHEAD - len(key.encode())
        values[key] = cut(record.value, room)
    return dict(_fit_budget(values))


def typed_pairs(
    records: Sequence[Record],
    *,
    geojson_points: bool = True,
    shapes: bool = True,
    point_shapes: bool = True,
) -> list[JsonObject]:
    """Return the nested pairs, for ranges, sorting and facets."""
    kept = records[:MAX_PAIRS]
    # A character more than keywords have: a longer text is found by its words, and not as a whole
    # value.
    texts = _fit_budget({record.key: record.value[: KEYWORD_CHARS + 1] for record in kept})
    by_key = _shapes_of(kept, points=point_shapes) if shapes else {}
    return [
        {
            "key": record.key,
            "string": texts[record.key],
            **_typed_value(record, geojson_points),
            **by_key.get(record.key, {}),
        }
        for record in kept
    ]


def misplaced_keys(records: Iterable[Record]) -> list[str]:
    """Return the keys of places and shapes that filters by location may not find."""
    kept = [record for record in records if record.value_type.lower() in _GEOGRAPHIC][:MAX_PAIRS]
    by_key = _shapes_of(kept)
    keys: list[str] = []
    for record in kept:
        fields = _json_object(record.value)
        if record.value_type.lower() != "geojson":
            is_found = _geographic_value(record) is not None
        else:
            shape = geometry_of(fields)
            is_point = shape is None or shape["type"] == "Point"
            is_found = is_sound(fields) and (is_point or record.key in by_key)
        if not is_found:
            keys.append(record.key)
    return keys


def attribute_pairs(records: Sequence[Record], *, dates: bool = True) -> list[JsonObject]:
    """Return the nested pairs of a file's attributes: facts by their type, others as texts.

    Facts that are dates have both, so that words find them. Without `dates` they are texts.
    """
    whole = {record.key: record.value[: KEYWORD_CHARS + 1] for record in records}
    texts = _fit_budget(whole, FIELD_BUDGET // 2)  # the whole values are in `AB_` as well
    return [
        {"key": record.key, **_attribute_value(record, texts[record.key], dates)}
        for record in records[:MAX_PAIRS]
    ]


def shape_of(records: Iterable[Record]) -> str | None:
    """Return the shape in the attributes in indexed form; None if there is no valid one."""
    for record in records:
        if record.key == SHAPE_KEY:
            return packed_shape(record.value)
    return None


def packed_shape(text: str) -> str | None:
    """Return a stored shape as bytes of `SHAPE_STEPS`, in base64."""
    try:
        numbers = struct.unpack(f"<{SHAPE_NUMBERS}f", base64.b64decode(text, validate=True))
    except (ValueError, struct.error):
        return None
    if not all(map(math.isfinite, numbers)):
        return None
    steps = (round(min(max(number, 0.0), 1.0) * SHAPE_STEPS) for number in numbers)
    return base64.b64encode(bytes(steps)).decode()


def geographic_keys(records: Iterable[Record]) -> set[str]:
    """Return the keys that would get `gp_` or `gs_` fields."""
    return {record.key for record in records if _geographic(record) is not None}


def geographic_fields(records: Iterable[Record], allowed: frozenset[str]) -> JsonObject:
    """Return `gp_<key>` for points and `gs_<key>` for other GeoJSON, for allowed keys."""
    points: JsonObject = {}
    shapes: dict[str, str] = {}
    for record in records:
        geometry = _geographic(record) if record.key in allowed else None
        if isinstance(geometry, str):
            shapes[f"gs_{record.key}"] = cut(geometry, FLAT_VALUE_BYTES)
        elif geometry is not None:
            points[f"gp_{record.key}"] = geometry
    return {**points, **_fit_budget(shapes)}


def iso_date(text: object) -> str | None:
    """Return a date as ISO 8601 in UTC, or None if it is not within the years 1 to 9999."""
    if not isinstance(text, str):
        return None
    partial = _PARTIAL_DATE.fullmatch(text)
    if partial:
        text = f"{partial[1]}{partial[2] or '-01'}-01"
    try:
        date = datetime.fromisoformat(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        return date.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return None


def cut(text: str, limit: int) -> str:
    """Return the beginning of a text with at most `limit` bytes in UTF-8."""
    if len(text) * 4 <= limit:
        return text
    encoded = text.encode()
    return text if len(encoded) <= limit else encoded[:limit].decode(errors="ignore")


def _fit_budget(values: Mapping[str, str], budget: int = FIELD_BUDGET) -> Mapping[str, str]:
    if sum(map(len, values.values())) * 4 <= budget:
        return values
    if sum(len(value.encode()) for value in values.values()) <= budget:
        return values
    share = budget // len(values)
    return {key: cut(value, share) for key, value in values.items()}


def _typed_value(record: Record, geojson_points: bool = False) -> JsonObject:
    match record.value_type.lower():
        case "number":
            typed: JsonObject = {"number": number_of(record.value)}
        case "date":
            typed = {"date": iso_date(record.value)}
        case "boolean":
            typed = {"boolean": {"true": True, "false": False}.get(record.value.lower())}
        case "geopoint" | "lla":
            point = _geographic_value(record)
            typed = {"point": None if isinstance(point, str) else point}
        case "geojson" if geojson_points:
            shape = geometry_of(_json_object(record.value)) or {}
            is_point = shape.get("type") == "Point"
            typed = {"point": point_of(*shape["coordinates"][1::-1]) if is_point else None}
        case _:
            typed = {}
    return {name: value for name, value in typed.items() if value is not None}


def _attribute_value(record: Record, text: str, dates: bool) -> JsonObject:
    fact = FACT_BY_KEY.get(record.key)
    if fact is None or fact.type == "string" or (fact.type == "date" and not dates):
        return {"string": text}
    typed = _typed_value(Record(record.key, record.value, fact.type))
    if fact.type == "date" and typed and int(typed["date"][:4]) not in YEARS:
        typed = {}
    return {"string": text, **typed} if fact.type == "date" or not typed else typed


def number_of(text: str) -> float | None:
    """Return the finite number in a text, or None."""
    if not _NUMBER.fullmatch(text.strip()):
        return None
    number = float(text) + 0.0  # always the positive zero, which a search for 0 finds
    return number if math.isfinite(number) else None


def is_inexact(number: object) -> bool:
    """Return whether a whole number, or the text of one, cannot be compared exactly."""
    if isinstance(number, str):
        digits = number.strip()
        return _WHOLE.fullmatch(digits) is not None and (
            len(digits.lstrip("+-0")) > 16 or abs(int(digits)) > LARGEST_EXACT
        )
    return isinstance(number, int) and abs(number) > LARGEST_EXACT


def inexact_fact(number: object) -> str:
    """Return the limit, and what was sent, for the error about such a number."""
    return f"whole numbers are compared up to {LARGEST_EXACT}, and {quoted(number)} is beyond that"


def _geographic(record: Record) -> JsonObject | str | None:
    return _geographic_value(record) if GEO_KEY.fullmatch(record.key) else None


def _geographic_value(record: Record) -> JsonObject | str | None:
    """Return a point, or the text of any other GeoJSON."""
    kind = record.value_type.lower()
    if kind not in _GEOGRAPHIC:
        return None
    fields = _json_object(record.value)
    if fields is None:
        return None
    if kind == "geojson":
        return record.value
    if kind == "lla":
        return point_of(fields.get("lat"), fields.get("long"))
    longitude, latitude = first_two(fields.get("coordinates"))
    return point_of(latitude, longitude)


def _shapes_of(records: Sequence[Record], *, points: bool = False) -> dict[str, JsonObject]:
    """Return the shapes of GeoJSON, by key, within a budget of bytes; with `points`, all places."""
    shapes: dict[str, JsonObject] = {}
    room = SHAPE_BUDGET
    for record in records:
        kind, size = record.value_type.lower(), len(record.value.encode())
        if kind not in _GEOGRAPHIC or size > min(room, FLAT_VALUE_BYTES):
            continue
        if kind == "geojson":
            shape = geometry_of(_json_object(record.value))
        else:
            point = _geographic_value(record)
            shape = None if point is None or isinstance(point, str) else point_shape(point)
        if shape is not None and (points or shape["type"] != "Point"):
            shapes[record.key] = {"shape": shape}
            room -= size
    return shapes


def location_of(records: Iterable[Record]) -> JsonObject | None:
    """Return the place of a document: of the key `location`, or of latitude and longitude.

    The keys and forms are those of VAMS 2.6. Case is ignored in keys.
    """
    by_key: dict[str, object] = {record.key.lower(): record.value for record in records}
    text = str(by_key.get("location", "")).strip()
    if len(text.encode()) <= FLAT_VALUE_BYTES:
        fields = _json_object(text)
        if fields is None:
            parts = [part for part in text.split(",") if part.strip()]
            location = _place_of(dict(zip(_PLACE, parts, strict=False)))
        else:
            features: object = fields.get("features")
            is_list = fields.get("type") == "FeatureCollection" and isinstance(features, list)
            first = cast("list[object]", features)[:1] if is_list else [fields]
            location = geometry_of(first[0]) if first else None
            named = {name.lower(): value for name, value in fields.items()}
            location = location or _place_of(named)
        if location is not None:
            return location
    return _place_of(by_key)


def _place_of(fields: Mapping[str, object]) -> JsonObject | None:
    """Return the point whose coordinates the fields name, as numbers or as texts."""
    numbers: list[float | None] = []
    for names in _PLACE.values():
        sent = next((fields[name] for name in names if fields.get(name) not in (None, "")), None)
        is_number = isinstance(sent, int | float) and not isinstance(sent, bool)
        numbers.append(number_of(str(sent)) if is_number or isinstance(sent, str) else None)
    latitude, longitude, altitude = numbers
    point = point_of(latitude, longitude)
    return None if point is None else point_shape(point, altitude)


def _json_object(text: str) -> JsonObject | None:
    try:
        value = cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None
