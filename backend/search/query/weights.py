"""The weight of a search: OpenSearch's processor time that does not depend on documents. Pure.

A weight of 1 is about 0.03 seconds. OpenSearch prepares each condition in each segment: an
automaton for a misspelt word or a pattern, a condition for every three characters of a part.
`python -m benchmarks.weights` prints the seconds of searches at each limit.
"""

from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.search_engine import JsonObject
from backend.search.query.plan import SearchPlan

# 16 are half a second.
MAX_WEIGHT = 16
# Searches up to this weight are not counted in the budget of their user.
LIGHT = 8

_CONDITION = 0.012
# Each negation is evaluated for all documents that the others leave.
_NEGATED = 6
# A misspelt word in one field, by the letters that may differ.
_MISSPELT = {0: 0.0, 1: 0.03, 2: 0.2}
_CHAR_OF_PART = 0.01
_WILDCARD = 0.02
_FORMS = 0.005
"""Of each character of a regular expression that matches letters in all their forms."""
_AGGREGATION = 0.02
_LEAVES = frozenset(
    ("term", "terms", "range", "exists", "ids", "geo_distance", "geo_bounding_box", "geo_shape")
)
_TEXTS = frozenset(
    ("match", "multi_match", "match_phrase", "match_bool_prefix", "simple_query_string")
)


def check_weight(plan: SearchPlan) -> float:
    """Return the weight of a plan.

    Raises:
        InvalidInputError: it exceeds the limit; the error names the part that weighs most.
    """
    parts = weigh(plan)
    weight = sum(parts.values())
    if weight > MAX_WEIGHT:
        heaviest = max(parts, key=lambda name: parts[name])
        raise InvalidInputError.of(
            heaviest,
            f"makes a search of weight {weight:.0f}; at most {MAX_WEIGHT} is allowed: use fewer or "
            "shorter words, wildcards, conditions and facets, or several searches",
        )
    return weight


def weigh(plan: SearchPlan) -> dict[str, float]:
    """Return the weights of the parts of a plan, by the names that requests have for them."""
    # The request for the files of assets repeats the conditions.
    times = 2 if plan.folding else 1
    return {
        "query": _weigh(plan.words) * times,
        "filters": (_weigh(list(plan.filters)) + _weigh(plan.chosen)) * times,
        "metadataFacets": _weigh(plan.facets.aggregations),
    }


def _weigh(node: object) -> float:
    if isinstance(node, list):
        return sum(map(_weigh, cast("list[Any]", node)))
    if not isinstance(node, dict):
        return 0.0
    return sum(_weigh_part(name, part) for name, part in cast("JsonObject", node).items())


def _weigh_part(name: str, part: Any) -> float:
    if name in _TEXTS:
        return _weigh_text(part)
    if name in {"wildcard", "regexp"}:
        ((_, about),) = part.items()
        text = str(about["value"])
        if name == "regexp":
            return _CONDITION + _FORMS * len(text)
        return _CONDITION + _CHAR_OF_PART * len(text) + _WILDCARD * text.count("*")
    if name in _LEAVES:
        return _CONDITION
    if name == "aggs":
        return _AGGREGATION * len(part) + _weigh(part)
    return _weigh(part) * (_NEGATED if name == "must_not" else 1)


def _weigh_text(part: JsonObject) -> float:
    if "query" in part:
        about, fields = part, len(part.get("fields", "x"))
    else:
        ((_, about),) = part.items()
        fields = 1
    words = len(str(about["query"]).split())
    letters = int(about.get("fuzziness", 0))
    return fields * words * (_CONDITION + _MISSPELT[letters])
