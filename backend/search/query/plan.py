"""A search as one frozen value, and the request to OpenSearch for it. Pure: no I/O, no caller.

The caller's permissions are the filter `visible`. Only `SearchPlan.query` adds it to a query: hits,
totals, facets and each page by cursor are of one query, so none of them counts hidden documents.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from backend.core.search_engine import JsonObject
from backend.search.query.facets import ASSET_ID, Facets
from backend.search.query.hits import document_fields
from backend.search.query.models import EntityType
from backend.spec.search_indexes import SORT
from backend.values import frozen

TOMBSTONE: JsonObject = {"term": {"deleted": True}}
NOT_SHOWN: list[JsonObject] = [TOMBSTONE, {"term": {"bool_archived": True}}]
"""Documents that a search excludes: tombstones, and archived documents unless it requests them."""

NOTHING: JsonObject = {"match_none": {}}
"""The filter of a caller who may see no document."""

# Sort fields that order documents with equal scores, so that pages neither repeat nor omit a
# document.
TIE_BREAKERS: tuple[JsonObject, ...] = tuple(
    {f"{field}.keyword": {"order": "asc", "missing": "_first", "unmapped_type": "keyword"}}
    for field in ("str_databaseid", "str_assetid", "str_key")
)
# Assets come before files with the same score.
BY_SCORE: tuple[JsonObject | str, ...] = ("_score", {"_rectype": {"order": "asc"}})
# Assets up to which the count is exact, not estimated. OpenSearch allows at most 40,000
# (`precision_threshold`). Its memory counts once, because this is one number, unlike
# `ASSETS_EXACTLY`.
COUNTED_EXACTLY = 10_000
FOLDED_ASSETS, OF_ASSET = "folded_assets", "of_asset"


@frozen
class PageWindow:
    """The hits of a page: `size` from `start` on, or after the sort values of an earlier hit."""

    size: int
    start: int | None = None
    after: list[Any] | None = None


@frozen
class SearchPlan:
    """A search with the permissions of its caller, in parts that OpenSearch accepts.

    It is built once for a request (`queries`) and passed on; requests and replies follow from it.
    """

    visible: JsonObject
    """The filter for the documents that the caller may see."""
    kinds: tuple[EntityType, ...]
    window: PageWindow
    filters: tuple[JsonObject, ...] = ()
    named: tuple[str, ...] = ()
    """The field of the request that each of the filters is from."""
    excluded: tuple[JsonObject, ...] = tuple(NOT_SHOWN)
    words: Mapping[str, list[JsonObject]] = field(default_factory=dict[str, list[JsonObject]])
    """The clauses that match and score the words of the text: `must` and `should`."""
    chosen: JsonObject | None = None
    """The condition on selected values of facets. It filters hits after facets are counted."""
    facets: Facets = field(default_factory=Facets)
    watched: JsonObject = field(default_factory=dict[str, Any])
    """The aggregation for documents of a write that the search waits for (`freshness`)."""
    sort: tuple[JsonObject | str, ...] = BY_SCORE
    highlight: JsonObject | None = None
    folding: bool = False
    """Whether hits are assets with their best files."""
    file_facts: tuple[str, ...] = ()
    """The fields of facts that these files have, such as `AB_.fact_triangles`."""
    counts_files: bool = False
    """Whether these assets have the number of all their files."""
    cursor: str | None = None
    """The cursor of the page, in a list by cursor; empty for its first page."""
    digest: str = ""
    """Identifies the query of a list by cursor, whose page size may change."""
    corrected: str = ""
    """The text to correct if no hit has all of its words."""
    explained: str | None = None
    """The kind of query that explanations of hits name; None if none are requested."""
    scores_explained: bool = False
    mapping_version: int = 1
    """The version that the indexes need for the keys of the search."""

    @property
    def query(self) -> JsonObject:
        """Return the clauses of the `bool` query."""
        kinds: JsonObject = {"terms": {"_rectype": list(self.kinds)}}
        filters = [self.visible, kinds, *self.filters]
        return {"filter": filters, "must_not": list(self.excluded), **self.words}


def without_sort_keys(plan: SearchPlan) -> SearchPlan:
    """Return the plan for indexes of mapping versions before `SORT_FROM`."""
    earlier: list[JsonObject | str] = []
    for criterion in plan.sort:
        if isinstance(criterion, str):
            earlier.append(criterion)
            continue
        ((name, order),) = criterion.items()
        bare = name.removesuffix(f".{SORT}")
        part = "" if bare == name or bare.endswith(".string") else ".keyword"
        earlier.append({bare + part: order})
    return replace(plan, sort=tuple(earlier))


def to_opensearch(plan: SearchPlan) -> JsonObject:
    """Return the request for the hits of a plan; with `folding`, for the best hit of each asset."""
    window = plan.window
    aggregations = {**plan.facets.aggregations, **plan.watched}
    request: dict[str, object] = {
        "query": {"bool": plan.query},
        "from": window.start,
        "size": window.size,
        "search_after": window.after,
        "track_total_hits": 10_000,
        "track_scores": None if plan.sort == BY_SCORE else True,
        "sort": [*plan.sort, *TIE_BREAKERS],
        "post_filter": plan.chosen,
    }
    if plan.folding:
        number = {"cardinality": {"field": ASSET_ID, "precision_threshold": COUNTED_EXACTLY}}
        of_chosen = {"filter": plan.chosen or {"match_all": {}}, "aggs": {OF_ASSET: number}}
        parts: JsonObject = {
            "collapse": {"field": ASSET_ID},
            "aggs": {**aggregations, FOLDED_ASSETS: of_chosen},
            "_source": False,
            "docvalue_fields": [ASSET_ID],
        }
    else:
        parts = {
            # Only the first page by cursor has facets.
            "aggs": aggregations if aggregations and window.after is None else None,
            "explain": plan.scores_explained or None,
            **document_fields(window.size, plan.highlight),
        }
    return {name: part for name, part in {**request, **parts}.items() if part is not None}
