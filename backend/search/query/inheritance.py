"""Conditions of assets that hold for their files too, in searches that return assets. Pure.

Metadata of an asset, and fields that only assets have, are in the asset's document alone. A search
with `foldFiles` therefore requests first which assets meet each such condition. In its query, a
condition then holds for a document that meets it or belongs to one of these assets: so it can be
combined with conditions on files, and facets count the files (decision 55).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from backend.core.search_engine import JsonObject
from backend.search.query.facets import ASSET_ID
from backend.search.query.letters import any_of
from backend.search.query.pairs import METADATA
from backend.spec.search_indexes import ASSET_INDEX, FILE_INDEX

# Assets in all lists of a query together. OpenSearch returns at most 65,535 buckets, and 50,000
# ids are a request of 2 MB, of the 10 MB that small domains accept.
MOST_ASSETS = 50_000
_OF_ASSETS = frozenset(ASSET_INDEX.all_fields) - frozenset(FILE_INDEX.all_fields)
_LEAVES = frozenset({"term", "terms", "match", "wildcard", "regexp", "range"})
_IDS = "ids"

_Replace = Callable[[JsonObject], JsonObject]


class Inherited(NamedTuple):
    """A request whose files inherit conditions, and the limit if one was met by more assets."""

    request: JsonObject
    exceeded: int | None = None


def conditions_of_assets(request: JsonObject) -> list[JsonObject]:
    """Return the conditions of a request that only documents of assets may meet, as often as they
    occur.
    """
    found: list[JsonObject] = []

    def collect(condition: JsonObject) -> JsonObject:
        found.append(condition)
        return condition

    _rewritten(request, collect)
    return found


def assets_meeting(request: JsonObject, conditions: Sequence[JsonObject]) -> JsonObject:
    """Return the request for the ids of the visible assets that meet each condition."""
    query = request["query"]["bool"]
    ids: JsonObject = {_IDS: {"terms": {"field": ASSET_ID, "size": _share(conditions)}}}
    return {
        "query": {"bool": {"filter": query["filter"][:1], "must_not": query["must_not"]}},
        "size": 0,
        "track_total_hits": False,
        "aggs": {str(n): {"filter": one, "aggs": ids} for n, one in enumerate(conditions)},
    }


def with_conditions_on_assets(
    request: JsonObject, conditions: Sequence[JsonObject], counted: Mapping[str, Any]
) -> Inherited:
    """Return the request in which conditions also hold for files of the assets that meet them."""
    most, exceeded = _share(conditions), False
    numbers = iter(range(len(conditions)))

    def replace(condition: JsonObject) -> JsonObject:
        nonlocal exceeded
        met = counted[str(next(numbers))]
        exceeded |= met["doc_count"] > most
        ids = [bucket["key"] for bucket in met[_IDS]["buckets"]]
        if not ids or met["doc_count"] > most:
            return condition
        return any_of([condition, {"terms": {ASSET_ID: ids}}])

    changed = _rewritten(request, replace)
    return Inherited(changed, most if exceeded else None)


def files_left_out(most: int) -> str:
    """Return what a search lacks if more assets than these meet a condition on assets."""
    assets = f"{most:,} assets" if most > 1 else "1 asset"
    return (
        f"More than {assets} meet one of the conditions on metadata or fields of assets, so it "
        "finds no files of them, and nothing together with a condition on files: narrow it"
    )


def _share(conditions: Sequence[JsonObject]) -> int:
    return max(1, MOST_ASSETS // len(conditions))


def _rewritten(request: JsonObject, replace: _Replace) -> JsonObject:
    """Return the request with each condition of assets replaced, in a fixed order.

    The words of the query are left as they are: they have scores.
    """
    query = request["query"]["bool"]
    visible, kinds, *conditions = query["filter"]
    filters = [visible, kinds, *_within(conditions, replace)]
    changed = {**request, "query": {"bool": {**query, "filter": filters}}}
    for part in ("post_filter", "aggs"):
        if part in request:
            changed[part] = _within(request[part], replace)
    return changed


def _within(node: Any, replace: _Replace) -> Any:
    if isinstance(node, list):
        return [_within(one, replace) for one in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    condition = cast("JsonObject", node)
    if _is_of_assets(condition):
        return replace(condition)
    return {name: _within(part, replace) for name, part in condition.items()}


def _is_of_assets(node: JsonObject) -> bool:
    """Return whether this is a query of metadata, or of a field that only assets have."""
    if len(node) != 1:
        return False
    ((kind, about),) = node.items()
    match kind, about:
        case "nested", {"path": path, "query": _}:
            return path == METADATA
        case "exists", {"field": str(field)}:
            return field.removesuffix(".keyword") in _OF_ASSETS
        case _:
            fields = list(cast("JsonObject", about)) if kind in _LEAVES else []
            return len(fields) == 1 and fields[0].removesuffix(".keyword") in _OF_ASSETS
