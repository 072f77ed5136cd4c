"""Facets, selections of their values, and histograms of a search. Pure: no I/O, no caller.

Selected values filter the hits after the query (`post_filter`), so each facet counts without its
own selection: a selected value does not hide the others. All counts cover only documents that the
query finds, and so only those that the caller may see.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, cast

from backend.core.errors import InvalidInputError
from backend.core.quoting import quoted
from backend.core.search_engine import JsonObject
from backend.search.query.metadata_queries import (
    COUNTED,
    date_buckets,
    date_histogram,
    facet_aggregation,
    facet_reply,
    metadata_filter_query,
)
from backend.search.query.models import (
    EntityType,
    HistogramField,
    MetadataFacet,
    MetadataFilter,
    SearchBody,
)
from backend.search.query.pairs import METADATA, PREFIXES, pair_named
from backend.values import frozen

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
_FACET = "metadata_facet_"
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


@frozen
class Facets:
    """Aggregations of a search's request, and the fields of the reply that have their counts."""

    aggregations: JsonObject = field(default_factory=dict[str, Any])
    of_fields: bool = False
    of_keys: tuple[MetadataFacet, ...] = ()
    histograms: tuple[HistogramField, ...] = ()
    of_assets: bool = False
    """Whether each bucket also has its number of assets."""


def plan_facets(
    body: SearchBody, choices: Mapping[str, JsonObject], score_of_all: float | None
) -> Facets:
    """Return the requested facets and histograms, each under the selections of the others.

    With `score_of_all`, hits with at least this score are counted: those with all words of a text.
    """
    counted: JsonObject = {}
    if body.aggregations:
        for name, buckets, kind in _FACETS:
            terms: JsonObject = {"terms": {"field": f"{name}.keyword", "size": FACET_SIZE}}
            others = [condition for facet, condition in choices.items() if facet != name]
            counted[name] = _under(others, {buckets: terms}, kind)
    for number, facet in enumerate(body.metadata_facets):
        aggregation = facet_aggregation(facet, field=f"metadataFacets.{number}.key")
        others = [condition for key, condition in choices.items() if key != facet.key]
        counted[f"{_FACET}{number}"] = _under(others, {COUNTED: aggregation})
    chosen = [*choices.values()]
    for name in body.histograms:
        counted[_HISTOGRAM + name] = _under(chosen, {COUNTED: _histogram(name)})
    if body.fold_files:
        counted = _with_assets_counted(counted)
    if score_of_all is not None:
        # By the score: a filter with the query of all words would run that query twice.
        script = {"lang": "painless", "source": "_score"}
        above: JsonObject = {"range": {"script": script, "ranges": [{"from": score_of_all}]}}
        counted[_ALL_WORDS] = _under(chosen, {COUNTED: above})
    return Facets(
        counted,
        body.aggregations,
        tuple(body.metadata_facets),
        tuple(body.histograms),
        body.fold_files,
    )


def _under(
    conditions: list[JsonObject], counted: JsonObject, kind: EntityType | None = None
) -> JsonObject:
    """Count only documents that match the conditions, of one type if that is given."""
    filters = conditions if kind is None else [{"term": {"_rectype": kind}}, *conditions]
    whole = filters[0] if len(filters) == 1 else {"bool": {"filter": filters}}
    return {"filter": whole if filters else {"match_all": {}}, "aggs": counted}


def all_words_count(response: JsonObject) -> int | None:
    """Return how many hits have all words of the text, if a response contains that."""
    counts: JsonObject = response.get("aggregations", {})
    if _ALL_WORDS not in counts:
        return None
    (all_words,) = counts[_ALL_WORDS][COUNTED]["buckets"]
    return all_words["doc_count"]


def counts_reply(facets: Facets, response: JsonObject) -> JsonObject:
    """Return the fields of a reply that contain counts of OpenSearch's response."""
    if "aggregations" not in response:  # pages by cursor after the first one
        return {}
    all_words, counts = all_words_count(response), response["aggregations"]
    if facets.of_assets:
        counts = _with_asset_numbers(counts)
    reply: JsonObject = {} if all_words is None else {"withAllWords": all_words}
    if facets.of_fields:
        # Of the clients of VAMS some read `str_fileext.buckets`, some
        # `str_fileext.filtered_fileext.buckets`.
        reply["aggregations"] = {
            name: {**counts[name].get(buckets, {}), **counts[name]}
            for name, buckets, _ in _FACETS
            if name in counts
        }
        reply["aggregationTotal"] = response["hits"]["total"]["value"]
    if facets.of_keys:
        reply["metadataFacets"] = [
            facet_reply(facet.key, counts[f"{_FACET}{number}"][COUNTED]["of_key"])
            for number, facet in enumerate(facets.of_keys)
        ]
    if facets.histograms:
        reply["histograms"] = [
            _histogram_reply(field, counts[_HISTOGRAM + field][COUNTED])
            for field in facets.histograms
        ]
    return reply


def _with_assets_counted(aggregations: JsonObject, *, nested: bool = False) -> JsonObject:
    """Also count the assets of each bucket: folded hits are assets, documents are their files."""
    number: JsonObject = {"cardinality": {"field": ASSET_ID, "precision_threshold": ASSETS_EXACTLY}}
    counted: JsonObject = {}
    for name, aggregation in aggregations.items():
        within = nested or "nested" in aggregation
        inner = _with_assets_counted(aggregation.get("aggs", {}), nested=within)
        # A bucket of assets by their id is one asset.
        if aggregation.keys() & _BUCKETS and name != "filtered_assetid":
            of_root: JsonObject = {"reverse_nested": {}, "aggs": {_OF_ROOT: number}}
            inner[_ASSETS] = of_root if within else number
        counted[name] = {**aggregation, "aggs": inner} if inner else aggregation
    return counted


def _with_asset_numbers(counted: Any) -> Any:
    """Return a response with the number of assets of each bucket in place of its aggregation."""
    if isinstance(counted, list):
        return [_with_asset_numbers(part) for part in cast("list[Any]", counted)]
    if not isinstance(counted, dict):
        return counted
    counts = cast("JsonObject", counted)
    parts = {name: _with_asset_numbers(part) for name, part in counts.items() if name != _ASSETS}
    if _ASSETS not in counts:
        return parts
    assets = counts[_ASSETS]
    # An estimate may exceed what it estimates.
    return {**parts, _ASSETS: min(assets.get(_OF_ROOT, assets)["value"], counts["doc_count"])}


def choice_conditions(body: SearchBody) -> dict[str, JsonObject]:
    """Return the condition of each selection, by the name of its facet.

    Raises:
        InvalidInputError: a facet is unknown, or selected twice or by a value of another type.
    """
    counted = {facet.key for facet in body.metadata_facets}
    conditions: dict[str, JsonObject] = {}
    for number, choice in enumerate(body.facet_choices):
        field = f"facetChoices.{number}"
        facet = choice.facet.removeprefix(_METADATA)
        if facet in conditions:
            raise InvalidInputError.of(
                f"{field}.facet", "is used twice; list all its values in one entry"
            )
        # Any text may be a metadata key, so a mistyped name would silently find nothing.
        is_known = facet in counted or facet.startswith(PREFIXES) or facet != choice.facet
        if facet in FACET_FIELDS and facet == choice.facet:
            conditions[facet] = {"terms": {f"{facet}.keyword": [*map(str, choice.values)]}}
        elif is_known and facet:
            conditions[facet] = _condition(facet, list(choice.values), field)
        else:
            raise InvalidInputError.of(
                f"{field}.facet",
                f"{quoted(choice.facet)} is not a facet; the facets are {', '.join(_NAMES)}, "
                "fact_<name>, AB_<key>, metadata.<key>, and the keys in metadataFacets",
            )
    return conditions


def _condition(facet: str, values: list[Any], field: str) -> JsonObject:
    kind = pair_named(facet, field=f"{field}.facet").type
    if kind == "boolean":
        values = [{"true": True, "false": False}.get(value, value) for value in values]
    chosen = MetadataFilter(key=facet, op="in", value=values, type=kind or "string")
    return metadata_filter_query(chosen, field=field)


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


def _histogram_reply(field: HistogramField, counted: JsonObject) -> JsonObject:
    if field != "num_filesize":
        return {
            "field": field,
            "interval": counted["interval"],
            "buckets": date_buckets(counted),
        }
    buckets = [
        {
            **{name: int(bucket[name]) for name in ("from", "to") if name in bucket},
            "documents": bucket["doc_count"],
            **({_ASSETS: bucket[_ASSETS]} if _ASSETS in bucket else {}),
        }
        for bucket in counted["buckets"]
    ]
    return {"field": field, "buckets": buckets}
