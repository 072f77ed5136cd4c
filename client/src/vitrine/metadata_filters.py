"""Filters and facets of searches by metadata and facts, as values and as typed by users."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from pydantic import JsonValue

from vitrine.errors import VitrineError
from vitrine.quoting import quote_text

FilterOperator = Literal[
    "eq", "in", "gt", "gte", "lt", "lte", "between", "exists", "geoDistance", "geoBox"
]
ValueType = Literal["string", "number", "date", "boolean"]

_OPERATORS: Final[dict[str, FilterOperator]] = {
    "=": "eq",
    ">=": "gte",
    ">": "gt",
    "<=": "lte",
    "<": "lt",
}
_TYPED = re.compile(r"(?P<key>[^=<>]*)(?P<op>>=|<=|=|>|<)(?P<value>.*)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class FilterError(VitrineError):
    """The text is not a valid filter; the message shows the form of one."""


@dataclass(frozen=True, kw_only=True)
class MetadataFilter:
    """One condition on a metadata key. The type follows from the value, unless `type` is set."""

    key: str
    op: FilterOperator
    value: JsonValue = None
    type: ValueType | None = None

    def body(self) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = {"key": self.key, "op": self.op}
        if self.value is not None:
            fields["value"] = self.value
        if self.type is not None:
            fields["type"] = self.type
        return fields


def parse_filter(text: str) -> MetadataFilter:
    """Parse `key>=3`, `made<2024-01-01`, `maker=Acme`, `key="3"` (a text), `key` alone, or `!key`.

    Raises:
        FilterError: the text has another form.
    """
    typed = _TYPED.fullmatch(text)
    if typed is None:
        key = text.removeprefix("!").strip()
        if not key:
            raise FilterError(
                f"{quote_text(text)} has no key; a filter is key>=3, key=text, key or !key"
            )
        return MetadataFilter(key=key, op="exists", value=not text.startswith("!"))
    key, op, value = typed["key"].strip(), _OPERATORS[typed["op"]], typed["value"].strip()
    if not key or not value:
        raise FilterError(
            f"{quote_text(text)} has no key or no value; a filter is key>=3 or key=text"
        )
    return MetadataFilter(key=key, op=op, value=_value(value))


FACT = "fact_"
"""The start of the keys of a file's facts."""
_METADATA = "metadata."
_RANGES: Final = {"gte": "from", "lt": "to"}


@dataclass(frozen=True, kw_only=True)
class MetadataFacet:
    """Counts the values of a key; with `ranges` also the numbers from `from` on and below `to`."""

    key: str
    ranges: tuple[dict[str, float], ...] = ()

    def body(self) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = {"key": self.key}
        if self.ranges:
            fields["ranges"] = [dict(bounds) for bounds in self.ranges]
        return fields


def fact_key(name: str) -> str:
    """Return the key of a bare fact (`triangles`), of `metadata.<key>` or of `AB_<key>`."""
    if name.startswith(_METADATA):
        return name.removeprefix(_METADATA)
    return name if name.startswith((FACT, "AB_")) else FACT + name


def parse_where(text: str) -> MetadataFilter:
    """Parse `triangles > 10000`, `format=OBJ`, `watertight=false`, `unit` alone, or `!unit`.

    Bare names are facts; `metadata.width` is a metadata key, `AB_maker` an attribute.

    Raises:
        FilterError: the text has another form.
    """
    condition = parse_filter(text)
    return replace(condition, key=fact_key(condition.key))


def parse_facet(text: str) -> MetadataFacet:
    """Parse `format`, or `texturesMissing >= 1` to count the files in that range.

    Names are as in filters.

    Raises:
        FilterError: the text has another form.
    """
    typed = _TYPED.fullmatch(text)
    if typed is None:
        return MetadataFacet(key=fact_key(text.strip()))
    condition = parse_where(text)
    bound = _RANGES.get(condition.op)
    if (
        bound is None
        or isinstance(condition.value, bool)
        or not isinstance(condition.value, int | float)
    ):
        raise FilterError(
            f"{quote_text(text)} is not a facet; write format, triangles >= 1000 or area < 2.5"
        )
    return MetadataFacet(key=condition.key, ranges=({bound: condition.value},))


_FACETS: Final = {
    "asset": "str_assetid",
    "database": "str_databaseid",
    "ext": "str_fileext",
    "tag": "list_tags",
    "type": "str_assettype",
}


@dataclass(frozen=True, kw_only=True)
class FacetChoice:
    """Values selected in a facet: hits have one of them, and the facet still counts the others."""

    facet: str
    values: tuple[JsonValue, ...]

    def body(self) -> dict[str, JsonValue]:
        return {"facet": self.facet, "values": list(self.values)}


def parse_choices(texts: Iterable[str]) -> list[FacetChoice]:
    """Parse `ext=glb`, `tag=red`, `type=folder`, `database=…`, `asset=…`, or a fact: `format=OBJ`.

    Several values of one facet are alternatives.

    Raises:
        FilterError: a text has another form.
    """
    chosen: dict[str, list[JsonValue]] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not name or not equals or not value:
            raise FilterError(
                f"{quote_text(text)} is not a facet value; write ext=glb, tag=red or format=OBJ"
            )
        if name == "ext" and not value.startswith("."):
            value = f".{value}"
        own = name in _FACETS
        facet = _FACETS[name] if own else _own_key(name)
        chosen.setdefault(facet, []).append(value if own else _value(value))
    return [FacetChoice(facet=name, values=tuple(values)) for name, values in chosen.items()]


GeoRelation = Literal["intersects", "within", "contains", "disjoint"]


@dataclass(frozen=True, kw_only=True)
class GeoSearch:
    """A condition on places, with one shape: a point, a box, or GeoJSON. In degrees and metres."""

    point: tuple[float, float] | None = None
    """Latitude and longitude."""
    radius_meters: float | None = None
    bbox: tuple[float, float, float, float] | None = None
    """Latitude and longitude of the top left corner, then of the bottom right one."""
    geo_json: JsonValue = None
    relation: GeoRelation = "intersects"

    def body(self) -> dict[str, JsonValue]:
        fields: dict[str, JsonValue] = {"relation": self.relation}
        if self.point is not None:
            point: dict[str, JsonValue] = dict(zip(("lat", "lon"), self.point, strict=True))
            if self.radius_meters is not None:
                point["radiusMeters"] = self.radius_meters
            fields["point"] = point
        if self.bbox is not None:
            top, left, bottom, right = self.bbox
            fields["bbox"] = {
                "topLeft": {"lat": top, "lon": left},
                "bottomRight": {"lat": bottom, "lon": right},
            }
        if self.geo_json is not None:
            fields["geoJson"] = self.geo_json
        return fields


def parse_geo(
    point: str | None, bbox: str | None, geo_json: bytes | None, relation: GeoRelation | None
) -> GeoSearch | None:
    """Parse `LAT,LON`, `LAT,LON,METERS`, `TOP,LEFT,BOTTOM,RIGHT`, or the text of GeoJSON.

    Raises:
        FilterError: a text has another form, or there is not exactly one.
    """
    count = sum(sent is not None for sent in (point, bbox, geo_json))
    if not count and relation is None:
        return None
    if count != 1:
        raise FilterError("name exactly one of a point, a box and a file of GeoJSON")
    relation = relation or "intersects"
    if geo_json is not None:
        try:
            return GeoSearch(geo_json=json.loads(geo_json), relation=relation)
        except (ValueError, RecursionError):
            raise FilterError("the file of GeoJSON is not JSON") from None
    text = str(bbox if point is None else point)
    parts = [part.strip() for part in text.split(",")]
    numbers = [float(part) for part in parts if _NUMBER.fullmatch(part)]
    match numbers if len(numbers) == len(parts) else (), bbox:
        case [latitude, longitude, *radius], None if len(radius) < 2:
            place = (latitude, longitude)
            return GeoSearch(point=place, radius_meters=[*radius, None][0], relation=relation)
        case [top, left, bottom, right], str():
            return GeoSearch(bbox=(top, left, bottom, right), relation=relation)
        case _:
            form = "LAT,LON or LAT,LON,METERS" if bbox is None else "TOP,LEFT,BOTTOM,RIGHT"
            raise FilterError(f"{quote_text(text)} is not a place; write {form}")


def parse_order(text: str) -> tuple[str, Literal["asc", "desc"]]:
    """Parse `triangles`, or `-triangles` for the largest first; names are as in filters."""
    name = text.removeprefix("-").strip()
    return _own_key(name), "desc" if text.startswith("-") else "asc"


def _own_key(name: str) -> str:
    return name if name.startswith(_METADATA) else fact_key(name)


def _value(text: str) -> JsonValue:
    if text in {"true", "false"}:
        return text == "true"
    if _NUMBER.fullmatch(text):
        return float(text) if any(mark in text for mark in ".eE") else int(text)
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return json.loads(text)
        except ValueError:
            raise FilterError(f"{text} is not a quoted text") from None
    return text
