"""Facets, selections of their values, and histograms of a search. Pure: no I/O, no caller.

Selected values filter the hits after the query (`post_filter`), so each facet counts without its
own selection: a selected value does not hide the others. All counts cover only documents that the
query finds, and so only those that the caller may see.
"""

from collections.abc import Mapping
from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.metadata_queries import (
    COUNTED,
    date_buckets,
    date_histogram,
    facet_aggregations,
    metadata_filter_query,
    taken_facets,
)
from backend.search.query.models import (
    EntityType,
    HistogramField,
    MetadataFilter,
    SearchBody,
)
from backend.search.query.pairs import METADATA, PREFIXES, pair_named

# Values of a facet. With `foldFiles`, each takes 16 KiB of OpenSearch's memory (decision 55).
FACET_SIZE = 1000
SIZE_BOUNDS = tuple(1000 * 10**power for power in range(10))
"""Bounds of the size buckets: 1 kB, 10 kB, and so on to 1 TB."""
ASSET_ID = "str_assetid.keyword"
# Number of assets of one value up to which the count is exact, not estimated. OpenSearch uses 16
# KiB of memory per facet value for it.
ASSETS_EXACTLY = 3000
_BUCKETS = frozenset({"terms", "range", "auto_date_histogram"})
_ASSETS, _OF_ROOT = "assets", "of_root"
_HISTOGRAM = "histogram_"
_METADATA = f"{METADATA}."
_ALL_WORDS = "with_all_words"

_FACETS: tuple[tuple[str, str, EntityType | None], ...] = (
    # name of the facet in VAMS' reply, name of its buckets, documents that it counts
    ("str_assettype", "filtered_assettype", "asset"),
    ("str_fileext", "filtered_fileext", "file"),
    ("str_assetid", "filtered_assetid", "file"),
    ("str_databaseid", "filtered_databaseid", None),
    ("list_tags", "filtered_tags", None),
)
_NAMES = tuple(name for name, _, _ in _FACETS)
FACET_FIELDS = frozenset(_NAMES)


def add_facets(request: JsonObject, body: SearchBody) -> None:
    """Add the requested facets and histograms to a search, and the selections of facet values.

    Raises:
        InvalidInputError: a facet is unknown, or selected twice or by a value of another type.
    """
    choices = _choices(body)
    if choices:
        request["post_filter"] = {"bool": {"filter": [*choices.values()]}}
    counted: JsonObject = {}
    if body.aggregations:
        counted |= _field_facets(choices)
    for number, (name, facet) in enumerate(facet_aggregations(body.metadata_facets).items()):
        others = _without(choices, body.metadata_facets[number].key)
        counted[name] = _among(facet, others)
    for field in body.histograms:
        counted[_HISTOGRAM + field] = _among(_histogram(field), [*choices.values()])
    if body.fold_files:
        _count_assets(counted)
    if _ALL_WORDS in request.get("aggs", {}):
        all_words = request["aggs"][_ALL_WORDS]["aggs"][COUNTED]
        counted[_ALL_WORDS] = _among(all_words, [*choices.values()])
    if counted:
        request["aggs"] = counted


def _count_assets(aggregations: JsonObject, *, nested: bool = False) -> None:
    """Also count the assets of each bucket: folded hits are assets, documents are their files."""
    number: JsonObject = {"cardinality": {"field": ASSET_ID, "precision_threshold": ASSETS_EXACTLY}}
    for name, one in aggregations.items():
        within = nested or "nested" in one
        _count_assets(one.get("aggs", {}), nested=within)
        # A bucket of assets by their id is one asset.
        if one.keys() & _BUCKETS and name != "filtered_assetid":
            of_root: JsonObject = {"reverse_nested": {}, "aggs": {_OF_ROOT: number}}
            one.setdefault("aggs", {})[_ASSETS] = of_root if within else number


def replace_asset_counts(counted: Any) -> None:
    """Replace the aggregation of assets in each bucket of OpenSearch's response by its number."""
    if isinstance(counted, list):
        for one in cast("list[Any]", counted):
            replace_asset_counts(one)
    if not isinstance(counted, dict):
        return
    found = cast("JsonObject", counted)
    assets = found.pop(_ASSETS, None)
    for one in found.values():
        replace_asset_counts(one)
    if assets is not None:
        # An estimate may exceed what it estimates.
        found[_ASSETS] = min(assets.get(_OF_ROOT, assets)["value"], found["doc_count"])


def move_facets(body: SearchBody, reply: JsonObject) -> None:
    """Move the metadata facets and the histograms of a reply to separate fields."""
    counted: JsonObject = reply.get("aggregations", {})
    if body.metadata_facets and counted:
        reply["metadataFacets"] = taken_facets(body.metadata_facets, counted)
    if body.histograms and counted:
        reply["histograms"] = [
            _shown(field, counted.pop(_HISTOGRAM + field)) for field in body.histograms
        ]
    if not body.aggregations:
        reply.pop("aggregations", None)
        reply.pop("aggregationTotal", None)


def count_all_words(request: JsonObject, score: float) -> None:
    """Add the number of hits that have all words of a text, and so at least this score."""
    # By the score: a filter with the query of all words would run that query twice.
    script = {"lang": "painless", "source": "_score"}
    counted: JsonObject = {"range": {"script": script, "ranges": [{"from": score}]}}
    request["aggs"] = {_ALL_WORDS: _among(counted, [])}


def pop_all_words_count(answer: JsonObject) -> int | None:
    """Remove the number of hits with all words from OpenSearch's response and return it."""
    counts: JsonObject = answer.get("aggregations", {})
    if _ALL_WORDS not in counts:
        return None
    (all_words,) = counts.pop(_ALL_WORDS)[COUNTED]["buckets"]
    if not counts:
        del answer["aggregations"]
    return all_words["doc_count"]


def _choices(body: SearchBody) -> dict[str, JsonObject]:
    """Return the condition of each selection, by the name of its facet."""
    counted = {one.key for one in body.metadata_facets}
    found: dict[str, JsonObject] = {}
    for number, choice in enumerate(body.facet_choices):
        field = f"facetChoices.{number}"
        facet = choice.facet.removeprefix(_METADATA)
        if facet in found:
            raise InvalidInputError.of(
                f"{field}.facet", "is used twice; list all its values in one entry"
            )
        # Any text may be a metadata key, so a mistyped name would silently find nothing.
        is_known = facet in counted or facet.startswith(PREFIXES) or facet != choice.facet
        if facet in FACET_FIELDS and facet == choice.facet:
            found[facet] = {"terms": {f"{facet}.keyword": [*map(str, choice.values)]}}
        elif is_known and facet:
            found[facet] = _condition(facet, list(choice.values), field)
        else:
            raise InvalidInputError.of(
                f"{field}.facet",
                f"{quoted(choice.facet)} is not a facet; the facets are {', '.join(_NAMES)}, "
                "fact_<name>, AB_<key>, metadata.<key>, and the keys in metadataFacets",
            )
    return found


def _condition(facet: str, values: list[Any], field: str) -> JsonObject:
    kind = pair_named(facet, field=f"{field}.facet").type
    if kind == "boolean":
        values = [{"true": True, "false": False}.get(value, value) for value in values]
    one = MetadataFilter(key=facet, op="in", value=values, type=kind or "string")
    return metadata_filter_query(one, field=field)


def _without(choices: Mapping[str, JsonObject], facet: str) -> list[JsonObject]:
    return [condition for name, condition in choices.items() if name != facet]


def _field_facets(choices: Mapping[str, JsonObject]) -> JsonObject:
    return {
        name: {
            "filter": _all_of(
                [*([{"term": {"_rectype": kind}}] if kind else []), *_without(choices, name)]
            ),
            "aggs": {buckets: {"terms": {"field": f"{name}.keyword", "size": FACET_SIZE}}},
        }
        for name, buckets, kind in _FACETS
    }


def _all_of(conditions: list[JsonObject]) -> JsonObject:
    if len(conditions) > 1:
        return {"bool": {"filter": conditions}}
    return conditions[0] if conditions else {"match_all": {}}


def _among(counted: JsonObject, conditions: list[JsonObject]) -> JsonObject:
    """Count only documents that match the conditions."""
    return {"filter": _all_of(conditions), "aggs": {COUNTED: counted}}


def _histogram(field: HistogramField) -> JsonObject:
    if field != "num_filesize":
        return date_histogram(field)
    lower = (None, *SIZE_BOUNDS)
    upper = (*SIZE_BOUNDS, None)
    ranges = [
        {name: bound for name, bound in (("from", low), ("to", high)) if bound is not None}
        for low, high in zip(lower, upper, strict=True)
    ]
    return {"range": {"field": field, "ranges": ranges}}


def _shown(field: HistogramField, found: JsonObject) -> JsonObject:
    counted = found[COUNTED]
    if field == "num_filesize":
        buckets = [
            {
                **{name: int(one[name]) for name in ("from", "to") if name in one},
                "documents": one["doc_count"],
                **({_ASSETS: one[_ASSETS]} if _ASSETS in one else {}),
            }
            for one in counted["buckets"]
        ]
        return {"field": field, "buckets": buckets}
    return {"field": field, "interval": counted["interval"], "buckets": date_buckets(counted)}
