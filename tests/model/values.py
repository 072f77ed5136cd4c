"""Metadata of the model, and the expected form of each value in a document.

Written by hand from the data model: nothing of the product computes it.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from backend.core.metadata_values import ValueType


@dataclass(frozen=True)
class Value:
    """A value and its type; `typed` is the content of its nested pair besides the text.

    `flat` and `pair` are the texts in the flat object and in the pair, if they differ from it.
    `point` and `shape` are the content of a field of its own, if the key may have one.
    """

    value_type: ValueType
    text: str
    typed: dict[str, Any] = field(default_factory=dict[str, Any], hash=False)
    flat: str | None = None
    pair: str | None = None
    point: dict[str, float] | None = field(default=None, hash=False)
    shape: str | None = None


_SHAPE = '{"type": "LineString", "coordinates": [[9, 48], [10, 49]]}'
_PLACE = {"type": "Point", "coordinates": [9, 48.5]}
VALUES = (
    Value("string", "steel"),
    Value("string", ""),
    Value("multiline_string", "two\nlines ä😀"),
    Value("string", "x" * 9000, pair="x" * 8001),
    Value("number", "12.5", {"number": 12.5}),
    Value("number", "-3e2", {"number": -300.0}),
    Value("date", "2026-03-01", {"date": "2026-03-01T00:00:00+00:00"}),
    Value("date", "2026-03-01T01:30:00+02:00", {"date": "2026-02-28T23:30:00+00:00"}),
    Value("boolean", "TRUE", {"boolean": True}),
    Value("json", '{"deep": [1, {"a.b": null}]}'),
    Value(
        "lla",
        '{"lat": 48.5, "long": 9, "alt": 1}',
        {"point": {"lat": 48.5, "lon": 9}, "shape": _PLACE},
        point={"lat": 48.5, "lon": 9},
    ),
    Value(
        "geopoint",
        '{"type": "Point", "coordinates": [9, 48.5]}',
        {"point": {"lat": 48.5, "lon": 9}, "shape": _PLACE},
        point={"lat": 48.5, "lon": 9},
    ),
    Value("geojson", _SHAPE, {"shape": json.loads(_SHAPE)}, shape=_SHAPE),
)
TEXTS = tuple(value for value in VALUES if value.value_type == "string")
KEYS = ("material", "a", "a.b", "where", "VAMS_hidden", "_hidden", "ä #1")
GEO_KEYS = frozenset({"material", "a", "where"})
"""Those of the keys that may have geographic fields."""


def described(records: dict[str, Value]) -> dict[str, Any]:
    """The fields of a document that come from metadata."""
    kept = {key: v for key, v in sorted(records.items()) if not key.startswith(("VAMS_", "_"))}
    if not kept:
        return {}
    fields: dict[str, Any] = {
        "MD_": {key: v.text if v.flat is None else v.flat for key, v in kept.items()},
        "metadata": [
            {"key": key, "string": v.text if v.pair is None else v.pair, **v.typed}
            for key, v in kept.items()
        ],
    }
    for key in GEO_KEYS & kept.keys():
        if kept[key].point is not None:
            fields[f"gp_{key}"] = kept[key].point
        if kept[key].shape is not None:
            fields[f"gs_{key}"] = kept[key].shape
    return fields


def attributes(records: dict[str, Value]) -> dict[str, Any]:
    """The fields of a document that come from attributes."""
    kept = {k: v for k, v in records.items() if not k.startswith(("VAMS_", "_"))}
    if not kept:
        return {}
    return {
        "AB_": {k: v.text if v.flat is None else v.flat for k, v in kept.items()},
        "attributes": [
            {"key": k, "string": v.text if v.pair is None else v.pair}
            for k, v in sorted(kept.items())
        ],
    }
