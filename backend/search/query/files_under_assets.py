"""Assets with their best file hits: two requests to OpenSearch, for any number of assets.

The first finds the best hit of each asset, which may be the asset itself or one of its files. The
second reads the documents of these assets and, for each of them, the matching files. Both have the
caller's permission filter. Files are returned without metadata, from doc values, because the
sources of three hundred documents may exceed any reply.
"""

from collections.abc import Sequence
from typing import Any

from backend.core.search_engine import JsonObject
from backend.search.query.facets import ASSET_ID
from backend.search.query.hits import DOC_VALUES, from_doc_values
from backend.search.query.queries import HIDDEN_FIELDS, TIE_BREAKERS
from backend.spec.formats import KINDS_IN_ORDER

# One more request reads them for a page of 100 assets: 300 files, from doc values, because their
# sources may exceed a reply (decision 55).
FILES_OF_ASSET = 3
# Assets up to which the count is exact, not estimated. OpenSearch allows at most 40,000
# (`precision_threshold`). Its memory counts once, because this is one number, unlike
# `ASSETS_EXACTLY`.
COUNTED_EXACTLY = 10_000
_ASSETS, _OF_ASSET, _FILES = "folded_assets", "of_asset", "files"
_UNFOLDED = ("highlight", "explain")

# Of files that match a search equally well, one to look at comes first, and not the first by name:
# the order in which the page of an asset chooses the file that it opens.
_BY_KIND = """
def found = doc[params.field];
return found.size() == 0 ? params.last : params.places.getOrDefault(found.value, params.last);
"""
_KIND_ORDER: JsonObject = {
    "_script": {
        "type": "number",
        "script": {
            "lang": "painless",
            "source": _BY_KIND,
            "params": {
                "field": "str_fileext.keyword",
                "places": {f".{one}": n for n, kind in enumerate(KINDS_IN_ORDER) for one in kind},
                "last": len(KINDS_IN_ORDER),
            },
        },
        "order": "asc",
    }
}


def folded_request(request: JsonObject) -> JsonObject:
    """Return the request for the best hit of each asset, and for the number of assets."""
    number = {"cardinality": {"field": ASSET_ID, "precision_threshold": COUNTED_EXACTLY}}
    chosen: JsonObject = request.get("post_filter", {"match_all": {}})
    counted = {"filter": chosen, "aggs": {_OF_ASSET: number}}
    base = {name: part for name, part in request.items() if name not in _UNFOLDED}
    return {
        **base,
        "collapse": {"field": ASSET_ID},
        "aggs": {**request.get("aggs", {}), _ASSETS: counted},
        "_source": False,
        "docvalue_fields": [ASSET_ID],
    }


def taken_number(answer: JsonObject) -> int:
    """Return the number of assets, and remove it from the response to a folded request."""
    aggregations = answer["aggregations"]
    number: int = aggregations.pop(_ASSETS)[_OF_ASSET]["value"]
    if not aggregations:
        del answer["aggregations"]
    return number


def assets_request(request: JsonObject, heads: Sequence[JsonObject]) -> JsonObject:
    """Return the request for the assets of these hits, and for their best files."""
    conditions = request["query"]["bool"]
    ids = list(map(_asset_of, heads))
    of_these: JsonObject = {"terms": {ASSET_ID: ids}}
    visible = conditions["filter"][0]
    chosen = [request["post_filter"]] if "post_filter" in request else []
    files: JsonObject = {**conditions, "filter": [*conditions["filter"], *chosen, _kind("file")]}
    best: JsonObject = {
        "size": FILES_OF_ASSET,
        # OpenSearch prepares the whole query again for each asset with `track_scores`: 1.7 ms each.
        # A score that sorts last is free.
        "sort": [*_with_kind_order(request["sort"]), "_score"],
        "_source": False,
        "docvalue_fields": DOC_VALUES,
    }
    by_asset = {
        "terms": {"field": ASSET_ID, "size": len(ids)},
        "aggs": {_FILES: {"top_hits": best}},
    }
    found: JsonObject = {
        "query": {
            "bool": {
                "filter": [visible, of_these],
                "must_not": conditions["must_not"],
                "should": [{"bool": {"filter": [_kind("asset")]}}, {"bool": files}],
                "minimum_should_match": 1,
            }
        },
        "post_filter": _kind("asset"),
        "size": len(ids),
        "track_total_hits": False,
        "_source": {"excludes": HIDDEN_FIELDS},
        "aggs": {_ASSETS: {"filter": _kind("file"), "aggs": {_OF_ASSET: by_asset}}},
    }
    return found | ({"highlight": request["highlight"]} if "highlight" in request else {})


def folded_hits(
    heads: Sequence[JsonObject], assets: Sequence[JsonObject], aggregations: JsonObject
) -> list[JsonObject]:
    """Return the assets in the order of their best hits, each with its score and its files.

    An asset that was removed or hidden since the first request is left out.
    """
    shown = {asset["_source"]["str_assetid"]: asset for asset in assets}
    files = {
        bucket["key"]: [_file(hit) for hit in bucket[_FILES]["hits"]["hits"]]
        for bucket in aggregations[_ASSETS][_OF_ASSET]["buckets"]
    }
    found: list[JsonObject] = []
    for head in heads:
        asset = shown.get(_asset_of(head))
        if asset is not None:
            best = {name: head[name] for name in ("_score", "sort") if name in head}
            found.append({**asset, **best, _FILES: files.get(_asset_of(head), [])})
    return found


def _with_kind_order(sort: Sequence[Any]) -> list[Any]:
    """Return a sort in which files that are otherwise equal are ordered by their kind."""
    return [one for one in sort if one not in TIE_BREAKERS] + [_KIND_ORDER, *TIE_BREAKERS]


def _asset_of(head: JsonObject) -> str:
    return head["fields"][ASSET_ID][0]


def _kind(name: str) -> JsonObject:
    return {"term": {"_rectype": name}}


def _file(hit: dict[str, Any]) -> JsonObject:
    kept = {"_index": hit["_index"], "_id": hit["_id"], "_score": hit["sort"][-1]}
    return {**kept, "_source": from_doc_values(hit.get("fields", {}))}
