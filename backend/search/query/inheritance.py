"""Conditions of assets that hold for their files too, in searches that return assets. Pure.

Metadata of an asset, and fields that only assets have, are in the asset's document alone. A search
with `foldFiles` therefore requests first which assets meet each such condition. In its query, a
condition then holds for a document that meets it or belongs to one of these assets: so it can be
combined with conditions on files, and facets count the files (decision 55).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from backend.core.search_engine import JsonObject
from backend.search.query.facets import ASSET_ID
from backend.search.query.letters import any_of
from backend.search.query.pairs import METADATA
from backend.search.query.plan import SearchPlan
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX, LOCATION

# Assets in all lists of a query together. OpenSearch returns at most 65,535 buckets, and 50,000
# ids are a request of 2 MB, of the 10 MB that small domains accept.
MOST_ASSETS = 50_000
_OF_ASSETS = frozenset(ASSET_INDEX.all_fields) - frozenset(FILE_INDEX.all_fields)
_LEAVES = frozenset({"term", "terms", "match", "wildcard", "regexp", "range"})
_IDS = "ids"

_Replace = Callable[[JsonObject], JsonObject]


class Inherited(NamedTuple):
    """A plan whose files inherit conditions, and the limit if one was met by more assets."""

    plan: SearchPlan
    exceeded: int | None = None


def conditions_of_assets(plan: SearchPlan) -> list[JsonObject]:
    """Return the conditions of a plan that only documents of assets may meet, as often as they
    occur.
    """
    conditions: list[JsonObject] = []

    def collect(condition: JsonObject) -> JsonObject:
        conditions.append(condition)
        return condition

    _rewrite(plan, collect)
    return conditions


def assets_meeting(plan: SearchPlan, conditions: Sequence[JsonObject]) -> JsonObject:
    """Return the request for the ids of the visible assets that meet each condition."""
    ids: JsonObject = {_IDS: {"terms": {"field": ASSET_ID, "size": _share(conditions)}}}
    return {
        "query": {"bool": {"filter": [plan.visible], "must_not": list(plan.excluded)}},
        "size": 0,
        "track_total_hits": False,
        "aggs": {
            str(number): {"filter": condition, "aggs": ids}
            for number, condition in enumerate(conditions)
        },
    }


def with_conditions_on_assets(
    plan: SearchPlan, conditions: Sequence[JsonObject], counted: Mapping[str, Any]
) -> Inherited:
    """Return the plan in which conditions also hold for files of the assets that meet them."""
    most, exceeded = _share(conditions), False
    numbers = iter(range(len(conditions)))

    def extend(condition: JsonObject) -> JsonObject:
        nonlocal exceeded
        met = counted[str(next(numbers))]
        exceeded |= met["doc_count"] > most
        ids = [bucket["key"] for bucket in met[_IDS]["buckets"]]
        if not ids or met["doc_count"] > most:
            return condition
        return any_of([condition, {"terms": {ASSET_ID: ids}}])

    extended = _rewrite(plan, extend)
    return Inherited(extended, most if exceeded else None)


def files_left_out(most: int) -> str:
    """Return what a search lacks if more assets than these meet a condition on assets."""
    assets = f"{most:,} assets" if most > 1 else "1 asset"
    return (
        f"More than {assets} meet one of the conditions on metadata or fields of assets, so it "
        "finds no files of them, and nothing together with a condition on files: narrow it"
    )


def _share(conditions: Sequence[JsonObject]) -> int:
    return max(1, MOST_ASSETS // len(conditions))


def _rewrite(plan: SearchPlan, rewrite: _Replace) -> SearchPlan:
    """Return the plan with each condition of assets rewritten, in a fixed order.

    The words of the query are left as they are: they have scores.
    """
    return replace(
        plan,
        filters=tuple(_within(list(plan.filters), rewrite)),
        chosen=_within(plan.chosen, rewrite),
        facets=replace(plan.facets, aggregations=_within(plan.facets.aggregations, rewrite)),
    )


def _within(node: Any, rewrite: _Replace) -> Any:
    if isinstance(node, list):
        return [_within(part, rewrite) for part in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    condition = cast("JsonObject", node)
    if _is_of_assets(condition):
        return rewrite(condition)
    return {name: _within(part, rewrite) for name, part in condition.items()}


def _is_of_assets(node: JsonObject) -> bool:
    """Return whether this is a query of metadata, or of a field that only assets have."""
    if len(node) != 1:
        return False
    ((kind, about),) = node.items()
    match kind, about:
        case "nested", {"path": path, "query": _}:
            return path == METADATA
        case "exists", {"field": str(field)}:
            return field == LOCATION or field.removesuffix(".keyword") in _OF_ASSETS
        case "geo_shape", {"geo_MD_location": _}:
            return True
        case _:
            fields = list(cast("JsonObject", about)) if kind in _LEAVES else []
            return len(fields) == 1 and fields[0].removesuffix(".keyword") in _OF_ASSETS
