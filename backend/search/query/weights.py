"""The weight of a search: the time of OpenSearch's processors that it takes. Pure.

A weight of 1 is at most 0.03 seconds, also while OpenSearch compiles its code. It prepares each
condition in each segment: an automaton for a misspelt word or a pattern, a condition for every
three characters of a part.
`python -m benchmarks.weights` prints the seconds of searches at the limit.
"""

from collections.abc import Mapping
from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.search.geometries import count_positions, leaves_of
from backend.search.query.plan import SearchPlan
from backend.spec.search_indexes import INNER

# 16 are half a second.
MAX_WEIGHT = 16
# Searches up to this weight are not counted in the budget of their user.
LIGHT = 10

_REQUEST = 0.5
# Reads the best files of each asset of a page.
_FOLDING = 3.0
_CONDITION, _VALUE = 0.0025, 0.0003
# A word in one field, and each letter of a misspelt one by the number of letters that may differ.
_WORD, _MISSPELT = 0.002, {0: 0.0, 1: 0.0055, 2: 0.045}
# A part of a word, a pattern, and a regular expression of letters in all their forms: one, each of
# its characters, each of its wildcards.
_INNER = (0.03, 0.003, 0.0)
_FORMS = {"wildcard": (0.0025, 0.0015, 0.035), "regexp": (0.01, 0.0003, 0.15)}
_AGGREGATION = 0.03
POSITION = 0.0008
"""The weight of a position of a shape."""
_LEAVES: Mapping[str, float] = {
    **dict.fromkeys(("term", "terms", "range", "exists", "ids"), _CONDITION),
    **dict.fromkeys(("geo_distance", "geo_bounding_box", "geo_shape"), 0.04),
}
_TEXTS = frozenset(
    ("match", "multi_match", "match_phrase", "match_bool_prefix", "simple_query_string")
)


def check_weight(plan: SearchPlan) -> float:
    """Return the weight of a plan.

    Raises:
        InvalidInputError: it exceeds the limit; the error names the part that weighs most.
    """
    weights = [_weigh(condition) for condition in plan.filters]
    highlighted = _weigh((plan.highlight or {}).get("highlight_query"))
    # With folded files, further requests repeat the words once and the conditions twice. Highlights
    # repeat the conditions, and query one field for the words.
    words, conditions, folding = (2, 3, _FOLDING) if plan.folding else (1, 1, 0.0)
    marks = max(0.0, highlighted - sum(weights))
    parts: dict[str, float] = {
        "query": _REQUEST + words * _weigh(plan.words) + marks,
        "facetChoices": conditions * _weigh(plan.chosen),
        "metadataFacets": _weigh(plan.facets.aggregations) + folding,
    }
    for name, weight in zip(plan.named, weights, strict=True):
        parts[name] = parts.get(name, 0) + weight * (conditions + (highlighted > 0))
    weight = sum(parts.values())
    if weight > MAX_WEIGHT:
        heaviest = max(parts, key=lambda name: parts[name])
        raise InvalidInputError.of(
            heaviest,
            f"makes a search of weight {weight:.0f}; at most {MAX_WEIGHT} is allowed: use fewer or "
            "shorter words, patterns, conditions or facets, no highlights, or several searches",
        )
    return weight


def _weigh(part: Any, name: str = "") -> float:
    """Return the weight of a part of a request that has the name, of all that it contains."""
    if name in _LEAVES:
        lists = part.values() if name == "terms" else ()
        values = sum(len(cast("list[Any]", part)) for part in lists if isinstance(part, list))
        shapes = (next(iter(part.values()))["shape"],) if name == "geo_shape" else ()
        positions = sum(
            count_positions(leaf["coordinates"]) for shape in shapes for leaf in leaves_of(shape)
        )
        return _LEAVES[name] + _VALUE * values + POSITION * positions
    if name not in _TEXTS and name not in _FORMS:
        if isinstance(part, list):
            return sum(map(_weigh, cast("list[Any]", part)))
        parts = cast("JsonObject", part) if isinstance(part, dict) else {}
        own = _AGGREGATION * len(parts) if name == "aggs" else 0.0
        return own + sum(_weigh(inner, key) for key, inner in parts.items())
    field, about = ("", part) if "query" in part else next(iter(part.items()))
    if name in _FORMS:
        text = str(about["value"])
        wildcards = text.count(".*") if name == "regexp" else text.count("*") + text.count("?")
        whole, char, wildcard = _INNER if field.endswith(f".{INNER}") else _FORMS[name]
        return whole + char * len(text) + wildcard * wildcards
    words = str(about["query"]).split()
    letters = sum(map(len, words)) * _MISSPELT[int(about.get("fuzziness", 0))]
    return len(about.get("fields", "x")) * (_WORD * len(words) + letters)
