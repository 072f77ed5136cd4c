"""Assets with their best file hits: few requests to OpenSearch, for any number of assets.

The first finds the best hit of each asset, which may be the asset itself or one of its files. The
second reads the documents of these assets and, for each of them, the matching files. If requested,
a third counts all files at the same time. Each has the caller's permission filter. Files are
returned from doc values, with the facts that are requested and no metadata, because the sources of
three hundred documents may exceed any reply.
"""

from collections.abc import Sequence

from backend.core.parallel import in_parallel
from backend.core.search_engine import JsonObject
from backend.search.query.facets import ASSET_ID
from backend.search.query.hits import (
    DOC_VALUES,
    Search,
    document_fields,
    from_doc_values,
    with_sources,
)
from backend.search.query.plan import FOLDED_ASSETS, OF_ASSET, TIE_BREAKERS, SearchPlan
from backend.spec.formats import KINDS_IN_ORDER

# One more request reads them for a page of 100 assets: 300 files, from doc values, because their
# sources may exceed a reply (decision 55).
FILES_OF_ASSET = 3
_FILES = "files"

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
                "places": {
                    f".{extension}": n
                    for n, kind in enumerate(KINDS_IN_ORDER)
                    for extension in kind
                },
                "last": len(KINDS_IN_ORDER),
            },
        },
        "order": "asc",
    }
}


def read_assets(plan: SearchPlan, heads: Sequence[JsonObject], search: Search) -> list[JsonObject]:
    """Return the assets of the best hits of a plan, each with its files; one request for all.

    An asset that was removed or hidden since the first request is left out.
    """
    if not heads:
        return []
    request = assets_request(plan, heads)
    counts = [counts_request(plan, list(map(_asset_of, heads)))] if plan.counts_files else []
    response, *counted = in_parallel(search, [request, *counts])
    assets = with_sources(response["hits"]["hits"], request, search, plan.highlight)
    shown = {asset["_source"]["str_assetid"]: asset for asset in assets}
    files = {
        bucket["key"]: [_file(hit) for hit in bucket[_FILES]["hits"]["hits"]]
        for bucket in response["aggregations"][FOLDED_ASSETS][OF_ASSET]["buckets"]
    }
    numbers = {
        bucket["key"]: bucket["doc_count"]
        for answer in counted
        for bucket in answer["aggregations"][OF_ASSET]["buckets"]
    }
    return [
        {
            **shown[asset_id],
            **{name: head[name] for name in ("_score", "sort") if name in head},
            _FILES: files.get(asset_id, []),
            **({"fileCount": numbers.get(asset_id, 0)} if plan.counts_files else {}),
        }
        for head, asset_id in zip(heads, map(_asset_of, heads), strict=True)
        if asset_id in shown
    ]


def assets_request(plan: SearchPlan, heads: Sequence[JsonObject]) -> JsonObject:
    """Return the request for the assets of these hits, and for their best files."""
    query = plan.query
    ids = list(map(_asset_of, heads))
    chosen = [] if plan.chosen is None else [plan.chosen]
    files: JsonObject = {**query, "filter": [*query["filter"], *chosen, _kind("file")]}
    best: JsonObject = {
        "size": FILES_OF_ASSET,
        # OpenSearch prepares the whole query again for each asset with `track_scores`: 1.7 ms each.
        # A score that sorts last is free.
        "sort": [*plan.sort, _KIND_ORDER, *TIE_BREAKERS, "_score"],
        "_source": False,
        "docvalue_fields": [*DOC_VALUES, *plan.file_facts],
    }
    by_asset = {
        "terms": {"field": ASSET_ID, "size": len(ids)},
        "aggs": {_FILES: {"top_hits": best}},
    }
    assets: JsonObject = {
        "filter": [plan.visible, {"terms": {ASSET_ID: ids}}],
        "must_not": query["must_not"],
        "should": [{"bool": {"filter": [_kind("asset")]}}, {"bool": files}],
        "minimum_should_match": 1,
    }
    return {
        "query": {"bool": assets},
        "post_filter": _kind("asset"),
        "size": len(ids),
        "track_total_hits": False,
        "aggs": {FOLDED_ASSETS: {"filter": _kind("file"), "aggs": {OF_ASSET: by_asset}}},
        **document_fields(len(ids), plan.highlight),
    }


def counts_request(plan: SearchPlan, ids: Sequence[str]) -> JsonObject:
    """Return the request for the number of visible files of assets, found by the search or not."""
    conditions = [plan.visible, _kind("file"), {"terms": {ASSET_ID: ids}}]
    return {
        "query": {"bool": {"filter": conditions, "must_not": list(plan.excluded)}},
        "size": 0,
        "track_total_hits": False,
        "aggs": {OF_ASSET: {"terms": {"field": ASSET_ID, "size": len(ids)}}},
    }


def _asset_of(head: JsonObject) -> str:
    return head["fields"][ASSET_ID][0]


def _kind(name: str) -> JsonObject:
    return {"term": {"_rectype": name}}


def _file(hit: JsonObject) -> JsonObject:
    kept = {"_index": hit["_index"], "_id": hit["_id"], "_score": hit["sort"][-1]}
    return {**kept, "_source": from_doc_values(hit.get("fields", {}))}
